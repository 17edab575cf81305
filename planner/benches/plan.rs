//! The forecast behind a plan for one job, and the cheap ones of a tick of the simulator.
#![expect(clippy::unwrap_used, reason = "a benchmark stops at the first surprise")]

use criterion::{Criterion, criterion_group, criterion_main};
use planner::curves::Task;
use planner::forecast::{Effort, Job};
use planner::predict::shipped;
use rand::SeedableRng;
use rand_chacha::ChaCha8Rng;

fn plan(criterion: &mut Criterion) {
    let mut random = ChaCha8Rng::seed_from_u64(1);
    let tasks: Vec<Task> = (0..100).map(|_| Task::draw_training(&mut random)).collect();
    let jobs: Vec<Job<'_>> = tasks.iter().map(|task| Job { log: &task.log, target: task.target }).collect();
    let predictor = shipped().unwrap();
    let mut group = criterion.benchmark_group("plan");
    group.sample_size(10);
    group.bench_function("one job", |bencher| {
        bencher.iter(|| predictor.forecast_all(&jobs[..1], Effort::FULL, 1).unwrap());
    });
    group.bench_function("100 jobs, cheap", |bencher| {
        bencher.iter(|| predictor.forecast_all(&jobs, Effort::CHEAP, 1).unwrap());
    });
    group.bench_function("load the weights", |bencher| bencher.iter(|| shipped().unwrap()));
    group.finish();
}

criterion_group!(benches, plan);
criterion_main!(benches);
