//! A rule that learned what envy is worth: a small network decides who grows how fast when an agent arrives.
//!
//! After *Trading Utility for Dynamic Fairness in Multiple Resource Division with Sequential Demand* (arXiv 2606.10472).
//! \[paper\]: losses of each step for sharing incentive, envy and dynamic Pareto optimality; a parametrisation that wastes
//! nothing; resources given ahead of arrivals where some remain; training through the roll-out for several aims at once.
//! \[recon\]: the network, its features, the decoder and the training.
//!
//! The **decoder** gives the newcomer `1/n` first, then lets everybody grow by its weight until a resource's budget is
//! used. The budget is `k/n + g (1 − k/n)`. With `g = 0` (strict) the losses of sharing incentive and dynamic Pareto
//! optimality are 0 whatever the network says; an elastic network chooses `g` itself and pays for broken promises.

mod course;
mod decoder;
mod features;
mod frontier;
mod network;
mod train;
mod weights;

pub use frontier::{Row, evaluate, figures_of, points};
pub use network::{Network, PARAMETERS};
pub use train::{Lesson, train, train_all};
pub use weights::{Figure, Kind, Provenance, SHIPPED, Trained, WeightsError, shipped};

use super::{Rule, Seen};
use crate::policy::PolicyError;
use features::Course;

/// Agents of the instances that networks are trained and judged on.
pub const AGENTS: usize = 10;
/// Resources of those instances.
pub const RESOURCES: usize = 3;
/// Deviation of the logarithm of their demand.
pub const SIGMA: f64 = 1.2;

/// The largest weight of envy that a network can be told.
pub const MOST_ENVY_WEIGHT: f64 = 20.0;
/// The weight of envy where nobody chose one.
pub const ENVY_WEIGHT: f64 = 4.0;

/// The seed of the instances on which the figures in a file of weights are measured; training never draws it.
pub const HELD_OUT_SEED: u64 = 6_472;
/// How many they are.
pub const HELD_OUT: usize = 400;

/// A network as a rule.
#[derive(Clone, Debug)]
pub struct Learned {
    network: Network,
    envy_weight: f64,
    elastic: bool,
}

impl Learned {
    /// Keeps what belongs to those to come: nobody ever has less than `1/n`.
    #[must_use]
    pub fn strict(network: Network, envy_weight: f64) -> Self {
        Self { network, envy_weight, elastic: false }
    }

    /// May give resources ahead of arrivals.
    #[must_use]
    pub fn elastic(network: Network, envy_weight: f64) -> Self {
        Self { network, envy_weight, elastic: true }
    }
}

impl Rule for Learned {
    fn arrive(&self, seen: Seen<'_>) -> Result<Vec<f64>, PolicyError> {
        let course = Course::new(seen.agents, seen.demands, seen.caps, self.envy_weight);
        let before = seen.held.split_last().map_or(&[][..], |(_, before)| before);
        Ok(course::take(&self.network, &course, before, self.elastic).held)
    }
}
