//! The offset power law `ℓ(s) = c + a s^(−α)`: the parametric predictor, and the fall-back of the learned one.
//!
//! \[recon\] For each floor c of a grid a weighted least-squares line through ln(ℓ − c) by ln s, as LARA fits it for
//! c = 0 \[paper\]; the bins of the past are its points. The grid's floors are weighted by how well they explain the
//! losses (profile likelihood), and each drawn curve takes a floor by that weight and a line by its covariance. So the
//! band is what the fit does not know about its own numbers. It does not know that the curve may be of another form:
//! alone, a forecast by this law therefore moves its quantiles by what made them hold as often as they say on the
//! mixture of the training families ([`MOVES`]). docs/PLANNER.md has the coverage on each.

use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;

use super::calibrate::{NEVER, moved, quantile, reach_of, sorted};
use super::past::{Bin, Past};
use super::{HORIZONS, horizon, remarks};
use crate::forecast::{Effort, FanPoint, Forecast, ForecastError, Job, Predictor, Spoke, check_target};
use crate::random::normal;

/// Floors that are tried.
const FLOORS: u32 = 40;
/// The smallest gap of a floor to the lowest bin, as a part of that bin's loss; the largest is all of it.
const LEAST_GAP: f64 = 0.004;

/// By how much P10, P50 and P90 of ln(data at the target / data now) move: the 10, 50 and 90 % quantiles of what the
/// truth was above them, over 8,000 curves of the training families.
const MOVES: [f64; 3] = [-1.84, -0.25, 0.31];

/// The predictor by offset power laws.
#[derive(Clone, Copy, Debug, Default)]
pub struct OffsetPower;

/// A curve `c + exp(height + slope · ln(s / now))`.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Law {
    floor: f64,
    height: f64,
    slope: f64,
}

impl Law {
    /// The loss at ln(s / now).
    pub(crate) fn at(&self, x: f64) -> f64 {
        self.floor + (self.height + self.slope * x).exp()
    }

    /// ln(s / now) where the loss is `target`; infinite where it never is.
    fn reaches(&self, target: f64) -> f64 {
        if self.slope >= 0.0 || target <= self.floor {
            return f64::INFINITY;
        }
        ((target - self.floor).ln() - self.height) / self.slope
    }
}

/// The least-squares line of one floor.
#[derive(Clone, Copy, Debug)]
struct Line {
    law: Law,
    /// Mean of ln(s / now) by weight.
    centre: f64,
    /// Sum of the weights, and of them times the squared distance from the centre.
    sums: (f64, f64),
    /// Weighted sum of the squared differences of ln(loss).
    error: f64,
}

/// All that the fit says of a log.
#[derive(Clone, Debug)]
pub(crate) struct Fit {
    lines: Vec<Line>,
    /// Cumulative weight of the lines, up to 1.
    shares: Vec<f64>,
    /// Variance of ln(loss) of one point about the best line.
    pub(crate) variance: f64,
}

impl Fit {
    /// Fits; none of the lines falls when the loss does not.
    pub(crate) fn of(past: &Past) -> Self {
        let lowest = past.bins.iter().map(|bin| bin.y).fold(f64::INFINITY, f64::min).exp();
        let gap = |nth: u32| LEAST_GAP.powf(1.0 - f64::from(nth) / f64::from(FLOORS - 1));
        let lines: Vec<Line> =
            (0..FLOORS).filter_map(|nth| line(&past.bins, lowest * (1.0 - gap(nth)))).collect();
        let best = lines.iter().map(|line| line.error).fold(f64::INFINITY, f64::min);
        let freedom = (past.bins.len() as f64 - 3.0).max(1.0);
        // A floor for exact curves, whose error is that of the arithmetic.
        let variance = (best / freedom).max(1e-12);
        let mut sum = 0.0;
        let mut shares: Vec<f64> = lines
            .iter()
            .map(|line| {
                sum += (-(line.error - best) / (2.0 * variance)).exp();
                sum
            })
            .collect();
        shares.iter_mut().for_each(|share| *share /= sum);
        Self { lines, shares, variance }
    }

    /// A curve that the log does not rule out.
    fn draw(&self, random: &mut ChaCha8Rng) -> Option<Law> {
        let share = random.random::<f64>();
        let line = self
            .lines
            .get(self.shares.partition_point(|upto| *upto < share).min(self.lines.len().max(1) - 1))?;
        let (weight, spread) = line.sums;
        let slope = line.law.slope + (self.variance / spread).sqrt() * normal(random);
        let middle =
            line.law.height + line.law.slope * line.centre + (self.variance / weight).sqrt() * normal(random);
        Some(Law { floor: line.law.floor, height: middle - slope * line.centre, slope })
    }
}

/// The weighted line through ln(loss − floor); none where it does not fall.
fn line(bins: &[Bin], floor: f64) -> Option<Line> {
    // ln(ℓ − c) is as uncertain as ln ℓ times ℓ / (ℓ − c).
    let points = || {
        bins.iter().map(|bin| {
            let above = bin.y.exp() - floor;
            let weight = bin.points * (above / bin.y.exp()).powi(2);
            (bin.x, above.ln(), weight)
        })
    };
    let weight: f64 = points().map(|(_, _, weight)| weight).sum();
    let mean =
        |value: &dyn Fn(f64, f64) -> f64| points().map(|(x, v, w)| w * value(x, v)).sum::<f64>() / weight;
    let (centre, middle) = (mean(&|x, _| x), mean(&|_, v| v));
    let spread = mean(&|x, _| (x - centre).powi(2)) * weight;
    let slope = mean(&|x, v| (x - centre) * (v - middle)) * weight / spread;
    if !slope.is_finite() || slope >= 0.0 {
        return None;
    }
    let law = Law { floor, height: middle - slope * centre, slope };
    let error = bins.iter().map(|bin| bin.points * (bin.y - law.at(bin.x).ln()).powi(2)).sum();
    Some(Line { law, centre, sums: (weight, spread), error })
}

/// What is drawn for one job: curves as ln(loss) at the horizons, and data left by curve.
pub(crate) struct Draws {
    /// ln(loss) at each horizon, by curve.
    pub curves: Vec<[f64; HORIZONS]>,
    /// Data left, by curve.
    pub remaining: Vec<f64>,
}

/// Draws curves that the log does not rule out. Where no line falls, they stay where they are.
pub(crate) fn draw(past: &Past, fit: &Fit, target: f64, draws: usize, random: &mut ChaCha8Rng) -> Draws {
    let mut all = Draws { curves: Vec::with_capacity(draws), remaining: Vec::with_capacity(draws) };
    for _ in 0..draws {
        let Some(law) = fit.draw(random) else {
            all.curves.push([past.level() + past.noise * normal(random); HORIZONS]);
            all.remaining.push(f64::INFINITY);
            continue;
        };
        all.curves.push(std::array::from_fn(|nth| law.at(horizon(nth)).ln()));
        // The target is not reached yet, whatever the line says: at least one more point.
        all.remaining.push((past.now * law.reaches(target).exp_m1()).max(past.step));
    }
    all
}

fn forecast(job: &Job<'_>, past: &Past, draws: &Draws) -> Forecast {
    let reaches = sorted(draws.remaining.iter().map(|remaining| reach_of(*remaining, past)));
    let reached = reaches.iter().filter(|reach| **reach < NEVER).count() as f64 / reaches.len() as f64;
    let met = job.log.last().loss <= job.target;
    let fan = (0..HORIZONS).map(|nth| {
        let losses = sorted(draws.curves.iter().map(|curve| curve[nth].exp()));
        let [p10, p50, p90] = [0.1, 0.5, 0.9].map(|p| quantile(&losses, p));
        FanPoint { data: past.now * horizon(nth).exp(), p10, p50, p90 }
    });
    Forecast {
        remaining: if met { vec![0.0] } else { moved(&reaches, MOVES, past) },
        fan: fan.collect(),
        spoke: Spoke::OffsetPower,
        unlike_training: false,
        remarks: remarks(job, past, reached),
    }
}

impl Predictor for OffsetPower {
    fn forecast_all(
        &self,
        jobs: &[Job<'_>],
        effort: Effort,
        seed: u64,
    ) -> Result<Vec<Forecast>, ForecastError> {
        jobs.iter()
            .enumerate()
            .map(|(nth, job)| {
                check_target(job.target)?;
                let mut random = ChaCha8Rng::seed_from_u64(seed);
                random.set_stream(nth as u64);
                let past = Past::of(job.log);
                let fit = Fit::of(&past);
                let draws = draw(&past, &fit, job.target, effort.draws.max(1), &mut random);
                Ok(forecast(job, &past, &draws))
            })
            .collect()
    }
}
