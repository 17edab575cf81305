//! The setting that the fair allocator is measured in: made-up batches, a bound that knows the future, and a greedy rival.

use rand::SeedableRng;
use rand_chacha::ChaCha8Rng;

use super::duals::{Duals, Update};
use super::program::{Batch, Member, fractions};
use super::rounding::round_dependently;
use crate::linear::Program;
use crate::policy::PolicyError;
use crate::synthetic::normal;

/// What is made and how it is allocated.
#[derive(Clone, Debug, PartialEq)]
pub struct Setting {
    /// `ρ`: capacity of each facility per agent that comes.
    pub rates: Vec<f64>,
    /// `B`: agents of a batch.
    pub batch: usize,
    /// `T`: batches.
    pub batches: usize,
    /// `L`.
    pub lipschitz: f64,
    /// `c` in `η = c/√T`, in units of the largest reward.
    pub step: f64,
    /// How prices follow.
    pub update: Update,
    /// Weight of the max-min regulariser.
    pub subsidy: f64,
    /// The same seed gives the same agents and the same luck.
    pub seed: u64,
}

/// The batches of a setting.
#[derive(Clone, Debug, PartialEq)]
pub struct Course {
    /// Agents by batch.
    pub batches: Vec<Vec<Member>>,
}

/// What came of it.
#[derive(Clone, Debug, PartialEq)]
pub struct Outcome {
    /// Reward of the fractions: what is got on average.
    pub expected: f64,
    /// Reward of the assignments that chance made of them.
    pub realised: f64,
    /// Largest amount by which expected outcomes of a pair broke the rule.
    pub violation: f64,
    /// Capacity left of each facility.
    pub left: Vec<f64>,
    /// Prices after the last batch.
    pub prices: Vec<f64>,
}

/// Slope of the rewards: how much features decide.
const SLOPE: f64 = 2.0;

/// Mean of the rewards' offset: most agents are of little use at most facilities.
const OFFSET: f64 = -0.7;

impl Setting {
    /// m = 3, ρ = (.15, .15, .30), B = 12, T = 100.
    #[must_use]
    pub fn reference(lipschitz: f64, seed: u64) -> Self {
        Self {
            rates: vec![0.15, 0.15, 0.30],
            batch: 12,
            batches: 100,
            lipschitz,
            step: 10.0,
            update: Update::Additive,
            subsidy: 0.0,
            seed,
        }
    }

    /// The agents that come: two standard normal features each; the reward of a facility is a logistic function of them
    /// with a direction of its own.
    #[must_use]
    pub fn course(&self) -> Course {
        let mut random = ChaCha8Rng::seed_from_u64(self.seed);
        let mut drawn = |count: usize| (0..count).map(|_| normal(&mut random)).collect::<Vec<f64>>();
        let facilities: Vec<Vec<f64>> = self.rates.iter().map(|_| drawn(3)).collect();
        let mut member = || {
            let features = drawn(2);
            let reward = |of: &Vec<f64>| {
                let score = SLOPE * (of[0] * features[0] + of[1] * features[1]) + of[2] + OFFSET;
                1.0 / (1.0 + (-score).exp())
            };
            let rewards = facilities.iter().map(reward).collect();
            Member { features, rewards, uses: vec![1.0; facilities.len()], scale: 1.0 }
        };
        let batches = (0..self.batches).map(|_| (0..self.batch).map(|_| member()).collect()).collect();
        Course { batches }
    }

    /// Capacity of each facility over the whole course, in whole agents.
    fn capacity(&self) -> Vec<f64> {
        let agents = (self.batch * self.batches) as f64;
        self.rates.iter().map(|rate| (rate * agents).round()).collect()
    }
}

/// Lets a course pass through dual mirror descent.
///
/// # Errors
/// The solver gave up.
pub fn run(setting: &Setting, course: &Course) -> Result<Outcome, PolicyError> {
    let mut random = ChaCha8Rng::seed_from_u64(setting.seed ^ 0x0fa1_0fa1);
    let step = setting.step / (setting.batches as f64).sqrt();
    let mut duals = Duals::new(setting.update, step, setting.rates.clone(), setting.subsidy);
    let mut outcome = Outcome {
        expected: 0.0,
        realised: 0.0,
        violation: 0.0,
        left: setting.capacity(),
        prices: Vec::new(),
    };
    for members in &course.batches {
        let batch = Batch {
            members: members.clone(),
            left: outcome.left.clone(),
            lipschitz: setting.lipschitz,
            exclusive: true,
        };
        let parts = fractions(&batch, &duals.prices)?;
        outcome.violation = outcome.violation.max(batch.violation(&parts));
        let assigned = round_dependently(&mut random, &parts);
        let mut uses = vec![0.0; outcome.left.len()];
        for (nth, member) in members.iter().enumerate() {
            for (at, reward) in member.rewards.iter().enumerate() {
                outcome.expected += reward * parts[nth][at];
                uses[at] += parts[nth][at] * member.uses[at] / members.len() as f64;
                if assigned[nth][at] {
                    outcome.realised += reward;
                    outcome.left[at] -= member.uses[at];
                }
            }
        }
        duals.learn(&uses);
    }
    outcome.prices = duals.prices;
    Ok(outcome)
}

/// The most reward that somebody who knows all batches could expect: the fluid program, with the Lipschitz rule within
/// each batch where `lipschitz` is finite.
///
/// # Errors
/// The solver gave up.
pub fn bound(setting: &Setting, course: &Course, lipschitz: f64) -> Result<f64, PolicyError> {
    let facilities = setting.rates.len();
    let mut program = Program::default();
    let mut columns: Vec<Vec<(usize, f64)>> = vec![Vec::new(); facilities];
    for members in &course.batches {
        let mut parts: Vec<Vec<(usize, f64)>> = Vec::new();
        for member in members {
            let mut terms = Vec::new();
            for ((column, reward), uses) in columns.iter_mut().zip(&member.rewards).zip(&member.uses) {
                let part = program.variable(*reward, 0.0, 1.0);
                column.push((part, *uses));
                terms.push((part, 1.0));
            }
            program.at_most(terms.clone(), 1.0);
            parts.push(terms);
        }
        if lipschitz.is_finite() {
            alike(&mut program, members, &parts, lipschitz);
        }
    }
    for (terms, capacity) in columns.into_iter().zip(setting.capacity()) {
        program.at_most(terms, capacity);
    }
    let best =
        program.interior().map_err(|reason| PolicyError::Unsolved { policy: "fair-online", reason })?;
    Ok(best.value)
}

/// The Lipschitz rows of one batch.
fn alike(program: &mut Program, members: &[Member], parts: &[Vec<(usize, f64)>], lipschitz: f64) {
    let batch = Batch { members: members.to_vec(), left: Vec::new(), lipschitz, exclusive: true };
    let outcome = |nth: usize, sign: f64| {
        parts[nth].iter().zip(&members[nth].rewards).map(move |((part, _), reward)| (*part, sign * reward))
    };
    for i in 0..members.len() {
        for j in (0..members.len()).filter(|j| *j != i) {
            let terms = outcome(i, 1.0).chain(outcome(j, -1.0)).collect();
            program.at_most(terms, lipschitz * batch.distance(i, j));
        }
    }
}

/// Everybody takes the best facility that has room, in order of arrival.
#[must_use]
pub fn greedy(setting: &Setting, course: &Course) -> f64 {
    let mut left = setting.capacity();
    let mut sum = 0.0;
    for member in course.batches.iter().flatten() {
        let open = (0..left.len()).filter(|at| left[*at] >= member.uses[*at]);
        if let Some(best) = open.max_by(|a, b| member.rewards[*a].total_cmp(&member.rewards[*b])) {
            left[best] -= member.uses[best];
            sum += member.rewards[best];
        }
    }
    sum
}
