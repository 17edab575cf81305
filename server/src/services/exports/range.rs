//! The time an export covers: a period of the organisation's calendar by its name, or two instants.

use common::instant::Instant;
use jiff::ToSpan as _;
use jiff::civil::Date;

use super::super::periods::Calendar;
use crate::error::AppError;

/// A stretch of time with its start and without its end, and what it is called.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(in crate::services) struct Range {
    /// The first instant.
    pub(in crate::services) from: Instant,
    /// The first instant after it.
    pub(in crate::services) to: Instant,
    /// Its name, for the name of the file: the period's, the days of its ends, or `all`.
    pub(in crate::services) label: String,
}

impl Range {
    /// Reads what was asked: a period, or a start and an end of which either may be left out. Nothing is all there is.
    ///
    /// # Errors
    /// `Invalid`: the period is none, or stands beside an instant, or the end is not after the start.
    pub(in crate::services) fn read(
        calendar: &Calendar,
        period: Option<&str>,
        from: Option<Instant>,
        to: Option<Instant>,
    ) -> Result<Self, AppError> {
        match (period, from, to) {
            (Some(period), None, None) => named(calendar, period),
            (Some(_), _, _) => {
                Err(AppError::invalid("period", "stands beside from or to; say either a period or instants"))
            }
            (None, None, None) => {
                Ok(Self { from: Instant(i64::MIN), to: Instant(i64::MAX), label: "all".to_owned() })
            }
            (None, from, to) => {
                let (first, last) = (from.unwrap_or(Instant(i64::MIN)), to.unwrap_or(Instant(i64::MAX)));
                if last <= first {
                    return Err(AppError::invalid(
                        "to",
                        format!("is {last}; it must be after from, {first}"),
                    ));
                }
                let day = |at: Option<Instant>, none: &str| {
                    at.map_or_else(|| none.to_owned(), |at| at.to_string().chars().take(10).collect())
                };
                Ok(Self {
                    from: first,
                    to: last,
                    label: format!("{}-to-{}", day(from, "start"), day(to, "now")),
                })
            }
        }
    }
}

/// A year, quarter, month or day of the calendar: `2026`, `2026-Q4`, `2026-11`, `2026-11-30`.
fn named(calendar: &Calendar, text: &str) -> Result<Range, AppError> {
    let refused = || {
        let detail = format!("{text:?} is no period; write it like 2026, 2026-Q4, 2026-11 or 2026-11-30");
        AppError::invalid("period", detail)
    };
    let parts: Vec<&str> = text.split('-').collect();
    let number = |text: &str, digits: usize| {
        let plain = text.len() == digits && text.bytes().all(|byte| byte.is_ascii_digit());
        text.parse::<i16>().ok().filter(|_| plain)
    };
    let small = |text: &str| number(text, 2).and_then(|number| i8::try_from(number).ok());
    let year = parts.first().and_then(|year| number(year, 4)).ok_or_else(refused)?;
    let quarter = |text: &str| text.strip_prefix('Q').and_then(|text| number(text, 1));
    let (first, length) = match parts.as_slice() {
        [_] => (Date::new(year, 1, 1), 1.year()),
        [_, rest] => match quarter(rest) {
            Some(quarter @ 1..=4) => {
                (Date::new(year, i8::try_from(quarter * 3 - 2).unwrap_or(1), 1), 3.months())
            }
            Some(_) => return Err(refused()),
            None => (Date::new(year, small(rest).ok_or_else(refused)?, 1), 1.month()),
        },
        [_, month, day] => {
            let (month, day) = small(month).zip(small(day)).ok_or_else(refused)?;
            (Date::new(year, month, day), 1.day())
        }
        _ => return Err(refused()),
    };
    let first = first.map_err(|_| refused())?;
    let after = first.checked_add(length).map_err(|_| refused())?;
    let (from, to) = (calendar.start_of(first)?, calendar.start_of(after)?);
    Ok(Range { from, to, label: text.to_owned() })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn range(zone: &str, period: &str) -> Result<(String, String), AppError> {
        let range = Range::read(&Calendar::new(zone)?, Some(period), None, None)?;
        Ok((range.from.to_string(), range.to.to_string()))
    }

    #[test]
    fn t124_a_period_is_the_one_of_the_calendar() {
        let of = |zone, period| range(zone, period).unwrap();
        let pair = |from: &str, to: &str| (from.to_owned(), to.to_owned());
        assert_eq!(of("UTC", "2028"), pair("2028-01-01T00:00:00Z", "2029-01-01T00:00:00Z"));
        assert_eq!(of("UTC", "2026-Q4"), pair("2026-10-01T00:00:00Z", "2027-01-01T00:00:00Z"));
        assert_eq!(of("Europe/Berlin", "2026-03"), pair("2026-02-28T23:00:00Z", "2026-03-31T22:00:00Z"));
        assert_eq!(of("Europe/Berlin", "2026-10-25"), pair("2026-10-24T22:00:00Z", "2026-10-25T23:00:00Z"));
    }

    #[test]
    fn what_is_no_period_is_refused_with_the_way_to_write_one() {
        for text in [
            "",
            "26",
            "2026-13",
            "2026-Q5",
            "2026-Q0",
            "2026-2-3",
            "2026-02-30",
            "2026-11-30-1",
            "+202",
            "9999",
        ] {
            let error = range("UTC", text).expect_err(text);
            assert_eq!(error.fields()[0].field, "period", "{text}");
        }
        let utc = Calendar::new("UTC").unwrap();
        let (early, late) = (Instant(0), Instant(1));
        assert!(Range::read(&utc, None, Some(late), Some(early)).is_err());
        assert!(Range::read(&utc, None, Some(late), Some(late)).is_err());
        assert!(Range::read(&utc, Some("2026"), Some(late), None).is_err());
    }
}
