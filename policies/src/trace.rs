//! Traces: what is asked for, round after round, and where its numbers come from.

use serde::{Deserialize, Serialize};

use crate::jobs::JobTrace;
use crate::round::{Agent, Round};

/// A trace that policies are compared on.
#[derive(Clone, Debug, PartialEq)]
pub struct Trace {
    /// What it is called.
    pub name: String,
    /// Where demand comes from, in words, with what must be credited.
    pub source: String,
    /// Where values come from, in words: no value is invented silently.
    pub value_source: String,
    /// The agents' names, in their order in each round.
    pub agents: Vec<String>,
    /// The chip types' names.
    pub chip_types: Vec<String>,
    /// What is asked for.
    pub demand: Demand,
}

/// How demand answers to what is given.
#[derive(Clone, Debug, PartialEq)]
pub enum Demand {
    /// It does not: what a round does not serve is lost.
    Fixed(Vec<Round>),
    /// It does: jobs wait until they are served or too late.
    Jobs(JobTrace),
}

/// What a simulation of a trace takes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Size {
    /// Rounds.
    pub rounds: usize,
    /// Agents.
    pub agents: usize,
    /// Chip types.
    pub chip_types: usize,
}

/// A job as a trace of jobs tells it, for making rounds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Hold {
    /// Index of its agent.
    pub agent: usize,
    /// Seconds from the first round's start to its submission; negative before it.
    pub from: i64,
    /// Seconds for which it holds its chips.
    pub seconds: u64,
    /// Chips that it holds.
    pub chips: u64,
}

impl Trace {
    /// What a simulation of it takes.
    #[must_use]
    pub fn size(&self) -> Size {
        let rounds = match &self.demand {
            Demand::Fixed(rounds) => rounds.len(),
            Demand::Jobs(jobs) => jobs.rounds,
        };
        Size { rounds, agents: self.agents.len(), chip_types: self.chip_types.len() }
    }

    /// The mean value of a chip-hour over all that is asked for, in credits; 1 where nothing is.
    #[must_use]
    pub fn mean_value(&self) -> f64 {
        let mut sums = (0.0, 0.0);
        let mut add = |amount: f64, value: f64| {
            sums.0 += amount * value;
            sums.1 += amount;
        };
        match &self.demand {
            Demand::Fixed(rounds) => {
                for (round, agent) in
                    rounds.iter().flat_map(|round| round.agents.iter().map(move |a| (round, a)))
                {
                    for (chip_type, chips) in agent.demand.iter().enumerate() {
                        add(*chips as f64 * round.hours, agent.value_of(chip_type));
                    }
                }
            }
            Demand::Jobs(trace) => {
                for job in &trace.jobs {
                    add(
                        job.chip_rounds() as f64 * trace.hours,
                        job.value / (job.chip_rounds() as f64 * trace.hours),
                    );
                }
            }
        }
        if sums.0 > 0.0 && sums.1 > 0.0 { sums.0 / sums.1 } else { 1.0 }
    }
}

impl Size {
    /// Bytes that a simulation needs at most: demand, grant and use of each agent, chip type and round, and the rounds
    /// themselves.
    #[must_use]
    pub fn bytes(self) -> u64 {
        let cells = self.rounds as u64 * self.agents as u64 * self.chip_types as u64;
        let agents = self.rounds as u64 * self.agents as u64;
        cells.saturating_mul(28).saturating_add(agents.saturating_mul(120))
    }
}

/// The demand of jobs that hold their chips from submission on, whether or not there are so many: chips per round and
/// agent, each round's mean rounded up.
#[must_use]
pub fn held_per_round(jobs: &[Hold], agents: usize, rounds: usize, round_seconds: u64) -> Vec<Vec<u64>> {
    let mut chip_seconds = vec![vec![0_u64; agents]; rounds];
    let length = i64::try_from(round_seconds).unwrap_or(i64::MAX);
    for job in jobs {
        let end = job.from.saturating_add_unsigned(job.seconds);
        let (first, last) = (job.from.div_euclid(length).max(0), (end - 1).div_euclid(length));
        for round in first..=last.min(rounds as i64 - 1) {
            let (starts, ends) = (round * length, (round + 1) * length);
            let held = (end.min(ends) - job.from.max(starts)).max(0);
            chip_seconds[round as usize][job.agent] += job.chips * held.unsigned_abs();
        }
    }
    let up = |seconds: u64| seconds.div_ceil(round_seconds);
    chip_seconds.into_iter().map(|row| row.into_iter().map(up).collect()).collect()
}

/// Demand scaled so that each agent asks for `mean` chips on average, rounded up; who never asks keeps asking nothing.
#[must_use]
pub fn normalised(demand: &[Vec<u64>], mean: u64) -> Vec<Vec<u64>> {
    let agents = demand.first().map_or(0, Vec::len);
    let sums: Vec<u64> = (0..agents).map(|agent| demand.iter().map(|row| row[agent]).sum()).collect();
    let scaled = |chips: u64, sum: u64| {
        if sum == 0 {
            0
        } else {
            (u128::from(chips * mean) * demand.len() as u128).div_ceil(u128::from(sum)) as u64
        }
    };
    demand
        .iter()
        .map(|row| row.iter().zip(&sums).map(|(chips, sum)| scaled(*chips, *sum)).collect())
        .collect()
}

/// Rounds of one chip type and equal weights from demand by round and agent. `value` says what a chip-hour is worth to an
/// agent in a round, in credits.
#[must_use]
pub fn rounds_of(
    demand: &[Vec<u64>],
    supply: u64,
    hours: f64,
    mut value: impl FnMut(usize, usize) -> f64,
) -> Vec<Round> {
    let mut rounds = Vec::with_capacity(demand.len());
    for (at, row) in demand.iter().enumerate() {
        let agents = row.iter().enumerate().map(|(agent, chips)| Agent {
            weight: 1.0,
            demand: vec![*chips],
            value: vec![value(at, agent)],
        });
        rounds.push(Round { hours, supply: vec![supply], agents: agents.collect(), gangs: Vec::new() });
    }
    rounds
}
