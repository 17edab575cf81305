//! Made-up loss curves whose end is known, to train predictors on and to measure them with.
//!
//! \[recon\] Four families are trained on: power laws with a floor, shifted power laws, stretched exponentials, and
//! mixtures of two of them. Three more are for tests: noisy reinforcement learning whose loss also rises, vision with
//! drops of the learning rate, and a plateau with a drop that nothing announces. Losses have no unit and neither has
//! data: a curve can be stretched to any need.

mod shape;
mod task;

use rand::RngExt;
use rand_chacha::ChaCha8Rng;
use serde::Serialize;

use crate::random::{log_uniform, normal};
use shape::Shape;
pub use task::Task;

/// A kind of loss curve.
#[derive(Clone, Copy, Debug, Eq, Hash, Ord, PartialEq, PartialOrd, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Family {
    /// `c + a s^(−α)`.
    Power,
    /// `c + a (s + b)^(−α)`.
    ShiftedPower,
    /// `c + a exp(−(s / τ)^β)`.
    StretchedExponential,
    /// A weighted mean of two of the above.
    Mixed,
    /// A power law whose exponent changes smoothly at up to two places.
    Broken,
    /// A power law with slow swings, so that the loss also rises, under heavy noise.
    ReinforcementLearning,
    /// A shifted power law with up to three sudden drops, as when the learning rate is lowered.
    Vision,
    /// A plateau, then a drop that nothing announces.
    PlateauThenDrop,
}

impl Family {
    /// The families that predictors are trained on.
    pub const TRAINING: [Self; 5] =
        [Self::Power, Self::ShiftedPower, Self::StretchedExponential, Self::Mixed, Self::Broken];
    /// All of them.
    pub const ALL: [Self; 8] = [
        Self::Power,
        Self::ShiftedPower,
        Self::StretchedExponential,
        Self::Mixed,
        Self::Broken,
        Self::ReinforcementLearning,
        Self::Vision,
        Self::PlateauThenDrop,
    ];

    /// Its name in tables.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Power => "power",
            Self::ShiftedPower => "shifted power",
            Self::StretchedExponential => "stretched exponential",
            Self::Mixed => "mixed",
            Self::Broken => "broken power",
            Self::ReinforcementLearning => "reinforcement learning",
            Self::Vision => "vision",
            Self::PlateauThenDrop => "plateau, then drop",
        }
    }
}

/// A loss curve that is known to its end.
#[derive(Clone, Debug)]
pub struct Curve {
    family: Family,
    shape: Shape,
    /// Data of one unit of the shape.
    scale: f64,
    /// Loss of one unit of the shape.
    level: f64,
    /// Standard deviation of the logarithm of an observed loss.
    noise: f64,
}

impl Curve {
    /// Draws a curve of a family. Its interesting part lies about data 1; see [`Curve::stretched`].
    #[must_use]
    pub fn draw(family: Family, random: &mut ChaCha8Rng) -> Self {
        let shape = Shape::draw(family, random);
        let noise = match family {
            Family::ReinforcementLearning => log_uniform(random, 0.04, 0.12),
            _ => log_uniform(random, 0.005, 0.03),
        };
        Self { family, shape, scale: 1.0, level: normal(random).exp(), noise }
    }

    /// A curve of one of the training families, each as likely.
    #[must_use]
    pub fn draw_training(random: &mut ChaCha8Rng) -> Self {
        Self::draw(Family::TRAINING[random.random_range(0..Family::TRAINING.len())], random)
    }

    /// The same curve where everything takes `factor` (above 0) times the data.
    #[must_use]
    pub fn stretched(mut self, factor: f64) -> Self {
        self.scale *= factor;
        self
    }

    /// Its family.
    #[must_use]
    pub fn family(&self) -> Family {
        self.family
    }

    /// The loss after `data` (above 0), without the noise of observing it.
    #[must_use]
    pub fn loss(&self, data: f64) -> f64 {
        self.level * self.shape.at(data / self.scale)
    }

    /// The loss after `data` (above 0) as a job would log it.
    #[must_use]
    pub fn observe(&self, data: f64, random: &mut ChaCha8Rng) -> f64 {
        self.loss(data) * (self.noise * normal(random)).exp()
    }

    /// The first data from `from` to `to` (both above 0) at which the loss without noise is at most `target`, to about
    /// one part in a million.
    #[must_use]
    pub fn first_reaching(&self, target: f64, from: f64, to: f64) -> Option<f64> {
        const PIECES: u32 = 400;
        let step = (to / from).ln() / f64::from(PIECES);
        let mut before = from;
        if self.loss(before) <= target {
            return Some(before);
        }
        for piece in 1..=PIECES {
            let mut high = from * (step * f64::from(piece)).exp();
            if self.loss(high) <= target {
                while high / before > 1.0 + 1e-6 {
                    let middle = (high * before).sqrt();
                    if self.loss(middle) <= target { high = middle } else { before = middle }
                }
                return Some(high);
            }
            before = high;
        }
        None
    }
}

#[cfg(test)]
mod tests {
    use rand::SeedableRng;

    use super::*;

    #[test]
    fn curves_of_the_training_fall_and_the_others_do_what_their_names_say() {
        let mut random = ChaCha8Rng::seed_from_u64(3);
        let falls = |curve: &Curve| {
            (1..60).map(|at| 0.1 * 1.08_f64.powi(at)).all(|s| curve.loss(s * 1.08) <= curve.loss(s))
        };
        for _ in 0..50 {
            for family in Family::TRAINING {
                assert!(falls(&Curve::draw(family, &mut random)), "{family:?}");
            }
            assert!(!falls(&Curve::draw(Family::ReinforcementLearning, &mut random)));
            let plateau = Curve::draw(Family::PlateauThenDrop, &mut random);
            let slope = |from: f64, to: f64| (plateau.loss(from) / plateau.loss(to)).ln() / (to / from).ln();
            assert!(slope(0.8, 1.25) > slope(0.35, 0.5), "the drop is steeper than the plateau");
        }
    }

    #[test]
    fn the_first_crossing_is_where_the_loss_equals_the_target_and_stretches_with_the_curve() {
        let mut random = ChaCha8Rng::seed_from_u64(4);
        for family in Family::ALL {
            let curve = Curve::draw(family, &mut random);
            let target = curve.loss(3.0);
            let at = curve.first_reaching(target, 0.1, 50.0).unwrap();
            assert!(at <= 3.001 && (curve.loss(at) / target - 1.0).abs() < 1e-4, "{family:?} at {at}");
            let longer = curve.clone().stretched(40.0).first_reaching(target, 4.0, 2_000.0).unwrap();
            assert!((longer / at / 40.0 - 1.0).abs() < 1e-4, "{family:?} {longer} for {at}");
            assert_eq!(curve.first_reaching(0.0, 0.1, 50.0), None);
        }
    }
}
