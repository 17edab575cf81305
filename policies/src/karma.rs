//! Karma: chips are lent for credits, so that over time everybody gets about as much as they gave.
//!
//! Vuppalapati, Fikioris, Agarwal, Cidon, Khandelwal, Tardos, *Karma: Resource Allocation for Dynamic Demands* (OSDI
//! 2023). Credits here are Karma's own, not the market's money.

use crate::policy::{Policy, PolicyError};
use crate::round::{Allocation, Round};
use crate::water::take_from_richest;

/// One chip type's state for one quantum.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Quantum {
    /// Chips per user (`f`).
    pub fair_share: u64,
    /// Chips of it that a user has for sure (`α f`), at most `fair_share`.
    pub guaranteed: u64,
    /// Chips beyond `n · fair_share`, which nobody is paid for.
    pub remainder: u64,
}

/// Runs one quantum on everybody's credits and answers who gets what, in O(n log n).
///
/// Every user earns `fair_share − guaranteed` credits. Then, as long as a user with credits wants more than the
/// guaranteed part and a slice is left, the one with most credits gets a slice and pays a credit. The slice comes from
/// the donor with fewest credits, who earns one; where no donor is left, from the shared slices, which pay nobody. Equal
/// credits go by index.
#[must_use]
pub fn quantum(credits: &mut [i64], demand: &[u64], of: Quantum) -> Vec<u64> {
    let Quantum { fair_share, guaranteed, remainder } = of;
    let earned = i64::try_from(fair_share - guaranteed).unwrap_or(i64::MAX);
    for credit in credits.iter_mut() {
        *credit = credit.saturating_add(earned);
    }
    let wanted: Vec<u64> = demand
        .iter()
        .zip(credits.iter())
        .map(|(demand, credit)| demand.saturating_sub(guaranteed).min(u64::try_from(*credit).unwrap_or(0)))
        .collect();
    let donated: Vec<u64> = demand.iter().map(|demand| guaranteed.saturating_sub(*demand)).collect();
    let shared = credits.len() as u64 * (fair_share - guaranteed) + remainder;
    let donations: u64 = donated.iter().sum();
    let borrowed = take_from_richest(shared + donations, credits, &wanted);
    let lent: u64 = borrowed.iter().sum();
    // Paying the poorest donor first is taking from the richest with the sign turned round.
    let debts: Vec<i64> = credits.iter().map(|credit| -credit).collect();
    let paid = take_from_richest(lent.min(donations), &debts, &donated);
    let mut chips = Vec::with_capacity(demand.len());
    for (user, credit) in credits.iter_mut().enumerate() {
        *credit += i64::try_from(paid[user]).unwrap_or(i64::MAX);
        *credit -= i64::try_from(borrowed[user]).unwrap_or(i64::MAX);
        chips.push(demand[user].min(guaranteed) + borrowed[user]);
    }
    chips
}

/// Karma as a policy. Every agent has the same fair share, whatever its weight; each chip type keeps credits of its own.
#[derive(Debug)]
pub struct Karma {
    alpha_thousandths: u64,
    initial_credits: u64,
    /// By chip type, then agent.
    credits: Vec<Vec<i64>>,
}

impl Karma {
    /// Karma where `alpha_thousandths` of a fair share is guaranteed (0 to 1,000) and each of the first users starts
    /// with `initial_credits`.
    #[must_use]
    pub fn new(alpha_thousandths: u64, initial_credits: u64) -> Self {
        Self { alpha_thousandths: alpha_thousandths.min(1_000), initial_credits, credits: Vec::new() }
    }

    /// The credits now, by chip type, then agent.
    #[must_use]
    pub fn credits(&self) -> &[Vec<i64>] {
        &self.credits
    }

    /// Agents that came since the last round start with the mean of the others' credits; those that left take theirs
    /// along.
    fn meet(&mut self, chip_types: usize, agents: usize) {
        let initial = i64::try_from(self.initial_credits).unwrap_or(i64::MAX);
        self.credits.resize_with(chip_types, Vec::new);
        for credits in &mut self.credits {
            let sum: i128 = credits.iter().map(|credit| i128::from(*credit)).sum();
            let mean = if credits.is_empty() { initial } else { (sum / credits.len() as i128) as i64 };
            credits.resize(agents, mean);
        }
    }
}

impl Policy for Karma {
    fn allocate(&mut self, round: &Round) -> Result<Allocation, PolicyError> {
        let agents = round.agents.len();
        self.meet(round.supply.len(), agents);
        let alpha = self.alpha_thousandths;
        let credits = &mut self.credits;
        Ok(round.by_type(|chip_type| {
            let fair_share = round.supply[chip_type].checked_div(agents as u64).unwrap_or(0);
            let of = Quantum {
                fair_share,
                guaranteed: fair_share * alpha / 1_000,
                remainder: round.supply[chip_type] - fair_share * agents as u64,
            };
            quantum(&mut credits[chip_type], &round.demand_for(chip_type), of)
        }))
    }
}
