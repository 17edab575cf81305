//! Proximal policy optimisation: the policy tries, and does more often what went better than foreseen.
//!
//! Each node's choice is clipped by itself; all nodes of a tick share its advantage. Undiscounted, with the potential in
//! the reward.

use candle_core::{D, Device, Result, Tensor};
use candle_nn::{AdamW, Optimizer, ParamsAdamW};
use rand::RngExt;
use rand::seq::SliceRandom;
use rand_chacha::ChaCha8Rng;

use super::decide::{Decision, decide};
use super::network::{Network, chosen};
use super::state::State;
use crate::nodes::need::{NeedNet, Needs};
use crate::nodes::simulation::{Setting, Simulation};

/// Times that a round's ticks are learned from.
const EPOCHS: usize = 2;
/// Ticks of a step.
const BATCH: usize = 512;
/// Learning rate at the start.
const RATE: f64 = 2e-4;
/// How far a step may move a choice's chance.
const CLIP: f64 = 0.1;
/// Worth of undecidedness.
const ENTROPY: f64 = 5e-4;
/// Weight of what is farther ahead in an advantage. Below the usual .95: most of what happens in twenty ticks is the
/// chance of arrivals and of needs.
const AHEAD: f32 = 0.8;
/// About the mean and the standard deviation of the rewards to go.
const VALUES: [f32; 2] = [40.0, 30.0];

/// Rewards to go, as the network's value has them.
pub(super) fn normalised(to_go: f32) -> f32 {
    (to_go - VALUES[0]) / VALUES[1]
}

/// A tick that was tried.
struct Moment {
    state: State,
    decision: Decision,
    reward: f32,
    advantage: f32,
    to_go: f32,
}

/// The optimiser of a policy.
pub(super) struct Ppo<'a> {
    network: &'a Network,
    predictor: &'a NeedNet,
    optimizer: AdamW,
    /// Simulations of a round, run side by side.
    tries: usize,
}

impl<'a> Ppo<'a> {
    pub(super) fn new(network: &'a Network, predictor: &'a NeedNet, tries: usize) -> Result<Self> {
        let params = ParamsAdamW { lr: RATE, weight_decay: 0.0, ..ParamsAdamW::default() };
        Ok(Self { network, predictor, optimizer: AdamW::new(network.weights.vars(), params)?, tries })
    }

    /// Tries, and learns from it; `part` (0 to 1) is how far the training is.
    pub(super) fn round(&mut self, part: f64, random: &mut ChaCha8Rng) -> Result<()> {
        self.optimizer.set_learning_rate(RATE * (1.0 - 0.9 * part));
        let moments = self.tried(random)?;
        let count = moments.len() as f32;
        let mean = moments.iter().map(|moment| moment.advantage).sum::<f32>() / count;
        let square = moments.iter().map(|moment| (moment.advantage - mean).powi(2)).sum::<f32>() / count;
        let mut order: Vec<usize> = (0..moments.len()).collect();
        for _ in 0..EPOCHS {
            order.shuffle(random);
            for some in order.chunks(BATCH) {
                let some: Vec<&Moment> = some.iter().map(|at| &moments[*at]).collect();
                self.learn(&some, mean, square.sqrt() + 1e-6)?;
            }
        }
        Ok(())
    }

    fn tried(&self, random: &mut ChaCha8Rng) -> Result<Vec<Moment>> {
        let mut simulations: Vec<(Simulation, Needs, Vec<Moment>)> = (0..self.tries)
            .map(|_| (Simulation::new(Setting::default(), random.random()), Needs::default(), Vec::new()))
            .collect();
        while !simulations[0].0.is_over() {
            let states = simulations
                .iter_mut()
                .map(|(now, needs, _)| Ok(State::new(now, &needs.of(self.predictor, now)?)))
                .collect::<Result<Vec<State>>>()?;
            let decisions = decide(self.network, &states.iter().collect::<Vec<_>>(), Some(random))?;
            for ((simulation, state), decision) in simulations.iter_mut().zip(states).zip(decisions) {
                let nodes = state.shares(&decision.choices, simulation.0.active.len());
                let reward = simulation.0.step(&nodes).reward as f32;
                simulation.2.push(Moment { state, decision, reward, advantage: 0.0, to_go: 0.0 });
            }
        }
        let mut all = Vec::new();
        for (_, _, mut moments) in simulations {
            judge(&mut moments);
            all.append(&mut moments);
        }
        Ok(all)
    }

    fn learn(&mut self, some: &[&Moment], mean: f32, spread: f32) -> Result<()> {
        let states: Vec<&State> = some.iter().map(|moment| &moment.state).collect();
        let choices: Vec<&[usize]> = some.iter().map(|moment| moment.decision.choices.as_slice()).collect();
        let (ticks, nodes) = (some.len(), states[0].nodes);
        let (logs, values, jobs) = self.network.along(&states, &choices)?;
        let before = some.iter().flat_map(|moment| moment.decision.logs.iter().copied()).collect();
        let before = Tensor::from_vec::<_, f32>(before, (ticks, nodes), &Device::Cpu)?;
        let ratio = (chosen(&logs, &choices, jobs)? - before)?.exp()?;
        let advantage = some.iter().map(|moment| (moment.advantage - mean) / spread).collect();
        let advantage = Tensor::from_vec::<_, f32>(advantage, (ticks, 1), &Device::Cpu)?;
        let clipped = ratio.clamp(1.0 - CLIP, 1.0 + CLIP)?.broadcast_mul(&advantage)?;
        let gain = ratio.broadcast_mul(&advantage)?.minimum(&clipped)?.mean_all()?;
        // Closed choices have logarithms of −10⁹, and chances of 0.
        let entropy = (logs.exp()? * logs.clamp(-30.0, 0.0)?)?.sum(D::Minus1)?.mean_all()?.neg()?;
        let to_go = some.iter().map(|moment| normalised(moment.to_go)).collect();
        let error = (values - Tensor::from_vec::<_, f32>(to_go, ticks, &Device::Cpu)?)?.sqr()?.mean_all()?;
        let loss = ((error * 0.5)? - gain)?;
        self.optimizer.backward_step(&(loss - (entropy * ENTROPY)?)?)
    }
}

/// Generalised advantages, and the rewards to go that the value should have foreseen.
fn judge(moments: &mut [Moment]) {
    let (mut next, mut advantage) = (0.0, 0.0);
    for moment in moments.iter_mut().rev() {
        let value = moment.decision.value * VALUES[1] + VALUES[0];
        advantage = moment.reward + next - value + AHEAD * advantage;
        moment.advantage = advantage;
        moment.to_go = advantage + value;
        next = value;
    }
}
