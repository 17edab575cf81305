//! Predictors of the data that is left, from LARA's line to the flow.

mod calibrate;
pub mod evaluate;
mod flow;
pub mod kalman;
pub mod least_squares;
mod offset_power;
mod past;
pub mod score;

use crate::forecast::{Effort, Forecast, ForecastError, Job, Predictor, Remark};
use crate::log::LossLog;
pub use flow::{FlowPredictor, Plan, Provenance, VERSION};
pub use offset_power::OffsetPower;
use past::{Past, REACH};

/// Places in the future at which a curve is foreseen.
pub(crate) const HORIZONS: usize = 20;
/// A target that fewer of the curves reach is called out of reach.
const HARDLY: f64 = 0.05;
/// A jump from a point to the next by more than this is rather another unit.
const UNIT_JUMP: f64 = 50.0;

/// ln(data / newest data) of a place in the future: equal steps up to [`REACH`] times the data so far.
pub(crate) fn horizon(nth: usize) -> f64 {
    REACH.ln() * (nth + 1) as f64 / HORIZONS as f64
}

/// The best predictor that there is: the flow, or the offset power law when the flow's weights cannot be used. What
/// it says then has a remark of why.
///
/// # Errors
/// None of the predictors can be used.
pub fn shipped() -> Result<Box<dyn Predictor>, ForecastError> {
    Ok(or_fall_back(FlowPredictor::built_in()))
}

/// The flow if it could be read, otherwise the offset power law, which says why.
#[must_use]
pub fn or_fall_back(flow: Result<FlowPredictor, ForecastError>) -> Box<dyn Predictor> {
    match flow {
        Ok(flow) => Box::new(flow),
        Err(error) => Box::new(FallBack(error)),
    }
}

/// The offset power law in the place of a flow that cannot be used.
struct FallBack(ForecastError);

impl Predictor for FallBack {
    fn forecast_all(
        &self,
        jobs: &[Job<'_>],
        effort: Effort,
        seed: u64,
    ) -> Result<Vec<Forecast>, ForecastError> {
        let mut forecasts = OffsetPower.forecast_all(jobs, effort, seed)?;
        for forecast in &mut forecasts {
            forecast.remarks.push(Remark::WeightsUnusable(self.0.to_string()));
        }
        Ok(forecasts)
    }
}

/// What a reader should know of a job of whose drawn curves, before calibration, a part `reached` (0 to 1) gets to the
/// target.
fn remarks(job: &Job<'_>, past: &Past, reached: f64) -> Vec<Remark> {
    let mut remarks = mixed_units(job.log);
    if job.log.last().loss <= job.target {
        remarks.push(Remark::TargetMet);
    } else if !falls(past) {
        remarks.push(Remark::NotFalling);
    } else if reached < HARDLY {
        remarks.push(Remark::OutOfReach);
    }
    remarks
}

/// The newer half of the bins lies below the older one by more than noise explains.
fn falls(past: &Past) -> bool {
    let half = past.bins.len() / 2;
    let mean = |bins: &[past::Bin]| {
        let points: f64 = bins.iter().map(|bin| bin.points).sum();
        (bins.iter().map(|bin| bin.points * bin.y).sum::<f64>() / points, points)
    };
    let ((older, few), (newer, many)) = (mean(&past.bins[..half.max(1)]), mean(&past.bins[half..]));
    older - newer > past.noise * (1.0 / few + 1.0 / many).sqrt()
}

/// Jumps that look like another unit.
fn mixed_units(log: &LossLog) -> Vec<Remark> {
    let mut remarks = Vec::new();
    let pairs: Vec<_> = log.points().windows(2).collect();
    let steps: Vec<f64> = pairs.iter().map(|pair| pair[1].data - pair[0].data).collect();
    if let Some(at) =
        steps.windows(2).position(|two| two[1] / two[0] > UNIT_JUMP || two[0] / two[1] > UNIT_JUMP)
    {
        remarks.push(Remark::UnitsOfData(at + 3));
    }
    let jump = |pair: &&[crate::log::LossPoint]| (pair[1].loss / pair[0].loss).ln().abs() > UNIT_JUMP.ln();
    if let Some(at) = pairs.iter().position(jump) {
        remarks.push(Remark::UnitsOfLoss(at + 2));
    }
    remarks
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::log::LossPoint;

    fn log(points: impl IntoIterator<Item = (f64, f64)>) -> LossLog {
        LossLog::new(points.into_iter().map(|(data, loss)| LossPoint { data, loss }).collect()).unwrap()
    }

    fn falling() -> LossLog {
        log((1..=40).map(|nth| (f64::from(nth), 1.0 + 2.0 / f64::from(nth))))
    }

    #[test]
    fn a_target_that_is_met_needs_nothing_and_says_so() {
        let forecast = shipped().unwrap().forecast(&falling(), 1.5, 1).unwrap();
        assert_eq!((forecast.quantile(0.9), forecast.finish_within(0.0)), (0.0, 1.0));
        assert!(forecast.remarks.contains(&Remark::TargetMet));
    }

    #[test]
    fn a_target_below_the_floor_is_out_of_reach_and_a_rising_loss_is_said() {
        let forecast = shipped().unwrap().forecast(&falling(), 0.2, 1).unwrap();
        assert!(forecast.remarks.contains(&Remark::OutOfReach), "{:?}", forecast.remarks);
        assert!(forecast.quantile(0.5).is_infinite());
        let rising = log((1..=40).map(|nth| (f64::from(nth), 1.0 + 0.1 * f64::from(nth))));
        let forecast = shipped().unwrap().forecast(&rising, 0.5, 1).unwrap();
        assert!(forecast.remarks.contains(&Remark::NotFalling), "{:?}", forecast.remarks);
    }

    #[test]
    fn mixed_units_are_noticed_at_their_point() {
        let steps = log((1..=40)
            .map(|nth| (f64::from(nth) * if nth > 20 { 1e3 } else { 1.0 }, 1.0 + 2.0 / f64::from(nth))));
        assert_eq!(mixed_units(&steps), [Remark::UnitsOfData(21)]);
        let losses = log((1..=40)
            .map(|nth| (f64::from(nth), if nth > 30 { 0.01 } else { 1.0 } * (1.0 + 2.0 / f64::from(nth)))));
        assert_eq!(mixed_units(&losses), [Remark::UnitsOfLoss(31)]);
        assert_eq!(mixed_units(&falling()), []);
    }

    #[test]
    fn no_target_but_a_positive_number_is_foreseen() {
        for target in [0.0, -1.0, f64::NAN, f64::INFINITY] {
            assert!(matches!(
                shipped().unwrap().forecast(&falling(), target, 1),
                Err(ForecastError::Target(_))
            ));
        }
    }

    /// Neither the unit of the data nor that of the loss matters.
    #[test]
    fn units_do_not_matter() {
        let predictor = shipped().unwrap();
        let one = predictor.forecast(&falling(), 1.02, 7).unwrap();
        let other = log(falling().points().iter().map(|point| (point.data * 1e3, point.loss * 0.1)));
        let other = predictor.forecast(&other, 0.102, 7).unwrap();
        for p in [0.1, 0.5, 0.9] {
            assert!((other.quantile(p) / one.quantile(p) / 1e3 - 1.0).abs() < 1e-2, "{p}");
        }
        assert!((other.fan[9].p50 / one.fan[9].p50 / 0.1 - 1.0).abs() < 1e-3);
    }
}
