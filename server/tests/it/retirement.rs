//! Chip types that are retired, teams and pools that are archived: what they take no more, what runs on, what stays.
#![expect(clippy::unwrap_used, reason = "what fails here fails the test")]

use serde_json::{Value, json};
use server::cycle::verify::verify;

use crate::app::{Answer, TestApp};
use crate::client::Client;
use crate::fixture;

/// A bid of `chips` without a limit.
fn asks(chip_types: &[(&str, u64)]) -> Value {
    let alternative = |(id, chips): &(&str, u64)| json!({ "chip_type": id, "chips": chips, "min_chips": 1 });
    let alternatives: Vec<Value> = chip_types.iter().map(alternative).collect();
    json!({ "name": "a run", "alternatives": alternatives, "limit": "none" })
}

async fn place(client: &Client, team: &str, id: &str, terms: &Value) -> Answer {
    client.json("POST", &format!("/api/v1/teams/{team}/bids"), &json!({ "id": id, "terms": terms })).await
}

/// Opens a form, and posts it with what it carries along and a reason.
async fn confirm(client: &Client, path: &str) -> Answer {
    let page = client.open(path).await;
    assert_eq!(page.status, 200, "{path}: {}", page.body);
    let carried = |name: &str| {
        let rest = page.body.split_once(&format!("name=\"{name}\" value=\"")).expect("a field").1;
        rest.split_once('"').unwrap().0.to_owned()
    };
    let (version, out) = (carried("version"), carried("out"));
    client.post(path, &[("version", &version), ("out", &out), ("reason", "not needed any more")]).await
}

async fn on_market(app: &TestApp) -> Vec<String> {
    let market = app.get("/api/v1/market").await.json();
    let rows = market["rows"].as_array().unwrap().iter();
    rows.map(|row| {
        format!(
            "{}{}",
            row["chip_type"].as_str().unwrap(),
            if row["retired"] == true { " retired" } else { "" }
        )
    })
    .collect()
}

async fn assert_verifies(app: &TestApp) {
    let report = verify(&app.store.store, None, None, |_, _| {}).await.unwrap();
    assert!(report.is_clean(), "{report}");
}

#[tokio::test]
async fn t082_use_of_a_retired_chip_type_counts_until_its_bids_end_and_nothing_more_is_sold() {
    for test in fixture::both().await {
        fixture::create(&test.store).await;
        let mut app = TestApp::on(test).await;
        let engineer = app.engineer().await;
        assert_eq!(place(&engineer, "speech", "runs", &asks(&[("H100", 3)])).await.status, 201);
        assert_eq!(
            place(&engineer, "speech", "paused", &asks(&[("H100", 1), ("A100", 1)])).await.status,
            201
        );
        app.clear().await;
        let pause = json!({ "bids": ["paused"], "change": "pause" });
        assert_eq!(engineer.json("POST", "/api/v1/teams/speech/bids/changes", &pause).await.status, 200);
        app.clear().await;

        let retire = "/organisation/chip-types/H100/retire";
        let asked = app.get(retire).await;
        assert!(asked.body.contains("Open bids that name it"), "{}", asked.body);
        assert_eq!(confirm(app.admin(), retire).await.status, 303);
        // It takes no new bids from now on, in words, also none that ask for more.
        let refused = place(&engineer, "vision", "late", &asks(&[("A100", 1), ("H100", 1)])).await;
        assert_eq!(refused.status, 422, "{}", refused.body);
        assert_eq!(refused.json()["errors"][0]["field"], "terms.alternatives[1].chip_type");
        assert!(refused.body.contains("H100 is retired and takes no new bids"), "{}", refused.body);
        let more = json!({ "version": 1, "terms": asks(&[("H100", 4)]) });
        assert_eq!(engineer.json("PUT", "/api/v1/bids/runs", &more).await.status, 422);

        // What is used is used on: it counts, is charged, and is on the market as long as it is.
        app.clear_many(6).await;
        assert_eq!(on_market(&app).await, ["A100", "H100 retired"]);
        let bid = engineer.get("/api/v1/bids/runs").await.json();
        assert_eq!((&bid["bid"]["now"]["chips"], &bid["bid"]["retired"]), (&json!(3), &json!(["H100"])));
        let page = engineer.open("/bids?team=speech").await;
        assert!(
            page.body.contains("H100 is retired: the bid keeps its place and chips until it ends."),
            "{}",
            page.body
        );
        assert!(
            page.body.contains("H100 is retired: it can&#39;t be resumed with it.")
                || page.body.contains("H100 is retired: it can't be resumed with it.")
        );
        // A change that asks for nothing more of it is fine; coming back to it is not.
        let mut cheaper = asks(&[("H100", 3)]);
        cheaper["limit"] = json!("9.00");
        let kept =
            engineer.json("PUT", "/api/v1/bids/runs", &json!({ "version": 1, "terms": cheaper })).await;
        assert_eq!(kept.status, 200, "{}", kept.body);
        let resume = json!({ "bids": ["paused"], "change": "resume" });
        let refused = engineer.json("POST", "/api/v1/teams/speech/bids/changes", &resume).await;
        assert_eq!(refused.status, 409, "{}", refused.body);
        assert!(refused.body.contains("names H100, which is retired"), "{}", refused.body);

        // With its last bid it leaves the market; its history stays.
        let end = json!({ "bids": ["runs"], "change": "cancel" });
        assert_eq!(engineer.json("POST", "/api/v1/teams/speech/bids/changes", &end).await.status, 200);
        app.clear_many(2).await;
        assert_eq!(on_market(&app).await, ["A100"]);
        let form = engineer.open("/bids/new?team=speech").await;
        assert!(
            form.body.contains("value=\"A100\"") && !form.body.contains("value=\"H100\""),
            "{}",
            form.body
        );
        assert_eq!(app.get("/api/v1/chip-types/H100/prices").await.status, 200);
        let charged = app.get("/api/v1/allocations?group_by=chip_type&chip_type=H100").await.json();
        assert!(charged["series"][0]["used_milli_chip_hours"].as_u64().unwrap() > 0, "{charged}");
        assert_eq!(app.get("/api/v1/cycles/9").await.json()["chip_types"].as_array().unwrap().len(), 1);
        assert_verifies(&app).await;

        // Taken back, it is there as before.
        assert_eq!(confirm(app.admin(), retire).await.status, 303);
        app.clear().await;
        assert_eq!(on_market(&app).await, ["A100", "H100"]);
        assert_eq!(place(&engineer, "vision", "late", &asks(&[("H100", 1)])).await.status, 201);
        app.clear().await;
        assert_verifies(&app).await;
        let log = app.get("/api/v1/audit?object_kind=chip_type").await.json();
        let deeds: Vec<_> =
            log["items"].as_array().unwrap().iter().map(|entry| entry["action"].clone()).collect();
        assert_eq!(deeds, [json!("chip_type.taken_back"), json!("chip_type.retired")]);
    }
}

#[tokio::test]
async fn t044_t133_an_archived_team_is_charged_to_the_end_and_no_bid_lands_on_it() {
    for test in fixture::both().await {
        fixture::create(&test.store).await;
        let mut app = TestApp::on(test).await;
        let engineer = app.engineer().await;
        assert_eq!(place(&engineer, "speech", "holds", &asks(&[("A100", 56)])).await.status, 201);
        assert_eq!(place(&engineer, "vision", "other", &asks(&[("A100", 40)])).await.status, 201);
        app.clear_many(3).await;
        let before = app.get("/api/v1/teams/speech/budget").await.json();
        assert_ne!(before["burn"], "0.00", "{before}");

        assert_eq!(confirm(app.admin(), "/organisation/teams/speech/archive").await.status, 303);
        app.clear_many(7).await;
        // Its chips are back on the market; what it used until then is charged to it, and stays to be read.
        let after = app.get("/api/v1/teams/speech/budget").await.json();
        assert_eq!((&after["burn"], &after["income"]), (&json!("0.00"), &json!("0.00")), "{after}");
        let charges = app.get("/api/v1/teams/speech/ledger?kind=charge").await.json();
        let last = &charges["items"][0];
        assert_eq!(
            (&last["amount"] != "0.00", last["chip_seconds"].as_u64().unwrap() > 0),
            (true, true),
            "{charges}"
        );
        let other = engineer.get("/api/v1/bids/other").await.json();
        assert_eq!(other["bid"]["now"]["chips"], 40, "{other}");
        assert_eq!(app.get("/api/v1/bids/holds").await.json()["bid"]["status"], "cancelled");

        // Whose first team it was falls back to another one, and nothing is placed for the archived one.
        let session = engineer.get("/api/v1/session").await.json();
        let teams = session["teams"].as_array().or_else(|| session["viewer"]["teams"].as_array()).unwrap();
        assert_eq!(teams.len(), 1, "{session}");
        let page = engineer.open("/bids").await;
        assert!(page.body.contains("other") || page.body.contains("vision"), "{}", page.body);
        let refused = place(&engineer, "speech", "late", &asks(&[("A100", 1)])).await;
        assert!([403, 404].contains(&refused.status.as_u16()), "{}", refused.body);
        let mut tx = app.store.store.write().await.unwrap();
        let program =
            server::services::bids::place(&mut tx, fixture::START, fixture::bid("late", "speech", "A100", 1))
                .await;
        assert!(program.unwrap_err().message().contains("the team speech is archived and takes no bids"));
        drop(tx);
        let joins = [("login", "engineer"), ("place", "member"), ("reason", "again")];
        let refused = app.admin().post("/organisation/teams/speech/members", &joins).await;
        assert!(
            refused.body.contains("is archived; restore it first"),
            "{} {}",
            refused.status,
            refused.body
        );
        let list = app.get("/organisation").await.body;
        assert!(list.contains("Archived"), "{list}");
        assert_verifies(&app).await;

        assert_eq!(confirm(app.admin(), "/organisation/teams/speech/archive").await.status, 303);
        app.clear().await;
        assert_eq!(app.get("/api/v1/teams/speech/budget").await.json()["income"], "0.00");
        let log = app.get("/api/v1/audit?action=team.archived").await.json();
        assert_eq!(log["items"][0]["after"]["ended_bids"], json!(["holds"]));
        assert_eq!(log["items"][0]["after"]["removed_members"], json!(["engineer"]));
        assert_verifies(&app).await;
    }
}

#[tokio::test]
async fn a_pool_is_archived_once_it_has_no_team_and_no_chips() {
    let mut app = TestApp::new().await;
    app.clear().await;
    let path = "/organisation/pools/products/archive";
    let refused = confirm(app.admin(), path).await;
    assert_eq!(refused.status, 409, "{}", refused.body);
    assert!(
        refused.body.contains("he pool products has teams in use (ads); archive them first"),
        "{}",
        refused.body
    );
    assert_eq!(confirm(app.admin(), "/organisation/teams/ads/archive").await.status, 303);
    assert_eq!(confirm(app.admin(), path).await.status, 303);
    app.clear_many(2).await;
    let team = [
        ("id", "new"),
        ("name", "New"),
        ("pool", "products"),
        ("income", "1"),
        ("leverage", "1"),
        ("reason", "r"),
    ];
    let refused = app.admin().post("/organisation/teams/new", &team).await;
    assert!(refused.body.contains("is archived; restore it, or choose another"), "{}", refused.body);
    let refused = confirm(app.admin(), "/organisation/teams/ads/archive").await;
    assert_eq!(refused.status, 409, "{}", refused.body);
    let cycle = app.get("/api/v1/cycles/3").await.json();
    assert!(!cycle.to_string().contains("\"products\""), "{cycle}");
    assert_verifies(&app).await;
}
