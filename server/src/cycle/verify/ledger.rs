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
    let mut to = 0;
    // What people booked since the last cycle counts from the next one on.
    while to <= last {
        to = (to + BATCH).min(last + 1);
        for transfer in ledger::transfers(tx, book.next_transfer(), to).await? {
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
    let stored =
        tx.row("SELECT COUNT(*) FROM ledger_transfer", []).await?.map_or(Ok(0), |mut row| row.unsigned())?;
    let checked = book.next_transfer() - 1;
    if stored != checked {
        let detail =
            format!("{stored} transfers are stored, but {checked} belong to cycles up to the next one");
        return Ok((checked, Some(Difference { check: Check::Ledger, cycle: None, detail })));
    }
    Ok((checked, None))
}
