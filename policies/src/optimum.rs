//! The most value that a trace allows: what every policy's welfare is a share of.

use crate::jobs::JobTrace;
use crate::policy::{Policy, PolicyError};
use crate::round::{Allocation, Round};
use crate::trace::{Demand, Trace};

/// Chips to whoever values them most, whatever became of the others: the most welfare, where demand does not wait.
#[derive(Debug, Default)]
pub struct HighestValue;

impl Policy for HighestValue {
    fn allocate(&mut self, round: &Round) -> Result<Allocation, PolicyError> {
        Ok(round.by_type(|chip_type| {
            let mut order: Vec<usize> = (0..round.agents.len()).collect();
            let value = |agent: usize| round.agents[agent].value_of(chip_type);
            order.sort_by(|a, b| value(*b).total_cmp(&value(*a)));
            let mut left = round.supply[chip_type];
            let mut chips = vec![0; round.agents.len()];
            for agent in order {
                chips[agent] = round.agents[agent].demand[chip_type].min(left);
                left -= chips[agent];
            }
            chips
        }))
    }
}

/// The most welfare in credits. Where demand is fixed this is the optimum of the linear program, which rounds and chip
/// types take apart: each serves its highest values first. Where jobs wait it is a bound: all chips of all rounds as one
/// store that the dearest work is served from, each job worth its value.
#[must_use]
pub fn welfare_bound(trace: &Trace) -> f64 {
    match &trace.demand {
        Demand::Fixed(rounds) => rounds.iter().map(most_in_round).sum(),
        Demand::Jobs(jobs) => most_of_jobs(jobs),
    }
}

fn most_in_round(round: &Round) -> f64 {
    let mut most = 0.0;
    for (chip_type, supply) in round.supply.iter().enumerate() {
        let asks =
            round.agents.iter().map(|agent| (agent.value_of(chip_type), agent.demand[chip_type] as f64));
        most += fill(*supply as f64, asks.collect()) * round.hours;
    }
    most
}

fn most_of_jobs(trace: &JobTrace) -> f64 {
    let mut most = 0.0;
    for (chip_type, supply) in trace.supply.iter().enumerate() {
        let jobs = trace.jobs.iter().filter(|job| job.chip_type == chip_type && job.chips <= *supply);
        let asks = jobs.map(|job| (job.value / job.chip_rounds() as f64, job.chip_rounds() as f64));
        most += fill(*supply as f64 * trace.rounds as f64, asks.collect());
    }
    most
}

/// Serves (value, amount) pairs from the dearest on.
fn fill(mut left: f64, mut asks: Vec<(f64, f64)>) -> f64 {
    asks.sort_by(|a, b| b.0.total_cmp(&a.0));
    let mut sum = 0.0;
    for (value, amount) in asks {
        let served = amount.min(left);
        sum += value * served;
        left -= served;
    }
    sum
}
