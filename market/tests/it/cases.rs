//! Acceptance cases that concern clearing, by their numbers, and edge cases.

use common::api::Reason;
use common::chips::Chips;
use common::money::{MicroCredits, Price};
use market::snapshot::Lending;
use market::{Market, Outcome, Snapshot, run_auction};

use crate::random::{Scale, each_market};
use crate::support::{any, bid, chip_type, credits, empty, pool, price, team};

/// One pool with a team for each `(id, income)`, each wanting all `supply` chips.
fn crowd(supply: u64, teams: &[(&str, &str)]) -> Snapshot {
    let mut snapshot = empty(1);
    snapshot.chip_types.push(chip_type("H100", supply));
    let incomes: i64 = teams.iter().map(|(_, income)| credits(income).0).sum();
    snapshot.pools.push(pool("k", "0.00", &[]));
    snapshot.pools[0].weight = MicroCredits(incomes);
    for (id, income) in teams {
        snapshot.teams.push(team(id, "k", income));
        snapshot.bids.push(bid(id, id, any("H100", supply.max(1), 1), None));
    }
    snapshot
}

fn chips(outcome: &Outcome) -> Vec<u64> {
    outcome.bids.iter().map(|bid| bid.chips.0).collect()
}

#[test]
fn t011_each_losing_bid_is_told_the_price_of_its_own_market() {
    let mut snapshot = empty(2);
    snapshot.pools.push(pool("rich", "10000.00", &[]));
    snapshot.pools.push(pool("poor", "10000.00", &[]));
    snapshot.teams.push(team("rich", "rich", "10000.00"));
    snapshot.teams.push(team("poor", "poor", "10000.00"));
    for hour in 0..24 {
        let id = format!("H100:eu:{hour:02}");
        snapshot.chip_types.push(chip_type(&id, 1));
        let limit = format!("{}.00", 10 + hour);
        snapshot.bids.push(bid(&format!("win-{hour:02}"), "rich", any(&id, 2, 1), Some(&limit)));
        snapshot.bids.push(bid(&format!("lose-{hour:02}"), "poor", any(&id, 1, 1), Some("5.00")));
    }
    let market = Market::build(&snapshot).unwrap();
    let clearing = market.clear();
    for hour in 0..24 {
        let lost = format!("lose-{hour:02}").parse().unwrap();
        let told = clearing.explain(&market, &lost).unwrap();
        assert_eq!(told.reason, Reason::PriceAboveLimit);
        assert_eq!(told.text, format!("price {}.00 is above your limit 5.00", 10 + hour));
        assert_eq!(told.chip_type.unwrap().as_str(), format!("H100:eu:{hour:02}"));
    }
}

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
    assert_eq!(chips(&outcome).iter().sum::<u64>(), 1);
    assert_eq!(outcome.chip_types[0].granted, Chips(1));
}

#[test]
fn t014_no_bids_is_no_trade_and_never_a_price_of_zero() {
    let mut snapshot = crowd(8, &[("a", "10.00")]);
    snapshot.pools[0].owned = pool("k", "0.00", &[("H100", 4)]).owned;
    snapshot.bids.clear();
    for reserve in ["0.00", "2.00"] {
        snapshot.chip_types[0].reserve_price = price(reserve);
        let outcome = run_auction(&snapshot).unwrap();
        let said = &outcome.chip_types[0];
        assert_eq!(said.reference_price, None);
        assert_eq!((said.pools[0].price, said.pools[0].local_price), (None, None));
        assert_eq!((said.supply, said.shared, said.granted), (Chips(12), Chips(12), Chips(0)));
    }
}

#[test]
fn t019_no_fill_is_charged_above_its_limit() {
    each_market(10_000, Scale::Credits, |_, snapshot| {
        let outcome = run_auction(&snapshot).unwrap();
        for bid in &snapshot.bids {
            let said = outcome.bids.iter().find(|said| said.id == bid.id).unwrap();
            let (Some(limit), true) = (bid.limit, said.chips.0 > 0) else { continue };
            let team = snapshot.teams.iter().find(|team| team.id == bid.team).unwrap();
            let chip_type = outcome.chip_types.iter().find(|row| Some(&row.id) == said.chip_type.as_ref());
            let pool = chip_type.unwrap().pools.iter().find(|pool| pool.id == team.pool).unwrap();
            assert!(pool.local_price.unwrap() <= limit, "{} pays above its limit", bid.id);
        }
    });
}

#[test]
fn t022_weights_of_hundreds_and_of_ones_divide_alike() {
    let divided = |factor: i64| {
        let mut snapshot = empty(1);
        snapshot.chip_types.push(chip_type("H100", 60));
        for (id, weight) in [("a", 1), ("b", 2), ("c", 3)] {
            snapshot.pools.push(pool(id, "0.00", &[]));
            snapshot.pools.last_mut().unwrap().weight = MicroCredits(weight * factor * 1_000_000);
            snapshot.teams.push(team(id, id, "7.00"));
            snapshot.bids.push(bid(id, id, any("H100", 60, 1), None));
        }
        chips(&run_auction(&snapshot).unwrap())
    };
    assert_eq!(divided(1), [10, 20, 30]);
    assert_eq!(divided(100), divided(1));
}

#[test]
fn t023_no_weight_or_income_is_last_and_harms_nobody() {
    for without_weight in [true, false] {
        let mut snapshot = crowd(8, &[("a", "10.00")]);
        snapshot.bids[0].alternatives[0].chips = Chips(9);
        snapshot.pools.push(pool("none", if without_weight { "0.00" } else { "10.00" }, &[]));
        snapshot.teams.push(team("z", "none", if without_weight { "10.00" } else { "0.00" }));
        snapshot.bids.push(bid("z", "z", any("H100", 8, 1), None));
        let outcome = run_auction(&snapshot).unwrap();
        assert_eq!(chips(&outcome), [8, 0]);
        assert_eq!(outcome.teams[1].cap, MicroCredits::ZERO);
        // Its price is beyond its means: there is none in its currency.
        let none = outcome.chip_types[0].pools.iter().find(|pool| pool.id.as_str() == "none").unwrap();
        assert_eq!((none.price.is_some(), none.local_price), (true, None));
    }
}

#[test]
fn t086_a_pool_lends_no_more_of_its_idle_chips_than_it_says() {
    for (lending, lent) in [
        (Lending::AtMost(Chips(16)), 16),
        (Lending::AtMost(Chips(99)), 56),
        (Lending::None, 0),
        (Lending::All, 56),
    ] {
        let mut snapshot = empty(1);
        snapshot.chip_types.push(chip_type("H100", 0));
        snapshot.pools.push(pool("owner", "10.00", &[("H100", 64)]));
        snapshot.pools[0].lending = lending;
        snapshot.pools.push(pool("other", "10.00", &[]));
        for id in ["owner", "other"] {
            snapshot.teams.push(team(id, id, "10.00"));
        }
        snapshot.bids.push(bid("o", "owner", any("H100", 8, 1), None));
        snapshot.bids.push(bid("x", "other", any("H100", 100, 1), None));
        let outcome = run_auction(&snapshot).unwrap();
        let owner = outcome.chip_types[0].pools.iter().find(|pool| pool.id.as_str() == "owner").unwrap();
        assert_eq!(owner.lent, Chips(lent));
        let chips_of = |id: &str| outcome.bids.iter().find(|bid| bid.id.as_str() == id).unwrap().chips;
        assert_eq!((chips_of("o"), chips_of("x")), (Chips(8), Chips(lent)));
    }
}

#[test]
fn t091_minimums_beyond_the_supply_have_a_defined_result() {
    let mut snapshot = crowd(10, &[("a", "10.00"), ("b", "10.00")]);
    for bid in &mut snapshot.bids {
        bid.alternatives[0].min_chips = Chips(10);
    }
    let outcome = run_auction(&snapshot).unwrap();
    assert_eq!(chips(&outcome), [0, 0]);
    assert_eq!(outcome.teams.iter().map(|team| team.markets[0].quota.0).collect::<Vec<_>>(), [5, 5]);
    assert!(outcome.bids.iter().all(|bid| bid.reason == Reason::GangDoesNotFit));
}

#[test]
fn t092_a_pool_without_a_row_for_a_chip_type_owns_none_of_it() {
    let mut snapshot = empty(1);
    snapshot.chip_types.extend([chip_type("H100", 0), chip_type("TPU", 0)]);
    snapshot.pools.push(pool("k", "10.00", &[("H100", 4)]));
    snapshot.teams.push(team("t", "k", "10.00"));
    snapshot.bids.push(bid("h", "t", any("H100", 4, 1), None));
    snapshot.bids.push(bid("p", "t", any("TPU", 4, 1), None));
    let outcome = run_auction(&snapshot).unwrap();
    assert_eq!(chips(&outcome), [4, 0]);
    assert_eq!(outcome.bids[1].reason, Reason::NoSupply);
}

#[test]
fn t095_no_limit_and_a_limit_of_zero_differ_and_survive_json() {
    let mut snapshot = crowd(4, &[("a", "10.00"), ("b", "10.00")]);
    snapshot.bids[0].limit = Some(Price(0));
    let json = snapshot.canonical_json();
    let read: Snapshot = serde_json::from_str(&json).unwrap();
    assert_eq!((read.bids[0].limit, read.bids[1].limit), (Some(Price(0)), None));
    assert_eq!(read.canonical_json(), json);
    assert_eq!(chips(&run_auction(&read).unwrap()), [0, 4]);
}

#[test]
fn t109_a_chip_type_is_an_id_and_not_a_likeness() {
    let mut snapshot = crowd(4, &[("a", "10.00")]);
    snapshot.chip_types = vec![chip_type("A100-40", 4), chip_type("A100-80", 4)];
    snapshot.bids[0].alternatives = vec![any("A100", 4, 1), any("A100-80", 4, 1)];
    let outcome = run_auction(&snapshot).unwrap();
    assert_eq!(outcome.bids[0].chip_type.as_ref().unwrap().as_str(), "A100-80");
    snapshot.bids[0].alternatives.truncate(1);
    let outcome = run_auction(&snapshot).unwrap();
    assert_eq!((&outcome.bids[0].chip_type, outcome.bids[0].reason), (&None, Reason::NoSupply));
}

#[test]
fn nothing_at_all_clears() {
    let outcome = run_auction(&empty(1)).unwrap();
    assert_eq!((outcome.chip_types.len(), outcome.teams.len(), outcome.bids.len()), (0, 0, 0));
}

#[test]
fn no_supply_serves_nobody_and_says_so() {
    let outcome = run_auction(&crowd(0, &[("a", "10.00")])).unwrap();
    assert_eq!((chips(&outcome), outcome.bids[0].reason), (vec![0], Reason::NoSupply));
    assert_eq!(outcome.chip_types[0].reference_price, None);
}

#[test]
fn one_team_alone_has_everything_for_nothing_until_it_wants_more_than_there_is() {
    let mut snapshot = crowd(8, &[("a", "10.00")]);
    let outcome = run_auction(&snapshot).unwrap();
    assert_eq!((chips(&outcome), outcome.chip_types[0].reference_price), (vec![8], Some(Price(0))));
    snapshot.bids[0].alternatives[0].chips = Chips(9);
    let outcome = run_auction(&snapshot).unwrap();
    // Nine chips are worth 10 / 9 each to it: the ninth is the marginal one.
    assert_eq!((chips(&outcome), outcome.chip_types[0].reference_price), (vec![8], Some(price("1.111111"))));
}

#[test]
fn a_limit_at_the_clearing_price_is_served() {
    let mut snapshot = crowd(8, &[("a", "40.00"), ("b", "40.00")]);
    snapshot.bids[0].alternatives[0].chips = Chips(4);
    snapshot.bids[1].limit = Some(price("2.00"));
    let outcome = run_auction(&snapshot).unwrap();
    assert_eq!(outcome.chip_types[0].reference_price, Some(price("2.00")));
    assert_eq!(chips(&outcome), [4, 4]);
    assert_eq!(outcome.bids[1].reason, Reason::PartlyFilled);
}

#[test]
fn a_gang_larger_than_the_quota_lets_the_next_bid_try() {
    let mut snapshot = crowd(4, &[("a", "10.00")]);
    snapshot.bids[0].alternatives = vec![any("H100", 8, 8)];
    snapshot.bids.push(bid("b-next", "a", any("H100", 4, 2), None));
    let outcome = run_auction(&snapshot).unwrap();
    assert_eq!(chips(&outcome), [0, 4]);
    assert_eq!(outcome.bids[0].reason, Reason::GangDoesNotFit);
}

#[test]
fn thousands_of_equal_bids_share_to_the_chip() {
    let mut snapshot = empty(9);
    snapshot.chip_types.push(chip_type("H100", 1_000));
    snapshot.pools.push(pool("k", "5000.00", &[]));
    for nth in 0..5_000 {
        let id = format!("t{nth:04}");
        snapshot.teams.push(team(&id, "k", "1.00"));
        snapshot.bids.push(bid(&id, &id, any("H100", 1, 1), Some("1.00")));
    }
    let outcome = run_auction(&snapshot).unwrap();
    assert_eq!(outcome.chip_types[0].reference_price, Some(price("1.00")));
    assert_eq!(chips(&outcome).iter().sum::<u64>(), 1_000);
    assert_eq!(outcome.bids.iter().filter(|bid| bid.reason == Reason::LostTie).count(), 4_000);
}

#[test]
fn the_reserve_price_is_a_floor_of_the_shared_chips_alone() {
    let mut snapshot = crowd(8, &[("a", "8.00")]);
    snapshot.chip_types[0].reserve_price = price("2.00");
    let outcome = run_auction(&snapshot).unwrap();
    assert_eq!((chips(&outcome), outcome.chip_types[0].reference_price), (vec![4], Some(price("2.00"))));
    // Chips of its own cost nothing.
    snapshot.pools[0].owned = pool("k", "0.00", &[("H100", 8)]).owned;
    let outcome = run_auction(&snapshot).unwrap();
    assert_eq!((chips(&outcome), outcome.chip_types[0].pools[0].price), (vec![8], Some(Price(0))));
}
