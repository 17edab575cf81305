//! Split-conformal calibration among curves that look alike.
//!
//! At serving time nobody knows the family of a curve, so the band cannot be calibrated by family. \[recon\] It is
//! calibrated by what can be seen: the file of weights carries finished curves (of seeds that the network never saw)
//! with a few features (`Raw`) and by how much the raw quantiles missed the truth. A forecast moves its P10, P50
//! and P90 by the 10, 50 and 90 % quantiles of the misses of the curves nearest to it. That is split-conformal
//! calibration, localised: within curves that look alike the bands hold as often as they say, whatever their family.
//!
//! Some of the finished curves never reach their target, so that a target out of reach stays one.

use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;

use super::offset_power::{self, Fit};
use super::past::{Past, REACH};
use super::{HARDLY, HORIZONS, horizon};
use crate::curves::{Family, Task};
use crate::forecast::{Effort, FanPoint};

/// Finished curves to which one is compared.
const NEIGHBOURS: usize = 80;
/// Features of a curve.
const FEATURES: usize = 6;
/// Numbers of a finished curve in the file of weights.
const NUMBERS: usize = FEATURES + 8;
/// What stands for "never" in [`reach_of`]: a little beyond the last horizon.
pub(crate) const NEVER: f64 = 4.2;
/// One in so many finished curves never reaches its target.
const UNREACHED: usize = 20;
/// A curve is unlike the training when fewer of its neighbours than this are of the families trained on, and when the
/// offset power law misses it by more than [`MISFIT`] times its noise.
const FAMILIAR: f64 = 0.5;
const MISFIT: f64 = 4.0;
/// Parts of the neighbours' misses to which P10 and P90 move. They are nearer to the middle than a tenth, because the
/// finished curves that never reach their target take a part of the upper tail; chosen on seeds 500, 501 and 1001 to 1010.
const LEVELS: [f64; 2] = [0.15, 0.855];
/// The same for a curve unlike the training, or whose target fewer than [`SELDOM`] of the drawn curves reach: what comes
/// may be sudden, and sooner than any neighbour tells.
const DOUBTFUL_LEVELS: [f64; 2] = [0.05, 0.86];
const SELDOM: f64 = 0.3;
/// The feature that is how far off the target is, and by how much lower than those of its neighbours a target is no
/// longer comparable with theirs.
const GAP: usize = 5;
const DEEPER: f64 = 0.35;
/// Finished curves by family, in those of a plain one: more of those that others are easily taken for.
const FINISHED: [(Family, f64); 7] = [
    (Family::Power, 1.0),
    (Family::ShiftedPower, 1.0),
    (Family::StretchedExponential, 1.0),
    (Family::Mixed, 1.0),
    (Family::Broken, 1.33),
    (Family::ReinforcementLearning, 2.0),
    (Family::Vision, 2.5),
];

/// Data left, as ln(data at the target / data now); at most [`NEVER`].
pub(crate) fn reach_of(remaining: f64, past: &Past) -> f64 {
    (remaining / past.now).ln_1p().min(NEVER)
}

/// What two predictors drew for a job, before calibration.
#[derive(Clone, Debug)]
pub(crate) struct Raw {
    /// By the flow: ln(loss / level) at the horizons, by curve.
    pub curves: Vec<[f64; HORIZONS]>,
    /// By the flow: [`reach_of`] by curve, ascending.
    pub flow: Vec<f64>,
    /// By the offset power law: the same.
    pub offset: Vec<f64>,
    features: [f64; FEATURES],
    /// The offset power law misses the curve by so many times its noise.
    misfit: f64,
    /// Part of the flow's curves that reach the target.
    pub reached: f64,
}

/// ln(data at the target / data now) of a drawn curve; [`NEVER`] when it does not reach the target.
fn crossing(curve: &[f64; HORIZONS], gap: f64) -> f64 {
    let mut before = (0.0, 0.0_f64);
    for (nth, loss) in curve.iter().enumerate() {
        let x = horizon(nth);
        if *loss <= gap {
            let part = if before.1 > gap { (before.1 - gap) / (before.1 - loss) } else { 1.0 };
            return before.0 + (x - before.0) * part;
        }
        before = (x, *loss);
    }
    NEVER
}

/// Data left by curve, ascending, after P10, P50 and P90 of ascending `reaches` moved, and with them what lies between
/// or beyond; infinite beyond the last horizon.
pub(crate) fn moved(reaches: &[f64], moves: [f64; 3], past: &Past) -> Vec<f64> {
    let last = (reaches.len() - 1).max(1) as f64;
    sorted(reaches.iter().enumerate().map(|(nth, reach)| {
        let p = nth as f64 / last;
        let (from, to, part) = if p < 0.5 { (0, 1, (p - 0.1) / 0.4) } else { (1, 2, (p - 0.5) / 0.4) };
        let reach = reach + moves[from] + (moves[to] - moves[from]) * part.clamp(0.0, 1.0);
        // The target is not reached yet: at least one more point of the log.
        if reach > REACH.ln() { f64::INFINITY } else { (past.now * reach.exp_m1()).max(past.step) }
    }))
}

/// The value at a part `p` (0 to 1) of ascending values, between them by straight lines.
pub(crate) fn quantile(values: &[f64], p: f64) -> f64 {
    let at = p * (values.len() - 1) as f64;
    let low = at.floor() as usize;
    values[low] + (values[(low + 1).min(values.len() - 1)] - values[low]) * at.fract()
}

/// Ascending.
pub(crate) fn sorted(values: impl Iterator<Item = f64>) -> Vec<f64> {
    let mut values: Vec<f64> = values.collect();
    values.sort_by(f64::total_cmp);
    values
}

impl Raw {
    /// Of the flow's curves; the offset power law draws its own.
    pub(crate) fn of(
        past: &Past,
        target: f64,
        curves: Vec<[f64; HORIZONS]>,
        random: &mut ChaCha8Rng,
    ) -> Self {
        let gap = target.ln() - past.level();
        let flow = sorted(curves.iter().map(|curve| crossing(curve, gap)));
        let fit = Fit::of(past);
        let offset = offset_power::draw(past, &fit, target, curves.len(), random).remaining;
        let offset = sorted(offset.into_iter().map(|remaining| reach_of(remaining, past)));
        let misfit = fit.variance.sqrt() / past.noise;
        let reached = flow.iter().filter(|reach| **reach < NEVER).count() as f64 / flow.len() as f64;
        // Scales by which a difference of one in any feature makes two curves about as unlike.
        let features = [
            0.8 * past.noise.ln().clamp(-6.0, -1.0),
            misfit.ln().clamp(-1.0, 3.5),
            2.0 * reached,
            0.6 * quantile(&flow, 0.5),
            0.5 * (quantile(&flow, 0.9) - quantile(&flow, 0.1)),
            0.7 * gap.clamp(-4.0, 0.0),
        ];
        Self { curves, flow, offset, features, misfit, reached }
    }

    /// P10, P50 and P90 of ln(loss / level) at a horizon.
    fn losses(&self, nth: usize) -> [f64; 3] {
        let losses = sorted(self.curves.iter().map(|curve| curve[nth]));
        [0.1, 0.5, 0.9].map(|p| quantile(&losses, p))
    }
}

/// A finished curve: its features, and by how much the truth was above the raw quantiles.
#[derive(Clone, Debug, PartialEq)]
struct Finished {
    features: [f64; FEATURES],
    /// Of the flow's P10, P50 and P90 of the data left.
    flow: [f64; 3],
    /// Of the offset power law's P10 and P90.
    offset: [f64; 2],
    /// Of the fan's P10 and P90 at one horizon, in widths of the fan there.
    fan: [f64; 2],
    /// Its family was trained on.
    familiar: bool,
}

/// Half of the width of a fan, by which its misses are measured; a fan of no width would make them endless.
fn width(losses: [f64; 3], past: &Past) -> f64 {
    0.5 * (losses[2] - losses[0]) + 0.1 * past.noise
}

/// Finished curves.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Calibration(Vec<Finished>);

/// How the quantiles of one forecast move.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Moves {
    flow: [f64; 3],
    offset: [f64; 2],
    fan: [f64; 2],
    /// The curve is unlike those of the training.
    pub unlike_training: bool,
}

impl Calibration {
    /// Lets a flow foresee finished curves, `plain` of each plain family: `draw` draws its curves for many pasts.
    ///
    /// # Errors
    /// Those of `draw`.
    pub(crate) fn make<E>(
        seed: u64,
        plain: usize,
        mut draw: impl FnMut(&[Past], Effort, &mut ChaCha8Rng) -> Result<Vec<Vec<[f64; HORIZONS]>>, E>,
    ) -> Result<Self, E> {
        let mut random = ChaCha8Rng::seed_from_u64(seed);
        // A stream of its own: the curves of the training are not those.
        random.set_stream(1);
        let mut finished = Vec::new();
        for (family, parts) in FINISHED {
            let tasks: Vec<(Task, bool)> = (0..(plain as f64 * parts) as usize)
                .map(|nth| {
                    let task = Task::draw(family, &mut random);
                    if nth % UNREACHED == 0 { (task.out_of_reach(&mut random), false) } else { (task, true) }
                })
                .collect();
            let pasts: Vec<Past> = tasks.iter().map(|(task, _)| Past::of(&task.log)).collect();
            let curves = draw(&pasts, Effort::FULL, &mut random)?;
            for (((task, reached), past), curves) in tasks.iter().zip(&pasts).zip(curves) {
                let raw = Raw::of(past, task.target, curves, &mut random);
                let truth = if *reached { reach_of(task.remaining, past) } else { NEVER };
                finished.push(Finished::of(task, past, &raw, truth, random.random_range(0..HORIZONS)));
            }
        }
        Ok(Self(finished))
    }

    /// How the quantiles of a raw forecast move.
    pub(crate) fn moves(&self, raw: &Raw) -> Moves {
        let distance = |finished: &Finished| -> f64 {
            finished.features.iter().zip(&raw.features).map(|(a, b)| (a - b) * (a - b)).sum()
        };
        let mut nearest: Vec<(f64, usize)> =
            self.0.iter().enumerate().map(|(nth, finished)| (distance(finished), nth)).collect();
        let count = NEIGHBOURS.min(nearest.len());
        nearest.select_nth_unstable_by(count - 1, |a, b| a.0.total_cmp(&b.0));
        let near: Vec<&Finished> = nearest[..count].iter().map(|(_, nth)| &self.0[*nth]).collect();
        let at = |p: f64, miss: &dyn Fn(&Finished) -> f64| {
            quantile(&sorted(near.iter().map(|finished| miss(finished))), p)
        };
        let familiar = near.iter().filter(|finished| finished.familiar).count() as f64 / count as f64;
        let unlike_training = familiar < FAMILIAR && raw.misfit > MISFIT;
        // Where the flow says "never", its median stays never: the finished curves that did reach such a target are
        // what P10 is for.
        let middle = if raw.reached < HARDLY { 0.0 } else { at(0.5, &|near| near.flow[1]) };
        let wanted = near.iter().map(|finished| finished.features[GAP]).sum::<f64>() / count as f64;
        if raw.reached < HARDLY && raw.features[GAP] < wanted - DEEPER {
            // None of the finished curves wanted so low a loss, so that they say nothing of when it is reached.
            return Moves { flow: [0.0; 3], offset: [0.0; 2], fan: [0.0; 2], unlike_training };
        }
        let doubtful = unlike_training || raw.reached < SELDOM;
        let [low, high] = if doubtful { DOUBTFUL_LEVELS } else { LEVELS };
        Moves {
            flow: [at(low, &|near| near.flow[0]), middle, at(high, &|near| near.flow[2])],
            offset: [at(low, &|near| near.offset[0]), at(high, &|near| near.offset[1])],
            fan: [at(0.1, &|near| near.fan[0]), at(0.9, &|near| near.fan[1])],
            unlike_training,
        }
    }

    /// As numbers for the file of weights.
    pub(crate) fn numbers(&self) -> Vec<f64> {
        let numbers = |finished: &Finished| {
            let familiar = [if finished.familiar { 1.0 } else { 0.0 }];
            let parts: [&[f64]; 5] =
                [&finished.features, &finished.flow, &finished.offset, &finished.fan, &familiar];
            parts.concat()
        };
        self.0.iter().flat_map(numbers).collect()
    }

    /// Of the numbers of a file; none when they are not whole curves.
    pub(crate) fn of_numbers(numbers: &[f64]) -> Option<Self> {
        let (rows, rest) = numbers.as_chunks::<NUMBERS>();
        let finished = |row: &[f64; NUMBERS]| Finished {
            features: std::array::from_fn(|at| row[at]),
            flow: std::array::from_fn(|at| row[FEATURES + at]),
            offset: std::array::from_fn(|at| row[FEATURES + 3 + at]),
            fan: std::array::from_fn(|at| row[FEATURES + 5 + at]),
            familiar: row[NUMBERS - 1] > 0.5,
        };
        (rest.is_empty() && !rows.is_empty()).then(|| Self(rows.iter().map(finished).collect()))
    }
}

impl Finished {
    fn of(task: &Task, past: &Past, raw: &Raw, truth: f64, at: usize) -> Self {
        let losses = raw.losses(at);
        let loss = task.curve.loss(past.now * horizon(at).exp()).ln() - past.level();
        let (flow, offset) = (|p| truth - quantile(&raw.flow, p), |p| truth - quantile(&raw.offset, p));
        Self {
            features: raw.features,
            flow: [flow(0.1), flow(0.5), flow(0.9)],
            offset: [offset(0.1), offset(0.9)],
            fan: [losses[0], losses[2]].map(|bound| (loss - bound) / width(losses, past)),
            familiar: Family::TRAINING.contains(&task.curve.family()),
        }
    }
}

impl Moves {
    /// Data left by curve, ascending: the flow's quantiles moved as the calibration says. For a curve unlike those of the
    /// training P10 and P90 are the wider ones of flow and offset power law.
    pub(crate) fn remaining(&self, raw: &Raw, past: &Past) -> Vec<f64> {
        let mut moves = self.flow;
        if self.unlike_training {
            let low = quantile(&raw.offset, 0.1) + self.offset[0] - quantile(&raw.flow, 0.1);
            let high = quantile(&raw.offset, 0.9) + self.offset[1] - quantile(&raw.flow, 0.9);
            moves = [moves[0].min(low), moves[1], moves[2].max(high)];
        }
        moved(&raw.flow, moves, past)
    }

    /// The fan of the loss, calibrated.
    pub(crate) fn fan(&self, raw: &Raw, past: &Past) -> Vec<FanPoint> {
        let point = |nth: usize| {
            let losses = raw.losses(nth);
            let [low, high] = [0, 2].map(|at| losses[at] + self.fan[at / 2] * width(losses, past));
            let loss = |relative: f64| (past.level() + relative).exp();
            FanPoint {
                data: past.now * horizon(nth).exp(),
                p10: loss(low.min(losses[1])),
                p50: loss(losses[1]),
                p90: loss(high.max(losses[1])),
            }
        };
        (0..HORIZONS).map(point).collect()
    }
}
