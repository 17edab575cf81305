//! What is wrong with what a plan is for, found before anything is foreseen.

use common::api::{PlanForecast, PlanLoss, PlanTerms, SeenBids, TeamName};
use common::instant::Instant;
use common::measure::loss;
use common::words::counted;

use super::super::checks::Checks;
use super::super::read::latest::Latest;
use crate::error::{AppError, ErrorKind};
use crate::store::planner::StoredPlan;

/// Longest name of a plan, in characters.
const MAX_NAME: usize = 100;

/// Days ahead that a deadline may lie: beyond them neither prices nor losses can be foreseen.
const MOST_DAYS: i64 = 60;

/// Most chip-hours of one step.
const MOST_PER_STEP: f64 = 1e6;

/// Checks the terms of a team's plan; field paths begin with `terms.`.
pub(super) fn terms(checks: &mut Checks, latest: &Latest, team: &TeamName, now: Instant, terms: &PlanTerms) {
    checks.name("terms.name", &terms.name);
    checks.length("terms.name", &terms.name, MAX_NAME);
    let chip_type = &terms.chip_type;
    let (least, most) = (terms.least_chips.0, terms.most_chips.0);
    match latest.most_chips(&team.pool, chip_type) {
        None => {
            checks.refuse("terms.chip_type", format!("names {chip_type}, and there is no such chip type"))
        }
        Some(_) if latest.is_retired(chip_type) => checks.refuse(
            "terms.chip_type",
            format!("names {chip_type}, which is retired and takes no new bids; choose another chip type"),
        ),
        Some(reach) if most > reach.most().0 => checks.refuse(
            "terms.most_chips",
            format!("is {most} {chip_type}; your pool can hold {} at most", reach.most()),
        ),
        Some(_) => {}
    }
    if most == 0 {
        checks.refuse("terms.most_chips", "is 0; it must be at least 1");
    } else if !(1..=most).contains(&least) {
        checks
            .refuse("terms.least_chips", format!("is {least}; it must be from 1 to {most}, the most chips"));
    }
    if !(terms.target_loss.is_finite() && terms.target_loss > 0.0) {
        checks.refuse("terms.target_loss", format!("is {}; it must be a number above 0", terms.target_loss));
    }
    if terms.deadline <= now {
        checks.refuse(
            "terms.deadline",
            format!("is {}, which is past; it is {} now", terms.deadline, now.whole_second()),
        );
    } else if terms.deadline > now.plus_seconds(MOST_DAYS * 86_400) {
        checks.refuse(
            "terms.deadline",
            format!("is {}; the most is {MOST_DAYS} days ahead, nobody can foresee more", terms.deadline),
        );
    }
    let is_amount = |each: &f64| each.is_finite() && *each > 0.0 && *each <= MOST_PER_STEP;
    if let Some(each) = terms.chip_hours_per_step.filter(|each| !is_amount(each)) {
        checks.refuse(
            "terms.chip_hours_per_step",
            format!("is {each}; it must be above 0 and at most 1,000,000 chip-hours"),
        );
    }
}

/// Refuses a new plan whose target was met before.
pub(super) fn target(checks: &mut Checks, losses: &[PlanLoss], terms: &PlanTerms) {
    if let Some(met) = losses.iter().find(|one| one.loss <= terms.target_loss) {
        checks.refuse(
            "terms.target_loss",
            format!(
                "is {}, and the loss was {} already at step {}: nothing is left to do; give a lower target",
                loss(terms.target_loss),
                loss(met.loss),
                met.step
            ),
        );
    }
}

/// Refuses to place what is more than was seen.
pub(super) fn seen(forecast: &PlanForecast, seen: Option<SeenBids>) -> Result<(), AppError> {
    let now = SeenBids::of(forecast);
    let Some(seen) = seen.filter(|seen| now.exceeds(*seen)) else { return Ok(()) };
    let words = |bids: SeenBids| format!("{} for {} credits", counted(bids.bids, "bid"), bids.cost);
    Err(AppError::new(
        ErrorKind::PreconditionFailed,
        format!(
            "the plan has become dearer since you read it, so nothing is placed: at foreseen prices it was {} and is {} now; \
             look at the hours and place them again",
            words(seen),
            words(now)
        ),
    ))
}

/// Refuses a change that was made from another version than the newest.
pub(super) fn version(plan: &StoredPlan, seen: u64) -> Result<(), AppError> {
    if plan.newest.version == seen {
        return Ok(());
    }
    Err(AppError::new(
        ErrorKind::PreconditionFailed,
        format!(
            "the plan was changed since you read it: it is at version {}, your change was made from version {seen}; read it \
             again",
            plan.newest.version
        ),
    ))
}
