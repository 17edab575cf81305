//! Use is charged for without anybody's doing, each minute of it once, and settings that would turn a rule off are refused.
#![expect(clippy::unwrap_used, reason = "what fails here fails the test")]

use axum::http::Method;
use common::api::{BudgetView, Role, Span};
use serde_json::json;
use server::clock::Clock as _;
use server::cycle::{Clearing, clear_due};

use crate::app::TestApp;
use crate::audit::viewer;
use crate::finance::is_proved;
use crate::fixture;

/// Cycles of a minute in an accounting step.
const STEP: u32 = 5;

async fn budget(app: &TestApp) -> BudgetView {
    let finance = viewer("fay", &[Role::Finance]);
    app.services.budget(&finance, &"speech".parse().unwrap(), Span::Day).await.unwrap()
}

/// The seconds since the oldest use that is not charged for, as the metric says.
async fn unsettled_seconds(app: &TestApp) -> f64 {
    let text = app.get("/metrics").await.body;
    let line =
        text.lines().find(|line| line.starts_with("quota_marketplace_unsettled_age_seconds ")).unwrap();
    line.rsplit(' ').next().unwrap().parse().unwrap()
}

#[tokio::test]
async fn t026_a_statement_after_some_steps_adds_the_rest_only() {
    for store in fixture::both().await {
        let mut app = TestApp::with_bids_on(store).await;
        let mut spent = Vec::new();
        for _ in 0..3 {
            app.clear_many(STEP).await;
            spent.push(budget(&app).await.month.spent);
            // Looking at the statement of the month so far charges nothing.
            let statement = app.get("/api/v1/teams/speech/statement").await;
            assert_eq!(statement.status, 200, "{}", statement.body);
            assert_eq!(budget(&app).await.month.spent, spent[spent.len() - 1]);
        }
        app.clear_many(STEP).await;
        let all = budget(&app).await.month.spent;
        let path = "/api/v1/teams/speech/ledger?kind=charge";
        let charges = app.get(path).await.json()["items"].as_array().unwrap().clone();
        assert_eq!(charges.len(), 4, "one for each step");
        let last = -charges[0]["amount"].as_str().unwrap().parse::<common::money::MicroCredits>().unwrap().0;
        assert!(last > 0);
        assert_eq!(all.0 - spent[2].0, last, "the fourth step alone is new");
        assert!(spent.is_sorted() && spent[0].0 > 0, "{spent:?}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn t028_a_step_that_is_settled_twice_at_once_is_charged_once() {
    for store in fixture::both().await {
        let mut app = TestApp::with_bids_on(store).await;
        app.clear_many(STEP - 1).await;
        app.clock.advance_seconds(60);
        let clear = || {
            let (store, now) = (app.store.store.clone(), app.clock.now());
            tokio::spawn(async move { clear_due(&store, &mut Clearing::new(), now).await })
        };
        let mut cleared = 0;
        for at_once in [clear(), clear(), clear()] {
            cleared += u32::from(at_once.await.unwrap().unwrap().is_some());
        }
        assert_eq!(cleared, 1, "{}: the others find it done", app.store.name);
        app.clear().await;
        let charges = app.get("/api/v1/teams/speech/ledger?kind=charge").await.json();
        assert_eq!(charges["items"].as_array().unwrap().len(), 1, "{charges}");
        is_proved(&app).await;
    }
}

#[tokio::test]
async fn t052_settling_needs_nobody_and_its_age_is_a_metric() {
    for store in fixture::both().await {
        let mut app = TestApp::with_bids_on(store).await;
        for cycle in 1..=3 * STEP {
            app.clear().await;
            let waiting = unsettled_seconds(&app).await;
            let limit = f64::from(STEP * 60);
            assert!(waiting <= limit, "{waiting} s at cycle {cycle}: the watch begins at twice {limit} s");
        }
        assert!(budget(&app).await.month.spent.0 > 0, "nobody pressed a button");
        // Where nothing clears for two steps, its age says so.
        app.clock.advance_seconds(i64::from(2 * STEP * 60) + 1);
        let since = app.services.market().unsettled_since().await.unwrap().unwrap();
        assert!(since.plus_seconds(i64::from(2 * STEP * 60)) < app.clock.now(), "{since}");
        app.clear().await;
        let since = app.services.market().unsettled_since().await.unwrap().unwrap();
        assert!(since.plus_seconds(i64::from(STEP * 60)) >= app.clock.now(), "{since}");
    }
}

#[tokio::test]
async fn t080_a_setting_of_nothing_does_not_turn_a_rule_off_in_silence() {
    let app = TestApp::with_bids().await;
    let admin = viewer("ada", &[Role::Admin]);
    let now = app.get_as(&admin, "/api/v1/organisation").await;
    let etag = now.header(axum::http::header::ETAG).to_owned();
    for field in ["sustain_minutes", "cycle_seconds", "accounting_seconds", "raw_retention_days"] {
        for nothing in [json!(0), json!("")] {
            let mut body = json!({ "name": "Test", "time_zone": "UTC", "cycle_seconds": 60, "accounting_seconds": 300,
                "sustain_minutes": 120, "rebase_balances": true, "raw_retention_days": 90, "reason": "try" });
            body[field] = nothing.clone();
            let headers = [("if-match", etag.as_str())];
            let refused =
                app.send_as(&admin, Method::PUT, "/api/v1/organisation", &headers, body.to_string()).await;
            assert_eq!(refused.status, 422, "{field} {nothing}: {}", refused.body);
            assert!(refused.body.contains(field), "{field} {nothing}: {}", refused.body);
        }
    }
}
