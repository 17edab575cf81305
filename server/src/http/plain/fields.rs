//! Reads the fields of a form into values; all faults are found at once, each named by its field.

use std::fmt::Display;
use std::str::FromStr;

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
        match text.parse() {
            Ok(value) => Some(value),
            Err(error) => {
                self.refuse(name, format!("{text:?} {error}"));
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
            self.refuse(name, format!("is {text:?}; it must be a whole number from {least} to {most}"));
        }
        number
    }

    /// Passes when no field was refused.
    pub(super) fn finish(self) -> Result<(), AppError> {
        self.error.map_or(Ok(()), Err)
    }
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
    fn what_is_left_out_is_no_fault() {
        let sent = vec![("from".to_owned(), " ".to_owned())];
        let mut fields = Fields::new(&sent);
        assert_eq!(fields.optional::<MicroCredits>("from"), None);
        assert!(fields.finish().is_ok());
    }
}
