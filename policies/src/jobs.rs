//! Demand that waits: jobs with gangs, work, deadlines and a value when they end, and what becomes of them.

use crate::round::{Agent, Allocation, Gang, Round};

/// A job.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Job {
    /// Index of its agent.
    pub agent: usize,
    /// Index of its chip type.
    pub chip_type: usize,
    /// First round that it can run in.
    pub arrives: usize,
    /// Chips it needs at once.
    pub chips: u64,
    /// Rounds it must run for, at least 1. It can be interrupted between rounds.
    pub rounds: u64,
    /// It is worth nothing unless it ends before this round; absent: whenever it ends.
    pub deadline: Option<usize>,
    /// What it is worth when it ends, in credits.
    pub value: f64,
}

impl Job {
    /// Its work, in chips times rounds.
    #[must_use]
    pub fn chip_rounds(&self) -> u64 {
        self.chips * self.rounds
    }
}

/// A trace of jobs on a cluster.
#[derive(Clone, Debug, PartialEq)]
pub struct JobTrace {
    /// In order of arrival.
    pub jobs: Vec<Job>,
    /// Chips, per chip type.
    pub supply: Vec<u64>,
    /// Weight of each agent.
    pub weights: Vec<f64>,
    /// Length of a round in hours.
    pub hours: f64,
    /// Rounds that are simulated.
    pub rounds: usize,
}

/// What became of an agent's jobs.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Served {
    /// Jobs that arrived.
    pub jobs: u64,
    /// Jobs that ended, in time where they have a deadline.
    pub ended: u64,
    /// Value of those that arrived, in credits.
    pub value: f64,
    /// Value of those that ended in time, in credits.
    pub got: f64,
}

#[derive(Clone, Copy, Debug)]
struct Live {
    job: usize,
    rounds_left: u64,
}

/// The jobs of a trace while it is simulated.
#[derive(Debug)]
pub struct JobRun<'a> {
    trace: &'a JobTrace,
    next: usize,
    live: Vec<Live>,
    served: Vec<Served>,
}

impl<'a> JobRun<'a> {
    /// Before the first round.
    #[must_use]
    pub fn new(trace: &'a JobTrace) -> Self {
        Self { trace, next: 0, live: Vec::new(), served: vec![Served::default(); trace.weights.len()] }
    }

    /// What became of each agent's jobs so far.
    #[must_use]
    pub fn served(&self) -> &[Served] {
        &self.served
    }

    /// The round's demand: all jobs that wait or run. A job that can't end in time any more has left.
    #[must_use]
    pub fn round(&mut self, at: usize) -> Round {
        while let Some(job) = self.trace.jobs.get(self.next).filter(|job| job.arrives <= at) {
            self.served[job.agent].jobs += 1;
            self.served[job.agent].value += job.value;
            self.live.push(Live { job: self.next, rounds_left: job.rounds });
            self.next += 1;
        }
        let jobs = &self.trace.jobs;
        self.live.retain(|live| {
            jobs[live.job].deadline.is_none_or(|end| at as u64 + live.rounds_left <= end as u64)
        });
        let types = self.trace.supply.len();
        let mut worth = vec![vec![0.0; types]; self.trace.weights.len()];
        let mut demand = vec![vec![0; types]; self.trace.weights.len()];
        let mut gangs = Vec::with_capacity(self.live.len());
        for live in &self.live {
            let job = &jobs[live.job];
            let value = job.value / (job.chip_rounds() as f64 * self.trace.hours);
            demand[job.agent][job.chip_type] += job.chips;
            worth[job.agent][job.chip_type] += value * job.chips as f64;
            gangs.push(Gang {
                job: live.job as u64,
                agent: job.agent,
                chip_type: job.chip_type,
                chips: job.chips,
                rounds_left: live.rounds_left,
                value,
            });
        }
        let mean = |worth: f64, chips: u64| if chips > 0 { worth / chips as f64 } else { 0.0 };
        let agents =
            self.trace.weights.iter().zip(demand.into_iter().zip(worth)).map(|(weight, (demand, worth))| {
                let value = worth.iter().zip(&demand).map(|(worth, chips)| mean(*worth, *chips)).collect();
                Agent { weight: *weight, demand, value }
            });
        Round { hours: self.trace.hours, supply: self.trace.supply.clone(), agents: agents.collect(), gangs }
    }

    /// Runs jobs on what was allocated and answers the chips used by agent and chip type. An agent runs its jobs by
    /// deadline, those without one last and by arrival; one that does not fit into what is left is skipped. A policy
    /// that starts jobs itself decides instead.
    pub fn advance(&mut self, at: usize, allocation: &Allocation) -> Vec<Vec<u64>> {
        let jobs = &self.trace.jobs;
        let mut left = allocation.chips.clone();
        let mut used = vec![vec![0; self.trace.supply.len()]; left.len()];
        let mut order: Vec<usize> = (0..self.live.len()).collect();
        let chosen: std::collections::BTreeSet<u64> = allocation.jobs.iter().copied().collect();
        if chosen.is_empty() {
            order.sort_by_key(|place| (jobs[self.live[*place].job].deadline.unwrap_or(usize::MAX), *place));
        } else {
            order.retain(|place| chosen.contains(&(self.live[*place].job as u64)));
        }
        for place in order {
            let live = &mut self.live[place];
            let job = &jobs[live.job];
            let room = &mut left[job.agent][job.chip_type];
            if *room < job.chips {
                continue;
            }
            *room -= job.chips;
            used[job.agent][job.chip_type] += job.chips;
            live.rounds_left -= 1;
            if live.rounds_left == 0 && job.deadline.is_none_or(|end| at < end) {
                self.served[job.agent].ended += 1;
                self.served[job.agent].got += job.value;
            }
        }
        self.live.retain(|live| live.rounds_left > 0);
        used
    }
}
