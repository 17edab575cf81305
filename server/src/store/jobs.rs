//! Rows of long work in the background: who asked for it, how far it is, what came of it.

use common::api::JobState;
use common::ids::UserId;
use common::instant::Instant;

use super::db::{Row, Tx, values};
use crate::error::AppError;

/// A job as it is stored.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Job {
    pub(crate) id: String,
    pub(crate) kind: String,
    pub(crate) user: UserId,
    pub(crate) user_name: String,
    pub(crate) title: String,
    /// JSON of what is asked for.
    pub(crate) request: String,
    pub(crate) state: JobState,
    pub(crate) reached: Reached,
    pub(crate) made_at: Instant,
    /// When whoever runs it last said so.
    pub(crate) seen_at: Option<Instant>,
    pub(crate) ended_at: Option<Instant>,
    pub(crate) file: Option<String>,
    pub(crate) result: Option<String>,
    pub(crate) error: Option<String>,
}

/// How far a job is.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Reached {
    pub(crate) done_steps: u64,
    pub(crate) all_steps: u64,
    pub(crate) rows: u64,
    pub(crate) expected_rows: u64,
    pub(crate) bytes: u64,
}

/// How a job ended.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct End {
    pub(crate) file: Option<String>,
    pub(crate) result: Option<String>,
    pub(crate) error: Option<String>,
}

macro_rules! columns {
    () => {
        "SELECT id, kind, user_id, user_name, title, request, state, done_steps, all_steps, row_count, expected_rows, \
         bytes, made_at, seen_at, ended_at, file, result, error FROM job "
    };
}

fn from_row(row: &mut Row) -> Result<Job, AppError> {
    Ok(Job {
        id: row.text()?,
        kind: row.text()?,
        user: row.id()?,
        user_name: row.text()?,
        title: row.text()?,
        request: row.text()?,
        state: state(&row.text()?)?,
        reached: Reached {
            done_steps: row.unsigned()?,
            all_steps: row.unsigned()?,
            rows: row.unsigned()?,
            expected_rows: row.unsigned()?,
            bytes: row.unsigned()?,
        },
        made_at: Instant(row.int()?),
        seen_at: row.optional_int()?.map(Instant),
        ended_at: row.optional_int()?.map(Instant),
        file: row.optional_text()?,
        result: row.optional_text()?,
        error: row.optional_text()?,
    })
}

fn state(text: &str) -> Result<JobState, AppError> {
    let found = JobState::ALL.into_iter().find(|state| state.as_str() == text);
    found.ok_or_else(|| AppError::internal(format!("a stored job has the unknown state {text:?}")))
}

/// Adds a job that waits.
pub(crate) async fn insert(tx: &mut Tx, job: &Job) -> Result<(), AppError> {
    const SQL: &str = "INSERT INTO job (id, kind, user_id, user_name, title, request, state, done_steps, all_steps, \
        row_count, expected_rows, bytes, made_at) VALUES ($1, $2, $3, $4, $5, $6, 'waiting', 0, 1, 0, $7, 0, $8)";
    let Job { id, kind, user, user_name, title, request, .. } = job;
    let (id, kind, user, user_name) = (id.as_str(), kind.as_str(), user.as_str(), user_name.as_str());
    let (title, request) = (title.as_str(), request.as_str());
    let values = values![id, kind, user, user_name, title, request, job.reached.expected_rows, job.made_at.0];
    tx.execute(SQL, values).await.map(drop)
}

/// A job by its id.
pub(crate) async fn find(tx: &mut Tx, id: &str) -> Result<Option<Job>, AppError> {
    const SQL: &str = concat!(columns!(), "WHERE id = $1");
    tx.row(SQL, values![id]).await?.map(|mut row| from_row(&mut row)).transpose()
}

/// The newest jobs of somebody, of one kind.
pub(crate) async fn of_user(
    tx: &mut Tx,
    user: &UserId,
    kind: &str,
    limit: u32,
) -> Result<Vec<Job>, AppError> {
    const SQL: &str =
        concat!(columns!(), "WHERE user_id = $1 AND kind = $2 ORDER BY made_at DESC, id DESC LIMIT $3");
    tx.rows(SQL, values![user.as_str(), kind, limit]).await?.iter_mut().map(from_row).collect()
}

/// The newest jobs of a kind, of everybody.
pub(crate) async fn of_kind(tx: &mut Tx, kind: &str, limit: u32) -> Result<Vec<Job>, AppError> {
    const SQL: &str = concat!(columns!(), "WHERE kind = $1 ORDER BY made_at DESC, id DESC LIMIT $2");
    tx.rows(SQL, values![kind, limit]).await?.iter_mut().map(from_row).collect()
}

/// How many jobs of somebody wait or run.
pub(crate) async fn open_of(tx: &mut Tx, user: &UserId) -> Result<u64, AppError> {
    const SQL: &str = "SELECT COUNT(*) FROM job WHERE user_id = $1 AND state IN ('waiting', 'running')";
    tx.row(SQL, values![user.as_str()]).await?.map_or(Ok(0), |mut row| row.unsigned())
}

/// The job to run next: the oldest that waits, or that nobody said to be running since `silent_since`.
pub(crate) async fn next(tx: &mut Tx, silent_since: Instant) -> Result<Option<Job>, AppError> {
    const SQL: &str = concat!(
        columns!(),
        "WHERE state IN ('waiting', 'running') AND (state = 'waiting' OR seen_at < $1) ORDER BY made_at, id LIMIT 1"
    );
    tx.row(SQL, values![silent_since.0]).await?.map(|mut row| from_row(&mut row)).transpose()
}

/// Takes a job to run it; a beginning that was made before is forgotten.
pub(crate) async fn take(tx: &mut Tx, id: &str, now: Instant) -> Result<(), AppError> {
    const SQL: &str = "UPDATE job SET state = 'running', seen_at = $2, done_steps = 0, row_count = 0, bytes = 0 \
        WHERE id = $1 AND state IN ('waiting', 'running')";
    tx.execute(SQL, values![id, now.0]).await.map(drop)
}

/// Says how far a job is that was last seen at `seen_at`; false where it was given up or taken by somebody else since.
pub(crate) async fn report(
    tx: &mut Tx,
    id: &str,
    seen_at: Instant,
    now: Instant,
    reached: Reached,
) -> Result<bool, AppError> {
    const SQL: &str = "UPDATE job SET seen_at = $3, done_steps = $4, all_steps = $5, row_count = $6, \
        expected_rows = $7, bytes = $8 WHERE id = $1 AND state = 'running' AND seen_at = $2";
    let Reached { done_steps, all_steps, rows, expected_rows, bytes } = reached;
    let values = values![id, seen_at.0, now.0, done_steps, all_steps, rows, expected_rows, bytes];
    Ok(tx.execute(SQL, values).await? == 1)
}

/// Ends a job that was last seen at `seen_at`; false where it was given up or taken by somebody else since.
pub(crate) async fn end(
    tx: &mut Tx,
    id: &str,
    seen_at: Instant,
    now: Instant,
    state: JobState,
    end: &End,
) -> Result<bool, AppError> {
    const SQL: &str = "UPDATE job SET state = $3, ended_at = $4, file = $5, result = $6, error = $7 \
        WHERE id = $1 AND state = 'running' AND seen_at = $2";
    let End { file, result, error } = end;
    let (file, result, error) = (file.as_deref(), result.as_deref(), error.as_deref());
    let values = values![id, seen_at.0, state.as_str(), now.0, file, result, error];
    Ok(tx.execute(SQL, values).await? == 1)
}

/// Puts a job that was last seen at `seen_at` back, so that it is begun anew.
pub(crate) async fn put_back(tx: &mut Tx, id: &str, seen_at: Instant) -> Result<(), AppError> {
    const SQL: &str = "UPDATE job SET state = 'waiting', seen_at = NULL WHERE id = $1 AND state = 'running' AND seen_at = $2";
    tx.execute(SQL, values![id, seen_at.0]).await.map(drop)
}

/// Gives a job up; false where it has ended already.
pub(crate) async fn cancel(tx: &mut Tx, id: &str, now: Instant) -> Result<bool, AppError> {
    const SQL: &str =
        "UPDATE job SET state = 'cancelled', ended_at = $2 WHERE id = $1 AND state IN ('waiting', 'running')";
    Ok(tx.execute(SQL, values![id, now.0]).await? == 1)
}

/// The files of jobs that ended before an instant: the job and the path.
pub(crate) async fn old_files(tx: &mut Tx, before: Instant) -> Result<Vec<(String, String)>, AppError> {
    const SQL: &str = "SELECT id, file FROM job WHERE file IS NOT NULL AND ended_at < $1";
    tx.rows(SQL, values![before.0]).await?.iter_mut().map(|row| Ok((row.text()?, row.text()?))).collect()
}

/// Notes that a job's file is gone.
pub(crate) async fn forget_file(tx: &mut Tx, id: &str) -> Result<(), AppError> {
    tx.execute("UPDATE job SET file = NULL WHERE id = $1", values![id]).await.map(drop)
}
