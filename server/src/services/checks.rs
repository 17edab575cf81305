//! Checks of input at the border: all faults of a request are found at once, each with the path of its field.

use common::money::{MAX_MICROS, MicroCredits};
use common::problem::FieldProblem;

use crate::error::{AppError, ErrorKind};

/// Longest display name, in characters.
const MAX_NAME: usize = 200;

/// Longest note or reason, in characters.
pub(crate) const MAX_TEXT: usize = 2_000;

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

    /// A display name.
    pub(crate) fn name(&mut self, field: &str, name: &str) {
        if name.trim().is_empty() {
            self.refuse(field, "is empty; give it a name");
        }
        self.length(field, name, MAX_NAME);
    }

    /// A text of at most `most` characters, none of them a control character other than a line break.
    pub(crate) fn length(&mut self, field: &str, text: &str, most: usize) {
        let length = text.chars().count();
        if length > most {
            self.refuse(field, format!("has {length} characters; the most is {most}"));
        }
        if text.chars().any(|character| character.is_control() && character != '\n') {
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
