//! Whether an outcome can be bettered at nobody's cost: the Pareto check, by a linear program.

use crate::linear::Program;
use crate::policy::PolicyError;
use crate::simulate::Record;

/// Largest program that is tried, in variables.
const MOST_VARIABLES: usize = 60_000;

/// How much more value, as a share of what all agents have, another allocation within the same supply would give in all
/// while no agent gets less over the whole trace. 0 is Pareto-efficient. Absent where demand waits for what is given, or
/// the program is too large.
///
/// # Errors
/// The solver gave up.
pub fn gap(record: &Record) -> Result<Option<f64>, PolicyError> {
    let cells = record.demand.iter().filter(|chips| **chips > 0).count();
    if !record.served.is_empty() || cells > MOST_VARIABLES || cells == 0 {
        return Ok(None);
    }
    let mut program = Program::default();
    let mut by_agent: Vec<Vec<(usize, f64)>> = vec![Vec::new(); record.agents];
    let mut has = vec![0.0; record.agents];
    let mut variables = 0;
    for round in 0..record.rounds() {
        for chip_type in 0..record.chip_types {
            let mut terms = Vec::new();
            for agent in 0..record.agents {
                let place = record.place(round, agent, chip_type);
                let worth = f64::from(record.value[place]) * record.hours[round];
                has[agent] += worth * f64::from(record.useful[place]);
                if record.demand[place] > 0 {
                    let part = program.variable(worth, 0.0, record.demand[place].into());
                    by_agent[agent].push((part, -worth));
                    terms.push((part, 1.0));
                    variables += 1;
                }
            }
            if !terms.is_empty() {
                let supply = record.supply[round * record.chip_types + chip_type];
                program.at_most(terms, supply as f64);
            }
        }
    }
    debug_assert!(variables == cells, "one variable per cell with demand");
    for (agent, terms) in by_agent.into_iter().enumerate() {
        if !terms.is_empty() {
            program.at_most(terms, -has[agent]);
        }
    }
    let best = program.interior().map_err(|reason| PolicyError::Unsolved { policy: "pareto", reason })?;
    let all: f64 = has.iter().sum();
    // A gap below the solver's own tolerance is none.
    let gap = if all > 0.0 { (best.value - all) / all } else { 0.0 };
    Ok(Some(if gap < 1e-6 { 0.0 } else { gap }))
}
