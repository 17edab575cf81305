//! Placing a bid and changing what it asks for: repeated, by two people, by fifty at once, beside the clearing.

use axum::http::{Method, header};
use common::api::{AmendBid, BidFilter, BidStatus, ChangeBids, MoveBids, Span};
use serde_json::json;
use server::cycle::{Clearing, clear_due};
use server::error::ErrorKind;

use super::*;

#[tokio::test]
async fn t025_a_repeated_post_answers_the_same_and_places_one_bid() {
    for app in apps().await {
        let body = json!({ "terms": terms("A100", 8, "3.20") }).to_string();
        let path = "/api/v1/teams/speech/bids";
        let key = [("idempotency-key", "key-1")];
        let mut answers = Vec::new();
        for _ in 0..3 {
            let answer = app.send_as(&sam(), Method::POST, path, &key, body.clone()).await;
            assert_eq!(answer.status, 201, "{}", answer.body);
            assert_eq!(answer.header(header::LOCATION), "/api/v1/bids/key-1");
            answers.push(answer.body);
        }
        assert!(answers.iter().all(|answer| *answer == answers[0]));
        let other = json!({ "terms": terms("A100", 9, "3.20") }).to_string();
        let refused = app.send_as(&sam(), Method::POST, path, &key, other).await;
        assert_eq!(
            (refused.status.as_u16(), refused.json()["errors"][0]["field"].as_str()),
            (422, Some("Idempotency-Key"))
        );
        let by_body =
            post(&app, &sam(), "speech", "", json!({ "id": "key-1", "terms": terms("A100", 9, "3.20") }))
                .await;
        assert_eq!(by_body.status, 409, "{}", by_body.body);
        let both = json!({ "id": "key-2", "terms": terms("A100", 9, "3.20") }).to_string();
        let refused = app.send_as(&sam(), Method::POST, path, &key, both).await;
        assert_eq!(refused.status, 422, "two ids: {}", refused.body);
        let neither = post(&app, &sam(), "speech", "", json!({ "terms": terms("A100", 9, "3.20") })).await;
        assert_eq!(neither.json()["errors"][0]["field"], "id");
        assert_eq!(queue_of(app.services(), &sam(), "speech").await, ["key-1"]);
    }
}

#[tokio::test]
async fn a_bid_holds_from_the_next_cycle_on_and_says_so() {
    let mut app = TestApp::new().await;
    app.clear().await;
    let answer =
        post(&app, &sam(), "speech", "", json!({ "id": "a", "terms": terms("A100", 8, "none") })).await;
    assert_eq!((answer.status.as_u16(), answer.header(header::ETAG)), (201, "\"1\""));
    let placed = answer.json();
    assert_eq!(placed["effective_cycle"], 2);
    assert_eq!(
        (&placed["pending"], &placed["place"], &placed["version"]),
        (&json!(true), &json!(1), &json!(1))
    );
    assert!(placed["now"].is_null());
    app.clear().await;
    let bid = open_bid(app.services(), &sam(), "a").await.bid;
    assert_eq!((bid.pending, bid.effective_cycle, bid.status), (false, 2, BidStatus::Live));
    let now = bid.now.unwrap();
    assert_eq!(now.chips.0, 8);
    assert!(now.explanation.starts_with("all 8 chips at "), "{}", now.explanation);
}

#[tokio::test(flavor = "multi_thread")]
async fn t035_fifty_bids_of_one_team_at_once_are_all_placed() {
    for app in apps().await {
        let placing = (0..50).map(|nth| {
            let services = std::sync::Arc::clone(app.services());
            tokio::spawn(async move {
                place(&services, &sam(), "speech", &format!("b{nth}"), wire_terms("A100", 1, "none")).await
            })
        });
        let mut places = Vec::new();
        for placed in placing.collect::<Vec<_>>() {
            places.extend(placed.await.unwrap().place);
        }
        assert_eq!(places.len(), 50);
        let queue = queue_of(app.services(), &sam(), "speech").await;
        assert_eq!(queue.len(), 50, "{}", app.store.name);
    }
}

#[tokio::test]
async fn t079_a_burst_of_bids_wins_no_more_than_the_budget_holds() {
    for mut app in apps().await {
        for (viewer, of, bids) in [(sam(), "speech", 100), (ada(), "ads", 1)] {
            let placing = (0..bids).map(|nth| {
                let (services, viewer) = (std::sync::Arc::clone(app.services()), viewer.clone());
                let terms = wire_terms("A100", if bids == 1 { 40 } else { 8 }, "none");
                tokio::spawn(async move {
                    place(&services, &viewer, of, &format!("{of}-{nth}"), terms).await;
                })
            });
            for placed in placing.collect::<Vec<_>>() {
                placed.await.unwrap();
            }
        }
        app.clear().await;
        let budgets = ["speech", "ads"].map(|of| {
            let (services, of) = (app.services(), team(of));
            async move { services.budget(&viewer("fay", &[Role::Finance]), &of, Span::Day).await.unwrap() }
        });
        let [burst, single] = budgets;
        let (burst, single) = (burst.await, single.await);
        assert!(burst.burn.0 > 0 && burst.burn <= burst.cap.cap, "{:?} of {:?}", burst.burn, burst.cap);
        assert!(single.burn.0 > 0, "one bid of another team gets its part: {single:?}");
    }
}

#[tokio::test]
async fn t038_a_hundred_writers_never_see_a_fault() {
    let app = TestApp::on(fixture::sqlite().await).await;
    fixture::create(&app.store.store).await;
    let client = std::sync::Arc::new(app.client_of(&sam()).await);
    let writers = (0..100).map(|writer| {
        let client = std::sync::Arc::clone(&client);
        tokio::spawn(async move {
            for nth in 0..50 {
                let body = json!({ "id": format!("{writer}-{nth}"), "terms": terms("A100", 1, "1.00") });
                let answer = client.json("POST", "/api/v1/teams/speech/bids", &body).await;
                assert_eq!(answer.status, 201, "{writer}-{nth}: {}", answer.body);
            }
        })
    });
    for writer in writers.collect::<Vec<_>>() {
        writer.await.unwrap();
    }
}

#[tokio::test]
async fn two_members_who_change_one_bid_do_not_overwrite_each_other() {
    for mut app in apps().await {
        let services = std::sync::Arc::clone(app.services());
        let bob = member("bob", &[("speech", "research")]);
        place(&services, &sam(), "speech", "a", wire_terms("A100", 8, "3.00")).await;
        place(&services, &sam(), "speech", "b", wire_terms("A100", 1, "none")).await;
        app.clear().await;
        let change = |limit: &str| AmendBid { version: 1, terms: wire_terms("A100", 8, limit) };
        let first = services.amend_bid(&sam(), &id("a"), change("3.50")).await.unwrap();
        assert_eq!((first.version, first.pending), (2, true));
        let lost = services.amend_bid(&bob, &id("a"), change("2.50")).await.unwrap_err();
        assert_eq!(lost.kind(), ErrorKind::PreconditionFailed);
        let problem = common::problem::Problem::from(&lost);
        let newest = problem.newest.unwrap();
        assert_eq!((newest.version, newest.terms.limit.price()), (2, Some("3.50".parse().unwrap())));
        // The same change again is no conflict with itself.
        assert_eq!(services.amend_bid(&sam(), &id("a"), change("3.50")).await.unwrap().version, 2);
        // Being moved in the queue does not make what somebody read old.
        let to_end = MoveBids { team: team("speech"), bids: vec![id("a")], before: None };
        services.move_bids(&sam(), to_end).await.unwrap();
        let again = AmendBid { version: 2, terms: wire_terms("A100", 8, "2.50") };
        let changed = services.amend_bid(&bob, &id("a"), again).await.unwrap();
        assert_eq!((changed.version, changed.place), (4, Some(2)));
    }
}

#[tokio::test]
async fn a_change_by_rest_says_from_which_version_it_was_made() {
    let app = TestApp::new().await;
    place(app.services(), &sam(), "speech", "a", wire_terms("A100", 8, "3.00")).await;
    let put = async |tag: Option<&str>, limit: &str| {
        let headers: Vec<(&str, &str)> = tag.map(|tag| ("if-match", tag)).into_iter().collect();
        let body = json!({ "terms": terms("A100", 8, limit) }).to_string();
        app.send_as(&sam(), Method::PUT, "/api/v1/bids/a", &headers, body).await
    };
    let missing = put(None, "3.10").await;
    assert_eq!(
        (missing.status.as_u16(), missing.json()["errors"][0]["field"].as_str()),
        (422, Some("If-Match"))
    );
    assert_eq!(put(Some("1"), "3.10").await.status, 422, "a tag has quotes");
    let changed = put(Some("\"1\""), "3.10").await;
    assert_eq!((changed.status.as_u16(), changed.header(header::ETAG)), (200, "\"2\""));
    let lost = put(Some("\"1\""), "3.30").await;
    assert_eq!((lost.status.as_u16(), lost.json()["newest"]["terms"]["limit"].as_str()), (412, Some("3.10")));
    assert_eq!(put(Some("*"), "3.30").await.json()["version"], 3);
}

#[tokio::test(flavor = "multi_thread")]
async fn cancelling_beside_the_clearing_loses_nothing() {
    for app in apps().await {
        let services = std::sync::Arc::clone(app.services());
        for nth in 0..20 {
            place(&services, &sam(), "speech", &format!("b{nth}"), wire_terms("A100", 2, "none")).await;
        }
        let store = app.store.store.clone();
        let clock = app.clock.clone();
        let clearing = tokio::spawn(async move {
            let mut clearing = Clearing::new();
            for _ in 0..10 {
                clock.advance_seconds(60);
                let now = server::clock::Clock::now(&clock);
                clear_due(&store, &mut clearing, now).await.unwrap().unwrap();
            }
            clearing
        });
        for nth in 0..20 {
            let change = ChangeBids {
                team: team("speech"),
                bids: vec![id(&format!("b{nth}"))],
                change: common::api::BidChange::Cancel,
            };
            assert_eq!(services.change_bids(&sam(), change).await.unwrap().changed.len(), 1);
        }
        let mut clearing = clearing.await.unwrap();
        app.clock.advance_seconds(60);
        let now = server::clock::Clock::now(&app.clock);
        let last = clear_due(&app.store.store, &mut clearing, now).await.unwrap().unwrap();
        assert!(last.cleared.snapshot.bids.is_empty(), "{}", app.store.name);
        let ended = list(&services, &sam(), "speech", BidFilter::Ended).await;
        assert_eq!((ended.counts.open, ended.counts.ended, ended.bids.len()), (0, 20, 20));
        assert!(ended.bids.iter().all(|bid| bid.status == BidStatus::Cancelled && !bid.pending));
        let report = server::cycle::verify::verify(&app.store.store, None, None, |_, _| {}).await.unwrap();
        assert!(report.is_clean(), "{}: {report}", app.store.name);
    }
}

#[tokio::test]
async fn bids_that_wait_are_placed_together_each_as_if_alone() {
    for mut app in apps().await {
        let services = std::sync::Arc::clone(app.services());
        assert!(queue_of(&services, &sam(), "speech").await.is_empty());
        // While somebody else writes all of them wait, so that they share a transaction afterwards.
        let writer = app.store.store.write().await.unwrap();
        let asked = [
            (sam(), "speech", "first", "A100", 1),
            (sam(), "speech", "a", "A100", 1),
            (sam(), "speech", "unknown", "B200", 1),
            (ada(), "ads", "b", "A100", 2),
            (sam(), "speech", "a", "A100", 1),
            (ada(), "ads", "a", "A100", 1),
            (sam(), "speech", "c", "A100", 3),
        ];
        let placing = asked.map(|(viewer, of, bid, chip_type, chips)| {
            let services = std::sync::Arc::clone(&services);
            let bid = PlaceBid { id: id(bid), team: team(of), terms: wire_terms(chip_type, chips, "none") };
            tokio::spawn(async move { services.place_bid(&viewer, bid).await })
        });
        tokio::time::sleep(std::time::Duration::from_millis(50)).await;
        drop(writer);
        let mut results = Vec::new();
        for placed in placing {
            let placed = placed.await.unwrap();
            results
                .push(placed.map(|bid| bid.place).map_err(|error| (error.kind(), fields(&error).join(" "))));
        }
        let unknown = (ErrorKind::Invalid, "terms.alternatives[0].chip_type".to_owned());
        let expected = [
            Ok(Some(1)),
            Ok(Some(2)),
            Err(unknown),
            Ok(Some(1)),
            Ok(Some(2)),
            Err((ErrorKind::Conflict, String::new())),
            Ok(Some(3)),
        ];
        assert_eq!(results, expected, "{}", app.store.name);
        assert_eq!(queue_of(&services, &sam(), "speech").await, ["first", "a", "c"]);
        assert_eq!(queue_of(&services, &ada(), "ads").await, ["b"]);
        app.clear().await;
        let report = server::cycle::verify::verify(&app.store.store, None, None, |_, _| {}).await.unwrap();
        assert!(report.is_clean(), "{}: {report}", app.store.name);
    }
}
