//! Sharing out nodes, tick by tick, among jobs that want to reach a loss before a deadline.
//!
//! [`simulation`] is where allocators are trained and measured, [`baselines`] and [`laira`] hold the rules without
//! networks. [`need`] foresees what a job still needs, [`greedy`] and [`mara`] decide by it, and [`evaluate`] measures all of
//! them.

pub mod baselines;
pub mod evaluate;
mod followed;
pub mod greedy;
pub mod job;
pub mod laira;
pub mod mara;
pub mod need;
mod net;
pub mod schedule;
pub mod simulation;

use candle_core::Result;
use simulation::{Setting, Simulation};

/// Shares out the nodes of a tick.
pub trait Allocator {
    /// Nodes for each active job, at most the setting's for one and in all.
    ///
    /// # Errors
    /// A network refuses its input, a fault of this program.
    fn allocate(&mut self, now: &Simulation) -> Result<Vec<usize>>;
}

/// Lets an allocator run a simulation to its end; the part of the jobs done in time, from 0 to 1.
///
/// # Errors
/// Those of the allocator.
pub fn completion(setting: Setting, seed: u64, allocator: &mut dyn Allocator) -> Result<f64> {
    let mut simulation = Simulation::new(setting, seed);
    while !simulation.is_over() {
        let nodes = allocator.allocate(&simulation)?;
        simulation.step(&nodes);
    }
    Ok(simulation.done as f64 / simulation.jobs.max(1) as f64)
}
