//! The organisation by REST: read and changed as a script does it, with versions, reasons and pages.
#![expect(clippy::unwrap_used, reason = "what fails here fails the test")]

use axum::body::Body;
use axum::http::{Request, header};
use common::api::Role;
use common::money::MicroCredits;
use serde_json::{Value, json};
use server::policy::Viewer;

use crate::app::{Answer, TestApp};
use crate::audit::viewer;
use crate::client::Client;
use crate::fixture;

/// Sends a change of what was read: its `ETag` goes back as `If-Match`.
async fn change(client: &Client, read: &Answer, method: &str, path: &str, body: &Value) -> Answer {
    let request =
        Request::builder().method(method).uri(path).header(header::CONTENT_TYPE, "application/json");
    let request = request.header(header::IF_MATCH, read.header(header::ETAG));
    client.send(request.body(Body::from(body.to_string())).unwrap()).await
}

/// All items of a list, page by page.
async fn all(client: &Client, path: &str, limit: u32) -> Vec<Value> {
    let (mut items, mut cursor) = (Vec::new(), String::new());
    loop {
        let page = client.get(&format!("{path}?limit={limit}{cursor}")).await;
        assert_eq!(page.status, 200, "{}", page.body);
        let page = page.json();
        let rows = page["items"].as_array().unwrap();
        assert!(rows.len() <= limit as usize);
        items.extend(rows.iter().cloned());
        let Some(next) = page["next_cursor"].as_str() else { return items };
        cursor = format!("&cursor={next}");
    }
}

fn ids(items: &[Value], field: &str) -> Vec<String> {
    items.iter().map(|item| item[field].as_str().unwrap().to_owned()).collect()
}

#[tokio::test]
async fn a_script_sets_up_a_pool_with_a_team_and_its_people() {
    for test in fixture::both().await {
        fixture::create(&test.store).await;
        let mut app = TestApp::on(test).await;
        app.clear().await;
        let pool = json!({ "id": "new", "name": "New", "weight": "10", "reason": "a unit joins" });
        let made = app.admin().json("POST", "/api/v1/pools", &pool).await;
        assert_eq!((made.status.as_u16(), made.header(header::LOCATION)), (201, "/api/v1/pools/new"));
        assert_eq!((&made.json()["effective_cycle"], &made.json()["now"]["teams"]), (&json!(2), &json!(0)));
        let again = app.admin().json("POST", "/api/v1/pools", &pool).await;
        assert_eq!((again.status.as_u16(), &again.json()["errors"][0]["field"]), (422, &json!("id")));

        let keeper = json!({ "login": "outsider", "administers": true, "reason": "runs it" });
        let keeps = app.admin().json("PUT", "/api/v1/pools/new/admins", &keeper).await;
        assert_eq!(keeps.json()["admins"][0]["user"], "outsider", "{}", keeps.body);

        // The pool's administrator goes on.
        let keeper = app.outsider().await;
        let team = json!({ "id": "first", "pool": "new", "name": "First", "income": "5.5", "leverage_thousandths": 1500,
                           "reason": "its team" });
        assert_eq!(keeper.json("POST", "/api/v1/teams", &team).await.status, 201);
        let member = json!({ "login": "engineer", "leads": true, "reason": "their lead" });
        let members = keeper.json("POST", "/api/v1/teams/first/members", &member).await;
        assert_eq!(
            members.json()["items"],
            json!([{ "user": "engineer", "name": "engineer", "leads": true }])
        );
        app.clear_many(6).await;
        let budget = app.engineer().await.get("/api/v1/teams/first/budget").await.json();
        assert_eq!((&budget["income"], &budget["pool"]), (&json!("5.50"), &json!("new")));

        let out = json!({ "user": "engineer", "reason": "moves on" });
        assert_eq!(keeper.json("POST", "/api/v1/teams/first/members/removals", &out).await.status, 204);
        assert_eq!(keeper.json("POST", "/api/v1/teams/first/members/removals", &out).await.status, 404);
        let audited = app.get("/api/v1/audit?object=first").await.json();
        let actions = ids(audited["items"].as_array().unwrap(), "action");
        assert_eq!(actions, ["team.member_removed", "team.member_set", "team.added"], "{}", app.store.name);
    }
}

#[tokio::test]
async fn what_another_income_does_is_asked_for_before_it_is_set() {
    let mut app = TestApp::new().await;
    app.clear().await;
    let effect = app.get("/api/v1/teams/speech/income-effect?income=20").await.json();
    assert_eq!((&effect["total_before"], &effect["total_after"]), (&json!("61.00"), &json!("51.00")));
    assert_eq!((&effect["rebases"], &effect["effective_cycle"]), (&json!(true), &json!(2)));
    let vision =
        effect["balances"].as_array().unwrap().iter().find(|row| row["team"] == "vision").unwrap().clone();
    assert_eq!((&vision["before"], &vision["after"]), (&json!("100.00"), &json!("83.606557")));
    let read = app.get("/api/v1/teams/speech").await;
    let body = json!({ "name": "speech", "income": "20", "reason": "less work" });
    let set = change(app.admin(), &read, "PUT", "/api/v1/teams/speech", &body).await;
    assert_eq!((set.status.as_u16(), &set.json()["now"]["income"]), (200, &json!("20.00")), "{}", set.body);
    assert_eq!(set.header(header::ETAG), app.get("/api/v1/teams/speech").await.header(header::ETAG));
    app.clear().await;
    let ledger = app.get("/api/v1/teams/vision/ledger?kind=rebase").await.json();
    // What was earned in the minute before is in it as well.
    let after: MicroCredits = ledger["items"][0]["balance_after"].as_str().unwrap().parse().unwrap();
    assert!((83_606_557..85_000_000).contains(&after.0), "as it was said: {after}");
    for (income, field) in [("-5", "income"), ("1e309", "income"), ("NaN", "income"), ("1,000", "income")] {
        let read = app.get("/api/v1/teams/speech").await;
        let body = json!({ "name": "speech", "income": income, "reason": "why" });
        let refused = change(app.admin(), &read, "PUT", "/api/v1/teams/speech", &body).await;
        assert_eq!(
            (refused.status.as_u16(), &refused.json()["errors"][0]["field"]),
            (422, &json!(field)),
            "{income}"
        );
    }
}

#[tokio::test]
async fn a_change_from_an_old_version_is_refused_and_loses_nothing() {
    let app = TestApp::new().await;
    let settings = |name: &str| {
        json!({ "name": name, "time_zone": "Europe/Berlin", "cycle_seconds": 60, "accounting_seconds": 300,
                "sustain_minutes": 120, "rebase_balances": true, "raw_retention_days": 90, "most_bid_hours": 24,
                "reason": "a new name" })
    };
    let admin = app.admin();
    for (path, first, second) in [
        ("/api/v1/organisation", settings("One"), settings("Two")),
        (
            "/api/v1/pools/research",
            json!({ "name": "One", "weight": "60", "lends_at_most": 0, "reason": "r" }),
            json!({ "name": "Two", "weight": "60", "reason": "r" }),
        ),
        (
            "/api/v1/teams/speech",
            json!({ "name": "One", "income": "30", "reason": "r" }),
            json!({ "name": "Two", "income": "30", "reason": "r" }),
        ),
    ] {
        let read = admin.get(path).await;
        assert_eq!(change(admin, &read, "PUT", path, &first).await.status, 200, "{path}");
        let lost = change(admin, &read, "PUT", path, &second).await;
        assert_eq!(
            (lost.status.as_u16(), &lost.json()["type"]),
            (412, &json!("precondition_failed")),
            "{path}"
        );
        let missing = admin.json("PUT", path, &second).await;
        assert_eq!(missing.json()["errors"][0]["field"], "If-Match", "{path}");
        let present = admin.get(path).await;
        assert_eq!(present.json()["name"], "One", "{path}");
        assert_eq!(change(admin, &present, "PUT", path, &second).await.status, 200, "{path}");
    }
    // T095: none of its chips and all of them differ, and both come back as they were set.
    assert_eq!(admin.get("/api/v1/pools/research").await.json().get("lends_at_most"), None);
    assert_eq!(admin.get("/api/v1/organisation").await.json()["most_bid_hours"], 24);
    let read = admin.get("/api/v1/organisation").await;
    let mut bad = settings("Three");
    bad["accounting_seconds"] = json!(90);
    bad["time_zone"] = json!("Mars/Olympus");
    let refused = change(admin, &read, "PUT", "/api/v1/organisation", &bad).await.json();
    assert_eq!(ids(refused["errors"].as_array().unwrap(), "field"), ["accounting_seconds", "time_zone"]);
}

#[tokio::test]
async fn an_admin_s_script_makes_accounts_gives_roles_and_locks() {
    for test in fixture::both().await {
        fixture::create(&test.store).await;
        let app = TestApp::on(test).await;
        let new =
            json!({ "login": "Kim@example.com", "name": "Kim", "roles": ["finance"], "reason": "joins" });
        let made = app.admin().json("POST", "/api/v1/users", &new).await;
        assert_eq!(made.status, 201, "{}", made.body);
        let (path, person) = (made.header(header::LOCATION).to_owned(), made.json());
        assert_eq!((&person["login"], &person["roles"]), (&json!("kim@example.com"), &json!(["finance"])));
        assert_eq!((&person["has_password"], &person["linked"]), (&json!(false), &json!(false)));
        let again = app.admin().json("POST", "/api/v1/users", &new).await;
        assert_eq!(again.json()["errors"][0]["field"], "login");

        let read = app.get("/api/v1/users/finance").await;
        let (finance, none) = (app.finance().await, json!({ "roles": [], "reason": "moves on" }));
        let set = change(app.admin(), &read, "PUT", "/api/v1/users/finance/roles", &none).await;
        assert_eq!(set.json()["roles"], json!([]), "{}", set.body);
        assert_eq!(finance.get("/api/v1/audit").await.status, 404, "at once, in the same session");
        let lock = json!({ "locked": true, "reason": "left" });
        let lost = change(app.admin(), &read, "PUT", "/api/v1/users/finance/lock", &lock).await;
        assert_eq!(lost.status, 412, "the roles were changed since");
        assert_eq!(change(app.admin(), &set, "PUT", "/api/v1/users/finance/lock", &lock).await.status, 200);
        assert_eq!(finance.get("/api/v1/session").await.status, 401);

        let last = app.get("/api/v1/users/admin").await;
        let refused = change(app.admin(), &last, "PUT", "/api/v1/users/admin/roles", &none).await;
        assert_eq!((refused.status.as_u16(), &refused.json()["errors"][0]["field"]), (422, &json!("roles")));
        let wrong = json!({ "roles": ["king"], "reason": "r" });
        let refused = change(app.admin(), &last, "PUT", &format!("{path}/roles"), &wrong).await;
        assert_eq!(
            (refused.status.as_u16(), &refused.json()["errors"][0]["field"]),
            (422, &json!("roles[0]"))
        );
    }
}

#[tokio::test]
async fn lists_page_by_cursor_without_a_gap_or_a_repetition() {
    for test in fixture::both().await {
        fixture::create(&test.store).await;
        let app = TestApp::on(test).await;
        // Two of one name: the id tells them apart.
        for name in ["twin-a", "twin-b"] {
            let twin = Viewer { name: "Twin".to_owned(), ..viewer(name, &[Role::Auditor]) };
            fixture::add_person(&app.store.store, &twin).await;
        }
        let admin = app.admin();
        for (path, field) in [("/api/v1/users", "user"), ("/api/v1/teams", "id"), ("/api/v1/pools", "id")] {
            let whole = ids(&all(admin, path, 500).await, field);
            assert!(whole.len() >= 2);
            for limit in 1..=3 {
                assert_eq!(ids(&all(admin, path, limit).await, field), whole, "{path} by {limit}");
            }
            for query in ["limit=0", "limit=501", "cursor=before-3", "curser=x"] {
                assert_eq!(admin.get(&format!("{path}?{query}")).await.status, 422, "{path}?{query}");
            }
            let csv = admin.get(&format!("{path}?format=csv")).await.body;
            assert_eq!(csv.lines().count(), whole.len() + 1, "{csv}");
        }
        let research = admin.get("/api/v1/teams?pool=research").await.json();
        assert_eq!(ids(research["items"].as_array().unwrap(), "id"), ["speech", "vision"]);
        assert_eq!(admin.get("/api/v1/teams?pool=nope").await.status, 404);
        let chips = admin.get("/api/v1/chip-types").await.json();
        assert_eq!(chips["items"][0]["owned"], json!([{ "pool": "research", "chips": 16 }]));
        let others = app.outsider().await.get("/api/v1/chip-types").await.json();
        assert_eq!(others["items"][0]["owned"], json!([]), "another pool's");
        let csv = admin.get("/api/v1/chip-types?format=csv").await.body;
        assert!(csv.contains("A100,A100,research,16,0.00\r\n"), "{csv}");
    }
}

#[tokio::test]
async fn t115_the_watch_list_names_starved_and_idle_teams() {
    let mut app = TestApp::with_bids().await;
    app.clear_many(3).await;
    let list = app.auditor().await.get("/api/v1/organisation/watch-list").await.json();
    assert_eq!((&list["cycle"], &list["starved"][0]["team"]), (&json!(3), &json!("ads")), "{list}");
    assert_eq!(list["starved"][0]["starved_cycles"], 3);
    let page = app.auditor().await.open("/organisation/watch").await.body;
    for words in ["Over grant", "Starved", "Idle", ">ads<"] {
        assert!(page.contains(words), "{words}: {page}");
    }
    let csv = app.get("/api/v1/organisation/watch-list?format=csv").await.body;
    assert!(csv.contains("3,starved,ads,ads,80.00,20,0,0,3"), "{csv}");
}

#[tokio::test]
async fn t061_t161_names_and_amounts_of_all_kinds_are_refused_at_their_field_or_kept_as_they_are() {
    let app = TestApp::new().await;
    let admin = app.admin();
    let pool = json!({ "id": "p", "name": "P", "weight": "1", "reason": "r" });
    let team = json!({ "id": "t", "pool": "research", "name": "T", "income": "1", "leverage_thousandths": 2000, "reason": "r" });
    let person = json!({ "login": "l", "name": "L", "roles": [], "reason": "r" });
    let long = "x".repeat(10_000);
    let mut tried = 0;
    for (path, body) in [("/api/v1/pools", &pool), ("/api/v1/teams", &team), ("/api/v1/users", &person)] {
        let refused = async |field: &str, value: Value| {
            let mut body = body.clone();
            body[field] = value;
            let answer = admin.json("POST", path, &body).await;
            assert_eq!(answer.status, 422, "{path} {field}: {}", answer.body);
            let problem = answer.json();
            let detail = problem["errors"][0]["detail"].as_str().unwrap().to_owned();
            assert_eq!(problem["errors"][0]["field"], field, "{path}: {detail}");
            assert!(detail.contains(' ') && !detail.contains("Error"), "in words: {detail}");
        };
        for name in ["", " ", "bell\u{7}", "nul\0", "two\nlines", "turned\u{202e}", &long] {
            refused("name", json!(name)).await;
            refused("reason", json!(if name == "two\nlines" { "" } else { name })).await;
            tried += 2;
        }
        for amount in ["weight", "income"].into_iter().filter(|amount| body.get(*amount).is_some()) {
            for value in ["-5", "NaN", "1e309", "1,000", "1000000000000000000", "", "0.0000001"] {
                refused(amount, json!(value)).await;
            }
            refused(amount, json!(5)).await;
        }
    }
    assert!(tried > 30, "{tried}");
    for (nth, name) in ["=HYPERLINK(\"x\")", "שלום עולם"].into_iter().enumerate() {
        let mut body = team.clone();
        body["id"] = json!(format!("t{nth}"));
        body["name"] = json!(name);
        let made = admin.json("POST", "/api/v1/teams", &body).await;
        assert_eq!(made.json()["now"]["name"], name, "{}", made.body);
    }
    let csv = admin.get("/api/v1/teams?format=csv").await.body;
    assert!(csv.contains("\"'=HYPERLINK(\"\"x\"\")\""), "{csv}");
    let none = json!({ "id": "z", "name": "Z", "weight": "0", "reason": "r" });
    assert_eq!(admin.json("POST", "/api/v1/pools", &none).await.status, 201, "nothing is an amount as well");
}

#[tokio::test]
async fn pages_of_the_organisation_say_where_one_is_and_call_teams_by_their_names() {
    let mut app = TestApp::with_bids().await;
    app.clear().await;
    let form = app.admin().open("/organisation/teams/speech/change").await.body;
    let version =
        form.split("name=\"version\" value=\"").nth(1).and_then(|rest| rest.split('"').next()).unwrap();
    let renamed = [
        ("name", "Speech & <sound>"),
        ("income", "8"),
        ("version", version),
        ("reason", "clearer"),
        ("confirmed", "yes"),
    ];
    let changed = app.admin().post("/organisation/teams/speech/change", &renamed).await;
    assert_eq!(changed.status, 303, "{}", changed.body);
    app.clear().await;

    let team = app.admin().open("/organisation/teams/speech").await.body;
    assert!(team.contains("<title>Team Speech &amp; &lt;sound&gt; · Quota Marketplace</title>"), "{team}");
    assert!(
        team.contains("<a href=\"/organisation\" aria-current=\"true\">"),
        "a team stands among the teams: {team}"
    );
    let log = app.auditor().await.open("/organisation/audit").await.body;
    assert!(log.contains("<a href=\"/organisation/audit\" aria-current=\"page\">"), "{log}");
    for path in ["/organisation/people", "/organisation/people/engineer"] {
        let page = app.admin().open(path).await.body;
        assert!(page.contains("Speech &amp; &lt;sound&gt;"), "{path}: {page}");
    }
    let shares = app.admin().open("/organisation/shares").await.body;
    assert!(shares.contains(" UTC. Chips used for free"), "{shares}");
}

#[tokio::test]
async fn a_cycle_says_whose_single_bids_may_be_read() {
    let mut app = TestApp::with_bids().await;
    app.clear().await;
    let shown = async |client: &Client| {
        let cycle = client.get("/api/v1/cycles/1").await.json();
        let teams = cycle["teams"].as_array().unwrap().clone();
        let shows = teams.iter().filter(|team| team["shows_bids"] == true).count();
        (teams.len(), shows)
    };
    assert_eq!(shown(&app.finance().await).await, (3, 0), "money, but no single bid");
    assert_eq!(shown(&app.auditor().await).await, (3, 3));
    assert_eq!(shown(&app.engineer().await).await, (2, 2), "only the own ones");
    let page = app.finance().await.open("/cycles/1").await.body;
    assert!(page.contains("Single bids are sealed.") && !page.contains("/cycles/1?team="), "{page}");
}
