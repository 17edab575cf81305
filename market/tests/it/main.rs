//! Tests of the engine through its public interface: acceptance cases, invariants on random markets, an
//! independent exhaustive clearing of small markets, and the border.

mod cases;
mod exhaustive;
mod invariants;
mod random;
mod support;
