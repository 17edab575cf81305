//! Checks of input at the border: all faults of a request are found at once, each with the path of its field.

use common::money::{MAX_MICROS, MicroCredits};
use common::problem::FieldProblem;

use crate::error::{AppError, ErrorKind};

/// Longest display name, in characters.
const MAX_NAME: usize = 200;

/// Longest note or reason, in characters.
pub(crate) const MAX_TEXT: usize = 2_000;

/// Characters that turn the direction of the text after them around: embeddings, overrides and isolates.
const TURNS: [char; 9] = [
    '\u{202a}', '\u{202b}', '\u{202c}', '\u{202d}', '\u{202e}', '\u{2066}', '\u{2067}', '\u{2068}',
    '\u{2069}',
];

/// Faults named at most in one answer.
const MOST_FAULTS: usize = 20;

/// The faults found so far.
#[derive(Debug, Default)]
pub(crate) struct Checks(Vec<FieldProblem>);

impl Checks {
    /// Notes that a field is wrong.
    pub(crate) fn refuse(&mut self, field: &str, detail: impl Into<String>) {
        if self.0.len() < MOST_FAULTS {
            self.0.push(FieldProblem { field: field.to_owned(), detail: detail.into() });
        }
    }

    /// A number from `least` to `most`.
    pub(crate) fn range(&mut self, field: &str, number: u64, least: u64, most: u64) {
        if !(least..=most).contains(&number) {
            self.refuse(field, format!("is {number}; it must be from {least} to {most}"));
        }
    }

    /// An amount that is not negative and not beyond what the engine takes.
    pub(crate) fn amount(&mut self, field: &str, amount: MicroCredits) {
        if !(0..=MAX_MICROS).contains(&amount.0) {
            self.refuse(field, format!("is {amount}; it must be from 0.00 to {}", MicroCredits(MAX_MICROS)));
        }
    }

    /// A display name, in one line.
    pub(crate) fn name(&mut self, field: &str, name: &str) {
        if name.trim().is_empty() {
            self.refuse(field, "is empty; give it a name");
        }
        if name.contains('\n') {
            self.refuse(field, "has a line break; write it in one line");
        }
        self.length(field, name, MAX_NAME);
    }

    /// A text of at most `most` characters, none of them a control character other than a line break. Letters of any
    /// direction are fine; characters that turn the direction around are not, since they make a text read as another one.
    pub(crate) fn length(&mut self, field: &str, text: &str, most: usize) {
        let length = text.chars().count();
        if length > most {
            self.refuse(field, format!("has {length} characters; the most is {most}"));
        }
        let is_control =
            |character: char| (character.is_control() && character != '\n') || TURNS.contains(&character);
        if text.chars().any(is_control) {
            self.refuse(field, "has a control character; use plain text");
        }
    }

    /// Passes when no fault was found.
    pub(crate) fn finish(self) -> Result<(), AppError> {
        let Some(first) = self.0.first() else { return Ok(()) };
        let mut error = AppError::new(ErrorKind::Invalid, format!("{}: {}", first.field, first.detail));
        for fault in self.0 {
            error = error.with_field(fault.field, fault.detail);
        }
        Err(error)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn refused(name: &str) -> Option<String> {
        let mut checks = Checks::default();
        checks.name("name", name);
        checks.finish().err().map(|error| error.fields()[0].detail.clone())
    }

    #[test]
    fn a_name_is_a_line_of_text_in_any_direction() {
        for name in ["שלום עולם", "مرحبا", "=HYPERLINK(\"x\")", "ä".repeat(MAX_NAME).as_str()] {
            assert_eq!(refused(name), None, "{name}");
        }
        for (name, words) in [
            ("  ", "is empty"),
            ("a\nb", "has a line break"),
            ("bell\u{7}", "has a control character"),
            ("user\u{202e}nimda", "has a control character"),
            ("x".repeat(10_000).as_str(), "has 10000 characters; the most is 200"),
        ] {
            assert!(refused(name).is_some_and(|said| said.starts_with(words)), "{name:?}");
        }
    }
}
