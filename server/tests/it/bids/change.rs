//! Changes of several bids: their order, pauses, ends; all or none.

use common::api::{BidChange, BidFilter, BidStatus, ChangeBids, MoveBids};
use serde_json::json;
use server::error::ErrorKind;

use super::*;

async fn with_four(app: &TestApp) {
    for bid in ["a", "b", "c", "d"] {
        place(app.services(), &sam(), "speech", bid, wire_terms("A100", 4, "none")).await;
    }
}

#[tokio::test]
async fn a_queue_is_put_in_another_order_from_the_next_cycle_on() {
    for mut app in apps().await {
        with_four(&app).await;
        app.clear().await;
        let services = std::sync::Arc::clone(app.services());
        let go = async |bids: &[&str], before: Option<&str>| {
            let bids = bids.iter().map(|bid| id(bid)).collect();
            let change = MoveBids { team: team("speech"), bids, before: before.map(id) };
            services.move_bids(&sam(), change).await
        };
        let moved = go(&["d", "b"], Some("a")).await.unwrap();
        assert_eq!((moved.changed.len(), moved.effective_cycle), (2, 2));
        assert_eq!(queue_of(&services, &sam(), "speech").await, ["d", "b", "a", "c"]);
        assert!(go(&["d", "b"], Some("a")).await.unwrap().changed.is_empty(), "it stands so already");
        go(&["d"], None).await.unwrap();
        assert_eq!(queue_of(&services, &sam(), "speech").await, ["b", "a", "c", "d"]);
        app.clear().await;
        let cleared = app.live.subscribe().borrow().cleared.clone().unwrap();
        let order: Vec<&str> = cleared.outcome.bids.iter().map(|bid| bid.id.as_str()).collect();
        assert_eq!(order, ["b", "a", "c", "d"], "the engine serves them in that order");
        for (bids, before, field) in [
            (&["a", "a"][..], None, "bids[1]"),
            (&["a", "x"], None, "bids[1]"),
            (&["a"], Some("a"), "before"),
            (&["a"], Some("x"), "before"),
            (&[], None, "bids"),
        ] {
            let refused = go(bids, before).await.unwrap_err();
            assert_eq!((refused.kind(), fields(&refused)), (ErrorKind::Invalid, vec![field]));
        }
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn moves_at_the_same_time_leave_one_queue() {
    for app in apps().await {
        with_four(&app).await;
        let moving = ["a", "b", "c", "d"].map(|bid| {
            let services = std::sync::Arc::clone(app.services());
            tokio::spawn(async move {
                for _ in 0..5 {
                    let before = if bid == "a" { "d" } else { "a" };
                    let change =
                        MoveBids { team: team("speech"), bids: vec![id(bid)], before: Some(id(before)) };
                    services.move_bids(&sam(), change).await.unwrap();
                }
            })
        });
        for one in moving {
            one.await.unwrap();
        }
        let mut queue = queue_of(app.services(), &sam(), "speech").await;
        queue.sort();
        assert_eq!(queue, ["a", "b", "c", "d"], "{}", app.store.name);
    }
}

#[tokio::test]
async fn bids_are_paused_resumed_and_ended_all_or_none() {
    for mut app in apps().await {
        with_four(&app).await;
        app.clear().await;
        let services = std::sync::Arc::clone(app.services());
        let go = async |bids: &[&str], change| {
            let bids = bids.iter().map(|bid| id(bid)).collect();
            services.change_bids(&sam(), ChangeBids { team: team("speech"), bids, change }).await
        };
        assert_eq!(go(&["a", "b"], BidChange::Pause).await.unwrap().changed, [id("a"), id("b")]);
        assert!(go(&["a"], BidChange::Pause).await.unwrap().changed.is_empty());
        app.clear().await;
        let open = list(&services, &sam(), "speech", BidFilter::Open).await;
        let statuses: Vec<BidStatus> = open.bids.iter().map(|bid| bid.status).collect();
        assert_eq!(statuses, [BidStatus::Paused, BidStatus::Paused, BidStatus::Live, BidStatus::Live]);
        assert!(open.bids[0].now.is_none() && open.bids[2].now.is_some());
        assert_eq!(go(&["c"], BidChange::Cancel).await.unwrap().changed, [id("c")]);
        // One that is over can't be resumed, so that none of them is.
        let refused = go(&["a", "c"], BidChange::Resume).await.unwrap_err();
        assert_eq!(refused.kind(), ErrorKind::Conflict);
        assert_eq!(open_bid(&services, &sam(), "a").await.bid.status, BidStatus::Paused);
        assert!(go(&["c"], BidChange::Cancel).await.unwrap().changed.is_empty(), "it is over already");
        assert_eq!(go(&["a", "b"], BidChange::Resume).await.unwrap().changed.len(), 2);
        app.clear().await;
        let open = list(&services, &sam(), "speech", BidFilter::Open).await;
        assert_eq!((open.counts.open, open.counts.ended), (3, 1));
        assert!(open.bids.iter().all(|bid| bid.now.is_some()));
    }
}

#[tokio::test]
async fn bids_of_another_team_are_no_bids_of_this_one() {
    let app = TestApp::new().await;
    place(app.services(), &ada(), "ads", "theirs", wire_terms("A100", 1, "none")).await;
    for (rest, body) in [
        ("/changes", json!({ "bids": ["theirs"], "change": "cancel" })),
        ("/changes", json!({ "bids": ["nobodys"], "change": "cancel" })),
        ("/moves", json!({ "bids": ["theirs"] })),
    ] {
        let refused = post(&app, &sam(), "speech", rest, body).await;
        assert_eq!(
            (refused.status.as_u16(), refused.json()["errors"][0]["field"].as_str()),
            (422, Some("bids[0]"))
        );
    }
    assert_eq!(queue_of(app.services(), &ada(), "ads").await, ["theirs"]);
}

#[tokio::test]
async fn a_long_queue_pages_without_a_gap() {
    for app in apps().await {
        let services = app.services();
        let mut tx = app.store.store.write().await.unwrap();
        let new =
            (0..450).map(|nth| crate::fixture::bid(&format!("b{nth:03}"), "speech", "A100", 1)).collect();
        server::services::bids::place_many(&mut tx, crate::fixture::START, new).await.unwrap();
        tx.commit().await.unwrap();
        let (mut seen, mut cursor) = (Vec::new(), None);
        loop {
            let query = common::api::BidsQuery { team: Some(team("speech")), show: BidFilter::Open, cursor };
            let page = services.bids(&sam(), &Origin::default(), query).await.unwrap();
            assert_eq!(page.counts.open, 450);
            seen.extend(page.bids.iter().map(|bid| (bid.place.unwrap(), bid.id.to_string())));
            cursor = page.next_cursor;
            if cursor.is_none() {
                break;
            }
        }
        let expected: Vec<(u64, String)> = (0..450).map(|nth| (nth + 1, format!("b{nth:03}"))).collect();
        assert_eq!(seen, expected, "{}", app.store.name);
        for nth in 0..450 {
            let change = ChangeBids {
                team: team("speech"),
                bids: vec![id(&format!("b{nth:03}"))],
                change: BidChange::Cancel,
            };
            if nth % 2 == 0 {
                services.change_bids(&sam(), change).await.unwrap();
            }
        }
        let (mut ended, mut cursor) = (Vec::new(), None);
        loop {
            let query = common::api::BidsQuery { team: Some(team("speech")), show: BidFilter::Ended, cursor };
            let page = services.bids(&sam(), &Origin::default(), query).await.unwrap();
            ended.extend(page.bids.iter().map(|bid| bid.id.to_string()));
            cursor = page.next_cursor;
            if cursor.is_none() {
                break;
            }
        }
        let expected: Vec<String> =
            (0..450).rev().filter(|nth| nth % 2 == 0).map(|nth| format!("b{nth:03}")).collect();
        assert_eq!(ended, expected, "{}: last ended first", app.store.name);
    }
}
