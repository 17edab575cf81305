//! Imported traces: files kept whole, so that what was read from them can always be read again.

use common::instant::Instant;

use super::db::{Tx, values};
use crate::error::AppError;

/// An imported trace.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StoredTrace {
    /// What it is called.
    pub name: String,
    /// SHA-256 of the file.
    pub sha256: [u8; 32],
    /// Jobs in it.
    pub jobs: u64,
    /// The file, compressed with zstd.
    pub content: Vec<u8>,
}

/// The trace of a name.
///
/// # Errors
/// The database can't be read.
pub async fn find(tx: &mut Tx, name: &str) -> Result<Option<StoredTrace>, AppError> {
    const SQL: &str = "SELECT name, sha256, jobs, content FROM trace WHERE name = $1";
    let Some(mut row) = tx.row(SQL, values![name]).await? else { return Ok(None) };
    Ok(Some(StoredTrace {
        name: row.text()?,
        sha256: row.sha256()?,
        jobs: row.unsigned()?,
        content: row.bytes()?,
    }))
}

/// The names of all traces, in order.
///
/// # Errors
/// The database can't be read.
pub async fn names(tx: &mut Tx) -> Result<Vec<String>, AppError> {
    tx.rows("SELECT name FROM trace ORDER BY name", []).await?.iter_mut().map(super::db::Row::text).collect()
}

/// Adds a trace.
///
/// # Errors
/// The database can't be written, or has a trace of the name.
pub async fn insert(tx: &mut Tx, now: Instant, trace: StoredTrace) -> Result<(), AppError> {
    const SQL: &str =
        "INSERT INTO trace (name, sha256, jobs, content, imported_at) VALUES ($1, $2, $3, $4, $5)";
    let StoredTrace { name, sha256, jobs, content } = trace;
    tx.execute(SQL, values![name, sha256, jobs, content, now.0]).await?;
    Ok(())
}
