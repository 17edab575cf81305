//! Fairness over time: each team's share of what was used against its share of the purchasing power.

use serde::{Deserialize, Serialize};

use super::MarketClock;
use crate::ids::{PoolId, TeamId};
use crate::instant::Instant;

/// Shares of all teams over a stretch of days.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct SharesView {
    /// The last and the next cycle.
    pub clock: MarketClock,
    /// How many days back: 7, 30 or 90, from the midnight of UTC before.
    pub days: u32,
    /// The first instant that counts; later than asked for where the market is younger.
    pub from: Instant,
    /// The first instant that does not count any more: the start of the cycle in force.
    pub to: Instant,
    /// The teams that used something or had an income, who used most first.
    pub teams: Vec<TeamShare>,
}

/// A team's shares. Those of all teams sum to 1,000,000 but for rounding down.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct TeamShare {
    /// The team.
    pub team: TeamId,
    /// Its display name.
    pub name: String,
    /// Its pool.
    pub pool: PoolId,
    /// Thousandths of chip-hours used and paid for, over all chip types.
    pub used_milli_chip_hours: u64,
    /// Millionths of what all teams used.
    pub used_share_ppm: u64,
    /// Millionths of all purchasing power: the pool's part of the weights times the team's part of its pool's incomes, both
    /// over the time.
    pub budget_share_ppm: u64,
}
