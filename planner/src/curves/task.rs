//! A forecast to make, with its answer.

use rand::RngExt;
use rand_chacha::ChaCha8Rng;

use super::{Curve, Family};
use crate::log::{LossLog, LossPoint};
use crate::random::log_uniform;

/// A job in its midst: what it has logged, where it wants to go, and what that will take.
#[derive(Clone, Debug)]
pub struct Task {
    /// The whole curve.
    pub curve: Curve,
    /// What was logged so far, at equal distances of data.
    pub log: LossLog,
    /// The loss to reach.
    pub target: f64,
    /// Data left until the loss, without noise, first reaches the target.
    pub remaining: f64,
}

/// The most that a job's data grows from now to its end.
const MOST_GROWTH: f64 = 20.0;
/// The least that it grows.
const LEAST_GROWTH: f64 = 1.15;
/// The least fall of the logarithm of the loss from now to the target: a nearly flat curve reaches it by chance.
const LEAST_FALL: f64 = 0.03;

impl Task {
    /// Draws a task of a family: data until now log-uniform about the curve's interesting part, 8 to 256 points, and a
    /// target that the curve reaches at 1.15 to 20 times the data so far.
    ///
    /// # Panics
    /// Never: each family has curves that fall.
    #[must_use]
    pub fn draw(family: Family, random: &mut ChaCha8Rng) -> Self {
        loop {
            if let Some(task) = Self::try_draw(Curve::draw(family, random), random) {
                return task;
            }
        }
    }

    fn try_draw(curve: Curve, random: &mut ChaCha8Rng) -> Option<Self> {
        let now = log_uniform(random, 0.3, 4.0);
        let growth = log_uniform(random, LEAST_GROWTH, MOST_GROWTH);
        let target = curve.loss(now * growth);
        // The past must not have been below the target, and the fall must be more than noise.
        let before = (1..=64).map(|at| curve.loss(now * f64::from(at) / 64.0)).fold(f64::INFINITY, f64::min);
        if (before / target).ln() < LEAST_FALL.max(2.0 * curve.noise) {
            return None;
        }
        let end = curve.first_reaching(target, now, now * growth * 1.001)?;
        let points = log_uniform(random, 8.0, 257.0) as u32;
        let log = Self::observed(&curve, now, points, random)?;
        (end > now).then_some(Self { curve, log, target, remaining: end - now })
    }

    /// What a job on this curve logs at `points` equal distances until `now`.
    fn observed(curve: &Curve, now: f64, points: u32, random: &mut ChaCha8Rng) -> Option<LossLog> {
        let mut point = |nth: u32| {
            let data = now * f64::from(nth) / f64::from(points);
            LossPoint { data, loss: curve.observe(data, random) }
        };
        LossLog::new((1..=points).map(&mut point).collect()).ok()
    }

    /// The same task with a target below all that the curve reaches in 32 times the data so far.
    #[must_use]
    pub fn out_of_reach(mut self, random: &mut ChaCha8Rng) -> Self {
        let now = self.log.last().data;
        let lowest = (0..=100).map(|at| self.curve.loss(now * 32.0_f64.powf(f64::from(at) / 100.0)));
        self.target = lowest.fold(f64::INFINITY, f64::min) * random.random_range(0.3..0.8);
        self.remaining = f64::INFINITY;
        self
    }

    /// A task to learn from: of one of the training families, each as likely, with noise up to that of reinforcement
    /// learning, so that noise by itself is nothing new.
    #[must_use]
    pub fn draw_training(random: &mut ChaCha8Rng) -> Self {
        loop {
            let family = Family::TRAINING[random.random_range(0..Family::TRAINING.len())];
            let mut curve = Curve::draw(family, random);
            if random.random_bool(0.5) {
                curve.noise = log_uniform(random, 0.005, 0.12);
                if random.random_bool(0.6) {
                    curve.shape = curve.shape.swinging(0.08, random);
                }
                for _ in 0..2 {
                    if random.random_bool(0.4) {
                        curve.shape = curve.shape.sinking(random);
                    }
                }
            }
            if let Some(task) = Self::try_draw(curve, random) {
                return task;
            }
        }
    }
}
