//! Rules for agents that arrive one by one, as a policy on rounds of chips.

use super::{HindsightDrf, Instance, Rule, roll_out};
use crate::policy::{Policy, PolicyError};
use crate::round::{Allocation, Round};
use crate::water;

/// Within a round teams come one after another, each round another one first, and nobody's demand is known before it
/// comes. \[recon\] A team's need per unit is its demand for each chip type as a share of the supply; weights do not count.
pub struct OneByOne {
    rule: Option<Box<dyn Rule + Send>>,
    round: usize,
}

impl std::fmt::Debug for OneByOne {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("OneByOne").field("round", &self.round).finish_non_exhaustive()
    }
}

impl OneByOne {
    /// With a rule that does not know who is to come.
    #[must_use]
    pub fn new(rule: Box<dyn Rule + Send>) -> Self {
        Self { rule: Some(rule), round: 0 }
    }

    /// With hindsight DRF, which knows the whole round.
    #[must_use]
    pub fn hindsight() -> Self {
        Self { rule: None, round: 0 }
    }
}

impl Policy for OneByOne {
    fn allocate(&mut self, round: &Round) -> Result<Allocation, PolicyError> {
        let teams = round.agents.len();
        let first = self.round % teams.max(1);
        self.round += 1;
        let asks = |team: &usize| {
            round.agents[*team]
                .demand
                .iter()
                .zip(&round.supply)
                .any(|(chips, supply)| *chips > 0 && *supply > 0)
        };
        let order: Vec<usize> = (0..teams).map(|nth| (first + nth) % teams).filter(asks).collect();
        let mut instance = Instance { demands: Vec::new(), caps: Vec::new() };
        for team in &order {
            let share = |(chips, supply): (&u64, &u64)| {
                if *supply > 0 { *chips as f64 / *supply as f64 } else { 0.0 }
            };
            let shares: Vec<f64> = round.agents[*team].demand.iter().zip(&round.supply).map(share).collect();
            let dominant = shares.iter().copied().fold(0.0, f64::max);
            instance.demands.push(shares.iter().map(|share| share / dominant).collect());
            instance.caps.push(dominant);
        }
        let held = if order.is_empty() { Vec::new() } else { self.last_step(&instance)? };
        Ok(round.by_type(|chip_type| {
            let (mut shares, mut caps) = (vec![0.0; teams], vec![0; teams]);
            let supply = round.supply[chip_type];
            for ((team, demand), x) in order.iter().zip(&instance.demands).zip(&held) {
                shares[*team] = demand[chip_type] * x * supply as f64;
                caps[*team] = round.agents[*team].demand[chip_type];
            }
            let whole = (shares.iter().sum::<f64>() + 1e-6) as u64;
            water::round_down(whole.min(supply), &shares, &caps, first)
        }))
    }
}

impl OneByOne {
    /// What each holds when all have come.
    fn last_step(&self, instance: &Instance) -> Result<Vec<f64>, PolicyError> {
        let steps = match &self.rule {
            Some(rule) => roll_out(instance, rule.as_ref())?,
            None => roll_out(instance, &HindsightDrf::of(&instance.demands, &instance.caps))?,
        };
        Ok(steps.into_iter().next_back().unwrap_or_default())
    }
}
