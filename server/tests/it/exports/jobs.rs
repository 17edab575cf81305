//! Exports in the background.

use std::path::PathBuf;
use std::sync::Arc;

use axum::body::Body;
use axum::http::Request;
use server::services::jobs::{FILE_SECONDS, Worker};
use tokio_util::sync::CancellationToken;

use super::*;

/// A worker and the folder of its files.
struct Workshop {
    worker: Worker,
    folder: tempfile::TempDir,
    stop: CancellationToken,
}

impl Workshop {
    fn of(app: &TestApp) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let worker = Worker::new(Arc::clone(app.services()), folder.path().join("files"));
        Self { worker, folder, stop: CancellationToken::new() }
    }

    async fn run(&self) -> bool {
        self.worker.run_next(&self.stop).await.unwrap()
    }

    fn files(&self) -> Vec<PathBuf> {
        let Ok(entries) = std::fs::read_dir(self.folder.path().join("files")) else { return Vec::new() };
        entries.map(|entry| entry.unwrap().path()).collect()
    }
}

async fn begin(client: &Client, path: &str) -> serde_json::Value {
    let answer = client.json("POST", &format!("/api/v1/exports/{path}"), &serde_json::json!({})).await;
    assert_eq!(answer.status, 202, "{}", answer.body);
    answer.json()
}

async fn job(client: &Client, id: &serde_json::Value) -> serde_json::Value {
    client.get(&format!("/api/v1/jobs/{}", id.as_str().unwrap())).await.json()
}

#[tokio::test]
async fn a_job_makes_the_same_file_as_a_download_and_is_found_again() {
    for app in markets(12).await {
        let (shop, finance) = (Workshop::of(&app), app.finance().await);
        let begun = begin(&finance, "ledger?period=2026-11").await;
        assert_eq!((&begun["state"], &begun["percent"]), (&"waiting".into(), &0.into()));
        assert!(begun["expected_rows"].as_u64().unwrap() > 10);
        assert!(shop.run().await && !shop.run().await, "one job, {}", app.store.name);
        // Another browser of the same person finds it.
        let done = job(&app.finance().await, &begun["id"]).await;
        assert_eq!((&done["state"], &done["percent"]), (&"done".into(), &100.into()), "{done}");
        assert_eq!(done["rows"], done["expected_rows"]);
        let file = finance.get(done["file"].as_str().unwrap()).await;
        assert_eq!(file.body, finance.get("/api/v1/exports/ledger?period=2026-11").await.body);
        assert_eq!(done["bytes"].as_u64().unwrap(), file.body.len() as u64);
        assert!(file.header(axum::http::header::CONTENT_DISPOSITION).contains("ledger-2026-11-UTC.csv"));
        let listed = finance.get("/api/v1/jobs").await.json();
        assert_eq!(listed.as_array().unwrap().len(), 1);
        // Nobody else's.
        for path in [
            format!("/api/v1/jobs/{}", begun["id"].as_str().unwrap()),
            done["file"].as_str().unwrap().to_owned(),
        ] {
            assert_eq!(app.admin().get(&path).await.status, 404);
        }
    }
}

#[tokio::test]
async fn a_cancelled_job_stays_cancelled_and_leaves_no_file() {
    for app in markets(6).await {
        let (shop, finance) = (Workshop::of(&app), app.finance().await);
        let begun = begin(&finance, "ledger").await;
        let path = format!("/api/v1/jobs/{}", begun["id"].as_str().unwrap());
        let delete = || Request::delete(&path).body(Body::empty()).unwrap();
        assert_eq!(app.admin().send(delete()).await.status, 404, "nobody else's");
        assert_eq!(finance.send(delete()).await.json()["state"], "cancelled");
        assert!(!shop.run().await, "there is nothing to run");
        assert!(shop.files().is_empty());
        assert_eq!(finance.send(delete()).await.json()["state"], "cancelled", "it has ended already");
        assert_eq!(finance.get(&format!("{path}/file")).await.status, 404);
    }
}

#[tokio::test]
async fn a_job_of_a_program_that_ended_is_put_back_and_made_by_the_next_one() {
    for app in markets(6).await {
        let (shop, finance) = (Workshop::of(&app), app.finance().await);
        let begun = begin(&finance, "ledger").await;
        shop.stop.cancel();
        assert!(shop.run().await);
        let after = job(&finance, &begun["id"]).await;
        assert!(["waiting", "done"].contains(&after["state"].as_str().unwrap()), "{after}");
        let next = Workshop::of(&app);
        next.run().await;
        assert_eq!(job(&finance, &begun["id"]).await["state"], "done", "{}", app.store.name);
    }
}

#[tokio::test]
async fn a_job_that_nobody_is_heard_of_is_begun_anew() {
    for app in markets(6).await {
        let (shop, finance) = (Workshop::of(&app), app.finance().await);
        let begun = begin(&finance, "ledger").await;
        // What a killed process leaves behind.
        execute(&app.store, "UPDATE job SET state = 'running', seen_at = made_at, row_count = 7").await;
        assert!(!shop.run().await, "it may be alive");
        app.clock.advance_seconds(31);
        assert!(shop.run().await);
        let done = job(&finance, &begun["id"]).await;
        assert_eq!(done["state"], "done", "{}", app.store.name);
        assert!(done["rows"].as_u64().unwrap() > 7);
    }
}

#[tokio::test]
async fn a_file_with_rows_that_its_reader_may_no_longer_see_is_not_given_out() {
    for app in markets(6).await {
        let (shop, finance) = (Workshop::of(&app), app.finance().await);
        let begun = begin(&finance, "ledger").await;
        shop.run().await;
        let file = job(&finance, &begun["id"]).await["file"].as_str().unwrap().to_owned();
        assert_eq!(finance.get(&file).await.status, 200);
        let mut tx = app.store.store.write().await.unwrap();
        let none = BTreeSet::new();
        server::store::accounts::set_roles(&mut tx, &"finance".parse().unwrap(), &none).await.unwrap();
        tx.commit().await.unwrap();
        assert_eq!(finance.get(&file).await.status, 404, "{}", app.store.name);
    }
}

#[tokio::test]
async fn files_go_after_seven_days_and_nobody_has_more_than_five_open_jobs() {
    for app in markets(6).await {
        let (shop, finance) = (Workshop::of(&app), app.finance().await);
        for _ in 0..5 {
            begin(&finance, "prices").await;
        }
        let sixth = finance.json("POST", "/api/v1/exports/prices", &serde_json::json!({})).await;
        assert_eq!(sixth.status, 409, "{}", sixth.body);
        assert!(sixth.body.contains("cancel one"), "{}", sixth.body);
        while shop.run().await {}
        assert_eq!(shop.files().len(), 5);
        app.clock.advance_seconds(FILE_SECONDS + 1);
        assert!(!shop.run().await);
        assert!(shop.files().is_empty());
        let listed = app.finance().await.get("/api/v1/jobs").await.json();
        let states: Vec<_> = listed.as_array().unwrap().iter().map(|job| job["state"].clone()).collect();
        assert!(states.iter().all(|state| state == "done") && states.len() == 5, "{states:?}");
        assert!(listed.as_array().unwrap().iter().all(|job| job["file"].is_null()));
    }
}

#[tokio::test]
async fn a_folder_that_cant_be_written_fails_the_job_with_the_way_out() {
    let mut app = TestApp::with_bids().await;
    app.clear_many(6).await;
    let blocked = tempfile::NamedTempFile::new().unwrap();
    let worker = Worker::new(Arc::clone(app.services()), blocked.path().join("below-a-file"));
    let finance = app.finance().await;
    let begun = begin(&finance, "ledger").await;
    assert!(worker.run_next(&CancellationToken::new()).await.unwrap());
    let failed = job(&finance, &begun["id"]).await;
    assert_eq!(failed["state"], "failed");
    assert!(failed["error"].as_str().unwrap().contains("database.export_folder"), "{failed}");
}

#[tokio::test]
async fn the_page_offers_exports_and_keeps_what_was_typed() {
    let mut app = TestApp::with_bids().await;
    app.clear_many(6).await;
    let finance = app.finance().await;
    let page = finance.open("/finance/exports").await;
    assert_eq!(page.status, 200);
    assert!(page.body.contains("ledger-2026-11-UTC.csv") && page.body.contains("balance_after_credits"));
    assert!(page.body.contains("href=\"/api/v1/exports/ledger?period=2026-11\""), "{}", page.body);
    let refused = finance.open("/finance/exports?name=prices&period=2026-99").await;
    assert_eq!(refused.status, 422);
    assert!(refused.body.contains("value=\"2026-99\"") && refused.body.contains("f-period-error"));
    let begun = finance.post("/finance/exports", &[("name", "prices"), ("period", "2026-11")]).await;
    assert_eq!(begun.status, 303, "{}", begun.body);
    let listed = finance.open("/finance/exports").await;
    assert!(listed.body.contains("waiting for its turn") && listed.body.contains("data-goes-on"));
    let id = finance.get("/api/v1/jobs").await.json()[0]["id"].as_str().unwrap().to_owned();
    assert_eq!(finance.post(&format!("/finance/exports/jobs/{id}/cancel"), &[]).await.status, 303);
    let listed = finance.open("/finance/exports").await;
    assert!(listed.body.contains("cancelled") && !listed.body.contains("data-goes-on"));
    // An engineer exports as well, but knows of no audit log.
    let engineer = app.engineer().await;
    let page = engineer.open("/finance/exports").await;
    assert!(page.status == 200 && !page.body.contains("Audit log"));
    assert_eq!(engineer.open("/finance/exports?name=audit").await.status, 404);
}
