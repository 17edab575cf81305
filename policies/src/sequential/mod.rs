//! Agents that arrive one after another, with demand for several resources and an unknown future.
//!
//! After *Trading Utility for Dynamic Fairness in Multiple Resource Division with Sequential Demand* (arXiv 2606.10472).
//! \[paper\]: the setting, the properties asked for (sharing incentive, envy-freeness, dynamic Pareto optimality).
//! \[recon\]: the numbers of the model below and how the rules are run on rounds of chips.
//!
//! `n` agents are known in number; `m` resources have capacity 1. Agent `k` arrives at step `k` with a demand whose largest
//! entry is 1. Nobody holds what is no use to it, so an agent's state is one number: it holds `x · demand`. What was given
//! is not taken back.

pub mod learned;
mod one_by_one;
mod rules;
mod score;

pub use one_by_one::OneByOne;
pub use rules::{CautiousLp, DynamicDrf, EqualSplit, Greedy, HindsightDrf, hindsight_drf};
pub use score::{BASELINES, Baseline, RuleFor, Score, misreport_regret, score};

use crate::policy::PolicyError;

/// One instance: what each agent needs per unit, in order of arrival, and how much of it at most.
#[derive(Clone, Debug, PartialEq)]
pub struct Instance {
    /// By agent, then resource; the largest entry of each is 1.
    pub demands: Vec<Vec<f64>>,
    /// The most that each agent can use, as a share of its dominant resource; infinite without an end.
    pub caps: Vec<f64>,
}

/// What a rule sees when an agent arrives.
#[derive(Clone, Copy, Debug)]
pub struct Seen<'a> {
    /// Agents in all, those to come included.
    pub agents: usize,
    /// Demands of those that arrived, the newcomer last.
    pub demands: &'a [Vec<f64>],
    /// Caps of those that arrived.
    pub caps: &'a [f64],
    /// What each holds; the newcomer nothing.
    pub held: &'a [f64],
}

/// How the allocation goes on when an agent arrives.
pub trait Rule {
    /// What each holds now: nobody less than before.
    ///
    /// # Errors
    /// A program has no solution: a fault of the rule.
    fn arrive(&self, seen: Seen<'_>) -> Result<Vec<f64>, PolicyError>;
}

/// How a rule did on an instance.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Figures {
    /// Mean over steps of `Σ x`.
    pub utility: f64,
    /// Worst envy `max(e_ij x_j − x_i)` over all steps and pairs; 0 without any.
    pub envy: f64,
    /// Worst of `1/n − x_i` over all steps: the sharing incentive is lost by so much.
    pub sharing_loss: f64,
    /// Worst of `k/n − max_r Σ x_i d_ir`: a step could have given more without touching the part of those to come.
    pub pareto_loss: f64,
}

/// Lets all agents arrive; answers what each holds after each step.
///
/// # Errors
/// As [`Rule::arrive`].
pub fn roll_out(instance: &Instance, rule: &dyn Rule) -> Result<Vec<Vec<f64>>, PolicyError> {
    let agents = instance.demands.len();
    let mut steps: Vec<Vec<f64>> = Vec::with_capacity(agents);
    for arrived in 1..=agents {
        let mut held = steps.last().cloned().unwrap_or_default();
        held.push(0.0);
        let (demands, caps) = (&instance.demands[..arrived], &instance.caps[..arrived]);
        steps.push(rule.arrive(Seen { agents, demands, caps, held: &held })?);
    }
    Ok(steps)
}

/// How much of its own unit agent `i` would have from what `j` holds per unit of `j`: `min_r d_jr / d_ir`.
#[must_use]
pub fn exchange(i: &[f64], j: &[f64]) -> f64 {
    i.iter()
        .zip(j)
        .filter(|(need, _)| **need > 0.0)
        .map(|(need, has)| has / need)
        .fold(f64::INFINITY, f64::min)
}

/// What all hold of each resource.
pub(crate) fn used(demands: &[Vec<f64>], held: &[f64]) -> Vec<f64> {
    let resources = demands.first().map_or(0, Vec::len);
    (0..resources).map(|at| demands.iter().zip(held).map(|(demand, x)| demand[at] * x).sum()).collect()
}

/// Measures a roll-out.
#[must_use]
pub fn figures(instance: &Instance, steps: &[Vec<f64>]) -> Figures {
    let n = instance.demands.len() as f64;
    let mut figures =
        Figures { sharing_loss: f64::NEG_INFINITY, pareto_loss: f64::NEG_INFINITY, ..Figures::default() };
    for held in steps {
        let demands = &instance.demands[..held.len()];
        figures.utility += held.iter().sum::<f64>() / n;
        for (i, x) in held.iter().enumerate() {
            figures.sharing_loss = figures.sharing_loss.max(1.0 / n - x);
            for (j, other) in held.iter().enumerate().filter(|(j, _)| *j != i) {
                figures.envy = figures.envy.max(exchange(&demands[i], &demands[j]) * other - x);
            }
        }
        let fullest = used(demands, held).into_iter().fold(0.0, f64::max);
        figures.pareto_loss = figures.pareto_loss.max(held.len() as f64 / n - fullest);
    }
    figures.sharing_loss = figures.sharing_loss.max(0.0);
    figures.pareto_loss = figures.pareto_loss.max(0.0);
    figures
}

/// One instance: demand log-normal with deviation `sigma`, no caps.
pub(crate) fn draw(
    random: &mut rand_chacha::ChaCha8Rng,
    agents: usize,
    resources: usize,
    sigma: f64,
) -> Instance {
    let mut demand = || {
        let raw: Vec<f64> =
            (0..resources).map(|_| (sigma * crate::synthetic::normal(random)).exp()).collect();
        let most = raw.iter().copied().fold(0.0, f64::max);
        raw.iter().map(|need| need / most).collect::<Vec<f64>>()
    };
    Instance { demands: (0..agents).map(|_| demand()).collect(), caps: vec![f64::INFINITY; agents] }
}

/// The held-out instances of the reference: demand log-normal with deviation `sigma`, no caps.
#[must_use]
pub fn instances(count: usize, agents: usize, resources: usize, sigma: f64, seed: u64) -> Vec<Instance> {
    use rand::SeedableRng;
    let mut random = rand_chacha::ChaCha8Rng::seed_from_u64(seed);
    (0..count).map(|_| draw(&mut random, agents, resources, sigma)).collect()
}
