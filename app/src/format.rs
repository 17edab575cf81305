//! Numbers and times as texts. Integer arithmetic only: a page shows exactly what the ledger holds.

use common::api::Occupancy;
use common::chips::Chips;
use common::instant::Instant;
use common::money::{MicroCredits, Price};
use common::words::grouped as group;
pub use common::words::thousands;

/// Keeps a number and its unit on one line.
const NO_BREAK_SPACE: char = '\u{a0}';
const MINUS: char = '\u{2212}';
/// Stands where there is no value.
pub(crate) const NONE: &str = "—";

/// What a page of settings shows: those in force, and what waits for the next cycle.
#[must_use]
pub fn as_set(next_cycle: u64) -> String {
    format!("As set; what takes effect in cycle {} is included.", thousands(next_cycle))
}

/// Chips with commas between thousands.
pub(crate) fn chips(chips: Chips) -> String {
    thousands(chips.0)
}

/// Thousandths of chips or chip-hours with all three decimals: 1234567 → "1,234.567".
pub fn milli(thousandths: u64) -> String {
    format!("{}.{:03}", thousands(thousandths / 1_000), thousandths % 1_000)
}

/// An amount, exact, with commas between thousands of credits.
pub fn amount(amount: MicroCredits) -> String {
    let text = amount.to_string();
    let (sign, digits) = text.strip_prefix('-').map_or(("", text.as_str()), |rest| ("\u{2212}", rest));
    let (whole, decimals) = digits.split_once('.').unwrap_or((digits, "00"));
    format!("{sign}{}.{decimals}", group(whole))
}

/// A price as the ledger writes it, or a dash.
pub(crate) fn price(price: Option<Price>) -> String {
    price.map_or_else(|| NONE.to_owned(), |price| price.to_string())
}

/// Which way a price went.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Direction {
    Up,
    Down,
    Level,
}

/// How far a price went, in words and direction.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Change {
    /// Which way.
    pub(crate) direction: Direction,
    /// Percent with one decimal, "from 0" or "no trade".
    pub(crate) text: String,
}

/// The change from `before` to `now`, rounded half away from zero to a tenth of a percent.
pub(crate) fn change(now: Option<Price>, before: Option<Price>) -> Change {
    let level = |text: &str| Change { direction: Direction::Level, text: text.to_owned() };
    let (now, before) = match (now, before) {
        (None, _) => return level("no trade"),
        (Some(_), None) => return level("no earlier price"),
        (Some(now), Some(before)) => (i128::from(now.0), i128::from(before.0)),
    };
    if now == before {
        return level(&format!("0.0{NO_BREAK_SPACE}%"));
    }
    let direction = if now > before { Direction::Up } else { Direction::Down };
    if before == 0 {
        return Change { direction, text: "from 0".to_owned() };
    }
    let tenths = ((now - before).abs() * 1_000 + before / 2) / before;
    let sign = if now > before { '+' } else { MINUS };
    let whole = group(&(tenths / 10).to_string());
    Change { direction, text: format!("{sign}{whole}.{}{NO_BREAK_SPACE}%", tenths % 10) }
}

/// A part of a whole in percent, rounded half up; a part that is not all never shows as 100 %, nor one that is not
/// nothing as 0 %.
pub(crate) fn percent(part: Chips, whole: Chips) -> String {
    let (part, whole) = (u128::from(part.0), u128::from(whole.0));
    let text = if whole == 0 || part == 0 {
        "0".to_owned()
    } else {
        match (part * 100 + whole / 2) / whole {
            0 => "< 1".to_owned(),
            100.. if part < whole => "> 99".to_owned(),
            percent => percent.to_string(),
        }
    };
    format!("{text}{NO_BREAK_SPACE}%")
}

/// Occupancy in words: "88 % paid · 9 % opportunistic · 3 % idle".
pub(crate) fn occupancy(use_of: &Occupancy) -> String {
    if use_of.supply.0 == 0 {
        return "no supply".to_owned();
    }
    let share = |part: Chips, name: &str| format!("{} {name}", percent(part, use_of.supply));
    [share(use_of.paid, "paid"), share(use_of.opportunistic, "opportunistic"), share(use_of.idle, "idle")]
        .join(" · ")
}

/// A length of time by its two largest units: "42 s", "3 min 5 s", "2 h 10 min", "4 d 1 h".
pub(crate) fn duration(seconds: i64) -> String {
    let seconds = seconds.max(0);
    let units = [(86_400, "d"), (3_600, "h"), (60, "min"), (1, "s")];
    let first = units.iter().position(|(size, _)| seconds >= *size).unwrap_or(units.len() - 1);
    let mut rest = seconds;
    let mut parts = Vec::with_capacity(2);
    for (size, unit) in units.iter().skip(first).take(2) {
        let count = rest / size;
        rest %= size;
        if count > 0 || parts.is_empty() {
            parts.push(format!("{count}{NO_BREAK_SPACE}{unit}"));
        }
    }
    parts.join(" ")
}

/// Time left on a clock face: "0:42", "1:02:03".
pub(crate) fn countdown(seconds: i64) -> String {
    let seconds = seconds.max(0);
    let (hours, minutes, seconds) = (seconds / 3_600, seconds / 60 % 60, seconds % 60);
    if hours > 0 { format!("{hours}:{minutes:02}:{seconds:02}") } else { format!("{minutes}:{seconds:02}") }
}

/// How long a computation took: "340 µs", "12.3 ms", "2.31 s".
pub(crate) fn short_time(micros: u64) -> String {
    match micros {
        0..1_000 => format!("{micros}{NO_BREAK_SPACE}µs"),
        1_000..1_000_000 => format!("{}.{}{NO_BREAK_SPACE}ms", micros / 1_000, micros / 100 % 10),
        _ => format!("{}.{:02}{NO_BREAK_SPACE}s", thousands(micros / 1_000_000), micros / 10_000 % 100),
    }
}

/// Date and time of an instant in UTC to the second: "2026-11-30 14:03:00 UTC".
#[must_use]
pub fn utc(at: Instant) -> String {
    let text = at.to_string();
    match (text.get(..10), text.get(11..19)) {
        (Some(date), Some(time)) => format!("{date} {time} UTC"),
        _ => text,
    }
}

/// Time of day of an instant in UTC: "14:03:00 UTC".
pub(crate) fn utc_time(at: Instant) -> String {
    let text = at.to_string();
    text.get(11..19).map_or_else(|| text.clone(), |time| format!("{time} UTC"))
}

/// Whole seconds from one instant to another, 0 where it is already past.
pub(crate) fn seconds_between(from_seconds: i64, to: Instant) -> i64 {
    (to.0.div_euclid(common::instant::MICROS_PER_SECOND) - from_seconds).max(0)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn plain(text: &str) -> String {
        text.replace(NO_BREAK_SPACE, " ")
    }

    #[test]
    fn thousands_have_commas() {
        for (number, text) in [(0, "0"), (999, "999"), (1_000, "1,000"), (4_294_967_295, "4,294,967,295")] {
            assert_eq!(thousands(number), text);
        }
        assert_eq!(milli(1_234_567), "1,234.567");
        assert_eq!(milli(5), "0.005");
    }

    #[test]
    fn amounts_are_exact() {
        for (micros, text) in
            [(1_284_500_000, "1,284.50"), (-12_345_678_901, "−12,345.678901"), (4_000, "0.004"), (0, "0.00")]
        {
            assert_eq!(amount(MicroCredits(micros)), text);
        }
    }

    #[test]
    fn t014_an_absent_price_is_no_trade_never_zero() {
        assert_eq!(price(None), "—");
        assert_eq!(price(Some(Price(0))), "0.00");
        assert_eq!(change(None, Some(Price(5))).text, "no trade");
    }

    #[test]
    fn changes_round_half_away_from_zero() {
        let text = |now, before| plain(&change(Some(Price(now)), Some(Price(before))).text);
        assert_eq!(text(1_041, 1_000), "+4.1 %");
        assert_eq!(text(974, 1_000), "−2.6 %");
        assert_eq!(text(20_005, 20_000), "+0.0 %");
        assert_eq!(text(20_010, 20_000), "+0.1 %");
        assert_eq!(text(7, 7), "0.0 %");
        assert_eq!(text(5, 0), "from 0");
        assert_eq!(text(2_000_000, 1_000), "+199,900.0 %");
        assert_eq!(change(Some(Price(1)), None).text, "no earlier price");
        // The largest prices there are do not overflow.
        assert_eq!(text((1 << 53) - 1, 1), "+900,719,925,474,099,000.0 %");
    }

    #[test]
    fn direction_follows_the_price_even_below_a_tenth() {
        assert_eq!(change(Some(Price(20_001)), Some(Price(20_000))).direction, Direction::Up);
        assert_eq!(change(Some(Price(19_999)), Some(Price(20_000))).direction, Direction::Down);
        assert_eq!(change(Some(Price(3)), Some(Price(3))).direction, Direction::Level);
    }

    #[test]
    fn percent_never_hides_a_rest() {
        let text = |part, whole| plain(&percent(Chips(part), Chips(whole)));
        assert_eq!(text(0, 0), "0 %");
        assert_eq!(text(1, 1_000), "< 1 %");
        assert_eq!(text(999, 1_000), "> 99 %");
        assert_eq!(text(1_000, 1_000), "100 %");
        assert_eq!(text(885, 1_000), "89 %");
    }

    #[test]
    fn occupancy_in_words() {
        let use_of =
            Occupancy { supply: Chips(100), paid: Chips(88), opportunistic: Chips(9), idle: Chips(3) };
        assert_eq!(plain(&occupancy(&use_of)), "88 % paid · 9 % opportunistic · 3 % idle");
        assert_eq!(occupancy(&Occupancy::default()), "no supply");
    }

    #[test]
    fn lengths_of_time() {
        for (seconds, text) in [
            (0, "0 s"),
            (42, "42 s"),
            (185, "3 min 5 s"),
            (7_800, "2 h 10 min"),
            (3_600, "1 h"),
            (349_200, "4 d 1 h"),
        ] {
            assert_eq!(plain(&duration(seconds)), text);
        }
        assert_eq!(countdown(42), "0:42");
        assert_eq!(countdown(-3), "0:00");
        assert_eq!(countdown(3_723), "1:02:03");
        for (micros, text) in [(340, "340 µs"), (12_345, "12.3 ms"), (2_319_999, "2.31 s")] {
            assert_eq!(plain(&short_time(micros)), text);
        }
    }

    #[test]
    fn instants_in_utc() {
        let at: Instant = "2026-11-30T15:03:00.250+01:00".parse().unwrap();
        assert_eq!(utc(at), "2026-11-30 14:03:00 UTC");
        assert_eq!(utc_time(at), "14:03:00 UTC");
        assert_eq!(seconds_between(at.0 / 1_000_000 - 5, at), 5);
        assert_eq!(seconds_between(at.0 / 1_000_000 + 5, at), 0);
    }
}
