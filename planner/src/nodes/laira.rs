//! LaiRA: jobs that its filter holds for feasible run in slices, whose length a controller sets.
//!
//! \[paper\] Feasibility by the filter, slices of a proportional-derivative controller, priority by the rate needed
//! against the rate predicted. \[recon\] The rate needed is the data left by the filter over the ticks left; the rate
//! predicted is what the job's nodes add; their ratio is how late the job is. A late job gets a longer slice, and a
//! longer one still while it falls further behind. Of the jobs that still seem feasible the latest goes first, after those
//! whose slice runs: what keeps it from beginning everything and ending nothing.

use std::collections::BTreeMap;

use candle_core::Result;

use super::Allocator;
use super::baselines::{by_deadline, fill};
use super::followed::Followed;
use super::job::Job;
use super::simulation::{MEDIAN_NEED, Simulation};
use crate::predict::kalman::Kalman;

/// Ticks of a slice: of a job that is in time, per unit of lateness, and per unit that the lateness grows in a tick.
const SLICE: [f64; 3] = [2.0, 3.0, 2.0];
/// Most ticks of a slice.
const LONGEST: f64 = 6.0;

/// What is remembered of a job.
#[derive(Clone, Copy, Debug, Default)]
struct Memory {
    /// Ticks that are left of its slice.
    slice: u32,
    lateness: f64,
}

/// The allocator.
#[derive(Default)]
pub struct Laira {
    filters: Followed<Kalman>,
    memory: BTreeMap<usize, Memory>,
}

impl Laira {
    /// Data left, by the filter; the median of all jobs before the first point.
    fn remaining(&self, now: &Simulation, job: &Job) -> f64 {
        if job.log.is_empty() {
            return MEDIAN_NEED;
        }
        let most = now.most_data(job);
        self.filters.of(job).remaining(job.target, job.data + most)
    }
}

impl Allocator for Laira {
    fn allocate(&mut self, now: &Simulation) -> Result<Vec<usize>> {
        self.filters.follow(&now.active, Kalman::default, Kalman::observe);
        let mut memory = BTreeMap::new();
        let mut order = Vec::new();
        for (place, job) in now.active.iter().enumerate() {
            let lateness = self.remaining(now, job) / now.most_data(job);
            let before = self.memory.get(&job.number).copied().unwrap_or(Memory { slice: 0, lateness });
            memory.insert(job.number, Memory { slice: before.slice.saturating_sub(1), lateness });
            let running = before.slice > 1 && job.nodes > 0;
            if lateness <= 1.0 {
                order.push((!running, lateness, place, lateness - before.lateness));
            }
        }
        order.sort_by(|a, b| a.0.cmp(&b.0).then(b.1.total_cmp(&a.1)));
        let mut nodes = vec![0; now.active.len()];
        let mut free = now.setting.nodes;
        for (starts, lateness, place, growth) in order {
            let job = &now.active[place];
            let useful = (self.remaining(now, job) / now.setting.data_per_node).ceil().max(1.0) as usize;
            nodes[place] = free.min(now.setting.most_nodes).min(useful);
            free -= nodes[place];
            if starts && nodes[place] > 0 {
                let slice = SLICE[0] + SLICE[1] * lateness + SLICE[2] * growth;
                let slice = slice.clamp(1.0, LONGEST) as u32;
                memory.insert(job.number, Memory { slice, lateness });
            }
        }
        // Nodes that are left try the jobs that seem too late.
        fill(now, by_deadline(now), &mut nodes, |_| usize::MAX);
        self.memory = memory;
        Ok(nodes)
    }
}
