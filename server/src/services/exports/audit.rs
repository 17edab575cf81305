//! The audit log as an export, oldest first, with the filters of its page.

use async_trait::async_trait;
use serde_json::Value;

use super::source::{Context, Progress, Source};
use super::table::{Batch, Cell, Column, Kind, column};
use crate::error::AppError;
use crate::store::Tx;
use crate::store::audit::{self, AuditFilter};

/// Entries read at once.
const BATCH: u32 = 1_000;

pub(super) const COLUMNS: &[Column] = &[
    column("number", Kind::Whole, "Number of the entry, from 1 without gaps."),
    column("at", Kind::Time, "When it was done."),
    column("at_local", Kind::Text, "The same in the organisation's zone, with its offset."),
    column("time_zone", Kind::Text, "The organisation's zone."),
    column("user", Kind::Text, "The account that did it."),
    column("user_name", Kind::Text, "Its display name at that time."),
    column("token", Kind::Text, "The token that was used; empty for somebody at a browser."),
    column("action", Kind::Text, "What was done, such as team.changed."),
    column("object_kind", Kind::Text, "What it was done to: team, pool, user and so on."),
    column("object", Kind::Text, "The id of the object."),
    column("before", Kind::Text, "The object before, as JSON."),
    column("after", Kind::Text, "The object after, as JSON."),
    column("reason", Kind::Text, "Why, in the words of whoever did it."),
    column("address", Kind::Text, "The network address it came from, where it is known."),
    column("request_id", Kind::Text, "The id of the request, which the server's log knows."),
];

pub(super) struct Audit {
    context: Context,
    filter: AuditFilter,
    after: u64,
    stretch: audit::Extent,
}

impl Audit {
    pub(super) async fn open(tx: &mut Tx, context: Context, filter: &AuditFilter) -> Result<Self, AppError> {
        let (from, to) = (Some(context.range.from), Some(context.range.to));
        let filter = AuditFilter { from, to, ..filter.clone() };
        let stretch = audit::extent(tx, &filter).await?;
        Ok(Self { context, filter, after: stretch.first.saturating_sub(1), stretch })
    }
}

#[async_trait]
impl Source for Audit {
    async fn next(&mut self, tx: &mut Tx) -> Result<Option<Batch>, AppError> {
        let entries = audit::entries_after(tx, &self.filter, self.after, self.stretch.last, BATCH).await?;
        let Some(last) = entries.last() else { return Ok(None) };
        self.after = last.number;
        let mut batch = Batch::default();
        let json = |value: Option<Value>| Cell::or_absent(value, Cell::text);
        for entry in entries {
            batch.push([
                Cell::count(entry.number),
                Cell::Time(entry.at),
                Cell::Text(self.context.calendar.local_text(entry.at)?),
                Cell::Text(self.context.time_zone.clone()),
                Cell::text(entry.user),
                Cell::Text(entry.user_name),
                Cell::or_absent(entry.token, Cell::text),
                Cell::Text(entry.action),
                Cell::Text(entry.object_kind),
                Cell::Text(entry.object),
                json(entry.before),
                json(entry.after),
                Cell::Text(entry.reason),
                Cell::or_absent(entry.address, Cell::Text),
                Cell::or_absent(entry.request_id, Cell::Text),
            ]);
        }
        Ok(Some(batch))
    }

    fn expected_rows(&self) -> u64 {
        self.stretch.entries
    }

    fn progress(&self) -> Progress {
        let all = self.stretch.last.saturating_sub(self.stretch.first) + 1;
        Progress { done: (self.after + 1).saturating_sub(self.stretch.first.max(1)), all }
    }
}
