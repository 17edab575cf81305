//! Supply: changed now and at a time to come, taken down for maintenance, previewed, and always clearing the same again.
#![expect(clippy::unwrap_used, reason = "what fails here fails the test")]

use axum::body::Body;
use axum::http::Method;
use common::api::Role;
use serde_json::{Value, json};
use server::cycle::verify::verify;

use crate::app::{Answer, TestApp};
use crate::audit::viewer;
use crate::fixture::{self, START};

/// A market with bids on either store.
pub(crate) async fn markets() -> Vec<TestApp> {
    let mut apps = Vec::new();
    for test in fixture::both().await {
        apps.push(TestApp::with_bids_on(test).await);
    }
    apps
}

fn chips(chip_type: &str, pool: Option<&str>, chips: u64) -> Value {
    match pool {
        None => json!({"set": "chips", "chip_type": chip_type, "chips": chips}),
        Some(pool) => json!({"set": "chips", "chip_type": chip_type, "pool": pool, "chips": chips}),
    }
}

pub(crate) async fn post(app: &TestApp, path: &str, headers: &[(&str, &str)], body: &Value) -> Answer {
    let admin = viewer("ada", &[Role::Admin]);
    app.send_as(&admin, Method::POST, path, headers, Body::from(body.to_string())).await
}

async fn change(app: &TestApp, edit: Value, at: Option<i64>) -> Answer {
    let at = at.map(|seconds| START.plus_seconds(seconds).to_string());
    post(app, "/api/v1/supply/changes", &[], &json!({"edit": edit, "at": at, "reason": "test"})).await
}

/// What the last cycle had of A100: supply, and chips that bids won and use.
pub(crate) async fn market(app: &TestApp) -> (u64, u64) {
    let view = app.get("/api/v1/market").await.json();
    let row = view["rows"].as_array().unwrap().iter().find(|row| row["chip_type"] == "A100").unwrap().clone();
    (row["occupancy"]["supply"].as_u64().unwrap(), row["occupancy"]["paid"].as_u64().unwrap())
}

/// The supply page's row of a hand: exist, under maintenance, in the market.
pub(crate) async fn hand(app: &TestApp, chip_type: &str, pool: Option<&str>) -> (u64, u64, u64) {
    let view = app.get("/api/v1/supply").await.json();
    let types = view["chip_types"].as_array().unwrap();
    let row = types.iter().find(|row| row["chip_type"] == chip_type).unwrap();
    let holdings = row["holdings"].as_array().unwrap();
    let Some(found) = holdings.iter().find(|holding| holding.get("pool").and_then(Value::as_str) == pool)
    else {
        return (0, 0, 0);
    };
    let number = |name: &str| found[name].as_u64().unwrap();
    (number("chips"), number("under_maintenance"), number("in_force"))
}

pub(crate) async fn verifies(app: &TestApp) {
    let report = verify(&app.store.store, None, None, |_, _| {}).await.unwrap();
    assert!(report.is_clean(), "{}: {report}", app.store.name);
}

#[tokio::test]
async fn a_change_takes_effect_in_the_next_cycle_and_a_planned_one_with_the_first_at_or_after_its_time() {
    for mut app in markets().await {
        app.clear().await;
        assert_eq!(market(&app).await.0, 56);
        let set = change(&app, chips("A100", None, 30), None).await;
        assert_eq!((set.status.as_u16(), set.json()["cycle"].clone()), (201, json!(2)), "{}", set.body);
        // 200 s after the start lies between cycles 3 and 4.
        let planned = change(&app, chips("A100", Some("research"), 0), Some(200)).await;
        assert_eq!(planned.json(), json!({"planned": 1}));
        let mut supplies = Vec::new();
        for _ in 0..3 {
            app.clear().await;
            supplies.push(market(&app).await.0);
        }
        assert_eq!(supplies, [46, 46, 30], "{}", app.store.name);
        let view = app.get("/api/v1/supply").await.json();
        assert_eq!((&view["planned"][0]["state"], &view["planned"][0]["cycle"]), (&json!("done"), &json!(4)));
        let history = app.get("/api/v1/supply/A100/history").await.json();
        let levels: Vec<(u64, u64)> = history["changes"]
            .as_array()
            .unwrap()
            .iter()
            .map(|level| (level["cycle"].as_u64().unwrap(), level["after"].as_u64().unwrap()))
            .collect();
        assert_eq!(levels.len(), 4, "{history}");
        assert!(levels.contains(&(2, 30)) && levels.contains(&(4, 0)));
        verifies(&app).await;
    }
}

#[tokio::test]
async fn t091_maintenance_takes_no_more_than_there_is_and_gives_back_what_it_took_after_a_restart() {
    for test in fixture::both().await {
        let mut app = TestApp::with_bids_on(test).await;
        app.clear().await;
        let window = |from: i64, to: i64| {
            json!({"chip_type": "A100", "pool": "research", "chips": 12, "reason": "new racks",
                "from": START.plus_seconds(from).to_string(), "to": START.plus_seconds(to).to_string()})
        };
        for (from, to, key) in [(120, 300, "one"), (180, 240, "two"), (180, 240, "two")] {
            let planned =
                post(&app, "/api/v1/supply/maintenance", &[("idempotency-key", key)], &window(from, to))
                    .await;
            assert_eq!(planned.status, 201, "{}", planned.body);
        }
        let taken =
            post(&app, "/api/v1/supply/maintenance", &[("idempotency-key", "two")], &window(1, 2)).await;
        assert_eq!(taken.status, 409, "{}", taken.body);
        let mut seen = Vec::new();
        for cycle in 2..=5 {
            app.clear().await;
            seen.push(hand(&app, "A100", Some("research")).await);
            if cycle == 2 {
                let refused = change(&app, chips("A100", Some("research"), 11), None).await;
                assert_eq!(refused.status, 422, "12 of them are down: {}", refused.body);
                app.forget();
            }
        }
        assert_eq!(seen, [(16, 12, 4), (16, 16, 0), (16, 12, 4), (16, 0, 16)], "{}", app.store.name);
        verifies(&app).await;
    }
}

#[tokio::test]
async fn t083_the_second_of_two_admins_is_told_what_the_first_did_and_may_set_it_all_the_same() {
    let mut app = TestApp::with_bids().await;
    app.clear().await;
    let version = app.get("/api/v1/supply").await.json()["chip_types"][0]["holdings"][0]["version"].clone();
    let version = format!("\"{}\"", version.as_str().unwrap());
    let body = |chips_set: u64| json!({"edit": chips("A100", None, chips_set), "reason": "less power"});
    let first = post(&app, "/api/v1/supply/changes", &[("if-match", &version)], &body(30)).await;
    assert_eq!(first.status, 201, "{}", first.body);
    let second = post(&app, "/api/v1/supply/changes", &[("if-match", &version)], &body(50)).await;
    assert_eq!(second.status, 412);
    let detail = second.json()["detail"].as_str().unwrap().to_owned();
    assert!(detail.contains("ada of the test changed this") && detail.contains("less power"), "{detail}");
    assert!(detail.contains("it is 30 chips now"), "{detail}");

    // On the page: what was typed is kept, what is in force is said, and sent again it is set.
    let admin = app.admin();
    let fields = |version: &str| {
        [
            ("chip_type", "A100"),
            ("chips", "44"),
            ("reason", "more racks"),
            ("confirmed", "yes"),
            ("id", "x"),
            ("at", ""),
            ("version", version),
        ]
        .map(|(name, value)| (name.to_owned(), value.to_owned()))
    };
    let pairs = fields("old");
    let pairs: Vec<(&str, &str)> =
        pairs.iter().map(|(name, value)| (name.as_str(), value.as_str())).collect();
    let refused = admin.post("/supply/chips", &pairs).await;
    assert_eq!(refused.status, 412);
    for text in ["of the test changed this at", "value=\"44\"", "more racks", "30 chips"] {
        assert!(refused.body.contains(text), "{text}: {}", refused.body);
    }
}

#[tokio::test]
async fn what_can_not_be_set_is_refused_beside_its_field() {
    let mut app = TestApp::with_bids().await;
    app.clear().await;
    for (edit, field) in [
        (chips("A100", None, 4_294_967_296), "chips"),
        (chips("B200", None, 1), "chip_type"),
        (chips("A100", Some("nobody"), 1), "pool"),
        (json!({"set": "reserve", "chip_type": "B200", "reserve_price": "1.00"}), "chip_type"),
        (json!({"set": "reserve", "chip_type": "A100", "reserve_price": "9007199254.740992"}), "edit"),
        (json!({"set": "list_price", "chip_type": "B200", "list_price": "1.00"}), "chip_type"),
        (json!({"set": "list_price", "chip_type": "A100", "list_price": "0.00"}), "list_price"),
    ] {
        let refused = change(&app, edit.clone(), None).await;
        let named = refused.json()["errors"][0]["field"].as_str().unwrap_or_default().to_owned();
        assert!(
            refused.status == 422 && named.ends_with(field),
            "{edit}: {} {}",
            refused.status,
            refused.body
        );
    }
    for edit in [
        json!({"set": "chips", "chip_type": "A100", "chips": -1}),
        json!({"set": "chips", "chip_type": "A100", "chips": 1.5}),
    ] {
        assert_eq!(change(&app, edit, None).await.status, 422);
    }
    let past = change(&app, chips("A100", None, 1), Some(-60)).await;
    assert!(past.status == 422 && past.body.contains("is over"), "{}", past.body);
    let page = app
        .admin()
        .post("/supply/chips", &[("chip_type", "A100"), ("chips", "-3"), ("at", "soon"), ("reason", "")])
        .await;
    assert_eq!(page.status, 422);
    for text in ["id=\"f-chips-error\"", "id=\"f-at-error\"", "value=\"soon\""] {
        assert!(page.body.contains(text), "{text}: {}", page.body);
    }
    assert_eq!(hand(&app, "A100", None).await, (40, 0, 40), "nothing was set");
}

#[tokio::test]
async fn a_preview_says_who_loses_and_is_what_the_next_cycle_does() {
    let mut app = TestApp::with_bids().await;
    app.clear_many(3).await;
    let edits = json!({"edits": [chips("A100", None, 10)]});
    let auditor = viewer("ann", &[Role::Auditor]);
    let engineer = viewer("eve", &[]);
    let preview = async |who| {
        app.send_as(who, Method::POST, "/api/v1/supply/preview", &[], Body::from(edits.to_string())).await
    };
    assert_eq!(preview(&engineer).await.status, 404, "it tells of all teams");
    let said = preview(&auditor).await;
    assert_eq!(said.status, 200, "{}", said.body);
    let said = said.json();
    let a100 =
        said["chip_types"].as_array().unwrap().iter().find(|row| row["chip_type"] == "A100").unwrap().clone();
    assert_eq!(a100["supply_milli"], json!({"before": 56_000, "after": 26_000}));
    assert_eq!(a100["granted_milli"]["after"], 26_000);
    assert!(said["losing_bids"].as_u64().unwrap() >= 2, "{said}");
    assert_eq!(said["losing"][0]["name"].as_str().unwrap().split(' ').next(), Some("job"));
    let looks = app.get("/api/v1/audit?action=bids.read").await.json();
    assert_eq!(looks["items"][0]["object"], "preview", "the look at single bids is in the log");
    assert_eq!(hand(&app, "A100", None).await, (40, 0, 40), "a preview sets nothing");

    // The form asks before it sets.
    let fields = [("chip_type", "A100"), ("chips", "10"), ("at", ""), ("id", "x"), ("reason", "less power")];
    let asked = app.admin().post("/supply/chips", &fields).await;
    assert_eq!(asked.status, 200, "{}", asked.body);
    for text in ["Confirm the change", "Bids that lose chips", "less power", "It becomes 10 chips."] {
        assert!(asked.body.contains(text), "{text}");
    }
    assert_eq!(change(&app, chips("A100", None, 10), None).await.status, 201);
    app.clear().await;
    assert_eq!(market(&app).await, (26, 26));
}

#[tokio::test]
async fn t082_chips_that_are_taken_from_a_pool_are_not_sold_any_more() {
    let mut app = TestApp::with_bids().await;
    app.clear_many(2).await;
    assert_eq!(change(&app, chips("A100", Some("research"), 0), None).await.status, 201);
    assert_eq!(change(&app, chips("A100", None, 3), None).await.status, 201);
    app.clear().await;
    assert_eq!(market(&app).await, (3, 3), "only what is left is granted");
    verifies(&app).await;
}

#[tokio::test]
async fn t049_supply_that_changes_while_cycles_clear_is_never_sold_beyond_what_there_is() {
    for mut app in markets().await {
        app.clear().await;
        for round in 0..12_u64 {
            let edit = chips("A100", None, (round * 13) % 41);
            // The change and the clearing race; whichever is first, the other sees a whole state.
            let (admin, body) = (app.client("admin").await, json!({"edit": edit, "reason": "race"}));
            let set = async { admin.json("POST", "/api/v1/supply/changes", &body).await };
            let (set, _) = tokio::join!(set, app.clear());
            assert_eq!(set.status, 201, "{}", set.body);
            let (supply, granted) = market(&app).await;
            assert!(granted <= supply, "{granted} of {supply} are granted");
        }
        verifies(&app).await;
    }
}

#[tokio::test]
async fn t076_a_bid_for_more_than_own_and_borrowed_chips_is_refused() {
    let mut app = TestApp::with_bids().await;
    assert_eq!(change(&app, chips("A100", None, 0), None).await.status, 201);
    assert_eq!(change(&app, chips("A100", Some("research"), 64), None).await.status, 201);
    assert_eq!(change(&app, chips("A100", Some("products"), 100), None).await.status, 201);
    let lending = json!({"set": "lending", "pool": "products", "lends_at_most": 16});
    assert_eq!(change(&app, lending, None).await.status, 201);
    app.clear().await;
    let engineer = app.engineer().await;
    let bid = |chips: u64| {
        json!({"id": format!("big-{chips}"), "terms": {"name": "big", "note": "", "limit": "none",
            "alternatives": [{"chip_type": "A100", "chips": chips, "min_chips": 1}]}})
    };
    let most = engineer.json("POST", "/api/v1/teams/speech/bids", &bid(80)).await;
    assert_eq!(most.status, 201, "64 of its own and 16 that are lent: {}", most.body);
    let more = engineer.json("POST", "/api/v1/teams/speech/bids", &bid(81)).await;
    assert!(more.status == 422 && more.body.contains("80"), "{}", more.body);
}

#[tokio::test]
async fn a_plan_is_taken_back_while_it_waits_and_maintenance_ends_early() {
    let mut app = TestApp::with_bids().await;
    app.clear().await;
    assert_eq!(change(&app, chips("A100", None, 1), Some(300)).await.status, 201);
    let window = json!({"chip_type": "A100", "chips": 30, "reason": "racks",
        "from": START.plus_seconds(100).to_string(), "to": START.plus_seconds(900).to_string()});
    assert_eq!(post(&app, "/api/v1/supply/maintenance", &[], &window).await.status, 201);
    app.clear().await;
    assert_eq!(hand(&app, "A100", None).await, (40, 30, 10));
    for plan in [1, 2] {
        let path = format!("/api/v1/supply/planned/{plan}/cancel");
        assert_eq!(post(&app, &path, &[], &json!({"reason": " "})).await.status, 422, "why is asked");
        assert_eq!(post(&app, &path, &[], &json!({"reason": "not needed"})).await.status, 204);
        assert_eq!(post(&app, &path, &[], &json!({"reason": "again"})).await.status, 409);
    }
    app.clear_many(6).await;
    assert_eq!(hand(&app, "A100", None).await, (40, 0, 40), "all are back, and the change never came");
    let audited = app.get("/api/v1/audit?object_kind=supply").await.json();
    assert_eq!(audited["items"].as_array().unwrap().len(), 4);
    verifies(&app).await;
}

#[tokio::test]
async fn auditors_read_the_supply_admins_change_it_and_others_do_not_know_of_it() {
    let mut app = TestApp::with_bids().await;
    app.clear().await;
    for (user, status) in [("admin", 200), ("auditor", 200), ("finance", 404), ("engineer", 404)] {
        let client = app.client(user).await;
        let page = client.open("/supply").await;
        assert_eq!(page.status, status, "{user}");
        assert_eq!(page.body.contains("Set the chips"), user == "admin", "{user}");
        assert_eq!(client.get("/api/v1/supply").await.status, status, "{user}");
    }
    let body = json!({"edit": chips("A100", None, 1), "reason": "mine"});
    assert_eq!(app.auditor().await.json("POST", "/api/v1/supply/changes", &body).await.status, 403);
}

#[tokio::test]
async fn maintenance_is_shown_with_its_effect_before_it_is_planned() {
    let mut app = TestApp::with_bids().await;
    app.clear_many(2).await;
    let (from, to) = (START.plus_seconds(600).to_string(), START.plus_seconds(1_200).to_string());
    let mut fields = vec![
        ("chip_type", "A100"),
        ("chips", "30"),
        ("from", from.as_str()),
        ("to", to.as_str()),
        ("id", "m-1"),
        ("reason", "new racks"),
    ];
    let asked = app.admin().post("/supply/maintenance", &fields).await;
    assert_eq!(asked.status, 200, "{}", asked.body);
    for text in ["Confirm the maintenance", "Bids that lose chips", "new racks", "30 chips are down"] {
        assert!(asked.body.contains(text), "{text}: {}", asked.body);
    }
    assert!(
        app.get("/api/v1/supply").await.json()["planned"].as_array().unwrap().is_empty(),
        "nothing is planned yet"
    );
    fields.push(("confirmed", "yes"));
    assert_eq!(app.admin().post("/supply/maintenance", &fields).await.status, 303);
    assert_eq!(app.get("/api/v1/supply").await.json()["planned"][0]["state"], "waiting");
    for (field, value) in [("chips", "41"), ("to", from.as_str()), ("from", "today")] {
        let wrong: Vec<(&str, &str)> =
            fields[..6].iter().map(|pair| if pair.0 == field { (field, value) } else { *pair }).collect();
        let refused = app.admin().post("/supply/maintenance", &wrong).await;
        let place = format!("id=\"f-{field}-error\"");
        assert!(refused.status == 422 && refused.body.contains(&place), "{field}: {}", refused.body);
    }
    let past = [
        ("chip_type", "A100"),
        ("chips", "9"),
        ("at", "2020-01-01T00:00:00Z"),
        ("id", "c-1"),
        ("reason", "late"),
    ];
    let refused = app.admin().post("/supply/chips", &past).await;
    assert!(refused.status == 422 && refused.body.contains("id=\"f-at-error\""), "{}", refused.body);
}
