//! Reads loss logs as people and programs have them: CSV with a header, JSON lines, TensorBoard's columns, a bare paste,
//! or a list of the API. What can't be a loss log is refused with the lines at fault, each in a sentence.

mod text;

use common::api::{PlanLoss, ReportedLoss};
use planner::log::LossLog;

/// Losses of a plan at most.
pub(crate) const MOST_LOSSES: usize = 20_000;

/// Bytes of a log at most.
pub(crate) const MAX_BYTES: usize = 2 << 20;

/// Most chip-hours that a job may have used.
const MOST_CHIP_HOURS: f64 = 1e9;

/// Lines at fault that are named.
const FAULTS_SHOWN: usize = 5;

/// A step that takes so many times the chip-hours of the median step, or so little of them, is in another unit.
const OTHER_UNIT: f64 = 50.0;

/// A loss so many times the one before it is in another unit.
const OTHER_LOSS: f64 = 1_000.0;

/// A point as it stands in the log, not checked yet.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Point {
    /// Its line or place, from 1.
    at: usize,
    step: f64,
    loss: f64,
    chip_hours: Option<f64>,
}

/// What points are called in a fault.
type Unit = &'static str;

/// The faults found so far.
#[derive(Debug, Default)]
struct Faults {
    said: Vec<String>,
    more: usize,
}

impl Faults {
    fn add(&mut self, unit: Unit, at: usize, what: impl std::fmt::Display) {
        if self.said.len() < FAULTS_SHOWN {
            self.said.push(format!("{unit} {at}: {what}"));
        } else {
            self.more += 1;
        }
    }

    fn finish(mut self) -> Result<(), String> {
        if self.more > 0 {
            self.said.push(format!("and {} more at fault", self.more));
        }
        if self.said.is_empty() { Ok(()) } else { Err(self.said.join("; ")) }
    }
}

/// What a log is read for.
#[derive(Clone, Copy, Debug)]
pub(super) struct Context<'a> {
    /// Chip-hours of a step, where the log does not say what it took.
    pub(super) per_step: Option<f64>,
    /// Losses that are known already, oldest first.
    pub(super) known: &'a [PlanLoss],
}

/// The new losses of a report: its text or its list.
///
/// # Errors
/// Why it is no loss log, in a sentence with the lines at fault.
pub(super) fn read(
    log: &str,
    listed: &[ReportedLoss],
    context: Context<'_>,
) -> Result<Vec<PlanLoss>, String> {
    if log.len() > MAX_BYTES {
        return Err(format!("has {} bytes; the most is {MAX_BYTES}", log.len()));
    }
    if !log.trim().is_empty() && !listed.is_empty() {
        return Err("is sent as a text and as a list; send one of them".to_owned());
    }
    let (unit, points) = if listed.is_empty() {
        ("line", text::points(log)?)
    } else {
        let point = |(at, one): (usize, &ReportedLoss)| Point {
            at: at + 1,
            step: one.step as f64,
            loss: one.loss,
            chip_hours: one.chip_hours,
        };
        ("item", listed.iter().enumerate().map(point).collect())
    };
    checked(unit, &points, context)
}

/// The points as losses, each after the one before it.
fn checked(unit: Unit, points: &[Point], context: Context<'_>) -> Result<Vec<PlanLoss>, String> {
    if points.len() + context.known.len() > MOST_LOSSES {
        return Err(format!(
            "has {} points and {} are known; the most is {MOST_LOSSES}: leave out all but every tenth or so",
            points.len(),
            context.known.len()
        ));
    }
    let mut faults = Faults::default();
    let mut losses: Vec<(usize, PlanLoss)> = Vec::with_capacity(points.len());
    for point in points {
        match one(point, context) {
            Err(what) => faults.add(unit, point.at, what),
            Ok(None) => {}
            Ok(Some(loss)) if is_known(context.known, &loss) => {}
            Ok(Some(loss)) => {
                let before = losses.last().map(|(_, loss)| loss).or(context.known.last());
                match follows(before, &loss) {
                    Err(what) => faults.add(unit, point.at, what),
                    Ok(()) => losses.push((point.at, loss)),
                }
            }
        }
    }
    faults.finish()?;
    same_units(unit, &losses, context.known)?;
    let all = losses.len() + context.known.len();
    if all < LossLog::LEAST_POINTS {
        let points = if all == 1 { "one point" } else { "too few points" };
        return Err(format!(
            "has {points}: a curve can be foreseen from {} on, and well from a few dozen",
            LossLog::LEAST_POINTS
        ));
    }
    Ok(losses.into_iter().map(|(_, loss)| loss).collect())
}

/// Whether a loss was reported before, just so. What is known is in order of steps.
fn is_known(known: &[PlanLoss], loss: &PlanLoss) -> bool {
    known.binary_search_by_key(&loss.step, |one| one.step).is_ok_and(|at| known[at] == *loss)
}

/// A point as a loss; none where nothing had been used yet, which says nothing of what a loss costs.
fn one(point: &Point, context: Context<'_>) -> Result<Option<PlanLoss>, String> {
    let Point { step, loss, chip_hours, .. } = *point;
    if step.is_nan() || step < 0.0 || step.fract() != 0.0 || step > 1e15 {
        return Err(format!("the step is {step}; steps are whole numbers from 0 on"));
    }
    if !loss.is_finite() {
        return Err(format!("the loss is {loss}; leave out steps whose loss is no number"));
    }
    if loss <= 0.0 {
        return Err(format!("the loss is {loss}; only a loss above 0 can be foreseen"));
    }
    let chip_hours = chip_hours.or_else(|| context.per_step.map(|each| each * step)).ok_or(
        "no chip-hours; add a column chip_hours with what was used since the job began, or say how many \
         chip-hours a step takes",
    )?;
    if !chip_hours.is_finite() || !(0.0..=MOST_CHIP_HOURS).contains(&chip_hours) {
        return Err(format!("the chip-hours are {chip_hours}; they must be from 0 to 1,000,000,000"));
    }
    let loss = PlanLoss { step: step as u64, chip_hours, loss };
    Ok((chip_hours > 0.0).then_some(loss))
}

/// Refuses a loss that does not come after the one before it.
fn follows(before: Option<&PlanLoss>, loss: &PlanLoss) -> Result<(), String> {
    let Some(before) = before else { return Ok(()) };
    if loss.step == before.step {
        return Err(format!("step {} is there twice; keep one of the two", loss.step));
    }
    if loss.step < before.step {
        return Err(format!("step {} comes after step {}; sort them by step", loss.step, before.step));
    }
    if loss.chip_hours <= before.chip_hours {
        return Err(format!(
            "the chip-hours are {} and were {} the step before; they count all that was used since the job began, so \
             they grow",
            loss.chip_hours, before.chip_hours
        ));
    }
    if loss.loss > before.loss * OTHER_LOSS {
        return Err(format!(
            "the loss is {}, over 1,000 times the {} before it; is it in another unit?",
            loss.loss, before.loss
        ));
    }
    Ok(())
}

/// Refuses a log whose steps take chip-hours of two kinds, as where some lines count seconds.
fn same_units(unit: Unit, losses: &[(usize, PlanLoss)], known: &[PlanLoss]) -> Result<(), String> {
    let mut before = known.last().copied();
    let mut rates = Vec::with_capacity(losses.len());
    for (at, loss) in losses {
        if let Some(before) = before {
            let steps = (loss.step - before.step) as f64;
            rates.push((*at, (loss.chip_hours - before.chip_hours) / steps));
        }
        before = Some(*loss);
    }
    let known_rates = known
        .windows(2)
        .map(|pair| (pair[1].chip_hours - pair[0].chip_hours) / (pair[1].step - pair[0].step).max(1) as f64);
    let mut sorted: Vec<f64> = rates.iter().map(|(_, rate)| *rate).chain(known_rates).collect();
    sorted.sort_by(f64::total_cmp);
    let Some(median) = sorted.get(sorted.len() / 2).copied().filter(|median| *median > 0.0) else {
        return Ok(());
    };
    let mut faults = Faults::default();
    for (at, rate) in rates {
        let times = rate / median;
        if !(1.0 / OTHER_UNIT..=OTHER_UNIT).contains(&times) {
            let said = if times >= 1.0 {
                format!("{times:.0} times as many")
            } else {
                format!("one in {:.0}", 1.0 / times)
            };
            faults.add(
                unit,
                at,
                format!("a step takes {said} chip-hours as the median step; are hours and seconds mixed up?"),
            );
        }
    }
    faults.finish()
}

#[cfg(test)]
mod tests;
