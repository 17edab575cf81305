//! One setting: its name, default, meaning, and what is said about a value that it does not take.

use super::{Config, ENVIRONMENT_PREFIX, keys};
use crate::error::AppError;

/// The environment variable that names the configuration file; read by the command line, not a key.
pub(super) const FILE_VARIABLE: &str = "QUOTA_MARKETPLACE_CONFIG";

/// A setting.
#[derive(Debug)]
pub struct Key {
    /// `section.key`.
    pub name: &'static str,
    /// The default, as it would stand in an environment variable.
    pub default: &'static str,
    /// What it takes, in words.
    pub allowed: &'static str,
    /// What it means, in one or two sentences.
    pub meaning: &'static str,
    /// Reads a text into the configuration; an error if it is not allowed.
    pub set: fn(&mut Config, &str) -> Result<(), ()>,
}

/// Where a value was given.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Origin {
    /// A file, by its path.
    File(String),
    /// An environment variable, by its name.
    Environment(String),
    /// A flag, by its name.
    Flag(String),
}

impl std::fmt::Display for Origin {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::File(path) => write!(f, "file {path}"),
            Self::Environment(name) => write!(f, "environment variable {name}"),
            Self::Flag(name) => write!(f, "flag {name}"),
        }
    }
}

impl Key {
    /// The part before the point.
    #[must_use]
    pub fn section(&self) -> &'static str {
        self.name.split_once('.').map_or("", |(section, _)| section)
    }

    /// `server.listen` is `QUOTA_MARKETPLACE_SERVER_LISTEN`.
    #[must_use]
    pub fn environment_variable(&self) -> String {
        format!("{ENVIRONMENT_PREFIX}{}", self.name.replace('.', "_").to_uppercase())
    }

    /// The key as it stands in the default file.
    pub(super) fn commented(&self) -> String {
        let key = self.name.split_once('.').map_or(self.name, |(_, key)| key);
        let plain = self.default.parse::<i64>().is_ok() || ["true", "false"].contains(&self.default);
        let value = if plain { self.default.to_owned() } else { toml::Value::from(self.default).to_string() };
        format!(
            "\n{}# Allowed: {}.\n# Environment: {}.\n# {key} = {value}\n",
            comment(self.meaning),
            self.allowed,
            self.environment_variable()
        )
    }

    pub(super) fn refuse(&self, value: &str, origin: &Origin) -> AppError {
        AppError::config(format!(
            "configuration key {}: {value:?} is not allowed (from {origin}); allowed: {}",
            self.name, self.allowed
        ))
    }
}

/// Breaks a text into comment lines of at most 110 columns.
fn comment(text: &str) -> String {
    let mut lines = String::new();
    let mut line = String::from("#");
    for word in text.split_whitespace() {
        if line.len() + 1 + word.len() > 110 {
            lines.push_str(&line);
            lines.push('\n');
            line = String::from("#");
        }
        line.push(' ');
        line.push_str(word);
    }
    lines + &line + "\n"
}

/// A name that is no key, with the nearest that is.
pub(super) fn unknown(name: &str, origin: &Origin) -> AppError {
    let shown: Vec<String> = match origin {
        Origin::Environment(_) => keys().map(Key::environment_variable).collect(),
        Origin::File(_) | Origin::Flag(_) => keys().map(|key| key.name.to_owned()).collect(),
    };
    let nearest =
        shown.iter().min_by_key(|known| distance(name, known)).filter(|known| distance(name, known) <= 4);
    let hint = nearest.map_or(String::new(), |known| format!("; did you mean {known}?"));
    AppError::config(format!(
        "unknown configuration key {name:?} (from {origin}){hint} Allowed keys: {}",
        shown.join(", ")
    ))
}

/// A key that holds a list or a table.
pub(super) fn not_a_scalar(name: &str, value: &toml::Value, origin: &Origin) -> AppError {
    match keys().find(|key| key.name == name) {
        Some(key) => key.refuse(&value.to_string(), origin),
        None => unknown(name, origin),
    }
}

/// A text, number or truth value as text.
pub(super) fn scalar_text(value: &toml::Value) -> Option<String> {
    match value {
        toml::Value::String(text) => Some(text.clone()),
        toml::Value::Integer(number) => Some(number.to_string()),
        toml::Value::Boolean(truth) => Some(truth.to_string()),
        _ => None,
    }
}

/// Insertions, deletions and replacements that turn one text into the other.
fn distance(left: &str, right: &str) -> usize {
    let right: Vec<char> = right.chars().collect();
    let mut row: Vec<usize> = (0..=right.len()).collect();
    for (i, a) in left.chars().enumerate() {
        let mut diagonal = row[0];
        row[0] = i + 1;
        for (j, b) in right.iter().enumerate() {
            let replaced = diagonal + usize::from(a != *b);
            diagonal = row[j + 1];
            row[j + 1] = replaced.min(row[j] + 1).min(diagonal + 1);
        }
    }
    row[right.len()]
}

/// A whole number within bounds.
pub(super) fn number(text: &str, least: u64, most: u64) -> Result<u64, ()> {
    text.parse().ok().filter(|number| (least..=most).contains(number)).ok_or(())
}
