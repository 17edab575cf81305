use super::*;
use crate::replay::demand::Choice;
use crate::trace::{Job, Trace};
use common::instant::Instant;

/// Two clusters of equal history, hence two pools of one team each, with two chips of the first type each.
fn organisation() -> Organisation {
    let job = |line, cluster| Job { line, cluster, chips: 1, seconds: 60, submitted_at: Instant(0) };
    let trace =
        Trace { name: "t".into(), clusters: vec!["a".into(), "b".into()], jobs: vec![job(2, 0), job(3, 1)] };
    let organisation = Organisation::of(&trace, 6);
    assert_eq!(organisation.supply(&organisation.chip_types[0].id), 4);
    organisation
}

fn grid(cycles: u32) -> Grid {
    Grid { from: Instant(0), cycle_seconds: 60, cycles }
}

fn job(arrives: u32, team: u16, chips: u32, min_chips: u32, cycles: u64) -> GridJob {
    GridJob {
        arrives,
        lead_seconds: 0,
        team,
        choices: vec![Choice { chip_type: 0, chips, min_chips }],
        limit: None,
        chip_seconds: u64::from(chips) * cycles * 60,
    }
}

fn run_with(jobs: &[GridJob], cycles: u32, owner: Owner, queue: Queue) -> StaticResult {
    run(&organisation(), jobs, grid(cycles), Variant { owner, queue })
}

#[test]
fn by_hand_strict_fifo_and_backfill() {
    // Team 0 has 2 chips. One chip for 4 cycles; then a gang of 2 for 2 cycles; then one chip for 1 cycle.
    let jobs = [job(0, 0, 1, 1, 4), job(1, 0, 2, 2, 2), job(1, 0, 1, 1, 1)];
    // Strict: 1 chip in cycles 0-3, the gang in 4-5, the last in 6.
    let fifo = run_with(&jobs, 10, Owner::Team, Queue::Fifo);
    assert_eq!(fifo.used.total(), 4 + 4 + 1);
    assert_eq!(fifo.service.completed, 3);
    assert_eq!((fifo.service.wait_seconds.p50, fifo.service.wait_seconds.p99), (3 * 60, 5 * 60));
    assert_eq!(fifo.service.completion_seconds.p99, 6 * 60);
    // With backfill the small job passes the gang: it runs in cycle 1.
    let backfill = run_with(&jobs, 10, Owner::Team, Queue::Backfill);
    assert_eq!(backfill.used.total(), fifo.used.total());
    assert_eq!((backfill.service.wait_seconds.p50, backfill.service.wait_seconds.p99), (0, 3 * 60));
    // After four cycles 4 + 1 chip-cycles are done and the gang waits.
    let short = run_with(&jobs, 4, Owner::Team, Queue::Backfill);
    assert_eq!(short.used.total(), 5);
    let service = &short.service;
    assert_eq!(
        (service.submitted, service.completed, service.still_running, service.still_waiting),
        (3, 2, 0, 1)
    );
}

#[test]
fn a_team_cannot_use_its_neighbours_idle_chips() {
    let jobs = [job(0, 0, 1, 1, 3), job(0, 0, 1, 1, 3), job(0, 0, 1, 1, 3)];
    let result = run_with(&jobs, 3, Owner::Team, Queue::Backfill);
    // Two of four chips work although a third job waits.
    assert_eq!(result.used.total(), 2 * 3);
    assert_eq!(result.service.still_waiting, 1);
}

#[test]
fn elastic_jobs_start_on_less_and_too_large_ones_are_set_aside() {
    // Wants 4, runs on 2: 8 chip-cycles of work take four cycles on the team's two chips.
    let elastic = run_with(&[job(0, 0, 4, 2, 2)], 10, Owner::Team, Queue::Fifo);
    assert_eq!((elastic.used.total(), elastic.service.completion_seconds.p50), (8, 4 * 60));
    // A gang of 4 never fits; what stands behind it still runs.
    let stranded = run_with(&[job(0, 0, 4, 4, 60), job(0, 0, 1, 1, 1)], 10, Owner::Team, Queue::Fifo);
    assert_eq!((stranded.stranded_jobs, stranded.stranded_chip_hours), (1, 4));
    assert_eq!((stranded.service.completed, stranded.service.still_waiting), (1, 1));
}
