//! What a predictor says of a job: how much data is left, and how the loss goes on.

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
}

impl Forecast {
    /// Data left with a probability of `p` (0 to 1) to be enough, between the draws by straight lines; infinite when
    /// too few draws reach the target.
    #[must_use]
    pub fn quantile(&self, p: f64) -> f64 {
        let at = p.clamp(0.0, 1.0) * (self.remaining.len() - 1) as f64;
        let (low, part) = (at.floor(), at.fract());
        let from = self.remaining[low as usize];
        if part == 0.0 {
            return from;
        }
        from + (self.remaining[low as usize + 1] - from) * part
    }

    /// The probability (0 to 1) that so much more data is enough.
    #[must_use]
    pub fn finish_within(&self, data: f64) -> f64 {
        let done = self.remaining.iter().filter(|left| **left <= data).count();
        done as f64 / self.remaining.len() as f64
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

/// Foresees the loss of a job.
pub trait Predictor: Send + Sync {
    /// What is left until `target`; the same log, target and seed give the same answer.
    ///
    /// # Errors
    /// A target that is no loss, or weights that cannot be used.
    fn forecast(&self, log: &LossLog, target: f64, seed: u64) -> Result<Forecast, ForecastError>;
}
