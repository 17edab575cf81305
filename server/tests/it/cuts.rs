//! Cuts of supply: quota follows at once, and by the policy jobs stop, run on, or are reclaimed; charges and history stay
//! exact either way.
#![expect(clippy::unwrap_used, reason = "what fails here fails the test")]

use axum::http::Method;
use common::chips::Chips;
use serde_json::{Value, json};
use server::cycle::verify::verify;
use server::services::bids;

use crate::app::{Answer, TestApp};
use crate::fixture::{self, START, bid, create};

/// Six gangs of A100 in two pools, 40 + 16 chips: 56 in use, and each with another limit.
async fn markets() -> Vec<TestApp> {
    let mut apps = Vec::new();
    for test in fixture::both().await {
        create(&test.store).await;
        let app = TestApp::on(test).await;
        let mut tx = app.store.store.write().await.unwrap();
        let gangs = [
            ("a", "speech", 8, "3.00"),
            ("b", "vision", 8, "2.00"),
            ("c", "ads", 8, "1.00"),
            ("d", "ads", 16, "0.50"),
            ("e", "ads", 8, "0.90"),
            ("f", "speech", 8, "0.40"),
        ];
        let new = gangs.map(|(id, team, chips, limit)| {
            let mut gang = bid(id, team, "A100", chips);
            gang.terms.alternatives[0].min_chips = Chips(chips);
            gang.terms.limit = Some(limit.parse().unwrap());
            gang
        });
        bids::place_many(&mut tx, START, new.into()).await.unwrap();
        tx.commit().await.unwrap();
        apps.push(app);
    }
    apps
}

async fn set_policy(app: &TestApp, policy: &str, churn: Option<u64>) -> Answer {
    let body = json!({"policy": policy, "churn_chips": churn, "reason": "how we drain"});
    app.admin().json("PUT", "/api/v1/supply/cuts/policy", &body).await
}

async fn cuts(app: &TestApp) -> Value {
    app.get("/api/v1/supply/cuts").await.json()
}

/// Chips over quota, and chips that were reclaimed, with why.
async fn state(app: &TestApp) -> (u64, Vec<(u64, String)>) {
    let view = cuts(app).await;
    let over = view["over_quota"].as_array().unwrap().iter().map(|job| job["chips"].as_u64().unwrap()).sum();
    let reclaims = view["reclaims"].as_array().unwrap().iter();
    let reclaims =
        reclaims.map(|row| (row["chips"].as_u64().unwrap(), row["why"].as_str().unwrap().to_owned()));
    (over, reclaims.collect())
}

async fn verifies(app: &TestApp) {
    let report = verify(&app.store.store, None, None, |_, _| {}).await.unwrap();
    assert!(report.is_clean(), "{}: {report}", app.store.name);
}

/// What a team was charged, as it stands in its ledger: below zero.
async fn spent(app: &TestApp, team: &str) -> f64 {
    let ledger = app.get(&format!("/api/v1/teams/{team}/ledger?kind=charge&limit=500")).await.json();
    let amounts = ledger["items"].as_array().unwrap().iter();
    amounts.map(|entry| entry["amount"].as_str().unwrap().parse::<f64>().unwrap()).sum()
}

#[tokio::test]
async fn by_default_jobs_stop_with_the_cut_and_each_is_logged_with_who_why_and_prices() {
    for mut app in markets().await {
        app.clear_many(2).await;
        app.set_shared("A100", 8).await;
        app.clear_many(7).await;
        let (over, reclaims) = state(&app).await;
        assert_eq!(over, 0, "nobody runs on");
        assert!(!reclaims.is_empty() && reclaims.iter().all(|(_, why)| why == "at_once"), "{reclaims:?}");
        let view = cuts(&app).await;
        let row = &view["reclaims"][0];
        assert_eq!((row["cycle"].clone(), row["chip_type"].clone()), (json!(3), json!("A100")));
        assert!(row["team"].is_string() && row["name"].as_str().unwrap().starts_with("job "), "{row}");
        assert!(row["price_then"].is_string(), "{row}");
        verifies(&app).await;
    }
}

#[tokio::test]
async fn t046_kept_jobs_run_on_over_quota_pay_at_most_their_limit_and_end_when_they_are_done() {
    for mut app in markets().await {
        assert_eq!(set_policy(&app, "keep", None).await.status, 204);
        app.clear_many(6).await;
        let before = spent(&app, "ads").await;
        assert!(before.abs() < f64::EPSILON, "there is enough for all, so it costs nothing");
        app.set_shared("A100", 16).await;
        app.clear().await;
        let view = cuts(&app).await;
        let over = view["over_quota"].as_array().unwrap().clone();
        assert!(!over.is_empty(), "{}: {view}", app.store.name);
        for job in &over {
            let name = job["name"].as_str().unwrap();
            let limit = match name {
                "job c" => 1.0,
                "job d" => 0.5,
                "job e" => 0.9,
                "job f" => 0.4,
                _ => 3.0,
            };
            let price = job["price"].as_str().unwrap().parse::<f64>().unwrap();
            assert!(price > 0.0 && price <= limit, "{job}");
        }
        let running: u64 = over.iter().map(|job| job["chips"].as_u64().unwrap()).sum();
        assert!(running <= 24, "no more than was cut runs on: {view}");
        // They are no free chips: whoever got what is left, no more is in use than there was before the cut.
        let list = app.get("/api/v1/organisation/watch-list").await.json();
        let flagged = list["over_grant"].as_array().unwrap();
        for job in &over {
            assert!(flagged.iter().any(|row| row["team"] == job["team"]), "{job}: {list}");
        }
        assert!(flagged.iter().all(|row| row["in_use"].as_u64() > row["granted"].as_u64()), "{list}");
        app.clear_many(3).await;
        let row = app.get("/api/v1/market").await.json()["rows"][0].clone();
        let chips = |kind: &str| row["occupancy"][kind].as_u64().unwrap();
        let (paid, free) = (chips("paid"), chips("opportunistic"));
        assert!(row["chip_type"] == "A100" && paid + free <= 32, "{row}");
        assert!(paid + free + state(&app).await.0 <= 56, "{row}");
        let page = app.admin().open("/supply/cuts").await;
        assert!(
            page.body.contains("Over quota until drained") && page.body.contains("job "),
            "{}",
            page.body
        );
        // Its member ends a job: it is drained.
        let outsider = app.outsider().await;
        let ads =
            over.iter().filter(|job| job["team"] == "ads").map(|job| job["bid"].as_str().unwrap().to_owned());
        let ads: Vec<String> = ads.collect();
        app.forget();
        app.clear_many(5).await;
        if !ads.is_empty() {
            let end = json!({"bids": ads, "change": "cancel"});
            let ended = outsider.json("POST", "/api/v1/teams/ads/bids/changes", &end).await;
            assert_eq!(ended.status, 200, "{}", ended.body);
        }
        app.clear_many(6).await;
        let left = cuts(&app).await;
        assert!(left["over_quota"].as_array().unwrap().iter().all(|job| job["team"] != "ads"), "{left}");
        assert!(spent(&app, "ads").await < before, "what runs on is charged");
        // Chips that come back are granted as ever, and nobody is over quota any more.
        app.set_shared("A100", 40).await;
        app.clear_many(2).await;
        assert_eq!(state(&app).await.0, 0, "{}", app.store.name);
        verifies(&app).await;
    }
}

#[tokio::test]
async fn t085_t088_t089_reclaiming_goes_lowest_price_first_within_the_churn_limit_until_the_cut_is_free() {
    for mut app in markets().await {
        assert_eq!(set_policy(&app, "reclaim", Some(8)).await.status, 204);
        app.clear_many(3).await;
        app.set_shared("A100", 16).await;
        let mut taken = Vec::new();
        let mut over_before = u64::MAX;
        for _ in 0..8 {
            let before = state(&app).await.1;
            app.clear().await;
            let (over, reclaims) = state(&app).await;
            let by_policy =
                reclaims[..reclaims.len() - before.len()].iter().filter(|(_, why)| why == "policy");
            let chips: u64 = by_policy.map(|(chips, _)| chips).sum();
            assert!(chips < 8 + 16, "{}: the limit and at most the rest of one gang", app.store.name);
            assert!(over <= over_before || over_before == u64::MAX, "it drains");
            over_before = over;
            taken.push(chips);
        }
        assert_eq!(over_before, 0, "{}: all that was cut is free: {taken:?}", app.store.name);
        assert!(taken.iter().filter(|chips| **chips > 0).count() > 1, "over several cycles: {taken:?}");
        let view = cuts(&app).await;
        for row in view["reclaims"].as_array().unwrap() {
            let cycle = app.get(&format!("/api/v1/cycles/{}", row["cycle"])).await.json();
            let bids = cycle["bids"].as_array().unwrap();
            let bid = bids.iter().find(|bid| bid["bid"] == row["bid"]).unwrap();
            assert_eq!(bid["chips"], 0, "who is granted chips keeps them: {row}");
        }
        let last_hour = view["reclaimed_last_hour"].as_u64().unwrap();
        assert!(last_hour >= taken.iter().sum(), "{last_hour}");
        let metrics = app.get("/metrics").await.body;
        assert!(
            metrics.contains(&format!("quota_marketplace_reclaimed_chips_last_hour {last_hour}")),
            "{metrics}"
        );
        let csv = app.get("/api/v1/supply/cuts?format=csv").await.body;
        assert!(csv.lines().count() > 2 && csv.contains(",policy,"), "{csv}");
        verifies(&app).await;
    }
}

#[tokio::test]
async fn the_policy_is_set_with_a_reason_and_refused_beside_its_field() {
    let mut app = TestApp::with_bids().await;
    app.clear().await;
    let refused = set_policy(&app, "keep", Some(4)).await;
    assert!(refused.status == 422 && refused.body.contains("churn_chips"), "{}", refused.body);
    assert_eq!(set_policy(&app, "reclaim", Some(0)).await.status, 422);
    let page = app
        .admin()
        .post("/supply/cuts/policy", &[("policy", "reclaim"), ("churn_chips", "x"), ("reason", "")])
        .await;
    assert!(
        page.status == 422 && page.body.contains("f-churn_chips-error") && page.body.contains("value=\"x\"")
    );
    let fields = [("policy", "reclaim"), ("churn_chips", "64"), ("reason", "gently")];
    assert_eq!(app.admin().post("/supply/cuts/policy", &fields).await.status, 303);
    let view = cuts(&app).await;
    assert_eq!((&view["policy"], &view["churn_chips"]), (&json!("reclaim"), &json!(64)));
    let engineer = app.engineer().await;
    let body = json!({"policy": "keep", "reason": "mine"});
    assert_eq!(engineer.json("PUT", "/api/v1/supply/cuts/policy", &body).await.status, 403);
    assert_eq!(engineer.get("/api/v1/supply/cuts").await.status, 404);
    let stale = app
        .send_as(
            &crate::audit::viewer("ada", &[common::api::Role::Admin]),
            Method::PUT,
            "/api/v1/supply/cuts/policy",
            &[("if-match", "\"old\"")],
            axum::body::Body::from(body.to_string()),
        )
        .await;
    assert_eq!(stale.status, 412);
}
