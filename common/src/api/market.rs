//! The Market page: a row per chip type, and the history behind a row.

use serde::{Deserialize, Serialize};

use super::ViewerView;
use crate::chips::Chips;
use crate::ids::{ChipTypeId, PoolId};
use crate::instant::Instant;
use crate::money::Price;

/// What every page shows around its content.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct ShellView {
    /// The organisation's display name.
    pub organisation: String,
    /// Where the numbers come from, when that must be said (a replayed trace and its licence).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub data_note: Option<String>,
    /// The clock of the market.
    pub clock: MarketClock,
    /// All pools, in order of their ids.
    pub pools: Vec<PoolName>,
    /// Who is signed in.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub viewer: Option<ViewerView>,
}

/// The market as of the last cleared cycle.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct MarketView {
    /// The organisation's display name.
    pub organisation: String,
    /// Where the numbers come from, when that must be said (a replayed trace and its licence).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub data_note: Option<String>,
    /// The clock of the market.
    pub clock: MarketClock,
    /// All pools, in order of their ids; each is a choice for "your price".
    pub pools: Vec<PoolName>,
    /// The pool whose local prices the rows show, when one was asked for.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub pool: Option<PoolId>,
    /// One row per chip type, in order of their ids.
    pub rows: Vec<ChipTypeRow>,
}

/// A pool's id and display name.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct PoolName {
    /// The pool.
    pub id: PoolId,
    /// Its display name.
    pub name: String,
}

/// The last and the next cycle, and whether the quotas in force are fresh. Also the data of each server event.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct MarketClock {
    /// Number of the last cleared cycle; 0 before the first one.
    pub cycle: u64,
    /// When that cycle began.
    pub cleared_at: Instant,
    /// When the next cycle begins.
    pub next_at: Instant,
    /// Seconds between two cycles.
    pub cycle_seconds: u32,
    /// Present when the last cycles failed or are late: the quotas in force are old.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub stale: Option<Stale>,
}

/// Quotas past their time: they stay in force until a cycle clears again.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct Stale {
    /// Since when a newer cycle is due.
    pub since: Instant,
    /// Why, in words.
    pub reason: String,
}

/// One chip type now.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct ChipTypeRow {
    /// The chip type.
    pub chip_type: ChipTypeId,
    /// Its display name.
    pub name: String,
    /// Reference price in global credits per chip-hour; absent when nobody asked ("no trade") or nothing is shared.
    pub reference_price: Option<Price>,
    /// What the chosen pool pays, in its local credits per chip-hour.
    pub local_price: Option<Price>,
    /// Reference price one hour ago, where there was one.
    pub reference_price_1h_ago: Option<Price>,
    /// Reference price 24 hours ago, where there was one.
    pub reference_price_24h_ago: Option<Price>,
    /// Reference prices of the last 24 hours, oldest first, evenly spaced; a gap is absent.
    pub last_24h: Vec<Option<Price>>,
    /// Use of all its chips.
    pub occupancy: Occupancy,
    /// Chips asked for at any price.
    pub asked: Chips,
    /// It is retired: it takes no new bids, and leaves the market with the last one that names it.
    pub retired: bool,
}

/// What a chip type's chips do; `paid + opportunistic + idle = supply`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct Occupancy {
    /// All chips, owned and shared.
    pub supply: Chips,
    /// Chips that bids won and use.
    pub paid: Chips,
    /// Chips that nobody paid for, used by waiting jobs for free.
    pub opportunistic: Chips,
    /// Chips doing nothing.
    pub idle: Chips,
}

/// How far back a history goes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub enum Span {
    /// One hour.
    #[serde(rename = "1h")]
    Hour,
    /// 24 hours.
    #[default]
    #[serde(rename = "24h")]
    Day,
    /// Seven days.
    #[serde(rename = "7d")]
    Week,
    /// Ninety days.
    #[serde(rename = "90d")]
    Quarter,
}

impl Span {
    /// All spans, shortest first.
    pub const ALL: [Self; 4] = [Self::Hour, Self::Day, Self::Week, Self::Quarter];

    /// The span as it stands in an address.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Hour => "1h",
            Self::Day => "24h",
            Self::Week => "7d",
            Self::Quarter => "90d",
        }
    }

    /// Its length in seconds.
    #[must_use]
    pub const fn seconds(self) -> i64 {
        match self {
            Self::Hour => 3_600,
            Self::Day => 86_400,
            Self::Week => 7 * 86_400,
            Self::Quarter => 90 * 86_400,
        }
    }
}

impl std::str::FromStr for Span {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        Self::ALL
            .into_iter()
            .find(|span| span.as_str() == text)
            .ok_or_else(|| format!("{text:?} is not a span; use 1h, 24h, 7d or 90d"))
    }
}

/// The price of one chip type over time.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct PriceHistory {
    /// The chip type.
    pub chip_type: ChipTypeId,
    /// The pool of `local_price`, when one was asked for.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub pool: Option<PoolId>,
    /// How far back it goes.
    pub span: Span,
    /// Seconds that one point covers; 0 when each point is one cycle.
    pub step_seconds: u32,
    /// The points, oldest first.
    pub points: Vec<PricePoint>,
    /// Changes of supply within the span, oldest first.
    pub supply_changes: Vec<SupplyChange>,
}

/// A cycle, or the time-weighted average over a step. Absent prices are gaps ("no trade").
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct PricePoint {
    /// Start of the cycle or step.
    pub at: Instant,
    /// Last cycle in the step.
    pub cycle: u64,
    /// Reference price, global credits per chip-hour.
    pub reference_price: Option<Price>,
    /// Lowest reference price in the step.
    pub low: Option<Price>,
    /// Highest reference price in the step.
    pub high: Option<Price>,
    /// The pool's price in its local credits per chip-hour.
    pub local_price: Option<Price>,
    /// Chips asked for at any price.
    pub asked: Chips,
    /// Use of the chips.
    pub occupancy: Occupancy,
}

/// The supply of a chip type became another.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct SupplyChange {
    /// When it took effect.
    pub at: Instant,
    /// Chips before.
    pub before: Chips,
    /// Chips after.
    pub after: Chips,
}
