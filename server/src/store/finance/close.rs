//! Closed months: what counts in a stretch of time, and what was stored when it was closed.
//!
//! What an accounting step booked counts just before the step, what a person booked counts when it was booked. So what
//! counts in a month is settled by the first step at its end or later.

use common::ids::{PoolId, UserId};
use common::instant::Instant;
use common::money::MicroCredits;
use sha2::{Digest, Sha256};

use crate::error::AppError;
use crate::store::db::{Tx, values};

/// Seconds by which a cycle may begin before what a person booked for it: a cycle's length and the wait for the writer.
const SLACK_SECONDS: i64 = 2 * 3_600;

/// A stretch of time, and the cycles in which everything lies that counts in it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Window {
    pub(super) from: Instant,
    pub(super) to: Instant,
    /// The first cycle to look at.
    pub(super) first: u64,
    /// The last one.
    pub(super) last: u64,
}

impl Window {
    pub(super) async fn new(tx: &mut Tx, from: Instant, to: Instant) -> Result<Self, AppError> {
        const FIRST: &str = "SELECT COALESCE(MAX(number), 0) FROM cycle WHERE starts_at <= $1";
        const LAST: &str = "SELECT MIN(number) FROM cycle WHERE starts_at >= $1";
        let before = from.plus_seconds(-SLACK_SECONDS);
        let first = tx.row(FIRST, values![before.0]).await?.map_or(Ok(0), |mut row| row.unsigned())?;
        let last = tx.row(LAST, values![to.0]).await?.map_or(Ok(None), |mut row| row.optional_unsigned())?;
        // Without a cycle after it nothing bounds it but time.
        Ok(Self { from, to, first, last: last.unwrap_or(u64::MAX >> 1) })
    }
}

/// What counts in a stretch of time.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Facts {
    pub(crate) transfers: u64,
    pub(crate) entries: u64,
    /// Over the numbers and hashes of the transfers, in order.
    pub(crate) sha256: [u8; 32],
    /// What was booked to the teams of each pool, by kind of transfer.
    pub(crate) totals: Vec<(PoolId, String, MicroCredits)>,
}

/// What counts from `from` until before `to`, read from the ledger itself.
///
/// # Errors
/// The database can't be read.
pub(crate) async fn facts(tx: &mut Tx, from: Instant, to: Instant) -> Result<Facts, AppError> {
    const TRANSFERS: &str = "SELECT number, sha256 FROM ledger_transfer WHERE cycle >= $1 AND cycle <= $2 \
        AND written_at - CASE WHEN step IS NULL THEN 0 ELSE 1 END >= $3 \
        AND written_at - CASE WHEN step IS NULL THEN 0 ELSE 1 END < $4 ORDER BY number";
    const TOTALS: &str = "SELECT a.pool, t.kind, a.kind, CAST(SUM(e.amount) AS BIGINT), COUNT(*) \
        FROM ledger_transfer t JOIN ledger_entry e ON e.transfer = t.number JOIN ledger_account a ON a.number = e.account \
        WHERE t.cycle >= $1 AND t.cycle <= $2 AND e.cycle >= $1 AND e.cycle <= $2 \
        AND t.written_at - CASE WHEN t.step IS NULL THEN 0 ELSE 1 END >= $3 \
        AND t.written_at - CASE WHEN t.step IS NULL THEN 0 ELSE 1 END < $4 \
        GROUP BY a.pool, t.kind, a.kind ORDER BY a.pool, t.kind, a.kind";
    let window = Window::new(tx, from, to).await?;
    let bounds = || values![window.first, window.last, from.0, to.0];
    let (mut transfers, mut hash) = (0, Sha256::new());
    for mut row in tx.rows(TRANSFERS, bounds()).await? {
        transfers += 1;
        hash.update(row.unsigned()?.to_be_bytes());
        hash.update(row.sha256()?);
    }
    let (mut entries, mut totals) = (0, Vec::new());
    for mut row in tx.rows(TOTALS, bounds()).await? {
        let (pool, kind, account) = (row.id()?, row.text()?, row.text()?);
        let amount = MicroCredits(row.int()?);
        entries += row.unsigned()?;
        if account == "team" {
            totals.push((pool, kind, amount));
        }
    }
    Ok(Facts { transfers, entries, sha256: hash.finalize().into(), totals })
}

/// A month that is closed, with what was stored then.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Close {
    pub(crate) starts_at: Instant,
    pub(crate) ends_at: Instant,
    pub(crate) time_zone: String,
    pub(crate) closed_at: Instant,
    pub(crate) closed_by: UserId,
    pub(crate) closed_by_name: String,
    pub(crate) reason: String,
    pub(crate) facts: Facts,
}

/// The end of the last closed month.
pub(crate) async fn closed_to(tx: &mut Tx) -> Result<Option<Instant>, AppError> {
    let row = tx.row("SELECT MAX(ends_at) FROM period_close", []).await?;
    Ok(row.map_or(Ok(None), |mut row| row.optional_int())?.map(Instant))
}

/// All closed months, oldest first.
pub(crate) async fn all(tx: &mut Tx) -> Result<Vec<Close>, AppError> {
    const CLOSES: &str = "SELECT starts_at, ends_at, time_zone, closed_at, closed_by, closed_by_name, reason, transfers, \
        entries, sha256 FROM period_close ORDER BY starts_at";
    const TOTALS: &str =
        "SELECT starts_at, pool, kind, amount FROM period_close_total ORDER BY starts_at, pool, kind";
    let mut closes = Vec::new();
    for mut row in tx.rows(CLOSES, []).await? {
        closes.push(Close {
            starts_at: Instant(row.int()?),
            ends_at: Instant(row.int()?),
            time_zone: row.text()?,
            closed_at: Instant(row.int()?),
            closed_by: row.id()?,
            closed_by_name: row.text()?,
            reason: row.text()?,
            facts: Facts {
                transfers: row.unsigned()?,
                entries: row.unsigned()?,
                sha256: row.sha256()?,
                totals: Vec::new(),
            },
        });
    }
    for mut row in tx.rows(TOTALS, []).await? {
        let starts_at = Instant(row.int()?);
        if let Some(close) = closes.iter_mut().find(|close| close.starts_at == starts_at) {
            close.facts.totals.push((row.id()?, row.text()?, MicroCredits(row.int()?)));
        }
    }
    Ok(closes)
}

/// Stores that a month is closed.
pub(crate) async fn insert(tx: &mut Tx, close: &Close) -> Result<(), AppError> {
    const CLOSE: &str = "INSERT INTO period_close (starts_at, ends_at, time_zone, closed_at, closed_by, closed_by_name, \
        reason, transfers, entries, sha256) VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10)";
    const TOTALS: &str = "INSERT INTO period_close_total (starts_at, pool, kind, amount)";
    let Facts { transfers, entries, sha256, totals } = &close.facts;
    let values = values![
        close.starts_at.0,
        close.ends_at.0,
        close.time_zone.as_str(),
        close.closed_at.0,
        close.closed_by.as_str(),
        close.closed_by_name.as_str(),
        close.reason.as_str(),
        *transfers,
        *entries,
        *sha256
    ];
    tx.execute(CLOSE, values).await?;
    let totals = totals.iter();
    let totals =
        totals.map(|(pool, kind, amount)| values![close.starts_at.0, pool.as_str(), kind.as_str(), amount.0]);
    tx.insert(TOTALS, totals.collect()).await
}

/// When the first thing was booked or the first cycle began; none before both.
pub(crate) async fn begins_at(tx: &mut Tx) -> Result<Option<Instant>, AppError> {
    const BOOKED: &str = "SELECT written_at FROM ledger_transfer ORDER BY number LIMIT 1";
    let booked = tx.row(BOOKED, []).await?.map(|mut row| row.int()).transpose()?.map(Instant);
    let cleared = crate::store::budget::first_cycle_at(tx).await?;
    Ok(booked.into_iter().chain(cleared).min())
}
