//! The tables that exports are made of: columns with a kind and a meaning, rows in batches.
//!
//! A kind decides how a value is written: in CSV as text that reads the same everywhere, in Parquet with the type that
//! keeps it exact.

use common::instant::Instant;

/// What the cells of a column hold.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    /// Words or an id.
    Text,
    /// A whole number.
    Whole,
    /// A number with six decimals: credits, prices, chip-hours. Kept as its millionths.
    Micros,
    /// A number with twelve decimals: credits times the value of a credit. Kept as its 10^-12 parts.
    Picos,
    /// An instant in UTC.
    Time,
}

impl Kind {
    /// The kind as the description of an export names it.
    #[must_use]
    pub(super) const fn as_str(self) -> &'static str {
        match self {
            Self::Text => "text",
            Self::Whole => "whole number",
            Self::Micros => "decimal, up to 6 decimals",
            Self::Picos => "decimal, up to 12 decimals",
            Self::Time => "time in UTC",
        }
    }
}

/// A column of an export.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Column {
    /// Its name; a unit stands last in it.
    pub(super) name: &'static str,
    /// What its cells hold.
    pub(super) kind: Kind,
    /// What it means, in a sentence.
    pub(super) meaning: &'static str,
}

/// A column by its name, its kind and what it means.
pub(super) const fn column(name: &'static str, kind: Kind, meaning: &'static str) -> Column {
    Column { name, kind, meaning }
}

/// A value in its column; the column's kind says which one it is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Cell {
    /// Nothing: not known, or not for this reader.
    Absent,
    /// Of [`Kind::Text`].
    Text(String),
    /// Of [`Kind::Whole`].
    Whole(i64),
    /// Of [`Kind::Micros`], in millionths.
    Micros(i64),
    /// Of [`Kind::Picos`], in 10^-12 parts.
    Picos(i128),
    /// Of [`Kind::Time`].
    Time(Instant),
}

impl Cell {
    /// A text.
    #[expect(
        clippy::needless_pass_by_value,
        reason = "so that it takes over what is absent or not by its name"
    )]
    pub(super) fn text(text: impl ToString) -> Self {
        Self::Text(text.to_string())
    }

    /// A whole number that is not negative.
    pub(super) const fn count(count: u64) -> Self {
        Self::Whole(count.cast_signed())
    }

    /// A value that may be absent.
    pub(super) fn or_absent<T>(value: Option<T>, cell: impl FnOnce(T) -> Self) -> Self {
        value.map_or(Self::Absent, cell)
    }
}

/// Rows read at once, one after the other in one list.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Batch {
    /// The cells, row by row.
    pub(super) cells: Vec<Cell>,
    /// How many rows they make.
    pub(super) rows: usize,
}

impl Batch {
    /// Adds a row, with as many cells as there are columns.
    pub(super) fn push(&mut self, row: impl IntoIterator<Item = Cell>) {
        self.cells.extend(row);
        self.rows += 1;
    }
}
