//! The lab: allocation policies compared on a trace, from the command line and from the page.
//!
//! The policies and the simulator are the crate `policies`; here are the traces, what a comparison is made of, and the
//! forms its figures are written in. Nothing here touches the live market.

pub mod command;
pub mod compare;
pub mod csv_trace;
mod figures;
pub mod history;
mod learning;
mod nodes_command;
mod planner_command;
pub mod shadow;
pub mod traces;
pub mod worker;

pub use compare::{Progress, compare};
pub use figures::{best, comparison_csv};

/// Most rounds on which misreporting is tried: each is simulated 45 times per team.
pub const MOST_REGRET_ROUNDS: u32 = 1_000;
