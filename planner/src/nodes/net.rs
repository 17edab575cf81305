//! Small networks with seeded weights: what `candle` leaves out for the processor, whose own initial weights have no
//! seed there.

use std::collections::HashMap;

use candle_core::{Device, Result, Tensor, Var};
use rand_chacha::ChaCha8Rng;

use crate::random::normal;

/// The weights of a network, by name.
#[derive(Debug, Default)]
pub(in crate::nodes) struct Weights(Vec<(String, Var)>);

impl Weights {
    /// A new weight with entries of this standard deviation.
    fn drawn(
        &mut self,
        name: String,
        shape: &[usize],
        deviation: f64,
        random: &mut ChaCha8Rng,
    ) -> Result<Tensor> {
        let values = (0..shape.iter().product()).map(|_| (deviation * normal(random)) as f32).collect();
        let var = Var::from_tensor(&Tensor::from_vec::<_, f32>(values, shape, &Device::Cpu)?)?;
        let tensor = var.as_tensor().clone();
        self.0.push((name, var));
        Ok(tensor)
    }

    /// All weights, for an optimiser.
    pub(in crate::nodes) fn vars(&self) -> Vec<Var> {
        self.0.iter().map(|(_, var)| var.clone()).collect()
    }

    /// The weights by name, to be stored.
    pub(in crate::nodes) fn named(&self) -> HashMap<String, Tensor> {
        self.0.iter().map(|(name, var)| (name.clone(), var.as_tensor().clone())).collect()
    }

    /// The weights by name as they are now, whatever becomes of them.
    pub(in crate::nodes) fn copied(&self) -> Result<HashMap<String, Tensor>> {
        self.0.iter().map(|(name, var)| Ok((name.clone(), var.as_tensor().copy()?))).collect()
    }

    /// Takes the values of all weights from a store.
    ///
    /// # Errors
    /// A weight is missing or has another shape.
    pub(in crate::nodes) fn load(&self, from: &HashMap<String, Tensor>) -> Result<()> {
        for (name, var) in &self.0 {
            let Some(value) = from.get(name) else { candle_core::bail!("there is no weight {name}") };
            var.set(value)?;
        }
        Ok(())
    }
}

/// The learning rate of a step: falls from `rate` to a hundredth of it along half a cosine.
pub(in crate::nodes) fn cosine(rate: f64, step: usize, steps: usize) -> f64 {
    let part = step as f64 / steps as f64;
    rate * (0.01 + 0.99 * (0.5 + 0.5 * (std::f64::consts::PI * part).cos()))
}

/// `x W + b`.
#[derive(Clone, Debug)]
pub(in crate::nodes) struct Linear {
    weight: Tensor,
    bias: Tensor,
}

impl Linear {
    /// From so many inputs to so many outputs; `gain` 1 keeps the size of what comes in.
    pub(in crate::nodes) fn new(
        weights: &mut Weights,
        name: &str,
        [inputs, outputs]: [usize; 2],
        gain: f64,
        random: &mut ChaCha8Rng,
    ) -> Result<Self> {
        let deviation = gain / (inputs as f64).sqrt();
        let weight = weights.drawn(format!("{name}.weight"), &[inputs, outputs], deviation, random)?;
        let bias = weights.drawn(format!("{name}.bias"), &[outputs], 0.0, random)?;
        Ok(Self { weight, bias })
    }

    /// Over the last dimension, whatever comes before it.
    pub(in crate::nodes) fn forward(&self, x: &Tensor) -> Result<Tensor> {
        let dims = x.dims();
        let (inputs, outputs) = self.weight.dims2()?;
        let rows = dims.iter().product::<usize>() / inputs;
        let out = x.reshape((rows, inputs))?.matmul(&self.weight)?.broadcast_add(&self.bias)?;
        let mut shape = dims.to_vec();
        if let Some(last) = shape.last_mut() {
            *last = outputs;
        }
        out.reshape(shape)
    }
}
