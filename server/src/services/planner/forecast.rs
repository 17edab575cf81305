//! What a plan says: the predictor's curves, the foreseen prices and the team's money put together. A pure function of what
//! it is given, so that the same losses, prices and time give the same answer.

use common::api::{
    ChipHoursBand, PlanChance, PlanFanPoint, PlanForecast, PlanFunds, PlanLoss, PlanPredictor, PlanPrices,
    PlanTerms, PlanVerdict, PlanWindow, PriceMethod,
};
use common::chips::Chips;
use common::instant::Instant;
use common::money::MicroCredits;
use planner::forecast::{Forecast, Predictor, Spoke};
use planner::log::{LossLog, LossPoint};

use super::hours::{HOUR, Need, cheapest, hours, spend};
use super::prices::{Method, PriceForecast, foresee};
use crate::error::AppError;
use crate::store::history::seconds_between;

/// The draws of a forecast are made with it: the same losses give the same answer.
const SEED: u64 = 1;

/// Below this probability with all chips a job is said not to finish.
const HOPELESS: f64 = 0.05;

/// What the bids are to cover.
const COVER: f64 = 0.8;

/// Losses that the predictor reads at most: a log of more says no more.
const MOST_READ: usize = 2_000;

/// Numbers of chips in the table of chances at most.
const MOST_CHANCES: u64 = 10;

/// What a forecast is made from.
#[derive(Clone, Debug)]
pub(super) struct Inputs {
    pub(super) now: Instant,
    pub(super) terms: PlanTerms,
    /// Oldest first.
    pub(super) losses: Vec<PlanLoss>,
    /// Hourly prices of the team's pool in credits, oldest first; the last is of the hour that has begun.
    pub(super) prices: Vec<Option<f64>>,
    pub(super) balance: MicroCredits,
    pub(super) income_per_hour: MicroCredits,
    pub(super) cap_per_hour: MicroCredits,
}

/// Foresees a job and plans its hours.
///
/// # Errors
/// `Invalid`: the predictor can't read the losses or the target. `Internal`: its weights can't be used.
pub(super) fn forecast(predictor: &dyn Predictor, inputs: &Inputs) -> Result<PlanForecast, AppError> {
    let Inputs { now, terms, losses, .. } = inputs;
    let log = LossLog::new(read(losses)).map_err(|error| AppError::invalid("log", error.to_string()))?;
    let foreseen = predictor
        .forecast(&log, terms.target_loss, SEED)
        .map_err(|error| AppError::invalid("target_loss", error.to_string()))?;
    let last = losses[losses.len() - 1];
    let hours_left = seconds_between(*now, terms.deadline) as f64 / HOUR as f64;
    let most = terms.most_chips.0;
    let reached = losses.iter().any(|one| one.loss <= terms.target_loss);
    let chances = if reached { Vec::new() } else { chances(&foreseen, terms, hours_left) };
    let best = foreseen.finish_within(most as f64 * hours_left);
    let prices = Prices::new(inputs);
    let open = !reached && hours_left > 0.0 && best >= HOPELESS;
    let windows = if open { windows(&foreseen, inputs, &prices) } else { Vec::new() };
    let covered: u64 = windows.iter().map(|one| one.chip_seconds).sum();
    let covered_chip_hours = covered as f64 / HOUR as f64;
    let chance_with_bids = if reached { 1.0 } else { foreseen.finish_within(covered_chip_hours) };
    let verdict = match () {
        () if reached => PlanVerdict::Reached,
        () if hours_left <= 0.0 => PlanVerdict::Overdue,
        () if best < HOPELESS => PlanVerdict::CannotFinish,
        () if best < COVER => PlanVerdict::Uncertain,
        () => PlanVerdict::CanFinish,
    };
    let needs = |p: f64| seconds_of(foreseen.quantile(p)).min(covered);
    let mut made = PlanForecast {
        at: *now,
        losses: losses.len() as u64,
        last,
        verdict,
        verdict_words: String::new(),
        predictor: predictor_of(foreseen.spoke),
        unlike_training: foreseen.unlike_training,
        why: why(&foreseen),
        remaining: band(&foreseen),
        fan: fan(&foreseen, last.chip_hours, most as f64 * hours_left),
        chances,
        prices: prices.view(inputs),
        covered_chip_hours,
        chance_with_bids,
        spend_p50: spend(&windows, needs(0.5), |one| one.price),
        spend_p90: spend(&windows, needs(0.9), |one| one.limit),
        windows,
        funds: PlanFunds {
            balance: inputs.balance,
            income_until_deadline: income(inputs.income_per_hour, *now, terms.deadline),
            cap_per_hour: inputs.cap_per_hour,
        },
        notes: Vec::new(),
    };
    made.verdict_words = super::words::verdict(&made, terms, best, lowest(&foreseen));
    made.notes = super::words::notes(&made, inputs, &foreseen.remarks);
    Ok(made)
}

/// The losses as the predictor takes them: at most [`MOST_READ`], the newest among them.
fn read(losses: &[PlanLoss]) -> Vec<LossPoint> {
    let point = |one: &PlanLoss| LossPoint { data: one.chip_hours, loss: one.loss };
    thinned(losses, MOST_READ).iter().map(point).collect()
}

/// Every so-manieth loss, the newest among them.
pub(super) fn thinned(losses: &[PlanLoss], most: usize) -> Vec<PlanLoss> {
    let step = losses.len().div_ceil(most).max(1);
    let mut kept: Vec<PlanLoss> = losses.iter().rev().step_by(step).copied().collect();
    kept.reverse();
    kept
}

const fn predictor_of(spoke: Spoke) -> PlanPredictor {
    match spoke {
        Spoke::Flow => PlanPredictor::Flow,
        Spoke::OffsetPower => PlanPredictor::OffsetPower,
        Spoke::Wider => PlanPredictor::Wider,
    }
}

fn why(foreseen: &Forecast) -> String {
    let spoke = match foreseen.spoke {
        Spoke::Flow => {
            "Conditional flow matching spoke: a small network that was trained on thousands of loss curves draws how this \
             one may go on, and its band was widened until it held on curves it had not seen."
        }
        Spoke::OffsetPower => "The offset power law spoke: c + a·s^−α, fitted to this job's own losses.",
        Spoke::Wider => {
            "Two predictors spoke, conditional flow matching and the offset power law; the wider of their bands is shown."
        }
    };
    let unlike = if foreseen.unlike_training {
        " This curve is unlike those that the network was trained on, so take the band as wide as it is and look again \
         when more losses are known."
    } else {
        ""
    };
    format!("{spoke}{unlike}")
}

fn finite(value: f64) -> Option<f64> {
    value.is_finite().then_some(value)
}

fn band(foreseen: &Forecast) -> ChipHoursBand {
    let of = |p: f64| finite(foreseen.quantile(p));
    ChipHoursBand { p10: of(0.1), p50: of(0.5), p80: of(COVER), p90: of(0.9) }
}

/// The fan as far as the plan reaches, and a little beyond.
fn fan(foreseen: &Forecast, used: f64, available: f64) -> Vec<PlanFanPoint> {
    let needed = foreseen.quantile(0.9);
    let reach = if needed.is_finite() { needed.max(available.min(2.0 * needed)) } else { available };
    let end = used + 1.1 * reach.max(used * 0.2);
    let point = |one: &planner::forecast::FanPoint| PlanFanPoint {
        chip_hours: one.data,
        p10: one.p10,
        p50: one.p50,
        p90: one.p90,
    };
    let is_shown = |one: &&planner::forecast::FanPoint| one.data <= end;
    let shown = foreseen.fan.iter().filter(is_shown).count().max(foreseen.fan.len().min(4));
    foreseen.fan[..shown].iter().map(point).collect()
}

/// The lowest loss that is foreseen anywhere.
fn lowest(foreseen: &Forecast) -> Option<f64> {
    foreseen.fan.iter().map(|one| one.p10).min_by(f64::total_cmp)
}

/// The chance of finishing with more and more chips.
fn chances(foreseen: &Forecast, terms: &PlanTerms, hours_left: f64) -> Vec<PlanChance> {
    let (least, most) = (terms.least_chips.0.max(1), terms.most_chips.0);
    let mut chips: Vec<u64> = if most - least.min(most) < MOST_CHANCES {
        (least..=most).collect()
    } else {
        std::iter::successors(Some(least), |chips| chips.checked_mul(2))
            .take_while(|chips| *chips < most)
            .collect()
    };
    let from = chips.len().saturating_sub(MOST_CHANCES as usize - 1);
    chips.drain(..from);
    if chips.last() != Some(&most) {
        chips.push(most);
    }
    let chance = |chips: u64| {
        let chip_hours = chips as f64 * hours_left;
        PlanChance { chips: Chips(chips), chip_hours, probability: foreseen.finish_within(chip_hours) }
    };
    chips.into_iter().map(chance).collect()
}

/// Chip-hours as chip-seconds, rounded up; no end is more than any plan has.
fn seconds_of(chip_hours: f64) -> u64 {
    let seconds = (chip_hours * HOUR as f64).ceil();
    if seconds.is_finite() { seconds.max(0.0) as u64 } else { u64::MAX }
}

/// The prices of a plan's hours.
struct Prices(Option<PriceForecast>);

impl Prices {
    fn new(inputs: &Inputs) -> Self {
        let ahead = seconds_between(inputs.now, inputs.terms.deadline) / HOUR + 1;
        Self(foresee(&inputs.prices, usize::try_from(ahead).unwrap_or(0)))
    }

    /// The price of an hour: the one that has begun has the price in force.
    fn of(&self, inputs: &Inputs, hour: usize) -> f64 {
        let present = inputs.prices.last().copied().flatten();
        let Some(forecast) = &self.0 else { return 0.0 };
        let foreseen = match hour {
            0 => present.or(forecast.prices.first().copied()),
            hour => forecast.prices.get(hour - 1).copied(),
        };
        foreseen.unwrap_or_default()
    }

    fn view(&self, inputs: &Inputs) -> PlanPrices {
        let history_hours = inputs.prices.iter().flatten().count() as u64;
        let Some(forecast) = &self.0 else {
            return PlanPrices {
                words: "There was never a price for this chip type in your pool: the limits are the least there can be. \
                        Look at the market before you place the bids."
                    .to_owned(),
                ..PlanPrices::default()
            };
        };
        let method = |(method, error): &(Method, Option<f64>)| PriceMethod {
            name: method.name().to_owned(),
            title: method.title().to_owned(),
            error: *error,
        };
        PlanPrices {
            chosen: forecast.chosen.name().to_owned(),
            methods: forecast.errors.iter().map(method).collect(),
            history_hours,
            tested: forecast.tested as u64,
            words: super::words::prices(forecast, history_hours),
        }
    }
}

fn windows(foreseen: &Forecast, inputs: &Inputs, prices: &Prices) -> Vec<PlanWindow> {
    let terms = &inputs.terms;
    let hours = hours(inputs.now, terms.deadline, |hour| prices.of(inputs, hour));
    let need = Need {
        chip_seconds: seconds_of(foreseen.quantile(COVER)),
        most: terms.most_chips.0,
        least: terms.least_chips.0,
        upper: prices.0.as_ref().map_or(1.0, |forecast| forecast.upper),
    };
    cheapest(&hours, need)
}

/// What a team earns until an instant, rounded down.
fn income(per_hour: MicroCredits, from: Instant, to: Instant) -> MicroCredits {
    let income = i128::from(per_hour.0) * i128::from(seconds_between(from, to)) / i128::from(HOUR);
    MicroCredits(i64::try_from(income).unwrap_or(i64::MAX))
}

#[cfg(test)]
mod tests;
