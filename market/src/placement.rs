//! The placement model: stands in for a scheduler until a real one reports what jobs use.
//!
//! A bid with chips uses them from the cycle's start to its end. Chips that no bid pays for go, unpaid, to waiting bids.
//! A job with a work estimate ends when it is served.

use std::collections::BTreeMap;

use common::api::Reason;
use common::chips::Chips;
use common::ids::{BidId, ChipTypeId};

use crate::outcome::{ChipTypeOutcome, Outcome};
use crate::snapshot::{Bid, Snapshot};

/// A waiting bid that uses chips for free in a cycle.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Opportunistic {
    /// The bid.
    pub bid: BidId,
    /// The chip type it uses.
    pub chip_type: ChipTypeId,
    /// How many.
    pub chips: Chips,
}

/// Chips of a type that waiting bids may use: all but those that bids won and use, and those that a pool keeps idle
/// because it does not lend them.
#[must_use]
pub fn free_chips(market: &ChipTypeOutcome) -> u64 {
    let kept = |owned: Chips, lent: Chips, granted: Chips| owned.0.saturating_sub(lent.0 + granted.0);
    let kept: u64 = market.pools.iter().map(|pool| kept(pool.owned, pool.lent, pool.granted)).sum();
    market.supply.0.saturating_sub(market.used.0 + kept)
}

/// One way in which free chips could serve a waiting bid.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Fit {
    /// Which of the free chips: an index into the list of them.
    pub market: usize,
    /// Chips wanted.
    pub chips: Chips,
    /// Fewest that are of use.
    pub min_chips: Chips,
}

/// Takes what the first way that fits can use out of the free chips; the answer is where, and how many.
pub fn take_first_fit(free: &mut [u64], ways: impl IntoIterator<Item = Fit>) -> Option<(usize, Chips)> {
    let fit = ways.into_iter().find(|fit| free[fit.market] >= fit.min_chips.0)?;
    let chips = fit.chips.0.min(free[fit.market]);
    free[fit.market] -= chips;
    Some((fit.market, Chips(chips)))
}

/// Gives free chips to waiting bids: in order of their ids, each the first of its alternatives that its pool can reach
/// and of which its minimum is free.
#[must_use]
pub fn opportunistic(snapshot: &Snapshot, outcome: &Outcome) -> Vec<Opportunistic> {
    let mut free: Vec<u64> = outcome.chip_types.iter().map(free_chips).collect();
    if free.iter().all(|chips| *chips == 0) {
        return Vec::new();
    }
    let bids: BTreeMap<&BidId, &Bid> = snapshot.bids.iter().map(|bid| (&bid.id, bid)).collect();
    let reach = Reach::new(snapshot, outcome);
    let waiting = outcome.bids.iter().filter(|bid| bid.chips.0 == 0 && bid.reason != Reason::NotInWindow);
    let mut waiting: Vec<&BidId> = waiting.map(|bid| &bid.id).collect();
    waiting.sort_unstable();
    let mut placed = Vec::new();
    for id in waiting {
        let Some(bid) = bids.get(id) else { continue };
        let reachable = bid.alternatives.iter().filter(|way| reach.can(bid, &way.chip_type));
        let ways = reachable.filter_map(|way| {
            let market = outcome.chip_types.binary_search_by(|market| market.id.cmp(&way.chip_type)).ok()?;
            Some(Fit { market, chips: way.chips, min_chips: way.min_chips })
        });
        if let Some((market, chips)) = take_first_fit(&mut free, ways) {
            let chip_type = outcome.chip_types[market].id.clone();
            placed.push(Opportunistic { bid: bid.id.clone(), chip_type, chips });
        }
    }
    placed
}

/// Which chip types the bids of a team can reach.
struct Reach<'a> {
    pool_of_team: BTreeMap<&'a str, &'a str>,
    owned: BTreeMap<(&'a str, &'a str), u64>,
    shared: BTreeMap<&'a str, u64>,
}

impl<'a> Reach<'a> {
    fn new(snapshot: &'a Snapshot, outcome: &'a Outcome) -> Self {
        let owned = snapshot.pools.iter().flat_map(|pool| {
            pool.owned.iter().map(|owned| ((pool.id.as_str(), owned.chip_type.as_str()), owned.chips.0))
        });
        Self {
            pool_of_team: snapshot.teams.iter().map(|team| (team.id.as_str(), team.pool.as_str())).collect(),
            owned: owned.collect(),
            shared: outcome.chip_types.iter().map(|market| (market.id.as_str(), market.shared.0)).collect(),
        }
    }

    /// The bid's pool owns some of the type, or some of it is shared or lent.
    fn can(&self, bid: &Bid, chip_type: &ChipTypeId) -> bool {
        let owned = self
            .pool_of_team
            .get(bid.team.as_str())
            .and_then(|pool| self.owned.get(&(*pool, chip_type.as_str())));
        let shared = self.shared.get(chip_type.as_str());
        [owned, shared].into_iter().flatten().any(|chips| *chips > 0)
    }
}

/// Seconds of a stretch in which a job occupies its chips: all of them, or until the end of the cycle in which its work
/// is done. A stretch lasts longer than a cycle when clearings were missed; a job that ended within it did not use,
/// and does not pay for, what came after.
///
/// `work_left` is in chip-seconds and absent for a job without an estimate.
#[must_use]
pub fn occupied_seconds(
    stretch_seconds: u64,
    cycle_seconds: u64,
    work_left: Option<u64>,
    chips: Chips,
) -> u64 {
    let Some(work_left) = work_left else { return stretch_seconds };
    if chips.0 == 0 {
        return 0;
    }
    let needed = work_left.div_ceil(chips.0);
    let whole_cycles = needed.div_ceil(cycle_seconds.max(1)).saturating_mul(cycle_seconds.max(1));
    stretch_seconds.min(whole_cycles)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::run_auction;

    fn snapshot(json: &str) -> Snapshot {
        serde_json::from_str(json).unwrap()
    }

    #[test]
    fn free_chips_go_to_waiting_bids_in_order_of_id_and_gangs_hold() {
        let snapshot = snapshot(
            r#"{"cycle": 1, "time": "2026-11-30T00:00:00Z",
            "chip_types": [{"id": "A100", "shared": 10, "reserve_price": "5.00"}],
            "pools": [{"id": "p", "weight": "100.00"}],
            "teams": [{"id": "t", "pool": "p", "income": "100.00", "balance": "0.00"}],
            "bids": [
                {"id": "c", "team": "t", "position": 1, "limit": "9.00", "alternatives": [{"chip_type": "A100", "chips": 4, "min_chips": 4}]},
                {"id": "b", "team": "t", "position": 2, "limit": "1.00", "alternatives": [{"chip_type": "A100", "chips": 8, "min_chips": 7}]},
                {"id": "a", "team": "t", "position": 3, "limit": "1.00", "alternatives": [{"chip_type": "A100", "chips": 8, "min_chips": 2}]},
                {"id": "d", "team": "t", "position": 4, "limit": "1.00", "alternatives": [{"chip_type": "A100", "chips": 1, "min_chips": 1}]}
            ]}"#,
        );
        let outcome = run_auction(&snapshot).unwrap();
        let market = &outcome.chip_types[0];
        assert_eq!((market.used, free_chips(market)), (Chips(4), 6));
        let placed = opportunistic(&snapshot, &outcome);
        let placed: Vec<_> = placed.iter().map(|bid| (bid.bid.as_str(), bid.chips.0)).collect();
        assert_eq!(placed, [("a", 6)], "a takes what is left, b's gang does not fit, nothing is left for d");
    }

    #[test]
    fn idle_chips_of_a_pool_that_lends_none_stay_idle() {
        let snapshot = snapshot(
            r#"{"cycle": 1, "time": "2026-11-30T00:00:00Z",
            "chip_types": [{"id": "A100", "shared": 1}],
            "pools": [{"id": "p", "weight": "100.00"}, {"id": "q", "weight": "1.00", "lending": "none", "owned": [{"chip_type": "A100", "chips": 5}]}],
            "teams": [{"id": "t", "pool": "p", "income": "100.00", "balance": "0.00"}],
            "bids": [
                {"id": "a", "team": "t", "position": 1, "alternatives": [{"chip_type": "A100", "chips": 1, "min_chips": 1}]},
                {"id": "b", "team": "t", "position": 2, "alternatives": [{"chip_type": "A100", "chips": 1, "min_chips": 1}]}
            ]}"#,
        );
        let outcome = run_auction(&snapshot).unwrap();
        assert_eq!(free_chips(&outcome.chip_types[0]), 0);
        assert_eq!(opportunistic(&snapshot, &outcome), []);
    }

    #[test]
    fn a_job_that_ends_in_a_gap_stops_at_the_end_of_its_cycle() {
        // 100 chip-seconds on 2 chips take 50 s: one cycle of 60 s, although the next clearing came an hour later.
        assert_eq!(occupied_seconds(3_600, 60, Some(100), Chips(2)), 60);
        assert_eq!(occupied_seconds(60, 60, Some(100), Chips(2)), 60);
        assert_eq!(occupied_seconds(60, 60, Some(u64::MAX), Chips(1)), 60);
        assert_eq!(occupied_seconds(3_600, 60, None, Chips(2)), 3_600);
    }
}
