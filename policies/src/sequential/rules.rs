//! The rules without learning.

use super::{Rule, Seen, exchange, used};
use crate::linear::Program;
use crate::policy::PolicyError;

/// Halvings of an interval of length 1: finer than a float tells apart.
const HALVINGS: usize = 54;

/// DYNAMIC DRF: the largest M with `Σ max(M, x_i) d_ir ≤ k/n` for every resource; everybody is lifted to M.
#[derive(Debug, Default)]
pub struct DynamicDrf;

/// CAUTIOUS LP: the most `Σ x` with sharing incentive and without envy, such that every newcomer can still be given what
/// keeps it from envy: `Σ_i x_i d_ir + (n − k) x_j d_jr ≤ 1` for every resource and everybody there.
#[derive(Debug, Default)]
pub struct CautiousLp;

/// GREEDY: the most `Σ x` within `k/n` of each resource, whoever gets it.
#[derive(Debug, Default)]
pub struct Greedy;

/// Everybody gets 1/n of the resource it needs most, and nothing more.
#[derive(Debug, Default)]
pub struct EqualSplit;

/// DRF by somebody who knows the future: each agent gets its final share as it arrives.
#[derive(Clone, Debug, Default)]
pub struct HindsightDrf {
    shares: Vec<f64>,
}

/// The largest level in 0 to 1 for which `fits` holds; it holds below any level for which it holds.
fn highest(fits: impl Fn(f64) -> bool) -> f64 {
    if fits(1.0) {
        return 1.0;
    }
    let (mut low, mut high) = (0.0, 1.0);
    for _ in 0..HALVINGS {
        let middle = 0.5 * (low + high);
        if fits(middle) { low = middle } else { high = middle }
    }
    low
}

fn lifted(held: &[f64], caps: &[f64], level: f64) -> Vec<f64> {
    held.iter().zip(caps).map(|(x, cap)| x.max(level.min(*cap))).collect()
}

impl Rule for DynamicDrf {
    fn arrive(&self, seen: Seen<'_>) -> Result<Vec<f64>, PolicyError> {
        let budget = seen.demands.len() as f64 / seen.agents as f64;
        let fits = |level: f64| {
            used(seen.demands, &lifted(seen.held, seen.caps, level))
                .iter()
                .all(|used| *used <= budget + 1e-12)
        };
        Ok(lifted(seen.held, seen.caps, highest(fits)))
    }
}

/// The final shares of DRF when all agents are there: progressive filling, so that an agent goes on growing as long as
/// none of its resources is used up.
#[must_use]
pub fn hindsight_drf(demands: &[Vec<f64>], caps: &[f64]) -> Vec<f64> {
    let mut shares = vec![0.0; demands.len()];
    let mut frozen = vec![false; demands.len()];
    while frozen.iter().any(|frozen| !frozen) {
        let grown = |level: f64| -> Vec<f64> {
            let each = shares.iter().zip(&frozen).zip(caps);
            each.map(
                |((share, frozen), cap): ((&f64, &bool), &f64)| {
                    if *frozen { *share } else { level.min(*cap) }
                },
            )
            .collect()
        };
        let level = highest(|level| used(demands, &grown(level)).iter().all(|used| *used <= 1.0));
        shares = grown(level);
        let full: Vec<bool> = used(demands, &shares).iter().map(|used| *used > 1.0 - 1e-9).collect();
        for (agent, demand) in demands.iter().enumerate() {
            let stuck = demand.iter().zip(&full).any(|(need, full)| *need > 0.0 && *full);
            frozen[agent] |= stuck || shares[agent] >= caps[agent] || level >= 1.0;
        }
    }
    shares
}

impl HindsightDrf {
    /// Looks at all agents of an instance.
    #[must_use]
    pub fn of(demands: &[Vec<f64>], caps: &[f64]) -> Self {
        Self { shares: hindsight_drf(demands, caps) }
    }
}

impl Rule for HindsightDrf {
    fn arrive(&self, seen: Seen<'_>) -> Result<Vec<f64>, PolicyError> {
        Ok(self.shares[..seen.demands.len()].to_vec())
    }
}

impl Rule for EqualSplit {
    fn arrive(&self, seen: Seen<'_>) -> Result<Vec<f64>, PolicyError> {
        Ok(lifted(seen.held, seen.caps, 1.0 / seen.agents as f64))
    }
}

impl Rule for Greedy {
    fn arrive(&self, seen: Seen<'_>) -> Result<Vec<f64>, PolicyError> {
        let budget = seen.demands.len() as f64 / seen.agents as f64;
        let mut program = Program::default();
        for (x, cap) in seen.held.iter().zip(seen.caps) {
            program.variable(1.0, *x, cap.max(*x));
        }
        for at in 0..seen.demands[0].len() {
            let terms = seen.demands.iter().enumerate().map(|(agent, demand)| (agent, demand[at]));
            // What was given before fits but for rounding.
            program.at_most(terms.collect(), budget.max(used(seen.demands, seen.held)[at]));
        }
        solved(&program, "greedy")
    }
}

impl Rule for CautiousLp {
    fn arrive(&self, seen: Seen<'_>) -> Result<Vec<f64>, PolicyError> {
        let mut held = seen.held.to_vec();
        let mut sated = vec![false; held.len()];
        loop {
            let before = sated.clone();
            for (i, sated) in sated.iter_mut().enumerate() {
                *sated |= must_be_sated(seen, &held, i);
            }
            held = solved(&cautious(seen, &held, &sated), "cautious-lp")?;
            for ((sated, x), cap) in sated.iter_mut().zip(&held).zip(seen.caps) {
                *sated |= *x >= cap - ROUNDING;
            }
            // Whoever has all it can use by now lets the others grow past it.
            if sated == before {
                return Ok(held);
            }
        }
    }
}

/// By how much a solver may miss a row.
const ROUNDING: f64 = 1e-9;

/// Whether an agent must be given all it can use: that is no more than its equal part, or somebody holds so much already
/// that nothing less keeps it from envy.
fn must_be_sated(seen: Seen<'_>, held: &[f64], i: usize) -> bool {
    let envied = |j: usize| exchange(&seen.demands[i], &seen.demands[j]) * held[j];
    let cap = seen.caps[i] - ROUNDING;
    cap <= 1.0 / seen.agents as f64 || (0..held.len()).any(|j| j != i && envied(j) >= cap)
}

/// The program of CAUTIOUS LP. Who is sated has all it can use and envies nobody, so it holds no other back; without caps
/// nobody ever is.
fn cautious(seen: Seen<'_>, held: &[f64], sated: &[bool]) -> Program {
    let (agents, arrived) = (seen.agents as f64, seen.demands.len());
    let mut program = Program::default();
    let least: Vec<f64> = (0..arrived)
        .map(|i| if sated[i] { seen.caps[i].max(held[i]) } else { held[i].max(1.0 / agents) })
        .collect();
    for (least, cap) in least.iter().zip(seen.caps) {
        program.variable(1.0, *least, cap.max(*least));
    }
    // A row that rounding broke before must not be broken more, and may stay as it is.
    let mut at_most = |terms: Vec<(usize, f64)>, most: f64| {
        let now: f64 = terms.iter().map(|(agent, factor)| factor * least[*agent]).sum();
        program.at_most(terms, if now < most + 1e-6 { most.max(now) + 1e-12 } else { most });
    };
    for i in (0..arrived).filter(|i| !sated[*i]) {
        for j in (0..arrived).filter(|j| *j != i) {
            let rate = exchange(&seen.demands[i], &seen.demands[j]);
            if rate > 0.0 {
                at_most(vec![(j, rate), (i, -1.0)], 0.0);
            }
        }
    }
    let to_come = (seen.agents - arrived) as f64;
    for at in 0..seen.demands[0].len() {
        for j in 0..arrived {
            let terms =
                seen.demands.iter().enumerate().map(|(agent, demand)| {
                    (agent, demand[at] * if agent == j { 1.0 + to_come } else { 1.0 })
                });
            at_most(terms.collect(), 1.0);
        }
    }
    program
}

fn solved(program: &Program, policy: &'static str) -> Result<Vec<f64>, PolicyError> {
    let optimum = program.simplex().map_err(|reason| PolicyError::Unsolved { policy, reason })?;
    Ok(optimum.x)
}
