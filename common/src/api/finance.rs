//! Money as finance looks at it: spend over a period, budgets with a forecast, closed months, bookings, statements.

use serde::{Deserialize, Serialize};

use crate::ids::{ChipTypeId, PoolId, TeamId, UserId};
use crate::instant::Instant;
use crate::money::MicroCredits;

/// What the rows of a view of spend stand for.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(rename_all = "snake_case")]
pub enum SpendGroup {
    /// Pools.
    #[default]
    Pool,
    /// Teams.
    Team,
    /// Chip types.
    ChipType,
}

impl SpendGroup {
    /// All of them.
    pub const ALL: [Self; 3] = [Self::Pool, Self::Team, Self::ChipType];

    /// As it stands in an address.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Pool => "pool",
            Self::Team => "team",
            Self::ChipType => "chip_type",
        }
    }
}

/// A stretch of whole days of the organisation's zone.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct PeriodView {
    /// As it stands in an address: `2026-11`, `2026-Q4`, `2026-11-30` or `2026-11-01..2026-11-15`, both days included.
    pub period: String,
    /// In words, such as "November 2026".
    pub title: String,
    /// Its first instant.
    pub starts_at: Instant,
    /// The first instant after it.
    pub ends_at: Instant,
    /// The zone whose days are counted.
    pub time_zone: String,
    /// The name of the period before it, of the same length; none before the first cycle.
    pub earlier: Option<String>,
    /// The name of the period after it; none while it has not begun.
    pub later: Option<String>,
    /// Its last accounting step is booked.
    pub over: bool,
    /// All its months are closed.
    pub closed: bool,
}

/// Use in chip-seconds, by the basis that its name says.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct UseView {
    /// In quotas.
    pub granted_chip_seconds: u64,
    /// Used and paid for.
    pub used_chip_seconds: u64,
    /// Used for free.
    pub opportunistic_chip_seconds: u64,
    /// Granted and not used; never less than nothing.
    pub idle_chip_seconds: u64,
    /// Used beyond what was granted.
    pub over_chip_seconds: u64,
    /// What the ledger's charges are for: use at a price.
    pub charged_chip_seconds: u64,
}

/// Spend of one pool, team or chip type.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct SpendRow {
    /// Its id.
    pub id: String,
    /// Its display name.
    pub name: String,
    /// The pool whose credits `cost` is in; absent where the row spans pools.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub pool: Option<PoolId>,
    /// Charges in the pool's local credits; absent where the row spans pools.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cost: Option<MicroCredits>,
    /// Charges in global credits.
    pub global_cost: MicroCredits,
    /// In global credits, in the period compared with.
    pub global_cost_before: MicroCredits,
    /// `global_cost` less `global_cost_before`: the sum of the two effects.
    pub change: MicroCredits,
    /// The part of the change that comes from other prices.
    pub price_effect: MicroCredits,
    /// The part of the change that comes from other quantities.
    pub quantity_effect: MicroCredits,
    /// The change is worth a look, by the rule that the view states.
    pub unusual: bool,
    /// Use.
    #[serde(flatten)]
    pub usage: UseView,
}

/// Spend of one day.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct SpendDay {
    /// The day in the organisation's zone, such as `2026-11-30`.
    pub day: String,
    /// Its first instant.
    pub starts_at: Instant,
    /// The first instant after it.
    pub ends_at: Instant,
    /// Charges in local credits, where all are of one pool.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cost: Option<MicroCredits>,
    /// Charges in global credits.
    pub global_cost: MicroCredits,
    /// Use.
    #[serde(flatten)]
    pub usage: UseView,
}

/// The days of one pool, team or chip type, for a chart.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct SpendSeries {
    /// Its display name.
    pub name: String,
    /// Global credits, one for each day of the view.
    pub global_cost: Vec<MicroCredits>,
}

/// Spend over a period, by pool, team or chip type. It is what the ledger's charges of the period say.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct SpendView {
    /// The period.
    pub period: PeriodView,
    /// The period it is compared with; of one that is not over, as many days of the one before.
    pub compared: PeriodView,
    /// What the rows stand for.
    pub group: SpendGroup,
    /// Only this pool.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub pool: Option<PoolId>,
    /// Only this team.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub team: Option<TeamId>,
    /// Only this chip type.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub chip_type: Option<ChipTypeId>,
    /// The rows, the dearest first.
    pub rows: Vec<SpendRow>,
    /// Their sum.
    pub total: SpendRow,
    /// The days of the period up to now.
    pub days: Vec<SpendDay>,
    /// The same days for a chart: the dearest pools, teams or chip types, and the rest together.
    pub series: Vec<SpendSeries>,
}

/// A team's month against its allowance, in local credits of its pool.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct BudgetRow {
    /// The team.
    pub team: TeamId,
    /// Its display name.
    pub name: String,
    /// Its pool.
    pub pool: PoolId,
    /// Charged in the month.
    pub spent: MicroCredits,
    /// What it will be at the end of the month; what it was, of a month that is over.
    pub forecast: MicroCredits,
    /// The allowance, where there is one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub allowance: Option<MicroCredits>,
    /// Bids stop at 100 %; without it they go on.
    pub hard: bool,
    /// Whole percent of the allowance that is spent, rounded down.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub used_percent: Option<u64>,
    /// The forecast less the allowance, where it is beyond it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub forecast_over: Option<MicroCredits>,
}

/// What the forecast would have said in the middle of a past month, and what came.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct ForecastTest {
    /// The month.
    pub period: PeriodView,
    /// When the forecast would have been made: at the beginning of its 16th day.
    pub made_at: Instant,
    /// Global credits that it would have said.
    pub forecast: MicroCredits,
    /// Global credits that came.
    pub actual: MicroCredits,
    /// Forecast less actual in tenths of a percent of the actual; absent where nothing was spent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub off_permille: Option<i64>,
}

/// The budgets of a month: allowance, actual, forecast.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct BudgetsView {
    /// The month.
    pub period: PeriodView,
    /// The teams that spent or have an allowance, those nearest to its end first.
    pub rows: Vec<BudgetRow>,
    /// The days whose rate the forecast goes on with, today's hours included.
    pub basis_days: u32,
    /// How far off it was.
    pub tests: Vec<ForecastTest>,
}

/// What was booked to the teams of a pool in a month, by kind of transfer, in its local credits.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct PeriodTotal {
    /// The pool.
    pub pool: PoolId,
    /// The kind of transfer.
    pub kind: String,
    /// The sum of the entries of teams.
    pub amount: MicroCredits,
}

/// How a month was closed.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct CloseView {
    /// When.
    pub closed_at: Instant,
    /// Who, by the display name at that time.
    pub closed_by: String,
    /// Why.
    pub reason: String,
    /// Transfers that count in the month.
    pub transfers: u64,
    /// Their entries.
    pub entries: u64,
    /// SHA-256 over the numbers and hashes of these transfers, as it was stored.
    pub sha256: String,
    /// The ledger still says the same: the hash and all totals, computed now. Absent in a list of months.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub holds: Option<bool>,
}

/// A month of the ledger.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct MonthView {
    /// The month.
    pub period: PeriodView,
    /// How it was closed, where it was.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub close: Option<CloseView>,
    /// Why it can't be closed now, in words; absent where it can or is.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub waits_for: Option<String>,
    /// What was booked.
    pub totals: Vec<PeriodTotal>,
}

/// The months since the first cycle, newest first.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct MonthsView {
    /// The months.
    pub months: Vec<MonthView>,
}

/// What finance books.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(rename_all = "snake_case")]
pub enum BookingKind {
    /// Puts a balance right: credits to a team, or with a negative amount from it.
    Correction,
    /// New credits for a team.
    Grant,
    /// Credits of one team to another.
    Transfer,
}

impl BookingKind {
    /// All of them.
    pub const ALL: [Self; 3] = [Self::Correction, Self::Grant, Self::Transfer];

    /// As it is stored and shown.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Correction => "correction",
            Self::Grant => "grant",
            Self::Transfer => "transfer",
        }
    }
}

/// What became of a booking.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(rename_all = "snake_case")]
pub enum BookingState {
    /// It waits for a second person.
    Pending,
    /// It is in the ledger.
    Booked,
    /// A second person refused it.
    Refused,
    /// Nobody decided in time.
    Expired,
}

impl BookingState {
    /// In a word.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Pending => "pending",
            Self::Booked => "booked",
            Self::Refused => "refused",
            Self::Expired => "expired",
        }
    }
}

/// A decision about a booking.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct DecisionView {
    /// Who, by the display name at that time.
    pub by: String,
    /// When.
    pub at: Instant,
    /// Why.
    pub reason: String,
}

/// A correction, grant or transfer that somebody asked for.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct BookingView {
    /// Its number, from 1.
    pub number: u64,
    /// The id that its client made.
    pub id: String,
    /// What it is.
    pub kind: BookingKind,
    /// The team; of a transfer, the one that gives.
    pub team: TeamId,
    /// The team that gets a transfer.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub to_team: Option<TeamId>,
    /// Local credits of the team's pool.
    pub amount: MicroCredits,
    /// The transfer of the ledger that it corrects.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub corrects: Option<u64>,
    /// Why.
    pub reason: String,
    /// The account that asked.
    pub maker_id: UserId,
    /// Its display name at that time.
    pub maker: String,
    /// When.
    pub made_at: Instant,
    /// Until when a second person may decide.
    pub expires_at: Instant,
    /// What became of it.
    pub state: BookingState,
    /// Who decided, where a second person had to.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub decision: Option<DecisionView>,
    /// The numbers of its transfers in the ledger: two where it crossed pools.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub transfers: Vec<u64>,
}

/// The bookings, newest first, and above what amount they need a second person.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct BookingsView {
    /// Global credits above which a second person approves; absent where each booking needs one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub approval_above: Option<MicroCredits>,
    /// The bookings.
    pub bookings: Vec<BookingView>,
}

/// A line of a statement.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct StatementLine {
    /// The kind of transfer.
    pub kind: String,
    /// Of charges: the chip type.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub chip_type: Option<ChipTypeId>,
    /// Of charges: the exact chip-seconds.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub chip_seconds: Option<u64>,
    /// Of charges: thousandths of chip-hours, rounded so that the lines sum to the rounded total.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub chip_hours_milli: Option<u64>,
    /// Of charges: credits per chip-hour on average, rounded to a micro-credit.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub average_price: Option<MicroCredits>,
    /// What it adds to the balance, exact.
    pub amount: MicroCredits,
    /// The same in hundredths of a credit, rounded so that the lines sum to the rounded total.
    pub rounded: MicroCredits,
    /// Entries of the ledger that it sums.
    pub entries: u64,
}

/// A team's account over a period: what it began with, what came and went, what it ended with.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct StatementView {
    /// Its number; absent while the month is not closed, when it is a draft.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub number: Option<u64>,
    /// What is stated now has the hash that was stored when the month was closed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub holds: Option<bool>,
    /// The organisation.
    pub organisation: String,
    /// The period.
    pub period: PeriodView,
    /// The team.
    pub team: TeamId,
    /// Its display name.
    pub name: String,
    /// Its pool, in whose credits the statement is.
    pub pool: PoolId,
    /// The balance before the period.
    pub opening: MicroCredits,
    /// What came and went.
    pub lines: Vec<StatementLine>,
    /// The sum of the lines.
    pub change: MicroCredits,
    /// The balance at its end, or now.
    pub closing: MicroCredits,
    /// SHA-256 over all that the statement says but its number.
    pub sha256: String,
}

/// A statement in a list.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct StatementRow {
    /// Its number; absent for a draft.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub number: Option<u64>,
    /// The team.
    pub team: TeamId,
    /// Its display name.
    pub name: String,
    /// Its pool.
    pub pool: PoolId,
    /// The balance before the month.
    pub opening: MicroCredits,
    /// What was charged for chips.
    pub charges: MicroCredits,
    /// The balance at its end, or now.
    pub closing: MicroCredits,
}

/// The statements of a month.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct StatementsView {
    /// The month.
    pub period: PeriodView,
    /// The statements that the viewer may read, in order of pools and teams.
    pub statements: Vec<StatementRow>,
}
