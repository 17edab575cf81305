//! What a spreadsheet makes of a cell: a text that it would take for a formula must not become one.

use std::borrow::Cow;

/// A cell that no spreadsheet takes for a formula: one that begins like a formula gets an apostrophe in front.
/// Numbers stay as they are, also those below zero.
pub(crate) fn neutral(cell: &str) -> Cow<'_, str> {
    let like_a_formula = cell.starts_with(['=', '+', '-', '@', '\t', '\r', '\n']);
    let number = cell.strip_prefix('-').unwrap_or(cell);
    let is_number = !number.is_empty() && number.bytes().all(|byte| byte.is_ascii_digit() || byte == b'.');
    if like_a_formula && !is_number { format!("'{cell}").into() } else { cell.into() }
}
