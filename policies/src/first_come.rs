//! First come, first served, or highest value first: whole jobs that run to their end, with EASY backfill.
//!
//! Lifka, *The ANL/IBM SP Scheduling System* (JSSPP 1995): a job may overtake the one at the head of the queue if that
//! does not delay the head's start.

use std::collections::BTreeSet;

use crate::policy::{Policy, PolicyError};
use crate::round::{Allocation, Gang, Round};

/// The order in which jobs wait.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Order {
    /// By submission.
    Submission,
    /// By value of a chip-hour, highest first; equal ones by submission.
    Value,
}

/// A queue of jobs per chip type. A job that started keeps its chips to its end.
#[derive(Debug)]
pub struct FirstCome {
    order: Order,
    running: BTreeSet<u64>,
}

impl FirstCome {
    /// An empty cluster.
    #[must_use]
    pub fn new(order: Order) -> Self {
        Self { order, running: BTreeSet::new() }
    }

    fn name(&self) -> &'static str {
        match self.order {
            Order::Submission => "fifo",
            Order::Value => "priority",
        }
    }

    /// The jobs of one chip type that run in this round, from all of them in order of submission.
    fn run(&self, supply: u64, mut gangs: Vec<Gang>) -> Vec<Gang> {
        let mut free = supply;
        let mut run: Vec<Gang> = Vec::new();
        gangs.retain(|gang| {
            let goes_on = self.running.contains(&gang.job);
            // A cut of the supply ends the jobs that no longer fit; they wait again.
            let fits = goes_on && gang.chips <= free;
            if fits {
                free -= gang.chips;
                run.push(*gang);
            }
            !fits && gang.chips <= supply
        });
        if self.order == Order::Value {
            gangs.sort_by(|a, b| b.value.total_cmp(&a.value));
        }
        let mut waiting = gangs.into_iter().peekable();
        while let Some(gang) = waiting.next_if(|gang| gang.chips <= free) {
            free -= gang.chips;
            run.push(gang);
        }
        let Some(head) = waiting.next() else { return run };
        let (start, mut spare) = reservation(&run, free, head.chips);
        for gang in waiting {
            let in_time = gang.rounds_left <= start;
            if gang.chips <= free && (in_time || gang.chips <= spare) {
                free -= gang.chips;
                if !in_time {
                    spare -= gang.chips;
                }
                run.push(gang);
            }
        }
        run
    }
}

/// In how many rounds the head of the queue can start, and how many chips are free beside it then.
fn reservation(run: &[Gang], free: u64, head: u64) -> (u64, u64) {
    let mut ends: Vec<(u64, u64)> = run.iter().map(|gang| (gang.rounds_left, gang.chips)).collect();
    ends.sort_unstable();
    let mut free = free;
    let mut ends = ends.into_iter().peekable();
    while let Some((at, chips)) = ends.next() {
        free += chips;
        while let Some((_, chips)) = ends.next_if(|end| end.0 == at) {
            free += chips;
        }
        if free >= head {
            return (at, free - head);
        }
    }
    (u64::MAX, 0)
}

impl Policy for FirstCome {
    fn allocate(&mut self, round: &Round) -> Result<Allocation, PolicyError> {
        let has_demand = round.agents.iter().any(|agent| agent.demand.iter().any(|chips| *chips > 0));
        if round.gangs.is_empty() && has_demand {
            let reason = "it starts whole jobs, and this trace tells no jobs".to_owned();
            return Err(PolicyError::DoesNotApply { policy: self.name(), reason });
        }
        let mut allocation = round.by_type(|_| vec![0; round.agents.len()]);
        for (chip_type, supply) in round.supply.iter().enumerate() {
            let gangs = round.gangs.iter().filter(|gang| gang.chip_type == chip_type).copied().collect();
            for gang in self.run(*supply, gangs) {
                allocation.chips[gang.agent][chip_type] += gang.chips;
                allocation.jobs.push(gang.job);
            }
        }
        self.running = allocation.jobs.iter().copied().collect();
        Ok(allocation)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::round::Agent;

    fn gang(job: u64, chips: u64, rounds_left: u64, value: f64) -> Gang {
        Gang { job, agent: 0, chip_type: 0, chips, rounds_left, value }
    }

    fn round(gangs: Vec<Gang>) -> Round {
        let demand = vec![gangs.iter().map(|gang| gang.chips).sum()];
        let agents = vec![Agent { weight: 1.0, demand, value: Vec::new() }];
        Round { hours: 1.0, supply: vec![10], agents, gangs }
    }

    #[test]
    fn a_job_overtakes_only_where_the_head_is_not_delayed() {
        let mut policy = FirstCome::new(Order::Submission);
        let first = policy.allocate(&round(vec![gang(1, 6, 3, 1.0)])).unwrap();
        assert_eq!(first.jobs, [1]);
        // The head needs 8: it starts in 2 rounds, when job 1 ends, with 2 chips beside it. Job 3 would run longer on
        // 3 chips, job 4 ends in time, job 5 fits beside the head.
        let gangs = vec![
            gang(1, 6, 2, 1.0),
            gang(2, 8, 5, 1.0),
            gang(3, 3, 9, 1.0),
            gang(4, 2, 2, 1.0),
            gang(5, 2, 9, 1.0),
        ];
        let second = policy.allocate(&round(gangs)).unwrap();
        assert_eq!(second.jobs, [1, 4, 5]);
        assert_eq!(second.chips, [[10]]);
    }

    #[test]
    fn by_value_the_dear_job_starts_first_and_ends_nobody() {
        let mut policy = FirstCome::new(Order::Value);
        let gangs = vec![gang(1, 6, 3, 1.0), gang(2, 6, 3, 2.0), gang(3, 11, 1, 9.0)];
        assert_eq!(policy.allocate(&round(gangs)).unwrap().jobs, [2], "11 chips never fit into 10");
        let gangs = vec![gang(2, 6, 2, 2.0), gang(4, 9, 1, 5.0)];
        assert_eq!(policy.allocate(&round(gangs)).unwrap().jobs, [2]);
    }

    #[test]
    fn demand_without_jobs_is_refused() {
        let agents = vec![Agent { weight: 1.0, demand: vec![1], value: Vec::new() }];
        let round = Round { hours: 1.0, supply: vec![1], agents, gangs: Vec::new() };
        let error = FirstCome::new(Order::Submission).allocate(&round).unwrap_err();
        assert!(error.to_string().starts_with("fifo does not apply"), "{error}");
    }
}
