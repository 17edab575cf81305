//! Tests of the policies through their public interface: right answers computed elsewhere, definitions, and the figures of
//! the literature.

#![expect(clippy::unwrap_used, reason = "a test stops at the first surprise")]

mod definitions;
mod fair;
mod golden;
mod karma;
mod learned;
mod literal;
mod programs;
mod sequential;
mod theory;
mod traces;
mod worked;
