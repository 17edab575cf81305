//! Plans as they are shown.

use common::api::{BidStatus, PlanBid, PlanForecast, PlanLoss, PlanStep, PlanSummary, PlanView, TeamName};

use super::forecast::thinned;
use super::place::fit;
use crate::store::planner::{PlanVersion, StoredPlan};

/// Versions in the list of what a plan said.
pub(super) const STEPS: u32 = 20;

/// Losses of a view.
const LOSSES: usize = 400;

/// A plan in a list.
pub(super) fn summary(plan: StoredPlan) -> PlanSummary {
    let StoredPlan { id, team, made_at, made_by, newest, forecast, .. } = plan;
    let PlanVersion { version, terms, closed, .. } = newest;
    PlanSummary {
        id,
        team,
        terms,
        version,
        closed,
        made_at,
        made_by,
        forecast_at: forecast.at,
        losses: forecast.losses,
        last: forecast.last,
        verdict: forecast.verdict,
        remaining_p50: forecast.remaining.p50,
        chance: forecast.chance_with_bids,
        spend_p50: forecast.spend_p50,
        spend_p90: forecast.spend_p90,
    }
}

fn step(version: &PlanVersion) -> PlanStep {
    let said = &version.said;
    PlanStep {
        version: version.version,
        at: version.written_at,
        by: version.written_by.clone(),
        losses: said.losses,
        verdict: said.verdict,
        remaining_p50: said.remaining.p50,
        remaining_p90: said.remaining.p90,
        spend_p50: said.spend_p50,
    }
}

/// A plan opened.
pub(super) fn view(
    team: TeamName,
    plan: StoredPlan,
    losses: &[PlanLoss],
    forecast: PlanForecast,
    steps: &[PlanVersion],
    bids: Vec<PlanBid>,
    may_change: bool,
) -> PlanView {
    let is_open = bids.iter().any(|bid| matches!(bid.status, BidStatus::Live | BidStatus::Paused));
    let fit = is_open.then(|| fit(&plan.newest.terms, &forecast, &bids));
    let StoredPlan { id, made_at, made_by, newest, .. } = plan;
    PlanView {
        id,
        team,
        terms: newest.terms,
        version: newest.version,
        closed: newest.closed,
        made_at,
        made_by,
        may_change,
        losses: thinned(losses, LOSSES),
        forecast,
        steps: steps.iter().map(step).collect(),
        bids,
        fit,
    }
}
