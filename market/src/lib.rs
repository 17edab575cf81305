//! The pricing engine of the quota marketplace.
//!
//! [`Snapshot`] in, [`Outcome`] out: no clock, no randomness, no I/O, no floating point. The same snapshot gives a
//! byte-identical outcome on every machine. Source of the mechanism: *Quota Marketplace: Dynamic Pricing for
//! Efficient Allocation of ML Training Resources* (OSDI 2026).
#![deny(clippy::float_arithmetic)]

pub mod outcome;
pub mod snapshot;

pub use outcome::Outcome;
pub use snapshot::Snapshot;
