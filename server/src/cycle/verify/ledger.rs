//! The ledger by itself: transfers follow one another, sum to zero, run the balances on and chain their hashes.

use super::{Check, Difference};
use crate::error::{AppError, ErrorKind};
use crate::store::Tx;
use crate::store::ledger::{self, Book};
use crate::store::results;

/// Cycles whose transfers are read at once.
const BATCH: u64 = 1_000;

/// Checks all transfers; the answer is how many there are, and the first difference.
pub(super) async fn check(tx: &mut Tx) -> Result<(u64, Option<Difference>), AppError> {
    let last = results::last_cycle(tx).await?.map_or(0, |cycle| cycle.number);
    let mut book = Book::load(tx, 0).await?;
    let (mut to, mut entries) = (0, 0);
    // What people booked since the last cycle counts from the next one on.
    while to <= last {
        to = (to + BATCH).min(last + 1);
        for transfer in ledger::transfers(tx, book.next_transfer(), to).await? {
            entries += transfer.entries.len() as u64;
            match book.adopt(&transfer) {
                Ok(()) => {}
                Err(error) if error.kind() == ErrorKind::Inconsistent => {
                    let (cycle, detail) = (Some(transfer.transfer.cycle), error.message().to_owned());
                    return Ok((transfer.number, Some(Difference { check: Check::Ledger, cycle, detail })));
                }
                Err(error) => return Err(error),
            }
        }
    }
    let checked = book.next_transfer() - 1;
    let difference = nothing_else(tx, checked, entries).await?;
    Ok((checked, difference))
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
    Ok(Some(Difference { check: Check::Ledger, cycle: None, detail }))
}
