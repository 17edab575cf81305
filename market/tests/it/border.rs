//! What is refused, and in which words: the field's path, what it holds, what is allowed.

use common::chips::{Chips, MAX_CHIPS};
use common::money::{MAX_MICROS, MicroCredits, Price};
use market::snapshot::{Lending, OwnedChips};
use market::{Snapshot, run_auction};

use crate::random::{Scale, each_market};
use crate::support::{any, bid, chip_type, credits, empty, pool, team};

fn small() -> Snapshot {
    let mut snapshot = empty(1);
    snapshot.chip_types.push(chip_type("H100", 8));
    snapshot.pools.push(pool("k", "10.00", &[("H100", 1)]));
    snapshot.teams.push(team("t", "k", "10.00"));
    snapshot.bids.push(bid("b", "t", any("H100", 4, 1), Some("1.00")));
    snapshot
}

fn refused(edit: impl FnOnce(&mut Snapshot), text: &str) {
    let mut snapshot = small();
    edit(&mut snapshot);
    assert_eq!(run_auction(&snapshot).unwrap_err().to_string(), text);
}

#[test]
fn numbers_outside_their_limits_are_named() {
    let most = "9007199254.740991";
    let over = MAX_MICROS + 1;
    refused(|s| s.sustain_minutes = 0, "sustain_minutes is 0; the least is 1");
    refused(|s| s.sustain_minutes = 100_001, "sustain_minutes is 100001; the most is 100000");
    refused(
        |s| s.chip_types[0].shared = Chips(1 << 40),
        "chip_types[0].shared is 1099511627776; the most is 4294967295",
    );
    refused(
        |s| s.pools[0].owned[0].chips = Chips(MAX_CHIPS + 1),
        "pools[0].owned[0].chips is 4294967296; the most is 4294967295",
    );
    refused(
        |s| s.pools[0].lending = Lending::AtMost(Chips(1 << 40)),
        "pools[0].lending.at_most is 1099511627776; the most is 4294967295",
    );
    refused(|s| s.pools[0].weight = credits("-1"), "pools[0].weight is -1.00; the least is 0.00");
    refused(
        |s| s.pools[0].weight = MicroCredits(over),
        &format!("pools[0].weight is 9007199254.740992; the most is {most}"),
    );
    refused(|s| s.teams[0].income = credits("-1"), "teams[0].income is -1.00; the least is 0.00");
    refused(
        |s| s.teams[0].balance = MicroCredits(-over),
        &format!("teams[0].balance is -9007199254.740992; the least is -{most}"),
    );
    refused(
        |s| s.teams[0].leverage_thousandths = 1_000_001,
        "teams[0].leverage_thousandths is 1000001; the most is 1000000",
    );
    refused(
        |s| s.bids[0].limit = Some(Price(over.unsigned_abs())),
        &format!("bids[0].limit is 9007199254.740992; the most is {most}"),
    );
    refused(
        |s| s.bids[0].alternatives[0].chips = Chips(1 << 40),
        "bids[0].alternatives[0].chips is 1099511627776; the most is 4294967295",
    );
    refused(
        |s| s.bids[0].alternatives[0].chips = Chips(0),
        "bids[0].alternatives[0].chips is 0; the least is 1",
    );
    refused(
        |s| s.bids[0].alternatives[0].min_chips = Chips(0),
        "bids[0].alternatives[0].min_chips is 0; the least is 1",
    );
    refused(
        |s| s.bids[0].alternatives[0].min_chips = Chips(5),
        "bids[0].alternatives[0].min_chips is 5; the most is 4, the bid's chips",
    );
    refused(|s| s.bids[0].alternatives.clear(), "bids[0].alternatives is empty; a bid has at least one");
}

#[test]
fn sums_that_an_amount_cannot_hold_are_refused_at_the_border() {
    refused(
        |s| {
            s.teams.push(team("u", "k", "1.00"));
            s.teams[1].income = MicroCredits(MAX_MICROS);
        },
        "teams[1].income brings the incomes of its pool to 9007199264.740991 credits per hour; the most is \
         9007199254.740991",
    );
    refused(
        |s| {
            s.teams[0].income = MicroCredits(MAX_MICROS);
            s.teams[0].leverage_thousandths = 2_000;
        },
        "teams[0].leverage_thousandths is 2000, which lets the team bid more than 9007199254.740991 credits per hour",
    );
    refused(
        |s| {
            s.pools[0].weight = MicroCredits(MAX_MICROS);
            s.teams[0].leverage_thousandths = 2_000;
            s.teams[0].balance = MicroCredits(MAX_MICROS);
        },
        "teams[0].leverage_thousandths lets the teams of its pool together bid more than 9007199254.740991 global \
         credits per hour",
    );
}

#[test]
fn ids_that_repeat_or_name_nothing_are_refused() {
    let owned = |id: &str| OwnedChips { chip_type: id.parse().unwrap(), chips: Chips(1) };
    refused(
        |s| s.chip_types.push(chip_type("H100", 1)),
        "chip_types[1].id is \"H100\", which is given twice",
    );
    refused(|s| s.pools.push(pool("k", "1.00", &[])), "pools[1].id is \"k\", which is given twice");
    refused(|s| s.teams.push(team("t", "k", "1.00")), "teams[1].id is \"t\", which is given twice");
    refused(|s| s.bids.push(s.bids[0].clone()), "bids[1].id is \"b\", which is given twice");
    refused(
        |s| s.pools[0].owned.push(owned("H100")),
        "pools[0].owned[1].chip_type is \"H100\", which is given twice",
    );
    refused(
        |s| s.pools[0].owned[0] = owned("H200"),
        "pools[0].owned[0].chip_type is \"H200\", but no chip type of the snapshot has this id",
    );
    refused(
        |s| s.teams[0].pool = "x".parse().unwrap(),
        "teams[0].pool is \"x\", but no pool of the snapshot has this id",
    );
    refused(
        |s| s.bids[0].team = "x".parse().unwrap(),
        "bids[0].team is \"x\", but no team of the snapshot has this id",
    );
    refused(
        |s| s.bids[0].alternatives.push(any("H100", 1, 1)),
        "bids[0].alternatives[1].chip_type is \"H100\", which is given twice",
    );
    refused(
        |s| s.bids[0].alternatives = vec![any("gone", 1, 1), any("gone", 2, 1)],
        "bids[0].alternatives[1].chip_type is \"gone\", which is given twice",
    );
}

#[test]
fn the_largest_of_everything_clears_without_overflow() {
    let mut snapshot = empty(u64::MAX);
    snapshot.sustain_minutes = 1;
    snapshot.chip_types.push(chip_type("H100", MAX_CHIPS));
    for id in ["a", "b"] {
        snapshot.pools.push(pool(id, "0.00", &[("H100", MAX_CHIPS)]));
        snapshot.pools.last_mut().unwrap().weight = MicroCredits(MAX_MICROS);
        let mut rich = team(id, id, "0.00");
        rich.income = MicroCredits(MAX_MICROS);
        rich.balance = MicroCredits(MAX_MICROS);
        snapshot.teams.push(rich);
        for nth in 0..4 {
            let mut bid = bid(&format!("{id}{nth}"), id, any("H100", MAX_CHIPS, MAX_CHIPS), None);
            bid.limit = (nth > 1).then_some(Price(MAX_MICROS.unsigned_abs()));
            bid.position = u64::MAX;
            snapshot.bids.push(bid);
        }
    }
    let outcome = run_auction(&snapshot).unwrap();
    assert_eq!(outcome.chip_types[0].granted, Chips(3 * MAX_CHIPS));
    let json = outcome.canonical_json();
    assert_eq!(serde_json::from_str::<market::Outcome>(&json).unwrap(), outcome);
}

#[test]
fn amounts_of_any_size_clear_or_are_refused_and_never_overflow() {
    let cleared = std::cell::Cell::new(0);
    each_market(4_000, Scale::Any, |_, snapshot| {
        // The engine's own assertions of the invariants, and overflow checks, stop the test where something is wrong.
        if let Ok(outcome) = run_auction(&snapshot) {
            let json = outcome.canonical_json();
            assert_eq!(serde_json::from_str::<market::Outcome>(&json).unwrap(), outcome);
            cleared.set(cleared.get() + 1);
        }
    });
    assert!(cleared.get() > 1_000, "{} markets cleared", cleared.get());
}
