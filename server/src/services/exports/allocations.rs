//! Allocations as an export: what each team was granted and used of each chip type, hour by hour.

use async_trait::async_trait;

use super::source::{Context, HOUR, Hours, Progress, Source};
use super::table::{Batch, Cell, Column, Kind, column};
use crate::error::AppError;
use crate::store::usage::{self, Usage};
use crate::store::{Tx, budget};

/// Hours read at once.
const HOURS_AT_ONCE: i64 = 4;

/// The rows are those of hours, steps of so many seconds.
pub(super) const STEP_SECONDS: u32 = 3_600;

pub(super) const COLUMNS: &[Column] = &[
    column("starts_at", Kind::Time, "Start of the hour in UTC."),
    column("starts_at_local", Kind::Text, "The same in the organisation's zone, with its offset."),
    column("time_zone", Kind::Text, "The organisation's zone."),
    column("pool", Kind::Text, "The team's pool."),
    column("team", Kind::Text, "The team."),
    column("team_name", Kind::Text, "The team's name now."),
    column("chip_type", Kind::Text, "The chip type."),
    column(
        "granted_chip_seconds",
        Kind::Whole,
        "Chips in the team's quota times the seconds they were in it; what it was granted.",
    ),
    column("used_chip_seconds", Kind::Whole, "Those of them that its bids used."),
    column("idle_chip_seconds", Kind::Whole, "Granted and not used; never below zero."),
    column("over_use_chip_seconds", Kind::Whole, "Used beyond what was granted."),
    column(
        "opportunistic_chip_seconds",
        Kind::Whole,
        "Used for free because nobody paid for them; not part of the quota.",
    ),
    column("cost_basis", Kind::Text, "What the cost is for: used. A quota that nobody uses costs nothing."),
    column(
        "cost_credits",
        Kind::Micros,
        "What the use cost in credits of the pool, as booked; empty for teams whose money you may not see.",
    ),
];

pub(super) struct Allocations {
    context: Context,
    hours: Hours,
    expected: u64,
}

impl Allocations {
    pub(super) async fn open(tx: &mut Tx, context: Context) -> Result<Self, AppError> {
        let hours = context.hours(budget::first_cycle_at(tx).await?);
        let expected = sampled(tx, hours, |_| 1).await?;
        Ok(Self { context, hours, expected })
    }

    fn row(&self, usage: Usage, local: &str) -> [Cell; 14] {
        let Usage { granted_chip_seconds: granted, used_chip_seconds: used, .. } = usage;
        let team = self.context.teams.get(&usage.team);
        let has_cost = self.context.scope.has(&usage.team);
        [
            Cell::Time(usage.starts_at),
            Cell::text(local),
            Cell::Text(self.context.time_zone.clone()),
            Cell::or_absent(team, |team| Cell::text(&team.pool)),
            Cell::text(&usage.team),
            Cell::or_absent(team, |team| Cell::text(&team.name)),
            Cell::text(usage.chip_type),
            Cell::count(granted),
            Cell::count(used),
            Cell::count(granted.saturating_sub(used)),
            Cell::count(used.saturating_sub(granted)),
            Cell::count(usage.opportunistic_chip_seconds),
            Cell::text("used"),
            if has_cost { Cell::Micros(usage.cost.0) } else { Cell::Absent },
        ]
    }
}

/// About how many rows hours have in all, from a look at a few of them; `rows` says how many one of usage makes.
pub(super) async fn sampled(
    tx: &mut Tx,
    hours: Hours,
    rows: impl Fn(&Usage) -> u64,
) -> Result<u64, AppError> {
    const LOOKS: u64 = 5;
    let stride = i64::try_from(hours.count().div_ceil(LOOKS)).unwrap_or(i64::MAX).max(1);
    let (mut look, mut found, mut looked) = (hours, 0, 0);
    while let Some((from, to)) = look.take(stride) {
        let usage = usage::usage(tx, from, from.plus_seconds(HOUR).min(to), STEP_SECONDS).await?;
        found += usage.iter().map(&rows).sum::<u64>();
        looked += 1;
    }
    Ok((found * hours.count()).checked_div(looked).unwrap_or(0))
}

#[async_trait]
impl Source for Allocations {
    async fn next(&mut self, tx: &mut Tx) -> Result<Option<Batch>, AppError> {
        let Some((from, to)) = self.hours.take(HOURS_AT_ONCE) else { return Ok(None) };
        let mut batch = Batch::default();
        let (mut hour, mut local) = (None, String::new());
        for usage in usage::usage(tx, from, to, STEP_SECONDS).await? {
            if hour != Some(usage.starts_at) {
                hour = Some(usage.starts_at);
                local = self.context.calendar.local_text(usage.starts_at)?;
            }
            batch.push(self.row(usage, &local));
        }
        Ok(Some(batch))
    }

    fn expected_rows(&self) -> u64 {
        self.expected
    }

    fn progress(&self) -> Progress {
        self.hours.progress()
    }
}
