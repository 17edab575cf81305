//! The period that a page or a request names: a day, a month, a quarter, or a stretch of days.
//!
//! Its bounds come from `periods`, the one place that knows them; here are only the names.

use common::instant::Instant;
use jiff::ToSpan as _;
use jiff::civil::Date;

use crate::error::AppError;
use crate::services::periods::{Calendar, Period, PeriodKind};
use crate::store::finance::spend::Stretch;

/// Days in a stretch at most.
const MOST_DAYS: i32 = 366;

/// A named period: whole days of the organisation's zone.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Range {
    /// Its kind; none for a stretch of days.
    kind: Option<PeriodKind>,
    first: Date,
    /// The day after its last.
    end: Date,
    pub(crate) starts_at: Instant,
    pub(crate) ends_at: Instant,
}

impl Range {
    /// The period of a kind that contains an instant.
    pub(crate) fn around(calendar: &Calendar, kind: PeriodKind, at: Instant) -> Result<Self, AppError> {
        let period = calendar.period(kind, at)?;
        Self::of(calendar, kind, &period)
    }

    /// A period as a range.
    pub(crate) fn of(calendar: &Calendar, kind: PeriodKind, period: &Period) -> Result<Self, AppError> {
        let end = calendar.local(period.ends_at)?.date();
        let (starts_at, ends_at) = (period.starts_at, period.ends_at);
        Ok(Self { kind: Some(kind), first: period.first_day, end, starts_at, ends_at })
    }

    /// The period of a name: `2026-11`, `2026-Q4`, `2026-11-30` or `2026-11-01..2026-11-15`.
    ///
    /// # Errors
    /// `Invalid`, at the field `period`: no such name, or a stretch that is empty or too long.
    pub(crate) fn named(calendar: &Calendar, name: &str) -> Result<Self, AppError> {
        let unknown = || {
            AppError::invalid(
                "period",
                format!(
                    "is {name:?}; write a month like 2026-11, a quarter like 2026-Q4, a day like 2026-11-30, or days \
                     like 2026-11-01..2026-11-15"
                ),
            )
        };
        if let Some((first, last)) = name.split_once("..") {
            let (first, last) = (day(first).ok_or_else(unknown)?, day(last).ok_or_else(unknown)?);
            let end = last.checked_add(1.day()).map_err(AppError::internal)?;
            let days = first.until(end).map_err(AppError::internal)?.get_days();
            if !(1..=MOST_DAYS).contains(&days) {
                let detail = format!("is {name:?}: {days} days; it must be 1 to {MOST_DAYS}");
                return Err(AppError::invalid("period", detail));
            }
            return Self::days(calendar, first, end);
        }
        let (kind, first) = match name.split('-').collect::<Vec<_>>()[..] {
            [year, quarter] if quarter.starts_with('Q') => {
                let quarter: i8 = quarter[1..].parse().map_err(|_| unknown())?;
                if !(1..=4).contains(&quarter) {
                    return Err(unknown());
                }
                (PeriodKind::Quarter, day(&format!("{year}-{:02}-01", quarter * 3 - 2)))
            }
            [_, _] => (PeriodKind::Month, day(&format!("{name}-01"))),
            _ => (PeriodKind::Day, day(name)),
        };
        let first = calendar.start_of(first.ok_or_else(unknown)?)?;
        Self::around(calendar, kind, first)
    }

    fn days(calendar: &Calendar, first: Date, end: Date) -> Result<Self, AppError> {
        let (starts_at, ends_at) = (calendar.start_of(first)?, calendar.start_of(end)?);
        Ok(Self { kind: None, first, end, starts_at, ends_at })
    }

    /// Its name, as it stands in an address.
    pub(crate) fn name(&self) -> String {
        let first = self.first;
        match self.kind {
            Some(PeriodKind::Day) => first.to_string(),
            Some(PeriodKind::Month) => first.strftime("%Y-%m").to_string(),
            Some(PeriodKind::Quarter) => format!("{}-Q{}", first.year(), (first.month() + 2) / 3),
            None => format!("{first}..{}", self.last()),
        }
    }

    /// Its name in words.
    pub(crate) fn title(&self) -> String {
        let first = self.first;
        match self.kind {
            Some(PeriodKind::Day) => first.strftime("%-d %B %Y").to_string(),
            Some(PeriodKind::Month) => first.strftime("%B %Y").to_string(),
            Some(PeriodKind::Quarter) => format!("quarter {} of {}", (first.month() + 2) / 3, first.year()),
            None => format!("{} to {}", first.strftime("%-d %B %Y"), self.last().strftime("%-d %B %Y")),
        }
    }

    fn last(&self) -> Date {
        self.end.yesterday().unwrap_or(self.end)
    }

    /// It is a period of a kind.
    pub(crate) fn is(&self, kind: PeriodKind) -> bool {
        self.kind == Some(kind)
    }

    /// The months that it touches, oldest first.
    pub(crate) fn months(&self, calendar: &Calendar) -> Result<Vec<Period>, AppError> {
        let mut months = vec![calendar.period(PeriodKind::Month, self.starts_at)?];
        while let Some(last) = months.last().filter(|last| last.ends_at < self.ends_at) {
            months.push(calendar.next(PeriodKind::Month, last)?);
        }
        Ok(months)
    }

    /// The period before it: of the same kind, or as many days.
    pub(crate) fn before(&self, calendar: &Calendar) -> Result<Self, AppError> {
        match self.kind {
            Some(kind) => Self::around(calendar, kind, Instant(self.starts_at.0 - 1)),
            None => {
                let days = self.first.until(self.end).map_err(AppError::internal)?.get_days();
                let first = self.first.checked_sub(days.days()).map_err(AppError::internal)?;
                Self::days(calendar, first, self.first)
            }
        }
    }

    /// The period after it: of the same kind, or as many days.
    pub(crate) fn after(&self, calendar: &Calendar) -> Result<Self, AppError> {
        match self.kind {
            Some(kind) => Self::around(calendar, kind, self.ends_at),
            None => {
                let days = self.first.until(self.end).map_err(AppError::internal)?.get_days();
                let end = self.end.checked_add(days.days()).map_err(AppError::internal)?;
                Self::days(calendar, self.end, end)
            }
        }
    }

    /// What it is compared with at an instant: the period before it; of that only as many days as have begun of this one.
    pub(crate) fn compared(&self, calendar: &Calendar, now: Instant) -> Result<Self, AppError> {
        let before = self.before(calendar)?;
        if self.ends_at <= now || now < self.starts_at {
            return Ok(before);
        }
        let today = calendar.local(now)?.date();
        let begun = self.first.until(today).map_err(AppError::internal)?.get_days() + 1;
        let end = before.first.checked_add(begun.days()).map_err(AppError::internal)?;
        if end < before.end { Self::days(calendar, before.first, end) } else { Ok(before) }
    }

    /// How it is summed from the roll-ups of days and months: most of a month is the month without its last days.
    pub(crate) fn stretches(&self, calendar: &Calendar) -> Result<Vec<Stretch>, AppError> {
        let mut stretches = Vec::new();
        let days = |from, to, minus| Stretch { from, to, is_month: false, minus };
        for month in self.months(calendar)? {
            let (from, to) = (self.starts_at.max(month.starts_at), self.ends_at.min(month.ends_at));
            let is_most =
                from == month.starts_at && to.0 - from.0 > (month.ends_at.0 - month.starts_at.0) / 2;
            if is_most {
                let (from, end) = (month.starts_at, month.ends_at);
                stretches.push(Stretch { from, to: end, is_month: true, minus: false });
                if to < end {
                    stretches.push(days(to, end, true));
                }
            } else {
                stretches.push(days(from, to, false));
            }
        }
        Ok(stretches)
    }

    /// Its days that begin before an instant, oldest first.
    pub(crate) fn days_before(&self, calendar: &Calendar, now: Instant) -> Result<Vec<Period>, AppError> {
        let mut days = Vec::new();
        let mut day = calendar.period(PeriodKind::Day, self.starts_at)?;
        while day.starts_at < self.ends_at.min(now) {
            let next = calendar.next(PeriodKind::Day, &day)?;
            days.push(std::mem::replace(&mut day, next));
        }
        Ok(days)
    }
}

/// A day between the years 2000 and 2199, written like 2026-11-30.
fn day(text: &str) -> Option<Date> {
    let is_plain = text.len() == 10 && text.bytes().all(|byte| byte.is_ascii_digit() || byte == b'-');
    let day: Date = text.parse().ok().filter(|_| is_plain)?;
    (2_000..2_200).contains(&day.year()).then_some(day)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn berlin() -> Calendar {
        Calendar::new("Europe/Berlin").unwrap()
    }

    fn named(name: &str) -> Range {
        Range::named(&berlin(), name).unwrap()
    }

    #[test]
    fn t124_names_are_read_and_written_the_same_in_the_organisations_zone() {
        for (name, title, starts_at) in [
            ("2026-03", "March 2026", "2026-02-28T23:00:00Z"),
            ("2026-Q2", "quarter 2 of 2026", "2026-03-31T22:00:00Z"),
            ("2026-03-29", "29 March 2026", "2026-03-28T23:00:00Z"),
            ("2026-03-01..2026-03-15", "1 March 2026 to 15 March 2026", "2026-02-28T23:00:00Z"),
        ] {
            let range = named(name);
            assert_eq!((range.name().as_str(), range.title().as_str()), (name, title));
            assert_eq!(range.starts_at.to_string(), starts_at);
        }
        let at = "2026-03-01T00:30:00+01:00".parse().unwrap();
        assert_eq!(Range::around(&berlin(), PeriodKind::Month, at).unwrap().name(), "2026-03");
    }

    #[test]
    fn what_names_no_period_is_refused() {
        for name in [
            "",
            "2026",
            "2026-13",
            "2026-Q5",
            "2026-Q",
            "26-11",
            "2026-11-31",
            "2026-11-02..2026-11-01",
            "1999-01",
            "2026-01-01..2027-06-01",
            "x..y",
            "2026-11-1",
        ] {
            let refused = Range::named(&berlin(), name).unwrap_err();
            assert_eq!(refused.fields()[0].field, "period", "{name}");
        }
    }

    #[test]
    fn a_period_that_is_not_over_is_compared_with_as_many_days() {
        let now = "2026-11-10T12:00:00Z".parse().unwrap();
        let compared = |name: &str| named(name).compared(&berlin(), now).unwrap().name();
        assert_eq!(compared("2026-11"), "2026-10-01..2026-10-10");
        assert_eq!(compared("2026-10"), "2026-09");
        assert_eq!(compared("2026-11-10"), "2026-11-09");
        assert_eq!(compared("2026-11-05..2026-11-07"), "2026-11-02..2026-11-04");
        let end_of_march = "2026-03-31T12:00:00Z".parse().unwrap();
        assert_eq!(named("2026-03").compared(&berlin(), end_of_march).unwrap().name(), "2026-02");
    }

    #[test]
    fn stretches_add_up_to_the_period() {
        for name in ["2026-11", "2026-Q4", "2026-10-01..2026-10-20", "2026-10-25", "2026-01-20..2026-04-02"] {
            let range = named(name);
            let seconds =
                |stretch: &Stretch| (stretch.to.0 - stretch.from.0) * if stretch.minus { -1 } else { 1 };
            let stretches = range.stretches(&berlin()).unwrap();
            assert_eq!(
                stretches.iter().map(seconds).sum::<i64>(),
                range.ends_at.0 - range.starts_at.0,
                "{name}: {stretches:?}"
            );
        }
        assert_eq!(named("2026-10-01..2026-10-20").stretches(&berlin()).unwrap().len(), 2);
    }

    #[test]
    fn t116_t118_days_follow_each_other_where_the_clocks_change() {
        let days = named("2026-Q4").days_before(&berlin(), Instant(i64::MAX)).unwrap();
        assert_eq!(days.len(), 92);
        assert!(days.windows(2).all(|pair| pair[0].ends_at == pair[1].starts_at));
        let now = named("2026-10-03").starts_at;
        assert_eq!(named("2026-Q4").days_before(&berlin(), now).unwrap().len(), 2);
    }
}
