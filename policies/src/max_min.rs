//! Weighted max-min fairness within a round: nobody can get more without somebody getting less who has less.

use crate::policy::{Policy, PolicyError};
use crate::round::{Allocation, Round};
use crate::water;

/// Max-min by weight in whole chips, each chip type on its own; it has no memory of earlier rounds.
#[derive(Debug, Default)]
pub struct MaxMin {
    round: usize,
}

impl Policy for MaxMin {
    fn allocate(&mut self, round: &Round) -> Result<Allocation, PolicyError> {
        let (first, weights) = (self.round, round.weights());
        self.round += 1;
        Ok(round.by_type(|chip_type| {
            water::whole(round.supply[chip_type], &weights, &round.demand_for(chip_type), first)
        }))
    }
}
