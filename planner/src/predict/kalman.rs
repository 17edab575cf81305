//! LaiRA's predictor: LARA's line, whose coefficients move, followed by a Kalman filter.
//!
//! \[paper\] A state of (θ, θ̇, θ̈) with the transition of constant acceleration, observed through
//! `ln ℓ = θ₂ + θ₁ ln s`, and looked ahead to the deadline. \[recon\] Each of θ₁ and θ₂ has a speed and an acceleration;
//! the filter's clock is `ln s`, on which learning curves bend evenly, so that looking ahead is a short step, not
//! hundreds; x is measured from the first point, so that θ₂ is the level there; acceleration is what noise
//! moves; and the look-ahead goes at most [`FARTHEST`] beyond the newest point, for a square grows faster than any
//! loss falls.

use crate::log::{LossLog, LossPoint};

/// Variance of the logarithm of an observed loss.
const OBSERVED: f64 = 4e-4;
/// Variance that the acceleration gains per unit of `ln s`.
const MOVED: f64 = 1e-3;
/// Variances of the slope's value, speed and acceleration before the first point; the level's value is taken from it.
const BEFORE: [f64; 3] = [0.25, 0.02, 0.004];
/// Longest look-ahead, in units of `ln s`.
pub const FARTHEST: f64 = 0.3;

/// Value, speed and acceleration of the slope, then of the level.
const STATES: usize = 6;
type Matrix = [[f64; STATES]; STATES];

/// The filter after the points seen so far.
#[derive(Clone, Debug, Default)]
pub struct Kalman {
    state: [f64; STATES],
    covariance: Matrix,
    /// `ln s` of the first point.
    first: Option<f64>,
    /// Newest point.
    newest: Option<LossPoint>,
}

impl Kalman {
    /// The filter after a whole log.
    #[must_use]
    pub fn of(log: &LossLog) -> Self {
        let mut filter = Self::default();
        for point in log.points() {
            filter.observe(*point);
        }
        filter
    }

    /// Takes the next point; data grows from point to point, data and loss are above 0.
    pub fn observe(&mut self, point: LossPoint) {
        let (time, seen) = (point.data.ln(), point.loss.ln());
        let Some(newest) = self.newest.replace(point) else {
            self.first = Some(time);
            self.state[3] = seen;
            for (at, variance) in BEFORE.iter().enumerate() {
                self.covariance[at][at] = *variance;
                self.covariance[at + 3][at + 3] = if at == 0 { OBSERVED } else { *variance };
            }
            return;
        };
        self.move_on(time - newest.data.ln());
        self.correct(time - self.first.unwrap_or(time), seen);
    }

    /// State and covariance after a step of the clock.
    fn move_on(&mut self, step: f64) {
        let transition = transition(step);
        self.state = moved(&self.state, step);
        let half = product(&transition, &self.covariance);
        let mut after = [[0.0; STATES]; STATES];
        for (row, half) in after.iter_mut().zip(&half) {
            for (cell, transition) in row.iter_mut().zip(&transition) {
                *cell = half.iter().zip(transition).map(|(a, b)| a * b).sum();
            }
        }
        after[2][2] += MOVED * step;
        after[5][5] += MOVED * step;
        self.covariance = after;
    }

    /// Bayes' rule for `seen = slope · x + level`.
    fn correct(&mut self, x: f64, seen: f64) {
        let reading: [f64; STATES] =
            std::array::from_fn(|at| self.covariance[at][0] * x + self.covariance[at][3]);
        let variance = reading[0] * x + reading[3] + OBSERVED;
        let surprise = seen - self.state[0] * x - self.state[3];
        for at in 0..STATES {
            self.state[at] += reading[at] / variance * surprise;
            for other in 0..STATES {
                self.covariance[at][other] -= reading[at] * reading[other] / variance;
            }
        }
    }

    /// Data left until `target`, by the line that is foreseen for the time when the job has had `deadline_data` (in
    /// the unit of the points, counted from the job's begin): 0 where that line is below the target already, infinite
    /// where it does not fall or no point was seen.
    #[must_use]
    pub fn remaining(&self, target: f64, deadline_data: f64) -> f64 {
        let (Some(first), Some(newest)) = (self.first, self.newest) else { return f64::INFINITY };
        if newest.loss <= target {
            return 0.0;
        }
        let ahead = (deadline_data / newest.data).ln().clamp(0.0, FARTHEST);
        let state = moved(&self.state, ahead);
        if state[0] >= 0.0 {
            return f64::INFINITY;
        }
        let reached = (first + (target.ln() - state[3]) / state[0]).exp();
        (reached - newest.data).max(0.0)
    }
}

fn transition(step: f64) -> Matrix {
    let square = step * step / 2.0;
    [
        [1.0, step, square, 0.0, 0.0, 0.0],
        [0.0, 1.0, step, 0.0, 0.0, 0.0],
        [0.0, 0.0, 1.0, 0.0, 0.0, 0.0],
        [0.0, 0.0, 0.0, 1.0, step, square],
        [0.0, 0.0, 0.0, 0.0, 1.0, step],
        [0.0, 0.0, 0.0, 0.0, 0.0, 1.0],
    ]
}

fn moved(state: &[f64; STATES], step: f64) -> [f64; STATES] {
    let transition = transition(step);
    std::array::from_fn(|at| transition[at].iter().zip(state).map(|(a, b)| a * b).sum())
}

fn product(left: &Matrix, right: &Matrix) -> Matrix {
    std::array::from_fn(|row| {
        std::array::from_fn(|column| (0..STATES).map(|at| left[row][at] * right[at][column]).sum())
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::predict::least_squares::LeastSquares;

    fn filter(loss: impl Fn(f64) -> f64, points: u32) -> (Kalman, LossLog) {
        let points =
            (1..=points).map(|nth| f64::from(nth) * 5.0).map(|data| LossPoint { data, loss: loss(data) });
        let log = LossLog::new(points.collect()).unwrap();
        (Kalman::of(&log), log)
    }

    #[test]
    fn a_power_law_is_continued() {
        let (filter, _) = filter(|data| 3.0 * data.powf(-0.4), 40);
        let left = filter.remaining(3.0 * 400f64.powf(-0.4), 500.0);
        assert!((left - 200.0).abs() < 20.0, "{left}");
    }

    /// What looking ahead is for: a curve that bends in logarithms.
    #[test]
    fn a_bending_curve_is_foreseen_better_than_by_one_line() {
        let curve = |data: f64| 0.5 + 3.0 * (-(data / 200.0).powf(0.9)).exp();
        let (filter, log) = filter(curve, 30);
        let truth = 250.0;
        let target = curve(150.0 + truth);
        let by_filter = (filter.remaining(target, 450.0) / truth).ln().abs();
        let by_line = (LeastSquares::of(&log).remaining(target) / truth).ln().abs();
        assert!(by_filter < by_line * 0.8, "{by_filter} {by_line}");
    }

    #[test]
    fn the_covariance_stays_one() {
        let (filter, _) = filter(|data| 2.0 + 1.0 / data + 0.01 * data.sin(), 400);
        for at in 0..STATES {
            assert!(filter.covariance[at][at] > 0.0, "{at}");
            for other in 0..STATES {
                let skew = filter.covariance[at][other] - filter.covariance[other][at];
                assert!(skew.abs() < 1e-9, "{at} {other} {skew}");
            }
        }
    }

    #[test]
    fn rising_losses_never_arrive_and_a_target_met_needs_nothing() {
        assert_eq!(Kalman::default().remaining(1.0, 10.0), f64::INFINITY);
        let (filter, _) = filter(|data| 1.0 + data / 100.0, 40);
        assert_eq!(filter.remaining(0.5, 400.0), f64::INFINITY);
        assert_eq!(filter.remaining(10.0, 400.0), 0.0);
    }
}
