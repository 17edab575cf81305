//! What a market replaces: fixed shares of the same supply, planned once, each with a queue of its own.
//!
//! Each team (or each pool) has a fixed share of every chip type in proportion to its purchasing power. Jobs wait in
//! order of submission and keep their chips until they end. The rules lean towards static pools wherever there was a
//! choice: shares follow the demand of the whole trace, which a planner would have to guess; an elastic job may start
//! on fewer chips; a job that can never fit its share is set aside instead of blocking the queue for ever.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use serde::Serialize;

use super::demand::{Grid, GridJob};
use super::figures::{ChipCycles, Months, Service};
use crate::trace::organisation::{Organisation, largest_remainder};

/// Who has a share of his own.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Owner {
    /// Every team.
    Team,
    /// Every pool; its teams share one queue.
    Pool,
}

/// In what order waiting jobs start.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Queue {
    /// Strictly in order: what is behind a job that does not fit waits with it.
    Fifo,
    /// In order, but what fits may pass what does not.
    Backfill,
}

/// One way to run static pools.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct Variant {
    /// Who has a share.
    pub owner: Owner,
    /// In what order jobs start.
    pub queue: Queue,
}

impl Variant {
    /// All ways, the usual one first.
    pub const ALL: [Self; 4] = [
        Self { owner: Owner::Team, queue: Queue::Backfill },
        Self { owner: Owner::Team, queue: Queue::Fifo },
        Self { owner: Owner::Pool, queue: Queue::Backfill },
        Self { owner: Owner::Pool, queue: Queue::Fifo },
    ];

    /// The variant in a few words.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match (self.owner, self.queue) {
            (Owner::Team, Queue::Backfill) => "static, per team, backfill",
            (Owner::Team, Queue::Fifo) => "static, per team, strict FIFO",
            (Owner::Pool, Queue::Backfill) => "static, per pool, backfill",
            (Owner::Pool, Queue::Fifo) => "static, per pool, strict FIFO",
        }
    }
}

/// What static pools did with a demand.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct StaticResult {
    /// The variant.
    pub variant: Variant,
    /// Chips in use over time.
    pub used: ChipCycles,
    /// What became of the jobs.
    pub service: Service,
    /// Jobs larger than the share of any chip type they can use: they never run.
    pub stranded_jobs: u64,
    /// Chip-hours of those jobs.
    pub stranded_chip_hours: u64,
}

/// A running job's chips, ordered by when they come back.
type Running = BinaryHeap<Reverse<(u32, u32)>>;

#[derive(Clone, Copy)]
struct Held {
    partition: usize,
    chip_type: usize,
    chips: u32,
}

struct Partition {
    capacity: Vec<u32>,
    free: Vec<u32>,
    /// Waiting jobs in order of submission.
    waiting: Vec<u32>,
    /// Something came or went since the queue was last looked at.
    changed: bool,
}

/// Runs the jobs, in order of submission, on static pools.
#[must_use]
pub fn run(organisation: &Organisation, jobs: &[GridJob], grid: Grid, variant: Variant) -> StaticResult {
    Simulation {
        jobs,
        grid,
        months: Months::of(grid),
        queue: variant.queue,
        partitions: partitions(organisation, variant.owner),
        partition_of: partition_of_team(organisation, variant.owner),
        running: Running::new(),
        held: vec![None; jobs.len()],
        in_use: 0,
        result: StaticResult {
            variant,
            used: ChipCycles::default(),
            service: Service::default(),
            stranded_jobs: 0,
            stranded_chip_hours: 0,
        },
    }
    .run()
}

/// Each owner's fixed chips per chip type.
fn partitions(organisation: &Organisation, owner: Owner) -> Vec<Partition> {
    let power: Vec<u64> = match owner {
        Owner::Team => (0..organisation.teams.len()).map(|team| organisation.global_income(team)).collect(),
        Owner::Pool => organisation.pools.iter().map(|pool| pool.weight.0.unsigned_abs()).collect(),
    };
    let mut capacities = vec![Vec::new(); power.len()];
    for chip_type in &organisation.chip_types {
        let shares = largest_remainder(organisation.supply(&chip_type.id), &power);
        for (capacity, share) in capacities.iter_mut().zip(shares) {
            capacity.push(u32::try_from(share).unwrap_or(u32::MAX));
        }
    }
    let partition = |capacity: Vec<u32>| Partition {
        free: capacity.clone(),
        capacity,
        waiting: Vec::new(),
        changed: false,
    };
    capacities.into_iter().map(partition).collect()
}

fn partition_of_team(organisation: &Organisation, owner: Owner) -> Vec<usize> {
    let of = |(team, plan): (usize, &crate::trace::organisation::TeamPlan)| match owner {
        Owner::Team => team,
        Owner::Pool => plan.pool,
    };
    organisation.teams.iter().enumerate().map(of).collect()
}

struct Simulation<'a> {
    jobs: &'a [GridJob],
    grid: Grid,
    months: Months,
    queue: Queue,
    partitions: Vec<Partition>,
    partition_of: Vec<usize>,
    running: Running,
    held: Vec<Option<Held>>,
    in_use: u64,
    result: StaticResult,
}

impl Simulation<'_> {
    fn run(mut self) -> StaticResult {
        let mut next = 0;
        let mut cycle = 0;
        while cycle < self.grid.cycles {
            self.end_jobs(cycle);
            while let Some(job) = self.jobs.get(next).filter(|job| job.arrives <= cycle) {
                self.submit(next, job);
                next += 1;
            }
            for partition in 0..self.partitions.len() {
                if std::mem::take(&mut self.partitions[partition].changed) {
                    self.start_jobs(partition, cycle);
                }
            }
            // Nothing happens until the next arrival or end.
            let arrival = self.jobs.get(next).map_or(u32::MAX, |job| job.arrives);
            let end = self.running.peek().map_or(u32::MAX, |Reverse((end, _))| *end);
            let until = arrival.min(end).min(self.grid.cycles);
            self.result.used.add(&self.months, cycle, until, self.in_use);
            cycle = until;
        }
        self.finish()
    }

    fn submit(&mut self, index: usize, job: &GridJob) {
        let partition = &mut self.partitions[self.partition_of[usize::from(job.team)]];
        let fits = |choice: &super::demand::Choice| {
            partition.capacity[usize::from(choice.chip_type)] >= choice.min_chips
        };
        self.result.service.submitted += 1;
        if job.choices.iter().any(fits) {
            partition.waiting.push(u32::try_from(index).unwrap_or(u32::MAX));
            partition.changed = true;
        } else {
            self.result.stranded_jobs += 1;
            self.result.stranded_chip_hours += job.chip_seconds / 3_600;
        }
    }

    fn end_jobs(&mut self, cycle: u32) {
        while let Some(Reverse((end, index))) = self.running.peek().copied() {
            if end > cycle {
                return;
            }
            self.running.pop();
            let job = &self.jobs[index as usize];
            if let Some(held) = self.held[index as usize].take() {
                let partition = &mut self.partitions[held.partition];
                partition.free[held.chip_type] += held.chips;
                partition.changed = true;
                self.in_use -= u64::from(held.chips);
            }
            let seconds = u64::from(end - job.arrives) * u64::from(self.grid.cycle_seconds);
            self.result.service.completed(seconds + u64::from(job.lead_seconds));
        }
    }

    fn start_jobs(&mut self, at: usize, cycle: u32) {
        let mut waiting = std::mem::take(&mut self.partitions[at].waiting);
        let mut blocked = false;
        waiting.retain(|index| {
            let started = !blocked && self.try_start(at, *index, cycle);
            blocked |= !started && self.queue == Queue::Fifo;
            !started
        });
        self.partitions[at].waiting = waiting;
    }

    fn try_start(&mut self, at: usize, index: u32, cycle: u32) -> bool {
        let job = &self.jobs[index as usize];
        let partition = &mut self.partitions[at];
        for choice in &job.choices {
            let chip_type = usize::from(choice.chip_type);
            let chips = choice.chips.min(partition.free[chip_type]);
            if chips < choice.min_chips {
                continue;
            }
            partition.free[chip_type] -= chips;
            self.in_use += u64::from(chips);
            self.held[index as usize] = Some(Held { partition: at, chip_type, chips });
            let per_cycle = u64::from(chips) * u64::from(self.grid.cycle_seconds);
            let cycles = u32::try_from(job.chip_seconds.div_ceil(per_cycle)).unwrap_or(u32::MAX);
            self.running.push(Reverse((cycle.saturating_add(cycles), index)));
            let waited = u64::from(cycle - job.arrives) * u64::from(self.grid.cycle_seconds);
            self.result.service.started(waited + u64::from(job.lead_seconds));
            return true;
        }
        false
    }

    fn finish(mut self) -> StaticResult {
        // Jobs that end with the last cycle have been served in full.
        self.end_jobs(self.grid.cycles);
        self.result.service.still_running = self.running.len() as u64;
        self.result.service.still_waiting =
            self.partitions.iter().map(|partition| partition.waiting.len() as u64).sum::<u64>()
                + self.result.stranded_jobs;
        self.result.service.finish();
        self.result
    }
}

#[cfg(test)]
#[path = "static_pools_tests.rs"]
mod tests;
