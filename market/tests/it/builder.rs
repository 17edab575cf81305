//! Markets made from rows, and results read by the builder's indices, against the snapshot and the outcome.

use std::collections::HashMap;

use market::{AlternativeInput, BidInput, MarketBuilder, Snapshot, run_auction};
use rand::seq::SliceRandom;

use crate::random::{Scale, each_market};

#[test]
fn rows_in_any_order_clear_like_the_snapshot_and_results_are_found_again() {
    each_market(1_000, Scale::Ticks, |rng, mut snapshot| {
        let outcome = run_auction(&snapshot).unwrap();
        snapshot.chip_types.shuffle(rng);
        snapshot.pools.shuffle(rng);
        snapshot.teams.shuffle(rng);
        snapshot.bids.shuffle(rng);
        check(&snapshot, &outcome);
    });
}

fn check(snapshot: &Snapshot, outcome: &market::Outcome) {
    let mut builder = MarketBuilder::new(snapshot.cycle, snapshot.time, snapshot.sustain_minutes).unwrap();
    let chip_types: HashMap<_, _> = snapshot
        .chip_types
        .iter()
        .map(|row| {
            (row.id.clone(), builder.chip_type(row.id.clone(), row.shared, row.reserve_price).unwrap())
        })
        .collect();
    let mut pools = HashMap::new();
    for row in &snapshot.pools {
        let pool = builder.pool(row.id.clone(), row.weight, row.lending).unwrap();
        for owned in &row.owned {
            builder.owned(pool, chip_types[&owned.chip_type], owned.chips).unwrap();
        }
        for last in &row.last_prices {
            builder.last_price(pool, chip_types[&last.chip_type], last.price).unwrap();
        }
        pools.insert(row.id.clone(), pool);
    }
    let mut teams = HashMap::new();
    for row in &snapshot.teams {
        let pool = pools[&row.pool];
        let team = builder.team(row.id.clone(), pool, row.income, row.balance, row.leverage_thousandths);
        teams.insert(row.id.clone(), team.unwrap());
    }
    for row in &snapshot.bids {
        let alternatives: Vec<_> = row
            .alternatives
            .iter()
            .map(|alternative| AlternativeInput {
                chip_type: Some(chip_types[&alternative.chip_type]),
                chips: alternative.chips,
                min_chips: alternative.min_chips,
            })
            .collect();
        let held = row
            .held
            .as_ref()
            .and_then(|held| row.alternatives.iter().position(|alternative| alternative.chip_type == *held));
        let bid = BidInput {
            id: row.id.clone(),
            team: teams[&row.team],
            position: row.position,
            limit: row.limit,
            not_before: row.not_before,
            not_after: row.not_after,
            held,
        };
        builder.bid(bid, &alternatives).unwrap();
    }
    let market = builder.build().unwrap();
    let clearing = market.clear();
    assert_eq!(clearing.outcome(&market), *outcome);

    for said in &outcome.chip_types {
        let totals = clearing.chip_type(&market, chip_types[&said.id]);
        assert_eq!(
            (totals.reference_price, totals.supply, totals.asked, totals.granted, totals.used),
            (said.reference_price, said.supply, said.asked, said.granted, said.used)
        );
        for pool in &said.pools {
            let (k, r) = (pools[&pool.id], chip_types[&said.id]);
            assert_eq!(clearing.pool_price(&market, k, r), pool.price);
            assert_eq!(clearing.local_price(&market, k, r), pool.local_price);
        }
    }
    for said in &outcome.teams {
        for market_said in &said.markets {
            let totals = clearing.team(&market, teams[&said.id], chip_types[&market_said.chip_type]);
            assert_eq!(
                (totals.rate, totals.asked, totals.quota, totals.used),
                (market_said.rate, market_said.asked, market_said.quota, market_said.used)
            );
        }
    }
    for (said, result) in outcome.bids.iter().zip(clearing.bids(&market)) {
        let row = &snapshot.bids[result.nth];
        assert_eq!((&said.id, said.chips, said.reason), (&row.id, result.chips, result.reason));
        let chosen = result.alternative.map(|nth| &row.alternatives[nth].chip_type);
        assert_eq!(said.chip_type.as_ref(), chosen);
    }
}
