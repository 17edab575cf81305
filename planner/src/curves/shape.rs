//! The forms of loss curves, in units of their own.

use rand::RngExt;
use rand_chacha::ChaCha8Rng;

use super::Family;
use crate::random::log_uniform;

/// A form: loss by data, both in units of the form.
#[derive(Clone, Debug)]
pub(super) enum Shape {
    /// `floor + (s + shift)^(−exponent)`.
    Power { floor: f64, shift: f64, exponent: f64 },
    /// `floor + exp(−(s / scale)^exponent)`.
    Stretched { floor: f64, scale: f64, exponent: f64 },
    /// `floor + s^(−exponent) Π (1 + (s / data)^sharpness)^(−exponent / sharpness)`.
    Broken { floor: f64, exponent: f64, breaks: [Break; 2] },
    /// `share` of the first and the rest of the second.
    Mixed { share: f64, parts: Box<[Shape; 2]> },
    /// A form times `exp(Σ size · sin(pace · ln s + phase))`.
    Swinging { form: Box<Shape>, swings: [Swing; 3] },
    /// A form whose loss sinks to `factor` of it about `data`, the more suddenly the larger `sharpness`.
    Sinking { form: Box<Shape>, data: f64, factor: f64, sharpness: f64 },
    /// A form whose loss shrinks to `factor` of it soon after each `data`.
    Dropping { form: Box<Shape>, drops: [Drop; 3] },
    /// A form on top of a plateau that gives way at `data`, the more suddenly the larger `sharpness`.
    Plateau { form: Box<Shape>, height: f64, data: f64, sharpness: f64 },
}

/// A change of the exponent of a power law.
#[derive(Clone, Debug)]
pub(super) struct Break {
    data: f64,
    exponent: f64,
    sharpness: f64,
}

/// A slow swing of the loss, in the logarithm of data.
#[derive(Clone, Debug)]
pub(super) struct Swing {
    size: f64,
    pace: f64,
    phase: f64,
}

/// A sudden fall of the loss.
#[derive(Clone, Debug)]
pub(super) struct Drop {
    data: f64,
    factor: f64,
}

/// Part of the data of a drop that its fall takes.
const FALL: f64 = 0.05;

impl Shape {
    pub(super) fn draw(family: Family, random: &mut ChaCha8Rng) -> Self {
        match family {
            Family::Power => Self::Power {
                floor: log_uniform(random, 0.05, 2.0),
                shift: 0.0,
                exponent: random.random_range(0.25..1.1),
            },
            Family::ShiftedPower => Self::Power {
                floor: log_uniform(random, 0.05, 1.5),
                shift: log_uniform(random, 0.03, 1.0),
                exponent: random.random_range(0.3..1.5),
            },
            Family::StretchedExponential => Self::Stretched {
                floor: log_uniform(random, 0.02, 0.6),
                scale: log_uniform(random, 0.5, 4.0),
                exponent: random.random_range(0.35..1.0),
            },
            Family::Mixed => Self::draw_mixed(random),
            Family::Broken => {
                let mut change = || Break {
                    data: log_uniform(random, 0.1, 30.0),
                    exponent: log_uniform(random, 0.1, 2.0),
                    sharpness: log_uniform(random, 1.5, 16.0),
                };
                let breaks = [change(), change()];
                Self::Broken {
                    floor: log_uniform(random, 0.01, 0.5),
                    exponent: random.random_range(0.1..0.6),
                    breaks,
                }
            }
            Family::ReinforcementLearning => {
                let form = Self::Power {
                    floor: log_uniform(random, 0.05, 0.8),
                    shift: log_uniform(random, 0.03, 0.3),
                    exponent: random.random_range(0.3..0.9),
                };
                let mut swing = || Swing {
                    size: random.random_range(0.03..0.08),
                    pace: random.random_range(4.0..14.0),
                    phase: random.random_range(0.0..std::f64::consts::TAU),
                };
                let swings = [swing(), swing(), swing()];
                Self::Swinging { form: Box::new(form), swings }
            }
            Family::Vision => Self::draw_vision(random),
            Family::PlateauThenDrop => Self::Plateau {
                form: Box::new(Self::Power {
                    floor: log_uniform(random, 0.05, 0.5),
                    shift: log_uniform(random, 0.03, 0.1),
                    exponent: random.random_range(0.5..1.0),
                }),
                height: random.random_range(1.5..5.0),
                data: random.random_range(0.9..1.1),
                sharpness: random.random_range(4.0..10.0),
            },
        }
    }

    fn draw_mixed(random: &mut ChaCha8Rng) -> Self {
        let first = random.random_range(0..3);
        let second = (first + random.random_range(1..3)) % 3;
        let parts = [first, second].map(|nth| Self::draw(Family::TRAINING[nth], random));
        Self::Mixed { share: random.random_range(0.2..0.8), parts: Box::new(parts) }
    }

    fn draw_vision(random: &mut ChaCha8Rng) -> Self {
        let form = Self::Power {
            floor: log_uniform(random, 0.2, 1.0),
            shift: log_uniform(random, 0.03, 0.3),
            exponent: random.random_range(0.4..1.2),
        };
        let mut data = random.random_range(0.8..1.2);
        let drops = [(1.6, 2.2), (1.3, 1.6), (1.2, 1.4)].map(|(low, high)| {
            let drop = Drop { data, factor: random.random_range(0.55..0.85) };
            data *= random.random_range(low..high);
            drop
        });
        Self::Dropping { form: Box::new(form), drops }
    }

    /// The same form with slow swings of at most `most` each.
    pub(super) fn swinging(self, most: f64, random: &mut ChaCha8Rng) -> Self {
        let mut swing = || Swing {
            size: log_uniform(random, most / 10.0, most),
            pace: random.random_range(4.0..14.0),
            phase: random.random_range(0.0..std::f64::consts::TAU),
        };
        let swings = [swing(), swing(), swing()];
        Self::Swinging { form: Box::new(self), swings }
    }

    /// The same form that sinks by at most four tenths somewhere.
    pub(super) fn sinking(self, random: &mut ChaCha8Rng) -> Self {
        Self::Sinking {
            form: Box::new(self),
            data: log_uniform(random, 0.1, 30.0),
            factor: random.random_range(0.6..0.95),
            sharpness: log_uniform(random, 3.0, 30.0),
        }
    }

    pub(super) fn at(&self, data: f64) -> f64 {
        match self {
            Self::Power { floor, shift, exponent } => floor + (data + shift).powf(-exponent),
            Self::Broken { floor, exponent, breaks } => {
                let smooth = |at: &Break| {
                    (1.0 + (data / at.data).powf(at.sharpness)).powf(-at.exponent / at.sharpness)
                };
                floor + data.powf(-exponent) * breaks.iter().map(smooth).product::<f64>()
            }
            Self::Stretched { floor, scale, exponent } => floor + (-(data / scale).powf(*exponent)).exp(),
            Self::Mixed { share, parts } => share * parts[0].at(data) + (1.0 - share) * parts[1].at(data),
            Self::Swinging { form, swings } => {
                let swing: f64 = swings
                    .iter()
                    .map(|swing| swing.size * (swing.pace * data.ln() + swing.phase).sin())
                    .sum();
                form.at(data) * swing.exp()
            }
            Self::Sinking { form, data: at, factor, sharpness } => {
                form.at(data) * (factor + (1.0 - factor) / (1.0 + (data / at).powf(*sharpness)))
            }
            Self::Dropping { form, drops } => drops
                .iter()
                .filter(|drop| data > drop.data)
                .map(|drop| 1.0 - (1.0 - drop.factor) * (1.0 - (-(data / drop.data - 1.0) / FALL).exp()))
                .fold(form.at(data), |loss, factor| loss * factor),
            Self::Plateau { form, height, data: at, sharpness } => {
                form.at(data) + height / (1.0 + (data / at).powf(*sharpness))
            }
        }
    }
}
