//! A made-up trace with a seed: teams of unequal size whose demand comes in bursts and whose values have a heavy tail.

use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;

use crate::round::{Agent, Round};
use crate::trace::{Demand, Trace};

/// What is made.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Plan {
    /// Teams.
    pub agents: usize,
    /// Chip types.
    pub chip_types: usize,
    /// Rounds of an hour.
    pub rounds: usize,
    /// The same seed gives the same trace.
    pub seed: u64,
}

/// Mean demand of an average team, in chips of each type.
const MEAN_CHIPS: f64 = 50.0;

/// Makes a trace. Demand: each team is idle, busy or in a burst, and changes by chance. Values: Pareto-distributed with
/// tail 2 per round and team, scaled to mean 1.
#[must_use]
pub fn trace(plan: Plan) -> Trace {
    let mut random = ChaCha8Rng::seed_from_u64(plan.seed);
    let sizes: Vec<f64> = (0..plan.agents).map(|_| (0.6 * normal(&mut random)).exp()).collect();
    let mut states = vec![1_usize; plan.agents];
    let mut rounds = Vec::with_capacity(plan.rounds);
    for _ in 0..plan.rounds {
        let mut agents = Vec::with_capacity(plan.agents);
        for (state, size) in states.iter_mut().zip(&sizes) {
            if random.random_bool(0.1) {
                *state = random.random_range(0..3);
            }
            let busy = [0.1, 1.0, 2.5][*state] * size * MEAN_CHIPS;
            let demand =
                (0..plan.chip_types).map(|_| (busy * random.random_range(0.5..1.5)) as u64).collect();
            let value = (0..plan.chip_types).map(|_| pareto(&mut random)).collect();
            agents.push(Agent { weight: 1.0, demand, value });
        }
        let supply = (plan.agents as f64 * MEAN_CHIPS).round() as u64;
        rounds.push(Round { hours: 1.0, supply: vec![supply; plan.chip_types], agents, gangs: Vec::new() });
    }
    Trace {
        name: "synthetic".to_owned(),
        source: format!("Synthetic: bursts of teams of unequal size, seed {}", plan.seed),
        value_source: format!(
            "Synthetic: Pareto-distributed with tail 2 and mean 1 per team and round, seed {}",
            plan.seed
        ),
        agents: (1..=plan.agents).map(|nth| format!("team-{nth}")).collect(),
        chip_types: (1..=plan.chip_types).map(|nth| format!("type-{nth}")).collect(),
        demand: Demand::Fixed(rounds),
    }
}

/// A standard normal number (Box and Muller).
pub(crate) fn normal(random: &mut ChaCha8Rng) -> f64 {
    let (radius, angle): (f64, f64) = (1.0 - random.random::<f64>(), random.random());
    (-2.0 * radius.ln()).sqrt() * (std::f64::consts::TAU * angle).cos()
}

/// Pareto with tail index 2 and mean 1: least 0.5. Cut at 50, which one in ten thousand passes.
#[must_use]
pub fn pareto(random: &mut ChaCha8Rng) -> f64 {
    (0.5 / (1.0 - random.random::<f64>()).sqrt()).min(50.0)
}
