//! What-ifs that were asked, and what came out.

use common::api::{Comparison, WhatIfQuestion};
use common::ids::UserId;
use common::instant::Instant;

use super::db::{Row, Tx, values};
use crate::error::AppError;

/// A question as it is stored, with its answer where it has one.
#[derive(Clone, Debug)]
pub(crate) struct StoredWhatIf {
    pub(crate) number: u64,
    pub(crate) id: String,
    pub(crate) question: WhatIfQuestion,
    pub(crate) by: String,
    pub(crate) asked_at: Instant,
    pub(crate) answer: Option<Answer>,
}

/// What became of a question: a comparison, or why there is none.
pub(crate) type Answer = Result<Comparison, String>;

macro_rules! columns {
    () => {
        "w.number, w.id, w.question, w.user_name, w.asked_at, a.comparison, a.note FROM what_if w \
         LEFT JOIN what_if_answer a ON a.what_if = w.number"
    };
}

fn from_row(row: &mut Row) -> Result<StoredWhatIf, AppError> {
    let (number, id, question) = (row.unsigned()?, row.text()?, row.text()?);
    let (by, asked_at) = (row.text()?, Instant(row.int()?));
    let answer = match (row.optional_text()?, row.optional_text()?) {
        (Some(comparison), _) => Some(Ok(serde_json::from_str(&comparison).map_err(AppError::internal)?)),
        (None, note) => note.map(Err),
    };
    let question = serde_json::from_str(&question).map_err(AppError::internal)?;
    Ok(StoredWhatIf { number, id, question, by, asked_at, answer })
}

/// Adds a question; the answer is its number, which is safe to choose here because there is one writer.
pub(crate) async fn insert(
    tx: &mut Tx,
    now: Instant,
    id: &str,
    question: &WhatIfQuestion,
    (user, user_name): (&UserId, &str),
) -> Result<u64, AppError> {
    const SQL: &str = "INSERT INTO what_if (id, question, user_id, user_name, asked_at, number) \
        SELECT $1, $2, $3, $4, $5, COALESCE(MAX(number), 0) + 1 FROM what_if RETURNING number";
    let question = serde_json::to_string(question).map_err(AppError::internal)?;
    let row = tx.row(SQL, values![id, question, user.as_str(), user_name, now.0]).await?;
    row.ok_or_else(|| AppError::internal("an inserted question has no number"))?.unsigned()
}

/// Keeps what became of a question; what is kept already stays.
pub(crate) async fn answer(tx: &mut Tx, now: Instant, number: u64, answer: &Answer) -> Result<(), AppError> {
    const SQL: &str = "INSERT INTO what_if_answer (what_if, comparison, note, answered_at) VALUES ($1, $2, $3, $4) \
        ON CONFLICT (what_if) DO NOTHING";
    let (comparison, note) = match answer {
        Ok(comparison) => (Some(serde_json::to_string(comparison).map_err(AppError::internal)?), None),
        Err(note) => (None, Some(note.as_str())),
    };
    tx.execute(SQL, values![number, comparison.as_deref(), note, now.0]).await.map(drop)
}

/// The question that has an id.
pub(crate) async fn by_id(tx: &mut Tx, id: &str) -> Result<Option<StoredWhatIf>, AppError> {
    const SQL: &str = concat!("SELECT ", columns!(), " WHERE w.id = $1");
    tx.row(SQL, values![id]).await?.as_mut().map(from_row).transpose()
}

/// The last questions, newest first.
pub(crate) async fn last(tx: &mut Tx, limit: u32) -> Result<Vec<StoredWhatIf>, AppError> {
    const SQL: &str = concat!("SELECT ", columns!(), " ORDER BY w.number DESC LIMIT $1");
    tx.rows(SQL, values![limit]).await?.iter_mut().map(from_row).collect()
}
