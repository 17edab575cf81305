//! Runs a policy on a trace and writes down what happened.

use crate::jobs::{JobRun, Served};
use crate::market_policy::Spending;
use crate::policy::{Policy, PolicyError};
use crate::round::{Allocation, Round};
use crate::trace::{Demand, Size, Trace};

/// Why a simulation gives no record.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum SimulateError {
    /// The policy refused or failed.
    #[error(transparent)]
    Policy(#[from] PolicyError),
    /// It was told to stop.
    #[error("the run was cancelled")]
    Cancelled,
    /// It needs more memory than it may have.
    #[error(
        "{rounds} rounds of {agents} agents and {chip_types} chip types need about {needed_mb} MB; {limit_mb} MB are \
         allowed: take fewer rounds or agents"
    )]
    TooLarge {
        /// Rounds of the trace.
        rounds: usize,
        /// Agents of the trace.
        agents: usize,
        /// Chip types of the trace.
        chip_types: usize,
        /// What it needs, in MB.
        needed_mb: u64,
        /// What it may have, in MB.
        limit_mb: u64,
    },
}

/// Most memory of one simulation, in bytes.
pub const MEMORY_LIMIT_BYTES: u64 = 2_000_000_000;

/// What happened, by round, agent and chip type.
#[derive(Clone, Debug, Default)]
pub struct Record {
    /// Length of each round, in hours.
    pub hours: Vec<f64>,
    /// Supply by round and chip type.
    pub supply: Vec<u64>,
    /// Agents.
    pub agents: usize,
    /// Chip types.
    pub chip_types: usize,
    /// Each agent's weight.
    pub weights: Vec<f64>,
    /// Chips asked for.
    pub demand: Vec<u32>,
    /// Chips given.
    pub granted: Vec<u32>,
    /// Chips given and used.
    pub useful: Vec<u32>,
    /// Value of a chip-hour, in credits.
    pub value: Vec<f32>,
    /// Prices by round and chip type; empty without a market.
    pub prices: Vec<f64>,
    /// Incomes and charges by agent, where the policy has money.
    pub spending: Vec<Spending>,
    /// What became of each agent's jobs; empty where the trace has none.
    pub served: Vec<Served>,
    /// Time that the policy took for all rounds, by the caller's stopwatch.
    pub nanoseconds: u64,
}

/// What a simulation tells its caller, and asks.
pub trait Observer {
    /// A round is done. Answers whether to go on.
    fn round_done(&mut self, done: usize, all: usize) -> bool;

    /// A stopwatch in nanoseconds; a constant where time does not matter.
    fn nanoseconds(&mut self) -> u64 {
        0
    }
}

/// Nobody looks.
#[derive(Debug)]
pub struct Unobserved;

impl Observer for Unobserved {
    fn round_done(&mut self, _done: usize, _all: usize) -> bool {
        true
    }
}

/// Refuses what would need too much memory.
///
/// # Errors
/// [`SimulateError::TooLarge`].
pub fn check_size(size: Size, limit_bytes: u64) -> Result<(), SimulateError> {
    if size.bytes() <= limit_bytes {
        return Ok(());
    }
    Err(SimulateError::TooLarge {
        rounds: size.rounds,
        agents: size.agents,
        chip_types: size.chip_types,
        needed_mb: size.bytes() / 1_000_000,
        limit_mb: limit_bytes / 1_000_000,
    })
}

/// Runs a policy through all rounds.
///
/// # Errors
/// The policy refuses the trace, a round is outside the limits, the observer stops it, or it would not fit in memory.
pub fn simulate(
    trace: &Trace,
    policy: &mut dyn Policy,
    observer: &mut dyn Observer,
) -> Result<Record, SimulateError> {
    check_size(trace.size(), MEMORY_LIMIT_BYTES)?;
    let all = trace.size().rounds;
    let mut record =
        Record { agents: trace.agents.len(), chip_types: trace.chip_types.len(), ..Record::default() };
    match &trace.demand {
        Demand::Fixed(rounds) => {
            rounds.iter().try_for_each(Round::check).map_err(PolicyError::from)?;
            policy.foresee(rounds)?;
            for (at, round) in rounds.iter().enumerate() {
                let allocation = timed(policy, round, observer, &mut record)?;
                record.add(round, &allocation, None);
                if !observer.round_done(at + 1, all) {
                    return Err(SimulateError::Cancelled);
                }
            }
        }
        Demand::Jobs(jobs) => {
            let mut run = JobRun::new(jobs);
            for at in 0..all {
                let round = run.round(at);
                round.check().map_err(PolicyError::from)?;
                let allocation = timed(policy, &round, observer, &mut record)?;
                let used = run.advance(at, &allocation);
                record.add(&round, &allocation, Some(&used));
                if !observer.round_done(at + 1, all) {
                    return Err(SimulateError::Cancelled);
                }
            }
            record.served = run.served().to_vec();
        }
    }
    record.spending = policy.spending().map(<[Spending]>::to_vec).unwrap_or_default();
    Ok(record)
}

fn timed(
    policy: &mut dyn Policy,
    round: &Round,
    observer: &mut dyn Observer,
    record: &mut Record,
) -> Result<Allocation, PolicyError> {
    let start = observer.nanoseconds();
    let allocation = policy.allocate(round)?;
    record.nanoseconds += observer.nanoseconds().saturating_sub(start);
    check_allocation(round, &allocation);
    Ok(allocation)
}

/// A policy that hands out chips that are not there is wrong, whatever it is called.
///
/// # Panics
/// More chips of a type are given than there are.
fn check_allocation(round: &Round, allocation: &Allocation) {
    for (chip_type, supply) in round.supply.iter().enumerate() {
        let given: u64 = allocation.chips.iter().map(|row| row[chip_type]).sum();
        assert!(given <= *supply, "{given} chips of type {chip_type} given, there are {supply}");
    }
}

impl Record {
    fn add(&mut self, round: &Round, allocation: &Allocation, used: Option<&[Vec<u64>]>) {
        let chips = |chips: u64| u32::try_from(chips).unwrap_or(u32::MAX);
        self.hours.push(round.hours);
        self.supply.extend(&round.supply);
        self.weights = round.weights();
        self.prices.extend(&allocation.prices);
        for (nth, agent) in round.agents.iter().enumerate() {
            for (chip_type, demand) in agent.demand.iter().enumerate() {
                let granted = allocation.chips[nth][chip_type];
                let useful = used.map_or(granted.min(*demand), |used| used[nth][chip_type]);
                self.demand.push(chips(*demand));
                self.granted.push(chips(granted));
                self.useful.push(chips(useful));
                self.value.push(agent.value_of(chip_type) as f32);
            }
        }
    }

    /// Rounds.
    #[must_use]
    pub fn rounds(&self) -> usize {
        self.hours.len()
    }

    /// The place of a round's agent's chip type in the lists.
    #[must_use]
    pub fn place(&self, round: usize, agent: usize, chip_type: usize) -> usize {
        (round * self.agents + agent) * self.chip_types + chip_type
    }
}
