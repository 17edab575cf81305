//! Previews, what-ifs and prices to win are the same clearing on an edited snapshot.

use common::chips::Chips;
use common::money::{MicroCredits, Price};
use market::{Edit, PriceToWin, Snapshot, preview, price_to_win, run_auction, what_if};
use rand::RngExt;

use crate::random::{Scale, each_market};
use crate::support::{any, bid, chip_type, credits, empty, pool, price, team};

fn filled(snapshot: &Snapshot, nth: usize) -> bool {
    let outcome = run_auction(snapshot).unwrap();
    let said = outcome.bids.iter().find(|said| said.id == snapshot.bids[nth].id).unwrap();
    said.reason == common::api::Reason::Filled
}

#[test]
fn t098_the_price_to_win_wins_and_a_tick_less_does_not() {
    each_market(500, Scale::Credits, |rng, mut snapshot| {
        if snapshot.bids.is_empty() {
            return;
        }
        let nth = rng.random_range(0..snapshot.bids.len());
        match price_to_win(&snapshot, &snapshot.bids[nth].id).unwrap() {
            PriceToWin::Limit(limit) => {
                snapshot.bids[nth].limit = Some(limit);
                assert!(filled(&snapshot, nth), "at {limit}");
                if limit.0 > 0 {
                    snapshot.bids[nth].limit = Some(Price(limit.0 - 1));
                    assert!(!filled(&snapshot, nth), "a tick below {limit}");
                }
            }
            PriceToWin::MoreCredits(_) | PriceToWin::OutOfReach => {
                snapshot.bids[nth].limit = None;
                assert!(!filled(&snapshot, nth));
            }
        }
    });
}

/// Two pools that want 8 chips each of 8 shared ones.
fn contest() -> Snapshot {
    let mut snapshot = empty(3);
    snapshot.chip_types.push(chip_type("H100", 8));
    snapshot.pools.push(pool("a", "40.00", &[]));
    snapshot.pools.push(pool("b", "24.00", &[]));
    snapshot.teams.push(team("a", "a", "40.00"));
    snapshot.teams.push(team("b", "b", "24.00"));
    snapshot.bids.push(bid("a1", "a", any("H100", 9, 1), Some("3.20")));
    snapshot.bids.push(bid("b1", "b", any("H100", 8, 8), Some("3.00")));
    snapshot
}

#[test]
fn t098_a_loser_is_told_the_limit_that_would_have_won() {
    let mut snapshot = contest();
    snapshot.teams[1].income = credits("60.00");
    snapshot.pools[1].weight = credits("60.00");
    // A tick above the other's limit: only then is the whole supply left to this bid.
    let id = snapshot.bids[1].id.clone();
    assert_eq!(price_to_win(&snapshot, &id).unwrap(), PriceToWin::Limit(price("3.200001")));
}

#[test]
fn t098_a_team_without_means_is_told_how_much_more_it_needs() {
    let snapshot = contest();
    let id = snapshot.bids[1].id.clone();
    // 8 chips at a tick above 3.20 cost 25.600008 per hour; the team has 24.
    assert_eq!(price_to_win(&snapshot, &id).unwrap(), PriceToWin::MoreCredits(credits("1.600008")));
    let mut without = snapshot;
    without.chip_types[0].shared = Chips(4);
    assert_eq!(price_to_win(&without, &id).unwrap(), PriceToWin::OutOfReach);
}

#[test]
fn a_preview_is_the_clearing_with_the_bid_in_it() {
    each_market(1_000, Scale::Credits, |_, mut snapshot| {
        let Some(bid) = snapshot.bids.pop() else { return };
        let said = preview(&snapshot, &bid).unwrap();
        let before = run_auction(&snapshot).unwrap();
        snapshot.bids.push(bid.clone());
        let after = run_auction(&snapshot).unwrap();
        let found = after.bids.iter().find(|outcome| outcome.id == bid.id).unwrap();
        assert_eq!((said.bid.chips, said.bid.reason), (found.chips, found.reason));
        assert_eq!(said.bid.chip_type, found.chip_type);
        assert!(said.burn_per_hour >= said.cost_per_hour);
        let chips =
            |outcome: &market::Outcome, id| outcome.bids.iter().find(|bid| bid.id == id).unwrap().chips;
        for other in snapshot.bids.iter().filter(|other| other.team == bid.team && other.id != bid.id) {
            let (was, is) = (chips(&before, other.id.clone()), chips(&after, other.id.clone()));
            let loser = said.losers.iter().find(|loser| loser.bid == other.id);
            assert_eq!(loser.map(|loser| (loser.before, loser.after)), (is < was).then_some((was, is)));
        }
    });
}

#[test]
fn a_preview_says_what_it_costs_how_long_the_balance_lasts_and_who_loses() {
    let mut snapshot = empty(3);
    snapshot.chip_types.push(chip_type("H100", 8));
    snapshot.pools.push(pool("a", "10.00", &[]));
    snapshot.teams.push(team("a", "a", "10.00"));
    snapshot.teams[0].leverage_thousandths = 2_000;
    snapshot.teams[0].balance = credits("100.00");
    snapshot.bids.push(bid("old", "a", any("H100", 4, 4), None));
    snapshot.bids[0].position = 5;
    let said = preview(&snapshot, &bid("new", "a", any("H100", 6, 1), None)).unwrap();
    // Ten chips are wanted of eight: the team's 20 credits per hour meet at 20 / 9 less a tick's rounding.
    assert_eq!(said.bid.price, Some(price("2.222222")));
    assert_eq!(said.cost_per_hour, credits("13.333332"));
    assert_eq!(said.burn_per_hour, said.cost_per_hour);
    assert_eq!(said.income_per_hour, credits("10.00"));
    // 100 credits at 3.333332 per hour beyond the income.
    assert_eq!(said.balance_lasts_seconds, Some(108_000));
    assert_eq!(said.losers.len(), 1);
    assert_eq!((said.losers[0].before, said.losers[0].after), (Chips(4), Chips(0)));
}

#[test]
fn what_if_answers_are_clearings_of_the_edited_snapshot() {
    let snapshot = contest();
    let (h100, a, b) =
        (snapshot.chip_types[0].id.clone(), snapshot.pools[0].id.clone(), snapshot.teams[1].id.clone());
    let reference = |edits: &[Edit]| {
        let said = what_if(&snapshot, edits).unwrap();
        assert_eq!(said.before, run_auction(&snapshot).unwrap());
        assert_eq!(said.after, run_auction(&snapshot.edited(edits).unwrap()).unwrap());
        said.after.chip_types[0].reference_price
    };
    assert_eq!(reference(&[]), Some(price("3.20")));
    assert_eq!(reference(&[Edit::Shared { chip_type: h100.clone(), chips: Chips(17) }]), Some(Price(0)));
    assert_eq!(
        reference(&[Edit::Owned { pool: a.clone(), chip_type: h100.clone(), chips: Chips(9) }]),
        Some(Price(0))
    );
    let floor = Edit::Reserve { chip_type: h100.clone(), price: price("4.00") };
    assert_eq!(reference(&[floor]), Some(price("4.00")));
    assert_eq!(reference(&[Edit::Weight { pool: a.clone(), weight: MicroCredits::ZERO }]), Some(Price(0)));
    assert_eq!(what_if(&snapshot, &[Edit::WithoutTeam(b.clone())]).unwrap().after.teams.len(), 1);

    let error = what_if(&snapshot, &[Edit::WithoutTeam(b.clone()), Edit::WithoutTeam(b)]).unwrap_err();
    assert_eq!(error.to_string(), "edits[1].team is \"b\", but no team of the snapshot has this id");
}
