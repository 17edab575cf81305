//! Closes months: what counts in a closed one never changes, what is found later is a correction in an open one.
//!
//! A month is closed after the accounting step that settles it, in order, and for good. The database itself refuses a
//! transfer that would count in a closed month, so that no fault of the program can book one.

use common::instant::Instant;
use serde::Serialize;

use super::Count;
use super::range::Range;
use super::statements::number_all;
use crate::error::AppError;
use crate::policy::{Action, Object};
use crate::services::Services;
use crate::services::audit::{Deed, Doer, check_reason, record};
use crate::services::periods::{Calendar, PeriodKind};
use crate::store::Tx;
use crate::store::finance::close::{self as stored, Close, Facts};
use crate::store::finance::statements;

/// A closed month against the ledger as it is now.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ClosedMonth {
    /// The month, such as `2026-11`.
    pub period: String,
    /// Its first instant.
    pub starts_at: Instant,
    /// What counts in it is what it was when it was closed: hash, number of entries, and all totals.
    pub holds: bool,
    /// The hash that was stored, in hexadecimal.
    pub stored_sha256: String,
    /// The hash that follows from the ledger.
    pub found_sha256: String,
    /// Entries that were stored to count in it, and those that count now.
    pub entries: (u64, u64),
}

/// Holds each closed month against the ledger, oldest first: for the reconciliation, and for whoever wants to know.
///
/// # Errors
/// The database can't be read.
pub async fn check_closed(tx: &mut Tx) -> Result<Vec<ClosedMonth>, AppError> {
    let mut months = Vec::new();
    for close in stored::all(tx).await? {
        let found = stored::facts(tx, close.starts_at, close.ends_at).await?;
        let month = Range::around(&Calendar::new(&close.time_zone)?, PeriodKind::Month, close.starts_at)?;
        months.push(ClosedMonth {
            period: month.name(),
            starts_at: close.starts_at,
            holds: found == close.facts,
            stored_sha256: hex::encode(close.facts.sha256),
            found_sha256: hex::encode(found.sha256),
            entries: (close.facts.entries, found.entries),
        });
    }
    Ok(months)
}

/// Refuses another time zone once a month is closed: its bounds are those of its zone.
pub(crate) async fn check_zone(tx: &mut Tx, present: &str, asked: &str) -> Result<(), AppError> {
    match stored::closed_to(tx).await? {
        Some(end) if present != asked => Err(AppError::invalid(
            "time_zone",
            format!(
                "is {asked}; months up to {end} are closed by the days of {present}, and what is closed keeps its bounds. \
                 The zone can't change any more"
            ),
        )),
        _ => Ok(()),
    }
}

/// The month that is to be closed next: the one after the last closed one, or the first of all; none without any booking.
pub(super) async fn next_month(tx: &mut Tx, count: &Count) -> Result<Option<Range>, AppError> {
    let at = match count.closed_to {
        Some(end) => Some(end),
        None => stored::begins_at(tx).await?,
    };
    at.map(|at| Range::around(&count.calendar, PeriodKind::Month, at)).transpose()
}

/// Why a month can't be closed now; none where it can.
pub(super) fn waits_for(count: &Count, month: &Range, next: Option<&Range>) -> Option<String> {
    let Some(next) = next else { return Some("nothing is booked yet".to_owned()) };
    if month.starts_at < next.starts_at {
        return Some(format!("nothing is booked before {}", next.title()));
    }
    if month.starts_at > next.starts_at {
        return Some(format!("months are closed in order, and {} is the next", next.title()));
    }
    if count.booked_at.is_some_and(|at| at >= month.ends_at) {
        return None;
    }
    Some("it is not settled: the first accounting step at its end or later does that".to_owned())
}

/// What the audit log keeps of a close.
#[derive(Serialize)]
struct Closed<'a> {
    period: String,
    time_zone: &'a str,
    transfers: u64,
    entries: u64,
    sha256: String,
    statements: usize,
}

impl Services {
    /// Closes a month for good and numbers its statements.
    ///
    /// # Errors
    /// `Forbidden`: the doer may not book money. `Invalid`: there is no reason, or the period is no month. `Conflict`: it is
    /// closed already, not over, or another one comes first; the message says which.
    pub async fn close_month(&self, doer: Doer<'_>, period: &str) -> Result<(), AppError> {
        doer.viewer.may(Action::BookMoney, Object::Organisation)?;
        check_reason(doer.reason)?;
        let latest = self.market().latest().await?;
        let clock = self.market().clock();
        let zone = &latest.setup.organisation.time_zone;
        // What counts in a settled month is fixed, so that all that takes long is read before the writer is taken.
        let mut tx = self.store.read().await?;
        let count = Count::load(&mut tx, zone, (clock.cycle, clock.cleared_at)).await?;
        let month = count.month(Some(period))?;
        check_open(&count, &month)?;
        if let Some(why) = waits_for(&count, &month, next_month(&mut tx, &count).await?.as_ref()) {
            return Err(AppError::conflict(format!("{} can't be closed: {why}", month.title())));
        }
        let facts = stored::facts(&mut tx, month.starts_at, month.ends_at).await?;
        let first = statements::next_number(&mut tx).await?;
        let numbered = number_all(&mut tx, &count, &month, first).await?;
        drop(tx);

        let (now, mut tx) = (self.now(), self.store.write().await?);
        if stored::closed_to(&mut tx).await? != count.closed_to {
            return Err(AppError::conflict("somebody closed a month at the same moment; look at it again"));
        }
        let newest = super::super::organisation::newest_setup(&mut tx).await?.organisation.time_zone;
        if newest != *zone {
            return Err(AppError::conflict(
                "another time zone waits for the next cycle; close the month once it is in force",
            ));
        }
        let Facts { transfers, entries, sha256, .. } = facts;
        let close = Close {
            starts_at: month.starts_at,
            ends_at: month.ends_at,
            time_zone: zone.clone(),
            closed_at: now,
            closed_by: doer.viewer.user.clone(),
            closed_by_name: doer.viewer.name.clone(),
            reason: doer.reason.trim().to_owned(),
            facts,
        };
        stored::insert(&mut tx, &close).await?;
        statements::insert(&mut tx, month.starts_at, &numbered).await?;
        let (period, sha256) = (month.name(), hex::encode(sha256));
        let said = Closed { period, time_zone: zone, transfers, entries, sha256, statements: numbered.len() };
        record(&mut tx, now, doer, Deed::new("period.closed", "period", &month.name()).after(&said)?).await?;
        tx.commit().await
    }
}

fn check_open(count: &Count, month: &Range) -> Result<(), AppError> {
    if count.closed_to.is_some_and(|end| month.ends_at <= end) {
        return Err(AppError::conflict(format!(
            "{} is closed already, for good; what is found later is booked as a correction in the open month",
            month.title()
        )));
    }
    Ok(())
}
