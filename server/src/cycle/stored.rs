//! What is stored about a range of cycles, in the form in which cycles are cleared again.

use std::collections::{BTreeMap, BTreeSet};

use super::allowances::{self, Allowances};
use super::state::Changes;
use crate::error::{AppError, ErrorKind};
use crate::store::Tx;
use crate::store::allowances::{Allowance, PoolAllowance};
use crate::store::bids::{self, BidState, BidVersion};
use crate::store::entities::{self, Versioned};
use crate::store::ledger::{self, StoredTransfer};
use crate::store::results::{self, Cycle};

/// What went into one cycle and what it booked.
#[derive(Clone, Debug)]
pub(crate) struct StoredCycle {
    pub(crate) cycle: Cycle,
    /// What took effect with it.
    pub(crate) changes: Changes,
    /// Bids that it found to be over.
    pub(crate) ended: Vec<BidVersion>,
    /// Transfers that count from it on, in order: what people booked comes first.
    pub(crate) transfers: Vec<StoredTransfer>,
}

impl StoredCycle {
    /// The transfers that people booked: inputs of the cycle.
    pub(crate) fn booked_by_people(&self) -> impl Iterator<Item = &StoredTransfer> {
        self.transfers.iter().filter(|transfer| transfer.transfer.step.is_none())
    }

    /// The transfers of the cycle's accounting step.
    pub(crate) fn booked_by_step(&self) -> impl Iterator<Item = &StoredTransfer> {
        self.transfers.iter().filter(|transfer| transfer.transfer.step.is_some())
    }
}

/// Reads cycles `from` to `to`, both included. `next_transfer` is the number of the first transfer that belongs to them.
pub(crate) async fn load(
    tx: &mut Tx,
    from: u64,
    to: u64,
    next_transfer: u64,
) -> Result<Vec<StoredCycle>, AppError> {
    let limit = u32::try_from(to + 1 - from).unwrap_or(u32::MAX);
    let cycles = results::cycles_from(tx, from, limit).await?;
    let mut inputs = Inputs::default();
    inputs.read(tx, from, to, next_transfer).await?;
    let mut stored = Vec::with_capacity(cycles.len());
    for (cycle, number) in cycles.into_iter().zip(from..) {
        if cycle.number != number {
            return Err(AppError::new(ErrorKind::Inconsistent, format!("cycle {number} is missing")));
        }
        let mut changes = inputs.changes.remove(&number).unwrap_or_default();
        if inputs.allowances_changed.contains(&number) || !changes.organisation.is_empty() {
            changes.allowances = allowances_from(tx, &cycle).await?;
        }
        stored.push(StoredCycle {
            changes,
            ended: inputs.ended.remove(&number).unwrap_or_default(),
            transfers: inputs.transfers.remove(&number).unwrap_or_default(),
            cycle,
        });
    }
    Ok(stored)
}

/// The allowances that hold from a cycle on, as they were when it began.
async fn allowances_from(tx: &mut Tx, cycle: &Cycle) -> Result<Option<Allowances>, AppError> {
    let number = cycle.number;
    let Some(organisation) = entities::in_cycle(tx, number).await?.pop() else { return Ok(None) };
    Ok(Some(allowances::load(tx, &organisation, number, number - 1, cycle.starts_at).await?))
}

/// What goes into cycles, by cycle.
#[derive(Default)]
struct Inputs {
    changes: BTreeMap<u64, Changes>,
    allowances_changed: BTreeSet<u64>,
    ended: BTreeMap<u64, Vec<BidVersion>>,
    transfers: BTreeMap<u64, Vec<StoredTransfer>>,
}

impl Inputs {
    async fn read(&mut self, tx: &mut Tx, from: u64, to: u64, next_transfer: u64) -> Result<(), AppError> {
        self.read_versions(tx, (from, to), |changes| &mut changes.organisation).await?;
        self.read_versions(tx, (from, to), |changes| &mut changes.chip_types).await?;
        self.read_versions(tx, (from, to), |changes| &mut changes.pools).await?;
        self.read_versions(tx, (from, to), |changes| &mut changes.owned).await?;
        self.read_versions(tx, (from, to), |changes| &mut changes.teams).await?;
        self.read_versions(tx, (from, to), |changes| &mut changes.cut_policies).await?;
        for (cycle, version) in bids::stamped(tx, from, to).await? {
            if matches!(version.state, BidState::Served | BidState::Expired) {
                self.ended.entry(cycle).or_default().push(version);
            } else {
                self.changes.entry(cycle).or_default().bids.push(version);
            }
        }
        let teams = entities::stamped::<Allowance>(tx, from, to).await?;
        let pools = entities::stamped::<PoolAllowance>(tx, from, to).await?;
        let changed =
            teams.into_iter().map(|(cycle, _)| cycle).chain(pools.into_iter().map(|(cycle, _)| cycle));
        self.allowances_changed.extend(changed);
        for transfer in ledger::transfers(tx, next_transfer, to).await? {
            self.transfers.entry(transfer.transfer.cycle).or_default().push(transfer);
        }
        Ok(())
    }

    async fn read_versions<T: Versioned>(
        &mut self,
        tx: &mut Tx,
        (from, to): (u64, u64),
        list: impl Fn(&mut Changes) -> &mut Vec<T>,
    ) -> Result<(), AppError> {
        for (cycle, version) in entities::stamped(tx, from, to).await? {
            list(self.changes.entry(cycle).or_default()).push(version);
        }
        Ok(())
    }
}
