//! A market large enough to be cleared on several cores, made of small ones that have nothing to do with each other:
//! each part must come out as it does alone.

use common::ids::{BidId, ChipTypeId, PoolId, TeamId};
use market::{Outcome, Snapshot, run_auction};
use rand::SeedableRng;
use rand_chacha::ChaCha8Rng;

use crate::random::{Scale, market, more_bids};
use crate::support::empty;

/// The market with a prefix to every id, so that it can stand beside others.
fn prefixed(snapshot: &Snapshot, nth: usize) -> Snapshot {
    let json = snapshot.canonical_json();
    let mut snapshot: Snapshot = serde_json::from_str(&json).unwrap();
    let name = |id: &str| format!("m{nth:03}-{id}");
    let chip_type = |id: &mut ChipTypeId| *id = ChipTypeId::new(name(id.as_str())).unwrap();
    let team = |id: &mut TeamId| *id = TeamId::new(name(id.as_str())).unwrap();
    let pool = |id: &mut PoolId| *id = PoolId::new(name(id.as_str())).unwrap();
    snapshot.chip_types.iter_mut().for_each(|row| chip_type(&mut row.id));
    for row in &mut snapshot.pools {
        pool(&mut row.id);
        row.owned.iter_mut().for_each(|owned| chip_type(&mut owned.chip_type));
        row.last_prices.iter_mut().for_each(|last| chip_type(&mut last.chip_type));
    }
    for row in &mut snapshot.teams {
        team(&mut row.id);
        pool(&mut row.pool);
    }
    for row in &mut snapshot.bids {
        row.id = BidId::new(name(row.id.as_str())).unwrap();
        team(&mut row.team);
        row.alternatives.iter_mut().for_each(|alternative| chip_type(&mut alternative.chip_type));
        row.held.iter_mut().for_each(chip_type);
    }
    snapshot
}

#[test]
fn a_market_of_many_separate_ones_clears_as_each_does_alone() {
    let mut rng = ChaCha8Rng::seed_from_u64(77);
    let mut whole = empty(5);
    let mut expected = Outcome {
        cycle: whole.cycle,
        time: whole.time,
        chip_types: Vec::new(),
        teams: Vec::new(),
        bids: Vec::new(),
    };
    for nth in 0.. {
        let mut part = market(&mut rng, Scale::Credits);
        (part.cycle, part.sustain_minutes) = (whole.cycle, whole.sustain_minutes);
        more_bids(&mut rng, &mut part, Scale::Credits, 150);
        let part = prefixed(&part, nth);
        let outcome = run_auction(&part).unwrap();
        expected.chip_types.extend(outcome.chip_types);
        expected.teams.extend(outcome.teams);
        expected.bids.extend(outcome.bids);
        whole.chip_types.extend(part.chip_types);
        whole.pools.extend(part.pools);
        whole.teams.extend(part.teams);
        whole.bids.extend(part.bids);
        if whole.bids.len() > 70_000 {
            break;
        }
    }
    // Not `assert_eq`: a difference would print everything.
    assert!(run_auction(&whole).unwrap() == expected);
}
