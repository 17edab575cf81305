//! What-ifs: on the cycle in force, over a past day, kept under a link, cancelled, begun anew after a restart.
#![expect(clippy::unwrap_used, reason = "what fails here fails the test")]

use std::sync::Arc;

use axum::body::Body;
use axum::http::Method;
use common::api::Role;
use serde_json::{Value, json};
use server::services::jobs::Worker;
use tokio_util::sync::CancellationToken;

use crate::app::{Answer, TestApp};
use crate::audit::viewer;
use crate::exports::execute;
use crate::fixture;

async fn ask(app: &TestApp, question: &Value) -> Answer {
    let admin = viewer("ada", &[Role::Admin]);
    app.send_as(&admin, Method::POST, "/api/v1/what-if", &[], Body::from(question.to_string())).await
}

async fn open(app: &TestApp, id: &str) -> Value {
    app.get(&format!("/api/v1/what-if/{id}")).await.json()["progress"].clone()
}

/// Lets a worker run what waits; whether there was anything.
async fn work(app: &TestApp) -> bool {
    let folder = tempfile::tempdir().unwrap();
    let worker = Worker::new(Arc::clone(&app.services), folder.path().to_owned());
    worker.run_next(&CancellationToken::new()).await.unwrap()
}

/// A what-if over the only day so far that gives every team something else.
async fn ask_for_the_day(app: &TestApp) -> String {
    let changes = json!([{"change": "chips", "chip_type": "A100", "by": -30}]);
    let asked = ask(app, &json!({"title": "the day", "changes": changes, "day": "2026-11-30"})).await;
    assert_eq!(asked.status, 201, "{}", asked.body);
    asked.json()["id"].as_str().unwrap().to_owned()
}

fn row<'a>(comparison: &'a Value, list: &str, key: &str, id: &str) -> &'a Value {
    comparison[list].as_array().unwrap().iter().find(|row| row[key] == id).unwrap()
}

#[tokio::test]
async fn each_change_is_the_same_clearing_on_other_inputs_and_stays_under_its_link() {
    for test in fixture::both().await {
        let mut app = TestApp::with_bids_on(test).await;
        let early = ask(
            &app,
            &json!({"title": "early", "changes": [{"change": "chips", "chip_type": "A100", "by": 1}]}),
        )
        .await;
        assert_eq!(early.status, 409, "nothing has cleared yet: {}", early.body);
        app.clear_many(3).await;
        let price = |comparison: &Value, side: &str| {
            row(comparison, "chip_types", "chip_type", "A100")["reference_price"][side]
                .as_str()
                .unwrap()
                .parse::<f64>()
                .unwrap()
        };
        let said = async |changes: Value| {
            let asked = ask(&app, &json!({"title": "test", "changes": changes})).await;
            assert_eq!(asked.status, 201, "{}", asked.body);
            let id = asked.json()["id"].as_str().unwrap().to_owned();
            assert_eq!(asked.json()["progress"], open(&app, &id).await, "the link shows the same");
            asked.json()["progress"]["comparison"].clone()
        };
        let fewer = said(json!([{"change": "chips", "chip_type": "A100", "by": -30}])).await;
        assert_eq!(
            row(&fewer, "chip_types", "chip_type", "A100")["supply_milli"],
            json!({"before": 56_000, "after": 26_000})
        );
        assert!(price(&fewer, "after") > price(&fewer, "before"), "{fewer}");
        assert_eq!(fewer["losing"], json!([]), "single bids are not kept");
        let none = said(json!([{"change": "chips", "chip_type": "A100", "by": -4000}, {"change": "chips", "chip_type": "A100", "pool": "research", "by": -4000}])).await;
        assert_eq!(row(&none, "chip_types", "chip_type", "A100")["supply_milli"]["after"], 0);
        let floor = said(json!([{"change": "reserve", "chip_type": "A100", "reserve_price": "9.00"}])).await;
        assert_eq!(row(&floor, "chip_types", "chip_type", "A100")["reference_price"]["after"], "9.00");
        let gone = said(json!([{"change": "without_team", "team": "vision"}])).await;
        assert_eq!(row(&gone, "teams", "team", "vision")["chips_milli"]["after"], 0);
        let weight = said(json!([{"change": "weight", "pool": "products", "weight": "4000.00"}])).await;
        let ads = row(&weight, "teams", "team", "ads")["chips_milli"].clone();
        assert!(ads["after"].as_u64() >= ads["before"].as_u64(), "{weight}");
        let income = said(json!([{"change": "income", "team": "speech", "income": "1.00"}])).await;
        let speech = row(&income, "teams", "team", "speech")["chips_milli"].clone();
        assert!(speech["after"].as_u64() < speech["before"].as_u64(), "{income}");
        let new = said(json!([{"change": "new_team", "pool": "products", "income": "500.00", "chip_type": "H100", "chips": 8}])).await;
        assert_eq!(
            row(&new, "teams", "team", "new-team-1")["chips_milli"],
            json!({"before": 0, "after": 8_000})
        );
        assert_eq!(
            app.get("/api/v1/supply").await.json()["chip_types"][0]["holdings"][0]["chips"],
            40,
            "nothing is set"
        );
        let list = app.get("/api/v1/what-if").await.json();
        assert_eq!(list.as_array().unwrap().len(), 7, "{}", app.store.name);
    }
}

#[tokio::test]
async fn a_past_day_is_cleared_again_cycle_by_cycle_and_a_change_of_nothing_changes_nothing() {
    for test in fixture::both().await {
        let mut app = TestApp::with_bids_on(test).await;
        app.clear_many(12).await;
        app.set_shared("A100", 20).await;
        app.clear_many(12).await;
        let day = |changes: Value| json!({"title": "the day", "changes": changes, "day": "2026-11-30"});
        // H100, for which nobody asks.
        let asked = ask(&app, &day(json!([{"change": "chips", "chip_type": "H100", "by": 8}]))).await;
        assert_eq!(asked.status, 201, "{}", asked.body);
        let id = asked.json()["id"].as_str().unwrap().to_owned();
        assert_eq!(open(&app, &id).await, json!({"state": "running", "done": 0, "total": 24}));
        assert!(work(&app).await);
        let same = open(&app, &id).await;
        assert_eq!(same["state"], "done", "{}: {same}", app.store.name);
        let same = &same["comparison"];
        assert_eq!(
            (&same["first_cycle"], &same["last_cycle"], &same["cleared"]),
            (&json!(1), &json!(24), &json!(24))
        );
        let a100 = row(same, "chip_types", "chip_type", "A100");
        assert_eq!(
            a100["supply_milli"],
            json!({"before": 46_000, "after": 46_000}),
            "half of the cycles have 56, half 36"
        );
        assert_eq!(a100["reference_price"]["before"], a100["reference_price"]["after"]);
        assert_eq!(row(same, "chip_types", "chip_type", "H100")["supply_milli"]["after"], 16_000);
        for team in same["teams"].as_array().unwrap() {
            assert_eq!(team["spend"]["before"], team["spend"]["after"], "{team}");
        }
        let csv = app.get(&format!("/api/v1/what-if/{id}?format=csv")).await.body;
        assert!(csv.contains("chip_type,A100,,supply_chips,46.000,46.000"), "{csv}");
        let page = app.admin().open(&format!("/what-if/{id}?sort=spend")).await;
        assert!(page.status == 200 && page.body.contains("24 cycles, 1 to 24"), "{}", page.body);
        let other = ask(&app, &json!({"title": "x", "changes": [{"change": "chips", "chip_type": "H100", "by": 8}], "day": "2026-11-29"})).await;
        assert!(other.status == 422 && other.body.contains("no cycle began on that day"), "{}", other.body);
    }
}

#[tokio::test]
async fn a_what_if_over_a_day_is_cancelled_and_says_so() {
    let mut app = TestApp::with_bids().await;
    app.clear_many(30).await;
    let id = ask_for_the_day(&app).await;
    let admin = viewer("ada", &[Role::Admin]);
    let path = format!("/api/v1/what-if/{id}/cancel");
    let cancelled = app.send_as(&admin, Method::POST, &path, &[], Body::empty()).await;
    assert_eq!(cancelled.status, 204, "{}", cancelled.body);
    assert!(!work(&app).await, "there is nothing to compute any more");
    assert_eq!(open(&app, &id).await, json!({"state": "ended", "note": "it was cancelled"}));
    assert_eq!(app.send_as(&admin, Method::POST, &path, &[], Body::empty()).await.status, 409);
}

#[tokio::test]
async fn a_what_if_that_a_server_left_behind_is_answered_by_the_next_one_as_it_would_have_been() {
    for test in fixture::both().await {
        let mut app = TestApp::with_bids_on(test).await;
        app.clear_many(12).await;
        let undisturbed = ask_for_the_day(&app).await;
        assert!(work(&app).await);
        let left = ask_for_the_day(&app).await;
        // What a killed process leaves behind; the day goes on meanwhile.
        execute(
            &app.store,
            "UPDATE job SET state = 'running', seen_at = made_at, done_steps = 5 WHERE state = 'waiting'",
        )
        .await;
        assert!(!work(&app).await, "it may be alive");
        assert_eq!(open(&app, &left).await, json!({"state": "running", "done": 5, "total": 12}));
        let page = app.admin().open(&format!("/what-if/{left}")).await.body;
        assert!(page.contains("5 of 12 cycles cleared again."), "{page}");
        app.clear_many(3).await;
        assert!(work(&app).await, "{}: nobody was heard of it", app.store.name);
        let answer = open(&app, &left).await;
        assert_eq!((&answer["state"], &answer["comparison"]["last_cycle"]), (&json!("done"), &json!(12)));
        assert_eq!(answer, open(&app, &undisturbed).await);
        // One that is told to end puts it back, so that the next one needs not wait.
        let back = ask_for_the_day(&app).await;
        let (folder, stop) = (tempfile::tempdir().unwrap(), CancellationToken::new());
        stop.cancel();
        let worker = Worker::new(Arc::clone(&app.services), folder.path().to_owned());
        assert!(worker.run_next(&stop).await.unwrap());
        work(&app).await;
        assert_eq!(open(&app, &back).await["state"], "done");
    }
}

#[tokio::test]
async fn a_question_is_refused_beside_its_fields_and_kept_from_those_who_may_not_see_supply() {
    let mut app = TestApp::with_bids().await;
    app.clear().await;
    let refused = ask(&app, &json!({"title": "", "changes": [{"change": "income", "team": "nobody", "income": "-1.00"}], "day": "soon"})).await;
    let fields: Vec<Value> =
        refused.json()["errors"].as_array().unwrap().iter().map(|fault| fault["field"].clone()).collect();
    assert_eq!(
        (refused.status.as_u16(), fields),
        (422, vec![json!("title"), json!("changes[0].income"), json!("changes[0].team")])
    );
    let admin = app.admin();
    let page = admin
        .post("/what-if", &[("title", "half"), ("chips_type", "A100"), ("chips_by", "many"), ("income", "5")])
        .await;
    assert_eq!(page.status, 422);
    for text in ["f-chips_by-error", "value=\"many\"", "f-income_team-error", "value=\"half\""] {
        assert!(page.body.contains(text), "{text}: {}", page.body);
    }
    let asked =
        admin.post("/what-if", &[("title", "fewer"), ("chips_type", "A100"), ("chips_by", "-8")]).await;
    assert_eq!(asked.status, 303, "{}", asked.body);
    let path = asked.header(axum::http::header::LOCATION).to_owned();
    for (user, status) in [("admin", 200), ("auditor", 200), ("engineer", 404), ("finance", 404)] {
        let client = app.client(user).await;
        assert_eq!(client.open(&path).await.status, status, "{user}");
        assert_eq!(client.open("/what-if").await.status, status, "{user}");
    }
    let question = json!({"title": "mine", "changes": [{"change": "without_team", "team": "ads"}]});
    assert_eq!(app.auditor().await.json("POST", "/api/v1/what-if", &question).await.status, 403);
}
