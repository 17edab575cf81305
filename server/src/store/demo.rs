//! Which part of its trace the demo plays in which cycle. Kept with the market, so that a demo that was killed goes on
//! where it was, and so that a database says whether it is a demo's.

use super::db::{Row, Tx, values};
use crate::error::AppError;

/// From its first cycle on, until the next stretch, each cycle plays the same number of seconds of the trace.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Stretch {
    /// Its first cycle.
    pub first_cycle: u64,
    /// Name of the trace.
    pub trace: String,
    /// Chips of the organisation that was made from it.
    pub chips: u64,
    /// A clock plays its cycles; otherwise they are history, cleared at once.
    pub live: bool,
    /// Seconds between two of its cycles.
    pub cycle_seconds: u32,
    /// Seconds of the trace that a cycle plays.
    pub trace_seconds: u32,
    /// Seconds of the trace played when the first cycle begins.
    pub played_seconds: u64,
}

/// All stretches, in order of their cycles; none where the database is not a demo's.
///
/// # Errors
/// The database can't be read.
pub async fn stretches(tx: &mut Tx) -> Result<Vec<Stretch>, AppError> {
    const SQL: &str = "SELECT first_cycle, trace, chips, live, cycle_seconds, trace_seconds, played_seconds \
                       FROM demo_stretch ORDER BY first_cycle";
    tx.rows(SQL, []).await?.iter_mut().map(from_row).collect()
}

fn from_row(row: &mut Row) -> Result<Stretch, AppError> {
    Ok(Stretch {
        first_cycle: row.unsigned()?,
        trace: row.text()?,
        chips: row.unsigned()?,
        live: row.int()? != 0,
        cycle_seconds: row.small()?,
        trace_seconds: row.small()?,
        played_seconds: row.unsigned()?,
    })
}

/// Adds a stretch.
///
/// # Errors
/// The database can't be written, or has a stretch that begins with the same cycle.
pub async fn insert(tx: &mut Tx, stretch: &Stretch) -> Result<(), AppError> {
    const SQL: &str = "INSERT INTO demo_stretch (first_cycle, trace, chips, live, cycle_seconds, trace_seconds, \
                       played_seconds) VALUES ($1, $2, $3, $4, $5, $6, $7)";
    let Stretch { first_cycle, trace, chips, live, cycle_seconds, trace_seconds, played_seconds } = stretch;
    let values =
        values![*first_cycle, trace.as_str(), *chips, *live, *cycle_seconds, *trace_seconds, *played_seconds];
    tx.execute(SQL, values).await?;
    Ok(())
}
