//! Markets over many cycles: bids with a choice of chip types settle, and constant bids keep what they have.

use market::snapshot::LastPrice;
use market::{Outcome, Snapshot, run_auction};

use crate::random::{Scale, each_market};
use crate::support::{any, bid, chip_type, empty, pool, team};

/// The next cycle's snapshot: same bids and balances, prices and choices of this one's outcome.
fn next(snapshot: &Snapshot, outcome: &Outcome) -> Snapshot {
    let mut next = snapshot.clone();
    next.cycle += 1;
    for pool in &mut next.pools {
        pool.last_prices.clear();
        for chip_type in &outcome.chip_types {
            let said = chip_type.pools.iter().find(|said| said.id == pool.id);
            if let Some(price) = said.and_then(|said| said.price) {
                pool.last_prices.push(LastPrice { chip_type: chip_type.id.clone(), price });
            }
        }
    }
    for bid in &mut next.bids {
        let said = outcome.bids.iter().find(|said| said.id == bid.id).unwrap();
        bid.held = said.chip_type.clone();
    }
    next
}

#[test]
fn t077_flexible_bids_settle() {
    let counts = std::cell::Cell::new((0, 0));
    each_market(600, Scale::Credits, |_, mut snapshot| {
        for bid in &mut snapshot.bids {
            (bid.not_before, bid.not_after) = (None, None);
        }
        let mut last_move = 0;
        for cycle in 0..220 {
            let outcome = run_auction(&snapshot).unwrap();
            let after = next(&snapshot, &outcome);
            if after.bids.iter().zip(&snapshot.bids).any(|(after, before)| after.held != before.held) {
                last_move = cycle;
            }
            snapshot = after;
        }
        let (markets, settled) = counts.get();
        counts.set((markets + 1, settled + u32::from(last_move < 150)));
    });
    let (markets, settled) = counts.get();
    assert_eq!(settled, markets, "markets that settled within 150 cycles");
}

#[test]
fn t077_two_teams_with_constant_bids_do_not_take_turns() {
    let mut snapshot = empty(1);
    snapshot.chip_types.push(chip_type("H100", 12));
    for (id, income) in [("a", "20.00"), ("b", "10.00")] {
        snapshot.pools.push(pool(id, income, &[]));
        snapshot.teams.push(team(id, id, income));
        snapshot.bids.push(bid(id, id, any("H100", 12, 1), None));
    }
    let first = run_auction(&snapshot).unwrap();
    let mut outcome = first.clone();
    for _ in 0..50 {
        snapshot = next(&snapshot, &outcome);
        outcome = run_auction(&snapshot).unwrap();
        assert_eq!((&outcome.bids, &outcome.chip_types), (&first.bids, &first.chip_types));
    }
    assert_eq!(first.bids.iter().map(|bid| bid.chips.0).collect::<Vec<_>>(), [8, 4]);
}

#[test]
fn t010_equal_bids_win_by_turns_and_replay_alike() {
    let mut wins = [0_u32; 10];
    for cycle in 0..100 {
        let mut snapshot = empty(cycle);
        snapshot.chip_types.push(chip_type("H100", 3));
        snapshot.pools.push(pool("k", "1000.00", &[]));
        for nth in 0..10 {
            let id = format!("t{nth}");
            snapshot.teams.push(team(&id, "k", "100.00"));
            snapshot.bids.push(bid(&id, &id, any("H100", 1, 1), Some("5.00")));
        }
        let outcome = run_auction(&snapshot).unwrap();
        assert_eq!(outcome, run_auction(&snapshot).unwrap());
        let chips: Vec<u64> = outcome.bids.iter().map(|bid| bid.chips.0).collect();
        assert_eq!(chips.iter().sum::<u64>(), 3);
        for (wins, chips) in wins.iter_mut().zip(chips) {
            *wins += u32::try_from(chips).unwrap();
        }
    }
    // 30 wins each on average; by chance alone fewer than 12 or more than 48 is beyond four standard deviations.
    assert!(wins.iter().all(|wins| (12..=48).contains(wins)), "{wins:?}");
}

/// The price in a bid's pool once the market of one chip type is cleared with its last demand and the bid.
fn would_face(snapshot: &Snapshot, nth: usize, chip_type: &common::ids::ChipTypeId) -> Option<u64> {
    let mut alone = snapshot.clone();
    alone.chip_types.retain(|row| row.id == *chip_type);
    for pool in &mut alone.pools {
        pool.owned.retain(|owned| owned.chip_type == *chip_type);
    }
    let id = snapshot.bids[nth].id.clone();
    alone.bids.retain(|bid| bid.id == id || bid.held.as_ref() == Some(chip_type));
    for bid in &mut alone.bids {
        bid.alternatives.retain(|alternative| alternative.chip_type == *chip_type);
    }
    let outcome = run_auction(&alone).unwrap();
    let team = snapshot.teams.iter().find(|team| team.id == snapshot.bids[nth].team).unwrap();
    let pool = outcome.chip_types[0].pools.iter().find(|pool| pool.id == team.pool);
    pool.and_then(|pool| pool.price).map(|price| price.0)
}

#[test]
fn a_new_flexible_bid_takes_what_is_cheapest_to_within_a_rung() {
    let compared = std::cell::Cell::new(0);
    for scale in [Scale::Ticks, Scale::Credits] {
        each_market(2_000, scale, |_, mut snapshot| {
            let Some(nth) = snapshot.bids.iter().position(|bid| bid.alternatives.len() > 1) else { return };
            let bid = &mut snapshot.bids[nth];
            (bid.held, bid.not_before, bid.not_after) = (None, None, None);
            let outcome = run_auction(&snapshot).unwrap();
            let bid = &snapshot.bids[nth];
            let said = outcome.bids.iter().find(|said| said.id == bid.id).unwrap();
            let costs: Vec<_> = bid
                .alternatives
                .iter()
                .filter_map(|alternative| {
                    let price = would_face(&snapshot, nth, &alternative.chip_type)?;
                    let cost = u128::from(price) * u128::from(alternative.chips.0);
                    Some((&alternative.chip_type, alternative.chips.0, cost))
                })
                .collect();
            let Some(least) = costs.iter().map(|(.., cost)| *cost).min() else { return };
            let chosen = costs.iter().find(|(id, ..)| Some(*id) == said.chip_type.as_ref()).unwrap();
            let slack =
                u128::from(chosen.1) + costs.iter().map(|(_, chips, _)| u128::from(*chips)).max().unwrap();
            assert!(chosen.2 <= least + least / 32 + slack, "{costs:?}, but took {:?}", said.chip_type);
            compared.set(compared.get() + 1);
        });
    }
    assert!(compared.get() > 1_000);
}
