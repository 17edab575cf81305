//! Training of the predictor: jobs of the simulator at random ages, whose need is known.

use candle_core::{D, Device, Result, Tensor};
use candle_nn::{AdamW, Optimizer, ParamsAdamW, ops};
use rand::RngExt;
use rand_chacha::ChaCha8Rng;

use super::{FEATURES, NeedNet, features, interval, unit};
use crate::nodes::net::cosine;
use crate::nodes::simulation::{Setting, Simulation};

/// Examples of a step.
const BATCH: usize = 256;
/// Steps until more jobs are drawn.
const REFILL: usize = 10;
/// Examples kept.
const KEPT: usize = 100_000;
/// Learning rate at the start.
const RATE: f64 = 2e-3;

impl NeedNet {
    /// Trains for so many steps, and says after each how many are done.
    ///
    /// # Errors
    /// A network refuses its input, a fault of this program.
    pub fn train(&self, random: &mut ChaCha8Rng, steps: usize, done: &mut dyn FnMut(usize)) -> Result<()> {
        let params = ParamsAdamW { lr: RATE, weight_decay: 1e-4, ..ParamsAdamW::default() };
        let mut optimizer = AdamW::new(self.weights.vars(), params)?;
        let mut pool = Pool::default();
        for step in 0..steps {
            if step % REFILL == 0 {
                pool.refill(random);
            }
            optimizer.set_learning_rate(cosine(RATE, step, steps));
            let (x, y) = pool.batch(random);
            let x = Tensor::from_vec(x, (BATCH, FEATURES), &Device::Cpu)?;
            let y = Tensor::from_vec(y, (BATCH, 1), &Device::Cpu)?;
            let loss = ops::log_softmax(&self.logits(&x)?, D::Minus1)?.gather(&y, 1)?.mean_all()?.neg()?;
            optimizer.backward_step(&loss)?;
            done(step + 1);
        }
        Ok(())
    }
}

/// Examples to train on: what the network sees, and the interval that is right.
#[derive(Default)]
struct Pool(Vec<([f32; FEATURES], u32)>);

impl Pool {
    /// The jobs of a simulation more, each at several ages and mostly with the same number of nodes.
    fn refill(&mut self, random: &mut ChaCha8Rng) {
        let setting = Setting::default();
        let per_node = setting.data_per_node;
        for mut job in Simulation::new(setting, random.random()).into_jobs() {
            let usual = random.random_range(1..=setting.most_nodes);
            while !job.is_done() {
                if job.log.is_empty() || random.random_bool(0.5) {
                    let left = job.oracle_remaining() / unit(&job, per_node);
                    self.0.push((features(&job, per_node), interval(left) as u32));
                }
                let usually = random.random_bool(0.7);
                job.work(if usually { usual } else { random.random_range(1..=setting.most_nodes) }, per_node);
            }
        }
        self.0.drain(..self.0.len().saturating_sub(KEPT));
    }

    fn batch(&self, random: &mut ChaCha8Rng) -> (Vec<f32>, Vec<u32>) {
        let (mut x, mut y) = (Vec::with_capacity(BATCH * FEATURES), Vec::with_capacity(BATCH));
        for _ in 0..BATCH {
            let (input, interval) = &self.0[random.random_range(0..self.0.len())];
            x.extend(input);
            y.push(*interval);
        }
        (x, y)
    }
}
