//! Reads the fields of a form into values; all faults are found at once, each named by its field.

use std::fmt::Display;
use std::str::FromStr;

use common::instant::Instant;

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

    /// An instant: a date and a time in UTC as a browser's field gives them, or with an offset.
    pub(super) fn instant(&mut self, name: &str) -> Option<Instant> {
        let text = self.text(name);
        let seconds = if text.len() > 16 { "" } else { ":00" };
        let instant = format!("{text}{seconds}Z").parse().or_else(|_| text.parse());
        if instant.is_err() {
            let what = typed(text);
            self.refuse(
                name,
                format!("is {what}; it must be a date and a time in UTC, like 2026-12-01T18:00"),
            );
        }
        instant.ok()
    }

    /// An instant that may be left out: none where it is empty, and where it is refused.
    pub(super) fn optional_instant(&mut self, name: &str) -> Option<Instant> {
        if self.text(name).is_empty() { None } else { self.instant(name) }
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
            self.refuse(name, format!("is {what}; it must be a whole number from {least} to {most}"));
        }
        number
    }

    /// Passes when no field was refused.
    pub(super) fn finish(self) -> Result<(), AppError> {
        self.error.map_or(Ok(()), Err)
    }
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
            ("at", "", "is empty; it must be a date and a time in UTC, like 2026-12-01T18:00"),
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
    fn what_is_left_out_is_no_fault() {
        let sent = vec![("from".to_owned(), " ".to_owned())];
        let mut fields = Fields::new(&sent);
        assert_eq!(fields.optional::<MicroCredits>("from"), None);
        assert!(fields.finish().is_ok());
    }
}
