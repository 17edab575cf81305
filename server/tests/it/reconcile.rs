//! Reconciliation: everything adds up, and one row that was altered behind the program's back is found by the right check.
#![expect(clippy::unwrap_used, reason = "what fails here fails the test")]

use std::sync::Arc;

use server::cycle::maintain;
use server::services::jobs::Worker;
use server::store::Place;
use tokio_util::sync::CancellationToken;

use crate::app::TestApp;
use crate::client::Client;
use crate::fixture::{self, TestStore};

/// A market with some hours of history, rolled up, on both stores.
async fn markets() -> Vec<TestApp> {
    let mut apps = Vec::new();
    for store in fixture::both().await {
        let mut app = TestApp::with_bids_on(store).await;
        app.clear_many(130).await;
        while maintain(&app.store.store, app.services().now(), 24).await.unwrap() {}
        apps.push(app);
    }
    apps
}

async fn run(app: &TestApp, client: &Client, query: &str) -> serde_json::Value {
    let folder = tempfile::tempdir().unwrap();
    let worker = Worker::new(Arc::clone(app.services()), folder.path().to_owned());
    let path = format!("/api/v1/reconciliations{query}");
    let begun = client.json("POST", &path, &serde_json::json!({})).await;
    assert_eq!(begun.status, 202, "{}", begun.body);
    assert!(worker.run_next(&CancellationToken::new()).await.unwrap());
    client.get("/api/v1/reconciliations").await.json()[0].clone()
}

/// Runs statements as somebody with a database tool would, with the triggers out of the way.
async fn tamper(store: &TestStore, statements: &[&'static str]) {
    match &store.place {
        Place::Sqlite { path, .. } => {
            let options = sqlx::sqlite::SqliteConnectOptions::new().filename(path).foreign_keys(false);
            let pool = sqlx::SqlitePool::connect_with(options).await.unwrap();
            let triggers: Vec<String> = sqlx::query_scalar(
                "SELECT 'DROP TRIGGER ' || name FROM sqlite_schema WHERE type = 'trigger'",
            )
            .fetch_all(&pool)
            .await
            .unwrap();
            for statement in triggers {
                sqlx::query(sqlx::AssertSqlSafe(statement)).execute(&pool).await.unwrap();
            }
            for statement in statements {
                assert!(
                    sqlx::query(*statement).execute(&pool).await.unwrap().rows_affected() > 0,
                    "{statement}"
                );
            }
            pool.close().await;
        }
        Place::Postgres { url, .. } => {
            let pool = sqlx::PgPool::connect(url).await.unwrap();
            let mut connection = pool.acquire().await.unwrap();
            sqlx::query("SET session_replication_role = replica").execute(&mut *connection).await.unwrap();
            for statement in statements {
                let done = sqlx::query(*statement).execute(&mut *connection).await.unwrap();
                assert!(done.rows_affected() > 0, "{statement}");
            }
        }
    }
}

fn off(run: &serde_json::Value) -> Vec<&str> {
    let figures = run["figures"].as_array().unwrap_or_else(|| panic!("{run}"));
    figures
        .iter()
        .filter(|figure| figure["off"] != 0)
        .map(|figure| figure["check"].as_str().unwrap())
        .collect()
}

#[tokio::test]
async fn t041_everything_adds_up_and_each_check_shows_its_figure() {
    for app in markets().await {
        let finance = app.finance().await;
        let run = run(&app, &finance, "?period=2026-11").await;
        assert_eq!(off(&run), [""; 0], "{}: {run}", app.store.name);
        let figures = run["figures"].as_array().unwrap();
        let names: Vec<_> = figures.iter().map(|figure| figure["check"].as_str().unwrap()).collect();
        assert_eq!(names, ["sums", "balances", "chain", "occupancy", "supply", "roll-ups"]);
        assert!(figures.iter().all(|figure| figure["compared"].as_u64().unwrap() > 0), "{run}");
        for (place, total) in [(1, Some("0.00")), (2, None)] {
            assert_eq!(figures[place]["total"].as_str(), total, "all accounts sum to zero");
        }
        assert!(
            figures.iter().all(|figure| ["0.00", ""].contains(&figure["difference"].as_str().unwrap_or("")))
        );
        // What teams were charged is what the ledger has as charges.
        let charged = run["figures"][3]["total"].as_str().unwrap();
        let ledger = finance.get("/api/v1/exports/ledger?period=2026-11").await.body;
        let mut reader = csv::Reader::from_reader(ledger.as_bytes());
        let of_step_one_on: i64 = reader
            .records()
            .map(Result::unwrap)
            .filter(|row| &row[2] == "charge" && &row[10] == "team")
            .map(|row| -row[12].parse::<common::money::MicroCredits>().unwrap().0)
            .sum();
        assert_eq!(common::money::MicroCredits(of_step_one_on).to_string(), charged);
        assert_eq!((&run["job"]["state"], &run["job"]["user_name"]), (&"done".into(), &"finance".into()));
        let page = app.auditor().await.open("/finance/reconciliation").await;
        assert!(
            page.status == 200 && page.body.contains("the difference of each check is 0"),
            "{}",
            page.status
        );
    }
}

#[tokio::test]
async fn t041_each_day_is_reconciled_when_it_is_over_and_a_mismatch_is_told() {
    for mut app in markets().await {
        let (services, finance) = (Arc::clone(app.services()), app.finance().await);
        let folder = tempfile::tempdir().unwrap();
        let worker = Worker::new(Arc::clone(&services), folder.path().to_owned());
        let stop = CancellationToken::new();
        let midnight = services.keep_nights(None).await.unwrap();
        assert_eq!(midnight.to_string(), "2026-12-01T00:00:00Z");
        assert_eq!(services.keep_nights(Some(midnight)).await.unwrap(), midnight);
        assert!(!worker.run_next(&stop).await.unwrap(), "the day is not over");

        app.clock.advance_seconds(86_400);
        let next = services.keep_nights(Some(midnight)).await.unwrap();
        assert_eq!(next.to_string(), "2026-12-02T00:00:00Z");
        assert!(worker.run_next(&stop).await.unwrap());
        let run = finance.get("/api/v1/reconciliations").await.json()[0].clone();
        assert_eq!(
            (run["period"].as_str(), run["job"]["user_name"].as_str()),
            (Some("2026-11-30"), Some("nightly"))
        );
        assert_eq!(off(&run), [""; 0], "{}: {run}", app.store.name);
        assert_eq!(services.newest_reconciliation_off().await.unwrap(), Some(0));
        // Another server, or the same one after a new start, asks for no second one.
        assert_eq!(services.keep_nights(Some(midnight)).await.unwrap(), next);
        assert_eq!(services.keep_nights(None).await.unwrap(), next);
        assert!(!worker.run_next(&stop).await.unwrap());

        app.clear_many(2).await;
        tamper(&app.store, &["UPDATE ledger_transfer SET reason = 'as agreed' WHERE number = 12"]).await;
        // Nothing ran for two days: the night is made up for with the first look.
        app.clock.advance_seconds(86_400);
        assert!(services.keep_nights(Some(next)).await.unwrap() > next);
        assert!(worker.run_next(&stop).await.unwrap());
        let run = finance.get("/api/v1/reconciliations").await.json()[0].clone();
        assert_eq!((run["period"].as_str(), off(&run)), (Some("2026-12-01"), vec!["chain"]), "{run}");
        assert_eq!(services.newest_reconciliation_off().await.unwrap(), Some(1));
    }
}

#[tokio::test]
async fn t041_one_row_that_was_altered_is_found_by_the_right_check() {
    const FAULTS: [(&[&str], &[&str]); 8] = [
        (
            &["sums", "balances", "chain"],
            &["UPDATE ledger_entry SET amount = amount + 1000000 WHERE transfer = 20 AND place = 1"],
        ),
        (
            &["balances", "chain"],
            &["UPDATE ledger_entry SET balance_after = balance_after + 7 WHERE transfer = 20 AND place = 1"],
        ),
        (&["chain"], &["UPDATE ledger_transfer SET reason = 'as agreed' WHERE number = 12"]),
        (
            &["chain"],
            &[
                "DELETE FROM ledger_entry WHERE transfer = 12",
                "DELETE FROM ledger_transfer WHERE number = 12",
            ],
        ),
        (
            &["occupancy", "roll-ups"],
            &["UPDATE pool_price SET local_price = local_price + 1000 WHERE local_price > 0"],
        ),
        (
            &["occupancy", "supply"],
            &["UPDATE team_quota SET used = used - 1 WHERE used > 0 AND team = 'speech'"],
        ),
        (
            &["supply", "roll-ups"],
            &["UPDATE price SET paid = paid + 1 WHERE cycle = 44 AND chip_type = 'A100'"],
        ),
        (&["roll-ups"], &["UPDATE usage_hour SET cost = cost + 1"]),
    ];
    for (checks, statements) in FAULTS {
        for app in markets().await {
            tamper(&app.store, statements).await;
            let finance = app.finance().await;
            let run = run(&app, &finance, "").await;
            assert_eq!(off(&run), checks, "{} {statements:?}: {run}", app.store.name);
            let figures = run["figures"].as_array().unwrap();
            let first = figures.iter().find(|figure| figure["off"] != 0).unwrap();
            assert!(!first["offender"].as_str().unwrap().is_empty());
            let page = finance.open("/finance/reconciliation").await.body;
            assert!(page.contains("Something does not add up") && page.contains("First: "));
            if statements[0].contains("transfer = 20") {
                let team = first["offending_team"].as_str().unwrap();
                assert!(page.contains(&format!("href=\"/budget/ledger/20?team={team}\"")), "{page}");
            }
            if statements[0].contains("amount + 1000000") {
                assert_eq!(figures[0]["difference"], "1.00", "the figure says by how much");
            }
        }
    }
}

#[tokio::test]
async fn only_those_who_read_all_money_reconcile() {
    for app in markets().await {
        for (user, status) in
            [("engineer", 404), ("outsider", 404), ("finance", 202), ("auditor", 202), ("admin", 202)]
        {
            let client = app.client(user).await;
            let begun = client.json("POST", "/api/v1/reconciliations", &serde_json::json!({})).await;
            assert_eq!(begun.status, status, "{user}");
            let listed = client.get("/api/v1/reconciliations").await.status;
            assert_eq!(listed, if status == 202 { 200 } else { 404 }, "{user}");
            assert_eq!(client.open("/finance/reconciliation").await.status, listed, "{user}");
        }
        let finance = app.finance().await;
        for period in ["2020-01", "soon"] {
            let refused = finance.post("/finance/reconciliation", &[("period", period)]).await;
            assert!(refused.status == 422 && refused.body.contains("f-period-error"), "{period}");
            assert!(refused.body.contains(&format!("value=\"{period}\"")), "what was typed is kept");
        }
        // A run of one's own can be cancelled on the page.
        let listed = finance.get("/api/v1/reconciliations").await.json();
        let own = listed.as_array().unwrap().iter().find(|run| run["job"]["user_name"] == "finance").unwrap();
        let path = format!("/finance/reconciliation/{}/cancel", own["job"]["id"].as_str().unwrap());
        assert_eq!(app.auditor().await.post(&path, &[]).await.status, 404);
        assert_eq!(finance.post(&path, &[]).await.status, 303);
        assert!(finance.open("/finance/reconciliation").await.body.contains("cancelled"));
    }
}
