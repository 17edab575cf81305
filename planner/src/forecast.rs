//! What a predictor says of a job: how much data is left, and how the loss goes on.

use std::fmt;

use serde::Serialize;
use thiserror::Error;

use crate::log::LossLog;

/// Which predictor spoke.
#[derive(Clone, Copy, Debug, Eq, PartialEq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Spoke {
    /// Conditional flow matching, calibrated.
    Flow,
    /// The offset power law `c + a s^(−α)`.
    OffsetPower,
    /// The wider of the two, for a curve unlike those of the training.
    Wider,
}

/// What a reader of a forecast should know about it.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Remark {
    /// The newest loss is at the target, or below.
    TargetMet,
    /// Hardly a curve that continues this one reaches the target.
    OutOfReach,
    /// The loss does not fall.
    NotFalling,
    /// The curve is unlike those of the training.
    UnlikeTraining,
    /// From the point of this number (from 1) the data grows in steps of quite another size.
    UnitsOfData(usize),
    /// From the point of this number (from 1) the loss has quite another size.
    UnitsOfLoss(usize),
    /// The flow's weights cannot be used, for this reason, and the offset power law spoke instead.
    WeightsUnusable(String),
}

impl fmt::Display for Remark {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::TargetMet => write!(out, "The newest loss has reached the target already."),
            Self::OutOfReach => write!(
                out,
                "The target is below almost any loss that this curve is expected to reach, however long the job runs."
            ),
            Self::NotFalling => {
                write!(out, "The loss does not fall, so nothing says when it would reach the target.")
            }
            Self::UnlikeTraining => write!(
                out,
                "The curve is unlike those that the predictor was trained on, so the wider of two bands is shown."
            ),
            Self::UnitsOfData(at) => write!(
                out,
                "From point {at} on the data grows in steps of quite another size: are its units mixed up?"
            ),
            Self::UnitsOfLoss(at) => {
                write!(out, "From point {at} on the loss has quite another size: are its units mixed up?")
            }
            Self::WeightsUnusable(why) => write!(
                out,
                "The trained predictor cannot be used ({why}), so the offset power law foresees the loss."
            ),
        }
    }
}

/// How much work a forecast may be.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct Effort {
    /// Curves drawn per job, at least 1.
    pub draws: usize,
    /// Steps of the solver per curve, at least 1; a predictor without a solver ignores them.
    pub steps: usize,
}

impl Effort {
    /// For one job that somebody looks at.
    pub const FULL: Self = Self { draws: 32, steps: 16 };
    /// For many jobs at each tick of a simulation.
    pub const CHEAP: Self = Self { draws: 16, steps: 4 };
}

/// A job to foresee: what it has logged and the loss that it wants to reach.
#[derive(Clone, Copy, Debug)]
pub struct Job<'a> {
    /// What was logged.
    pub log: &'a LossLog,
    /// The loss to reach.
    pub target: f64,
}

/// The band of the loss at one amount of data to come.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct FanPoint {
    /// Data since the job began, in the unit of the log.
    pub data: f64,
    /// One in ten curves is below.
    pub p10: f64,
    /// Half of the curves are below.
    pub p50: f64,
    /// Nine in ten curves are below.
    pub p90: f64,
}

/// How a job goes on.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Forecast {
    /// Data left until the target is reached, one number per drawn curve, ascending and calibrated; infinite where a
    /// curve does not reach it. 0 when it is reached already. Never empty.
    pub remaining: Vec<f64>,
    /// The loss to come, by data.
    pub fan: Vec<FanPoint>,
    /// Which predictor spoke.
    pub spoke: Spoke,
    /// The curve is unlike those of the training, so that the band is the wider one.
    pub unlike_training: bool,
    /// What a reader should know.
    pub remarks: Vec<Remark>,
}

impl Forecast {
    /// Data left with a probability of `p` (0 to 1) to be enough, between the draws by straight lines; infinite when
    /// too few draws reach the target.
    #[must_use]
    pub fn quantile(&self, p: f64) -> f64 {
        let at = p.clamp(0.0, 1.0) * (self.remaining.len() - 1) as f64;
        let (low, part) = (at.floor(), at.fract());
        let from = self.remaining[low as usize];
        if part == 0.0 || from.is_infinite() {
            return from;
        }
        from + (self.remaining[low as usize + 1] - from) * part
    }

    /// The probability (0 to 1) that so much more data is enough: what [`Forecast::quantile`] turns around, so that the
    /// data that is enough with 80 % is said to be enough with 80 %.
    #[must_use]
    pub fn finish_within(&self, data: f64) -> f64 {
        let done = self.remaining.partition_point(|left| *left <= data);
        match (done.checked_sub(1).map(|last| self.remaining[last]), self.remaining.get(done)) {
            (None, _) => 0.0,
            (Some(_), None) => 1.0,
            (Some(below), Some(above)) => {
                let part = if above.is_finite() { (data - below) / (above - below) } else { 0.0 };
                ((done - 1) as f64 + part) / (self.remaining.len() - 1) as f64
            }
        }
    }
}

/// Why there is no forecast.
#[derive(Clone, Debug, Error, PartialEq)]
pub enum ForecastError {
    /// A target that no loss can have.
    #[error("the target loss {0} must be a finite number above 0")]
    Target(f64),
    /// Weights that cannot be used.
    #[error("the predictor's weights cannot be used: {0}")]
    Weights(String),
}

/// Checks a target.
///
/// # Errors
/// A target that is not a finite number above 0.
pub fn check_target(target: f64) -> Result<(), ForecastError> {
    if target.is_finite() && target > 0.0 { Ok(()) } else { Err(ForecastError::Target(target)) }
}

/// Foresees the loss of jobs.
pub trait Predictor: Send + Sync {
    /// What is left of each job; the same jobs, effort and seed give the same answers.
    ///
    /// # Errors
    /// A target that is no loss, or weights that cannot be used.
    fn forecast_all(
        &self,
        jobs: &[Job<'_>],
        effort: Effort,
        seed: u64,
    ) -> Result<Vec<Forecast>, ForecastError>;

    /// What is left of one job until `target`; the same log, target and seed give the same answer.
    ///
    /// # Errors
    /// A target that is no loss, or weights that cannot be used.
    fn forecast(&self, log: &LossLog, target: f64, seed: u64) -> Result<Forecast, ForecastError> {
        let mut forecasts = self.forecast_all(&[Job { log, target }], Effort::FULL, seed)?;
        forecasts.pop().ok_or_else(|| ForecastError::Weights("no answer for the job".to_owned()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn forecast(remaining: Vec<f64>) -> Forecast {
        let (fan, remarks) = (Vec::new(), Vec::new());
        Forecast { remaining, fan, spoke: Spoke::Flow, unlike_training: false, remarks }
    }

    #[test]
    fn chance_and_quantile_are_each_other_turned_around() {
        let forecast = forecast(vec![1.0, 2.0, 2.0, 4.0, 8.0]);
        for p in [0.0, 0.1, 0.25, 0.6, 0.8, 0.95, 1.0] {
            let chance = forecast.finish_within(forecast.quantile(p));
            // A step of the draws is reached as a whole.
            let wanted = if (0.25..0.5).contains(&p) { 0.5 } else { p };
            assert!((chance - wanted).abs() < 1e-12, "{p}: {chance}");
        }
        assert_eq!((forecast.finish_within(0.5), forecast.finish_within(9.0)), (0.0, 1.0));
    }

    #[test]
    fn draws_that_never_reach_the_target_leave_a_chance_below_one() {
        let forecast = forecast(vec![1.0, 2.0, f64::INFINITY]);
        assert_eq!((forecast.finish_within(1e9), forecast.quantile(0.9)), (0.5, f64::INFINITY));
        assert_eq!(Forecast { remaining: vec![f64::INFINITY], ..forecast }.finish_within(1e9), 0.0);
    }
}
