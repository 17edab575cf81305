//! The pricing engine of the quota marketplace.
//!
//! [`Snapshot`] in, [`Outcome`] out: no clock, no randomness, no I/O, no floating point. The same snapshot gives a
//! byte-identical outcome on every machine. Source of the mechanism: *Quota Marketplace: Dynamic Pricing for
//! Efficient Allocation of ML Training Resources* (OSDI 2026).
#![deny(clippy::float_arithmetic)]

pub mod accounting;
mod asks;
mod assemble;
mod bidder;
mod border;
mod builder;
mod canonical;
mod checks;
mod choice;
mod clearing;
mod curve;
mod demand;
mod depth;
mod error;
mod explain;
pub mod fairness;
mod invariants;
mod jobs;
mod last;
mod market;
pub mod outcome;
mod parallel;
pub mod placement;
mod pool;
mod preview;
mod previewer;
mod price_to_win;
mod purchases;
mod queue;
mod reference;
mod results;
mod search;
pub mod snapshot;
mod standing;
mod team_asks;
mod ties;
mod trial;
mod what_if;
mod window;

pub use builder::{
    AlternativeInput, BidInput, ChipTypeIndex, MAX_ALTERNATIVES, MAX_BIDS, MAX_CHIP_TYPES,
    MAX_LEVERAGE_THOUSANDTHS, MAX_POOLS, MAX_SUSTAIN_MINUTES, MAX_TEAMS, MarketBuilder, PoolIndex, TeamIndex,
};
pub use canonical::sha256_hex;
pub use clearing::{Clearing, run_auction};
pub use error::SnapshotError;
pub use explain::Explanation;
pub use market::Market;
pub use outcome::Outcome;
pub use preview::{Loser, Preview};
pub use previewer::{EditedQueue, Previewer};
pub use price_to_win::PriceToWin;
pub use queue::{Change, Draft};
pub use results::{BidResult, ChipTypeTotals, TeamTotals};
pub use snapshot::Snapshot;
pub use what_if::{Edit, WhatIf, what_if};
