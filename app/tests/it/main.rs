//! Renders every page on the server over a market that never changes, as a browser would get it.

mod fixture;
mod pages;
mod render;
