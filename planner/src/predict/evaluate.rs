//! The comparison that docs/PLANNER.md shows: predictors on fresh curves of each family, seed by seed.

use rand::SeedableRng;
use rand_chacha::ChaCha8Rng;

use super::score::{Score, least_squares_error, score};
use super::{FlowPredictor, OffsetPower};
use crate::curves::{Family, Task};
use crate::forecast::{Effort, ForecastError};

/// What the predictors score on the curves of one name and seed.
#[derive(Clone, Debug, PartialEq)]
pub struct Scores {
    /// A family, or the mixture of those that were trained on.
    pub name: &'static str,
    /// The flow.
    pub flow: Score,
    /// The offset power law.
    pub offset: Score,
    /// Median error of weighted least squares, as in [`Score::error`].
    pub least_squares: f64,
}

/// A figure over several seeds.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Figure {
    /// Its mean.
    pub mean: f64,
    /// Half of the 95 % confidence interval of that mean (Student's t).
    pub interval: f64,
}

/// The figures of one name over several seeds.
#[derive(Clone, Debug, PartialEq)]
pub struct Row {
    /// A family, or the mixture.
    pub name: &'static str,
    /// Median error of weighted least squares.
    pub least_squares: Figure,
    /// Median error of the offset power law.
    pub offset: Figure,
    /// Median error of the flow.
    pub flow: Figure,
    /// The flow's error as a part of that of weighted least squares.
    pub ratio: Figure,
    /// Part of the true needs within the flow's P10 to P90.
    pub coverage: Figure,
    /// Part of them above P90.
    pub later: Figure,
    /// Part of the curves flagged as unlike the training.
    pub flagged: Figure,
    /// Brier score of the probability to finish by a deadline.
    pub brier: Figure,
}

impl Row {
    /// All figures, in the order of the fields.
    #[must_use]
    pub fn figures(&self) -> [Figure; 8] {
        [
            self.least_squares,
            self.offset,
            self.flow,
            self.ratio,
            self.coverage,
            self.later,
            self.flagged,
            self.brier,
        ]
    }
}

/// Name of the curves of all training families together.
pub const MIXTURE: &str = "mixture of the training";

/// Scores predictors on the curves of one seed: `tasks` of each family, and as many of the mixture.
///
/// # Errors
/// The predictor's own.
pub fn one_seed(predictor: &FlowPredictor, tasks: usize, seed: u64) -> Result<Vec<Scores>, ForecastError> {
    let scores = |name, tasks: &[Task]| {
        Ok(Scores {
            name,
            flow: score(predictor, tasks, Effort::FULL, seed)?,
            offset: score(&OffsetPower, tasks, Effort::FULL, seed)?,
            least_squares: least_squares_error(tasks),
        })
    };
    let mut random = ChaCha8Rng::seed_from_u64(seed);
    let mixture: Vec<Task> = (0..tasks)
        .map(|nth| Task::draw(Family::TRAINING[nth % Family::TRAINING.len()], &mut random))
        .collect();
    let mut all = vec![scores(MIXTURE, &mixture)?];
    for family in Family::ALL {
        let tasks: Vec<Task> = (0..tasks).map(|_| Task::draw(family, &mut random)).collect();
        all.push(scores(family.name(), &tasks)?);
    }
    Ok(all)
}

/// Means and intervals over the seeds; each has the same names in the same order.
#[must_use]
pub fn summary(seeds: &[Vec<Scores>]) -> Vec<Row> {
    let names = seeds.first().map_or(0, Vec::len);
    let row = |nth: usize| {
        let figure = |value: &dyn Fn(&Scores) -> f64| {
            Figure::of(&seeds.iter().map(|seed| value(&seed[nth])).collect::<Vec<_>>())
        };
        Row {
            name: seeds[0][nth].name,
            least_squares: figure(&|scores| scores.least_squares),
            offset: figure(&|scores| scores.offset.error),
            flow: figure(&|scores| scores.flow.error),
            ratio: figure(&|scores| scores.flow.error / scores.least_squares),
            coverage: figure(&|scores| scores.flow.coverage),
            later: figure(&|scores| scores.flow.later),
            flagged: figure(&|scores| scores.flow.flagged),
            brier: figure(&|scores| scores.flow.brier),
        }
    };
    (0..names).map(row).collect()
}

/// Student's t for a 95 % interval by degrees of freedom, from 1; beyond the list the normal distribution's.
const STUDENT: [f64; 15] = [
    12.706, 4.303, 3.182, 2.776, 2.571, 2.447, 2.365, 2.306, 2.262, 2.228, 2.201, 2.179, 2.160, 2.145, 2.131,
];

impl Figure {
    /// Of one value per seed.
    #[must_use]
    pub fn of(values: &[f64]) -> Self {
        let count = values.len() as f64;
        let mean = values.iter().sum::<f64>() / count;
        let variance = values.iter().map(|value| (value - mean).powi(2)).sum::<f64>() / (count - 1.0);
        let student = values.len().checked_sub(2).and_then(|at| STUDENT.get(at)).copied().unwrap_or(1.96);
        Self { mean, interval: student * (variance / count).sqrt() }
    }
}
