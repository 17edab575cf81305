//! Reads the fields of a form into values; all faults are found at once, each named by its field.

use std::fmt::Display;
use std::str::FromStr;

use app::local_time::{PLAIN_ZONE, local_instant};
use app::plain::form::FormState;
use common::instant::Instant;
use common::problem::Problem;
use common::words::thousands;

use crate::error::AppError;

/// The fields of a form, and what is wrong with them so far.
pub(super) struct Fields<'a> {
    fields: &'a [(String, String)],
    error: Option<AppError>,
}

impl<'a> Fields<'a> {
    pub(super) fn new(fields: &'a [(String, String)]) -> Self {
        Self { fields, error: None }
    }

    /// The first value of a field without spaces around it; empty without one.
    pub(super) fn text(&self, name: &str) -> &'a str {
        self.fields.iter().find(|(known, _)| known == name).map_or("", |(_, value)| value.trim())
    }

    /// Notes that a field is wrong.
    pub(super) fn refuse(&mut self, field: &str, detail: impl Into<String>) {
        self.error = Some(match self.error.take() {
            Some(error) => error.with_field(field, detail),
            None => AppError::invalid(field, detail.into()),
        });
    }

    /// Takes over the faults of a refusal; there is no value then.
    pub(super) fn refuse_with<T>(&mut self, error: &AppError) -> Option<T> {
        for fault in error.fields() {
            self.refuse(&fault.field, fault.detail.clone());
        }
        None
    }

    /// A value; none where it is refused.
    pub(super) fn value<T: FromStr>(&mut self, name: &str) -> Option<T>
    where
        T::Err: Display,
    {
        let text = self.text(name);
        match text.parse::<T>() {
            Ok(value) => Some(value),
            Err(error) => {
                let error = error.to_string();
                // What is not there has no fault of its own; what the field takes stands behind it.
                let takes = error.split_once("; ").map_or("fill it in", |(_, takes)| takes);
                let what = typed(text);
                let fault =
                    if text.is_empty() { format!("is {what}; {takes}") } else { format!("{what} {error}") };
                self.refuse(name, fault);
                None
            }
        }
    }

    /// What was chosen in a list whose first line says that nothing is.
    pub(super) fn chosen<T: FromStr>(&mut self, name: &str) -> Option<T>
    where
        T::Err: Display,
    {
        if self.text(name).is_empty() {
            self.refuse(name, "is not chosen; choose one");
            return None;
        }
        self.value(name)
    }

    /// An instant: a date and a time as a browser's field gives them, in the zone that the field `zone` names (UTC
    /// without one), or with an offset.
    pub(super) fn instant(&mut self, name: &str) -> Option<Instant> {
        self.instant_of_hour(name, false)
    }

    /// An instant that may be left out: none where it is empty, and where it is refused.
    pub(super) fn optional_instant(&mut self, name: &str) -> Option<Instant> {
        if self.text(name).is_empty() { None } else { self.instant(name) }
    }

    /// The end of a stretch, which may be left out: in an hour that comes twice it is the later one.
    pub(super) fn optional_end(&mut self, name: &str) -> Option<Instant> {
        if self.text(name).is_empty() { None } else { self.instant_of_hour(name, true) }
    }

    fn instant_of_hour(&mut self, name: &str, last: bool) -> Option<Instant> {
        let (text, zone) = (self.text(name), self.text("zone"));
        let zone = if zone.is_empty() { PLAIN_ZONE } else { zone };
        match text.parse().or_else(|_| local_instant(text, zone, last)) {
            Ok(instant) => Some(instant),
            Err(_) if text.is_empty() => {
                self.refuse(name, "is empty; write a date and a time, like 2026-12-01T18:00");
                None
            }
            Err(why) => {
                self.refuse(name, format!("{} {why}", typed(text)));
                None
            }
        }
    }

    /// A value that may be left out: none where it is empty, and where it is refused.
    pub(super) fn optional<T: FromStr>(&mut self, name: &str) -> Option<T>
    where
        T::Err: Display,
    {
        if self.text(name).is_empty() { None } else { self.value(name) }
    }

    /// A whole number from `least` to `most`.
    pub(super) fn number(&mut self, name: &str, least: u32, most: u32) -> Option<u32> {
        let text = self.text(name);
        let number = text.parse().ok().filter(|number| (least..=most).contains(number));
        if number.is_none() {
            let what = typed(text);
            self.refuse(
                name,
                format!(
                    "is {what}; it must be a whole number from {} to {}",
                    thousands(least.into()),
                    thousands(most.into())
                ),
            );
        }
        number
    }

    /// Passes when no field was refused.
    pub(super) fn finish(self) -> Result<(), AppError> {
        self.error.map_or(Ok(()), Err)
    }
}

/// The fields of a list with its stretch as instants: links to the same rows hold them, whatever zone they were typed in.
fn with_stretch(
    mut fields: Vec<(String, String)>,
    from: Option<Instant>,
    to: Option<Instant>,
) -> Vec<(String, String)> {
    fields.retain(|(name, _)| name != "zone");
    for (name, value) in &mut fields {
        let at = match name.as_str() {
            "from" => from,
            "to" => to,
            _ => None,
        };
        if let Some(at) = at {
            *value = at.to_string();
        }
    }
    fields
}

/// The filters of a list as its page shows them: those in force with their stretch from one instant to another, or what
/// was sent and why it is refused.
pub(super) fn filters_of(
    fields: Vec<(String, String)>,
    (from, to): (Option<Instant>, Option<Instant>),
    refused: Option<&AppError>,
) -> FormState {
    if let Some(error) = refused {
        return FormState::refused(fields, &Problem::from(error));
    }
    let fields = with_stretch(fields, from, to);
    let pairs: Vec<(&str, &str)> =
        fields.iter().map(|(name, value)| (name.as_str(), value.as_str())).collect();
    FormState::filled(&pairs)
}

/// Characters of what was typed that a fault says again; the field holds all of it.
const QUOTED: usize = 40;

/// What was typed, in quotes and no longer than a line, or that nothing was.
pub(super) fn typed(text: &str) -> String {
    if text.is_empty() {
        return "empty".to_owned();
    }
    let mut shown: String = text.chars().take(QUOTED).collect();
    if shown.len() < text.len() {
        shown.push('…');
    }
    format!("{shown:?}")
}

#[cfg(test)]
mod tests {
    use common::money::MicroCredits;

    use super::*;

    #[test]
    fn t061_all_faults_are_found_at_once_and_named_by_their_fields() {
        for text in ["NaN", "1e309", "1,000", "1000000000000000000", ""] {
            let sent = vec![("amount".to_owned(), text.to_owned()), ("minutes".to_owned(), "0".to_owned())];
            let mut fields = Fields::new(&sent);
            assert_eq!(fields.value::<MicroCredits>("amount"), None, "{text}");
            assert_eq!(fields.number("minutes", 1, 9), None);
            let error = fields.finish().unwrap_err();
            let names: Vec<&str> = error.fields().iter().map(|fault| fault.field.as_str()).collect();
            assert_eq!(names, ["amount", "minutes"], "{text}");
        }
    }

    #[test]
    fn a_fault_says_what_the_field_takes_and_a_line_of_what_was_typed() {
        let long = "x".repeat(5_000);
        for (name, text, fault) in [
            ("amount", "", "is empty; write digits with a point before the decimals, like 1.25"),
            ("minutes", "", "is empty; it must be a whole number from 1 to 9"),
            ("at", "", "is empty; write a date and a time, like 2026-12-01T18:00"),
            ("team", "", "is not chosen; choose one"),
            (
                "minutes",
                &long,
                "is \"xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx…\"; it must be a whole number from 1 to 9",
            ),
        ] {
            let sent = vec![(name.to_owned(), text.to_owned())];
            let mut fields = Fields::new(&sent);
            match name {
                "amount" => assert_eq!(fields.value::<MicroCredits>(name), None),
                "minutes" => assert_eq!(fields.number(name, 1, 9), None),
                "at" => assert_eq!(fields.instant(name), None),
                _ => assert_eq!(fields.chosen::<common::ids::TeamId>(name), None),
            }
            assert_eq!(fields.finish().unwrap_err().fields()[0].detail, fault);
        }
    }

    #[test]
    fn an_instant_is_read_as_browsers_and_as_programs_write_it() {
        for text in
            ["2026-12-01T06:00", "2026-12-01T06:00:00", "2026-12-01T06:00:00Z", "2026-12-01T07:00:00+01:00"]
        {
            let sent = vec![("at".to_owned(), text.to_owned())];
            let mut fields = Fields::new(&sent);
            let at = fields.instant("at").map(|at| at.to_string());
            assert_eq!(at.as_deref(), Some("2026-12-01T06:00:00Z"), "{text}");
            assert!(fields.finish().is_ok());
        }
    }

    #[test]
    fn a_stretch_is_read_in_the_zone_of_its_form_and_kept_as_instants() {
        let pair = |name: &str, value: &str| (name.to_owned(), value.to_owned());
        let sent = vec![
            pair("from", "2026-10-25T02:30"),
            pair("to", "2026-10-25T02:30"),
            pair("kind", "charge"),
            pair("zone", "Europe/Berlin"),
        ];
        let mut fields = Fields::new(&sent);
        // The hour comes twice: the stretch has both.
        let (from, to) = (fields.optional_instant("from"), fields.optional_end("to"));
        assert!(fields.finish().is_ok());
        let kept = [
            pair("from", "2026-10-25T00:30:00Z"),
            pair("to", "2026-10-25T01:30:00Z"),
            pair("kind", "charge"),
        ];
        assert_eq!(with_stretch(sent, from, to), kept);
    }

    #[test]
    fn a_time_that_is_none_is_refused_in_words() {
        for (text, zone, fault) in [
            ("yesterday", "", "\"yesterday\" is not a date and a time; write it like 2026-12-01T22:00"),
            ("1e309", "UTC", "\"1e309\" is not a date and a time; write it like 2026-12-01T22:00"),
            (
                "2026-03-29T02:30",
                "Europe/Berlin",
                "\"2026-03-29T02:30\" is 2026-03-29 02:30, which does not exist in Europe/Berlin: clocks go forward past it \
                 that day",
            ),
            ("2026-12-01T22:00", "Mars", "\"2026-12-01T22:00\" is in the zone \"Mars\", which nobody knows"),
        ] {
            let sent = vec![("from".to_owned(), text.to_owned()), ("zone".to_owned(), zone.to_owned())];
            let mut fields = Fields::new(&sent);
            assert_eq!(fields.optional_instant("from"), None, "{text}");
            assert_eq!(fields.finish().unwrap_err().fields()[0].detail, fault);
        }
    }

    #[test]
    fn what_is_left_out_is_no_fault() {
        let sent = vec![("from".to_owned(), " ".to_owned())];
        let mut fields = Fields::new(&sent);
        assert_eq!(fields.optional::<MicroCredits>("from"), None);
        assert!(fields.finish().is_ok());
    }
}
