//! Static shares: what each agent has without any sharing, `min(demand, share)`.

use crate::policy::{Policy, PolicyError};
use crate::round::{Allocation, Round};
use crate::water;

/// Fixed shares of the supply in proportion to the weights; what an agent does not use stays idle.
#[derive(Debug, Default)]
pub struct StaticShare;

/// The shares themselves, in whole chips: they add up to the supply.
#[must_use]
pub fn shares(supply: u64, weights: &[f64]) -> Vec<u64> {
    water::whole(supply, weights, &vec![supply; weights.len()], 0)
}

impl Policy for StaticShare {
    fn allocate(&mut self, round: &Round) -> Result<Allocation, PolicyError> {
        let weights = round.weights();
        Ok(round.by_type(|chip_type| {
            let shares = shares(round.supply[chip_type], &weights);
            let demand = round.demand_for(chip_type);
            demand.iter().zip(shares).map(|(demand, share)| share.min(*demand)).collect()
        }))
    }
}
