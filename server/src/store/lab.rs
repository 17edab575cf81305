//! Runs of the lab and uploaded traces.

use common::api::{LabRun, LabState};
use common::instant::Instant;

use super::db::{Row, Tx, values};
use crate::error::AppError;

/// An uploaded trace.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LabTrace {
    /// What it is called.
    pub name: String,
    /// Chips of each type in every round.
    pub supply: Option<u64>,
    /// Length of a round.
    pub round_seconds: u32,
    /// Rounds in it.
    pub rounds: u64,
    /// Teams in it.
    pub teams: u64,
    /// When it was uploaded.
    pub created_at: Instant,
    /// Who uploaded it.
    pub created_by: String,
    /// The file, compressed with zstd.
    pub content: Vec<u8>,
}

macro_rules! run_columns {
    () => {
        "id, request, state, done_steps, all_steps, created_at, created_by, created_by_name, finished_at, problem"
    };
}

const fn state_text(state: LabState) -> &'static str {
    match state {
        LabState::Queued => "queued",
        LabState::Running => "running",
        LabState::Done => "done",
        LabState::Cancelled => "cancelled",
        LabState::Failed => "failed",
    }
}

fn run_from_row(mut row: Row) -> Result<LabRun, AppError> {
    let (id, request, state) = (row.text()?, row.text()?, row.text()?);
    Ok(LabRun {
        id,
        request: serde_json::from_str(&request).map_err(AppError::internal)?,
        state: serde_json::from_value(serde_json::Value::String(state)).map_err(AppError::internal)?,
        done: row.unsigned()?,
        all: row.unsigned()?,
        created_at: Instant(row.int()?),
        created_by: row.id()?,
        created_by_name: row.text()?,
        finished_at: row.optional_int()?.map(Instant),
        problem: row.optional_text()?,
    })
}

/// Adds a run that waits.
///
/// # Errors
/// The database can't be written.
pub async fn insert_run(tx: &mut Tx, run: &LabRun) -> Result<(), AppError> {
    const SQL: &str = "INSERT INTO lab_run (id, request, state, cancel_wanted, done_steps, all_steps, created_at, \
                       created_by, created_by_name, heard_at) VALUES ($1, $2, 'queued', 0, 0, 0, $3, $4, $5, $3)";
    let request = serde_json::to_string(&run.request).map_err(AppError::internal)?;
    let by = run.created_by.as_str();
    tx.execute(SQL, values![&*run.id, request, run.created_at.0, by, &*run.created_by_name]).await?;
    Ok(())
}

/// The newest runs, newest first.
///
/// # Errors
/// The database can't be read.
pub async fn runs(tx: &mut Tx, limit: u32) -> Result<Vec<LabRun>, AppError> {
    const SQL: &str =
        concat!("SELECT ", run_columns!(), " FROM lab_run ORDER BY created_at DESC, id DESC LIMIT $1");
    tx.rows(SQL, values![limit]).await?.into_iter().map(run_from_row).collect()
}

/// A run, and its figures where it is done, as they are stored.
///
/// # Errors
/// The database can't be read.
pub async fn run(tx: &mut Tx, id: &str) -> Result<Option<(LabRun, Option<Vec<u8>>)>, AppError> {
    const SQL: &str = concat!("SELECT ", run_columns!(), " FROM lab_run WHERE id = $1");
    const RESULT: &str = "SELECT result FROM lab_run WHERE id = $1 AND result IS NOT NULL";
    let Some(row) = tx.row(SQL, values![id]).await? else { return Ok(None) };
    let run = run_from_row(row)?;
    let result = tx.row(RESULT, values![id]).await?.map(|mut row| row.bytes()).transpose()?;
    Ok(Some((run, result)))
}

/// How many runs have not ended.
///
/// # Errors
/// The database can't be read.
pub async fn unfinished(tx: &mut Tx) -> Result<u64, AppError> {
    const SQL: &str = "SELECT COUNT(*) FROM lab_run WHERE state IN ('queued', 'running')";
    tx.row(SQL, []).await?.map_or(Ok(0), |mut row| row.unsigned())
}

/// Takes up the oldest run that waits, or that nobody has spoken of since `silent_since`. Runs that were cancelled while
/// they waited end here.
///
/// # Errors
/// The database can't be written.
pub async fn claim(tx: &mut Tx, now: Instant, silent_since: Instant) -> Result<Option<LabRun>, AppError> {
    const END: &str = "UPDATE lab_run SET state = 'cancelled', finished_at = $1 WHERE cancel_wanted = 1 AND (state = \
                       'queued' OR (state = 'running' AND heard_at < $2))";
    const FIND: &str = concat!(
        "SELECT ",
        run_columns!(),
        " FROM lab_run WHERE state = 'queued' OR (state = 'running' AND heard_at < $1) ORDER BY created_at, id LIMIT 1"
    );
    const TAKE: &str = "UPDATE lab_run SET state = 'running', heard_at = $2, done_steps = 0 WHERE id = $1";
    tx.execute(END, values![now.0, silent_since.0]).await?;
    let Some(row) = tx.row(FIND, values![silent_since.0]).await? else { return Ok(None) };
    let run = run_from_row(row)?;
    tx.execute(TAKE, values![&*run.id, now.0]).await?;
    Ok(Some(run))
}

/// Whether there is a run to take up.
///
/// # Errors
/// The database can't be read.
pub async fn is_wanted(tx: &mut Tx, silent_since: Instant) -> Result<bool, AppError> {
    const SQL: &str =
        "SELECT 1 FROM lab_run WHERE state = 'queued' OR (state = 'running' AND heard_at < $1) LIMIT 1";
    Ok(tx.row(SQL, values![silent_since.0]).await?.is_some())
}

/// Notes how far a run is. Answers whether somebody wants it to end.
///
/// # Errors
/// The database can't be written.
pub async fn note_progress(
    tx: &mut Tx,
    id: &str,
    done: u64,
    all: u64,
    now: Instant,
) -> Result<bool, AppError> {
    const SQL: &str = "UPDATE lab_run SET done_steps = $2, all_steps = $3, heard_at = $4 WHERE id = $1 AND state = 'running'";
    tx.execute(SQL, values![id, done, all, now.0]).await?;
    let row = tx.row("SELECT cancel_wanted FROM lab_run WHERE id = $1", values![id]).await?;
    row.map_or(Ok(true), |mut row| row.flag())
}

/// Wants a run to end. Answers whether it had not ended yet.
///
/// # Errors
/// The database can't be written.
pub async fn want_cancelled(tx: &mut Tx, id: &str) -> Result<bool, AppError> {
    const SQL: &str = "UPDATE lab_run SET cancel_wanted = 1 WHERE id = $1 AND state IN ('queued', 'running')";
    Ok(tx.execute(SQL, values![id]).await? > 0)
}

/// Lets a run wait again: its process shuts down.
///
/// # Errors
/// The database can't be written.
pub async fn let_wait(tx: &mut Tx, id: &str) -> Result<(), AppError> {
    const SQL: &str =
        "UPDATE lab_run SET state = 'queued', done_steps = 0 WHERE id = $1 AND state = 'running'";
    tx.execute(SQL, values![id]).await?;
    Ok(())
}

/// Ends a run.
///
/// # Errors
/// The database can't be written.
pub async fn finish(
    tx: &mut Tx,
    id: &str,
    state: LabState,
    problem: Option<&str>,
    result: Option<Vec<u8>>,
    now: Instant,
) -> Result<(), AppError> {
    const SQL: &str = "UPDATE lab_run SET state = $2, problem = $3, finished_at = $4 WHERE id = $1";
    const RESULT: &str = "UPDATE lab_run SET result = $2, done_steps = all_steps WHERE id = $1";
    tx.execute(SQL, values![id, state_text(state), problem, now.0]).await?;
    if let Some(result) = result {
        tx.execute(RESULT, values![id, result]).await?;
    }
    Ok(())
}

fn trace_from_row(mut row: Row) -> Result<LabTrace, AppError> {
    Ok(LabTrace {
        name: row.text()?,
        supply: row.optional_unsigned()?,
        round_seconds: row.small()?,
        rounds: row.unsigned()?,
        teams: row.unsigned()?,
        created_at: Instant(row.int()?),
        created_by: row.text()?,
        content: row.bytes()?,
    })
}

/// Adds an uploaded trace.
///
/// # Errors
/// The database can't be written, or has a trace of the name.
pub async fn insert_trace(tx: &mut Tx, trace: LabTrace) -> Result<(), AppError> {
    const SQL: &str = "INSERT INTO lab_trace (name, supply, round_seconds, rounds, teams, created_at, created_by, content) \
                       VALUES ($1, $2, $3, $4, $5, $6, $7, $8)";
    let LabTrace { name, supply, round_seconds, rounds, teams, created_at, created_by, content } = trace;
    tx.execute(SQL, values![name, supply, round_seconds, rounds, teams, created_at.0, created_by, content])
        .await?;
    Ok(())
}

/// The uploaded trace of a name.
///
/// # Errors
/// The database can't be read.
pub async fn find_trace(tx: &mut Tx, name: &str) -> Result<Option<LabTrace>, AppError> {
    const SQL: &str = "SELECT name, supply, round_seconds, rounds, teams, created_at, created_by, content FROM lab_trace \
                       WHERE name = $1";
    tx.row(SQL, values![name]).await?.map(trace_from_row).transpose()
}

/// The names of all uploaded traces, in order, with their rounds and teams.
///
/// # Errors
/// The database can't be read.
pub async fn traces(tx: &mut Tx) -> Result<Vec<(String, u64, u64)>, AppError> {
    let rows = tx.rows("SELECT name, rounds, teams FROM lab_trace ORDER BY name", []).await?;
    rows.into_iter().map(|mut row| Ok((row.text()?, row.unsigned()?, row.unsigned()?))).collect()
}
