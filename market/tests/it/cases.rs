//! Acceptance cases that concern clearing, by their numbers, and edge cases.

use common::chips::Chips;
use market::run_auction;

use crate::support::{any, bid, chip_type, empty, pool, price, team};

#[test]
fn t013_equal_bids_clear_at_exactly_their_price() {
    let mut snapshot = empty(7);
    snapshot.chip_types.push(chip_type("H100", 1));
    for id in ["a", "b"] {
        snapshot.pools.push(pool(id, "100.00", &[]));
        snapshot.teams.push(team(id, id, "100.00"));
        snapshot.bids.push(bid(id, id, any("H100", 1, 1), Some("5.00")));
    }
    let outcome = run_auction(&snapshot).unwrap();
    assert_eq!(outcome.chip_types[0].reference_price, Some(price("5.00")));
    assert_eq!(outcome.bids.iter().map(|bid| bid.chips.0).sum::<u64>(), 1);
    assert_eq!(outcome.chip_types[0].granted, Chips(1));
}
