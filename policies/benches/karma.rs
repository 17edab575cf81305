//! Karma per quantum, batched and literal, at growing numbers of users: the batched form grows as n log n.
#![expect(clippy::unwrap_used, reason = "a benchmark stops at the first surprise")]

use criterion::{BatchSize, BenchmarkId, Criterion, criterion_group, criterion_main};
use policies::karma::{Quantum, quantum};
use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;

#[path = "../tests/it/literal.rs"]
mod literal;

const OF: Quantum = Quantum { fair_share: 10, guaranteed: 5, remainder: 0 };

fn state(users: usize) -> (Vec<i64>, Vec<u64>) {
    let mut random = ChaCha8Rng::seed_from_u64(users as u64);
    let credits = (0..users).map(|_| random.random_range(0..1_000)).collect();
    (credits, (0..users).map(|_| random.random_range(0..25)).collect())
}

fn karma(criterion: &mut Criterion) {
    let mut group = criterion.benchmark_group("karma");
    group.sample_size(10);
    for users in [100, 1_000, 10_000, 1_000_000] {
        let (credits, demand) = state(users);
        group.bench_with_input(BenchmarkId::new("batched", users), &users, |bencher, _| {
            bencher.iter_batched(
                || credits.clone(),
                |mut credits| quantum(&mut credits, &demand, OF),
                BatchSize::LargeInput,
            );
        });
        // Slice by slice a quantum of 10,000 users takes seconds, and of a million weeks.
        if users <= 10_000 {
            group.bench_with_input(BenchmarkId::new("literal", users), &users, |bencher, _| {
                bencher.iter_batched(
                    || credits.clone(),
                    |mut credits| literal::literal(&mut credits, &demand, OF),
                    BatchSize::PerIteration,
                );
            });
        }
    }
    group.finish();
}

criterion_group!(benches, karma);
criterion_main!(benches);
