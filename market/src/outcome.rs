//! The result of one clearing, in the form that is stored, hashed and exchanged as JSON.
//!
//! Lists are in ascending order of their ids, bids in order of team, position and id.

use common::api::Reason;
use common::chips::Chips;
use common::ids::{BidId, ChipTypeId, PoolId, TeamId};
use common::instant::Instant;
use common::money::{MicroCredits, Price};
use serde::{Deserialize, Serialize};

/// What a clearing decided.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Outcome {
    /// Number of the cycle.
    pub cycle: u64,
    /// When the cycle begins.
    pub time: Instant,
    /// Per chip type.
    pub chip_types: Vec<ChipTypeOutcome>,
    /// Per team.
    pub teams: Vec<TeamOutcome>,
    /// Per bid.
    pub bids: Vec<BidOutcome>,
}

/// One chip type's market.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ChipTypeOutcome {
    /// The chip type.
    pub id: ChipTypeId,
    /// The reference price `p*` in global credits per chip-hour; absent when nobody asked or nothing was shared.
    pub reference_price: Option<Price>,
    /// All chips, owned and shared.
    pub supply: Chips,
    /// Chips in the shared market, with those lent (`Z`).
    pub shared: Chips,
    /// Chips asked for at any price, over all pools.
    pub asked: Chips,
    /// Chips in teams' quotas.
    pub granted: Chips,
    /// Chips of the quotas that bids use.
    pub used: Chips,
    /// Per pool that owns chips of the type or asks for some.
    pub pools: Vec<PoolOutcome>,
}

/// One pool in one chip type's market.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct PoolOutcome {
    /// The pool.
    pub id: PoolId,
    /// The pool price `p_k` in global credits per chip-hour.
    pub price: Option<Price>,
    /// The price its teams see and pay, in local credits per chip-hour.
    pub local_price: Option<Price>,
    /// Chips it owns (`s_k`).
    pub owned: Chips,
    /// Chips it lent to the shared market.
    pub lent: Chips,
    /// Chips it bought from the shared market (`z_k`).
    pub bought: Chips,
    /// Chips its teams asked for at any price.
    pub asked: Chips,
    /// Chips in its teams' quotas.
    pub granted: Chips,
}

/// One team.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct TeamOutcome {
    /// The team.
    pub id: TeamId,
    /// Its spending cap in global credits per hour.
    pub cap: MicroCredits,
    /// Per chip type that one of its bids chose.
    pub markets: Vec<TeamMarket>,
}

/// One team in one chip type's market.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct TeamMarket {
    /// The chip type.
    pub chip_type: ChipTypeId,
    /// Spending rate for this type (`b_i`), in global credits per hour.
    pub rate: MicroCredits,
    /// Chips asked for at any price.
    pub asked: Chips,
    /// Chips it got.
    pub quota: Chips,
    /// Chips of the quota that its bids use.
    pub used: Chips,
}

/// One bid.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct BidOutcome {
    /// The bid.
    pub id: BidId,
    /// The chip type it chose; absent when none was admissible.
    pub chip_type: Option<ChipTypeId>,
    /// Chips it got.
    pub chips: Chips,
    /// Why.
    pub reason: Reason,
}
