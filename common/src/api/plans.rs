//! Plans as they are listed and opened, and what all open plans come to.

use serde::{Deserialize, Serialize};

use super::{BidStatus, ChipHoursBand, PlanForecast, PlanLoss, PlanTerms, PlanVerdict, TeamName};
use crate::chips::Chips;
use crate::ids::{BidId, ChipTypeId, PlanId, TeamId};
use crate::instant::Instant;
use crate::money::{MicroCredits, Price};

/// A plan in a list, with its newest stored forecast.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct PlanSummary {
    /// The plan.
    pub id: PlanId,
    /// Its team.
    pub team: TeamId,
    /// What it is for.
    pub terms: PlanTerms,
    /// Number of its newest version.
    pub version: u64,
    /// It is over.
    pub closed: bool,
    /// When it was made.
    pub made_at: Instant,
    /// Who made it: a display name.
    pub made_by: String,
    /// When its newest forecast was worked out.
    pub forecast_at: Instant,
    /// Losses known.
    pub losses: u64,
    /// The newest of them.
    pub last: PlanLoss,
    /// How it stands.
    pub verdict: PlanVerdict,
    /// Chip-hours still needed with 50 %.
    pub remaining_p50: Option<f64>,
    /// Probability (0 to 1) that the planned hours are enough.
    pub chance: f64,
    /// Spend with 50 %.
    pub spend_p50: MicroCredits,
    /// Spend with 90 %.
    pub spend_p90: MicroCredits,
}

/// A bid that was placed by a plan.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct PlanBid {
    /// The bid.
    pub bid: BidId,
    /// Where it is in its life.
    pub status: BidStatus,
    /// Chips.
    pub chips: Chips,
    /// Not before; absent: at once.
    pub from: Option<Instant>,
    /// Not at or after.
    pub to: Option<Instant>,
    /// Limit; absent: none.
    pub limit: Option<Price>,
    /// Work done, in chip-seconds.
    pub done_chip_seconds: u64,
}

/// A plan as it was after a change of it or a report of losses.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct PlanStep {
    /// The version.
    pub version: u64,
    /// When.
    pub at: Instant,
    /// Who: a display name.
    pub by: String,
    /// Losses known then.
    pub losses: u64,
    /// How it stood.
    pub verdict: PlanVerdict,
    /// Chip-hours still needed then with 50 %.
    pub remaining_p50: Option<f64>,
    /// Chip-hours still needed then with 90 %.
    pub remaining_p90: Option<f64>,
    /// Spend with 50 %, as it was foreseen then.
    pub spend_p50: MicroCredits,
}

/// What became of a report of losses: how the plan stands with them.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct PlanReported {
    /// The plan's version with them.
    pub version: u64,
    /// Losses of the report that were not known before.
    pub new: u64,
    /// Losses known.
    pub losses: u64,
    /// How it stands.
    pub verdict: PlanVerdict,
    /// The same in a sentence with its numbers.
    pub verdict_words: String,
    /// Chip-hours still needed.
    pub remaining: ChipHoursBand,
    /// Probability (0 to 1) that the planned hours are enough.
    pub chance_with_bids: f64,
}

/// Whether the bids of a plan still fit it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct PlanFit {
    /// They do.
    pub fits: bool,
    /// What to change, a sentence each; empty where they fit.
    pub changes: Vec<String>,
}

/// A plan opened: worked out anew at each look.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct PlanView {
    /// The plan.
    pub id: PlanId,
    /// Its team.
    pub team: TeamName,
    /// What it is for.
    pub terms: PlanTerms,
    /// Number of its newest version; a change names it.
    pub version: u64,
    /// It is over.
    pub closed: bool,
    /// When it was made.
    pub made_at: Instant,
    /// Who made it: a display name.
    pub made_by: String,
    /// The viewer may change it and place its bids.
    pub may_change: bool,
    /// Losses, oldest first; every so-manieth where there are more than 400. All of them are at `…/losses`.
    pub losses: Vec<PlanLoss>,
    /// What the plan says now.
    pub forecast: PlanForecast,
    /// What it said after each change or report, newest first, the last 20.
    pub steps: Vec<PlanStep>,
    /// Bids that it placed, in order of time.
    pub bids: Vec<PlanBid>,
    /// Whether they still fit; absent where it has none.
    pub fit: Option<PlanFit>,
}

/// A team's plans.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct PlansView {
    /// The team.
    pub team: TeamName,
    /// The viewer may make plans.
    pub may_change: bool,
    /// Open ones first, then newest first; at most 200.
    pub plans: Vec<PlanSummary>,
}

/// A plan's losses, all of them.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct PlanLosses {
    /// The plan.
    pub id: PlanId,
    /// Oldest first.
    pub losses: Vec<PlanLoss>,
}

/// What open plans of a team would spend on a day.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct PlannedSpend {
    /// The day in the organisation's time zone, `2026-12-01`.
    pub day: String,
    /// The team.
    pub team: TeamId,
    /// Its display name.
    pub team_name: String,
    /// Plans that bid on the day.
    pub plans: u64,
    /// At foreseen prices, in the team's local credits.
    pub spend: MicroCredits,
    /// At the limits of the bids.
    pub at_most: MicroCredits,
}

/// What open plans would ask of a chip type on a day.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct PlannedDemand {
    /// The day in the organisation's time zone, `2026-12-01`.
    pub day: String,
    /// The chip type.
    pub chip_type: ChipTypeId,
    /// Plans that bid on the day.
    pub plans: u64,
    /// What they would use, in chip-seconds.
    pub chip_seconds: u64,
    /// What there is on the day as planned now, in chip-seconds.
    pub supply_chip_seconds: u64,
    /// Most chips asked for at one time of the day.
    pub peak_chips: Chips,
    /// Chips there are.
    pub supply: Chips,
}
