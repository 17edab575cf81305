//! In proportion to demand: who asks for twice as much gets twice as much.

use crate::policy::{Policy, PolicyError};
use crate::round::{Allocation, Round};
use crate::water;

/// Each agent gets the same part of what it asks for. Weights do not count.
#[derive(Debug, Default)]
pub struct Proportional {
    round: usize,
}

impl Policy for Proportional {
    fn allocate(&mut self, round: &Round) -> Result<Allocation, PolicyError> {
        let first = self.round;
        self.round += 1;
        Ok(round.by_type(|chip_type| {
            let demand = round.demand_for(chip_type);
            let (supply, asked) = (round.supply[chip_type], demand.iter().sum::<u64>());
            if asked <= supply {
                return demand;
            }
            let part = supply as f64 / asked as f64;
            let shares: Vec<f64> = demand.iter().map(|demand| *demand as f64 * part).collect();
            water::round_down(supply, &shares, &demand, first)
        }))
    }
}
