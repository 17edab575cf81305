//! Tests of the planner through its public interface: what ships scores what is written of it, and real curves are foreseen.
#![expect(clippy::unwrap_used, reason = "a test stops at the first surprise")]

mod predictor;
mod real_curves;
