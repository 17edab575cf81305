//! A plan in sentences: how it stands, how its prices were foreseen, what else is to be known.

use common::api::{PlanForecast, PlanTerms, PlanVerdict};
use common::instant::Instant;
use common::measure::{chip_hours, loss, percent};
use common::money::MicroCredits;
use planner::forecast::Remark;

use super::forecast::Inputs;
use super::hours::cost;
use super::prices::PriceForecast;

/// An instant to the minute: "2026-12-01 18:00 UTC".
pub(super) fn day_and_time(at: Instant) -> String {
    let text = at.to_string();
    match (text.get(..10), text.get(11..16)) {
        (Some(day), Some(time)) => format!("{day} {time} UTC"),
        _ => text,
    }
}

/// How a plan stands. `best` is the chance with all chips until the deadline, `lowest` the lowest foreseen loss.
pub(super) fn verdict(made: &PlanForecast, terms: &PlanTerms, best: f64, lowest: Option<f64>) -> String {
    let target = loss(terms.target_loss);
    let (most, deadline) = (terms.most_chips, day_and_time(terms.deadline));
    match made.verdict {
        PlanVerdict::Reached => format!("The target {target} was met: there is nothing left to bid for."),
        PlanVerdict::Overdue => {
            format!("The deadline {deadline} has passed and the target {target} was not met.")
        }
        PlanVerdict::CannotFinish => {
            let below = lowest.filter(|lowest| terms.target_loss < *lowest && made.remaining.p10.is_none());
            let why = below.map_or_else(String::new, |lowest| {
                format!(" The lowest loss foreseen at all is about {}, above the target.", loss(lowest))
            });
            format!(
                "It cannot finish: with all {most} chips until {deadline} the chance to reach {target} is {}.{why} Take a later \
                 deadline, more chips or a higher target.",
                percent(best)
            )
        }
        PlanVerdict::Uncertain => format!(
            "It may not finish: with all {most} chips until {deadline} the chance to reach {target} is {}. The bids take every \
             hour there is.",
            percent(best)
        ),
        PlanVerdict::CanFinish => {
            let needs = made.remaining.p80.map_or_else(String::new, |p80| {
                format!(" {} more chip-hours are enough with 80 %;", chip_hours(p80))
            });
            format!(
                "It can finish:{needs} the cheapest hours until {deadline} reach {target} with {}.",
                percent(made.chance_with_bids)
            )
        }
    }
}

/// How prices were foreseen.
pub(super) fn prices(forecast: &PriceForecast, history_hours: u64) -> String {
    let title = forecast.chosen.title();
    let error =
        forecast.errors.iter().find(|(method, _)| *method == forecast.chosen).and_then(|(_, error)| *error);
    match error {
        None => format!(
            "{history_hours} hours with a price are too few to test a method: the last price is taken to go on, and the \
             limits stand a quarter above it."
        ),
        Some(error) => format!(
            "{title}: of the methods below it was nearest to what came in {} forecasts over the last week, off by {:.1} % \
             of the price on average. Nine in ten prices stayed below {:.2} times the forecast, so that is where the \
             limits stand; a bid never pays more than the market's price.",
            forecast.tested,
            error * 100.0,
            forecast.upper
        ),
    }
}

/// What else is to be known.
pub(super) fn notes(made: &PlanForecast, inputs: &Inputs, remarks: &[Remark]) -> Vec<String> {
    let mut notes = Vec::new();
    if made.verdict == PlanVerdict::Reached {
        return notes;
    }
    // How the plan stands says that a target is met or out of reach, and who spoke says that the curve is unusual.
    let is_said =
        |remark: &&Remark| matches!(remark, Remark::TargetMet | Remark::OutOfReach | Remark::UnlikeTraining);
    notes.extend(remarks.iter().filter(|remark| !is_said(remark)).map(ToString::to_string));
    if inputs.losses.len() < 10 {
        notes.push(format!(
            "Only {} losses are known; the band becomes narrower with a few dozen.",
            inputs.losses.len()
        ));
    }
    if made.windows.is_empty() {
        return notes;
    }
    let per_hour =
        made.windows.iter().map(|one| cost(one.limit, one.chips.0 * 3_600)).max().unwrap_or_default();
    if per_hour > made.funds.cap_per_hour {
        notes.push(format!(
            "At its limits the dearest hour costs {per_hour} credits; the team may bid {} an hour, so it may get fewer chips.",
            made.funds.cap_per_hour
        ));
    }
    let money = MicroCredits(made.funds.balance.0.saturating_add(made.funds.income_until_deadline.0));
    if made.spend_p90 > money {
        notes.push(format!(
            "The spend may come to {} credits; the balance and the income until the deadline are {money}.",
            made.spend_p90
        ));
    }
    notes
}
