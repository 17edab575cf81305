//! Plans of training jobs: what a job has told of its loss, what it still needs, and the bids that would meet its deadline.
//!
//! Losses, chip-hours and probabilities are measurements and forecasts, so they are numbers; prices and amounts are decimal
//! strings as everywhere.

use serde::{Deserialize, Serialize};

use super::{BidStatus, TeamName};
use crate::chips::Chips;
use crate::ids::{BidId, ChipTypeId, PlanId, TeamId};
use crate::instant::Instant;
use crate::money::{MicroCredits, Price};

/// What a job reported: its loss after a step, and what it had used by then.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(deny_unknown_fields)]
pub struct PlanLoss {
    /// Training step, growing.
    pub step: u64,
    /// Chip-hours used since the job began, growing.
    pub chip_hours: f64,
    /// Training loss, above 0.
    pub loss: f64,
}

/// What a job reports: as [`PlanLoss`], with the chip-hours left out where the plan knows them per step.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(deny_unknown_fields)]
pub struct ReportedLoss {
    /// Training step, growing.
    pub step: u64,
    /// Chip-hours used since the job began; may be left out where the plan has `chip_hours_per_step`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub chip_hours: Option<f64>,
    /// Training loss, above 0.
    pub loss: f64,
}

/// What a plan is for; all that its team may change.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(deny_unknown_fields)]
pub struct PlanTerms {
    /// Display name, 1 to 100 characters.
    pub name: String,
    /// The chip type that the job runs on.
    pub chip_type: ChipTypeId,
    /// Most chips it can use at once.
    pub most_chips: Chips,
    /// Fewest chips it can run on.
    #[serde(default = "one_chip")]
    pub least_chips: Chips,
    /// The loss to reach.
    pub target_loss: f64,
    /// By when.
    pub deadline: Instant,
    /// Chip-hours of one step, where the losses do not say what they took.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub chip_hours_per_step: Option<f64>,
}

const fn one_chip() -> Chips {
    Chips(1)
}

/// A plan to make. The client makes the id (a UUID), so that a repeated request is recognised.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(deny_unknown_fields)]
pub struct NewPlan {
    /// The plan.
    pub id: PlanId,
    /// What it is for.
    pub terms: PlanTerms,
    /// The losses so far as a text: CSV with a header, JSON lines, or TensorBoard's columns `Wall time,Step,Value`.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub log: String,
    /// The losses so far as a list; either this or `log`.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub losses: Vec<ReportedLoss>,
}

/// What is to change of a plan.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(deny_unknown_fields)]
pub struct ChangedPlan {
    /// The version that the change was made from.
    pub version: u64,
    /// What it is for from now on.
    pub terms: PlanTerms,
    /// The plan is over: it takes no losses and places no bids any more. Its bids stay as they are.
    #[serde(default)]
    pub closed: bool,
}

/// Losses that a job reports. The client makes the id, so that a repeated request is recognised.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(deny_unknown_fields)]
pub struct PostedLosses {
    /// The report, 1 to 64 letters, digits and - _ . :
    pub id: String,
    /// As a text, as in [`NewPlan::log`].
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub log: String,
    /// As a list; either this or `log`.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub losses: Vec<ReportedLoss>,
}

/// Makes the bids of a plan what the plan says: places, changes and cancels, all or none.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(deny_unknown_fields)]
pub struct PlaceBidsOfPlan {
    /// Made by the client; the same id again changes nothing. The ids of new bids begin with it.
    pub id: String,
    /// The version of the plan that was seen; a newer one is a conflict.
    pub version: u64,
}

/// What became of the bids of a plan.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct PlanBidsPlaced {
    /// New bids.
    pub placed: Vec<BidId>,
    /// Bids that ask for something else now.
    pub changed: Vec<BidId>,
    /// Bids that were ended.
    pub cancelled: Vec<BidId>,
    /// The cycle from which it holds.
    pub effective_cycle: u64,
}

/// How a plan stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(rename_all = "snake_case")]
pub enum PlanVerdict {
    /// The target was met.
    Reached,
    /// The deadline has passed.
    Overdue,
    /// With all chips until the deadline it is met with a probability below 5 %.
    CannotFinish,
    /// It can be met, but not with 80 %.
    Uncertain,
    /// The planned hours meet it with at least 80 %.
    CanFinish,
}

/// Who foresaw the loss.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(rename_all = "snake_case")]
pub enum PlanPredictor {
    /// Conditional flow matching, calibrated.
    Flow,
    /// The offset power law.
    OffsetPower,
    /// The wider band of the two.
    Wider,
}

/// Chip-hours still needed; absent where so many of the foreseen curves never get there.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct ChipHoursBand {
    /// Enough with 10 %.
    pub p10: Option<f64>,
    /// Enough with 50 %.
    pub p50: Option<f64>,
    /// Enough with 80 %: what the bids are to cover.
    pub p80: Option<f64>,
    /// Enough with 90 %.
    pub p90: Option<f64>,
}

/// The foreseen loss after so many chip-hours.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct PlanFanPoint {
    /// Chip-hours since the job began.
    pub chip_hours: f64,
    /// One in ten curves is below.
    pub p10: f64,
    /// Half of the curves are below.
    pub p50: f64,
    /// Nine in ten curves are below.
    pub p90: f64,
}

/// What a number of chips would do.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct PlanChance {
    /// Chips, all the time until the deadline.
    pub chips: Chips,
    /// The chip-hours that come to.
    pub chip_hours: f64,
    /// Probability (0 to 1) that the target is met by the deadline.
    pub probability: f64,
}

/// Hours to bid for.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct PlanWindow {
    /// From here.
    pub from: Instant,
    /// To before here.
    pub to: Instant,
    /// Chips at once.
    pub chips: Chips,
    /// Foreseen price, in local credits per chip-hour: the mean over the hours.
    pub price: Price,
    /// The limit of the bid: nine in ten foreseen prices are below.
    pub limit: Price,
    /// What the window gives at most.
    pub chip_seconds: u64,
    /// What that costs at the foreseen price.
    pub spend: MicroCredits,
}

/// A way to foresee prices, and how well it did on the past.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct PriceMethod {
    /// A stable name.
    pub name: String,
    /// Its name for people.
    pub title: String,
    /// Mean absolute error as a part of the mean price, in the back-test; absent where there was no test.
    pub error: Option<f64>,
}

/// How the prices of a plan were foreseen.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct PlanPrices {
    /// The method that was chosen: the one with the least error.
    pub chosen: String,
    /// All that were tried.
    pub methods: Vec<PriceMethod>,
    /// Hours of the pool's prices that were read.
    pub history_hours: u64,
    /// Forecasts that the back-test compared with what came.
    pub tested: u64,
    /// Why, in words.
    pub words: String,
}

/// The team's money beside what the plan would spend, in local credits.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct PlanFunds {
    /// Balance.
    pub balance: MicroCredits,
    /// Income until the deadline.
    pub income_until_deadline: MicroCredits,
    /// Most the team may bid per hour.
    pub cap_per_hour: MicroCredits,
}

/// What a plan says at one time.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct PlanForecast {
    /// When it was worked out.
    pub at: Instant,
    /// Losses known.
    pub losses: u64,
    /// The newest of them.
    pub last: PlanLoss,
    /// How it stands.
    pub verdict: PlanVerdict,
    /// The same in a sentence with its numbers.
    pub verdict_words: String,
    /// Who foresaw the loss.
    pub predictor: PlanPredictor,
    /// The curve is unlike those that the predictor was trained on.
    pub unlike_training: bool,
    /// Which predictor spoke and why, in words.
    pub why: String,
    /// Chip-hours still needed.
    pub remaining: ChipHoursBand,
    /// The loss to come.
    pub fan: Vec<PlanFanPoint>,
    /// Probability of finishing by the deadline, by chips.
    pub chances: Vec<PlanChance>,
    /// How prices were foreseen.
    pub prices: PlanPrices,
    /// The cheapest hours that cover what is needed, in order of time.
    pub windows: Vec<PlanWindow>,
    /// Chip-hours that they give.
    pub covered_chip_hours: f64,
    /// Probability (0 to 1) that this is enough.
    pub chance_with_bids: f64,
    /// Spend with 50 %.
    pub spend_p50: MicroCredits,
    /// Spend with 90 %.
    pub spend_p90: MicroCredits,
    /// The team's money.
    pub funds: PlanFunds,
    /// What else is to be known, a sentence each.
    pub notes: Vec<String>,
}

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
