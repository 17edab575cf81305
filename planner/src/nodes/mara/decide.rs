//! Decisions of the policy, for some ticks at once.

use candle_core::{D, Result, Tensor};
use candle_nn::ops;
use rand::RngExt;
use rand_chacha::ChaCha8Rng;

use super::network::{Asked, Network, Past};
use super::state::{Batch, Offers, State};
use crate::nodes::Allocator;
use crate::nodes::need::{NeedNet, Needs};
use crate::nodes::simulation::Simulation;

/// Choices for a tick.
#[derive(Clone, Debug)]
pub(super) struct Decision {
    /// The choice of each node: a place among the state's jobs; beyond them for none.
    pub(super) choices: Vec<usize>,
    /// Logarithm of each choice's chance.
    pub(super) logs: Vec<f32>,
    /// Value of the state, normalised.
    pub(super) value: f32,
}

/// Chooses for all nodes of some ticks: by chance with a generator, the most likely otherwise.
pub(super) fn decide(
    network: &Network,
    states: &[&State],
    mut random: Option<&mut ChaCha8Rng>,
) -> Result<Vec<Decision>> {
    let batch = Batch::new(states)?;
    let encoded = network.encode(&batch)?;
    let values = encoded.value.to_vec1::<f32>()?;
    let mut decisions: Vec<Decision> =
        values.into_iter().map(|value| Decision { choices: vec![], logs: vec![], value }).collect();
    let mut held = vec![vec![0; batch.jobs + 1]; batch.ticks];
    let mut last = vec![batch.jobs + 1; batch.ticks];
    let mut past = Past::default();
    for node in 0..batch.nodes {
        let mut offers = Offers::default();
        for (state, held) in states.iter().zip(&held) {
            offers.add(state, batch.jobs, held);
        }
        let asked = Asked { last: last.clone(), first: node, nodes: batch.nodes, offers };
        let scores = network.decode(&encoded, &mut past, asked)?;
        let logs = chances(&scores)?;
        for (tick, logs) in logs.chunks(batch.jobs + 1).enumerate() {
            let choice = choose(logs, random.as_deref_mut());
            held[tick][choice] += 1;
            last[tick] = choice;
            decisions[tick].choices.push(if choice == batch.jobs { usize::MAX } else { choice });
            decisions[tick].logs.push(logs[choice]);
        }
    }
    Ok(decisions)
}

fn chances(scores: &Tensor) -> Result<Vec<f32>> {
    ops::log_softmax(scores, D::Minus1)?.flatten_all()?.to_vec1::<f32>()
}

fn choose(logs: &[f32], random: Option<&mut ChaCha8Rng>) -> usize {
    let Some(random) = random else {
        return (0..logs.len()).max_by(|a, b| logs[*a].total_cmp(&logs[*b])).unwrap_or(0);
    };
    let mut left = random.random::<f32>();
    for (at, log) in logs.iter().enumerate() {
        left -= log.exp();
        if left <= 0.0 {
            return at;
        }
    }
    logs.len() - 1
}

/// The policy as an allocator.
pub struct Mara<'a> {
    policy: &'a Network,
    predictor: &'a NeedNet,
    needs: Needs,
}

impl<'a> Mara<'a> {
    /// A policy with the predictor that it was trained with.
    #[must_use]
    pub fn new(policy: &'a Network, predictor: &'a NeedNet) -> Self {
        Self { policy, predictor, needs: Needs::default() }
    }
}

impl Allocator for Mara<'_> {
    fn allocate(&mut self, now: &Simulation) -> Result<Vec<usize>> {
        let needs = self.needs.of(self.predictor, now)?;
        let state = State::new(now, &needs);
        let decision = decide(self.policy, &[&state], None)?;
        Ok(state.shares(&decision[0].choices, now.active.len()))
    }
}

#[cfg(test)]
mod tests {
    use rand::SeedableRng;

    use super::*;
    use crate::nodes::mara::state::{HOPELESS, MOST, Outlook};
    use crate::nodes::simulation::Setting;

    fn networks() -> (Network, NeedNet) {
        let mut random = ChaCha8Rng::seed_from_u64(5);
        (Network::new(&mut random).unwrap(), NeedNet::new(&mut random).unwrap())
    }

    /// A tick some way into a simulation.
    fn tick(load: f64, predictor: &NeedNet) -> (Simulation, State) {
        let mut simulation = Simulation::new(Setting { load, ..Setting::default() }, 4);
        while simulation.tick < 30 {
            let nodes: Vec<usize> = (0..simulation.active.len()).map(|at| usize::from(at < 8)).collect();
            simulation.step(&nodes);
        }
        let needs = Needs::default().of(predictor, &simulation).unwrap();
        let state = State::new(&simulation, &needs);
        (simulation, state)
    }

    #[test]
    fn no_job_gets_more_than_it_may_and_none_that_is_hopeless() {
        let (network, predictor) = networks();
        let mut random = ChaCha8Rng::seed_from_u64(6);
        for load in [0.1, 1.0, 2.0] {
            let (simulation, state) = tick(load, &predictor);
            let needs = Needs::default().of(&predictor, &simulation).unwrap();
            for _ in 0..20 {
                let decision = decide(&network, &[&state], Some(&mut random)).unwrap().remove(0);
                let nodes = state.shares(&decision.choices, simulation.active.len());
                assert!(nodes.iter().all(|nodes| *nodes <= MOST), "{nodes:?}");
                for ((job, need), nodes) in simulation.active.iter().zip(&needs).zip(nodes) {
                    let outlook = Outlook::new(need, job.ticks_left(simulation.tick), 10.0);
                    assert!(nodes == 0 || outlook.finish[MOST] >= HOPELESS);
                }
            }
        }
        // Without jobs every node is idle.
        let (mut simulation, _) = tick(1.0, &predictor);
        simulation.active.clear();
        let empty = State::new(&simulation, &[]);
        let decision = decide(&network, &[&empty], Some(&mut random)).unwrap().remove(0);
        assert!(decision.choices.iter().all(|choice| *choice == usize::MAX));
    }

    #[test]
    fn the_order_of_the_jobs_does_not_matter() {
        let (network, predictor) = networks();
        let (mut simulation, state) = tick(1.0, &predictor);
        let by_job = |simulation: &Simulation, state: &State| {
            let decision = decide(&network, &[state], None).unwrap().remove(0);
            let nodes = state.shares(&decision.choices, simulation.active.len());
            let mut all: Vec<(usize, usize)> =
                simulation.active.iter().map(|job| job.number).zip(nodes).collect();
            all.sort_unstable();
            (all, decision.value)
        };
        let (one, value) = by_job(&simulation, &state);
        simulation.active.reverse();
        let needs = Needs::default().of(&predictor, &simulation).unwrap();
        let (other, again) = by_job(&simulation, &State::new(&simulation, &needs));
        assert_eq!(one, other);
        assert!((value - again).abs() < 1e-4);
    }

    /// What was chosen step by step has the same chance when all steps are looked at together, next to a tick with more
    /// jobs: neither padding nor what comes later is seen.
    #[test]
    fn padding_and_the_future_are_masked() {
        let (network, predictor) = networks();
        let (_, small) = tick(0.3, &predictor);
        let (_, large) = tick(2.0, &predictor);
        assert!(small.jobs() < large.jobs());
        let mut random = ChaCha8Rng::seed_from_u64(7);
        let alone = decide(&network, &[&small], Some(&mut random)).unwrap().remove(0);
        let other = decide(&network, &[&large], Some(&mut random)).unwrap().remove(0);
        let choices = [alone.choices.as_slice(), other.choices.as_slice()];
        let (logs, values, jobs) = network.along(&[&small, &large], &choices).unwrap();
        let logs =
            crate::nodes::mara::network::chosen(&logs, &choices, jobs).unwrap().to_vec2::<f32>().unwrap();
        for (step, together) in alone.logs.iter().zip(&logs[0]) {
            assert!((step - together).abs() < 1e-3, "{:?} {:?}", alone.logs, logs[0]);
        }
        assert!((values.to_vec1::<f32>().unwrap()[0] - alone.value).abs() < 1e-3);
    }
}
