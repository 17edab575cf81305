use super::*;

use std::time::Duration;

use crate::clock::SettableClock;
use crate::cycle::{Clearing, clear_due};
use crate::services::live::Live;
use crate::services::organisation as organisations;
use crate::store::entities::Organisation;
use crate::store::{Place, bids as stored_bids};

/// A database of its own, gone with the test.
async fn store() -> (tempfile::TempDir, Store) {
    let folder = tempfile::tempdir().unwrap();
    let place = Place::Sqlite { path: folder.path().join("demo.sqlite"), durable: false };
    (folder, Store::open(&place).await.unwrap())
}

fn clock() -> SettableClock {
    SettableClock::new("2026-11-30T14:07:23Z".parse().unwrap())
}

fn args(hours: u32) -> DemoArgs {
    DemoArgs { history: hours * 3_600, ..DemoArgs::default() }
}

/// Clears the live cycles up to the clock's time as the loop would, the player beside it.
async fn live_cycles(demo: &Demo, store: &Store, clock: &SettableClock, cycles: u32) {
    let mut clearing = Clearing::new();
    for _ in 0..cycles {
        let (last, starts_at) = last_cycle(store).await.unwrap().unwrap();
        let state = crate::cycle::market_clock(&Organisation::default(), last, starts_at);
        let live = Live::new(state, None);
        let stop = CancellationToken::new();
        let play = demo.play(store, clock, live.subscribe(), &stop);
        // The player places the next cycle's bids at once; then it waits for the loop.
        let _ = tokio::time::timeout(Duration::from_millis(300), play).await;
        clock.advance_seconds(10);
        assert!(clear_due(store, &mut clearing, clock.now()).await.unwrap().is_some());
    }
}

#[tokio::test]
async fn history_is_cleared_and_the_clock_takes_over() {
    let ((_folder, store), clock) = (store().await, clock());
    let demo = prepare(&store, &clock, &args(3)).await.unwrap();
    let (last, starts_at) = last_cycle(&store).await.unwrap().unwrap();
    // Three hours back to a multiple of ten minutes, then every minute up to now.
    assert_eq!((last, starts_at.to_string()), (188, "2026-11-30T14:07:00Z".to_owned()));

    let mut tx = store.read().await.unwrap();
    let stretches = stored::stretches(&mut tx).await.unwrap();
    let paces: Vec<_> =
        stretches.iter().map(|s| (s.first_cycle, s.live, s.cycle_seconds, s.trace_seconds)).collect();
    assert_eq!(paces, [(1, false, 600, 600), (2, false, 60, 60), (189, true, 10, 60)]);
    let prices = results::prices(&mut tx, last, last, None).await.unwrap();
    assert_eq!(prices.iter().map(|row| row.supply.0).sum::<u64>(), 640);
    assert!(prices.iter().map(|row| row.paid.0).sum::<u64>() > 100, "{prices:?}");
    drop(tx);

    // The clock is some seconds past the last minute: with cycles of 10 s the first live one is due at once.
    let next_at = crate::cycle::newest_cycle(&store).await.unwrap().unwrap().clock.next_at;
    assert_eq!(next_at.to_string(), "2026-11-30T14:07:10Z");
    let first = clear_due(&store, &mut Clearing::new(), clock.now()).await.unwrap().unwrap();
    assert_eq!(first.clock.cleared_at.to_string(), "2026-11-30T14:07:20Z");
    assert!(first.cleared.snapshot.bids.len() > 20, "with its bids");

    live_cycles(&demo, &store, &clock, 3).await;
    assert_eq!(last_cycle(&store).await.unwrap().unwrap().0, 192);
    let report = crate::cycle::verify::verify(&store, None, None, |_, _| ()).await.unwrap();
    assert!(report.is_clean(), "{report}");
    assert_eq!(report.cycles, Some((1, 192)));
}

#[tokio::test]
async fn a_demo_goes_on_where_it_was_and_places_nothing_twice() {
    let ((_folder, store), clock) = (store().await, clock());
    prepare(&store, &clock, &args(1)).await.unwrap();
    let before = last_cycle(&store).await.unwrap();
    let demo = prepare(&store, &clock, &args(1)).await.unwrap();
    assert_eq!(last_cycle(&store).await.unwrap(), before, "nothing is cleared again");

    let next = before.unwrap().0 + 1;
    let place = async |cycles: std::ops::Range<u64>| {
        let mut tx = store.write().await.unwrap();
        let stretches = stored::stretches(&mut tx).await.unwrap();
        let bids_of = |cycle| demo.course.bids_of(&stretches, cycle).unwrap();
        let bids: Vec<_> = cycles.flat_map(bids_of).collect();
        let (count, clock) = (bids.len(), clock.now());
        let new = crate::services::bids::place_many(&mut tx, clock, bids).await.unwrap();
        tx.commit().await.unwrap();
        (count, new)
    };
    assert_eq!(place(next..next + 1).await.1, 0, "what the first live cycle plays is placed already");
    let (count, new) = place(next + 1..next + 60).await;
    assert!(count > 0 && new == count, "{new} of {count} are new");
    assert_eq!(place(next + 1..next + 60).await, (count, 0));
}

#[tokio::test]
async fn the_pace_changes_without_losing_work() {
    let ((_folder, store), clock) = (store().await, clock());
    prepare(&store, &clock, &args(1)).await.unwrap();
    let work = async |cycle| {
        let mut tx = store.read().await.unwrap();
        let bids = stored_bids::in_cycle(&mut tx, cycle).await.unwrap();
        bids.iter().filter_map(|bid| bid.terms.work_chip_seconds).sum::<u64>()
    };
    clock.advance_seconds(10);
    let mut clearing = Clearing::new();
    let cleared = clear_due(&store, &mut clearing, clock.now()).await.unwrap().unwrap();
    let at_six = work(cleared.clock.cycle).await;

    let faster = DemoArgs { speed: 12, ..args(1) };
    prepare(&store, &clock, &faster).await.unwrap();
    clock.advance_seconds(10);
    let cleared = clear_due(&store, &mut clearing, clock.now()).await.unwrap().unwrap();
    let at_twelve = work(cleared.clock.cycle).await;
    // Twice as fast: what is left takes half as long. What is done counts in full, and is little after so short a time.
    assert!(at_twelve * 2 > at_six && at_twelve * 10 < at_six * 6, "{at_six} then {at_twelve}");
}

#[tokio::test]
async fn another_organisation_is_left_alone() {
    let ((_folder, store), clock) = (store().await, clock());
    let mut tx = store.write().await.unwrap();
    let setup = Setup {
        organisation: Organisation::default(),
        chip_types: Vec::new(),
        pools: Vec::new(),
        owned: Vec::new(),
        teams: Vec::new(),
    };
    let new = organisations::NewOrganisation { setup, grants: Vec::new() };
    organisations::create(&mut tx, clock.now(), &new).await.unwrap();
    tx.commit().await.unwrap();
    let error = prepare(&store, &clock, &args(1)).await.unwrap_err();
    assert!(error.to_string().contains("not a demo's, and is left as it is"), "{error}");
    assert_eq!(last_cycle(&store).await.unwrap(), None);
}

#[tokio::test]
async fn a_demo_keeps_its_trace_and_its_size() {
    let ((_folder, store), clock) = (store().await, clock());
    prepare(&store, &clock, &args(0)).await.unwrap();
    for (other, words) in [
        (DemoArgs { trace: "ours".into(), ..args(0) }, "holds a demo of the trace \"philly\""),
        (DemoArgs { chips: Some(100), ..args(0) }, "holds a demo of 640 chips"),
    ] {
        let error = prepare(&store, &clock, &other).await.unwrap_err();
        assert!(error.to_string().contains(words), "{error}");
    }
    let missing = DemoArgs { trace: "ours".into(), ..args(0) };
    let (_other_folder, fresh) = self::store().await;
    let error = prepare(&fresh, &clock, &missing).await.unwrap_err();
    assert!(error.to_string().contains("there is no trace \"ours\"; there is philly"), "{error}");
}

#[test]
fn history_is_hours_or_days() {
    assert_eq!(parse_history("15d"), Ok(1_296_000));
    assert_eq!(parse_history("6h"), Ok(21_600));
    assert!(parse_history("57d").unwrap_err().contains("the most is 56d"));
    assert!(parse_history("15").unwrap_err().contains("write it like"));
}
