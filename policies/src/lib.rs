//! Allocation policies from the literature beside the market, and the simulator that compares them.
//!
//! A [`Round`](round::Round) says who wants how many chips and what they are worth; a [`Policy`](policy::Policy) answers
//! with an [`Allocation`](round::Allocation). A [`Trace`](trace::Trace) is a sequence of rounds, and
//! [`simulate`](simulate::simulate) runs a policy on it and measures what came of it. Pure functions: no I/O and no
//! clock but the stopwatch that a caller hands in; what is random takes a seed. Prices and charges are the market's own
//! integers; the rest may use floating point, for nobody is billed by it.

pub mod catalogue;
pub mod columns;
pub mod drf;
pub mod fair_online;
pub mod first_come;
pub mod fixtures;
pub mod jobs;
pub mod karma;
pub mod linear;
pub mod market_policy;
pub mod max_min;
pub mod measure;
pub mod optimum;
pub mod pareto;
pub mod policy;
pub mod proportional;
pub mod regret;
pub mod round;
pub mod sequential;
pub mod simulate;
pub mod static_share;
pub mod synthetic;
pub mod trace;
pub mod water;
