//! The rows of the audit log: added to and read, never changed.

use common::api::AuditEntry;
use common::instant::Instant;
use serde::{Deserialize, Serialize};

use super::db::{Row, Tx, Value, values};
use crate::error::AppError;

/// Which entries to read; what is absent does not restrict.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct AuditFilter {
    /// Done by this account.
    pub user: Option<String>,
    /// This action.
    pub action: Option<String>,
    /// Done to an object of this kind.
    pub object_kind: Option<String>,
    /// Done to this object.
    pub object: Option<String>,
    /// At or after.
    pub from: Option<Instant>,
    /// Before.
    pub to: Option<Instant>,
}

/// Adds an entry; its `number` is chosen here, which is safe because there is one writer.
pub(crate) async fn insert(tx: &mut Tx, entry: &AuditEntry) -> Result<(), AppError> {
    const SQL: &str = "INSERT INTO audit_entry (at, user_id, user_name, token, action, object_kind, object, before_json, \
        after_json, reason, address, request_id, number) SELECT $1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, \
        COALESCE(MAX(number), 0) + 1 FROM audit_entry";
    let json = |value: &Option<serde_json::Value>| value.as_ref().map(ToString::to_string);
    let (before, after) = (json(&entry.before), json(&entry.after));
    tx.execute(
        SQL,
        values![
            entry.at.0,
            entry.user.as_str(),
            entry.user_name.as_str(),
            entry.token.as_ref().map(common::ids::TokenId::as_str),
            entry.action.as_str(),
            entry.object_kind.as_str(),
            entry.object.as_str(),
            before.as_deref(),
            after.as_deref(),
            entry.reason.as_str(),
            entry.address.as_deref(),
            entry.request_id.as_deref(),
        ],
    )
    .await?;
    Ok(())
}

// A parameter that is null is compared with a type, so that PostgreSQL knows it.
macro_rules! filtered {
    () => {
        " FROM audit_entry WHERE (CAST($1 AS TEXT) IS NULL OR user_id = $1) \
         AND (CAST($2 AS TEXT) IS NULL OR action = $2) AND (CAST($3 AS TEXT) IS NULL OR object_kind = $3) \
         AND (CAST($4 AS TEXT) IS NULL OR object = $4) AND at >= $5 AND at < $6"
    };
}

macro_rules! entry_columns {
    () => {
        "SELECT number, at, user_id, user_name, token, action, object_kind, object, before_json, after_json, reason, \
         address, request_id"
    };
}

impl AuditFilter {
    /// The values of the statements that end in `filtered!`, in their order.
    fn values(&self) -> Vec<Value> {
        let Self { user, action, object_kind, object, from, to } = self;
        let texts = [user, action, object_kind, object].map(|text| Value::from(text.as_deref()));
        let (from, to) = (from.map_or(i64::MIN, |at| at.0), to.map_or(i64::MAX, |at| at.0));
        texts.into_iter().chain(values![from, to]).collect()
    }
}

/// At most `limit` entries with numbers below `before`, newest first.
pub(crate) async fn entries(
    tx: &mut Tx,
    filter: &AuditFilter,
    before: u64,
    limit: u32,
) -> Result<Vec<AuditEntry>, AppError> {
    const SQL: &str =
        concat!(entry_columns!(), filtered!(), " AND number < $7 ORDER BY number DESC LIMIT $8");
    let values = filter.values().into_iter().chain(values![before, limit]);
    tx.rows(SQL, values).await?.iter_mut().map(from_row).collect()
}

/// At most `limit` entries with numbers above `after` up to `last`, oldest first.
pub(crate) async fn entries_after(
    tx: &mut Tx,
    filter: &AuditFilter,
    after: u64,
    last: u64,
    limit: u32,
) -> Result<Vec<AuditEntry>, AppError> {
    const SQL: &str =
        concat!(entry_columns!(), filtered!(), " AND number > $7 AND number <= $8 ORDER BY number LIMIT $9");
    let values = filter.values().into_iter().chain(values![after, last, limit]);
    tx.rows(SQL, values).await?.iter_mut().map(from_row).collect()
}

/// How many entries a filter passes, and between which numbers; all 0 where there is none.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Extent {
    pub(crate) entries: u64,
    pub(crate) first: u64,
    pub(crate) last: u64,
}

/// The extent of what a filter passes.
pub(crate) async fn extent(tx: &mut Tx, filter: &AuditFilter) -> Result<Extent, AppError> {
    const SQL: &str =
        concat!("SELECT COUNT(*), COALESCE(MIN(number), 0), COALESCE(MAX(number), 0)", filtered!());
    let Some(mut row) = tx.row(SQL, filter.values()).await? else {
        return Ok(Extent { entries: 0, first: 0, last: 0 });
    };
    Ok(Extent { entries: row.unsigned()?, first: row.unsigned()?, last: row.unsigned()? })
}

/// The actions that are in the log, in order: what a filter can choose from.
pub(crate) async fn actions(tx: &mut Tx) -> Result<Vec<String>, AppError> {
    const SQL: &str = "SELECT DISTINCT action FROM audit_entry ORDER BY action";
    tx.rows(SQL, []).await?.iter_mut().map(Row::text).collect()
}

fn from_row(row: &mut Row) -> Result<AuditEntry, AppError> {
    let json = |text: Option<String>| {
        text.map(|text| serde_json::from_str(&text).map_err(AppError::internal)).transpose()
    };
    Ok(AuditEntry {
        number: row.unsigned()?,
        at: Instant(row.int()?),
        user: row.id()?,
        user_name: row.text()?,
        token: row.optional_id()?,
        action: row.text()?,
        object_kind: row.text()?,
        object: row.text()?,
        before: json(row.optional_text()?)?,
        after: json(row.optional_text()?)?,
        reason: row.text()?,
        address: row.optional_text()?,
        request_id: row.optional_text()?,
    })
}
