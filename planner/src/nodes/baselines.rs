//! The rules that MARA is measured against: first come, uniform, earliest deadline, LARA, and the oracle; LaiRA is next
//! door.
//!
//! \[paper\] LARA foresees demands by weighted least squares and plans by Moore and Hodgson's rule. \[recon\] A job without a
//! log is taken for one of median need; a job never gets more nodes than its demand takes in this tick.

use candle_core::Result;

use super::Allocator;
use super::followed::Followed;
use super::job::Job;
use super::schedule::{Demand, moore_hodgson};
use super::simulation::{MEDIAN_NEED, Simulation};
use crate::predict::least_squares::{LeastSquares, RIDGE};

/// Gives nodes to jobs in an order, each as many as it may have, until none is left.
fn in_order(now: &Simulation, order: impl IntoIterator<Item = usize>) -> Vec<usize> {
    let mut nodes = vec![0; now.active.len()];
    fill(now, order, &mut nodes, |_| usize::MAX);
    nodes
}

/// Adds nodes to jobs in an order, each up to `most` of it, until none is left.
pub(super) fn fill(
    now: &Simulation,
    order: impl IntoIterator<Item = usize>,
    nodes: &mut [usize],
    most: impl Fn(usize) -> usize,
) {
    let mut free = now.setting.nodes - nodes.iter().sum::<usize>();
    for at in order {
        let more = most(at).min(now.setting.most_nodes).saturating_sub(nodes[at]).min(free);
        nodes[at] += more;
        free -= more;
    }
}

pub(super) fn by_deadline(now: &Simulation) -> Vec<usize> {
    let mut order: Vec<usize> = (0..now.active.len()).collect();
    order.sort_by_key(|at| now.active[*at].deadline);
    order
}

/// First come, first served.
pub struct FirstCome;

impl Allocator for FirstCome {
    fn allocate(&mut self, now: &Simulation) -> Result<Vec<usize>> {
        Ok(in_order(now, 0..now.active.len()))
    }
}

/// All jobs the same, in turn where nodes are fewer than jobs.
pub struct Uniform;

impl Allocator for Uniform {
    fn allocate(&mut self, now: &Simulation) -> Result<Vec<usize>> {
        let jobs = now.active.len();
        let mut nodes = vec![0; jobs];
        if jobs == 0 {
            return Ok(nodes);
        }
        // Where nodes are fewer than jobs, the turn goes on from tick to tick.
        let from = now.tick as usize * now.setting.nodes % jobs;
        let order: Vec<usize> = (0..jobs).map(|at| (from + at) % jobs).collect();
        for round in 1..=now.setting.most_nodes {
            fill(now, order.iter().copied(), &mut nodes, |_| round);
        }
        Ok(nodes)
    }
}

/// The earliest deadline first.
pub struct EarliestDeadline;

impl Allocator for EarliestDeadline {
    fn allocate(&mut self, now: &Simulation) -> Result<Vec<usize>> {
        Ok(in_order(now, by_deadline(now)))
    }
}

/// Plans by Moore and Hodgson's rule, with the data left of each active job, given by its place and itself.
pub(super) fn plan(now: &Simulation, remaining: impl Fn(usize, &Job) -> f64) -> Vec<usize> {
    let per_node = now.setting.data_per_node;
    let demands: Vec<Demand> = now
        .active
        .iter()
        .enumerate()
        .map(|(place, job)| Demand {
            work: (remaining(place, job) / per_node).ceil(),
            until: f64::from(job.ticks_left(now.tick)) * now.setting.nodes as f64,
            most: now.most_data(job) / per_node,
        })
        .collect();
    let kept = moore_hodgson(&demands);
    let mut nodes = vec![0; now.active.len()];
    fill(now, kept, &mut nodes, |at| demands[at].work as usize);
    // Nodes that the plan leaves idle try the jobs that it gave up.
    fill(now, by_deadline(now), &mut nodes, |at| demands[at].work as usize);
    nodes
}

/// What one point of a log counts against the one after it: so that, with six points per tick, a line follows the last
/// tick and not the whole curve. Of the discounts tried it is the one at which LARA ends as many jobs as planner.md says.
const DISCOUNT: f64 = 0.8;

/// LARA: demands by weighted least squares, chosen by Moore and Hodgson's rule.
#[derive(Default)]
pub struct Lara(Followed<LeastSquares>);

impl Allocator for Lara {
    fn allocate(&mut self, now: &Simulation) -> Result<Vec<usize>> {
        let new = || LeastSquares::new(DISCOUNT, RIDGE);
        self.0.follow(&now.active, new, LeastSquares::observe);
        let remaining = |job: &Job| self.0.of(job).remaining(job.target);
        Ok(plan(now, |_, job| if job.log.is_empty() { MEDIAN_NEED } else { remaining(job) }))
    }
}

/// Moore and Hodgson's rule with demands that are known: the ceiling.
pub struct Oracle;

impl Allocator for Oracle {
    fn allocate(&mut self, now: &Simulation) -> Result<Vec<usize>> {
        Ok(plan(now, |_, job| job.oracle_remaining()))
    }
}
