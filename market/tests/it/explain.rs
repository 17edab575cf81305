//! Each reason, and the words it is given in.

use common::api::Reason;
use common::ids::BidId;
use market::{Market, Snapshot, run_auction};

use crate::random::{Scale, each_market};
use crate::support::{any, bid, chip_type, empty, pool, team};

/// One pool of one team that may spend 12 credits per hour, and 8 shared chips.
fn one_team() -> Snapshot {
    let mut snapshot = empty(5);
    snapshot.chip_types.push(chip_type("H100", 8));
    snapshot.pools.push(pool("p", "12.00", &[]));
    snapshot.teams.push(team("t", "p", "12.00"));
    snapshot
}

/// Another pool whose team takes all it can at `limit`.
fn rival(snapshot: &mut Snapshot, chips: u64, limit: &str) {
    snapshot.pools.push(pool("rival", "1000.00", &[]));
    snapshot.teams.push(team("rival", "rival", "1000.00"));
    snapshot.bids.push(bid("rival", "rival", any("H100", chips, 1), Some(limit)));
}

fn explained(snapshot: &Snapshot, bid: &str) -> (Reason, String) {
    let market = Market::build(snapshot).unwrap();
    let explanation = market.clear().explain(&market, &BidId::new(bid).unwrap()).unwrap();
    (explanation.reason, explanation.text)
}

fn is(snapshot: &Snapshot, bid: &str, reason: Reason, text: &str) {
    assert_eq!(explained(snapshot, bid), (reason, text.to_owned()));
}

#[test]
fn t104_each_reason_has_its_own_words() {
    let mut snapshot = one_team();
    snapshot.bids.push(bid("b", "t", any("H100", 8, 8), None));
    is(&snapshot, "b", Reason::Filled, "all 8 chips at 0.00 per chip-hour");

    snapshot.bids[0].not_after = Some(snapshot.time);
    is(&snapshot, "b", Reason::NotInWindow, "this cycle is outside the bid's time window");

    let mut snapshot = one_team();
    snapshot.bids.push(bid("b", "t", any("H100", 8, 8), Some("3.00")));
    rival(&mut snapshot, 9, "3.20");
    is(&snapshot, "b", Reason::PriceAboveLimit, "price 3.20 is above your limit 3.00");

    let mut snapshot = one_team();
    snapshot.bids.push(bid("b", "t", any("H100", 8, 8), None));
    rival(&mut snapshot, 9, "13.00");
    is(
        &snapshot,
        "b",
        Reason::TeamSpendingCap,
        "your team's 12.00 credits per hour for H100 buy 0 chips at 13.00; this bid needs at least 8",
    );

    let mut snapshot = one_team();
    snapshot.chip_types[0].shared.0 = 0;
    snapshot.bids.push(bid("b", "t", any("H100", 8, 8), None));
    is(&snapshot, "b", Reason::NoSupply, "your pool can get none of the chip types the bid names");
}

#[test]
fn t104_reasons_within_a_queue() {
    let mut snapshot = one_team();
    snapshot.bids.push(bid("b1", "t", any("H100", 6, 6), None));
    snapshot.bids.push(bid("b2", "t", any("H100", 6, 3), None));
    snapshot.bids.push(bid("b3", "t", any("H100", 6, 2), None));
    is(&snapshot, "b1", Reason::Filled, "all 6 chips at 1.333333 per chip-hour");
    is(
        &snapshot,
        "b2",
        Reason::GangDoesNotFit,
        "2 chips of your team's quota left; this bid needs at least 3",
    );
    is(
        &snapshot,
        "b3",
        Reason::PartlyFilled,
        "2 of 6 chips at 1.333333 per chip-hour: no more of your team's quota of 8 is left",
    );
    snapshot.bids.push(bid("b4", "t", any("H100", 1, 1), None));
    is(&snapshot, "b4", Reason::BehindInQueue, "bids ahead in the queue use your team's quota of 8 chips");
}

#[test]
fn t013_the_loser_of_a_tie_is_told_so() {
    let mut snapshot = empty(7);
    snapshot.chip_types.push(chip_type("H100", 1));
    for id in ["a", "b"] {
        snapshot.pools.push(pool(id, "100.00", &[]));
        snapshot.teams.push(team(id, id, "100.00"));
        snapshot.bids.push(bid(id, id, any("H100", 1, 1), Some("5.00")));
    }
    let outcome = run_auction(&snapshot).unwrap();
    let loser = outcome.bids.iter().find(|bid| bid.chips.0 == 0).unwrap();
    is(
        &snapshot,
        loser.id.as_str(),
        Reason::LostTie,
        "at price 5.00 more is asked for than there is, and your team was not drawn among those who would pay just \
         that",
    );
}

#[test]
fn every_bid_is_explained_in_the_order_of_the_outcome_with_numbers_that_bear_it_out() {
    each_market(1_000, Scale::Credits, |_, snapshot| {
        let market = Market::build(&snapshot).unwrap();
        let clearing = market.clear();
        let outcome = clearing.outcome(&market);
        let explanations: Vec<_> = clearing.explanations(&market).collect();
        assert_eq!(explanations.len(), outcome.bids.len());
        for (said, told) in outcome.bids.iter().zip(&explanations) {
            assert_eq!((&said.id, said.reason, said.chips), (&told.bid, told.reason, told.chips));
            assert_eq!(clearing.explain(&market, &said.id).as_ref(), Some(told));
            let least = told.asked.map_or(0, |(_, least)| least.0);
            match told.reason {
                Reason::PriceAboveLimit => {
                    assert!(told.price.is_none_or(|price| told.limit.is_some_and(|limit| limit < price)));
                }
                Reason::TeamSpendingCap => assert!(told.affordable.unwrap().0 < least),
                Reason::GangDoesNotFit => assert!((1..least).contains(&told.left.unwrap().0)),
                Reason::BehindInQueue => assert!(told.affordable.is_none_or(|chips| chips.0 >= least)),
                _ => {}
            }
        }
    });
}
