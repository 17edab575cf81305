//! How long a clearing takes, next to sorting as many `(limit, chips)` pairs in the same run.
//!
//! `cargo bench -p market`, or one size: `cargo bench -p market -- 1000000`.

use std::cell::OnceCell;
use std::hint::black_box;
use std::time::Duration;

use common::money::Price;
use criterion::{BatchSize, BenchmarkId, Criterion, criterion_group, criterion_main};
use market::{Market, SnapshotError};
use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;

mod workload;
use workload::{CREDIT, Size, build, wish};

/// The pairs that sorting is measured on: one for each bid.
fn pairs(bids: u32) -> Vec<(u64, u64)> {
    let mut rng = ChaCha8Rng::seed_from_u64(11);
    (0..bids)
        .map(|_| wish(&mut rng))
        .map(|(limit, chips)| (limit.map_or(u64::MAX, |limit| limit.0), chips))
        .collect()
}

/// A market as one finds it in a running organisation: its last prices are those at which the same bids cleared,
/// moved by up to 3 %. About half of what is asked for at those prices is there.
fn market(size: Size) -> Result<Market, SnapshotError> {
    let mut prices = vec![vec![Price(5 * CREDIT); size.chip_types as usize]; size.pools as usize];
    let mut rng = ChaCha8Rng::seed_from_u64(12);
    for _ in 0..3 {
        let (market, pools, chip_types) = build(size, &prices)?;
        let cleared = market.clear();
        for (pool, prices) in pools.iter().zip(&mut prices) {
            for (chip_type, price) in chip_types.iter().zip(prices) {
                let new = cleared.pool_price(&market, *pool, *chip_type).unwrap_or(*price);
                *price = Price(new.0 / 100 * rng.random_range(97..=103));
            }
        }
    }
    build(size, &prices).map(|(market, ..)| market)
}

fn clear(criterion: &mut Criterion) {
    let mut group = criterion.benchmark_group("clear");
    group.sample_size(10).warm_up_time(Duration::from_millis(500)).measurement_time(Duration::from_secs(2));
    for bids in [1_000, 10_000, 100_000, 1_000_000] {
        let unsorted = pairs(bids);
        group.bench_function(BenchmarkId::new("sort_unstable", bids), |bench| {
            let sort = |mut pairs: Vec<(u64, u64)>| {
                pairs.sort_unstable();
                pairs
            };
            bench.iter_batched(|| unsorted.clone(), sort, BatchSize::LargeInput);
        });
        let sizes = [
            ("1 chip type", Size::of(bids, 1)),
            ("20 chip types", Size::of(bids, 20)),
            ("20 chip types, 1 bid in 10 flexible", Size { flexible_one_in: 10, ..Size::of(bids, 20) }),
        ];
        for (name, size) in sizes {
            let size = Size { teams: size.teams.max(50), ..size };
            // Made only where it is measured: the large ones take seconds.
            let made = OnceCell::new();
            group.bench_function(BenchmarkId::new(name, bids), |bench| {
                let market = made.get_or_init(|| market(size).expect("within the limits"));
                bench.iter_with_large_drop(|| black_box(market).clear());
            });
        }
    }
    group.finish();
}

criterion_group!(benches, clear);
criterion_main!(benches);
