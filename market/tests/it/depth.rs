//! The bid book against demand computed by hand.

use market::{Market, run_auction};

use crate::exhaustive::sides;
use crate::random::{Scale, each_market};
use crate::support::{any, bid, chip_type, empty, pool, price, team};

#[test]
fn levels_are_the_demand_at_their_price() {
    for (scale, levels) in [(Scale::Ticks, 8), (Scale::Credits, 40)] {
        each_market(1_000, scale, |_, snapshot| {
            let outcome = run_auction(&snapshot).unwrap();
            let market = Market::build(&snapshot).unwrap();
            let clearing = market.clear();
            for (chip_type, said) in snapshot.chip_types.iter().zip(&outcome.chip_types) {
                let sides = sides(&snapshot, &outcome, &chip_type.id);
                let depth = clearing.depth(&market, &chip_type.id, levels);
                assert!(depth.len() <= levels);
                assert!(depth.is_sorted_by(|a, b| a.price > b.price));
                let mut above = 0;
                for level in &depth {
                    let asks: u64 = sides.iter().map(|side| side.asks(level.price.0)).sum();
                    assert_eq!(level.cumulative.0, asks, "demand at {}", level.price);
                    assert_eq!(level.cumulative.0, above + level.chips.0);
                    above = asks;
                }
                assert_eq!(above, said.asked.0, "the lowest level is all that is asked for");
                let highest = depth.first().map_or(0, |level| level.price.0 + 1);
                assert!(sides.iter().all(|side| side.asks(highest) == 0));
            }
        });
    }
}

#[test]
fn steps_survive_thinning() {
    let mut snapshot = empty(1);
    snapshot.chip_types.push(chip_type("H100", 10));
    snapshot.pools.push(pool("k", "1000000.00", &[]));
    for nth in 0..300 {
        let id = format!("t{nth:03}");
        snapshot.teams.push(team(&id, "k", "1000.00"));
        snapshot.bids.push(bid(&id, &id, any("H100", 1, 1), Some(&format!("{}.00", 1 + nth % 3))));
    }
    snapshot.pools[0].weight = "300000.00".parse().unwrap();
    let market = Market::build(&snapshot).unwrap();
    let depth = market.clear().depth(&market, &snapshot.chip_types[0].id, 12);
    for (at, chips) in [("3.00", 100), ("2.00", 200), ("1.00", 300)] {
        let level = depth.iter().find(|level| level.price == price(at)).unwrap();
        assert_eq!(level.cumulative.0, chips);
    }
}
