//! LARA's predictor: a straight line through the logarithms, newer points counting more.
//!
//! \[paper\] `ln ℓ = θ₂ + θ₁ ln s` by weighted least squares with discount γ and ridge λ; the data left is
//! `exp((ln ε − θ₂) / θ₁) − s`, infinite unless `θ₁ < 0`. \[recon\] The discount is per point and the ridge holds the
//! slope alone: pulled towards 0, the level would depend on the unit of the loss.

use crate::log::{LossLog, LossPoint};

/// What one point counts against the one after it.
pub const DISCOUNT: f64 = 0.98;
/// Weight of the squared slope.
pub const RIDGE: f64 = 1e-3;

/// The line through the points seen so far; a point more takes the same time however many there were.
#[derive(Clone, Debug)]
pub struct LeastSquares {
    discount: f64,
    ridge: f64,
    /// Data of the newest point.
    data: f64,
    /// Loss of the newest point.
    loss: f64,
    /// Discounted sums: points, x, y, and around their means xx and xy, where x = ln s and y = ln ℓ.
    weight: f64,
    mean_x: f64,
    mean_y: f64,
    xx: f64,
    xy: f64,
}

impl Default for LeastSquares {
    fn default() -> Self {
        Self::new(DISCOUNT, RIDGE)
    }
}

impl LeastSquares {
    /// No points yet; `discount` (0 to 1) is what a point counts against the one after it, `ridge` (at least 0) the
    /// weight of the squared slope.
    #[must_use]
    pub fn new(discount: f64, ridge: f64) -> Self {
        Self {
            discount,
            ridge,
            data: 0.0,
            loss: f64::INFINITY,
            weight: 0.0,
            mean_x: 0.0,
            mean_y: 0.0,
            xx: 0.0,
            xy: 0.0,
        }
    }

    /// The line through a whole log.
    #[must_use]
    pub fn of(log: &LossLog) -> Self {
        let mut line = Self::default();
        for point in log.points() {
            line.observe(*point);
        }
        line
    }

    /// Takes the next point; data and loss are above 0.
    pub fn observe(&mut self, point: LossPoint) {
        let (x, y) = (point.data.ln(), point.loss.ln());
        let before = self.weight * self.discount;
        self.weight = before + 1.0;
        let (dx, dy) = (x - self.mean_x, y - self.mean_y);
        self.mean_x += dx / self.weight;
        self.mean_y += dy / self.weight;
        self.xx = self.xx * self.discount + before / self.weight * dx * dx;
        self.xy = self.xy * self.discount + before / self.weight * dx * dy;
        (self.data, self.loss) = (point.data, point.loss);
    }

    /// `θ₁`, the slope of `ln ℓ` over `ln s`; 0 until two points with different data were seen.
    #[must_use]
    pub fn slope(&self) -> f64 {
        if self.xx > 0.0 { self.xy / (self.xx + self.ridge) } else { 0.0 }
    }

    /// The loss that the line foresees after so much data.
    #[must_use]
    pub fn loss_at(&self, data: f64) -> f64 {
        (self.mean_y + self.slope() * (data.ln() - self.mean_x)).exp()
    }

    /// Data left until `target`, in the unit of the points: 0 where the line is below it already, infinite where the
    /// line does not fall.
    #[must_use]
    pub fn remaining(&self, target: f64) -> f64 {
        let slope = self.slope();
        if slope >= 0.0 {
            return if self.loss <= target { 0.0 } else { f64::INFINITY };
        }
        let reached = (self.mean_x + (target.ln() - self.mean_y) / slope).exp();
        (reached - self.data).max(0.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn power_law(exponent: f64, points: usize) -> Vec<LossPoint> {
        (1..=points)
            .map(|nth| nth as f64 * 5.0)
            .map(|data| LossPoint { data, loss: 3.0 * data.powf(-exponent) })
            .collect()
    }

    #[test]
    fn a_power_law_is_continued_exactly() {
        let log = LossLog::new(power_law(0.4, 40)).unwrap();
        let line = LeastSquares::of(&log);
        assert!((line.slope() + 0.4).abs() < 2e-3, "{}", line.slope());
        let target = 3.0 * 1000f64.powf(-0.4);
        let left = line.remaining(target);
        assert!((left - 800.0).abs() < 15.0, "{left}");
        assert!((line.loss_at(1000.0) / target - 1.0).abs() < 5e-3);
    }

    #[test]
    fn sums_one_by_one_equal_the_formula() {
        let points: Vec<LossPoint> = power_law(0.3, 12)
            .into_iter()
            .enumerate()
            .map(|(nth, point)| LossPoint { loss: point.loss * (1.0 + 0.05 * (nth as f64).sin()), ..point })
            .collect();
        let (discount, ridge) = (0.9, 0.2);
        let mut line = LeastSquares::new(discount, ridge);
        points.iter().for_each(|point| line.observe(*point));
        let weights: Vec<f64> = (0..12).map(|nth| discount.powi(11 - nth)).collect();
        let all: f64 = weights.iter().sum();
        let mean = |of: &dyn Fn(&LossPoint) -> f64| {
            weights.iter().zip(&points).map(|(weight, point)| weight * of(point)).sum::<f64>() / all
        };
        let (x, y) = (mean(&|point| point.data.ln()), mean(&|point| point.loss.ln()));
        let xx = all * mean(&|point| (point.data.ln() - x).powi(2));
        let xy = all * mean(&|point| (point.data.ln() - x) * (point.loss.ln() - y));
        assert!((line.slope() - xy / (xx + ridge)).abs() < 1e-12);
    }

    #[test]
    fn newer_points_count_more() {
        let mut bent = power_law(0.1, 20);
        bent.extend((21..=60).map(|nth| {
            let data = f64::from(nth) * 5.0;
            LossPoint { data, loss: 3.0 * 100f64.powf(-0.1) * (data / 100.0).powf(-0.8) }
        }));
        let mut forgetting = LeastSquares::new(0.8, 0.0);
        let mut remembering = LeastSquares::new(1.0, 0.0);
        for point in bent {
            forgetting.observe(point);
            remembering.observe(point);
        }
        assert!(forgetting.slope() < -0.78, "{}", forgetting.slope());
        assert!(remembering.slope() > -0.7, "{}", remembering.slope());
    }

    #[test]
    fn a_rising_loss_never_arrives_and_a_low_one_has() {
        let mut line = LeastSquares::default();
        assert_eq!(line.remaining(0.5), f64::INFINITY);
        for nth in 1..10 {
            line.observe(LossPoint { data: f64::from(nth), loss: 1.0 + f64::from(nth) });
        }
        assert_eq!(line.remaining(0.5), f64::INFINITY);
        assert_eq!(line.remaining(20.0), 0.0);
        assert_eq!(LeastSquares::of(&LossLog::new(power_law(0.4, 9)).unwrap()).remaining(2.0), 0.0);
    }
}
