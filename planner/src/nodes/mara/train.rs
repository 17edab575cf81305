//! The whole training, by a seed: predictor, warm start, and rounds of trying, of which the best state is kept.

use candle_core::Result;
use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;

use super::decide::Mara;
use super::imitate::imitate;
use super::network::Network;
use super::ppo::Ppo;
use super::weights::Trained;
use crate::nodes::completion;
use crate::nodes::need::NeedNet;
use crate::nodes::simulation::Setting;

/// How much is trained.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Plan {
    /// Steps of the predictor.
    pub predictor_steps: usize,
    /// Simulations that the teacher is watched in.
    pub watched: usize,
    /// Steps of the warm start.
    pub imitation_steps: usize,
    /// Rounds of trying.
    pub rounds: usize,
    /// Simulations of a round, at least 1.
    pub tries: usize,
    /// Rounds until the policy is measured again.
    pub measured_every: usize,
    /// Simulations that it is measured on; drawn by the training's seed, so none of an evaluation's.
    pub measured_on: usize,
}

impl Default for Plan {
    fn default() -> Self {
        Self {
            predictor_steps: 3_000,
            watched: 30,
            imitation_steps: 800,
            rounds: 12,
            tries: 24,
            measured_every: 3,
            measured_on: 40,
        }
    }
}

/// Hears how far a training is: what it does, how much of that is done, and of how much.
pub type Progress<'a> = dyn FnMut(&'static str, usize, usize) + 'a;

/// Trains at a load of 1; the same seed and plan give the same weights.
///
/// # Errors
/// A network refuses its input, a fault of this program.
pub fn train(seed: u64, plan: &Plan, progress: &mut Progress<'_>) -> Result<Trained> {
    let mut random = ChaCha8Rng::seed_from_u64(seed);
    let predictor = NeedNet::new(&mut random)?;
    let steps = plan.predictor_steps;
    predictor.train(&mut random, steps, &mut |done| progress("predictor", done, steps))?;
    let policy = Network::new(&mut random)?;
    let steps = plan.imitation_steps;
    let amount = [plan.watched, steps];
    imitate(&policy, &predictor, amount, &mut random, &mut |done| progress("warm start", done, steps))?;
    let seeds: Vec<u64> = (0..plan.measured_on).map(|_| random.random()).collect();
    let mut best = (measure(&policy, &predictor, &seeds)?, policy.weights.copied()?);
    let mut ppo = Ppo::new(&policy, &predictor, plan.tries)?;
    for round in 0..plan.rounds {
        ppo.round(round as f64 / plan.rounds as f64, &mut random)?;
        progress("policy", round + 1, plan.rounds);
        if (round + 1) % plan.measured_every == 0 {
            let measured = measure(&policy, &predictor, &seeds)?;
            if measured > best.0 {
                best = (measured, policy.weights.copied()?);
            }
        }
    }
    policy.weights.load(&best.1)?;
    Ok(Trained { predictor, policy })
}

/// The mean part of the jobs in time.
fn measure(policy: &Network, predictor: &NeedNet, seeds: &[u64]) -> Result<f64> {
    let mut sum = 0.0;
    for seed in seeds {
        sum += completion(Setting::default(), *seed, &mut Mara::new(policy, predictor))?;
    }
    Ok(sum / seeds.len().max(1) as f64)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::nodes::mara::weights::Provenance;

    #[test]
    fn the_same_seed_gives_the_same_weights() {
        let plan = Plan {
            predictor_steps: 20,
            watched: 1,
            imitation_steps: 3,
            rounds: 1,
            tries: 1,
            measured_every: 1,
            measured_on: 1,
        };
        let bytes = |seed: u64| {
            let trained = train(seed, &plan, &mut |_, _, _| {}).unwrap();
            trained.to_bytes(&Provenance::new("test", seed, "none")).unwrap()
        };
        let (one, again) = (bytes(3), bytes(3));
        assert!(one == again);
        let (first, _) = Trained::from_bytes(&one).unwrap();
        let (other, _) = Trained::from_bytes(&bytes(4)).unwrap();
        let of = |trained: &Trained| measure(&trained.policy, &trained.predictor, &[9]).unwrap();
        assert_ne!(of(&first), of(&other));
    }
}
