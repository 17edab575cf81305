//! The inputs of one clearing, in the form that is stored, hashed and exchanged as JSON.

use common::chips::Chips;
use common::ids::{BidId, ChipTypeId, PoolId, TeamId};
use common::instant::Instant;
use common::money::{MicroCredits, Price};
use serde::{Deserialize, Serialize};

/// Everything a clearing depends on. Two snapshots with the same content, in whatever order, clear alike.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Snapshot {
    /// Number of the cycle; part of every tie-break.
    pub cycle: u64,
    /// When the cycle begins; decides which bids are in their window.
    pub time: Instant,
    /// Minutes for which a team must be able to sustain what it bids; 1 to 100,000.
    #[serde(default = "default_sustain_minutes")]
    pub sustain_minutes: u32,
    /// What has a price.
    pub chip_types: Vec<ChipType>,
    /// Business units.
    pub pools: Vec<Pool>,
    /// Teams, each in one pool.
    pub teams: Vec<Team>,
    /// Live bids.
    pub bids: Vec<Bid>,
}

const fn default_sustain_minutes() -> u32 {
    120
}

/// A chip type and its shared supply.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ChipType {
    /// The chip type.
    pub id: ChipTypeId,
    /// Shared chips, before pools lend theirs.
    pub shared: Chips,
    /// Floor of the reference price in global credits per chip-hour; "0.00" is none.
    #[serde(default)]
    pub reserve_price: Price,
}

/// How many of its idle owned chips a pool lends to the shared market, for each chip type.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Lending {
    /// All that its teams do not ask for.
    #[default]
    All,
    /// None.
    None,
    /// At most so many of each chip type.
    AtMost(Chips),
}

/// A pool, what it owns, and what its chips cost in the last cycle.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Pool {
    /// The pool.
    pub id: PoolId,
    /// Its whole purchasing power, in global credits per hour.
    pub weight: MicroCredits,
    /// What it lends when idle.
    #[serde(default)]
    pub lending: Lending,
    /// Chips it owns, per chip type; a type not named is none.
    #[serde(default)]
    pub owned: Vec<OwnedChips>,
    /// Its price in the last cycle in global credits per chip-hour, per chip type; a type not named had none.
    #[serde(default)]
    pub last_prices: Vec<LastPrice>,
}

/// Chips of one type that a pool owns.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct OwnedChips {
    /// The chip type.
    pub chip_type: ChipTypeId,
    /// How many.
    pub chips: Chips,
}

/// A pool's price for one chip type in the last cycle.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct LastPrice {
    /// The chip type.
    pub chip_type: ChipTypeId,
    /// Global credits per chip-hour.
    pub price: Price,
}

/// A team's means.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Team {
    /// The team.
    pub id: TeamId,
    /// Its pool.
    pub pool: PoolId,
    /// Local credits per hour.
    pub income: MicroCredits,
    /// Local credits; may be below zero.
    pub balance: MicroCredits,
    /// Income leverage in thousandths: 2000 lets the team bid twice its income. 0 to 1,000,000.
    #[serde(default = "default_leverage_thousandths")]
    pub leverage_thousandths: u32,
}

const fn default_leverage_thousandths() -> u32 {
    2_000
}

/// A live bid.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Bid {
    /// The bid.
    pub id: BidId,
    /// Its team.
    pub team: TeamId,
    /// Place in the team's queue, lowest first; equal places go by the bid's id.
    pub position: u64,
    /// What it would take, in order of preference; at least one, each chip type once.
    pub alternatives: Vec<Alternative>,
    /// Most it pays in local credits per chip-hour; absent is no limit.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub limit: Option<Price>,
    /// Not before this instant.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub not_before: Option<Instant>,
    /// Not at or after this instant.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub not_after: Option<Instant>,
    /// The chip type it chose in the last cycle (whether or not it won chips); absent for a new bid.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub held: Option<ChipTypeId>,
}

/// One way to serve a bid.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Alternative {
    /// The chip type.
    pub chip_type: ChipTypeId,
    /// Chips wanted, at least 1.
    pub chips: Chips,
    /// The gang: the job cannot run on fewer; 1 to `chips`.
    pub min_chips: Chips,
}
