//! What a replay of the market is measured by: occupancy, prices, churn, fairness, money.

use common::ids::{ChipTypeId, PoolId, TeamId};
use common::money::{MicroCredits, Price};
use market::Outcome;
use market::fairness::{self, Ratio, TeamUse};
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
    /// `min_i 1/f_i` in thousandths, over the teams that paid anything: the market is so far fair (Theorem 4). Absent
    /// where nobody paid.
    pub fairness_thousandths: Option<u64>,
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
    /// How much it moves from one cycle to the next: all changes over all prices, in thousandths. Absent where it was
    /// always 0.
    pub churn_thousandths: Option<u64>,
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
        let seconds = u64::from(cycle_seconds);
        let use_of = |(nth, tally): (usize, &TeamTally)| TeamUse {
            team: organisation.teams[nth].id.clone(),
            chip_seconds: tally.chip_cycles * seconds,
            paid: quotient(tally.cost * u128::from(seconds), 3_600),
            income: organisation.global_income(nth),
        };
        let uses: Vec<TeamUse> = self.teams.iter().enumerate().map(use_of).collect();
        let fair = fairness::fairness(&uses);
        let team = |(nth, team): (usize, &fairness::TeamFairness)| {
            let plan = &organisation.teams[nth];
            TeamFigures {
                team: team.team.clone(),
                pool: organisation.pools[plan.pool].id.clone(),
                power_thousandths: team.income_share.map_or(0, thousandths),
                paid_thousandths: team.chip_share.map_or(0, thousandths),
                paid_chip_hours: uses[nth].chip_seconds / 3_600,
                price_ratio_thousandths: team.price_ratio.map(thousandths),
                income: books.income(nth),
                charges: books.charges(nth),
                balance: books.balance(nth),
            }
        };
        let teams = fair.teams.iter().enumerate().map(team).collect();
        let paid = |of: fn(&TeamUse) -> u64| uses.iter().map(|team| u128::from(of(team))).sum::<u128>();
        let mean_price_paid = quotient(paid(|team| team.paid) * 3_600, paid(|team| team.chip_seconds));
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
            mean_price_paid: Price(mean_price_paid),
            fairness_thousandths: fair.guarantee.map(thousandths),
        }
    }
}

impl TypeTally {
    fn price(&mut self, price: Option<u64>) {
        match price {
            Some(price) => self.prices.push(price),
            None => self.no_trade_cycles += 1,
        }
    }

    fn finish(self, chip_type: ChipTypeId, organisation: &Organisation) -> ChipTypeFigures {
        let at = |percent| Price(fairness::percentile(&self.prices, percent).unwrap_or(0));
        let sum: u128 = self.prices.iter().map(|price| u128::from(*price)).sum();
        let price = PriceFigures {
            mean: Price(quotient(sum, self.prices.len() as u128)),
            p50: at(50),
            p90: at(90),
            max: at(100),
            free_cycles: self.prices.iter().filter(|price| **price == 0).count() as u64,
            no_trade_cycles: self.no_trade_cycles,
            churn_thousandths: fairness::churn(&self.prices).map(thousandths),
        };
        let supply = organisation.supply(&chip_type);
        ChipTypeFigures { chip_type, supply, paid: self.paid, opportunistic: self.opportunistic, price }
    }
}

fn quotient(numerator: u128, denominator: u128) -> u64 {
    u64::try_from(numerator.checked_div(denominator).unwrap_or(0)).unwrap_or(u64::MAX)
}

fn thousandths(ratio: Ratio) -> u64 {
    u64::try_from(ratio.thousandths()).unwrap_or(u64::MAX)
}
