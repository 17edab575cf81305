//! What the server and the browser both speak: ids, money, chips, time, wire types and errors.
//!
//! Everything here compiles to WebAssembly, does no I/O and reads no clock. Amounts are integers; floating
//! point is denied, because this is where money is parsed and shown.
#![deny(clippy::float_arithmetic)]

pub mod api;
pub mod chips;
pub mod ids;
pub mod instant;
pub mod measure;
pub mod money;
pub mod names;
pub mod problem;
pub mod words;
