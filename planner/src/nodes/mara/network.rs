//! The policy's network: an encoder of the jobs, and a decoder that chooses for one node after the other.

use candle_core::{D, Device, Result, Tensor};
use candle_nn::ops;
use rand_chacha::ChaCha8Rng;

use super::state::{Batch, MARGIN, NEVER, Offers, State, TOKEN, WHOLE};
use crate::nodes::net::{Linear, Weights};

/// Width of all layers.
const WIDTH: usize = 64;

/// The network.
#[derive(Debug)]
pub struct Network {
    pub(in crate::nodes) weights: Weights,
    token: Linear,
    whole: Linear,
    encoder: Attention,
    encoder_forward: [Linear; 2],
    /// What stands for no job, and for no choice yet.
    none: Linear,
    node: Linear,
    causal: Attention,
    cross: Attention,
    decoder_forward: [Linear; 2],
    query: Linear,
    key: Linear,
    margin_query: Linear,
    value: [Linear; 2],
}

/// One head of attention.
#[derive(Debug)]
struct Attention {
    query: Linear,
    key: Linear,
    value: Linear,
    out: Linear,
}

impl Attention {
    fn new(weights: &mut Weights, name: &str, random: &mut ChaCha8Rng) -> Result<Self> {
        let mut layer = |part: &str, gain: f64| {
            Linear::new(weights, &format!("{name}.{part}"), [WIDTH, WIDTH], gain, random)
        };
        Ok(Self {
            query: layer("query", 1.0)?,
            key: layer("key", 1.0)?,
            value: layer("value", 1.0)?,
            out: layer("out", 0.5)?,
        })
    }

    /// Queries (ticks, n, width) to keys and values (ticks, m, width), with scores to add (ticks, n or 1, m).
    fn attend(&self, x: &Tensor, keys: &Tensor, values: &Tensor, mask: Option<&Tensor>) -> Result<Tensor> {
        let scores = (self.query.forward(x)?.matmul(&keys.t()?)? / (WIDTH as f64).sqrt())?;
        let scores = match mask {
            Some(mask) => scores.broadcast_add(mask)?,
            None => scores,
        };
        self.out.forward(&ops::softmax(&scores, D::Minus1)?.matmul(values)?)
    }
}

/// Keeps the size of each row at 1 per entry.
fn normed(x: &Tensor) -> Result<Tensor> {
    let size = (x.sqr()?.mean_keepdim(D::Minus1)? + 1e-5)?.sqrt()?;
    x.broadcast_div(&size)
}

/// Jobs after the encoder.
pub(super) struct Encoded {
    /// (ticks, jobs + 2, width): the jobs, idle, and the start.
    table: Tensor,
    /// (ticks, 1, jobs)
    absent: Tensor,
    cross_keys: Tensor,
    cross_values: Tensor,
    /// (ticks, jobs + 1, width)
    pointer_keys: Tensor,
    /// (ticks): the value of the state, normalised.
    pub(super) value: Tensor,
}

/// Some nodes of each tick that are asked to choose.
pub(super) struct Asked {
    /// The choice before each (ticks · n), as a place in the table.
    pub(super) last: Vec<usize>,
    /// Nodes that have chosen before.
    pub(super) first: usize,
    /// Nodes of a tick.
    pub(super) nodes: usize,
    /// What they may choose.
    pub(super) offers: Offers,
}

/// Keys and values of the choices so far.
#[derive(Default)]
pub(super) struct Past(Option<(Tensor, Tensor)>);

impl Network {
    /// Untrained.
    ///
    /// # Errors
    /// None that can happen: the shapes are constants.
    pub fn new(random: &mut ChaCha8Rng) -> Result<Self> {
        let mut weights = Weights::default();
        let w = &mut weights;
        Ok(Self {
            token: Linear::new(w, "token", [TOKEN, WIDTH], 1.0, random)?,
            whole: Linear::new(w, "whole", [WHOLE, WIDTH], 1.0, random)?,
            encoder: Attention::new(w, "encoder", random)?,
            encoder_forward: [
                Linear::new(w, "encoder.1", [WIDTH, WIDTH], 1.4, random)?,
                Linear::new(w, "encoder.2", [WIDTH, WIDTH], 0.5, random)?,
            ],
            none: Linear::new(w, "none", [2, WIDTH], 1.0, random)?,
            node: Linear::new(w, "node", [1, WIDTH], 1.0, random)?,
            causal: Attention::new(w, "causal", random)?,
            cross: Attention::new(w, "cross", random)?,
            decoder_forward: [
                Linear::new(w, "decoder.1", [WIDTH, WIDTH], 1.4, random)?,
                Linear::new(w, "decoder.2", [WIDTH, WIDTH], 0.5, random)?,
            ],
            query: Linear::new(w, "pointer.query", [WIDTH, WIDTH], 1.0, random)?,
            key: Linear::new(w, "pointer.key", [WIDTH, WIDTH], 1.0, random)?,
            margin_query: Linear::new(w, "pointer.margin", [WIDTH, MARGIN], 0.5, random)?,
            value: [
                Linear::new(w, "value.1", [WIDTH, WIDTH], 1.4, random)?,
                Linear::new(w, "value.2", [WIDTH, 1], 0.1, random)?,
            ],
            weights,
        })
    }

    pub(super) fn encode(&self, batch: &Batch) -> Result<Encoded> {
        let absent = batch.absent.unsqueeze(1)?;
        let whole = self.whole.forward(&batch.whole)?.unsqueeze(1)?;
        let x = self.token.forward(&batch.tokens)?.broadcast_add(&whole)?.silu()?;
        let (keys, values) = (self.encoder.key.forward(&x)?, self.encoder.value.forward(&x)?);
        let x = (&x + self.encoder.attend(&x, &keys, &values, Some(&absent))?)?;
        let x = (&x + feed(&self.encoder_forward, &x)?)?;
        let x = normed(&x)?;
        let ones = Tensor::eye(2, candle_core::DType::F32, &Device::Cpu)?;
        let none = self.none.forward(&ones)?.unsqueeze(0)?.broadcast_as((batch.ticks, 2, WIDTH))?;
        let table = Tensor::cat(&[&x, &none.contiguous()?], 1)?;
        // Sum over the jobs that are there.
        let present = ((batch.absent.unsqueeze(2)? / f64::from(-NEVER))? + 1.0)?;
        let pooled = (x.broadcast_mul(&present)?.sum(1)? / 16.0)?;
        let pooled = (pooled + whole.squeeze(1)?)?;
        let value = self.value[1].forward(&self.value[0].forward(&pooled)?.silu()?)?.squeeze(1)?;
        Ok(Encoded {
            cross_keys: self.cross.key.forward(&x)?,
            cross_values: self.cross.value.forward(&x)?,
            pointer_keys: self.key.forward(&table.narrow(1, 0, batch.jobs + 1)?.contiguous()?)?,
            table,
            absent,
            value,
        })
    }

    /// Scores of the choices (ticks, n, jobs + 1) of `n` nodes, one after the other.
    pub(super) fn decode(&self, encoded: &Encoded, past: &mut Past, asked: Asked) -> Result<Tensor> {
        let Asked { last, first, nodes, offers } = asked;
        let (ticks, rows, _) = encoded.table.dims3()?;
        let (jobs, steps) = (rows - 2, last.len() / ticks);
        let index = last.iter().enumerate().map(|(at, last)| (at / steps * rows + last) as u32).collect();
        let index = Tensor::from_vec::<_, u32>(index, last.len(), &Device::Cpu)?;
        let x = encoded
            .table
            .reshape((ticks * rows, WIDTH))?
            .index_select(&index, 0)?
            .reshape((ticks, steps, WIDTH))?;
        let left: Vec<f32> = (0..steps).map(|step| 1.0 - (first + step) as f32 / nodes as f32).collect();
        let left = self.node.forward(&Tensor::from_vec(left, (1, steps, 1), &Device::Cpu)?)?;
        let x = x.broadcast_add(&left)?;
        let (mut keys, mut values) = (self.causal.key.forward(&x)?, self.causal.value.forward(&x)?);
        if let Some((old_keys, old_values)) = &past.0 {
            keys = Tensor::cat(&[old_keys, &keys], 1)?;
            values = Tensor::cat(&[old_values, &values], 1)?;
        }
        let mask = if steps == 1 { None } else { Some(causal_mask(steps)?) };
        let x = (&x + self.causal.attend(&x, &keys, &values, mask.as_ref())?)?;
        past.0 = Some((keys, values));
        let cross =
            self.cross.attend(&x, &encoded.cross_keys, &encoded.cross_values, Some(&encoded.absent))?;
        let x = (x + cross)?;
        let x = normed(&(&x + feed(&self.decoder_forward, &x)?)?)?;
        let scores = (self.query.forward(&x)?.matmul(&encoded.pointer_keys.t()?)? / (WIDTH as f64).sqrt())?;
        let margins = Tensor::from_vec(offers.margins, (ticks * steps, jobs, MARGIN), &Device::Cpu)?;
        let weight = self.margin_query.forward(&x)?.reshape((ticks * steps, MARGIN, 1))?;
        let gains = margins.matmul(&weight)?.reshape((ticks, steps, jobs))?.pad_with_zeros(2, 0, 1)?;
        let closed = Tensor::from_vec(offers.closed, (ticks, steps, jobs + 1), &Device::Cpu)?;
        (scores + gains)? + closed
    }

    /// Logarithms of the chances of all choices (ticks, nodes, jobs + 1) along choices that were made, the values, and the
    /// jobs of the padded ticks.
    pub(super) fn along(&self, states: &[&State], choices: &[&[usize]]) -> Result<(Tensor, Tensor, usize)> {
        let batch = Batch::new(states)?;
        let encoded = self.encode(&batch)?;
        let (mut last, mut offers) = (Vec::new(), Offers::default());
        for (state, choices) in states.iter().zip(choices) {
            let mut held = vec![0; batch.jobs + 1];
            let mut before = batch.jobs + 1;
            for choice in *choices {
                last.push(before);
                offers.add(state, batch.jobs, &held);
                before = (*choice).min(batch.jobs);
                held[before] += 1;
            }
        }
        let scores = self.decode(
            &encoded,
            &mut Past::default(),
            Asked { last, first: 0, nodes: batch.nodes, offers },
        )?;
        Ok((ops::log_softmax(&scores, D::Minus1)?, encoded.value, batch.jobs))
    }
}

fn feed(layers: &[Linear; 2], x: &Tensor) -> Result<Tensor> {
    layers[1].forward(&layers[0].forward(x)?.silu()?)
}

fn causal_mask(steps: usize) -> Result<Tensor> {
    let mask = (0..steps * steps).map(|at| if at % steps > at / steps { NEVER } else { 0.0 }).collect();
    Tensor::from_vec::<_, f32>(mask, (1, steps, steps), &Device::Cpu)
}

/// Logarithms of the chances of the choices that were made (ticks, nodes).
pub(super) fn chosen(logs: &Tensor, choices: &[&[usize]], jobs: usize) -> Result<Tensor> {
    let (ticks, nodes, _) = logs.dims3()?;
    let index = choices.iter().flat_map(|choices| choices.iter().map(|choice| (*choice).min(jobs) as u32));
    let index = Tensor::from_vec(index.collect::<Vec<u32>>(), (ticks, nodes, 1), &Device::Cpu)?;
    logs.gather(&index, 2)?.squeeze(2)
}
