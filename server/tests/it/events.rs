//! Server events: resumed without a gap and without a duplicate.

use common::api::Stale;
use serde_json::json;

use crate::app::TestApp;
use crate::fixture::START;

/// The cycle of the book of A100, the chips that pools ask for, and those that its levels show.
async fn book(app: &TestApp) -> (u64, u64, u64) {
    let book = app.get("/api/v1/chip-types/A100/book").await.json();
    let sum = |list: &str, field: &str| -> u64 {
        book[list].as_array().expect("rows").iter().map(|row| row[field].as_u64().expect("chips")).sum()
    };
    (book["clock"]["cycle"].as_u64().expect("a cycle"), sum("by_pool", "asked"), sum("levels", "chips"))
}

/// Streams that came back after missing cycles, of all servers in this process.
async fn resumed(app: &TestApp) -> u64 {
    let text = app.get("/metrics").await.body;
    let name = "quota_marketplace_event_streams_resumed_total ";
    text.lines().find_map(|line| line.strip_prefix(name)).map_or(0, |count| count.parse().expect("a count"))
}

#[tokio::test]
async fn t112_t113_a_dropped_stream_resumes_without_a_gap_or_a_duplicate() {
    let mut app = TestApp::with_bids().await;
    app.clear_many(3).await;
    assert_eq!(book(&app).await, (3, 80, 80));
    let mut events = app.events(None).await;
    assert_eq!(events.cycles(1).await, [3], "a new stream begins with the cycle in force");
    app.clear().await;
    assert_eq!(events.cycles(1).await, [4]);
    drop(events);
    let cancelled = json!({"bids": ["c"], "change": "cancel"});
    let outsider = app.outsider().await;
    assert_eq!(outsider.json("POST", "/api/v1/teams/ads/bids/changes", &cancelled).await.status, 200);
    app.clear_many(5).await;
    let before = resumed(&app).await;
    let mut events = app.events(Some(4)).await;
    assert_eq!(events.cycles(5).await, [5, 6, 7, 8, 9], "what was missed comes once, in order");
    assert!(resumed(&app).await > before, "a gap is counted");
    assert_eq!(book(&app).await, (9, 60, 60), "the book of that cycle has no level of the cancelled bid");
    app.clear().await;
    assert_eq!(events.cycles(1).await, [10], "then it goes on live");
    // The last event and the page say the same: what a client re-reads is the state the events led to.
    let market = app.get("/api/v1/market").await.json();
    assert_eq!(market["clock"]["cycle"], 10);
}

#[tokio::test]
async fn a_missed_cycle_is_told_with_its_own_times() {
    let mut app = TestApp::with_bids().await;
    app.clear_many(3).await;
    let mut events = app.events(Some(1)).await;
    let (second, third) = (events.next().await.unwrap().clock, events.next().await.unwrap().clock);
    assert_eq!((second.cycle, third.cycle), (2, 3));
    assert_eq!(second.next_at, third.cleared_at);
    assert_eq!(second.cleared_at, third.cleared_at.plus_seconds(-60));
}

#[tokio::test]
async fn a_slow_reader_gets_every_cycle() {
    let mut app = TestApp::with_bids().await;
    app.clear().await;
    let mut events = app.events(None).await;
    assert_eq!(events.cycles(1).await, [1]);
    app.clear_many(6).await;
    assert_eq!(events.cycles(6).await, [2, 3, 4, 5, 6, 7]);
}

#[tokio::test]
async fn t113_too_many_missed_or_a_number_from_elsewhere_resets() {
    let mut app = TestApp::with_bids().await;
    app.clear_many(125).await;
    for last in [2, 999] {
        let before = resumed(&app).await;
        let mut events = app.events(Some(last)).await;
        let event = events.next().await.unwrap();
        let cycle = event.clock.cycle;
        assert_eq!((event.kind.as_str(), event.id), ("reset", Some(cycle)), "{last}");
        assert!(resumed(&app).await > before, "a gap is counted");
        assert_eq!(app.clear().await, cycle + 1);
        assert_eq!(events.cycles(1).await, [cycle + 1], "then it goes on live");
    }
}

#[tokio::test]
async fn trouble_and_recovery_are_told() {
    let mut app = TestApp::with_bids().await;
    app.clear().await;
    let mut events = app.events(None).await;
    assert_eq!(events.cycles(1).await, [1]);
    app.live.in_trouble(Stale { since: START, reason: "the disk is full".to_owned() });
    let event = events.next().await.unwrap();
    assert_eq!((event.kind.as_str(), event.id), ("stale", None));
    assert_eq!(event.clock.stale.unwrap().reason, "the disk is full");
    let ready = app.get("/readyz").await;
    assert_eq!((ready.status.as_u16(), ready.json()["status"].as_str()), (200, Some("stale")));
    app.clear().await;
    assert_eq!(events.cycles(1).await, [2]);
    let event = events.next().await.unwrap();
    assert_eq!((event.kind.as_str(), event.clock.stale), ("stale", None));
    assert_eq!(app.get("/readyz").await.json()["status"], "ready");
}

#[tokio::test]
async fn streams_end_at_shutdown() {
    let mut app = TestApp::with_bids().await;
    app.clear().await;
    let mut events = app.events(None).await;
    assert_eq!(events.cycles(1).await, [1]);
    app.shutdown.cancel();
    assert_eq!(events.next().await, None);
}

#[tokio::test]
async fn a_last_event_id_that_is_no_number_is_refused() {
    let app = TestApp::new().await;
    let request = axum::http::Request::get("/api/v1/events").header("last-event-id", "x");
    let answer = app.send(request.body(axum::body::Body::empty()).unwrap()).await;
    assert_eq!(answer.status, 422);
    assert_eq!(answer.json()["errors"][0]["field"], "Last-Event-ID");
}
