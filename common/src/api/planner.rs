//! Plans of training jobs: what a job has told of its loss, what it still needs, and the bids that would meet its deadline.
//!
//! Losses, chip-hours and probabilities are measurements and forecasts, so they are numbers; prices and amounts are decimal
//! strings as everywhere.

use serde::{Deserialize, Serialize};

use crate::chips::Chips;
use crate::ids::{BidId, ChipTypeId, PlanId};
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
    /// The bids that were seen: a plan that places more now, or dearer ones, is refused. Without it what the plan says now
    /// is placed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub seen: Option<SeenBids>,
}

/// The bids that a plan would place, as somebody read them.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(deny_unknown_fields)]
pub struct SeenBids {
    /// How many: the windows of the forecast.
    pub bids: u64,
    /// What they cost together at the foreseen prices, in local credits: the sum of `spend` of the windows.
    pub cost: MicroCredits,
}

impl SeenBids {
    /// What a forecast would place.
    #[must_use]
    pub fn of(forecast: &PlanForecast) -> Self {
        let cost = forecast.windows.iter().fold(0_i64, |sum, window| sum.saturating_add(window.spend.0));
        Self { bids: forecast.windows.len() as u64, cost: MicroCredits(cost) }
    }

    /// Whether there are more bids than were seen, or they cost more by over a hundredth: prices move a little with each
    /// cycle.
    #[must_use]
    pub const fn exceeds(self, seen: Self) -> bool {
        let most = seen.cost.0.saturating_add(seen.cost.0 / 100);
        self.bids > seen.bids || self.cost.0 > most
    }
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
