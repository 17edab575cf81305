//! The Allocations page: who held how many chips over time.

use serde::{Deserialize, Serialize};

use super::{MarketClock, PoolName, Span};
use crate::chips::Chips;
use crate::ids::{ChipTypeId, PoolId, TeamId};
use crate::instant::Instant;
use crate::money::MicroCredits;

/// What the stacked series stand for.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(rename_all = "snake_case")]
pub enum GroupBy {
    /// One series per pool.
    #[default]
    Pool,
    /// One series per team.
    Team,
    /// One series per chip type.
    ChipType,
}

impl GroupBy {
    /// All groupings.
    pub const ALL: [Self; 3] = [Self::Pool, Self::Team, Self::ChipType];

    /// The grouping as it stands in an address.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Pool => "pool",
            Self::Team => "team",
            Self::ChipType => "chip_type",
        }
    }
}

impl std::str::FromStr for GroupBy {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        Self::ALL
            .into_iter()
            .find(|group| group.as_str() == text)
            .ok_or_else(|| format!("{text:?} is not a grouping; use pool, team or chip_type"))
    }
}

/// What part of the allocations is asked for.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct AllocationsQuery {
    /// How far back.
    #[serde(default)]
    pub span: Span,
    /// What the series stand for.
    #[serde(default)]
    pub group_by: GroupBy,
    /// Only this chip type.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub chip_type: Option<ChipTypeId>,
    /// Only this pool.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub pool: Option<PoolId>,
    /// Only this team.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub team: Option<TeamId>,
    /// So many of the largest series by themselves, and the others joined; all by themselves without it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub most: Option<u32>,
}

/// Chips over time.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct AllocationsView {
    /// The clock of the market.
    pub clock: MarketClock,
    /// What was asked.
    pub query: AllocationsQuery,
    /// All chip types, pools and teams to filter by.
    pub chip_types: Vec<ChipTypeId>,
    /// All pools.
    pub pools: Vec<PoolName>,
    /// All teams, of the pool where one is asked for. None where they are more than 500: ask for a pool.
    pub teams: Vec<TeamName>,
    /// Seconds that one step covers.
    pub step_seconds: u32,
    /// Start of each step, oldest first.
    pub steps: Vec<Instant>,
    /// One series per pool, team or chip type, largest first; behind them the joined ones, without an id.
    pub series: Vec<AllocationSeries>,
    /// How many series the last one joins; 0 where each stands by itself.
    #[serde(default)]
    pub joined: u32,
    /// Average supply in each step, in thousandths of a chip.
    pub supply_milli: Vec<u64>,
}

/// A team's id, display name and pool.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct TeamName {
    /// The team.
    pub id: TeamId,
    /// Its display name.
    pub name: String,
    /// Its pool.
    pub pool: PoolId,
}

/// Chips of one pool, team or chip type in each step.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct AllocationSeries {
    /// Id of the pool, team or chip type.
    pub id: String,
    /// Its display name.
    pub name: String,
    /// Average chips granted (the quota) in each step, in thousandths of a chip.
    pub granted_milli: Vec<u64>,
    /// Average chips used and paid for in each step, in thousandths of a chip.
    pub used_milli: Vec<u64>,
    /// Chip-hours granted over the span, in thousandths.
    pub granted_milli_chip_hours: u64,
    /// Chip-hours used over the span, in thousandths.
    pub used_milli_chip_hours: u64,
    /// What the use cost in local credits; absent where the series joins several pools' currencies.
    pub cost: Option<MicroCredits>,
    /// Chips now.
    pub now: Chips,
}
