//! What a tick of 64 nodes and 200 jobs costs the policy.
#![expect(clippy::unwrap_used, reason = "a benchmark stops at the first surprise")]

use criterion::{BatchSize, Criterion, criterion_group, criterion_main};
use planner::nodes::Allocator;
use planner::nodes::baselines::EarliestDeadline;
use planner::nodes::mara::{Mara, shipped};
use planner::nodes::simulation::{Setting, Simulation};

/// A tick with 200 active jobs, and the one after it, in which those that had nodes have new losses.
fn ticks() -> [Simulation; 2] {
    let mut now = Simulation::new(Setting { nodes: 64, load: 3.0, ..Setting::default() }, 1);
    loop {
        let nodes = EarliestDeadline.allocate(&now).unwrap();
        let before = now.clone();
        now.step(&nodes);
        if before.active.len() >= 200 && now.active.len() >= 200 {
            return [before, now].map(|mut tick| {
                tick.active.truncate(200);
                tick
            });
        }
    }
}

fn nodes(criterion: &mut Criterion) {
    let (trained, _) = shipped().unwrap();
    let [before, now] = ticks();
    let mut group = criterion.benchmark_group("nodes");
    group.sample_size(20);
    let known = || {
        let mut mara = Mara::new(&trained.policy, &trained.predictor);
        mara.allocate(&before).unwrap();
        mara
    };
    group.bench_function("MARA, 64 nodes, 200 jobs", |bencher| {
        bencher.iter_batched(known, |mut mara| mara.allocate(&now).unwrap(), BatchSize::LargeInput);
    });
    group.finish();
}

criterion_group!(benches, nodes);
criterion_main!(benches);
