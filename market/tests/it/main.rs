//! Tests of the engine through its public interface: acceptance cases, invariants on random markets, an
//! independent exhaustive clearing of small markets, and the border.

#![expect(clippy::unwrap_used, reason = "a test stops at the first surprise")]

mod border;
mod builder;
mod cases;
mod depth;
mod docs;
mod exhaustive;
mod explain;
mod fixtures;
mod invariants;
mod large;
mod preview;
mod random;
mod settling;
mod support;
mod what_if;
