//! Whole chips, and time spent on them.

use serde::{Deserialize, Serialize};

/// Most chips of one type that a bid, a pool or the shared supply may name (2^32 − 1).
pub const MAX_CHIPS: u64 = u32::MAX as u64;

/// Microseconds in one hour: the divisor between chip-microseconds and chip-hours.
pub const MICROS_PER_HOUR: i64 = 3_600_000_000;

/// A number of whole chips.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(transparent)]
pub struct Chips(pub u64);

impl std::fmt::Display for Chips {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        self.0.fmt(f)
    }
}
