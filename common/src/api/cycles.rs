//! Cycles: a list, and one opened with its inputs, its outcome and the reason of every bid.

use serde::{Deserialize, Serialize};

use super::{Occupancy, PoolDemand};
use crate::chips::Chips;
use crate::ids::{BidId, ChipTypeId, TeamId};
use crate::instant::Instant;
use crate::money::{MicroCredits, Price};

/// One cycle in the list.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct CycleSummary {
    /// Its number, from 1.
    pub cycle: u64,
    /// When it began.
    pub starts_at: Instant,
    /// When the next one began; absent for the cycle in force.
    pub ends_at: Option<Instant>,
    /// Time the clearing took, in microseconds.
    pub clear_micros: u64,
    /// Live bids in it.
    pub bids: u64,
    /// Use of all chips of all types.
    pub occupancy: Occupancy,
}

/// A cycle, computed again from its stored inputs.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct CycleView {
    /// Number, times, totals.
    pub summary: CycleSummary,
    /// The proof that the cycle is what was computed at the time.
    pub proof: CycleProof,
    /// Per chip type.
    pub chip_types: Vec<CycleChipType>,
    /// Per team whose budget the viewer may read.
    pub teams: Vec<CycleTeam>,
    /// Per bid that the viewer may read, in order of team and queue position; at most 500, `bids_left_out` says how many more.
    pub bids: Vec<CycleBid>,
    /// Bids beyond the first 500.
    pub bids_left_out: u64,
}

/// Hashes of the inputs and the outcome, as stored and as found now.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct CycleProof {
    /// SHA-256 of the canonical snapshot, hexadecimal, stored when the cycle cleared.
    pub snapshot_sha256: String,
    /// SHA-256 of the canonical outcome, hexadecimal, stored when the cycle cleared.
    pub outcome_sha256: String,
    /// The inputs rebuilt from history have the stored hash.
    pub snapshot_matches: bool,
    /// Clearing them again gives the stored hash.
    pub outcome_matches: bool,
}

/// One chip type in a cycle.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct CycleChipType {
    /// The chip type.
    pub chip_type: ChipTypeId,
    /// Reference price, global credits per chip-hour.
    pub reference_price: Option<Price>,
    /// Reserve price of the shared chips, global credits per chip-hour.
    pub reserve_price: Price,
    /// Shared chips before lending.
    pub shared: Chips,
    /// Chips asked for at any price.
    pub asked: Chips,
    /// Use of its chips.
    pub occupancy: Occupancy,
    /// Per pool.
    pub pools: Vec<PoolDemand>,
}

/// One team in a cycle.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct CycleTeam {
    /// The team.
    pub team: TeamId,
    /// Its display name.
    pub name: String,
    /// Balance in local credits when the cycle began.
    pub balance: MicroCredits,
    /// Income in local credits per hour.
    pub income: MicroCredits,
    /// Spending cap in global credits per hour.
    pub cap: MicroCredits,
    /// Quota per chip type.
    pub quotas: Vec<TeamQuota>,
    /// Whoever asks may read its single bids.
    pub shows_bids: bool,
}

/// A team's quota of one chip type in a cycle.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct TeamQuota {
    /// The chip type.
    pub chip_type: ChipTypeId,
    /// Chips its bids asked for at any price.
    pub asked: Chips,
    /// Chips it got.
    pub quota: Chips,
    /// Chips of the quota that its bids could use.
    pub used: Chips,
}

/// Why a bid got what it got.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(rename_all = "snake_case")]
pub enum Reason {
    /// It has all the chips it asked for.
    Filled,
    /// It has at least its minimum, but not all.
    PartlyFilled,
    /// The pool's price is above the bid's limit.
    PriceAboveLimit,
    /// The team's spending cap buys no more chips at this price.
    TeamSpendingCap,
    /// Chips are left, but fewer than the bid's minimum.
    GangDoesNotFit,
    /// Bids ahead of it in the team's queue took the team's quota.
    BehindInQueue,
    /// It would pay the price and no more, as others would, and chips did not reach for all: the tie rule chose.
    LostTie,
    /// The cycle is before `not_before` or at or after `not_after`.
    NotInWindow,
    /// None of its chip types exists, has a price or can be reached by its pool.
    NoSupply,
    /// Its team keeps it out of the market until it is resumed. The engine never sees such a bid.
    Paused,
}

impl Reason {
    /// The reason as it stands in JSON and CSV.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Filled => "filled",
            Self::PartlyFilled => "partly_filled",
            Self::PriceAboveLimit => "price_above_limit",
            Self::TeamSpendingCap => "team_spending_cap",
            Self::GangDoesNotFit => "gang_does_not_fit",
            Self::BehindInQueue => "behind_in_queue",
            Self::LostTie => "lost_tie",
            Self::NotInWindow => "not_in_window",
            Self::NoSupply => "no_supply",
            Self::Paused => "paused",
        }
    }
}

/// One bid in a cycle.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct CycleBid {
    /// The bid.
    pub bid: BidId,
    /// Its name.
    pub name: String,
    /// Its team.
    pub team: TeamId,
    /// Place in the team's queue, from 1.
    pub place: u64,
    /// The chip type it chose, where it could choose one.
    pub chip_type: Option<ChipTypeId>,
    /// Chips it asked for.
    pub asked: Chips,
    /// Least chips it can run on.
    pub min_chips: Chips,
    /// Chips it got.
    pub chips: Chips,
    /// Its limit in local credits per chip-hour; absent: no limit.
    pub limit: Option<Price>,
    /// Its pool's price in local credits per chip-hour.
    pub local_price: Option<Price>,
    /// Why.
    pub reason: Reason,
    /// The reason in words, with its numbers.
    pub explanation: String,
}
