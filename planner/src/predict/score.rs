//! How well predictors foresee tasks whose end is known.

use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;
use serde::Serialize;

use super::least_squares::LeastSquares;
use crate::curves::Task;
use crate::forecast::{Effort, Forecast, ForecastError, Job, Predictor};

/// The figures of a predictor on some tasks.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize)]
pub struct Score {
    /// Median of |ln(foreseen / true data left)|, by the median of the foreseen.
    pub error: f64,
    /// Part of the tasks (0 to 1) whose true data left lies between the foreseen P10 and P90.
    pub coverage: f64,
    /// Part of them above P90, and so later than foreseen.
    pub later: f64,
    /// Part of them that were flagged as unlike the training.
    pub flagged: f64,
    /// Mean squared difference of the foreseen probability to finish by a deadline from what happens (0 or 1); the
    /// deadline is a third of the need to three times it.
    pub brier: f64,
}

/// Median, as numbers go; the upper of the two middle ones.
pub(crate) fn median(mut numbers: Vec<f64>) -> f64 {
    numbers.sort_by(f64::total_cmp);
    numbers.get(numbers.len() / 2).copied().unwrap_or(f64::NAN)
}

/// The error of one number foreseen, at least the log's last step: a target not yet met takes that.
fn error(task: &Task, foreseen: f64) -> f64 {
    let points = task.log.points();
    let step = task.log.last().data - points[points.len() - 2].data;
    (foreseen.max(step) / task.remaining).ln().abs()
}

/// Scores a predictor; the seed draws its curves and the deadlines.
///
/// # Errors
/// The predictor's own.
pub fn score(
    predictor: &dyn Predictor,
    tasks: &[Task],
    effort: Effort,
    seed: u64,
) -> Result<Score, ForecastError> {
    let jobs: Vec<Job<'_>> = tasks.iter().map(|task| Job { log: &task.log, target: task.target }).collect();
    let forecasts = predictor.forecast_all(&jobs, effort, seed)?;
    let mut random = ChaCha8Rng::seed_from_u64(seed);
    let squares = tasks.iter().zip(&forecasts).map(|(task, forecast)| {
        let deadline = task.remaining * 3.0_f64.powf(random.random_range(-1.0..1.0));
        let happens = if task.remaining <= deadline { 1.0 } else { 0.0 };
        (forecast.finish_within(deadline) - happens).powi(2)
    });
    let brier = squares.sum::<f64>() / tasks.len() as f64;
    let share = |holds: &dyn Fn(&Task, &Forecast) -> bool| {
        let all = tasks.iter().zip(&forecasts).filter(|(task, forecast)| holds(task, forecast));
        all.count() as f64 / tasks.len() as f64
    };
    Ok(Score {
        error: median(
            tasks.iter().zip(&forecasts).map(|(task, said)| error(task, said.quantile(0.5))).collect(),
        ),
        coverage: share(&|task, said| (said.quantile(0.1)..=said.quantile(0.9)).contains(&task.remaining)),
        later: share(&|task, said| task.remaining > said.quantile(0.9)),
        flagged: share(&|_, said| said.unlike_training),
        brier,
    })
}

/// The median error of LARA's weighted least squares, which gives one number and no band.
#[must_use]
pub fn least_squares_error(tasks: &[Task]) -> f64 {
    median(tasks.iter().map(|task| error(task, LeastSquares::of(&task.log).remaining(task.target))).collect())
}
