//! Pages of lists: how many rows a page may have, where it ends, and cursors that are none of a list.

use common::api::Page;

use crate::error::AppError;

/// Most rows in one page.
pub const MAX_LIMIT: u32 = 500;

/// Of a list whose rows are numbered, what a cursor begins with.
const BEFORE: &str = "before-";

/// Before it lie all rows of a list whose rows are numbered.
const END: u64 = u64::MAX >> 1;

/// Refuses a limit that is out of its range.
pub(super) fn check_limit(limit: u32) -> Result<(), AppError> {
    if (1..=MAX_LIMIT).contains(&limit) {
        return Ok(());
    }
    Err(AppError::invalid("limit", format!("is {limit}; it must be 1 to {MAX_LIMIT}")))
}

/// The first `limit` of the rows; one more was read, to know whether another page follows. `cursor` names the last row.
pub(super) fn page<T>(mut rows: Vec<T>, limit: u32, cursor: impl FnOnce(&T) -> String) -> Page<T> {
    let limit = limit as usize;
    let more = rows.len() > limit;
    rows.truncate(limit);
    let next_cursor = rows.last().filter(|_| more).map(cursor);
    Page { items: rows, next_cursor }
}

/// The cursor of what lies before a numbered row.
pub(super) fn before(number: u64) -> String {
    format!("{BEFORE}{number}")
}

/// The number that a cursor names; without one, a number beyond all.
pub(super) fn read_before(cursor: Option<&str>) -> Result<u64, AppError> {
    let Some(cursor) = cursor else { return Ok(END) };
    let number = cursor.strip_prefix(BEFORE).and_then(|number| number.parse().ok());
    number.filter(|number| *number <= END).ok_or_else(|| no_cursor(cursor))
}

/// A text that is no cursor of a list.
pub(super) fn no_cursor(cursor: &str) -> AppError {
    AppError::invalid(
        "cursor",
        format!("{cursor:?} is no cursor of this list; take next_cursor of a page before"),
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_page_that_is_not_the_last_says_where_the_next_begins() {
        let first = page(vec![9, 8, 7], 2, |last| before(*last));
        assert_eq!((first.items, first.next_cursor.as_deref()), (vec![9, 8], Some("before-8")));
        assert_eq!(read_before(Some("before-8")).unwrap(), 8);
        let last = page(vec![7], 2, |last| before(*last));
        assert_eq!((last.items, last.next_cursor), (vec![7], None));
        assert!(
            read_before(Some("after-8")).is_err() && check_limit(0).is_err() && check_limit(501).is_err()
        );
    }
}
