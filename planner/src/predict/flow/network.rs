//! The network of the flow: three hidden layers that give the velocity of a curve on its way from noise.

use candle_core::{Device, Result, Tensor, Var};
use rand_chacha::ChaCha8Rng;

use super::condition::CONDITIONS;
use crate::predict::HORIZONS;
use crate::random::normal;

/// Numbers that describe the time.
const TIMES: usize = 8;
const HIDDEN: usize = 128;
/// Numbers in and out of each layer.
pub(crate) const LAYERS: [(usize, usize); 4] =
    [(HORIZONS + TIMES + CONDITIONS, HIDDEN), (HIDDEN, HIDDEN), (HIDDEN, HIDDEN), (HIDDEN, HORIZONS)];

/// Weights and biases, layer by layer.
#[derive(Clone, Debug)]
pub(crate) struct Network {
    layers: Vec<(Var, Var)>,
}

impl Network {
    /// Normal weights of variance 2 / inputs; the last layer starts small, so that the first velocities are.
    pub(crate) fn draw(random: &mut ChaCha8Rng) -> Result<Self> {
        let layer = |(nth, (inputs, outputs)): (usize, &(usize, usize))| {
            let size = (2.0 / *inputs as f64).sqrt() * if nth + 1 == LAYERS.len() { 0.1 } else { 1.0 };
            let weights = (0..inputs * outputs).map(|_| (size * normal(random)) as f32).collect();
            Self::layer((*inputs, *outputs), weights, vec![0.0; *outputs])
        };
        Ok(Self { layers: LAYERS.iter().enumerate().map(layer).collect::<Result<_>>()? })
    }

    /// Of weights and biases, in the order of [`LAYERS`].
    pub(crate) fn of(numbers: Vec<(Vec<f32>, Vec<f32>)>) -> Result<Self> {
        let layers = LAYERS.iter().zip(numbers);
        Ok(Self {
            layers: layers
                .map(|(size, (weights, bias))| Self::layer(*size, weights, bias))
                .collect::<Result<_>>()?,
        })
    }

    fn layer(size: (usize, usize), weights: Vec<f32>, bias: Vec<f32>) -> Result<(Var, Var)> {
        let outputs = size.1;
        Ok((Var::from_vec(weights, size, &Device::Cpu)?, Var::from_vec(bias, outputs, &Device::Cpu)?))
    }

    /// What is trained.
    pub(crate) fn variables(&self) -> Vec<Var> {
        self.layers.iter().flat_map(|(weights, bias)| [weights.clone(), bias.clone()]).collect()
    }

    /// Weights and biases as numbers, in the order of [`LAYERS`].
    pub(crate) fn numbers(&self) -> Result<Vec<(Vec<f32>, Vec<f32>)>> {
        let numbers = |(weights, bias): &(Var, Var)| Ok((weights.flatten_all()?.to_vec1()?, bias.to_vec1()?));
        self.layers.iter().map(numbers).collect()
    }

    /// The velocity of each row: curves on their way, their times, and what they are conditioned on.
    pub(crate) fn velocity(&self, curves: &Tensor, times: &Tensor, conditions: &Tensor) -> Result<Tensor> {
        let mut values = Tensor::cat(&[curves, times, conditions], 1)?;
        for (nth, (weights, bias)) in self.layers.iter().enumerate() {
            values = values.matmul(weights)?.broadcast_add(bias)?;
            if nth + 1 < self.layers.len() {
                values = values.silu()?;
            }
        }
        Ok(values)
    }
}

/// A time (0 to 1) as the network sees it.
pub(crate) fn time_numbers(time: f64) -> [f32; TIMES] {
    std::array::from_fn(|nth| {
        let angle = std::f64::consts::PI * time * f64::from(1_u32 << (nth / 2)) / 2.0;
        if nth % 2 == 0 { angle.sin() as f32 } else { angle.cos() as f32 }
    })
}

/// A matrix of rows one after the other.
pub(crate) fn matrix(rows: usize, values: Vec<f32>) -> Result<Tensor> {
    let width = values.len() / rows;
    Tensor::from_vec(values, (rows, width), &Device::Cpu)
}
