//! Where the rows of an export come from: a source per export, all read in the same way.

use std::collections::BTreeMap;

use async_trait::async_trait;
use common::ids::{ChipTypeId, PoolId, TeamId};
use common::instant::Instant;

use super::super::periods::{Calendar, Period, PeriodKind};
use super::range::Range;
use super::scope::Scope;
use super::table::Batch;
use crate::error::AppError;
use crate::store::Tx;
use crate::store::entities::{Setup, Team};
use crate::store::history::step_start;

/// Seconds in an hour.
pub(super) const HOUR: i64 = 3_600;

/// How far a source is, in steps of its own.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Progress {
    /// Steps that are read.
    pub done: u64,
    /// All steps; at least one.
    pub all: u64,
}

impl Progress {
    /// All is read.
    pub(super) const END: Self = Self { done: 1, all: 1 };

    /// Whole percents done, 0 to 100.
    #[must_use]
    pub const fn percent(self) -> u64 {
        let done = if self.done < self.all { self.done } else { self.all };
        done * 100 / if self.all == 0 { 1 } else { self.all }
    }
}

/// The rows of an export, read from the first to the last.
///
/// Each batch is read in a transaction of its own, so that a long export keeps no other reader waiting. What it reads is
/// history, which is only added to; its end is settled when it begins.
#[async_trait]
pub(super) trait Source: Send {
    /// The next rows, perhaps none; `None` at the end.
    async fn next(&mut self, tx: &mut Tx) -> Result<Option<Batch>, AppError>;

    /// About how many rows there are, as far as it can be known before they are read.
    fn expected_rows(&self) -> u64;

    /// How far the reading is.
    fn progress(&self) -> Progress;
}

/// What all sources work with.
pub(super) struct Context {
    /// The organisation's name.
    pub(super) organisation: String,
    /// Its calendar.
    pub(super) calendar: Calendar,
    /// And the name of its zone.
    pub(super) time_zone: String,
    /// The time that is asked for.
    pub(super) range: Range,
    /// The present when the export began: nothing later is in it.
    pub(super) now: Instant,
    /// Whose rows the reader gets.
    pub(super) scope: Scope,
    /// Teams as they are now.
    pub(super) teams: BTreeMap<TeamId, Team>,
    pools: BTreeMap<PoolId, String>,
    chip_types: BTreeMap<ChipTypeId, String>,
    month: Option<(Period, String)>,
}

impl Context {
    pub(super) fn new(setup: Setup, calendar: Calendar, range: Range, now: Instant, scope: Scope) -> Self {
        Self {
            organisation: setup.organisation.name,
            calendar,
            time_zone: setup.organisation.time_zone,
            range,
            now,
            scope,
            teams: setup.teams.into_iter().map(|team| (team.id.clone(), team)).collect(),
            pools: setup.pools.into_iter().map(|pool| (pool.id, pool.name)).collect(),
            chip_types: setup
                .chip_types
                .into_iter()
                .map(|chip_type| (chip_type.id, chip_type.name))
                .collect(),
            month: None,
        }
    }

    /// A pool's display name.
    pub(super) fn pool_name(&self, pool: &PoolId) -> String {
        self.pools.get(pool).cloned().unwrap_or_else(|| pool.to_string())
    }

    /// A chip type's display name.
    pub(super) fn chip_type_name(&self, chip_type: &ChipTypeId) -> String {
        self.chip_types.get(chip_type).cloned().unwrap_or_else(|| chip_type.to_string())
    }

    /// The month of the organisation's calendar that an instant lies in, such as `2026-11`.
    pub(super) fn month(&mut self, at: Instant) -> Result<String, AppError> {
        match &self.month {
            Some((period, name)) if period.contains(at) => Ok(name.clone()),
            _ => {
                let period = self.calendar.period(PeriodKind::Month, at)?;
                let name = period.first_day.strftime("%Y-%m").to_string();
                self.month = Some((period, name.clone()));
                Ok(name)
            }
        }
    }

    /// The range itself from the hour of `first` on and up to the present, also where it begins within an hour.
    pub(super) fn stretches(&self, first: Option<Instant>) -> Hours {
        let Some(first) = first else { return self.hours(None) };
        let next = self.range.from.max(step_start(first, HOUR));
        Hours { next, end: self.range.to.min(self.now), began: next }
    }

    /// The hours of UTC that begin in the range: from the one of `first` on, and up to the present. An hour belongs to the
    /// period in which it begins.
    pub(super) fn hours(&self, first: Option<Instant>) -> Hours {
        let Some(first) = first else { return Hours { next: self.now, end: self.now, began: self.now } };
        let next = hour_from(self.range.from.max(step_start(first, HOUR)));
        let end = if self.range.to < self.now { hour_from(self.range.to) } else { self.now };
        Hours { next, end, began: next }
    }
}

/// The first full hour at an instant or after it.
pub(super) fn hour_from(at: Instant) -> Instant {
    let start = step_start(at, HOUR);
    if start == at { start } else { start.plus_seconds(HOUR) }
}

/// Hours that are read a few at once.
#[derive(Clone, Copy, Debug)]
pub(super) struct Hours {
    next: Instant,
    /// The end of the last one, or the present within it.
    end: Instant,
    began: Instant,
}

impl Hours {
    /// The next hours, at most `most`: their start and end. None at the end.
    pub(super) fn take(&mut self, most: i64) -> Option<(Instant, Instant)> {
        if self.next >= self.end {
            return None;
        }
        let from = self.next;
        self.next = step_start(from, HOUR).plus_seconds(HOUR * most);
        Some((from, self.next.min(self.end)))
    }

    /// How many hours there are in all.
    pub(super) fn count(&self) -> u64 {
        let micros = (self.end.0 - self.began.0).max(0);
        let hour = Instant(0).plus_seconds(HOUR).0;
        (micros / hour + i64::from(micros % hour > 0)).unsigned_abs()
    }

    pub(super) fn progress(&self) -> Progress {
        let done = (self.next.0 - self.began.0).max(0).unsigned_abs();
        Progress { done, all: (self.end.0 - self.began.0).max(1).unsigned_abs() }
    }
}
