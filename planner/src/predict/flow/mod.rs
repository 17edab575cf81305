//! Conditional flow matching: draws futures of a loss curve, given its past.
//!
//! \[paper\] MARA foresees loss trajectories by conditional flow matching. \[recon\] All of the rest: what is conditioned
//! on and foreseen (`condition`), the network (`network`), the straight path `x_t = (1 − t) x_0 + t x_1` from noise
//! `x_0` to the future `x_1` with the velocity `x_1 − x_0` to learn (`train`), and Euler's steps along it here. What
//! the flow draws is calibrated (`calibrate`) before anybody sees it.

mod condition;
mod network;
mod train;
mod weights;

use candle_core::Result;
use rand::SeedableRng;
use rand_chacha::ChaCha8Rng;

use super::calibrate::{Calibration, Raw};
use super::past::Past;
use super::{HORIZONS, remarks};
use crate::forecast::{Effort, Forecast, ForecastError, Job, Predictor, Remark, Spoke, check_target};
use crate::random::normal;
use condition::{Standard, condition};
use network::{Network, matrix, time_numbers};
pub use train::Plan;
pub use weights::{Provenance, VERSION};

/// The weights that come with the program.
const BUILT_IN: &[u8] = include_bytes!("../../../weights/predictor.safetensors");

/// Curves that are drawn at once: their numbers still fit a processor's cache.
const ROWS: usize = 128;

/// A trained flow, before calibration.
#[derive(Clone, Debug)]
pub(crate) struct Flow {
    network: Network,
    conditions: Standard,
    futures: Standard,
}

impl Flow {
    /// Draws futures of many pasts: for each past, `effort.draws` curves of ln(loss) relative to the level now,
    /// at the horizons.
    pub(crate) fn draw(
        &self,
        pasts: &[Past],
        effort: Effort,
        random: &mut ChaCha8Rng,
    ) -> Result<Vec<Vec<[f64; HORIZONS]>>> {
        let at_once = (ROWS / effort.draws.max(1)).max(1);
        let parts = pasts.chunks(at_once).map(|pasts| self.draw_at_once(pasts, effort, random));
        Ok(parts.collect::<Result<Vec<_>>>()?.into_iter().flatten().collect())
    }

    fn draw_at_once(
        &self,
        pasts: &[Past],
        effort: Effort,
        random: &mut ChaCha8Rng,
    ) -> Result<Vec<Vec<[f64; HORIZONS]>>> {
        let (draws, steps) = (effort.draws.max(1), effort.steps.max(1));
        let rows = pasts.len() * draws;
        let mut conditions = Vec::new();
        for past in pasts {
            let numbers: Vec<f32> = self.conditions.apply(&condition(past)).collect();
            conditions.extend(numbers.iter().cycle().take(numbers.len() * draws));
        }
        let conditions = matrix(rows, conditions)?;
        let mut curves = matrix(rows, (0..rows * HORIZONS).map(|_| normal(random) as f32).collect())?;
        for step in 0..steps {
            let time = time_numbers(step as f64 / steps as f64);
            let times = matrix(rows, time.iter().copied().cycle().take(rows * time.len()).collect())?;
            let velocity = self.network.velocity(&curves, &times, &conditions)?;
            curves = (curves + (velocity / steps as f64)?)?;
        }
        let values: Vec<f32> = curves.flatten_all()?.to_vec1()?;
        let curves: Vec<_> = values.chunks(HORIZONS).map(|row| self.futures.undo(row)).collect();
        Ok(curves.chunks(draws).map(<[_]>::to_vec).collect())
    }
}

/// The learned predictor: the flow with its calibration.
#[derive(Clone, Debug)]
pub struct FlowPredictor {
    flow: Flow,
    calibration: Calibration,
    provenance: Provenance,
}

#[expect(clippy::needless_pass_by_value, reason = "`map_err` hands it over")]
fn tensors(error: candle_core::Error) -> ForecastError {
    ForecastError::Weights(error.to_string())
}

impl FlowPredictor {
    /// Trains and calibrates; `progress` is told of each step: its number, and the mean squared error of the velocity.
    ///
    /// # Errors
    /// The tensor library's, as [`ForecastError::Weights`].
    pub fn train(
        plan: Plan,
        provenance: Provenance,
        progress: &mut dyn FnMut(usize, f64),
    ) -> std::result::Result<Self, ForecastError> {
        let flow = train::train(plan, progress).map_err(tensors)?;
        let calibration = Calibration::make(plan.seed, plan.finished, |pasts, effort, random| {
            flow.draw(pasts, effort, random)
        })
        .map_err(tensors)?;
        Ok(Self { flow, calibration, provenance })
    }

    /// The predictor that comes with the program.
    ///
    /// # Errors
    /// As [`FlowPredictor::from_bytes`].
    pub fn built_in() -> std::result::Result<Self, ForecastError> {
        Self::from_bytes(BUILT_IN)
    }

    /// Reads weights, a safetensors file.
    ///
    /// # Errors
    /// [`ForecastError::Weights`] when they are no weights, of another version, or incomplete.
    pub fn from_bytes(bytes: &[u8]) -> std::result::Result<Self, ForecastError> {
        weights::from_bytes(bytes)
    }

    /// Weights as a safetensors file.
    ///
    /// # Errors
    /// The tensor library's, as [`ForecastError::Weights`].
    pub fn to_bytes(&self) -> std::result::Result<Vec<u8>, ForecastError> {
        weights::to_bytes(self)
    }

    /// Where the weights come from.
    #[must_use]
    pub fn provenance(&self) -> &Provenance {
        &self.provenance
    }
}

impl Predictor for FlowPredictor {
    fn forecast_all(
        &self,
        jobs: &[Job<'_>],
        effort: Effort,
        seed: u64,
    ) -> std::result::Result<Vec<Forecast>, ForecastError> {
        jobs.iter().try_for_each(|job| check_target(job.target))?;
        let pasts: Vec<Past> = jobs.iter().map(|job| Past::of(job.log)).collect();
        let mut random = ChaCha8Rng::seed_from_u64(seed);
        let curves = self.flow.draw(&pasts, effort, &mut random).map_err(tensors)?;
        let forecast = |((job, past), curves): ((&Job<'_>, &Past), Vec<[f64; HORIZONS]>)| {
            let raw = Raw::of(past, job.target, curves, &mut random);
            let moves = self.calibration.moves(&raw);
            let met = job.log.last().loss <= job.target;
            let remaining = if met { vec![0.0] } else { moves.remaining(&raw, past) };
            let mut remarks = remarks(job, past, raw.reached);
            if moves.unlike_training {
                remarks.push(Remark::UnlikeTraining);
            }
            Forecast {
                remaining,
                fan: moves.fan(&raw, past),
                spoke: if moves.unlike_training { Spoke::Wider } else { Spoke::Flow },
                unlike_training: moves.unlike_training,
                remarks,
            }
        };
        Ok(jobs.iter().zip(&pasts).zip(curves).map(forecast).collect())
    }
}
