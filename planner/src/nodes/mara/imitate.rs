//! The warm start: the policy learns the choices of a better greedy, which weighs doubt and haste, and what they bring.

use candle_core::{Device, Result, Tensor};
use candle_nn::{AdamW, Optimizer, ParamsAdamW};
use rand::RngExt;
use rand_chacha::ChaCha8Rng;

use super::network::{Network, chosen};
use super::ppo::normalised;
use super::state::State;
use crate::nodes::greedy;
use crate::nodes::need::{NeedNet, Needs};
use crate::nodes::net::cosine;
use crate::nodes::simulation::{Setting, Simulation};

/// Ticks of a step.
const BATCH: usize = 64;
/// Learning rate at the start.
const RATE: f64 = 2e-3;

/// A tick with the teacher's choices, and the rewards that came after.
struct Example {
    state: State,
    choices: Vec<usize>,
    to_go: f32,
}

fn episode(predictor: &NeedNet, seed: u64) -> Result<Vec<Example>> {
    let mut simulation = Simulation::new(Setting::default(), seed);
    let mut needs = Needs::default();
    let (mut examples, mut rewards) = (Vec::new(), Vec::new());
    while !simulation.is_over() {
        let now = needs.of(predictor, &simulation)?;
        let state = State::new(&simulation, &now);
        let choices = greedy::lesson(&simulation, &now, &state);
        let step = simulation.step(&state.shares(&choices, simulation.active.len()));
        rewards.push(step.reward as f32);
        examples.push(Example { state, choices, to_go: 0.0 });
    }
    let mut sum = 0.0;
    for (example, reward) in examples.iter_mut().zip(rewards).rev() {
        sum += reward;
        example.to_go = sum;
    }
    Ok(examples)
}

/// Learns from so many simulations in so many steps.
pub(super) fn imitate(
    network: &Network,
    predictor: &NeedNet,
    [episodes, steps]: [usize; 2],
    random: &mut ChaCha8Rng,
    done: &mut dyn FnMut(usize),
) -> Result<()> {
    let mut examples = Vec::new();
    for _ in 0..episodes {
        examples.extend(episode(predictor, random.random())?);
    }
    let params = ParamsAdamW { lr: RATE, weight_decay: 1e-4, ..ParamsAdamW::default() };
    let mut optimizer = AdamW::new(network.weights.vars(), params)?;
    for step in 0..steps {
        optimizer.set_learning_rate(cosine(RATE, step, steps));
        let some: Vec<&Example> =
            (0..BATCH).map(|_| &examples[random.random_range(0..examples.len())]).collect();
        let states: Vec<&State> = some.iter().map(|example| &example.state).collect();
        let choices: Vec<&[usize]> = some.iter().map(|example| example.choices.as_slice()).collect();
        let (logs, values, jobs) = network.along(&states, &choices)?;
        let unlike = chosen(&logs, &choices, jobs)?.mean_all()?.neg()?;
        let to_go: Vec<f32> = some.iter().map(|example| normalised(example.to_go)).collect();
        let error = (values - Tensor::from_vec(to_go, BATCH, &Device::Cpu)?)?.sqr()?.mean_all()?;
        optimizer.backward_step(&(unlike + (error * 0.5)?)?)?;
        done(step + 1);
    }
    Ok(())
}
