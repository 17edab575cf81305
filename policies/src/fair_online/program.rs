//! The program of one batch: most reward less the price of capacity, like outcomes for like agents.

use crate::linear::Program;
use crate::policy::PolicyError;

const NAME: &str = "fair-online";

/// Below this a pair costs nothing: an interior-point method leaves a little on every row.
const LEAST_COST: f64 = 1e-4;

/// An agent of a batch.
#[derive(Clone, Debug, PartialEq)]
pub struct Member {
    /// Where it stands: agents near each other must fare alike.
    pub features: Vec<f64>,
    /// Reward of each facility, at full assignment.
    pub rewards: Vec<f64>,
    /// Capacity of each facility that it takes at full assignment.
    pub uses: Vec<f64>,
    /// By which its reward is divided before it is compared with others'; 1 compares rewards as they are.
    pub scale: f64,
}

/// A batch and what it may take.
#[derive(Clone, Debug, PartialEq)]
pub struct Batch {
    /// The agents.
    pub members: Vec<Member>,
    /// Capacity left of each facility.
    pub left: Vec<f64>,
    /// `L`: outcomes differ by at most so much per unit of distance; infinite for no such rule.
    pub lipschitz: f64,
    /// An agent is assigned to one facility at most, in all; otherwise to each at most once.
    pub exclusive: bool,
}

/// Two agents whose outcomes differ as much as they may.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct TightPair {
    /// The agent that fares better.
    pub better: usize,
    /// The one that fares worse.
    pub worse: usize,
    /// How far apart they stand.
    pub distance: f64,
    /// What one more unit of difference would add to the batch's objective: the dual of the pair.
    pub cost: f64,
}

/// What fairness costs a batch, pair by pair.
#[derive(Clone, Debug, PartialEq)]
pub struct Certificate {
    /// Objective with the rule.
    pub fair: f64,
    /// Objective without it.
    pub unfair: f64,
    /// Largest amount by which any pair breaks the rule.
    pub violation: f64,
    /// Binding pairs, dearest first.
    pub pairs: Vec<TightPair>,
}

/// A row of the program, and the pair (better, worse) that it is about.
type PairRow = (usize, (usize, usize));

impl Batch {
    fn facilities(&self) -> usize {
        self.left.len()
    }

    /// The most by which outcomes of two agents may differ.
    fn allowed(&self, i: usize, j: usize) -> f64 {
        self.lipschitz * self.distance(i, j)
    }

    /// Euclidean distance of two agents' features.
    #[must_use]
    pub fn distance(&self, i: usize, j: usize) -> f64 {
        let (a, b) = (&self.members[i].features, &self.members[j].features);
        a.iter().zip(b).map(|(a, b)| (a - b) * (a - b)).sum::<f64>().sqrt()
    }

    /// An agent's outcome from its fractions.
    #[must_use]
    pub fn outcome(&self, member: usize, fractions: &[f64]) -> f64 {
        let of = &self.members[member];
        of.rewards.iter().zip(fractions).map(|(reward, part)| reward * part).sum::<f64>() / of.scale
    }

    /// The largest amount by which any pair breaks the rule.
    #[must_use]
    pub fn violation(&self, fractions: &[Vec<f64>]) -> f64 {
        let mut worst = 0.0_f64;
        for i in 0..self.members.len() {
            for j in 0..i {
                let apart = (self.outcome(i, &fractions[i]) - self.outcome(j, &fractions[j])).abs();
                worst = worst.max(apart - self.allowed(i, j));
            }
        }
        worst
    }

    /// The program, and the pairs of its fairness rows with the row of each.
    fn program(&self, prices: &[f64]) -> (Program, Vec<PairRow>) {
        let facilities = self.facilities();
        let mut program = Program::default();
        for member in &self.members {
            for ((reward, price), uses) in member.rewards.iter().zip(prices).zip(&member.uses) {
                program.variable(reward - price * uses, 0.0, 1.0);
            }
        }
        for at in 0..facilities {
            let terms =
                self.members.iter().enumerate().map(|(i, member)| (i * facilities + at, member.uses[at]));
            program.at_most(terms.collect(), self.left[at].max(0.0));
        }
        if self.exclusive {
            for i in 0..self.members.len() {
                program.at_most((0..facilities).map(|at| (i * facilities + at, 1.0)).collect(), 1.0);
            }
        }
        let mut pairs = Vec::new();
        if self.lipschitz.is_finite() {
            for better in 0..self.members.len() {
                for worse in (0..self.members.len()).filter(|worse| *worse != better) {
                    let row = program.at_most(self.difference(better, worse), self.allowed(better, worse));
                    pairs.push((row, (better, worse)));
                }
            }
        }
        (program, pairs)
    }

    /// `u_better − u_worse` as terms.
    fn difference(&self, better: usize, worse: usize) -> Vec<(usize, f64)> {
        let facilities = self.facilities();
        let terms = |i: usize, sign: f64| {
            let member = &self.members[i];
            let each = member.rewards.iter().enumerate();
            each.map(|(at, reward)| (i * facilities + at, sign * reward / member.scale)).collect::<Vec<_>>()
        };
        let mut all = terms(better, 1.0);
        all.extend(terms(worse, -1.0));
        all
    }
}

/// The fractions of each facility that each agent gets. Nothing is a solution, so there always is one.
///
/// # Errors
/// The solver gave up.
pub fn fractions(batch: &Batch, prices: &[f64]) -> Result<Vec<Vec<f64>>, PolicyError> {
    if batch.members.is_empty() {
        return Ok(Vec::new());
    }
    let (program, _) = batch.program(prices);
    let optimum = program.simplex().map_err(|reason| PolicyError::Unsolved { policy: NAME, reason })?;
    Ok(optimum.x.chunks(batch.facilities()).map(<[f64]>::to_vec).collect())
}

/// Which pairs bind, and what each costs, at the given prices.
///
/// # Errors
/// The solver gave up.
pub fn certificate(batch: &Batch, prices: &[f64]) -> Result<Certificate, PolicyError> {
    let failed = |reason| PolicyError::Unsolved { policy: NAME, reason };
    let (program, rows) = batch.program(prices);
    let fair = program.interior().map_err(failed)?;
    let free = Batch { lipschitz: f64::INFINITY, ..batch.clone() };
    let unfair = free.program(prices).0.simplex().map_err(failed)?;
    let parts: Vec<Vec<f64>> = fair.x.chunks(batch.facilities()).map(<[f64]>::to_vec).collect();
    let mut pairs: Vec<TightPair> = rows
        .into_iter()
        .map(|(row, (better, worse))| TightPair {
            better,
            worse,
            distance: batch.distance(better, worse),
            cost: fair.duals[row],
        })
        .filter(|pair| pair.cost > LEAST_COST)
        .collect();
    pairs.sort_by(|a, b| b.cost.total_cmp(&a.cost));
    Ok(Certificate { fair: fair.value, unfair: unfair.value, violation: batch.violation(&parts), pairs })
}
