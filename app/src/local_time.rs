//! Times as people type them: a date and a time without an offset, in the zone that the form names.

use common::instant::Instant;
use jiff::civil::DateTime;
use jiff::tz::{AmbiguousOffset, TimeZone};

/// The zone of a form whose page ran no script.
pub const PLAIN_ZONE: &str = "UTC";

/// The instant of a local date, with or without a time of day, in a zone. One in an hour that comes twice is the first,
/// or the last one.
///
/// # Errors
/// Why it is none, as it goes on from the name of its field: no date and time, an unknown zone, an hour that the clocks
/// of the zone leave out.
pub fn local_instant(text: &str, zone: &str, last: bool) -> Result<Instant, String> {
    let plain = text.bytes().all(|byte| byte.is_ascii_digit() || b"-:.T".contains(&byte));
    let local: DateTime = text
        .parse()
        .ok()
        .filter(|_| plain)
        .ok_or("is not a date and a time; write it like 2026-12-01T22:00")?;
    let zone = TimeZone::get(zone).map_err(|_| format!("is in the zone {zone:?}, which nobody knows"))?;
    let ambiguous = zone.to_ambiguous_timestamp(local);
    if let AmbiguousOffset::Gap { .. } = ambiguous.offset() {
        let name = zone.iana_name().unwrap_or("this zone").to_owned();
        return Err(format!(
            "is {}, which does not exist in {name}: clocks go forward past it that day",
            local.strftime("%Y-%m-%d %H:%M")
        ));
    }
    let at = if last { ambiguous.later() } else { ambiguous.earlier() };
    at.map(|at| Instant(at.as_microsecond())).map_err(|error| error.to_string())
}

/// An instant as a browser's field for a date and a time takes it, in UTC; other texts as they are.
#[must_use]
pub fn in_field(text: &str) -> &str {
    let local = text.strip_suffix('Z').unwrap_or(text);
    local.strip_suffix(":00").filter(|minutes| minutes.len() == "2026-12-01T22:00".len()).unwrap_or(local)
}

/// Whether a browser's field for a date and a time takes a text; it drops any other.
#[must_use]
pub fn fits_field(text: &str) -> bool {
    text.len() >= "2026-12-01T22:00".len() && local_instant(text, PLAIN_ZONE, false).is_ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_field_shows_an_instant_without_its_offset() {
        assert_eq!(in_field("2026-12-01T22:00:00Z"), "2026-12-01T22:00");
        assert_eq!(in_field("2026-12-01T22:00:07Z"), "2026-12-01T22:00:07");
        assert_eq!(in_field("2026-12-01T22:00"), "2026-12-01T22:00");
        assert_eq!(in_field("yesterday"), "yesterday");
        for (text, fits) in
            [("2026-12-01T22:00", true), ("2026-12-01T22:00:07", true), ("2026-12-01", false), ("x", false)]
        {
            assert_eq!(fits_field(text), fits, "{text}");
        }
    }

    #[test]
    fn a_day_begins_at_its_midnight_and_what_is_no_local_time_is_refused() {
        let at = local_instant("2026-12-01", "Europe/Berlin", false).unwrap();
        assert_eq!(at.to_string(), "2026-11-30T23:00:00Z");
        for text in
            ["", "yesterday", "2026-13-01", "2026-12-01T25:00", "2026-12-01T22:00+01:00", "1e309", "-5"]
        {
            assert!(local_instant(text, "UTC", false).is_err(), "{text}");
        }
    }
}
