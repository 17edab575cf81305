//! What the fields of a bid's form mean: the one function from fields to [`BidTerms`], and the way back.
//!
//! Faults are sentences without their subject ("is empty; …"), like those of the services: a page puts the field's label
//! in front.

use common::api::{BidAlternative, BidLimit, BidTerms};
use common::chips::{Chips, MAX_CHIPS};
use common::ids::ChipTypeId;
use common::instant::{Instant, MICROS_PER_SECOND};
use common::problem::FieldProblem;
use common::words::counted;

use super::alter::{ALTERNATIVE, alternatives};
use crate::fields::Fields;
use crate::format;
use crate::local_time::{PLAIN_ZONE, local_instant};

const SECONDS_PER_HOUR: u64 = 3_600;

/// Faults of the fields, by the names of the form.
#[derive(Default)]
struct Faults(Vec<FieldProblem>);

impl Faults {
    /// The value, or the fault noted under the field.
    fn take<T>(&mut self, field: impl Into<String>, value: Result<T, String>) -> Option<T> {
        value.map_err(|detail| self.0.push(FieldProblem { field: field.into(), detail })).ok()
    }
}

/// What the fields ask for.
///
/// # Errors
/// All fields at fault, by their names in the form; a field of an alternative has its row behind a dot.
pub(crate) fn terms(fields: &Fields) -> Result<BidTerms, Vec<FieldProblem>> {
    let mut faults = Faults::default();
    let name = fields.get("name").trim().to_owned();
    if name.is_empty() {
        faults.take::<()>("name", Err("is empty; give the bid a name".to_owned()));
    }
    let alternatives: Vec<_> =
        (0..alternatives(fields)).filter_map(|row| alternative(fields, row, &mut faults)).collect();
    let limit = faults.take("limit", limit(fields));
    let (not_before, not_after) = window(fields, &mut faults);
    let chips = alternatives.first().map(|first| first.chips);
    let work_chip_seconds = faults.take("work", work(fields, chips)).flatten();
    let (Some(limit), true) = (limit, faults.0.is_empty()) else { return Err(faults.0) };
    Ok(BidTerms {
        name,
        // Browsers post line ends as two characters.
        note: fields.get("note").replace("\r\n", "\n").trim().to_owned(),
        alternatives,
        limit,
        not_before,
        not_after,
        work_chip_seconds,
    })
}

fn alternative(fields: &Fields, row: usize, faults: &mut Faults) -> Option<BidAlternative> {
    let [chip_type, chips, least] = ALTERNATIVE.map(|name| fields.nth(name, row).trim());
    let at = |name: &str| format!("{name}.{row}");
    let chip_type = faults.take(
        at("chip_type"),
        if chip_type.is_empty() {
            Err("is not chosen yet".to_owned())
        } else {
            ChipTypeId::new(chip_type).map_err(|error| error.to_string())
        },
    );
    let chips = faults.take(at("chips"), whole_chips(chips));
    let min_chips = match (least, chips) {
        ("", chips) => chips,
        (least, chips) => faults.take(
            at("min_chips"),
            whole_chips(least).and_then(|least| match chips {
                Some(chips) if least > chips => {
                    Err(format!("is {least}, more than the {} it asks for", counted(chips.0, "chip")))
                }
                _ => Ok(least),
            }),
        ),
    };
    Some(BidAlternative { chip_type: chip_type?, chips: chips?, min_chips: min_chips? })
}

fn whole_chips(text: &str) -> Result<Chips, String> {
    if text.is_empty() {
        return Err("are missing; write a whole number".to_owned());
    }
    if !text.bytes().all(|byte| byte.is_ascii_digit()) {
        return Err("must be a whole number, digits only".to_owned());
    }
    match text.parse::<u64>() {
        Ok(0) => Err("must be at least 1".to_owned()),
        Ok(chips) if chips <= MAX_CHIPS => Ok(Chips(chips)),
        _ => Err(format!("must be at most {}", format::thousands(MAX_CHIPS))),
    }
}

/// A limit is said or refused: an empty one never means "no limit".
fn limit(fields: &Fields) -> Result<BidLimit, String> {
    let text = fields.get("limit").trim();
    match (fields.get("limit_kind"), text) {
        ("none", "") => Ok(BidLimit::NoLimit),
        ("none", _) => Err("is given, and “no limit” is chosen as well; keep one of them".to_owned()),
        (_, "") => Err("is missing; write the most it may pay, or choose “no limit”".to_owned()),
        (_, text) => text.parse().map(BidLimit::At).map_err(|error| error.to_string()),
    }
}

/// The window's two ends. An hour that comes twice counts from its first to its last minute.
fn window(fields: &Fields, faults: &mut Faults) -> (Option<Instant>, Option<Instant>) {
    let zone = match fields.get("zone") {
        "" => PLAIN_ZONE,
        zone => zone,
    };
    let not_before =
        faults.take("not_before", optional_instant(fields.get("not_before"), zone, false)).flatten();
    let not_after = faults.take("not_after", optional_instant(fields.get("not_after"), zone, true)).flatten();
    if let (Some(from), Some(to)) = (not_before, not_after)
        && from >= to
    {
        faults.take::<()>("not_after", Err("must be later than the start".to_owned()));
    }
    (not_before, not_after)
}

/// A local time as a date and time field gives it, in a zone; `None` where it is empty.
fn optional_instant(text: &str, zone: &str, last: bool) -> Result<Option<Instant>, String> {
    let text = text.trim();
    if text.is_empty() { Ok(None) } else { local_instant(text, zone, last).map(Some) }
}

/// All the work in chip-seconds: an amount in chip-hours or chip-days, or hours on all chips of the first alternative.
fn work(fields: &Fields, chips: Option<Chips>) -> Result<Option<u64>, String> {
    let text = fields.get("work").trim();
    if text.is_empty() {
        return Ok(None);
    }
    let millis = thousandths(text)?;
    let seconds_per_unit = match fields.get("work_unit") {
        "days" => 24 * SECONDS_PER_HOUR,
        "each" => match chips {
            Some(chips) => chips.0.saturating_mul(SECONDS_PER_HOUR),
            None => return Err("needs the number of chips first".to_owned()),
        },
        _ => SECONDS_PER_HOUR,
    };
    let seconds = (u128::from(millis) * u128::from(seconds_per_unit)).div_ceil(1_000);
    match u64::try_from(seconds) {
        Ok(0) => Err("must be more than 0; leave it empty where the bid runs until you cancel it".to_owned()),
        Ok(seconds) if seconds <= common::money::MAX_MICROS.unsigned_abs() => Ok(Some(seconds)),
        _ => Err("is too large; the most is 2,501,999,792,983 chip-hours".to_owned()),
    }
}

/// A decimal with up to three decimals, in thousandths.
fn thousandths(text: &str) -> Result<u64, String> {
    let (whole, decimals) = text.split_once('.').unwrap_or((text, "0"));
    let digits = |part: &str| !part.is_empty() && part.bytes().all(|byte| byte.is_ascii_digit());
    if !digits(whole) || !digits(decimals) {
        return Err("must be a number; write digits with a point before the decimals, like 1.5".to_owned());
    }
    if decimals.len() > 3 {
        return Err("has more than 3 decimals".to_owned());
    }
    format!("{whole}{decimals:0<3}").parse().map_err(|_| "is too large".to_owned())
}

/// The fields of a form that asks for the same. Times are in UTC; the browser turns them into its own zone.
pub(crate) fn fields_of(terms: &BidTerms) -> Fields {
    let mut fields = Fields::default();
    fields.push("name", &*terms.name);
    fields.push("note", &*terms.note);
    for alternative in &terms.alternatives {
        let least = alternative.min_chips;
        fields.push("chip_type", alternative.chip_type.as_str());
        fields.push("chips", alternative.chips.to_string());
        fields.push("min_chips", if least == alternative.chips { String::new() } else { least.to_string() });
    }
    match terms.limit {
        BidLimit::NoLimit => fields.push("limit_kind", "none"),
        BidLimit::At(price) => {
            fields.push("limit_kind", "at");
            fields.push("limit", price.to_string());
        }
    }
    fields.push("zone", PLAIN_ZONE);
    let local = |at: Option<Instant>| at.map(local_utc).unwrap_or_default();
    fields.push("not_before", local(terms.not_before));
    fields.push("not_after", local(terms.not_after));
    fields.push("work", terms.work_chip_seconds.map(chip_hours).unwrap_or_default());
    fields.push("work_unit", "hours");
    fields
}

/// An instant as a date and time field holds it, to the second where it has seconds.
fn local_utc(at: Instant) -> String {
    let whole = Instant(at.0.div_euclid(MICROS_PER_SECOND) * MICROS_PER_SECOND).to_string();
    let text = whole.trim_end_matches('Z');
    text.strip_suffix(":00").unwrap_or(text).to_owned()
}

/// Chip-seconds in chip-hours, rounded up to a thousandth as the field takes it.
fn chip_hours(chip_seconds: u64) -> String {
    let millis = (u128::from(chip_seconds) * 1_000).div_ceil(u128::from(SECONDS_PER_HOUR));
    let text = format!("{}.{:03}", millis / 1_000, millis % 1_000);
    text.trim_end_matches('0').trim_end_matches('.').to_owned()
}

#[cfg(test)]
mod tests {
    use common::money::Price;

    use super::*;

    const GOOD: &str = "name=rl+run&note=&chip_type=H100&chips=8&min_chips=&limit_kind=at&limit=3.20\
                        &zone=UTC&not_before=&not_after=&work=&work_unit=hours";

    fn with(changes: &[(&str, &str)]) -> Fields {
        let mut fields = Fields::parse(GOOD);
        for (name, value) in changes {
            fields.set(name, *value);
        }
        fields
    }

    /// The one fault of the form, with its field.
    fn fault(changes: &[(&str, &str)]) -> (String, String) {
        let mut faults = terms(&with(changes)).expect_err("a fault");
        assert_eq!(faults.len(), 1, "{faults:?}");
        let fault = faults.remove(0);
        (fault.field, fault.detail)
    }

    #[test]
    fn a_form_says_what_it_asks_for() {
        let terms = terms(&with(&[("min_chips", "4"), ("note", "a\r\nb")])).unwrap();
        assert_eq!((terms.name.as_str(), terms.note.as_str()), ("rl run", "a\nb"));
        let [alternative] = &terms.alternatives[..] else { panic!("one alternative") };
        assert_eq!((alternative.chips, alternative.min_chips), (Chips(8), Chips(4)));
        assert_eq!(terms.limit, BidLimit::At(Price(3_200_000)));
        assert_eq!((terms.not_before, terms.not_after, terms.work_chip_seconds), (None, None, None));
    }

    #[test]
    fn without_a_minimum_it_is_all_or_none() {
        assert_eq!(terms(&with(&[])).unwrap().alternatives[0].min_chips, Chips(8));
    }

    #[test]
    fn t106_an_empty_limit_is_refused_and_no_limit_is_said() {
        for kind in ["", "at"] {
            let (field, detail) = fault(&[("limit_kind", kind), ("limit", "")]);
            assert_eq!(field, "limit");
            assert!(detail.contains("choose “no limit”"), "{detail}");
        }
        let none = terms(&with(&[("limit_kind", "none"), ("limit", "")])).unwrap();
        assert_eq!(none.limit, BidLimit::NoLimit);
        assert!(fault(&[("limit_kind", "none")]).1.contains("keep one of them"));
    }

    #[test]
    fn bad_numbers_are_said_beside_their_field() {
        for bad in ["-5", "NaN", "1e309", "1,000", "1000000000000000000", "0.0000001"] {
            assert_eq!(fault(&[("limit", bad)]).0, "limit", "{bad}");
        }
        assert_eq!(terms(&with(&[("limit", "0")])).unwrap().limit, BidLimit::At(Price(0)));
        for bad in ["0", "-5", "9223372036854775808", "1.5", "1,000", "NaN", ""] {
            assert_eq!(fault(&[("chips", bad)]).0, "chips.0", "{bad}");
        }
        assert_eq!(
            fault(&[("min_chips", "9")]),
            ("min_chips.0".into(), "is 9, more than the 8 chips it asks for".into())
        );
        assert_eq!(fault(&[("chip_type", "A 100")]).0, "chip_type.0");
        for bad in ["-1", "0", "NaN", "1e309", "1,000", "1.2345", "1000000000000000000"] {
            assert_eq!(fault(&[("work", bad)]).0, "work", "{bad}");
        }
    }

    #[test]
    fn all_faults_are_said_at_once() {
        let faults = terms(&Fields::parse("chip_type=&chips=&min_chips=&chip_type=H100&chips=x&min_chips="))
            .unwrap_err();
        let fields: Vec<_> = faults.iter().map(|fault| fault.field.as_str()).collect();
        assert_eq!(fields, ["name", "chip_type.0", "chips.0", "chips.1", "limit"]);
    }

    #[test]
    fn eight_chips_for_three_hours_are_24_chip_hours_however_they_are_said() {
        for (work, unit) in [("24", "hours"), ("1", "days"), ("3", "each")] {
            let terms = terms(&with(&[("work", work), ("work_unit", unit)])).unwrap();
            assert_eq!(terms.work_chip_seconds, Some(24 * 3_600), "{work} {unit}");
        }
        assert_eq!(terms(&with(&[("work", "0.001")])).unwrap().work_chip_seconds, Some(4));
    }

    #[test]
    fn a_window_is_read_in_the_zone_of_the_form() {
        let terms = terms(&with(&[("zone", "Europe/Berlin"), ("not_before", "2026-12-01T22:00")])).unwrap();
        assert_eq!(terms.not_before.unwrap().to_string(), "2026-12-01T21:00:00Z");
        assert_eq!(fault(&[("not_before", "yesterday")]).0, "not_before");
        assert_eq!(fault(&[("zone", "Mars/Olympus"), ("not_after", "2026-12-01T22:00")]).0, "not_after");
        let inverted = [("not_before", "2026-12-01T22:00"), ("not_after", "2026-12-01T21:00")];
        assert_eq!(fault(&inverted), ("not_after".into(), "must be later than the start".into()));
    }

    #[test]
    fn t118_a_local_time_that_does_not_exist_is_refused_in_words() {
        let gap = [("zone", "Europe/Berlin"), ("not_before", "2026-03-29T02:30")];
        let (field, detail) = fault(&gap);
        assert_eq!(field, "not_before");
        assert!(detail.contains("2026-03-29 02:30, which does not exist in Europe/Berlin"), "{detail}");
    }

    #[test]
    fn t116_an_hour_that_comes_twice_counts_as_a_whole() {
        let twice = [
            ("zone", "Europe/Berlin"),
            ("not_before", "2026-10-25T02:00"),
            ("not_after", "2026-10-25T02:59"),
        ];
        let terms = terms(&with(&twice)).unwrap();
        assert_eq!(terms.not_before.unwrap().to_string(), "2026-10-25T00:00:00Z");
        assert_eq!(terms.not_after.unwrap().to_string(), "2026-10-25T01:59:00Z");
    }

    #[test]
    fn terms_and_fields_say_the_same() {
        let mut asked = terms(&with(&[
            ("min_chips", "2"),
            ("work", "36.5"),
            ("not_before", "2026-12-01T22:00"),
            ("not_after", "2026-12-02T06:00:30"),
        ]))
        .unwrap();
        assert_eq!(terms(&fields_of(&asked)).unwrap(), asked);
        asked.limit = BidLimit::NoLimit;
        asked.work_chip_seconds = None;
        assert_eq!(terms(&fields_of(&asked)).unwrap(), asked);
    }
}
