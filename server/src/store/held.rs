//! What teams earned and pools weighed over time, from the versions that were in force.

use std::collections::BTreeMap;

use common::ids::{PoolId, TeamId};
use common::instant::Instant;

use super::db::{Row, Tx, values};
use super::history::seconds_between;
use crate::error::AppError;

/// The versions of a table that were in force at some time between `$1` and `$2`: id, amount, since when, until when.
macro_rules! held {
    ($table:literal, $amount:literal) => {
        concat!(
            "SELECT v.id, v.",
            $amount,
            ", a.starts_at, b.starts_at FROM ",
            $table,
            " v JOIN cycle a ON a.number = v.effective_cycle LEFT JOIN cycle b ON b.number = v.superseded_cycle",
            " WHERE a.starts_at < $2 AND (v.superseded_cycle IS NULL OR b.starts_at > $1)"
        )
    };
}

/// Adds the amount of a version, per hour, over the seconds that it was in force.
fn add<T: Ord + std::str::FromStr>(
    sums: &mut BTreeMap<T, u128>,
    row: &mut Row,
    (from, to): (Instant, Instant),
    id: impl Fn(&mut Row) -> Result<T, AppError>,
) -> Result<(), AppError> {
    let (id, amount) = (id(row)?, row.int()?);
    let (since, until) = (Instant(row.int()?), row.optional_int()?.map(Instant));
    let seconds = seconds_between(since.max(from), until.unwrap_or(to).min(to)).max(0).unsigned_abs();
    *sums.entry(id).or_default() += u128::from(amount.max(0).unsigned_abs()) * u128::from(seconds);
    Ok(())
}

/// Each team's income times the seconds it had it, in micro-credits per hour times seconds.
///
/// # Errors
/// The database can't be read.
pub(crate) async fn incomes(
    tx: &mut Tx,
    from: Instant,
    to: Instant,
) -> Result<BTreeMap<TeamId, u128>, AppError> {
    const SQL: &str = held!("team_version", "income");
    let mut sums = BTreeMap::new();
    for row in &mut tx.rows(SQL, values![from.0, to.0]).await? {
        add(&mut sums, row, (from, to), Row::id)?;
    }
    Ok(sums)
}

/// Each pool's weight times the seconds it had it, in micro-credits per hour times seconds.
///
/// # Errors
/// The database can't be read.
pub(crate) async fn weights(
    tx: &mut Tx,
    from: Instant,
    to: Instant,
) -> Result<BTreeMap<PoolId, u128>, AppError> {
    const SQL: &str = held!("pool_version", "weight");
    let mut sums = BTreeMap::new();
    for row in &mut tx.rows(SQL, values![from.0, to.0]).await? {
        add(&mut sums, row, (from, to), Row::id)?;
    }
    Ok(sums)
}
