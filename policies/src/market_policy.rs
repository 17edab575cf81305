//! The market as a policy: the real pricing engine, with a simple model of who bids what.
//!
//! *Quota Marketplace: Dynamic Pricing for Efficient Allocation of ML Training Resources* (OSDI 2026). \[recon\] The model
//! of the bidders: a team has an income in proportion to its weight and one bid per chip type for all it can use, with
//! what a chip-hour is worth to it as its limit. A team with foresight instead knows all rounds, and spends its whole
//! income where value over price is best.

use common::chips::Chips;
use common::ids::{BidId, ChipTypeId, PoolId, TeamId};
use common::instant::Instant;
use common::money::{MAX_MICROS, MICROS_PER_CREDIT, MicroCredits, Price};
use market::snapshot::Lending;
use market::{AlternativeInput, BidInput, ChipTypeIndex, MarketBuilder, SnapshotError, TeamIndex};

use crate::policy::{Policy, PolicyError};
use crate::round::{Allocation, Round};

const NAME: &str = "market";

/// Leverage and minutes of sustained bidding: the product's defaults.
const LEVERAGE_THOUSANDTHS: u32 = 2_000;
const SUSTAIN_MINUTES: u32 = 120;

/// Rounds of bidding after which a plan of spending has settled.
const PLAN_ROUNDS: usize = 400;

/// What a team had and spent over all rounds so far, in micro-credits, and what it got.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Spending {
    /// Income.
    pub earned: i64,
    /// Charges.
    pub paid: i64,
    /// Seconds of one chip.
    pub chip_seconds: u64,
}

/// The market.
#[derive(Debug)]
pub struct MarketPolicy {
    /// Income of all teams together per chip and hour of supply, in credits.
    income_per_chip_hour: f64,
    /// Teams plan with all rounds before them.
    foresight: bool,
    /// What each team spends per hour, by round, chip type and team; in micro-credits.
    plan: Vec<Vec<Vec<u64>>>,
    spending: Vec<Spending>,
    last_prices: Vec<Option<Price>>,
    round: usize,
}

/// A team in one clearing.
#[derive(Clone, Copy, Debug)]
struct Bidder {
    income: i64,
    balance: i64,
    leverage_thousandths: u32,
}

/// Quotas by team and chip type, and the price of each chip type.
type Cleared = (Vec<Vec<u64>>, Vec<Option<Price>>);

/// The limit of a bid: a value as a price.
fn price(credits: f64) -> Price {
    Price((credits * MICROS_PER_CREDIT as f64).clamp(0.0, MAX_MICROS as f64) as u64)
}

impl MarketPolicy {
    /// A market whose teams earn `income_per_chip_hour` credits for each chip and hour of supply, all together.
    #[must_use]
    pub fn new(income_per_chip_hour: f64, foresight: bool) -> Self {
        Self {
            income_per_chip_hour,
            foresight,
            plan: Vec::new(),
            spending: Vec::new(),
            last_prices: Vec::new(),
            round: 0,
        }
    }

    /// What each team had, spent and got so far.
    #[must_use]
    pub fn spending(&self) -> &[Spending] {
        &self.spending
    }

    /// Each team's income per hour in a round, in micro-credits.
    fn incomes(&self, round: &Round) -> Vec<i64> {
        let weight: f64 = round.agents.iter().map(|agent| agent.weight).sum();
        let chips: u64 = round.supply.iter().sum();
        let all = chips as f64 * self.income_per_chip_hour * MICROS_PER_CREDIT as f64;
        round.agents.iter().map(|agent| (all * agent.weight / weight) as i64).collect()
    }

    /// Clears some chip types of a round. Answers the quotas by team in order of `types`, and the price of each.
    fn clear(&self, round: &Round, types: &[usize], bidders: &[Bidder]) -> Result<Cleared, SnapshotError> {
        let sustain = SUSTAIN_MINUTES.max((round.hours * 60.0).ceil() as u32);
        let mut builder = MarketBuilder::new(self.round as u64 + 1, Instant(0), sustain)?;
        let weight = bidders.iter().map(|bidder| bidder.income).sum();
        let pool = builder.pool(id("pool", PoolId::new)?, MicroCredits(weight), Lending::All)?;
        let mut indices = Vec::with_capacity(types.len());
        for chip_type in types {
            let name = id(&format!("type-{chip_type:04}"), ChipTypeId::new)?;
            let index = builder.chip_type(name, Chips(round.supply[*chip_type]), Price(0))?;
            if let Some(price) = self.last_prices[*chip_type] {
                builder.last_price(pool, index, price)?;
            }
            indices.push(index);
        }
        let mut teams = Vec::with_capacity(bidders.len());
        for (nth, bidder) in bidders.iter().enumerate() {
            let name = id(&format!("team-{nth:06}"), TeamId::new)?;
            let (income, balance) = (MicroCredits(bidder.income), MicroCredits(bidder.balance));
            let team = builder.team(name, pool, income, balance, bidder.leverage_thousandths)?;
            self.add_bids(&mut builder, round, team, nth, types, &indices)?;
            teams.push(team);
        }
        let market = builder.build()?;
        let clearing = market.clear();
        let of = |team: &TeamIndex| {
            indices.iter().map(|index| clearing.team(&market, *team, *index).quota.0).collect()
        };
        let prices = indices.iter().map(|index| clearing.pool_price(&market, pool, *index)).collect();
        Ok((teams.iter().map(of).collect(), prices))
    }

    /// One bid per chip type that the team wants. A team with foresight sets no limit: its plan says what it spends.
    fn add_bids(
        &self,
        builder: &mut MarketBuilder,
        round: &Round,
        team: TeamIndex,
        nth: usize,
        types: &[usize],
        indices: &[ChipTypeIndex],
    ) -> Result<(), SnapshotError> {
        let agent = &round.agents[nth];
        for (chip_type, index) in types.iter().zip(indices) {
            let chips = Chips(agent.demand[*chip_type]);
            if chips.0 == 0 {
                continue;
            }
            let limit = (!self.foresight).then(|| price(agent.value_of(*chip_type)));
            let bid = BidInput {
                id: id(&format!("bid-{nth:06}-{chip_type:04}"), BidId::new)?,
                team,
                position: *chip_type as u64,
                limit,
                not_before: None,
                not_after: None,
                held: None,
            };
            builder.bid(bid, &[AlternativeInput { chip_type: Some(*index), chips, min_chips: Chips(1) }])?;
        }
        Ok(())
    }

    /// Teams that bid up to what a chip is worth, within income and balance.
    fn bid_by_value(&self, round: &Round) -> Result<Cleared, SnapshotError> {
        let balance = |team: usize| self.spending[team].earned - self.spending[team].paid;
        let bidders: Vec<Bidder> = self
            .incomes(round)
            .into_iter()
            .enumerate()
            .map(|(team, income)| Bidder {
                income,
                balance: balance(team),
                leverage_thousandths: LEVERAGE_THOUSANDTHS,
            })
            .collect();
        let types: Vec<usize> = (0..round.supply.len()).collect();
        self.clear(round, &types, &bidders)
    }

    /// Teams that bid what their plan says for this round. Each chip type clears on its own, for the plan already says
    /// how a team's money is split.
    fn bid_by_plan(&self, round: &Round) -> Result<Cleared, SnapshotError> {
        let mut chips = vec![vec![0; round.supply.len()]; round.agents.len()];
        let mut prices = Vec::with_capacity(round.supply.len());
        for chip_type in 0..round.supply.len() {
            let bidder = |rate: &u64| Bidder {
                income: i64::try_from(*rate).unwrap_or(MAX_MICROS),
                balance: 0,
                leverage_thousandths: 1_000,
            };
            let bidders: Vec<Bidder> = self.plan[self.round][chip_type].iter().map(bidder).collect();
            let (quotas, price) = self.clear(round, &[chip_type], &bidders)?;
            for (row, quota) in chips.iter_mut().zip(quotas) {
                row[chip_type] = quota[0];
            }
            prices.extend(price);
        }
        Ok((chips, prices))
    }

    /// Books a round's income and charges.
    fn settle(&mut self, round: &Round, chips: &[Vec<u64>], prices: &[Option<Price>]) {
        for (team, income) in self.incomes(round).into_iter().enumerate() {
            let rate: u128 = chips[team]
                .iter()
                .zip(prices)
                .map(|(chips, price)| u128::from(*chips) * u128::from(price.unwrap_or_default().0))
                .sum();
            let seconds = (round.hours * 3_600.0) as u64;
            let spending = &mut self.spending[team];
            spending.paid += i64::try_from(rate * u128::from(seconds) / 3_600).unwrap_or(MAX_MICROS);
            spending.earned += (income as f64 * round.hours) as i64;
            spending.chip_seconds += chips[team].iter().sum::<u64>() * seconds;
        }
    }
}

/// An id made here, which always has the form of one.
fn id<T>(text: &str, of: impl Fn(String) -> Result<T, common::ids::IdError>) -> Result<T, SnapshotError> {
    of(text.to_owned()).map_err(|error| SnapshotError { path: text.to_owned(), problem: error.to_string() })
}

impl Policy for MarketPolicy {
    fn foresee(&mut self, rounds: &[Round]) -> Result<(), PolicyError> {
        if self.foresight {
            let budgets = rounds.first().map(|first| {
                let hours: f64 = rounds.iter().map(|round| round.hours).sum();
                self.incomes(first).iter().map(|income| *income as f64 * hours).collect::<Vec<f64>>()
            });
            self.plan = plan(rounds, &budgets.unwrap_or_default());
        }
        Ok(())
    }

    fn allocate(&mut self, round: &Round) -> Result<Allocation, PolicyError> {
        if self.foresight && self.plan.len() <= self.round {
            let reason = "a team with foresight must know all rounds before the first".to_owned();
            return Err(PolicyError::DoesNotApply { policy: "market-foresight", reason });
        }
        self.spending.resize(round.agents.len(), Spending::default());
        self.last_prices.resize(round.supply.len(), None);
        let cleared = if self.foresight { self.bid_by_plan(round) } else { self.bid_by_value(round) };
        let (chips, prices) =
            cleared.map_err(|error| PolicyError::Unsolved { policy: NAME, reason: error.to_string() })?;
        self.settle(round, &chips, &prices);
        self.round += 1;
        self.last_prices.clone_from(&prices);
        let shown = |price: &Option<Price>| price.unwrap_or_default().0 as f64 / MICROS_PER_CREDIT as f64;
        Ok(Allocation { chips, prices: prices.iter().map(shown).collect(), jobs: Vec::new() })
    }

    fn spending(&self) -> Option<&[Spending]> {
        Some(&self.spending)
    }
}

/// What each team spends per hour by round, chip type and team, in micro-credits: proportional response, which for
/// divisible goods and linear values ends at the prices where everybody spends where value over price is best (Wu and
/// Zhang, STOC 2007; Birnbaum, Devanur, Xiao, EC 2011). What a team can't use counts for nothing in its response.
fn plan(rounds: &[Round], budgets: &[f64]) -> Vec<Vec<Vec<u64>>> {
    let teams = budgets.len();
    // One good per round and chip type: how much of it there is, and each team's use and worth of it, in chip-hours.
    let goods: Vec<(usize, usize)> = rounds
        .iter()
        .enumerate()
        .flat_map(|(at, round)| (0..round.supply.len()).map(move |r| (at, r)))
        .collect();
    let good = |(at, chip_type): (usize, usize), team: usize| {
        let round = &rounds[at];
        let agent = &round.agents[team];
        (agent.demand[chip_type] as f64 * round.hours, agent.value_of(chip_type))
    };
    let mut bids: Vec<Vec<f64>> = goods
        .iter()
        .map(|at| (0..teams).map(|team| good(*at, team)).map(|(use_of, worth)| use_of * worth).collect())
        .collect();
    spread(&mut bids, budgets);
    for _ in 0..PLAN_ROUNDS {
        for (row, at) in bids.iter_mut().zip(&goods) {
            let supply = rounds[at.0].supply[at.1] as f64 * rounds[at.0].hours;
            let spent: f64 = row.iter().sum();
            for (team, bid) in row.iter_mut().enumerate() {
                let (use_of, worth) = good(*at, team);
                let got = if spent > 0.0 { supply * *bid / spent } else { 0.0 };
                *bid = worth * got.min(use_of);
            }
        }
        spread(&mut bids, budgets);
    }
    let mut plan: Vec<Vec<Vec<u64>>> = vec![Vec::new(); rounds.len()];
    for (row, (at, _)) in bids.into_iter().zip(goods) {
        let hours = rounds[at].hours;
        plan[at].push(row.into_iter().map(|bid| (bid / hours).min(MAX_MICROS as f64 / 1e3) as u64).collect());
    }
    plan
}

/// Scales each team's row sums to its budget.
fn spread(bids: &mut [Vec<f64>], budgets: &[f64]) {
    for (team, budget) in budgets.iter().enumerate() {
        let sum: f64 = bids.iter().map(|row| row[team]).sum();
        let factor = if sum > 0.0 { budget / sum } else { 0.0 };
        for row in bids.iter_mut() {
            row[team] *= factor;
        }
    }
}
