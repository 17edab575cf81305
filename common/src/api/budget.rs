//! A team's budget: balance, income, burn rate, what it may spend, and the ledger behind each number.

use std::fmt;

use serde::{Deserialize, Serialize};

use super::{MarketClock, Span};
use crate::chips::Chips;
use crate::ids::{ChipTypeId, PoolId, TeamId};
use crate::instant::Instant;
use crate::money::{MicroCredits, Price};

/// A team's money now. Amounts are in local credits of the team's pool.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct BudgetView {
    /// The last and the next cycle.
    pub clock: MarketClock,
    /// The team.
    pub team: TeamId,
    /// Its display name.
    pub name: String,
    /// Its pool, whose credits these are.
    pub pool: PoolId,
    /// What the ledger says, below zero where the team owes.
    pub balance: MicroCredits,
    /// The balance where it is above zero, else 0.
    pub available: MicroCredits,
    /// What the team owes: minus the balance where it is below zero, else 0.
    pub owed: MicroCredits,
    /// When the ledger was last brought up to date; absent before the first accounting step.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub booked_at: Option<Instant>,
    /// Credits per hour that the team earns.
    pub income: MicroCredits,
    /// Credits per hour that its chips cost now.
    pub burn: MicroCredits,
    /// What the burn rate is made of.
    pub burns: Vec<Burn>,
    /// How long the balance lasts at this rate.
    pub runway: Runway,
    /// What the team's bids may cost.
    pub cap: SpendingCap,
    /// The month so far, against the allowance where there is one.
    pub month: MonthBudget,
    /// Warnings of the last seven days that the balance was about to be used up, the oldest first.
    pub warnings: Vec<RunwayWarning>,
    /// Balance and spend over time.
    pub history: BudgetHistory,
}

/// Chips of one type that a team uses now.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct Burn {
    /// The chip type.
    pub chip_type: ChipTypeId,
    /// Chips used and paid for.
    pub chips: Chips,
    /// Local credits per chip-hour; absent where there is no price.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub local_price: Option<Price>,
    /// Credits per hour.
    pub cost: MicroCredits,
}

/// How long a balance lasts.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum Runway {
    /// Nothing is spent.
    NotSpending,
    /// The income pays for all that is spent.
    Covered,
    /// There is nothing left, and more is spent than earned.
    UsedUp,
    /// So long, when spend and income stay as they are.
    Lasts {
        /// Whole seconds.
        seconds: u64,
    },
}

impl fmt::Display for Runway {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NotSpending => f.write_str("not spending"),
            Self::Covered => f.write_str("does not run out: the income covers it"),
            Self::UsedUp => f.write_str("used up"),
            Self::Lasts { seconds } => write!(f, "lasts {}", Length(*seconds)),
        }
    }
}

/// A length of time in its two largest units.
struct Length(u64);

impl fmt::Display for Length {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let minutes = self.0 / 60;
        let (days, hours, rest) = (minutes / 1_440, minutes / 60 % 24, minutes % 60);
        match (days, hours, rest) {
            (0, 0, 0) => f.write_str("less than a minute"),
            (0, 0, minutes) => write!(f, "{minutes} min"),
            (0, hours, 0) => write!(f, "{hours} h"),
            (0, hours, minutes) => write!(f, "{hours} h {minutes} min"),
            (1, 0, _) => f.write_str("1 day"),
            (1, hours, _) => write!(f, "1 day {hours} h"),
            (days, 0, _) => write!(f, "{days} days"),
            (days, hours, _) => write!(f, "{days} days {hours} h"),
        }
    }
}

/// What a team's bids may cost per hour, and why not more.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct SpendingCap {
    /// Credits per hour.
    pub cap: MicroCredits,
    /// The least of the limits below.
    pub binds: CapLimit,
    /// Income leverage in thousandths.
    pub leverage_thousandths: u32,
    /// Leverage times income.
    pub by_leverage: MicroCredits,
    /// For so many minutes a team must be able to sustain what it bids.
    pub sustain_minutes: u32,
    /// Income, and the balance spread over that time; below zero where the team owes more than it earns in it.
    pub by_sustain: MicroCredits,
}

/// What limits a team's bids.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(rename_all = "snake_case")]
pub enum CapLimit {
    /// Leverage times income.
    Leverage,
    /// What the team can sustain.
    Sustain,
    /// There is no balance that adds to the income.
    Balance,
    /// The team's hard allowance is used up.
    Allowance,
    /// The hard allowance of its pool is used up.
    PoolAllowance,
}

/// A team's month so far; the quarter where its allowance is for one.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct MonthBudget {
    /// Such as "November 2026", or "quarter 4 of 2026".
    pub name: String,
    /// The zone in which it is counted.
    pub time_zone: String,
    /// Its first instant.
    pub starts_at: Instant,
    /// The first instant of the next month.
    pub ends_at: Instant,
    /// Charges booked for it.
    pub spent: MicroCredits,
    /// What will be spent by its end.
    pub forecast: Forecast,
    /// What the team may spend in it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub allowance: Option<AllowanceView>,
    /// What the teams of its pool together may spend, in the pool's own period.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub pool_allowance: Option<AllowanceView>,
    /// What is left to the team: the least of both. Absent without any allowance.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub usable: Option<MicroCredits>,
    /// Which of the two it is.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub binds: Option<AllowanceLevel>,
    /// Shares of the allowance that were reached, in the order they were.
    pub alerts: Vec<AllowanceAlert>,
    /// Shares of the pool's allowance that were reached in the pool's own period, in the order they were.
    pub pool_alerts: Vec<AllowanceAlert>,
}

/// What a month will have cost at its end: what is spent, and the rate of the last days for the rest of it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct Forecast {
    /// Credits at the end of the month.
    pub amount: MicroCredits,
    /// The rate is that of so many seconds before now: seven days, or the market's life where that is shorter.
    pub basis_seconds: u64,
    /// What was spent in that time.
    pub basis_spent: MicroCredits,
}

/// How long the period of an allowance is.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(rename_all = "snake_case")]
pub enum AllowancePeriod {
    /// A month of the calendar.
    #[default]
    Month,
    /// Three months from January, April, July or October on.
    Quarter,
}

impl AllowancePeriod {
    /// As it is stored and shown.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Month => "month",
            Self::Quarter => "quarter",
        }
    }
}

/// What becomes of what is left of an allowance at the end of its period.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(rename_all = "snake_case")]
pub enum Carry {
    /// It is gone.
    #[default]
    None,
    /// At most so much of it adds to the next period.
    Capped(MicroCredits),
    /// All of it adds to the next period.
    Full,
}

impl Carry {
    /// What is carried over of what is left.
    #[must_use]
    pub fn of(self, left: MicroCredits) -> MicroCredits {
        match self {
            Self::None => MicroCredits::ZERO,
            Self::Capped(most) => MicroCredits(left.0.clamp(0, most.0.max(0))),
            Self::Full => MicroCredits(left.0.max(0)),
        }
    }
}

/// Which of the allowances over a team has least left: what the team may spend is the least of them.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(rename_all = "snake_case")]
pub enum AllowanceLevel {
    /// The team's own.
    Team,
    /// Its pool's.
    Pool,
}

/// What a team, or a pool's teams together, may spend in a period.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct AllowanceView {
    /// Credits per period.
    pub amount: MicroCredits,
    /// How long its period is.
    pub period: AllowancePeriod,
    /// What becomes of what is left.
    pub carry: Carry,
    /// What the period before left to this one.
    pub carried: MicroCredits,
    /// What may be spent in this period: the amount and what was carried over.
    pub limit: MicroCredits,
    /// What is spent of it.
    pub spent: MicroCredits,
    /// Used up, it leaves the team's bids only what costs nothing; a soft one only alerts.
    pub hard: bool,
    /// Spent of it in whole percent, rounded down.
    pub used_percent: u64,
    /// What is left; 0 where it is overspent.
    pub left: MicroCredits,
    /// What was spent beyond it.
    pub over: MicroCredits,
}

/// A share of an allowance that was reached.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct AllowanceAlert {
    /// 50, 75, 90 or 100.
    pub percent: u32,
    /// Of this allowance.
    pub amount: MicroCredits,
    /// What was spent by then.
    pub spent: MicroCredits,
    /// The cycle in which it was noticed.
    pub cycle: u64,
    /// When that was.
    pub at: Instant,
}

/// A balance that would last no longer than some hours: told once a day, a day and an hour ahead.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct RunwayWarning {
    /// 24 or 1.
    pub hours: u32,
    /// The balance, in local credits.
    pub balance: MicroCredits,
    /// Credits per hour that the chips cost.
    pub burn: MicroCredits,
    /// Credits per hour that the team earned.
    pub income: MicroCredits,
    /// The cycle in which it was noticed.
    pub cycle: u64,
    /// When that was.
    pub at: Instant,
}

/// Balance and spend over time.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct BudgetHistory {
    /// How far back.
    #[cfg_attr(feature = "openapi", schema(inline))]
    pub span: Span,
    /// Seconds from one point to the next.
    pub step_seconds: u32,
    /// Oldest first.
    pub points: Vec<BudgetPoint>,
}

/// A step of a budget's history.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct BudgetPoint {
    /// Start of the step.
    pub at: Instant,
    /// Income booked in it.
    pub income: MicroCredits,
    /// Charges booked in it.
    pub spent: MicroCredits,
    /// Everything else: grants, corrections, rebases.
    pub other: MicroCredits,
    /// The balance at its end.
    pub balance: MicroCredits,
}

/// An entry of a team's account.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct LedgerEntry {
    /// The transfer that it is a side of.
    pub transfer: u64,
    /// When it was booked.
    pub at: Instant,
    /// `mint`, `income`, `charge`, `rebase`, `correction` or `lapse`.
    pub kind: String,
    /// The cycle from which it counts.
    pub cycle: u64,
    /// What came into the account; below zero what went out.
    pub amount: MicroCredits,
    /// The balance after it.
    pub balance_after: MicroCredits,
    /// Of a charge: the chip type.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub chip_type: Option<ChipTypeId>,
    /// Of a charge: chips times seconds of use.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub chip_seconds: Option<u64>,
    /// Why.
    pub reason: String,
}

/// A transfer with its entries. They sum to zero.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct TransferView {
    /// Its number, from 1 without gaps.
    pub number: u64,
    /// When it was booked.
    pub at: Instant,
    /// `mint`, `income`, `charge`, `rebase`, `correction` or `lapse`.
    pub kind: String,
    /// The cycle from which it counts.
    pub cycle: u64,
    /// Of an accounting step: the first cycle that it covers; it covers those up to the one before `cycle`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub first_cycle: Option<u64>,
    /// The pool whose credits moved.
    pub pool: PoolId,
    /// Why.
    pub reason: String,
    /// Its hash, chained to the transfer before it, in hexadecimal digits.
    pub sha256: String,
    /// The transfer that it corrects, where a person said so.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub corrects: Option<u64>,
    /// The transfers that correct it; of other teams' corrections only where the viewer may read them.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub corrected_by: Vec<u64>,
    /// Its entries. Those of other teams are one where the viewer may not read them.
    pub entries: Vec<TransferEntry>,
}

/// One side of a transfer.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct TransferEntry {
    /// The account: `team`, or the pool's `issuance`, `treasury` or `revenue`; `other_teams` for the sum of several.
    pub account: String,
    /// Whose account it is; absent for a sum.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub owner: Option<String>,
    /// What came into the account.
    pub amount: MicroCredits,
    /// Of a charge: the chip type.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub chip_type: Option<ChipTypeId>,
    /// Of a charge: chips times seconds of use.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub chip_seconds: Option<u64>,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn t059_a_runway_in_words() {
        for (seconds, words) in [
            (9_000, "lasts 2 h 30 min"),
            (59, "lasts less than a minute"),
            (3_600, "lasts 1 h"),
            (90_000, "lasts 1 day 1 h"),
            (172_800, "lasts 2 days"),
        ] {
            assert_eq!(Runway::Lasts { seconds }.to_string(), words);
        }
        assert_eq!(Runway::NotSpending.to_string(), "not spending");
    }
}
