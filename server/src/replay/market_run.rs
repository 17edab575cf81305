//! The market on a replayed demand: every cycle goes through the real engine, in memory.

use common::chips::Chips;
use common::ids::{BidId, ChipTypeId};
use common::money::Price;
use market::placement::{self, Fit};
use market::snapshot::Lending;
use market::{AlternativeInput, BidInput, ChipTypeIndex, Market, MarketBuilder, Outcome, TeamIndex};

use super::books::Books;
use super::demand::{Grid, GridJob};
use super::figures::Months;
use super::market_figures::{MarketFigures, MarketResult};
use crate::error::AppError;
use crate::trace::organisation::Organisation;

/// Minutes for which a team must be able to sustain what it bids: the engine's default.
const SUSTAIN_MINUTES: u32 = 120;

/// Income leverage of every team, in thousandths: the engine's default.
const LEVERAGE_THOUSANDTHS: u32 = 2_000;

/// A bid in the market.
#[derive(Debug)]
struct LiveBid {
    /// Index of its job.
    job: usize,
    id: BidId,
    /// Index of the alternative it chose last.
    held: Option<usize>,
    done_chip_seconds: u64,
    /// Chips that it uses in this cycle, paid or not.
    chips: u64,
    /// Chips that it used in the cycle before.
    chips_before: u64,
    /// It had chips in some cycle.
    started: bool,
}

/// The market in mid-replay.
struct MarketRun<'a> {
    organisation: &'a Organisation,
    jobs: &'a [GridJob],
    grid: Grid,
    accounting_seconds: u32,
    /// Our number of each chip type in the order of the outcome, which is that of ids.
    type_order: Vec<usize>,
    /// Chips a pool owns, by pool and chip type.
    owned: Vec<Vec<u64>>,
    /// Per team, in order of submission: the order in which the engine reports bids.
    queues: Vec<Vec<LiveBid>>,
    next_job: usize,
    books: Books,
    /// Pool prices of the last cycle, by pool and chip type, global and local.
    prices: Vec<Vec<PoolPrice>>,
    figures: MarketFigures,
}

#[derive(Clone, Copy, Debug, Default)]
struct PoolPrice {
    global: Option<Price>,
    local: Option<Price>,
}

/// Runs jobs, in order of submission, through the market. `progress` hears of every cycle.
///
/// # Errors
/// The engine refuses a snapshot or a balance leaves its range: a fault of this program.
pub fn run(
    organisation: &Organisation,
    jobs: &[GridJob],
    grid: Grid,
    accounting_seconds: u32,
    mut progress: impl FnMut(u32),
) -> Result<MarketResult, AppError> {
    let mut run = MarketRun::new(organisation, jobs, grid, accounting_seconds);
    for cycle in 0..grid.cycles {
        run.cycle(cycle)?;
        progress(cycle);
    }
    // The last cycle is over: what is earned and owed since the last step is booked.
    let since = (grid.cycles.saturating_sub(1) % run.cycles_per_step() + 1) * grid.cycle_seconds;
    if grid.cycles > 0 {
        run.books.step(u64::from(since)).map_err(AppError::internal)?;
    }
    Ok(run.finish())
}

impl<'a> MarketRun<'a> {
    fn new(organisation: &'a Organisation, jobs: &'a [GridJob], grid: Grid, accounting_seconds: u32) -> Self {
        let types = organisation.chip_types.len();
        let mut type_order: Vec<usize> = (0..types).collect();
        type_order.sort_by_key(|at| &organisation.chip_types[*at].id);
        let owned_of = |pool: &crate::trace::organisation::PoolPlan| {
            let chips = |id: &ChipTypeId| {
                pool.owned.iter().find(|owned| owned.chip_type == *id).map_or(0, |owned| owned.chips.0)
            };
            organisation.chip_types.iter().map(|plan| chips(&plan.id)).collect()
        };
        Self {
            organisation,
            jobs,
            grid,
            accounting_seconds,
            type_order,
            owned: organisation.pools.iter().map(owned_of).collect(),
            queues: organisation.teams.iter().map(|_| Vec::new()).collect(),
            next_job: 0,
            books: Books::new(organisation),
            prices: vec![vec![PoolPrice::default(); types]; organisation.pools.len()],
            figures: MarketFigures::new(organisation, Months::of(grid)),
        }
    }

    fn cycles_per_step(&self) -> u32 {
        (self.accounting_seconds / self.grid.cycle_seconds).max(1)
    }

    fn cycle(&mut self, cycle: u32) -> Result<(), AppError> {
        self.submit(cycle)?;
        if cycle > 0 && cycle.is_multiple_of(self.cycles_per_step()) {
            let seconds = u64::from(self.cycles_per_step() * self.grid.cycle_seconds);
            self.books.step(seconds).map_err(AppError::internal)?;
        }
        let market = self.market(cycle).map_err(AppError::internal)?;
        let outcome = market.clear().outcome(&market);
        self.take_prices(&outcome);
        self.figures.begin(cycle, &outcome, &self.type_order);
        self.use_quotas(&outcome)?;
        self.use_free_chips(&outcome);
        self.figures.end_cycle();
        self.work(cycle);
        Ok(())
    }

    /// New jobs join their teams' queues.
    fn submit(&mut self, cycle: u32) -> Result<(), AppError> {
        while let Some(job) = self.jobs.get(self.next_job).filter(|job| job.arrives <= cycle) {
            let id = BidId::new(format!("job-{:07}", self.next_job)).map_err(AppError::internal)?;
            let bid = LiveBid {
                job: self.next_job,
                id,
                held: None,
                done_chip_seconds: 0,
                chips: 0,
                chips_before: 0,
                started: false,
            };
            self.queues[usize::from(job.team)].push(bid);
            self.figures.service.submitted += 1;
            self.next_job += 1;
        }
        Ok(())
    }

    /// The market as the engine takes it.
    fn market(&self, cycle: u32) -> Result<Market, market::SnapshotError> {
        let at = self.grid.starts_at(cycle);
        let mut builder = MarketBuilder::new(u64::from(cycle) + 1, at, SUSTAIN_MINUTES)?;
        let mut chip_types = Vec::with_capacity(self.organisation.chip_types.len());
        for plan in &self.organisation.chip_types {
            chip_types.push(builder.chip_type(plan.id.clone(), plan.shared, Price(0))?);
        }
        let mut pools = Vec::with_capacity(self.organisation.pools.len());
        for (nth, plan) in self.organisation.pools.iter().enumerate() {
            let pool = builder.pool(plan.id.clone(), plan.weight, Lending::All)?;
            for (chip_type, index) in chip_types.iter().enumerate() {
                builder.owned(pool, *index, Chips(self.owned[nth][chip_type]))?;
                if let Some(price) = self.prices[nth][chip_type].global {
                    builder.last_price(pool, *index, price)?;
                }
            }
            pools.push(pool);
        }
        for (nth, plan) in self.organisation.teams.iter().enumerate() {
            let (id, balance) = (plan.id.clone(), self.books.balance(nth));
            let team = builder.team(id, pools[plan.pool], plan.income, balance, LEVERAGE_THOUSANDTHS)?;
            for bid in &self.queues[nth] {
                self.add_bid(&mut builder, team, &chip_types, bid)?;
            }
        }
        builder.build()
    }

    fn add_bid(
        &self,
        builder: &mut MarketBuilder,
        team: TeamIndex,
        chip_types: &[ChipTypeIndex],
        bid: &LiveBid,
    ) -> Result<(), market::SnapshotError> {
        let job = &self.jobs[bid.job];
        // On the stack: this runs for every live bid in every cycle.
        let nothing = AlternativeInput { chip_type: None, chips: Chips(1), min_chips: Chips(1) };
        let mut alternatives = [nothing; crate::trace::chip_types::MODELS.len()];
        for (alternative, choice) in alternatives.iter_mut().zip(&job.choices) {
            *alternative = AlternativeInput {
                chip_type: Some(chip_types[usize::from(choice.chip_type)]),
                chips: Chips(choice.chips.into()),
                min_chips: Chips(choice.min_chips.into()),
            };
        }
        let input = BidInput {
            id: bid.id.clone(),
            team,
            position: bid.job as u64,
            limit: job.limit,
            not_before: None,
            not_after: None,
            held: bid.held,
        };
        builder.bid(input, &alternatives[..job.choices.len()])
    }

    fn take_prices(&mut self, outcome: &Outcome) {
        for (market, chip_type) in outcome.chip_types.iter().zip(&self.type_order) {
            for (pool, prices) in self.organisation.pools.iter().zip(&mut self.prices) {
                let in_pool = market.pools.iter().find(|in_pool| in_pool.id == pool.id);
                prices[*chip_type] = PoolPrice {
                    global: in_pool.and_then(|in_pool| in_pool.price),
                    local: in_pool.and_then(|in_pool| in_pool.local_price),
                };
            }
        }
    }

    /// Bids use, and their teams owe, what they won.
    fn use_quotas(&mut self, outcome: &Outcome) -> Result<(), AppError> {
        let mut results = outcome.bids.iter();
        for (team, queue) in self.queues.iter_mut().enumerate() {
            let pool = self.organisation.teams[team].pool;
            for bid in queue {
                let result = results.next().filter(|result| result.id == bid.id);
                let result =
                    result.ok_or_else(|| AppError::internal("the outcome lists bids in another order"))?;
                let won = result.chips.0;
                let choice = result.chip_type.as_ref().and_then(|id| {
                    let types = &self.organisation.chip_types;
                    let is_it =
                        |choice: &super::demand::Choice| types[usize::from(choice.chip_type)].id == *id;
                    self.jobs[bid.job].choices.iter().position(is_it)
                });
                // As in a snapshot: what it chose last, whether or not it won any.
                bid.held = choice;
                (bid.chips_before, bid.chips) = (bid.chips, won);
                if let (Some(choice), true) = (choice, won > 0) {
                    let chip_type = usize::from(self.jobs[bid.job].choices[choice].chip_type);
                    let price = self.prices[pool][chip_type];
                    let chip_seconds = won * u64::from(self.grid.cycle_seconds);
                    self.books.charge(team, chip_type, price.local.unwrap_or_default().0, chip_seconds);
                    self.figures.paid(team, chip_type, won, price.global.unwrap_or_default());
                }
            }
        }
        Ok(())
    }

    /// Chips that nobody pays for go to waiting bids, in order of submission.
    fn use_free_chips(&mut self, outcome: &Outcome) {
        let types = self.type_order.len();
        let (mut free, mut shared) = (vec![0; types], vec![0; types]);
        for (market, chip_type) in outcome.chip_types.iter().zip(&self.type_order) {
            free[*chip_type] = placement::free_chips(market);
            shared[*chip_type] = market.shared.0;
        }
        if free.iter().all(|chips| *chips == 0) {
            return;
        }
        let mut waiting: Vec<&mut LiveBid> =
            self.queues.iter_mut().flatten().filter(|bid| bid.chips == 0).collect();
        waiting.sort_unstable_by_key(|bid| bid.job);
        for bid in waiting {
            let job = &self.jobs[bid.job];
            let owned = &self.owned[self.organisation.teams[usize::from(job.team)].pool];
            let can_reach = |chip_type: usize| owned[chip_type] > 0 || shared[chip_type] > 0;
            let reachable = job.choices.iter().filter(|choice| can_reach(usize::from(choice.chip_type)));
            let ways = reachable.map(|choice| Fit {
                market: usize::from(choice.chip_type),
                chips: Chips(choice.chips.into()),
                min_chips: Chips(choice.min_chips.into()),
            });
            if let Some((chip_type, chips)) = placement::take_first_fit(&mut free, ways) {
                bid.chips = chips.0;
                self.figures.opportunistic(chip_type, chips.0);
            }
        }
    }

    /// Jobs do a cycle's work; those that are served leave.
    fn work(&mut self, cycle: u32) {
        let seconds = u64::from(self.grid.cycle_seconds);
        for queue in &mut self.queues {
            queue.retain_mut(|bid| {
                let job = &self.jobs[bid.job];
                if bid.chips > 0 && !bid.started {
                    bid.started = true;
                    let waited = u64::from(cycle - job.arrives) * seconds;
                    self.figures.service.started(waited + u64::from(job.lead_seconds));
                }
                if bid.chips == 0 && bid.chips_before > 0 {
                    self.figures.stopped(bid.chips_before);
                }
                bid.done_chip_seconds += bid.chips * seconds;
                let served = bid.done_chip_seconds >= job.chip_seconds;
                if served {
                    let took = u64::from(cycle + 1 - job.arrives) * seconds;
                    self.figures.service.completed(took + u64::from(job.lead_seconds));
                }
                !served
            });
        }
    }

    fn finish(self) -> MarketResult {
        let left = self.queues.iter().flatten();
        let running = left.clone().filter(|bid| bid.chips > 0).count() as u64;
        let waiting = left.count() as u64 - running;
        self.figures.finish(self.organisation, &self.books, self.grid.cycle_seconds, (running, waiting))
    }
}
