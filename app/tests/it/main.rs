//! Renders every page on the server over a market that never changes, as a browser would get it.
#![expect(clippy::unwrap_used, reason = "a test stops at the first surprise")]

mod bids;
mod fixture;
mod fixture_bids;
mod pages;
mod render;
