//! Dominant resource fairness: max-min on each agent's largest share of any resource.
//!
//! Ghodsi, Zaharia, Hindman, Konwinski, Shenker, Stoica, *Dominant Resource Fairness: Fair Allocation of Multiple
//! Resource Types* (NSDI 2011).

use crate::policy::{Policy, PolicyError};
use crate::round::{Allocation, Round};
use crate::water;

/// DRF over chip types: an agent's bundle is its demand, and all bundles grow together by dominant share over weight.
///
/// \[recon\] Chips of a type that the bundles leave over go to those who still want some of it, by max-min: a team can
/// use one type without the other.
#[derive(Debug, Default)]
pub struct Drf {
    round: usize,
}

/// Whole tasks by progressive filling: again and again the agent with the least dominant share launches one, until no
/// agent's next task fits. `task` is what one task needs per resource, `wanted` how many tasks each agent has.
///
/// With R = (9, 18) and tasks A = (1, 4) and B = (3, 1) that is 3 and 2 tasks.
#[must_use]
pub fn tasks(capacity: &[u64], task: &[Vec<u64>], wanted: &[u64]) -> Vec<u64> {
    let mut left = capacity.to_vec();
    let mut launched = vec![0_u64; task.len()];
    let step = |agent: usize| dominant(&task[agent], capacity);
    loop {
        let fits = |agent: &usize| {
            launched[*agent] < wanted[*agent]
                && task[*agent].iter().any(|need| *need > 0)
                && task[*agent].iter().zip(&left).all(|(need, left)| need <= left)
        };
        let share = |agent: usize| launched[agent] as f64 * step(agent);
        let next = (0..task.len()).filter(fits).min_by(|a, b| share(*a).total_cmp(&share(*b)));
        let Some(agent) = next else { return launched };
        launched[agent] += 1;
        for (left, need) in left.iter_mut().zip(&task[agent]) {
            *left -= need;
        }
    }
}

/// The largest share of any resource that a bundle takes; infinite where it needs what there is not.
fn dominant(bundle: &[u64], capacity: &[u64]) -> f64 {
    let shares = bundle.iter().zip(capacity).filter(|(need, _)| **need > 0);
    shares.map(|(need, capacity)| *need as f64 / *capacity as f64).fold(0.0, f64::max)
}

/// The part of its bundle that each agent gets, 0 to 1, by progressive filling of divisible bundles.
#[must_use]
pub fn parts(capacity: &[u64], bundles: &[Vec<u64>], weights: &[f64]) -> Vec<f64> {
    // At level l an unfrozen agent holds min(1, rate · l) of its bundle.
    let rates: Vec<f64> =
        bundles.iter().zip(weights).map(|(bundle, weight)| weight / dominant(bundle, capacity)).collect();
    let mut parts = vec![0.0; bundles.len()];
    let mut active: Vec<usize> = (0..bundles.len()).filter(|agent| rates[*agent].is_finite()).collect();
    active.retain(|agent| rates[*agent] > 0.0);
    let mut left: Vec<f64> = capacity.iter().map(|chips| *chips as f64).collect();
    while !active.is_empty() {
        let full =
            active.iter().map(|agent| (1.0 - parts[*agent]) / rates[*agent]).fold(f64::INFINITY, f64::min);
        let speed = |resource: usize| -> f64 {
            active.iter().map(|agent| rates[*agent] * bundles[*agent][resource] as f64).sum()
        };
        let speeds: Vec<f64> = (0..left.len()).map(speed).collect();
        let empty = |resource: usize| {
            if speeds[resource] > 0.0 { left[resource].max(0.0) / speeds[resource] } else { f64::INFINITY }
        };
        let step = (0..left.len()).map(empty).fold(full, f64::min);
        for agent in &active {
            parts[*agent] += rates[*agent] * step;
        }
        for (left, speed) in left.iter_mut().zip(&speeds) {
            *left -= speed * step;
        }
        let gone: Vec<bool> =
            left.iter().zip(capacity).map(|(left, capacity)| *left <= 1e-9 * *capacity as f64).collect();
        let before = active.len();
        active.retain(|agent| {
            let stuck = bundles[*agent].iter().zip(&gone).any(|(need, gone)| *need > 0 && *gone);
            !stuck && parts[*agent] < 1.0 - 1e-12
        });
        if active.len() == before {
            // Nothing ended, so the step was lost in rounding: what is left is less than any chip.
            break;
        }
    }
    parts.iter().map(|part| part.min(1.0)).collect()
}

impl Policy for Drf {
    fn allocate(&mut self, round: &Round) -> Result<Allocation, PolicyError> {
        let (first, weights) = (self.round, round.weights());
        self.round += 1;
        let bundles: Vec<Vec<u64>> = round.agents.iter().map(|agent| agent.demand.clone()).collect();
        let parts = parts(&round.supply, &bundles, &weights);
        Ok(round.by_type(|chip_type| {
            let demand = round.demand_for(chip_type);
            let supply = round.supply[chip_type];
            let shares: Vec<f64> =
                demand.iter().zip(&parts).map(|(demand, part)| *demand as f64 * part).collect();
            let mut chips =
                water::round_down(supply.min(shares.iter().sum::<f64>() as u64), &shares, &demand, first);
            let left = supply - chips.iter().sum::<u64>();
            let unmet: Vec<u64> = demand.iter().zip(&chips).map(|(demand, chips)| demand - chips).collect();
            for (chips, more) in chips.iter_mut().zip(water::whole(left, &weights, &unmet, first)) {
                *chips += more;
            }
            chips
        }))
    }
}
