//! Questions of the kind "what if": the same clearing on an edited snapshot (market.md 7).

use common::chips::Chips;
use common::ids::{ChipTypeId, PoolId, TeamId};
use common::money::{MicroCredits, Price};

use crate::clearing::run_auction;
use crate::error::SnapshotError;
use crate::outcome::Outcome;
use crate::snapshot::{Bid, Lending, OwnedChips, Snapshot, Team};

/// One change to a snapshot.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Edit {
    /// A chip type has this many shared chips.
    Shared {
        /// The chip type.
        chip_type: ChipTypeId,
        /// Shared chips.
        chips: Chips,
    },
    /// A pool owns this many chips of a type.
    Owned {
        /// The pool.
        pool: PoolId,
        /// The chip type.
        chip_type: ChipTypeId,
        /// Chips owned.
        chips: Chips,
    },
    /// A chip type's shared chips are not sold below this price, in global credits per chip-hour.
    Reserve {
        /// The chip type.
        chip_type: ChipTypeId,
        /// The floor.
        price: Price,
    },
    /// A pool has this weight, in global credits per hour.
    Weight {
        /// The pool.
        pool: PoolId,
        /// The weight.
        weight: MicroCredits,
    },
    /// A pool lends so much of its idle chips.
    Lending {
        /// The pool.
        pool: PoolId,
        /// What it lends.
        lending: Lending,
    },
    /// A team has this income, in local credits per hour. Balances stay as they are.
    Income {
        /// The team.
        team: TeamId,
        /// The income.
        income: MicroCredits,
    },
    /// A team is added, or replaces the one with its id.
    Team(Box<Team>),
    /// A team and its bids are gone.
    WithoutTeam(TeamId),
    /// A bid is added, or replaces the one with its id.
    Bid(Box<Bid>),
}

/// A clearing without and with the edits.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct WhatIf {
    /// As things are.
    pub before: Outcome,
    /// As they would be.
    pub after: Outcome,
}

/// Clears a snapshot without and with the edits, which apply in their order.
///
/// # Errors
/// An edit names what the snapshot does not have (`edits[1].pool`), or a snapshot cannot be cleared.
pub fn what_if(snapshot: &Snapshot, edits: &[Edit]) -> Result<WhatIf, SnapshotError> {
    let edited = snapshot.edited(edits)?;
    Ok(WhatIf { before: run_auction(snapshot)?, after: run_auction(&edited)? })
}

impl Snapshot {
    /// The snapshot with the edits applied in their order.
    ///
    /// # Errors
    /// An edit names a chip type, pool or team that the snapshot does not have.
    pub fn edited(&self, edits: &[Edit]) -> Result<Self, SnapshotError> {
        let mut snapshot = self.clone();
        for (nth, edit) in edits.iter().enumerate() {
            snapshot.apply(edit).map_err(|error| SnapshotError {
                path: format!("edits[{nth}].{}", error.path),
                problem: error.problem,
            })?;
        }
        Ok(snapshot)
    }

    fn apply(&mut self, edit: &Edit) -> Result<(), SnapshotError> {
        match edit {
            Edit::Shared { chip_type, chips } => self.chip_type_mut(chip_type)?.shared = *chips,
            Edit::Reserve { chip_type, price } => self.chip_type_mut(chip_type)?.reserve_price = *price,
            Edit::Weight { pool, weight } => self.pool_mut(pool)?.weight = *weight,
            Edit::Owned { pool, chip_type, chips } => {
                self.chip_type_mut(chip_type)?;
                let owned = &mut self.pool_mut(pool)?.owned;
                owned.retain(|owned| owned.chip_type != *chip_type);
                owned.push(OwnedChips { chip_type: chip_type.clone(), chips: *chips });
            }
            Edit::Lending { pool, lending } => self.pool_mut(pool)?.lending = *lending,
            Edit::Income { team, income } => {
                let found = self.teams.iter_mut().find(|row| row.id == *team);
                found.ok_or_else(|| SnapshotError::unknown("team", team, "team"))?.income = *income;
            }
            Edit::Team(team) => {
                self.pool_mut(&team.pool)?;
                self.teams.retain(|row| row.id != team.id);
                self.teams.push(Team::clone(team));
            }
            Edit::WithoutTeam(team) => {
                let before = self.teams.len();
                self.teams.retain(|row| row.id != *team);
                if self.teams.len() == before {
                    return Err(SnapshotError::unknown("team", team, "team"));
                }
                self.bids.retain(|bid| bid.team != *team);
            }
            Edit::Bid(bid) => {
                if self.teams.iter().all(|row| row.id != bid.team) {
                    return Err(SnapshotError::unknown("bid.team", &bid.team, "team"));
                }
                self.bids.retain(|row| row.id != bid.id);
                self.bids.push(Bid::clone(bid));
            }
        }
        Ok(())
    }

    fn chip_type_mut(&mut self, id: &ChipTypeId) -> Result<&mut crate::snapshot::ChipType, SnapshotError> {
        let found = self.chip_types.iter_mut().find(|row| row.id == *id);
        found.ok_or_else(|| SnapshotError::unknown("chip_type", id, "chip type"))
    }

    fn pool_mut(&mut self, id: &PoolId) -> Result<&mut crate::snapshot::Pool, SnapshotError> {
        let found = self.pools.iter_mut().find(|row| row.id == *id);
        found.ok_or_else(|| SnapshotError::unknown("pool", id, "pool"))
    }
}
