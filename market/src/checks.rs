//! The bounds of single fields, and the words for a field outside them.

use common::chips::{Chips, MAX_CHIPS};
use common::money::{MicroCredits, Price};

use crate::builder::{AlternativeInput, MAX_ALTERNATIVES, MAX_AMOUNT};
use crate::error::SnapshotError;
use crate::snapshot::Alternative;

/// The number of the next row, unless there are too many.
pub(crate) fn next_index(list: &str, length: usize, most: usize) -> Result<u32, SnapshotError> {
    if length >= most {
        return Err(SnapshotError::new(list, format!("has more than {most} entries, which is the most")));
    }
    Ok(u32::try_from(length).unwrap_or(u32::MAX))
}

pub(crate) fn check_chips(chips: Chips, path: impl FnOnce() -> String) -> Result<(), SnapshotError> {
    if chips.0 > MAX_CHIPS { Err(SnapshotError::above(path(), chips, MAX_CHIPS)) } else { Ok(()) }
}

pub(crate) fn check_price(price: Price, path: impl FnOnce() -> String) -> Result<(), SnapshotError> {
    if price.0 > MAX_AMOUNT { Err(SnapshotError::above(path(), price, Price(MAX_AMOUNT))) } else { Ok(()) }
}

/// An amount that may not be negative.
pub(crate) fn check_amount(amount: MicroCredits, path: impl Fn() -> String) -> Result<u64, SnapshotError> {
    match u64::try_from(amount.0) {
        Err(_) => Err(SnapshotError::below(path(), amount, "0.00")),
        Ok(micros) if micros > MAX_AMOUNT => Err(SnapshotError::above(path(), amount, Price(MAX_AMOUNT))),
        Ok(micros) => Ok(micros),
    }
}

/// Refuses a bid that names a chip type twice. By id: a type that the market does not have has no number to compare.
pub(crate) fn check_different(
    bid: impl Fn() -> String,
    alternatives: &[Alternative],
) -> Result<(), SnapshotError> {
    for (nth, alternative) in alternatives.iter().enumerate() {
        if alternatives[..nth].iter().any(|other| other.chip_type == alternative.chip_type) {
            let path = format!("{}.alternatives[{nth}].chip_type", bid());
            return Err(SnapshotError::twice(path, &alternative.chip_type));
        }
    }
    Ok(())
}

/// Checks the alternatives of the bid that is found at the path `bid`.
pub(crate) fn check_alternatives(
    bid: impl Fn() -> String,
    alternatives: &[AlternativeInput],
) -> Result<(), SnapshotError> {
    if alternatives.is_empty() {
        return Err(SnapshotError::new(
            format!("{}.alternatives", bid()),
            "is empty; a bid has at least one",
        ));
    }
    if alternatives.len() > MAX_ALTERNATIVES {
        let problem = format!("has {} entries; the most is {MAX_ALTERNATIVES}", alternatives.len());
        return Err(SnapshotError::new(format!("{}.alternatives", bid()), problem));
    }
    for (nth, alternative) in alternatives.iter().enumerate() {
        let path = |field: &str| format!("{}.alternatives[{nth}].{field}", bid());
        check_chips(alternative.chips, || path("chips"))?;
        if alternative.chips.0 == 0 {
            return Err(SnapshotError::below(path("chips"), 0, 1));
        }
        if alternative.min_chips.0 == 0 {
            return Err(SnapshotError::below(path("min_chips"), 0, 1));
        }
        if alternative.min_chips > alternative.chips {
            let most = format!("{}, the bid's chips", alternative.chips);
            return Err(SnapshotError::above(path("min_chips"), alternative.min_chips, most));
        }
        let twice = |other: &AlternativeInput| {
            alternative.chip_type.is_some() && other.chip_type == alternative.chip_type
        };
        if alternatives[..nth].iter().any(twice) {
            return Err(SnapshotError::new(
                path("chip_type"),
                "is named by an earlier alternative of the bid",
            ));
        }
    }
    Ok(())
}
