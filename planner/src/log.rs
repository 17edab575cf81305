//! What a training job has told of its loss.

use serde::{Deserialize, Serialize};
use thiserror::Error;

/// The loss after so much data.
#[derive(Clone, Copy, Debug, Deserialize, PartialEq, Serialize)]
pub struct LossPoint {
    /// What was spent since the job began, in the caller's unit (chip-hours in the product, samples in the simulator).
    pub data: f64,
    /// Training loss, above 0.
    pub loss: f64,
}

/// Why points are no loss log.
#[derive(Clone, Debug, Error, PartialEq)]
pub enum LogError {
    /// Fewer points than a curve needs.
    #[error("{points} points are too few to foresee a loss: at least {least} are needed")]
    TooFew {
        /// Points given.
        points: usize,
        /// Points needed.
        least: usize,
    },
    /// A number that is not finite, or not above 0.
    #[error("point {index} has {what} {value}: it must be a finite number above 0")]
    NotPositive {
        /// Place of the point, from 1.
        index: usize,
        /// Which of its numbers.
        what: &'static str,
        /// The number.
        value: f64,
    },
    /// Data that does not grow from a point to the next.
    #[error(
        "point {index} has data {value}, not above the point before it: sort the points and keep one of each"
    )]
    NotIncreasing {
        /// Place of the point, from 1.
        index: usize,
        /// Its data.
        value: f64,
    },
}

/// A loss log: data strictly increasing, losses finite and above 0.
#[derive(Clone, Debug, PartialEq)]
pub struct LossLog(Vec<LossPoint>);

impl LossLog {
    /// Points that a log needs.
    pub const LEAST_POINTS: usize = 3;

    /// Takes points as they were observed.
    ///
    /// # Errors
    /// Too few points, numbers that are not finite and above 0, or data that does not grow.
    pub fn new(points: Vec<LossPoint>) -> Result<Self, LogError> {
        if points.len() < Self::LEAST_POINTS {
            return Err(LogError::TooFew { points: points.len(), least: Self::LEAST_POINTS });
        }
        let mut before = 0.0;
        for (at, point) in points.iter().enumerate() {
            for (what, value) in [("data", point.data), ("loss", point.loss)] {
                if !value.is_finite() || value <= 0.0 {
                    return Err(LogError::NotPositive { index: at + 1, what, value });
                }
            }
            if point.data <= before {
                return Err(LogError::NotIncreasing { index: at + 1, value: point.data });
            }
            before = point.data;
        }
        Ok(Self(points))
    }

    /// The points, at least [`LossLog::LEAST_POINTS`].
    #[must_use]
    pub fn points(&self) -> &[LossPoint] {
        &self.0
    }

    /// The newest point.
    ///
    /// # Panics
    /// Never: a log has points.
    #[must_use]
    pub fn last(&self) -> LossPoint {
        self.0[self.0.len() - 1]
    }
}
