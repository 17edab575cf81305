//! What a job still needs, as probabilities: a small network that stands for the flow where a tick asks about tens of
//! jobs.
//!
//! \[recon\] All of it. It is no flow and not distilled from one: it is trained on the same kind of curves, for the one
//! question that an allocator asks. Input is the log in 16 bins of the logarithm of data, relative to the target, and the length that the
//! job's owner gave it; output are probabilities of 40 intervals of the remaining data, relative to what one node adds
//! from the job's begin to its deadline. Trained by cross-entropy on simulated jobs at random ages. A job's prediction changes with its log
//! alone, so it is made again only after a tick in which the job had nodes, for all such jobs at once.

mod training;

use std::collections::BTreeMap;

use candle_core::{D, Device, Result, Tensor};
use candle_nn::ops;
use rand_chacha::ChaCha8Rng;

use crate::nodes::job::Job;
use crate::nodes::net::{Linear, Weights};
use crate::nodes::simulation::Simulation;

/// Bins of the log.
const BINS: usize = 16;
/// Numbers that the network sees of a job.
pub const FEATURES: usize = BINS + 8;
/// Intervals of the remaining data.
pub const INTERVALS: usize = 40;
/// Logarithms of the least and most remaining data, relative to what one node adds from begin to deadline.
const RANGE: [f64; 2] = [-4.2, 1.2];
/// Width of the hidden layers.
const WIDTH: usize = 96;

/// Data that one node adds from a job's begin to its deadline.
fn unit(job: &Job, data_per_node: f64) -> f64 {
    f64::from(job.deadline + 1 - job.begin) * data_per_node
}

/// What the network sees.
fn features(job: &Job, data_per_node: f64) -> [f32; FEATURES] {
    let mut all = [0.0; FEATURES];
    let unit = unit(job, data_per_node);
    let head = &mut all[BINS..];
    head[0] = (unit.ln() - 5.0) as f32;
    let Some(last) = job.log.last() else {
        return all;
    };
    let target = job.target.ln();
    // Bins of a third of an octave below the newest data; an empty one repeats the newer one.
    let mut sums = [(0.0, 0.0); BINS];
    for point in job.log.iter().rev() {
        let bin = ((last.data / point.data).log2() * 3.0) as usize;
        if bin >= BINS {
            break;
        }
        sums[bin].0 += point.loss.ln() - target;
        sums[bin].1 += 1.0;
    }
    let mut before = sums[0].0 / sums[0].1;
    let level = before;
    for (at, (sum, count)) in sums.iter().enumerate() {
        if *count > 0.0 {
            before = sum / count;
        }
        all[at] = ((before - level) * 2.0) as f32;
    }
    let head = &mut all[BINS..];
    head[1] = 1.0;
    head[2] = (last.data / unit).ln() as f32;
    head[3] = level as f32;
    head[4] = (level.abs() + 1e-3).ln() as f32 / 2.0;
    head[5] = (job.log.len() as f64).ln() as f32 / 2.0 - 1.0;
    // How far a straight line through the newest octave still has to go.
    let fall = (all[3] - all[0]) / 2.0;
    all[BINS + 6] = (fall + 1e-3).max(1e-3).ln() / 2.0;
    all[BINS + 7] = (level as f32 / (fall + 0.02).max(0.02)).clamp(-2.0, 20.0) / 5.0;
    all
}

/// The chances of one job.
#[derive(Clone, Debug, PartialEq)]
pub struct Need {
    /// Probability of at most as much as each interval's upper end, ascending.
    below: [f32; INTERVALS],
    /// What the intervals are relative to.
    unit: f64,
}

/// The interval that so much remaining data lies in, relative to the unit.
fn interval(left: f64) -> usize {
    let width = (RANGE[1] - RANGE[0]) / INTERVALS as f64;
    ((left.ln() - RANGE[0]) / width).clamp(0.0, INTERVALS as f64 - 1.0) as usize
}

impl Need {
    /// The probability that so much more data is enough.
    #[must_use]
    pub fn within(&self, data: f64) -> f64 {
        if data <= 0.0 {
            return 0.0;
        }
        let width = (RANGE[1] - RANGE[0]) / INTERVALS as f64;
        let place = ((data / self.unit).ln() - RANGE[0]) / width;
        // The first interval begins at 0.
        if place <= 1.0 {
            return f64::from(self.below[0]) * (place - 1.0).exp().min(1.0);
        }
        let at = (place as usize).min(INTERVALS - 1);
        let part = (place - at as f64).min(1.0);
        let (from, to) = (f64::from(self.below[at - 1]), f64::from(self.below[at]));
        from + (to - from) * part
    }

    /// Data that is enough with this probability.
    #[must_use]
    pub fn quantile(&self, p: f64) -> f64 {
        let width = (RANGE[1] - RANGE[0]) / INTERVALS as f64;
        let at = self.below.iter().position(|below| f64::from(*below) >= p).unwrap_or(INTERVALS - 1);
        let from = if at == 0 { 0.0 } else { f64::from(self.below[at - 1]) };
        let part = ((p - from) / (f64::from(self.below[at]) - from).max(1e-9)).clamp(0.0, 1.0);
        self.unit * (RANGE[0] + width * (at as f64 + part)).exp()
    }
}

/// The network that predicts.
#[derive(Debug)]
pub struct NeedNet {
    pub(in crate::nodes) weights: Weights,
    layers: [Linear; 3],
}

impl NeedNet {
    /// Untrained.
    ///
    /// # Errors
    /// None that can happen: the shapes are constants.
    pub fn new(random: &mut ChaCha8Rng) -> Result<Self> {
        let mut weights = Weights::default();
        let layers = [
            Linear::new(&mut weights, "need.1", [FEATURES, WIDTH], 1.4, random)?,
            Linear::new(&mut weights, "need.2", [WIDTH, WIDTH], 1.4, random)?,
            Linear::new(&mut weights, "need.3", [WIDTH, INTERVALS], 0.1, random)?,
        ];
        Ok(Self { weights, layers })
    }

    fn logits(&self, x: &Tensor) -> Result<Tensor> {
        let x = self.layers[0].forward(x)?.silu()?;
        let x = self.layers[1].forward(&x)?.silu()?;
        self.layers[2].forward(&x)
    }

    /// The chances of some jobs.
    ///
    /// # Errors
    /// None that can happen: the shapes are constants.
    pub fn needs<'a>(&self, jobs: impl Iterator<Item = &'a Job>, data_per_node: f64) -> Result<Vec<Need>> {
        let (mut inputs, mut units) = (Vec::new(), Vec::new());
        for job in jobs {
            inputs.extend(features(job, data_per_node));
            units.push(unit(job, data_per_node));
        }
        if units.is_empty() {
            return Ok(Vec::new());
        }
        let x = Tensor::from_vec(inputs, (units.len(), FEATURES), &Device::Cpu)?;
        let chances = ops::softmax(&self.logits(&x)?, D::Minus1)?.flatten_all()?.to_vec1::<f32>()?;
        let needs = chances.chunks(INTERVALS).zip(units).map(|(chances, unit)| {
            let mut sum = 0.0;
            let below = std::array::from_fn(|at| {
                sum += chances[at];
                sum
            });
            Need { below, unit }
        });
        Ok(needs.collect())
    }
}

/// The chances of the active jobs, kept from tick to tick.
#[derive(Default)]
pub struct Needs(BTreeMap<usize, (Need, usize)>);

impl Needs {
    /// Makes the predictions that are missing or older than the log; in the order of the active jobs.
    ///
    /// # Errors
    /// As [`NeedNet::needs`].
    pub fn of(&mut self, net: &NeedNet, now: &Simulation) -> Result<Vec<Need>> {
        let mut before = std::mem::take(&mut self.0);
        let fresh = |job: &&Job| before.get(&job.number).is_none_or(|(_, points)| *points != job.log.len());
        let stale: Vec<&Job> = now.active.iter().filter(fresh).collect();
        let made = net.needs(stale.iter().copied(), now.setting.data_per_node)?;
        for (job, need) in stale.iter().zip(made) {
            before.insert(job.number, (need, job.log.len()));
        }
        self.0 = now
            .active
            .iter()
            .filter_map(|job| before.remove(&job.number).map(|need| (job.number, need)))
            .collect();
        Ok(now.active.iter().map(|job| self.0[&job.number].0.clone()).collect())
    }
}

#[cfg(test)]
mod tests {
    use rand::SeedableRng;

    use super::*;
    use crate::nodes::simulation::Setting;

    #[test]
    fn chances_grow_with_data_and_quantiles_invert_them() {
        let below = std::array::from_fn(|at| (at + 1) as f32 / INTERVALS as f32);
        let need = Need { below, unit: 100.0 };
        let mut before = 0.0;
        for data in 1..500 {
            let chance = need.within(f64::from(data));
            assert!((before..=1.0).contains(&chance), "{data}: {chance} after {before}");
            before = chance;
        }
        for p in [0.1, 0.5, 0.9] {
            assert!((need.within(need.quantile(p)) - p).abs() < 1e-3, "{p}");
        }
        assert_eq!(need.within(0.0), 0.0);
    }

    #[test]
    fn a_prediction_is_kept_until_the_log_grows() {
        let net = NeedNet::new(&mut ChaCha8Rng::seed_from_u64(1)).unwrap();
        let mut simulation = Simulation::new(Setting { load: 2.0, ..Setting::default() }, 1);
        while simulation.active.len() < 3 {
            simulation.step(&vec![0; simulation.active.len()]);
        }
        let mut needs = Needs::default();
        let first = needs.of(&net, &simulation).unwrap();
        let mut nodes = vec![0; simulation.active.len()];
        nodes[1] = 1;
        let (worked, idle) = (simulation.active[1].number, simulation.active[2].number);
        simulation.step(&nodes);
        let second = needs.of(&net, &simulation).unwrap();
        let place = |number: usize| simulation.active.iter().position(|job| job.number == number).unwrap();
        assert_ne!(second[place(worked)], first[1]);
        assert_eq!(second[place(idle)], first[2]);
    }
}
