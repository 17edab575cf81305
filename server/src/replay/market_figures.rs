//! What a replay of the market is measured by: occupancy, prices, churn, fairness, money.

use common::ids::{ChipTypeId, PoolId, TeamId};
use common::money::{MicroCredits, Price};
use market::Outcome;
use serde::Serialize;

use super::books::Books;
use super::figures::{ChipCycles, Months, Service};
use crate::trace::organisation::Organisation;

/// What the market did with a demand.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct MarketResult {
    /// Chips that bids won and used.
    pub paid: ChipCycles,
    /// Chips that nobody paid for, used by waiting jobs.
    pub opportunistic: ChipCycles,
    /// What became of the jobs.
    pub service: Service,
    /// Per chip type.
    pub chip_types: Vec<ChipTypeFigures>,
    /// Per team.
    pub teams: Vec<TeamFigures>,
    /// Chips of teams' quotas that were another team's or idle in the cycle before, over all cycles.
    pub quota_moves: u64,
    /// Times that a running job had no chips in the next cycle and went on waiting.
    pub stops: u64,
    /// Chips of those jobs: what each minute of restarting would cost in chip-minutes.
    pub stopped_chips: u64,
    /// Average price paid, global credits per chip-hour.
    pub mean_price_paid: Price,
    /// `min_i 1/f_i` in thousandths, over the teams that paid anything: the market is so far fair (Theorem 4).
    pub fairness_thousandths: u64,
}

/// One chip type over the replay.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct ChipTypeFigures {
    /// The chip type.
    pub chip_type: ChipTypeId,
    /// All its chips.
    pub supply: u64,
    /// Chips × cycles won and used.
    pub paid: u64,
    /// Chips × cycles used for free.
    pub opportunistic: u64,
    /// Reference price over the cycles that had one, global credits per chip-hour.
    pub price: PriceFigures,
}

/// A price over cycles.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct PriceFigures {
    /// Average.
    pub mean: Price,
    /// Half of the cycles are at most this.
    pub p50: Price,
    /// Nine in ten are at most this.
    pub p90: Price,
    /// Highest.
    pub max: Price,
    /// Cycles in which it was 0: more chips than demand.
    pub free_cycles: u64,
    /// Cycles in which nobody asked.
    pub no_trade_cycles: u64,
    /// Average change from one cycle to the next, up or down, over pairs of cycles that both had a price.
    pub mean_change: Price,
}

/// One team over the replay.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct TeamFigures {
    /// The team.
    pub team: TeamId,
    /// Its pool.
    pub pool: PoolId,
    /// Its share of all purchasing power, in thousandths.
    pub power_thousandths: u64,
    /// Its share of all chips × cycles that were paid for, in thousandths.
    pub paid_thousandths: u64,
    /// Chip-hours it paid for.
    pub paid_chip_hours: u64,
    /// Average price it paid over the market's average price (`f_i`), in thousandths; absent where it paid nothing.
    pub price_ratio_thousandths: Option<u64>,
    /// Local credits earned.
    pub income: MicroCredits,
    /// Local credits spent.
    pub charges: MicroCredits,
    /// Local credits left.
    pub balance: MicroCredits,
}

/// Figures in the making.
#[derive(Debug)]
pub struct MarketFigures {
    /// What became of the jobs so far.
    pub service: Service,
    months: Months,
    cycle: u32,
    paid_now: u64,
    opportunistic_now: u64,
    paid: ChipCycles,
    opportunistic: ChipCycles,
    chip_types: Vec<TypeTally>,
    teams: Vec<TeamTally>,
    quotas: Vec<u64>,
    quota_moves: u64,
    stops: u64,
    stopped_chips: u64,
}

#[derive(Clone, Debug, Default)]
struct TypeTally {
    paid: u64,
    opportunistic: u64,
    prices: Vec<u64>,
    last_price: Option<u64>,
    changes: u128,
    changed_pairs: u64,
    no_trade_cycles: u64,
}

#[derive(Clone, Copy, Debug, Default)]
struct TeamTally {
    chip_cycles: u64,
    /// Chips × global price, summed over cycles.
    cost: u128,
}

impl MarketFigures {
    /// Nothing yet.
    #[must_use]
    pub fn new(organisation: &Organisation, months: Months) -> Self {
        let (types, teams) = (organisation.chip_types.len(), organisation.teams.len());
        Self {
            service: Service::default(),
            months,
            cycle: 0,
            paid_now: 0,
            opportunistic_now: 0,
            paid: ChipCycles::default(),
            opportunistic: ChipCycles::default(),
            chip_types: vec![TypeTally::default(); types],
            teams: vec![TeamTally::default(); teams],
            quotas: vec![0; types * teams],
            quota_moves: 0,
            stops: 0,
            stopped_chips: 0,
        }
    }

    /// A cycle cleared; `type_order` is our number of each of its chip types.
    pub fn begin(&mut self, cycle: u32, outcome: &Outcome, type_order: &[usize]) {
        (self.cycle, self.paid_now, self.opportunistic_now) = (cycle, 0, 0);
        for (market, chip_type) in outcome.chip_types.iter().zip(type_order) {
            self.chip_types[*chip_type].price(market.reference_price.map(|price| price.0));
        }
        let mut quotas = vec![0; self.quotas.len()];
        for (nth, team) in outcome.teams.iter().enumerate() {
            for market in &team.markets {
                if let Some(at) = outcome.chip_types.iter().position(|row| row.id == market.chip_type) {
                    quotas[nth * type_order.len() + at] = market.quota.0;
                }
            }
        }
        let gained = quotas.iter().zip(&self.quotas).map(|(now, before)| now.saturating_sub(*before));
        self.quota_moves += gained.sum::<u64>();
        self.quotas = quotas;
    }

    /// A team uses chips that it won at a global price.
    pub fn paid(&mut self, team: usize, chip_type: usize, chips: u64, price: Price) {
        self.paid_now += chips;
        self.chip_types[chip_type].paid += chips;
        self.teams[team].chip_cycles += chips;
        self.teams[team].cost += u128::from(chips) * u128::from(price.0);
    }

    /// A waiting job uses chips for free.
    pub fn opportunistic(&mut self, chip_type: usize, chips: u64) {
        self.opportunistic_now += chips;
        self.chip_types[chip_type].opportunistic += chips;
    }

    /// A job that ran on so many chips goes on waiting without any.
    pub fn stopped(&mut self, chips: u64) {
        self.stops += 1;
        self.stopped_chips += chips;
    }

    /// All use of the cycle's chips is known.
    pub fn end_cycle(&mut self) {
        self.paid.add(&self.months, self.cycle, self.cycle + 1, self.paid_now);
        self.opportunistic.add(&self.months, self.cycle, self.cycle + 1, self.opportunistic_now);
    }

    /// The result; `running` and `waiting` jobs are left.
    #[must_use]
    pub fn finish(
        mut self,
        organisation: &Organisation,
        books: &Books,
        cycle_seconds: u32,
        (running, waiting): (u64, u64),
    ) -> MarketResult {
        (self.service.still_running, self.service.still_waiting) = (running, waiting);
        self.service.finish();
        let all = TeamTally {
            chip_cycles: self.teams.iter().map(|team| team.chip_cycles).sum(),
            cost: self.teams.iter().map(|team| team.cost).sum(),
        };
        let power: u64 = (0..self.teams.len()).map(|team| organisation.global_income(team)).sum();
        let team = |nth: usize| {
            let (tally, plan) = (&self.teams[nth], &organisation.teams[nth]);
            TeamFigures {
                team: plan.id.clone(),
                pool: organisation.pools[plan.pool].id.clone(),
                power_thousandths: thousandths(organisation.global_income(nth).into(), power.into()),
                paid_thousandths: thousandths(tally.chip_cycles.into(), all.chip_cycles.into()),
                paid_chip_hours: tally.chip_cycles * u64::from(cycle_seconds) / 3_600,
                price_ratio_thousandths: tally.price_ratio_thousandths(&all),
                income: books.income(nth),
                charges: books.charges(nth),
                balance: books.balance(nth),
            }
        };
        let teams: Vec<TeamFigures> = (0..self.teams.len()).map(team).collect();
        let dearest = teams.iter().filter_map(|team| team.price_ratio_thousandths).max();
        let chip_types = organisation.chip_types.iter().zip(self.chip_types);
        MarketResult {
            paid: self.paid,
            opportunistic: self.opportunistic,
            service: self.service,
            chip_types: chip_types.map(|(plan, tally)| tally.finish(plan.id.clone(), organisation)).collect(),
            teams,
            quota_moves: self.quota_moves,
            stops: self.stops,
            stopped_chips: self.stopped_chips,
            mean_price_paid: Price(quotient(all.cost, all.chip_cycles.into())),
            fairness_thousandths: dearest.map_or(1_000, |ratio| 1_000_000 / ratio.max(1)),
        }
    }
}

impl TypeTally {
    fn price(&mut self, price: Option<u64>) {
        match price {
            Some(price) => self.prices.push(price),
            None => self.no_trade_cycles += 1,
        }
        if let (Some(now), Some(before)) = (price, self.last_price) {
            self.changes += u128::from(now.abs_diff(before));
            self.changed_pairs += 1;
        }
        self.last_price = price;
    }

    fn finish(mut self, chip_type: ChipTypeId, organisation: &Organisation) -> ChipTypeFigures {
        self.prices.sort_unstable();
        let at = |percent: usize| {
            let rank = (self.prices.len() * percent).div_ceil(100).max(1);
            Price(self.prices.get(rank - 1).copied().unwrap_or(0))
        };
        let sum: u128 = self.prices.iter().map(|price| u128::from(*price)).sum();
        let price = PriceFigures {
            mean: Price(quotient(sum, self.prices.len() as u128)),
            p50: at(50),
            p90: at(90),
            max: at(100),
            free_cycles: self.prices.partition_point(|price| *price == 0) as u64,
            no_trade_cycles: self.no_trade_cycles,
            mean_change: Price(quotient(self.changes, self.changed_pairs.into())),
        };
        let supply = organisation.supply(&chip_type);
        ChipTypeFigures { chip_type, supply, paid: self.paid, opportunistic: self.opportunistic, price }
    }
}

impl TeamTally {
    /// `f_i`: (its cost / its chips) / (all cost / all chips).
    fn price_ratio_thousandths(&self, all: &Self) -> Option<u64> {
        if self.cost == 0 || all.cost == 0 {
            return None;
        }
        // Dividing first keeps the products in range; a market of this size never loses a thousandth by it.
        let own = self.cost * 1_000 / u128::from(self.chip_cycles);
        let market = all.cost / u128::from(all.chip_cycles).max(1);
        Some(quotient(own, market))
    }
}

fn quotient(numerator: u128, denominator: u128) -> u64 {
    u64::try_from(numerator.checked_div(denominator).unwrap_or(0)).unwrap_or(u64::MAX)
}

fn thousandths(part: u128, whole: u128) -> u64 {
    quotient(part * 1_000, whole)
}
