//! What changes to a team's queue would do before they are made (market.md 7): the same clearing with them in it.

use common::chips::Chips;
use common::ids::BidId;
use common::money::MicroCredits;

use crate::explain::Explanation;

/// What a team's queue would do in this clearing. All money is in its pool's local credits.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Preview {
    /// What each bid of the team gets, at what price, and why; in the order of the queue.
    pub bids: Vec<Explanation>,
    /// What they cost together, per hour.
    pub burn_per_hour: MicroCredits,
    /// The team's income per hour.
    pub income_per_hour: MicroCredits,
    /// How long the team's balance lasts at that rate; absent where income covers it.
    pub balance_lasts_seconds: Option<u64>,
    /// Bids that get fewer chips than without the changes, in the order of the queue. A bid that the changes amend
    /// is no such bid, whatever it gets.
    pub losers: Vec<Loser>,
}

/// A bid of the team that gives chips up.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Loser {
    /// The bid.
    pub bid: BidId,
    /// Chips without the changes.
    pub before: Chips,
    /// Chips with them.
    pub after: Chips,
}

impl Preview {
    /// What is said of one bid.
    #[must_use]
    pub fn bid(&self, id: &BidId) -> Option<&Explanation> {
        self.bids.iter().find(|bid| bid.bid == *id)
    }

    /// Of a queue's bids and the team's means.
    pub(crate) fn new(
        bids: Vec<Explanation>,
        losers: Vec<Loser>,
        balance: MicroCredits,
        income_per_hour: MicroCredits,
    ) -> Self {
        let costs = bids.iter().map(Explanation::cost_per_hour);
        let burn_per_hour =
            costs.fold(MicroCredits::ZERO, |sum, cost| MicroCredits(sum.0.saturating_add(cost.0)));
        let balance_lasts_seconds = lasts_seconds(balance, income_per_hour, burn_per_hour);
        Self { bids, burn_per_hour, income_per_hour, balance_lasts_seconds, losers }
    }
}

/// How long a balance lasts when it shrinks by `burn` less `income`, both per hour; whole seconds, rounded down.
fn lasts_seconds(balance: MicroCredits, income: MicroCredits, burn: MicroCredits) -> Option<u64> {
    let shrinks = i128::from(burn.0) - i128::from(income.0);
    let seconds = i128::from(balance.0.max(0)) * 3_600;
    (shrinks > 0).then(|| u64::try_from(seconds / shrinks).unwrap_or(u64::MAX))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn t059_a_balance_lasts_as_long_as_it_is_spent() {
        let credits = |credits: i64| MicroCredits(credits * 1_000_000);
        assert_eq!(lasts_seconds(credits(25), credits(0), credits(10)), Some(9_000));
        assert_eq!(lasts_seconds(credits(25), credits(0), credits(0)), None);
        assert_eq!(lasts_seconds(credits(25), credits(10), credits(10)), None);
        assert_eq!(lasts_seconds(credits(-25), credits(0), credits(10)), Some(0));
    }
}
