//! Training of the flow.

use candle_core::Result;
use candle_nn::{AdamW, Optimizer, ParamsAdamW};
use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;

use super::Flow;
use super::condition::{Standard, condition};
use super::network::{Network, matrix, time_numbers};
use crate::curves::Task;
use crate::predict::past::Past;
use crate::predict::{HORIZONS, horizon};
use crate::random::normal;

/// What a training is.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct Plan {
    /// The same seed gives the same weights on the same machine.
    pub seed: u64,
    /// Steps of the optimiser.
    pub steps: usize,
    /// Curves per step.
    pub batch: usize,
    /// Finished curves of each plain family for the calibration, at least 1.
    pub finished: usize,
}

impl Plan {
    /// The training of the weights that come with the program.
    pub const SHIPPED: Self = Self { seed: 1, steps: 6_000, batch: 128, finished: 600 };
}

const LEARNING_RATE: f64 = 1e-3;
/// The first part of the steps, in which the learning rate grows.
const WARM_UP: f64 = 0.05;
/// Tasks by which numbers are standardised.
const STANDARD_TASKS: usize = 4_096;

/// A past and its future, as numbers.
fn example(random: &mut ChaCha8Rng) -> (Vec<f64>, [f64; HORIZONS]) {
    let task = Task::draw_training(random);
    let past = Past::of(&task.log);
    let future = |nth| task.curve.loss(past.now * f64::exp(horizon(nth))).ln() - past.level();
    (condition(&past).to_vec(), std::array::from_fn(future))
}

/// Trains a flow; `progress` is told of each step: its number, and the mean squared error of the velocity.
///
/// # Errors
/// The tensor library's.
pub(crate) fn train(plan: Plan, progress: &mut dyn FnMut(usize, f64)) -> Result<Flow> {
    let mut random = ChaCha8Rng::seed_from_u64(plan.seed);
    let (pasts, futures): (Vec<_>, Vec<_>) = (0..STANDARD_TASKS).map(|_| example(&mut random)).unzip();
    let flow = Flow {
        network: Network::draw(&mut random)?,
        conditions: Standard::of(&pasts),
        futures: Standard::of(&futures),
    };
    let settings = ParamsAdamW { lr: 0.0, weight_decay: 0.0, ..ParamsAdamW::default() };
    let mut optimiser = AdamW::new(flow.network.variables(), settings)?;
    for step in 0..plan.steps {
        let done = (step as f64 + 0.5) / plan.steps as f64;
        let cosine = 0.5 * (1.0 + (std::f64::consts::PI * done).cos());
        optimiser.set_learning_rate(LEARNING_RATE * cosine * (done / WARM_UP).min(1.0));
        let loss = loss(&flow, plan.batch, &mut random)?;
        optimiser.backward_step(&loss)?;
        progress(step + 1, f64::from(loss.to_scalar::<f32>()?));
    }
    Ok(flow)
}

/// The mean squared error of the velocity on fresh curves.
fn loss(flow: &Flow, batch: usize, random: &mut ChaCha8Rng) -> Result<candle_core::Tensor> {
    let [mut curves, mut times, mut conditions, mut velocities] = [const { Vec::new() }; 4];
    for _ in 0..batch {
        let (past, future) = example(random);
        let time = random.random::<f64>();
        conditions.extend(flow.conditions.apply(&past));
        times.extend(time_numbers(time));
        for end in flow.futures.apply(&future) {
            let begin = normal(random) as f32;
            curves.push(begin + (end - begin) * time as f32);
            velocities.push(end - begin);
        }
    }
    let matrix = |values| matrix(batch, values);
    let foreseen = flow.network.velocity(&matrix(curves)?, &matrix(times)?, &matrix(conditions)?)?;
    (foreseen - matrix(velocities)?)?.sqr()?.mean_all()
}
