//! Days, months and quarters: one definition, in the organisation's zone, for budgets, charts, statements and exports.
//!
//! A period includes its start and not its end, which is the start of the next. Its length is what the clocks of the
//! zone make of it: a day has 23 or 25 hours where they change.

use common::instant::Instant;
use jiff::civil::{Date, DateTime};
use jiff::tz::TimeZone;
use jiff::{Timestamp, ToSpan as _};

use crate::error::AppError;

/// How long a period is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PeriodKind {
    /// From midnight to midnight.
    Day,
    /// A month of the calendar.
    Month,
    /// Three months from January, April, July or October on.
    Quarter,
}

/// A stretch of time that is counted as one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Period {
    /// Its first instant.
    pub starts_at: Instant,
    /// The first instant after it.
    pub ends_at: Instant,
    /// Its first day, in the zone.
    pub first_day: Date,
}

impl Period {
    /// Whether an instant lies in it.
    #[must_use]
    pub fn contains(&self, at: Instant) -> bool {
        self.starts_at <= at && at < self.ends_at
    }

    /// A month by its name, such as "November 2026".
    #[must_use]
    pub fn month_name(&self) -> String {
        self.first_day.strftime("%B %Y").to_string()
    }
}

/// The calendar of an organisation: its time zone.
#[derive(Clone, Debug)]
pub struct Calendar(TimeZone);

impl Calendar {
    /// The calendar of an IANA time zone.
    ///
    /// # Errors
    /// `Internal`: no such zone is known. Settings are checked before they are stored, so the program lacks its zones.
    pub fn new(time_zone: &str) -> Result<Self, AppError> {
        TimeZone::get(time_zone).map(Self).map_err(AppError::internal)
    }

    /// The period that contains an instant.
    ///
    /// # Errors
    /// `Internal`: the instant is beyond the years -9999 to 9999.
    pub fn period(&self, kind: PeriodKind, at: Instant) -> Result<Period, AppError> {
        let day = self.local(at)?.date();
        let first_day = match kind {
            PeriodKind::Day => day,
            PeriodKind::Month => day.first_of_month(),
            PeriodKind::Quarter => quarter_of(day)?,
        };
        self.beginning(kind, first_day)
    }

    /// The month in which what an accounting step booked at an instant counts: a step covers the time before it, so the
    /// one at the first instant of a month counts in the month before.
    ///
    /// # Errors
    /// As [`Calendar::period`].
    pub fn month_booked(&self, booked_at: Instant) -> Result<Period, AppError> {
        self.period(PeriodKind::Month, Instant(booked_at.0 - 1))
    }

    /// The period after another one.
    ///
    /// # Errors
    /// As [`Calendar::period`].
    pub fn next(&self, kind: PeriodKind, period: &Period) -> Result<Period, AppError> {
        self.period(kind, period.ends_at)
    }

    /// The period before another one.
    ///
    /// # Errors
    /// As [`Calendar::period`].
    pub fn previous(&self, kind: PeriodKind, period: &Period) -> Result<Period, AppError> {
        self.period(kind, Instant(period.starts_at.0 - 1))
    }

    /// An instant as a date and time of the zone, without its offset.
    ///
    /// # Errors
    /// As [`Calendar::period`].
    pub fn local(&self, at: Instant) -> Result<DateTime, AppError> {
        let at = Timestamp::from_microsecond(at.0).map_err(AppError::internal)?;
        Ok(self.0.to_datetime(at))
    }

    /// An instant as RFC 3339 with the offset of the zone at that instant, in whole seconds.
    ///
    /// # Errors
    /// As [`Calendar::period`].
    pub fn local_text(&self, at: Instant) -> Result<String, AppError> {
        let at = Timestamp::from_microsecond(at.0).map_err(AppError::internal)?;
        Ok(at.to_zoned_datetime(self.0.clone()).strftime("%Y-%m-%dT%H:%M:%S%:z").to_string())
    }

    /// An instant as people write it in the zone, with the zone's name: "1 Dec 00:00 (UTC)".
    ///
    /// # Errors
    /// As [`Calendar::period`].
    pub fn day_and_time(&self, at: Instant) -> Result<String, AppError> {
        let name = self.0.iana_name().unwrap_or("UTC");
        Ok(format!("{} ({name})", self.local(at)?.strftime("%-d %b %H:%M")))
    }

    /// The first instant of a day of the zone. Where the clocks skip midnight it is the first instant after the gap, and
    /// where they show it twice, the first of the two.
    ///
    /// # Errors
    /// As [`Calendar::period`].
    pub fn start_of(&self, day: Date) -> Result<Instant, AppError> {
        let midnight = day.to_datetime(jiff::civil::Time::midnight());
        let start = self.0.to_timestamp(midnight).map_err(AppError::internal)?;
        Ok(Instant(start.as_microsecond()))
    }

    fn beginning(&self, kind: PeriodKind, first_day: Date) -> Result<Period, AppError> {
        let length = match kind {
            PeriodKind::Day => 1.day(),
            PeriodKind::Month => 1.month(),
            PeriodKind::Quarter => 3.months(),
        };
        let after = first_day.checked_add(length).map_err(AppError::internal)?;
        Ok(Period { starts_at: self.start_of(first_day)?, ends_at: self.start_of(after)?, first_day })
    }
}

/// The first day of the quarter of a day.
fn quarter_of(day: Date) -> Result<Date, AppError> {
    Date::new(day.year(), (day.month() - 1) / 3 * 3 + 1, 1).map_err(AppError::internal)
}

#[cfg(test)]
mod tests {
    use common::instant::MICROS_PER_SECOND;
    use proptest::prelude::*;

    use super::*;

    const HOUR: i64 = 3_600 * MICROS_PER_SECOND;
    const KINDS: [PeriodKind; 3] = [PeriodKind::Day, PeriodKind::Month, PeriodKind::Quarter];

    fn at(text: &str) -> Instant {
        text.parse().unwrap()
    }

    fn period(zone: &str, kind: PeriodKind, text: &str) -> (String, String) {
        let period = Calendar::new(zone).unwrap().period(kind, at(text)).unwrap();
        (period.starts_at.to_string(), period.ends_at.to_string())
    }

    fn hours(zone: &str, kind: PeriodKind, text: &str) -> i64 {
        let period = Calendar::new(zone).unwrap().period(kind, at(text)).unwrap();
        (period.ends_at.0 - period.starts_at.0) / HOUR
    }

    #[test]
    fn t116_the_day_on_which_the_clocks_go_back_has_25_hours() {
        assert_eq!(hours("Europe/Berlin", PeriodKind::Day, "2026-10-25T12:00:00Z"), 25);
        let calendar = Calendar::new("Europe/Berlin").unwrap();
        let twice =
            ["2026-10-25T00:30:00Z", "2026-10-25T01:30:00Z"].map(|text| calendar.local(at(text)).unwrap());
        assert_eq!(twice[0], twice[1], "02:30 is shown twice");
    }

    #[test]
    fn t118_the_day_on_which_the_clocks_go_forward_has_23_hours() {
        let (starts_at, ends_at) = period("Europe/Berlin", PeriodKind::Day, "2026-03-29T12:00:00Z");
        assert_eq!((starts_at.as_str(), ends_at.as_str()), ("2026-03-28T23:00:00Z", "2026-03-29T22:00:00Z"));
        assert_eq!(hours("Europe/Berlin", PeriodKind::Day, "2026-03-29T12:00:00Z"), 23);
        assert_eq!(hours("Europe/Berlin", PeriodKind::Month, "2026-03-15T12:00:00Z"), 31 * 24 - 1);
    }

    #[test]
    fn t118_a_day_whose_midnight_does_not_exist_starts_after_the_gap() {
        // In Cairo the clocks go from 00:00 to 01:00.
        let (starts_at, _) = period("Africa/Cairo", PeriodKind::Day, "2026-04-24T12:00:00Z");
        assert_eq!(starts_at, "2026-04-23T22:00:00Z");
        assert_eq!(hours("Africa/Cairo", PeriodKind::Day, "2026-04-24T12:00:00Z"), 23);
    }

    #[test]
    fn t119_a_leap_year_has_8784_hours() {
        let hours_of = |zone, year: i16| -> i64 {
            (1..=12)
                .map(|month| hours(zone, PeriodKind::Month, &format!("{year}-{month:02}-15T12:00:00Z")))
                .sum()
        };
        assert_eq!((hours_of("UTC", 2028), hours_of("UTC", 2026)), (8_784, 8_760));
        assert_eq!(hours_of("Europe/Berlin", 2028), 8_784);
        assert_eq!(hours("UTC", PeriodKind::Month, "2028-02-29T23:59:59Z"), 29 * 24);
        assert_eq!(hours("UTC", PeriodKind::Quarter, "2028-02-29T00:00:00Z"), (31 + 29 + 31) * 24);
    }

    #[test]
    fn t124_a_month_begins_at_midnight_of_the_organisation_not_of_utc() {
        // 00:30 on the first of March in Berlin is still February in UTC.
        let (starts_at, ends_at) = period("Europe/Berlin", PeriodKind::Month, "2026-03-01T00:30:00+01:00");
        assert_eq!((starts_at.as_str(), ends_at.as_str()), ("2026-02-28T23:00:00Z", "2026-03-31T22:00:00Z"));
        let (starts_at, _) = period("UTC", PeriodKind::Month, "2026-03-01T00:30:00+01:00");
        assert_eq!(starts_at, "2026-02-01T00:00:00Z");
        let berlin = Calendar::new("Europe/Berlin").unwrap();
        let march = berlin.period(PeriodKind::Month, at("2026-03-01T00:30:00+01:00")).unwrap();
        assert_eq!(march.month_name(), "March 2026");
    }

    #[test]
    fn the_start_belongs_to_a_period_and_the_end_to_the_next() {
        let calendar = Calendar::new("UTC").unwrap();
        let november = calendar.period(PeriodKind::Month, at("2026-11-01T00:00:00Z")).unwrap();
        assert!(november.contains(november.starts_at) && !november.contains(november.ends_at));
        let december = calendar.next(PeriodKind::Month, &november).unwrap();
        assert_eq!(december.starts_at, november.ends_at);
        assert_eq!(calendar.previous(PeriodKind::Month, &december).unwrap(), november);
        // A step at the first instant of December covers the last minutes of November.
        assert_eq!(calendar.month_booked(december.starts_at).unwrap(), november);
        assert_eq!(calendar.month_booked(Instant(december.starts_at.0 + 1)).unwrap(), december);
    }

    #[test]
    fn quarters_begin_in_january_april_july_and_october() {
        for (month, first) in [(1, 1), (3, 1), (4, 4), (6, 4), (7, 7), (9, 7), (10, 10), (12, 10)] {
            let (starts_at, _) = period("UTC", PeriodKind::Quarter, &format!("2026-{month:02}-28T00:00:00Z"));
            assert_eq!(starts_at, format!("2026-{first:02}-01T00:00:00Z"));
        }
    }

    proptest! {
        #[test]
        fn periods_cover_time_without_gap_or_overlap(
            seconds in 0_i64..4_000_000_000,
            zone in prop::sample::select(vec![
                "UTC", "Europe/Berlin", "America/New_York", "Asia/Kolkata", "Australia/Lord_Howe", "Pacific/Apia",
                "America/Sao_Paulo",
            ]),
            kind in prop::sample::select(KINDS.to_vec()),
        ) {
            let calendar = Calendar::new(zone).unwrap();
            let at = Instant(seconds * MICROS_PER_SECOND);
            let period = calendar.period(kind, at).unwrap();
            prop_assert!(period.contains(at));
            prop_assert_eq!(calendar.period(kind, period.starts_at).unwrap(), period);
            prop_assert_eq!(calendar.period(kind, Instant(period.ends_at.0 - 1)).unwrap(), period);
            prop_assert_eq!(calendar.next(kind, &period).unwrap().starts_at, period.ends_at);
        }
    }
}
