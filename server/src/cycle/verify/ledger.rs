//! The ledger by itself: transfers follow one another, sum to zero, run the balances on and chain their hashes.
//!
//! Each of these is a check of its own with its own figure, and goes on from what is stored after a difference: so one row
//! that was altered is one difference, and not all that follows from it.

use std::collections::BTreeMap;

use common::money::MicroCredits;

use super::steps::Steps;
use super::{Check, Difference, Figure, Report};
use crate::error::AppError;
use crate::store::Tx;
use crate::store::ledger::{self, StoredTransfer};
use crate::store::results;

/// Cycles whose transfers are read at once.
const BATCH: u64 = 1_000;

/// What is known of the ledger up to a transfer.
#[derive(Default)]
struct Running {
    /// The last transfer, and its hash.
    number: u64,
    sha256: [u8; 32],
    /// The stored balance of each account after its last entry.
    balances: BTreeMap<u64, i64>,
    entries: u64,
    turnover: i128,
    sums: Off,
    chain: Off,
    running: Off,
}

/// What is off in a check.
#[derive(Default)]
struct Off {
    rows: u64,
    /// In micro-credits, whatever its sign.
    amount: i128,
    first: Option<Difference>,
}

impl Off {
    fn note(&mut self, check: Check, stored: &StoredTransfer, amount: i128, detail: String) {
        self.rows += 1;
        self.amount += amount.abs();
        let (cycle, transfer) = (Some(stored.transfer.cycle), Some(stored.number));
        self.first.get_or_insert(Difference { check, cycle, transfer, detail });
    }
}

/// Checks all transfers.
pub(super) async fn check(tx: &mut Tx, report: &mut Report, steps: &mut Steps<'_>) -> Result<(), AppError> {
    let last = results::last_cycle(tx).await?.map_or(0, |cycle| cycle.number);
    let (mut running, mut to) = (Running::default(), 0);
    // What people booked since the last cycle counts from the next one on.
    while to <= last {
        let from = to;
        to = (to + BATCH).min(last + 1);
        for transfer in ledger::transfers(tx, running.number + 1, to).await? {
            if transfer.number != running.number + 1 {
                let detail = format!("the next number after transfer {} is missing", running.number);
                let (cycle, transfer) = (Some(transfer.transfer.cycle), Some(running.number + 1));
                report.differences.push(Difference { check: Check::Ledger, cycle, transfer, detail });
                return running.report(report);
            }
            running.add(&transfer)?;
        }
        steps.advance(to - from);
    }
    let difference = nothing_else(tx, running.number, running.entries).await?;
    report.differences.extend(difference);
    running.report(report)
}

impl Running {
    fn add(&mut self, stored: &StoredTransfer) -> Result<(), AppError> {
        let key = &stored.transfer.key;
        let sum: i128 = stored.entries.iter().map(|entry| i128::from(entry.line.amount)).sum();
        if sum != 0 {
            let detail = format!("the entries of transfer {} ({key}) do not sum to zero", stored.number);
            self.sums.note(Check::Sums, stored, sum, detail);
        }
        for entry in &stored.entries {
            self.entries += 1;
            self.turnover += i128::from(entry.line.amount.max(0));
            let before = self.balances.insert(entry.line.account.number(), entry.balance_after).unwrap_or(0);
            let follows = i128::from(before) + i128::from(entry.line.amount);
            if follows != i128::from(entry.balance_after) {
                let detail = format!(
                    "entry {} of transfer {} ({key}) says balance {} after it, but {} follows",
                    entry.place,
                    stored.number,
                    MicroCredits(entry.balance_after),
                    micros(follows)
                );
                let off = follows - i128::from(entry.balance_after);
                self.running.note(Check::Balances, stored, off, detail);
            }
        }
        let found = ledger::chained_sha256(self.sha256, stored.number, &stored.transfer, &stored.entries)?;
        if found != stored.sha256 {
            let detail = format!(
                "the hash of transfer {} ({key}) is not the one of what it says, after the transfer before it",
                stored.number
            );
            self.chain.note(Check::Chain, stored, 0, detail);
        }
        self.number = stored.number;
        self.sha256 = stored.sha256;
        Ok(())
    }

    /// Says what was compared and what is off.
    fn report(self, report: &mut Report) -> Result<(), AppError> {
        report.transfers = self.number;
        let accounts: i128 = self.balances.values().map(|balance| i128::from(*balance)).sum();
        let figure = |check, compared, total, off: &Off| Figure {
            check,
            compared,
            total,
            off: off.rows,
            difference: Some(micros(off.amount)),
        };
        report.figures.extend([
            figure(Check::Sums, self.number, Some(micros(self.turnover)), &self.sums),
            figure(Check::Balances, self.entries, Some(micros(accounts)), &self.running),
            Figure { difference: None, ..figure(Check::Chain, self.number, None, &self.chain) },
        ]);
        let found = [self.sums, self.running, self.chain];
        report.differences.extend(found.into_iter().filter_map(|off| off.first));
        Ok(())
    }
}

/// An amount, at the end of its range where it leaves it.
pub(super) fn micros(amount: i128) -> MicroCredits {
    let end = if amount < 0 { i64::MIN } else { i64::MAX };
    MicroCredits(i64::try_from(amount).unwrap_or(end))
}

/// Finds what belongs to no transfer that was checked.
async fn nothing_else(tx: &mut Tx, transfers: u64, entries: u64) -> Result<Option<Difference>, AppError> {
    const STORED: &str = "SELECT (SELECT COUNT(*) FROM ledger_transfer), (SELECT COUNT(*) FROM ledger_entry)";
    let Some(mut row) = tx.row(STORED, []).await? else { return Ok(None) };
    let (stored_transfers, stored_entries) = (row.unsigned()?, row.unsigned()?);
    let detail = if stored_transfers != transfers {
        format!(
            "{stored_transfers} transfers are stored, but {transfers} belong to cycles up to the next one"
        )
    } else if stored_entries != entries {
        format!("{stored_entries} entries are stored, but {entries} belong to a transfer")
    } else {
        return Ok(None);
    };
    Ok(Some(Difference { check: Check::Ledger, cycle: None, transfer: None, detail }))
}
