//! How rules do on many instances: their figures, and what a liar gains.

use rand::SeedableRng;
use rand_chacha::ChaCha8Rng;

use super::{
    CautiousLp, DynamicDrf, EqualSplit, Greedy, HindsightDrf, Instance, Rule, draw, exchange, figures,
    roll_out,
};
use crate::policy::PolicyError;
use crate::synthetic::normal;

/// Random lies that are tried per agent, and changes of the best lie so far.
const LIES: (usize, usize) = (20, 25);

/// How far a change of a lie goes, as a deviation of the logarithm.
const CHANGE: f64 = 0.3;

/// The figures of a rule over instances.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Score {
    /// Mean over instances and steps of `Σ x`.
    pub utility: f64,
    /// Mean over instances of the worst envy of any step.
    pub envy: f64,
    /// Mean over instances of what somebody lacks of `1/n` at worst.
    pub sharing_loss: f64,
    /// The same of the worst instance.
    pub most_sharing_loss: f64,
    /// What a step left unused of `k/n` in the worst instance.
    pub pareto_loss: f64,
}

/// A rule for an instance; only one that knows the future looks at it.
pub type RuleFor<'a> = dyn Fn(&Instance) -> Box<dyn Rule> + 'a;

/// A rule without learning.
#[derive(Clone, Copy, Debug)]
pub struct Baseline {
    /// Its name for people.
    pub title: &'static str,
    /// Makes it.
    pub rule: fn(&Instance) -> Box<dyn Rule>,
}

/// The rules without learning that learned ones are compared with.
pub const BASELINES: &[Baseline] = &[
    Baseline { title: "Dynamic DRF", rule: |_| Box::new(DynamicDrf) },
    Baseline { title: "Cautious LP", rule: |_| Box::new(CautiousLp) },
    Baseline { title: "Greedy", rule: |_| Box::new(Greedy) },
    Baseline {
        title: "Hindsight DRF",
        rule: |instance| Box::new(HindsightDrf::of(&instance.demands, &instance.caps)),
    },
    Baseline { title: "Equal split", rule: |_| Box::new(EqualSplit) },
];

/// The figures of a rule on instances.
///
/// # Errors
/// As [`Rule::arrive`].
pub fn score(instances: &[Instance], rule: &RuleFor<'_>) -> Result<Score, PolicyError> {
    let mut score = Score::default();
    let part = 1.0 / instances.len() as f64;
    for instance in instances {
        let of = figures(instance, &roll_out(instance, rule(instance).as_ref())?);
        score.utility += of.utility * part;
        score.envy += of.envy * part;
        score.sharing_loss += of.sharing_loss * part;
        score.most_sharing_loss = score.most_sharing_loss.max(of.sharing_loss);
        score.pareto_loss = score.pareto_loss.max(of.pareto_loss);
    }
    Ok(score)
}

/// What the best liar gains, as a mean over instances: the most that any agent has more of in the end, in units of its
/// true demand, if it reports another one. 20 random lies and 25 changes of the best are tried for each agent, so this is
/// a lower bound.
///
/// # Errors
/// As [`Rule::arrive`].
pub fn misreport_regret(instances: &[Instance], rule: &RuleFor<'_>, seed: u64) -> Result<f64, PolicyError> {
    let mut random = ChaCha8Rng::seed_from_u64(seed);
    let mut sum = 0.0;
    for instance in instances {
        let mut most = 0.0_f64;
        for agent in 0..instance.demands.len() {
            most = most.max(best_lie(instance, agent, rule, &mut random)?);
        }
        sum += most;
    }
    Ok(sum / instances.len() as f64)
}

fn best_lie(
    instance: &Instance,
    agent: usize,
    rule: &RuleFor<'_>,
    random: &mut ChaCha8Rng,
) -> Result<f64, PolicyError> {
    let truth = &instance.demands[agent];
    let useful = |said: Vec<f64>| -> Result<f64, PolicyError> {
        let use_of_unit = exchange(truth, &said);
        let mut lied = instance.clone();
        lied.demands[agent] = said;
        let steps = roll_out(&lied, rule(&lied).as_ref())?;
        Ok(steps.last().map_or(0.0, |held| held[agent] * use_of_unit))
    };
    let honest = useful(truth.clone())?;
    let mut best = (honest, truth.clone());
    for nth in 0..LIES.0 + LIES.1 {
        let said = if nth < LIES.0 {
            draw(random, 1, truth.len(), 1.2).demands.remove(0)
        } else {
            let moved: Vec<f64> = best.1.iter().map(|need| need * (CHANGE * normal(random)).exp()).collect();
            let most = moved.iter().copied().fold(f64::MIN_POSITIVE, f64::max);
            moved.iter().map(|need| need / most).collect()
        };
        let got = useful(said.clone())?;
        if got > best.0 {
            best = (got, said);
        }
    }
    Ok(best.0 - honest)
}
