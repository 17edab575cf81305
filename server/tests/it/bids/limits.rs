//! What is refused before it is a bid: work beyond a hard allowance, and bids for longer than the organisation takes.

use axum::http::Method;
use common::api::{BidChange, BidFilter, ChangeBids, Role};
use common::money::MicroCredits;
use serde_json::json;
use server::services::audit::Doer;
use server::store::Place;
use server::store::allowances::Allowance;
use server::store::entities::Organisation;

use super::*;
use crate::finance::past_the_program;

/// A bid of so many chips for so many hours at a limit of 1.00, of a chip type that has no price yet.
fn work(bid: &str, chips: u64, hours: u64) -> Value {
    let mut terms = terms("H100", chips, "1.00");
    terms["work_chip_seconds"] = json!(chips * hours * 3_600);
    json!({ "id": bid, "terms": terms })
}

async fn allow(app: &TestApp, credits: i64, hard: bool) {
    let (viewer, origin) = (viewer("root", &[Role::Admin]), Origin::default());
    let doer = Doer { viewer: &viewer, origin: &origin, reason: "the month" };
    let amount = Some(MicroCredits(credits * 1_000_000));
    let allowance = Allowance::monthly(team("speech"), amount, hard);
    app.services().set_allowance(doer, &allowance, None).await.unwrap();
}

/// The field and the words of the one fault of an answer.
fn fault(answer: &Answer) -> (String, String) {
    assert_eq!(answer.status, 422, "{}", answer.body);
    let problem = answer.json();
    let text = |name: &str| problem["errors"][0][name].as_str().unwrap().to_owned();
    (text("field"), text("detail"))
}

async fn cancel(app: &TestApp, bid: &str) {
    let change = ChangeBids { team: team("speech"), bids: vec![id(bid)], change: BidChange::Cancel };
    app.services().change_bids(&sam(), change).await.unwrap();
}

#[tokio::test]
async fn t055_a_bid_that_needs_more_than_is_left_is_refused_with_the_numbers() {
    for mut app in apps().await {
        app.clear().await;
        allow(&app, 26, true).await;
        assert_eq!(post(&app, &sam(), "speech", "", work("held", 4, 4)).await.status, 201);
        let (field, detail) = fault(&post(&app, &sam(), "speech", "", work("much", 8, 2)).await);
        assert_eq!(field, "terms.work_chip_seconds");
        assert_eq!(
            detail,
            "needs 16.00, 10.00 left until 1 Dec 00:00 (UTC): of the hard allowance of 26.00 credits 0.00 are spent and \
             16.00 held by other bids; ask for less work, set a lower limit, or have the allowance raised"
        );
        // The preview says so before it is sent.
        let draft = json!({ "terms": work("much", 8, 2)["terms"] });
        assert_eq!(fault(&post(&app, &sam(), "speech", "/preview", draft).await).1, detail);
        assert_eq!(post(&app, &sam(), "speech", "", work("fits", 4, 2)).await.status, 201);
        // A change counts without what the bid itself held.
        let amend = async |hours: u64| {
            let body = json!({ "terms": work("fits", 4, hours)["terms"] }).to_string();
            app.send_as(&sam(), Method::PUT, "/api/v1/bids/fits", &[("if-match", "*")], body).await
        };
        assert!(fault(&amend(3).await).1.starts_with("needs 12.00, 10.00 left"), "{}", app.store.name);
        assert_eq!(amend(1).await.status, 200);
        // What was refused holds nothing; what ended holds nothing any more.
        let taken = post(&app, &sam(), "speech", "", work("held", 1, 1)).await;
        assert_eq!(taken.status, 409, "{}", taken.body);
        cancel(&app, "held").await;
        assert_eq!(post(&app, &sam(), "speech", "", work("much", 2, 11)).await.status, 201);
        assert!(fault(&post(&app, &sam(), "speech", "", work("more", 1, 1)).await).1.contains("0.00 left"));
    }
}

/// Makes the database refuse what bids say, or take it again.
async fn refuse_versions(place: &Place, refused: bool) {
    let sql = match (place, refused) {
        (Place::Sqlite { .. }, true) => {
            "CREATE TRIGGER broken BEFORE INSERT ON bid_version BEGIN SELECT RAISE(ABORT, 'injected'); END"
        }
        (Place::Sqlite { .. }, false) => "DROP TRIGGER broken",
        (Place::Postgres { .. }, true) => {
            "CREATE TRIGGER broken BEFORE INSERT ON bid_version FOR EACH STATEMENT EXECUTE FUNCTION refuse_change()"
        }
        (Place::Postgres { .. }, false) => "DROP TRIGGER broken ON bid_version",
    };
    past_the_program(place, sql).await.unwrap();
}

#[tokio::test]
async fn t034_a_bid_that_fails_while_it_is_written_holds_nothing_and_leaves_nothing() {
    for mut app in apps().await {
        app.clear().await;
        allow(&app, 16, true).await;
        refuse_versions(&app.store.place, true).await;
        let failed = post(&app, &sam(), "speech", "", work("all", 8, 2)).await;
        assert_eq!(failed.status, 500, "{}: {}", app.store.name, failed.body);
        refuse_versions(&app.store.place, false).await;
        assert!(queue_of(app.services(), &sam(), "speech").await.is_empty());
        let again = post(&app, &sam(), "speech", "", work("all", 8, 2)).await;
        assert_eq!(again.status, 201, "all 16 credits are there still: {}", again.body);
        assert!(fault(&post(&app, &sam(), "speech", "", work("more", 1, 1)).await).1.contains("0.00 left"));
    }
}

#[tokio::test]
async fn t071_a_soft_allowance_refuses_no_bid() {
    let mut app = TestApp::new().await;
    app.clear().await;
    allow(&app, 1, false).await;
    assert_eq!(post(&app, &sam(), "speech", "", work("much", 8, 20)).await.status, 201);
}

#[tokio::test(flavor = "multi_thread")]
async fn t032_two_servers_and_twelve_bids_at_once_take_what_is_there_and_no_more() {
    for mut app in apps().await {
        app.clear().await;
        allow(&app, 100, true).await;
        let other = app.beside().await;
        let client = std::sync::Arc::new(app.client_of(&sam()).await);
        let placing = (0..12).map(|nth| {
            let (client, other) = (std::sync::Arc::clone(&client), other.clone());
            let router = if nth % 2 == 0 { app.router.clone() } else { other };
            tokio::spawn(async move {
                let body = work(&format!("b{nth}"), 2, 5).to_string();
                let request = axum::http::Request::post("/api/v1/teams/speech/bids");
                let request = request.header("content-type", "application/json");
                client.send_to(&router, request.body(body.into()).unwrap()).await
            })
        });
        let (mut placed, mut refused) = (0, 0);
        for answer in placing.collect::<Vec<_>>() {
            let answer = answer.await.unwrap();
            if answer.status == 201 {
                placed += 1;
            } else {
                assert!(fault(&answer).1.starts_with("needs 10.00, 0.00 left"), "{}", answer.body);
                refused += 1;
            }
        }
        assert_eq!((placed, refused), (10, 2), "{}", app.store.name);
        assert_eq!(list(app.services(), &sam(), "speech", BidFilter::Open).await.counts.open, 10);
    }
}

#[tokio::test]
async fn t056_a_bid_for_longer_than_the_policy_is_refused_and_the_policy_is_named() {
    let mut app = TestApp::new().await;
    let mut tx = app.store.store.write().await.unwrap();
    let settings = Organisation { most_bid_hours: Some(24), ..fixture::setup().organisation };
    server::services::organisation::change_settings(&mut tx, fixture::START, &settings).await.unwrap();
    tx.commit().await.unwrap();
    app.clear().await;
    let until = |end: &str| {
        let mut terms = terms("A100", 4, "1.00");
        terms["not_before"] = json!("2026-12-01T00:00:00Z");
        terms["not_after"] = json!(end);
        json!({ "id": end.replace(['-', ':'], ""), "terms": terms })
    };
    let (field, detail) = fault(&post(&app, &sam(), "speech", "", until("2026-12-02T01:00:00Z")).await);
    assert_eq!(field, "terms.not_after");
    assert_eq!(detail, "is for 25 h; the organisation's policy \"most hours per bid\" allows 24 h");
    assert_eq!(post(&app, &sam(), "speech", "", until("2026-12-02T00:00:00Z")).await.status, 201);
    let (field, _) = fault(&post(&app, &sam(), "speech", "", work("long", 4, 25)).await);
    assert_eq!(field, "terms.work_chip_seconds");
    let endless = json!({ "id": "endless", "terms": terms("A100", 4, "1.00") });
    assert!(fault(&post(&app, &sam(), "speech", "", endless).await).1.contains("say how much work it is"));
}

#[tokio::test]
async fn t031_a_repeated_request_after_its_bid_was_cancelled_starts_nothing() {
    for mut app in apps().await {
        app.clear().await;
        assert_eq!(post(&app, &sam(), "speech", "", work("k", 4, 2)).await.json()["status"], "live");
        app.clear().await;
        cancel(&app, "k").await;
        app.clear().await;
        let again = post(&app, &sam(), "speech", "", work("k", 4, 2)).await;
        assert_eq!(
            (again.status.as_u16(), &again.json()["status"]),
            (201, &json!("cancelled")),
            "{}",
            again.body
        );
        assert!(queue_of(app.services(), &sam(), "speech").await.is_empty());
        app.clear().await;
        let now = app.get("/api/v1/allocations?span=1h&team=speech").await.json();
        assert!(now["series"].as_array().unwrap().iter().all(|series| series["now"] == 0), "{now}");
    }
}

#[tokio::test]
async fn t133_who_is_out_of_the_first_team_falls_back_to_another_and_bids_for_none_that_is_gone() {
    let mut app = TestApp::new().await;
    app.clear().await;
    let engineer = app.engineer().await;
    assert!(engineer.open("/bids").await.body.contains("speech"));
    let out = json!({ "user": "engineer", "reason": "the team is given up" });
    assert_eq!(app.admin().json("POST", "/api/v1/teams/speech/members/removals", &out).await.status, 204);
    let page = engineer.open("/bids").await.body;
    assert!(page.contains("vision") && !page.contains("speech"), "{page}");
    assert_eq!(engineer.json("POST", "/api/v1/teams/speech/bids", &work("x", 1, 1)).await.status, 404);
    let out = json!({ "user": "engineer", "reason": "as well" });
    assert_eq!(app.admin().json("POST", "/api/v1/teams/vision/members/removals", &out).await.status, 204);
    let page = engineer.open("/bids").await;
    assert!(page.body.contains("you are in no team"), "asked to be put into one: {}", page.body);
}
