//! What finance does: looks at spend, closes months, books corrections, states accounts.
//!
//! All of it reads the ledger, or roll-ups that say what the ledger says; `docs/FINANCE.md` has the rules.

mod approval;
mod bookings;
mod budgets;
pub mod close;
mod largest_remainder;
mod months;
pub(crate) mod range;
mod spend;
mod statements;
mod variance;

use common::api::PeriodView;
use common::instant::Instant;

use self::range::Range;
use super::periods::{Calendar, PeriodKind};
use crate::error::AppError;
use crate::store::finance::close as closes;
use crate::store::{Tx, budget};

pub use bookings::NewBooking;
pub(crate) use close::check_zone;
pub use spend::SpendQuery;

/// The calendar, the zone and the present moment that all finance pages count with.
struct Count {
    calendar: Calendar,
    time_zone: String,
    /// The last cycle.
    cycle: u64,
    /// When it began.
    now: Instant,
    /// When the first cycle began.
    first_at: Instant,
    /// The last accounting step up to then.
    booked_at: Option<Instant>,
    /// The end of the last closed month.
    closed_to: Option<Instant>,
}

impl Count {
    async fn load(tx: &mut Tx, time_zone: &str, (cycle, now): (u64, Instant)) -> Result<Self, AppError> {
        Ok(Self {
            calendar: Calendar::new(time_zone)?,
            time_zone: time_zone.to_owned(),
            cycle,
            now,
            first_at: budget::first_cycle_at(tx).await?.unwrap_or(now),
            booked_at: budget::last_step(tx, cycle).await?.map(|(_, at)| at),
            closed_to: closes::closed_to(tx).await?,
        })
    }

    /// The period of a name; without one, the month in force.
    fn range(&self, name: Option<&str>) -> Result<Range, AppError> {
        match name.filter(|name| !name.is_empty()) {
            Some(name) => Range::named(&self.calendar, name),
            None => Range::around(&self.calendar, PeriodKind::Month, self.now),
        }
    }

    /// The month of a name; without one, the one in force.
    fn month(&self, name: Option<&str>) -> Result<Range, AppError> {
        let range = self.range(name)?;
        if range.is(PeriodKind::Month) {
            return Ok(range);
        }
        Err(AppError::invalid("period", format!("is {}; it must be a month like 2026-11", range.name())))
    }

    /// The month or quarter of a name; without one, the month in force.
    fn month_or_quarter(&self, name: Option<&str>) -> Result<Range, AppError> {
        let range = self.range(name)?;
        if range.is(PeriodKind::Month) || range.is(PeriodKind::Quarter) {
            return Ok(range);
        }
        let detail =
            format!("is {}; it must be a month like 2026-11 or a quarter like 2026-Q4", range.name());
        Err(AppError::invalid("period", detail))
    }

    fn view(&self, range: &Range) -> Result<PeriodView, AppError> {
        Ok(PeriodView {
            period: range.name(),
            title: range.title(),
            starts_at: range.starts_at,
            ends_at: range.ends_at,
            time_zone: self.time_zone.clone(),
            earlier: (range.starts_at > self.first_at)
                .then(|| Ok::<_, AppError>(range.before(&self.calendar)?.name()))
                .transpose()?,
            later: (range.ends_at <= self.now)
                .then(|| Ok::<_, AppError>(range.after(&self.calendar)?.name()))
                .transpose()?,
            over: self.booked_at.is_some_and(|at| at >= range.ends_at),
            closed: self.closed_to.is_some_and(|end| end >= range.ends_at),
        })
    }
}
