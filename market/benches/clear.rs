//! How long a clearing takes, next to sorting as many `(limit, chips)` pairs in the same run.
//!
//! `cargo bench -p market`, or one size: `cargo bench -p market -- 1000000`.

use std::hint::black_box;
use std::time::Duration;

use criterion::{BatchSize, BenchmarkId, Criterion, criterion_group, criterion_main};

mod workload;
use workload::{Size, market, pairs};

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
            let market = market(size).expect("within the limits");
            group.bench_function(BenchmarkId::new(name, bids), |bench| {
                bench.iter_with_large_drop(|| black_box(&market).clear());
            });
        }
    }
    group.finish();
}

criterion_group!(benches, clear);
criterion_main!(benches);
