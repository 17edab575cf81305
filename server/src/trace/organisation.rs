//! An organisation made from a trace: chip types, pools, teams, their means, and what each job bids.
//!
//! A trace knows jobs and clusters; a market also needs budgets, owned chips, limits and choices. What is derived
//! from the trace and what is invented is said in `docs/DEMO.md` and in [`Organisation::data_note`].

use common::chips::Chips;
use common::ids::{ChipTypeId, PoolId, TeamId};
use common::instant::{Instant, MICROS_PER_SECOND};
use common::money::{MICROS_PER_CREDIT, MicroCredits, Price};
use market::snapshot::{Alternative, OwnedChips};
use sha2::{Digest, Sha256};

use super::{Job, Trace, chip_types, mean_demand_milli, philly};

/// Names of the pools; a trace does not tell what its clusters belong to. At most so many pools.
const POOLS: [(&str, &str); 4] =
    [("research", "Research"), ("products", "Products"), ("language", "Language"), ("vision", "Vision")];

/// Local credits minted per global credit of weight, per pool, in hundredths: the second pool's money is worth half.
const MINT_PERCENT: [u64; 4] = [100, 200, 100, 100];

/// Owned share of each chip type's chips; the rest is shared.
const OWNED_PERCENT: u64 = 60;

/// Smallest income of a team, in micro-credits per hour: a cluster with next to no history can still bid.
const LEAST_INCOME: u64 = 1_000_000;

/// Incomes are whole multiples of this many micro-credits per hour.
const INCOME_STEP: u64 = 500_000;

/// Limits as thousandths of the price at which the whole organisation's income buys the whole supply.
const LIMIT_THOUSANDTHS: [u64; 16] =
    [250, 350, 450, 550, 650, 750, 850, 950, 1_050, 1_200, 1_400, 1_600, 1_900, 2_300, 2_800, 3_500];

/// A chip type and its shared supply.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ChipTypePlan {
    /// The chip type.
    pub id: ChipTypeId,
    /// Its display name.
    pub name: String,
    /// Chips in the shared supply.
    pub shared: Chips,
}

/// A pool, its weight and what it owns.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PoolPlan {
    /// The pool.
    pub id: PoolId,
    /// Its display name.
    pub name: String,
    /// Purchasing power in global credits per hour.
    pub weight: MicroCredits,
    /// Chips it owns, in order of the organisation's chip types.
    pub owned: Vec<OwnedChips>,
}

/// A team: one cluster of the trace.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TeamPlan {
    /// The team.
    pub id: TeamId,
    /// Its display name.
    pub name: String,
    /// Index of its pool.
    pub pool: usize,
    /// Local credits per hour.
    pub income: MicroCredits,
}

/// What a job bids.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct JobBid {
    /// Index of its team.
    pub team: usize,
    /// Its display name.
    pub name: String,
    /// What it would take, in order of preference.
    pub alternatives: Vec<Alternative>,
    /// Most it pays in its pool's local credits per chip-hour; absent is no limit.
    pub limit: Option<Price>,
    /// Work until it ends.
    pub chip_seconds: u64,
}

/// An organisation whose demand is a trace.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Organisation {
    /// Its display name.
    pub name: String,
    /// Name of the trace; part of each job's draws.
    trace: String,
    /// Chip types, in order of [`chip_types::MODELS`].
    pub chip_types: Vec<ChipTypePlan>,
    /// Pools.
    pub pools: Vec<PoolPlan>,
    /// Teams, in order of the trace's clusters.
    pub teams: Vec<TeamPlan>,
}

/// Days of the stretch whose demand sizes the supply: eight weeks.
const BUSY_DAYS: i64 = 56;

/// The busiest eight weeks of a trace, from a midnight on; the whole of it, in whole days, if it is shorter.
#[must_use]
pub fn busiest_stretch(trace: &Trace) -> (Instant, Instant) {
    const DAY: i64 = 86_400;
    const DAY_MICROS: i64 = DAY * MICROS_PER_SECOND;
    let first = Instant(trace.begins_at().0.div_euclid(DAY_MICROS) * DAY_MICROS);
    let days = (trace.ends_at().0 - first.0 - 1) / DAY_MICROS + 1;
    let length = days.min(BUSY_DAYS) * DAY;
    let stretches = (0..=(days - BUSY_DAYS).max(0)).map(|day| {
        let from = first.plus_seconds(day * DAY);
        (from, from.plus_seconds(length))
    });
    let busiest = stretches
        .max_by_key(|(from, to)| (mean_demand_milli(&trace.jobs, *from, *to), std::cmp::Reverse(*from)));
    busiest.unwrap_or((first, first.plus_seconds(length)))
}

/// Chips a tenth above the average demand of the busiest stretch, rounded up to a multiple of 20: scarce at times, never
/// hopeless. At least 20.
#[must_use]
pub fn fitting_chips(trace: &Trace) -> u64 {
    let (from, to) = busiest_stretch(trace);
    (mean_demand_milli(&trace.jobs, from, to) * 11 / 10).div_ceil(20_000).max(1) * 20
}

impl Organisation {
    /// The organisation of a trace, owning `chips` chips in all.
    ///
    /// Clusters become teams of up to four pools of like demand. Weights and incomes follow chip-hours over the whole
    /// trace; in all, income is one global credit per chip and hour.
    #[must_use]
    pub fn of(trace: &Trace, chips: u64) -> Self {
        let demand = chip_seconds_by_cluster(trace);
        let pool_of = deal(&demand, POOLS.len().min(demand.len()));
        let pool_count = pool_of.iter().max().map_or(0, |last| last + 1);
        let mut by_pool = vec![0; pool_count];
        for (chip_seconds, pool) in demand.iter().zip(&pool_of) {
            by_pool[*pool] += chip_seconds;
        }
        // Whole percents, as people would agree on them.
        let percents = largest_remainder(100, &by_pool);
        let supply = chip_types::split(chips);
        let owned: Vec<Vec<u64>> =
            supply.iter().map(|all| largest_remainder(all * OWNED_PERCENT / 100, &percents)).collect();

        let chip_types = supply.iter().enumerate().map(|(model, all)| ChipTypePlan {
            id: chip_types::id(model),
            name: chip_types::MODELS[model].name.to_owned(),
            shared: Chips(all - owned[model].iter().sum::<u64>()),
        });
        let pools = percents.iter().enumerate().map(|(pool, percent)| PoolPlan {
            id: PoolId::new(POOLS[pool].0).expect("the name of a pool is an id"),
            name: POOLS[pool].1.to_owned(),
            weight: credits(chips * percent * MICROS_PER_CREDIT.unsigned_abs() / 100),
            owned: (0..supply.len())
                .map(|model| OwnedChips {
                    chip_type: chip_types::id(model),
                    chips: Chips(owned[model][pool]),
                })
                .filter(|owned| owned.chips.0 > 0)
                .collect(),
        });
        let pools: Vec<PoolPlan> = pools.collect();
        let teams = trace.clusters.iter().enumerate().map(|(cluster, name)| {
            let pool = pool_of[cluster];
            let minted =
                u128::from(pools[pool].weight.0.unsigned_abs()) * u128::from(MINT_PERCENT[pool]) / 100;
            let share = minted * u128::from(demand[cluster]) / u128::from(by_pool[pool].max(1));
            let steps = (u64::try_from(share).unwrap_or(u64::MAX) + INCOME_STEP / 2) / INCOME_STEP;
            TeamPlan {
                id: TeamId::new(format!("vc-{name}")).expect("a checked cluster name makes an id"),
                name: format!("Cluster {name}"),
                pool,
                income: credits((steps * INCOME_STEP).max(LEAST_INCOME)),
            }
        });
        let teams = teams.collect();
        Self {
            name: organisation_name(trace),
            trace: trace.name.clone(),
            chip_types: chip_types.collect(),
            pools,
            teams,
        }
    }

    /// Where the numbers come from and which of them are invented, for the reader of a page.
    #[must_use]
    pub fn data_note(&self) -> String {
        let source = if self.trace == philly::NAME {
            philly::ATTRIBUTION.to_owned()
        } else {
            format!("Demand: imported trace {:?}", self.trace)
        };
        format!(
            "{source}. Chip types: shares of Alibaba cluster-trace-gpu-v2023. Pools, budgets, price limits and choices \
             of chip type are synthetic: the trace has none."
        )
    }

    /// All chips of a chip type, owned and shared.
    #[must_use]
    pub fn supply(&self, chip_type: &ChipTypeId) -> u64 {
        let shared =
            self.chip_types.iter().find(|plan| plan.id == *chip_type).map_or(0, |plan| plan.shared.0);
        let owned =
            self.pools.iter().flat_map(|pool| &pool.owned).filter(|owned| owned.chip_type == *chip_type);
        shared + owned.map(|owned| owned.chips.0).sum::<u64>()
    }

    /// A team's share of the organisation's whole purchasing power, in micro-credits of global income per hour.
    #[must_use]
    pub fn global_income(&self, team: usize) -> u64 {
        let pool = self.teams[team].pool;
        let minted = self.minted(pool);
        let income = u128::from(self.teams[team].income.0.unsigned_abs());
        let weight = u128::from(self.pools[pool].weight.0.unsigned_abs());
        u64::try_from(income * weight / minted.max(1)).unwrap_or(u64::MAX)
    }

    /// Micro-credits that a pool mints per hour.
    fn minted(&self, pool: usize) -> u128 {
        let teams = self.teams.iter().filter(|team| team.pool == pool);
        teams.map(|team| u128::from(team.income.0.unsigned_abs())).sum()
    }

    /// What a job of the trace bids. Depends on the trace's name and the job alone.
    #[must_use]
    pub fn bid(&self, job: &Job) -> JobBid {
        let draws = draws(&self.trace, job);
        let team = usize::from(job.cluster);
        let chips = u64::from(job.chips);
        // One gang in four of 4 chips or more can also run on half of them.
        let min_chips = if chips >= 4 && draws[2].is_multiple_of(4) { chips / 2 } else { chips };
        let alternatives = self.models_for(job, draws).into_iter().map(|model| Alternative {
            chip_type: self.chip_types[model].id.clone(),
            chips: Chips(chips),
            min_chips: Chips(min_chips),
        });
        JobBid {
            team,
            name: format!("job {}", job.line),
            alternatives: alternatives.collect(),
            limit: self.limit(team, draws[3]),
            chip_seconds: job.chip_seconds(),
        }
    }

    /// Models that can hold the job's gang; large jobs go wherever half of the supply holds them.
    fn models_for(&self, job: &Job, draws: [u64; 4]) -> Vec<usize> {
        let chips = u64::from(job.chips);
        if job.chips <= chip_types::LARGEST_POD {
            let models = chip_types::acceptable(draws[0], draws[1]);
            if models.iter().all(|model| self.supply(&self.chip_types[*model].id) >= 2 * chips) {
                return models;
            }
        }
        let large: Vec<usize> = (0..self.chip_types.len())
            .filter(|model| self.supply(&self.chip_types[*model].id) >= 2 * chips)
            .collect();
        // What fits nowhere still bids on the most common type, where everybody can see that it does not fit.
        if large.is_empty() { vec![0] } else { large }
    }

    /// One job in four has no limit; the others' limits lie around one global credit per chip-hour.
    fn limit(&self, team: usize, draw: u64) -> Option<Price> {
        if draw.is_multiple_of(4) {
            return None;
        }
        let step = usize::try_from(draw / 4 % 16).unwrap_or(0);
        // Within ten percent of the step, so that limits do not all stand on the same ticks.
        let within = 900 + draw / 64 % 201;
        let global = LIMIT_THOUSANDTHS[step] * within * MICROS_PER_CREDIT.unsigned_abs() / 1_000_000;
        let pool = self.teams[team].pool;
        let weight = u128::from(self.pools[pool].weight.0.unsigned_abs()).max(1);
        let local = u128::from(global) * self.minted(pool) / weight;
        // Whole hundredths of a credit, as people write them.
        Some(Price((u64::try_from(local).unwrap_or(0) / 10_000).max(1) * 10_000))
    }
}

fn organisation_name(trace: &Trace) -> String {
    if trace.name == philly::NAME { "Philly demo".to_owned() } else { format!("{} demo", trace.name) }
}

fn credits(micros: u64) -> MicroCredits {
    MicroCredits(i64::try_from(micros).unwrap_or(i64::MAX))
}

fn chip_seconds_by_cluster(trace: &Trace) -> Vec<u64> {
    let mut demand = vec![0; trace.clusters.len()];
    for job in &trace.jobs {
        demand[usize::from(job.cluster)] += job.chip_seconds();
    }
    demand
}

/// Deals clusters into pools of like demand: the largest first, each to the pool with the least so far.
fn deal(demand: &[u64], pools: usize) -> Vec<usize> {
    let mut order: Vec<usize> = (0..demand.len()).collect();
    order.sort_by_key(|cluster| (std::cmp::Reverse(demand[*cluster]), *cluster));
    let mut so_far = vec![(0_u64, 0_usize); pools];
    let mut pool_of = vec![0; demand.len()];
    for cluster in order {
        // Pools with equal demand take turns by how many teams they have.
        let pool = (0..pools).min_by_key(|pool| (so_far[*pool], *pool)).unwrap_or(0);
        so_far[pool].0 += demand[cluster];
        so_far[pool].1 += 1;
        pool_of[cluster] = pool;
    }
    pool_of
}

/// Four independent uniform draws for a job.
fn draws(trace: &str, job: &Job) -> [u64; 4] {
    let digest = Sha256::digest(format!("{trace}|job|{}", job.line));
    let mut draws = [0; 4];
    for (draw, bytes) in draws.iter_mut().zip(digest.chunks_exact(8)) {
        *draw = u64::from_be_bytes(bytes.try_into().expect("eight bytes"));
    }
    draws
}

/// `total` whole units in proportion to `weights`, the left-over ones to the largest remainders, ties to the first.
/// Nothing where all weights are 0.
#[must_use]
pub fn largest_remainder(total: u64, weights: &[u64]) -> Vec<u64> {
    let sum: u128 = weights.iter().map(|weight| u128::from(*weight)).sum();
    if sum == 0 {
        return vec![0; weights.len()];
    }
    let product = |weight: u64| u128::from(total) * u128::from(weight);
    let mut parts: Vec<u64> =
        weights.iter().map(|weight| u64::try_from(product(*weight) / sum).unwrap_or(u64::MAX)).collect();
    let left = total - parts.iter().sum::<u64>();
    let mut order: Vec<usize> = (0..weights.len()).collect();
    order.sort_by_key(|at| (std::cmp::Reverse(product(weights[*at]) % sum), *at));
    for at in order.into_iter().take(usize::try_from(left).unwrap_or(usize::MAX)) {
        parts[at] += 1;
    }
    parts
}

#[cfg(test)]
#[path = "organisation_tests.rs"]
mod tests;
