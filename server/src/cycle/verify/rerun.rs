//! The cycles by clearing them again from the stored inputs, and comparing everything they stored.

use std::collections::BTreeMap;
use std::fmt::Debug;

use common::instant::Instant;

use super::steps::Steps;
use super::{Check, Difference, Report};
use crate::cycle::advance::Advance;
use crate::cycle::state::MarketState;
use crate::cycle::stored::{self, StoredCycle};
use crate::error::{AppError, ErrorKind};
use crate::store::Tx;
use crate::store::ledger::StoredTransfer;
use crate::store::results::{self, Rows};
use crate::store::usage::{self, Usage};

/// Cycles read at once.
const BATCH: u64 = 200;

/// Clears cycles `from` to `to` again. The first difference ends it: what follows builds on it. The answer is what each bid
/// cost up to the last accounting step, by its number in 1/3600 of a micro-credit, where nothing differed and the first
/// cycle was among them.
pub(super) async fn check(
    tx: &mut Tx,
    from: u64,
    to: u64,
    report: &mut Report,
    steps: &mut Steps<'_>,
) -> Result<Option<BTreeMap<u64, u128>>, AppError> {
    let first_with_rows = results::first_detailed_cycle(tx).await?.unwrap_or(1);
    let mut state = match MarketState::after(tx, from - 1).await {
        Ok(state) => state,
        // The rows to start from are gone with the retention: everything follows from the first cycle.
        Err(error) if error.kind() == ErrorKind::NotFound => MarketState::before_first(tx).await?,
        Err(error) if error.kind() == ErrorKind::Inconsistent => {
            let (check, cycle) = (Check::Ledger, Some(from - 1));
            let detail = error.message().to_owned();
            report.differences.push(Difference { check, cycle, transfer: None, detail });
            return Ok(None);
        }
        Err(error) => return Err(error),
    };
    let start = state.cycle;
    let mut costs: BTreeMap<u64, u128> = BTreeMap::new();
    while state.cycle < to {
        let (first, last) = (state.cycle + 1, (state.cycle + BATCH).min(to));
        let cycles = match stored::load(tx, first, last, state.book.next_transfer()).await {
            Ok(cycles) => cycles,
            Err(error) if error.kind() == ErrorKind::Inconsistent => {
                let detail = error.message().to_owned();
                let (check, cycle) = (Check::Rows, Some(first));
                report.differences.push(Difference { check, cycle, transfer: None, detail });
                return Ok(None);
            }
            Err(error) => return Err(error),
        };
        let mut rows = results::rows_between(tx, first, last).await?;
        let ends_at = cycles.last().map_or(state.starts_at, |cycle| cycle.cycle.starts_at);
        let mut pieces = pieces_between(tx, state.accounting.booked_at, ends_at).await?;
        for stored in &cycles {
            let number = stored.cycle.number;
            let rows = rows.remove(&number).unwrap_or_default();
            let compared_rows = (number >= first_with_rows).then_some(&rows);
            let booked_at = state.accounting.booked_at;
            let found = clear_again(&mut state, stored, compared_rows).and_then(|advance| {
                for (bid, cost) in &advance.step.costs {
                    *costs.entry(*bid).or_default() += cost;
                }
                compare_pieces(&advance, &mut pieces, booked_at, stored, compared_rows.is_some())
            });
            if let Err(difference) = found {
                report.differences.push(difference);
                return Ok(None);
            }
            report.cycles_with_rows += u64::from(compared_rows.is_some());
        }
        steps.advance(3 * (last + 1 - first.max(from)));
    }
    Ok((start == 0).then_some(costs))
}

/// Clears one cycle again and compares it with what is stored.
fn clear_again(
    state: &mut MarketState,
    stored: &StoredCycle,
    rows: Option<&Rows>,
) -> Result<Advance, Difference> {
    let number = stored.cycle.number;
    let difference = |check, detail| Difference { check, cycle: Some(number), transfer: None, detail };
    for transfer in stored.booked_by_people() {
        state.book.adopt(transfer).map_err(|error| difference(Check::Ledger, error.message().to_owned()))?;
    }
    let advance = state
        .advance(number, stored.cycle.starts_at, stored.changes.clone())
        .map_err(|error| difference(Check::Snapshot, error.message().to_owned()))?;
    compare_transfers(&state.book.take_posted(), stored)?;
    if advance.snapshot_sha256 != stored.cycle.snapshot_sha256 {
        let detail =
            hashes("the inputs rebuilt from history", stored.cycle.snapshot_sha256, advance.snapshot_sha256);
        return Err(difference(Check::Snapshot, detail));
    }
    if advance.outcome_sha256 != stored.cycle.outcome_sha256 {
        let detail = hashes("the outcome of its inputs", stored.cycle.outcome_sha256, advance.outcome_sha256);
        return Err(difference(Check::Outcome, detail));
    }
    if advance.snapshot.bids.len() as u64 != stored.cycle.bids {
        let (stored, found) = (stored.cycle.bids, advance.snapshot.bids.len());
        return Err(difference(Check::Rows, format!("{stored} live bids are stored, {found} follow")));
    }
    compare(Check::Rows, number, "end of a bid", &stored.ended, &advance.ended)?;
    if let Some(rows) = rows {
        compare(Check::Rows, number, "price", &rows.prices, &advance.rows.prices)?;
        compare(Check::Rows, number, "pool price", &rows.pool_prices, &advance.rows.pool_prices)?;
        compare(Check::Rows, number, "quota", &rows.quotas, &advance.rows.quotas)?;
        compare(Check::Rows, number, "result of a bid", &rows.bids, &advance.rows.bids)?;
        compare(Check::Rows, number, "reclaim", &rows.reclaims, &advance.rows.reclaims)?;
    }
    if stored.cycle.step != advance.step.number {
        let (stored, found) = (stored.cycle.step, advance.step.number);
        return Err(difference(
            Check::Accounting,
            format!("accounting step {stored:?} is stored, {found:?} follows"),
        ));
    }
    Ok(advance)
}

fn compare_transfers(posted: &[StoredTransfer], stored: &StoredCycle) -> Result<(), Difference> {
    let booked: Vec<StoredTransfer> = stored.booked_by_step().cloned().collect();
    compare(Check::Accounting, stored.cycle.number, "transfer", &booked, posted)
}

/// Compares the usage that an accounting step booked.
fn compare_pieces(
    advance: &Advance,
    pieces: &mut BTreeMap<Instant, Vec<Usage>>,
    booked_at: Instant,
    stored: &StoredCycle,
    has_rows: bool,
) -> Result<(), Difference> {
    if advance.step.number.is_none() {
        return Ok(());
    }
    let rest = pieces.split_off(&stored.cycle.starts_at);
    let booked = std::mem::replace(pieces, rest);
    if !has_rows {
        return Ok(());
    }
    let booked: Vec<Usage> =
        booked.into_iter().filter(|(at, _)| *at >= booked_at).flat_map(|(_, usage)| usage).collect();
    compare(Check::Accounting, stored.cycle.number, "usage", &booked, &advance.step.pieces)
}

async fn pieces_between(
    tx: &mut Tx,
    from: Instant,
    to: Instant,
) -> Result<BTreeMap<Instant, Vec<Usage>>, AppError> {
    let mut pieces: BTreeMap<Instant, Vec<Usage>> = BTreeMap::new();
    for usage in usage::pieces(tx, from, to).await? {
        pieces.entry(usage.starts_at).or_default().push(usage);
    }
    Ok(pieces)
}

/// Compares two lists of rows of a cycle.
fn compare<T: PartialEq + Debug>(
    check: Check,
    cycle: u64,
    what: &str,
    stored: &[T],
    found: &[T],
) -> Result<(), Difference> {
    let difference = |detail| Difference { check, cycle: Some(cycle), transfer: None, detail };
    super::compare(what, stored, found).map_err(difference)
}

fn hashes(what: &str, stored: [u8; 32], found: [u8; 32]) -> String {
    format!("SHA-256 {} is stored, but {what} has {}", hex::encode(stored), hex::encode(found))
}
