//! What becomes of jobs that lose their quota by a cut of supply.

use serde::{Deserialize, Serialize};

use crate::chips::Chips;
use crate::ids::{BidId, ChipTypeId, TeamId};
use crate::instant::Instant;
use crate::money::Price;

/// What becomes of jobs that a cut leaves without quota.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(rename_all = "snake_case")]
pub enum CutPolicyKind {
    /// They stop with the cycle of the cut.
    #[default]
    AtOnce,
    /// They run on over quota until they are done, as long as nobody else won their chips.
    Keep,
    /// They run on, and are stopped lowest price first until the chips that were cut are free.
    Reclaim,
}

impl CutPolicyKind {
    /// All of them.
    pub const ALL: [Self; 3] = [Self::AtOnce, Self::Keep, Self::Reclaim];

    /// The policy as it stands in JSON and in the store.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::AtOnce => "at_once",
            Self::Keep => "keep",
            Self::Reclaim => "reclaim",
        }
    }
}

/// Why a job was stopped.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(rename_all = "snake_case")]
pub enum ReclaimWhy {
    /// The policy is to stop at once.
    AtOnce,
    /// Others won the chips that it ran on.
    Room,
    /// It was its turn: the chips that were cut are wanted back.
    Policy,
}

impl ReclaimWhy {
    /// The reason as it stands in JSON and in the store.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::AtOnce => "at_once",
            Self::Room => "room",
            Self::Policy => "policy",
        }
    }
}

/// What becomes of jobs that a cut leaves without quota, and the jobs concerned.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct CutsView {
    /// The policy as it is set, what waits for the next cycle included.
    pub policy: CutPolicyKind,
    /// Of reclaiming: chips taken in a cycle at most, but for the rest of the last job's gang; absent is no limit.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub churn_chips: Option<Chips>,
    /// Version of the policy, for `If-Match`.
    pub version: String,
    /// The cycle in which a change made now takes effect.
    pub next_cycle: u64,
    /// Chips reclaimed within the last hour.
    pub reclaimed_last_hour: Chips,
    /// Jobs over quota until they are drained, in the order of their numbers.
    pub over_quota: Vec<OverQuotaView>,
    /// The last jobs that were stopped, newest first; at most 200.
    pub reclaims: Vec<ReclaimView>,
}

/// A policy to set.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(deny_unknown_fields)]
pub struct NewCutPolicy {
    /// The policy.
    pub policy: CutPolicyKind,
    /// Of reclaiming: chips taken in a cycle at most, at least 1; absent is no limit.
    #[serde(default)]
    pub churn_chips: Option<Chips>,
    /// Why; 1 to 500 characters.
    pub reason: String,
}

/// A job over quota.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct OverQuotaView {
    /// The bid.
    pub bid: BidId,
    /// Its name.
    pub name: String,
    /// Its team.
    pub team: TeamId,
    /// The chip type.
    pub chip_type: ChipTypeId,
    /// Chips that it uses without quota.
    pub chips: Chips,
    /// What each costs: the local price in force, but never more than the bid's limit; local credits per chip-hour.
    pub price: Price,
}

/// A job that was stopped.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct ReclaimView {
    /// The cycle.
    pub cycle: u64,
    /// When it began.
    pub at: Instant,
    /// The bid.
    pub bid: BidId,
    /// Its name.
    pub name: String,
    /// Its team.
    pub team: TeamId,
    /// The chip type.
    pub chip_type: ChipTypeId,
    /// Chips of it that the job used.
    pub chips: Chips,
    /// Why.
    pub why: ReclaimWhy,
    /// The team's local price in the cycle before, in credits per chip-hour.
    pub price_then: Option<Price>,
    /// And in this one; absent where the type has no price any more.
    pub price_now: Option<Price>,
}
