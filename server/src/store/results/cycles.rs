//! The cycles themselves: number, start, hashes.

use common::instant::Instant;

use super::super::db::{Row, Tx, values};
use crate::error::AppError;

/// A cleared cycle.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Cycle {
    /// Its number, from 1.
    pub number: u64,
    /// When it begins.
    pub starts_at: Instant,
    /// The accounting step booked in it.
    pub step: Option<u64>,
    /// Live bids.
    pub bids: u64,
    /// Microseconds that the clearing took.
    pub clear_micros: u64,
    /// Of the canonical snapshot.
    pub snapshot_sha256: [u8; 32],
    /// Of the canonical outcome.
    pub outcome_sha256: [u8; 32],
}

/// The columns that [`cycle_from_row`] reads.
macro_rules! cycle_columns {
    () => {
        "number, starts_at, step, bids, clear_micros, snapshot_sha256, outcome_sha256"
    };
}

fn cycle_from_row(mut row: Row) -> Result<Cycle, AppError> {
    Ok(Cycle {
        number: row.unsigned()?,
        starts_at: Instant(row.int()?),
        step: row.optional_unsigned()?,
        bids: row.unsigned()?,
        clear_micros: row.unsigned()?,
        snapshot_sha256: row.sha256()?,
        outcome_sha256: row.sha256()?,
    })
}

/// The last cleared cycle; none before the first.
///
/// # Errors
/// The database can't be read.
pub async fn last_cycle(tx: &mut Tx) -> Result<Option<Cycle>, AppError> {
    const SQL: &str = concat!("SELECT ", cycle_columns!(), " FROM cycle ORDER BY number DESC LIMIT 1");
    tx.row(SQL, []).await?.map(cycle_from_row).transpose()
}

/// One cycle.
///
/// # Errors
/// The database can't be read.
pub async fn cycle(tx: &mut Tx, number: u64) -> Result<Option<Cycle>, AppError> {
    const SQL: &str = concat!("SELECT ", cycle_columns!(), " FROM cycle WHERE number = $1");
    tx.row(SQL, values![number]).await?.map(cycle_from_row).transpose()
}

/// Cycles below `before`, newest first.
///
/// # Errors
/// The database can't be read.
pub async fn cycles_before(tx: &mut Tx, before: u64, limit: u32) -> Result<Vec<Cycle>, AppError> {
    const SQL: &str =
        concat!("SELECT ", cycle_columns!(), " FROM cycle WHERE number < $1 ORDER BY number DESC LIMIT $2");
    tx.rows(SQL, values![before, limit]).await?.into_iter().map(cycle_from_row).collect()
}

/// Cycles from `from` on, oldest first.
///
/// # Errors
/// The database can't be read.
pub async fn cycles_from(tx: &mut Tx, from: u64, limit: u32) -> Result<Vec<Cycle>, AppError> {
    const SQL: &str =
        concat!("SELECT ", cycle_columns!(), " FROM cycle WHERE number >= $1 ORDER BY number LIMIT $2");
    tx.rows(SQL, values![from, limit]).await?.into_iter().map(cycle_from_row).collect()
}

/// The cycle in force at an instant: the last one that began at or before it.
///
/// # Errors
/// The database can't be read.
pub async fn cycle_at(tx: &mut Tx, at: Instant) -> Result<Option<Cycle>, AppError> {
    const SQL: &str = concat!(
        "SELECT ",
        cycle_columns!(),
        " FROM cycle WHERE starts_at <= $1 ORDER BY starts_at DESC LIMIT 1"
    );
    tx.row(SQL, values![at.0]).await?.map(cycle_from_row).transpose()
}

/// The first cycle whose rows are all there: those before it gave theirs up to the roll-ups.
///
/// # Errors
/// The database can't be read.
pub async fn first_detailed_cycle(tx: &mut Tx) -> Result<Option<u64>, AppError> {
    let row = tx.row("SELECT MIN(cycle) FROM price", []).await?;
    row.map_or(Ok(None), |mut row| row.optional_unsigned())
}

/// The start of the cycle with the last accounting step: use from then on is not charged for yet. Before the first
/// step the start of the first cycle; none before the first cycle.
///
/// # Errors
/// The database can't be read.
pub async fn unsettled_since(tx: &mut Tx) -> Result<Option<Instant>, AppError> {
    const SQL: &str = "SELECT COALESCE((SELECT MAX(starts_at) FROM cycle WHERE step IS NOT NULL), \
                       (SELECT MIN(starts_at) FROM cycle))";
    let row = tx.row(SQL, []).await?;
    row.map_or(Ok(None), |mut row| Ok(row.optional_int()?.map(Instant)))
}

/// The first and the last cycle that began between two instants; none where none did.
pub(crate) async fn cycles_between(
    tx: &mut Tx,
    from: Instant,
    to: Instant,
) -> Result<Option<(u64, u64)>, AppError> {
    const SQL: &str = "SELECT MIN(number), MAX(number) FROM cycle WHERE starts_at >= $1 AND starts_at < $2";
    let Some(mut row) = tx.row(SQL, values![from.0, to.0]).await? else { return Ok(None) };
    Ok(row.optional_unsigned()?.zip(row.optional_unsigned()?))
}

/// Writes a cycle. Its unique number and instant keep any process from clearing it twice.
pub(crate) async fn insert_cycle(tx: &mut Tx, cycle: &Cycle) -> Result<(), AppError> {
    const SQL: &str =
        concat!("INSERT INTO cycle (", cycle_columns!(), ") VALUES ($1, $2, $3, $4, $5, $6, $7)");
    let values = values![
        cycle.number,
        cycle.starts_at.0,
        cycle.step,
        cycle.bids,
        cycle.clear_micros,
        cycle.snapshot_sha256,
        cycle.outcome_sha256,
    ];
    tx.execute(SQL, values).await?;
    Ok(())
}
