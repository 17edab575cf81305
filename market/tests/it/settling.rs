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
