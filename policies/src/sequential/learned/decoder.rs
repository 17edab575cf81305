//! From weights to an allocation that wastes nothing: everybody grows by its weight until a resource's budget is used.

use super::super::used;
use super::network::sigmoid;

/// Room below this is none.
const FULL: f64 = 1e-12;

/// `ln(1 + e^x)`: a weight above 0 from any score.
pub(super) fn softplus(score: f64) -> f64 {
    if score > 30.0 { score } else { score.exp().ln_1p() }
}

/// The slope of [`softplus`].
pub(super) fn softplus_slope(score: f64) -> f64 {
    sigmoid(score)
}

/// What a newcomer gets at first: `1/n` or all it can use; where resources were given ahead of its arrival no more than
/// is left, and then the resource that stops it.
pub(super) fn first_share(
    demand: &[f64],
    used: &[f64],
    cap: f64,
    agents: f64,
    elastic: bool,
) -> (f64, Option<usize>) {
    let mut share = (cap.min(1.0 / agents), None);
    if elastic {
        for (at, need) in demand.iter().enumerate().filter(|(_, need)| **need > 0.0) {
            let left = (1.0 - used[at]).max(0.0) / need;
            if left < share.0 {
                share = (left, Some(at));
            }
        }
    }
    share
}

/// The first stretch of growth: how far, and the resource that ended it; none where an agent's cap did.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(super) struct Growth {
    pub alpha: f64,
    pub ended_by: Option<usize>,
}

/// Lets everybody grow by its weight within `budget` of each resource, until nobody can. Who reaches its cap, or needs a
/// resource that is used up, stays; the others go on.
pub(super) fn grow(
    held: &mut [f64],
    weights: &[f64],
    demands: &[Vec<f64>],
    caps: &[f64],
    budget: f64,
) -> Growth {
    let mut first = None;
    let mut used = used(demands, held);
    loop {
        let grows: Vec<bool> = demands
            .iter()
            .zip(held.iter().zip(caps))
            .map(|(demand, (x, cap))| {
                cap - x > FULL
                    && demand.iter().zip(&used).all(|(need, used)| *need <= 0.0 || budget - used > FULL)
            })
            .collect();
        if !grows.contains(&true) {
            return first.unwrap_or_default();
        }
        let growing = || (0..held.len()).filter(|agent| grows[*agent]);
        let mut step = Growth { alpha: f64::INFINITY, ended_by: None };
        for agent in growing() {
            step.alpha = step.alpha.min((caps[agent] - held[agent]) / weights[agent]);
        }
        let speeds: Vec<f64> = (0..used.len())
            .map(|at| growing().map(|agent| weights[agent] * demands[agent][at]).sum())
            .collect();
        for (at, speed) in speeds.iter().enumerate().filter(|(_, speed)| **speed > 0.0) {
            let alpha = (budget - used[at]) / speed;
            if alpha < step.alpha {
                step = Growth { alpha, ended_by: Some(at) };
            }
        }
        for agent in (0..held.len()).filter(|agent| grows[*agent]) {
            held[agent] += step.alpha * weights[agent];
            if caps[agent] - held[agent] <= FULL {
                held[agent] = caps[agent];
            }
        }
        for (at, speed) in speeds.iter().enumerate() {
            used[at] = if step.ended_by == Some(at) { budget } else { used[at] + step.alpha * speed };
        }
        first.get_or_insert(step);
    }
}
