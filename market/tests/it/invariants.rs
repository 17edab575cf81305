//! The invariants of the mechanism on random markets.

use market::run_auction;
use rand::seq::SliceRandom;

use crate::random::{Scale, each_market};

const MARKETS: u64 = 2_000;

#[test]
fn i09_permutation_changes_nothing_and_replay_is_byte_identical() {
    for scale in [Scale::Ticks, Scale::Credits] {
        each_market(MARKETS, scale, |rng, snapshot| {
            let outcome = run_auction(&snapshot).unwrap().canonical_json();
            assert_eq!(outcome, run_auction(&snapshot).unwrap().canonical_json());
            let mut shuffled = snapshot.clone();
            shuffled.chip_types.shuffle(rng);
            shuffled.pools.shuffle(rng);
            shuffled.teams.shuffle(rng);
            shuffled.bids.shuffle(rng);
            for pool in &mut shuffled.pools {
                pool.owned.shuffle(rng);
                pool.last_prices.shuffle(rng);
            }
            assert_eq!(snapshot.canonical_json(), shuffled.canonical_json());
            assert_eq!(outcome, run_auction(&shuffled).unwrap().canonical_json());
        });
    }
}
