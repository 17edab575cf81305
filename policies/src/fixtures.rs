//! Situations from the theory with a known outcome: where the market beats Karma, where nothing can be told in time, and
//! what Theorem 4 promises.

use crate::round::{Agent, Round};
use crate::trace::{Demand, Trace};

/// Chips of the one unit of supply.
pub const UNIT: u64 = 1_000;

fn trace(name: &str, agents: usize, rounds: Vec<Round>) -> Trace {
    Trace {
        name: name.to_owned(),
        source: "A situation from the theory".to_owned(),
        value_source: "As the situation says".to_owned(),
        agents: (1..=agents).map(|nth| format!("agent-{nth}")).collect(),
        chip_types: vec!["chip".to_owned()],
        demand: Demand::Fixed(rounds),
    }
}

fn round(agents: Vec<Agent>) -> Round {
    Round { hours: 1.0, supply: vec![UNIT], agents, gangs: Vec::new() }
}

fn agent(chips: u64, value: f64) -> Agent {
    Agent { weight: 1.0, demand: vec![chips], value: vec![value] }
}

/// Heterogeneous values: `n` rounds in which all `n` want the whole unit, and agent `i` values it at 1 in round `i` and at
/// `low` otherwise. Sharing evenly gives each `(1 + (n − 1) low)/n`; a market in which budgets are spent where they are
/// worth most gives each 1.
#[must_use]
pub fn heterogeneous(n: usize, low: f64) -> Trace {
    let rounds =
        (0..n).map(|at| round((0..n).map(|i| agent(UNIT, if i == at { 1.0 } else { low })).collect()));
    trace("heterogeneous-values", n, rounds.collect())
}

/// Uniform values: in the first round all `n` want the unit; agent `gone` never returns, and each other agent is alone in
/// one later round. With hindsight the one who goes gets the first unit and everybody has 1; a mechanism that only counts
/// chip-hours can't know, and whom it serves least is left with at most `1/n`.
#[must_use]
pub fn uniform(n: usize, gone: usize) -> Trace {
    let mut rounds = vec![round((0..n).map(|_| agent(UNIT, 1.0)).collect())];
    for back in (0..n).filter(|i| *i != gone) {
        rounds.push(round((0..n).map(|i| agent(if i == back { UNIT } else { 0 }, 1.0)).collect()));
    }
    trace("uniform-values", n, rounds)
}
