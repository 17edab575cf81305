//! What a bid would do before it is placed (market.md 7): the same clearing with the bid in it.

use common::chips::Chips;
use common::ids::BidId;
use common::money::MicroCredits;

use crate::clearing::Clearing;
use crate::error::SnapshotError;
use crate::explain::Explanation;
use crate::market::Market;
use crate::price_to_win::{PriceToWin, price_to_win_in};
use crate::snapshot::{Bid, Snapshot};
use crate::what_if::Edit;

/// What a new or changed bid would do if it were in this clearing.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Preview {
    /// What the bid gets, at what price, and why.
    pub bid: Explanation,
    /// What the bid costs, in local credits per hour.
    pub cost_per_hour: MicroCredits,
    /// What all bids of the team then cost, in local credits per hour.
    pub burn_per_hour: MicroCredits,
    /// The team's income, in local credits per hour.
    pub income_per_hour: MicroCredits,
    /// How long the team's balance lasts at that rate; absent where income covers it.
    pub balance_lasts_seconds: Option<u64>,
    /// Bids of the team that get fewer chips than without it, in the order of the queue.
    pub losers: Vec<Loser>,
    /// What it takes to fill the bid.
    pub price_to_win: PriceToWin,
}

/// A bid of the team that gives chips up.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Loser {
    /// The bid.
    pub bid: BidId,
    /// Chips without the new bid.
    pub before: Chips,
    /// Chips with it.
    pub after: Chips,
}

/// Clears the snapshot with the bid in it: a new one, or in the place of the one with its id.
///
/// # Errors
/// The bid or the snapshot has a field outside its limits.
pub fn preview(snapshot: &Snapshot, bid: &Bid) -> Result<Preview, SnapshotError> {
    let edited = snapshot.edited(&[Edit::Bid(Box::new(bid.clone()))])?;
    let before = Market::build(snapshot)?;
    let after = Market::build(&edited)?;
    let clearing = after.clear();
    let Some(nth) = after.bid_of(&bid.id) else {
        return Err(SnapshotError::unknown("bid.id", &bid.id, "bid"));
    };
    let team = after.team_of(nth);
    let (mut explanation, mut burn_per_hour) = (None, MicroCredits::ZERO);
    for explained in clearing.explanations_of(&after, team) {
        burn_per_hour = MicroCredits(burn_per_hour.0.saturating_add(cost(&explained).0));
        if explained.bid == bid.id {
            explanation = Some(explained);
        }
    }
    let explanation = explanation.ok_or_else(|| SnapshotError::unknown("bid.id", &bid.id, "bid"))?;
    let row = snapshot.teams.iter().find(|row| row.id == bid.team);
    let (income_per_hour, balance) = row.map_or_else(Default::default, |row| (row.income, row.balance));
    Ok(Preview {
        cost_per_hour: cost(&explanation),
        burn_per_hour,
        income_per_hour,
        balance_lasts_seconds: lasts_seconds(balance, income_per_hour, burn_per_hour),
        losers: losers(&before, &before.clear(), &after, &clearing, team, &bid.id),
        price_to_win: price_to_win_in(&after, nth, &clearing),
        bid: explanation,
    })
}

/// Local credits per hour.
fn cost(explained: &Explanation) -> MicroCredits {
    let price = explained.price.map_or(0, |price| price.0);
    MicroCredits(i64::try_from(u128::from(price) * u128::from(explained.chips.0)).unwrap_or(i64::MAX))
}

/// How long a balance lasts when it shrinks by `burn` less `income`, both per hour; whole seconds, rounded down.
fn lasts_seconds(balance: MicroCredits, income: MicroCredits, burn: MicroCredits) -> Option<u64> {
    let shrinks = i128::from(burn.0) - i128::from(income.0);
    let seconds = i128::from(balance.0.max(0)) * 3_600;
    (shrinks > 0).then(|| u64::try_from(seconds / shrinks).unwrap_or(u64::MAX))
}

fn losers(
    before: &Market,
    cleared_before: &Clearing,
    after: &Market,
    cleared_after: &Clearing,
    team: usize,
    new: &BidId,
) -> Vec<Loser> {
    let chips = |clearing: &Clearing, bid: usize| Chips(u64::from(clearing.jobs[bid].chips));
    // The same teams in the same order; only the new bid's team has another queue.
    let old: Vec<usize> = before.bids_of(team).collect();
    after
        .bids_of(team)
        .filter(|bid| after.names[*bid].id != *new)
        .filter_map(|bid| {
            let id = &after.names[bid].id;
            let was = old.iter().find(|old| before.names[**old].id == *id)?;
            let (before, after) = (chips(cleared_before, *was), chips(cleared_after, bid));
            (after < before).then(|| Loser { bid: id.clone(), before, after })
        })
        .collect()
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
