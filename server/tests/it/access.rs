//! Who may call what, for every operation of the OpenAPI document, every server function and every page.
//!
//! The lists come from the program itself, so that a route that is added is tested without being named here.
#![expect(clippy::unwrap_used, reason = "what fails here fails the test")]

use std::collections::{BTreeMap, BTreeSet};

use axum::body::Body;
use axum::http::{Request, header};
use common::api::Role;
use server::auth::NewToken;
use server::policy::Scope;
use server::store::{Place, accounts};
use sqlx::Row as _;

use crate::app::TestApp;
use crate::client::{Client, form};

/// An operation of the OpenAPI document, with the parameters of its address filled in.
#[derive(Clone, Debug)]
struct Operation {
    method: String,
    /// As in the document.
    route: String,
    /// As it is asked, about the team speech where it is about a team.
    address: String,
    /// It names a team in its path or query.
    of_team: bool,
    /// It takes a body.
    has_body: bool,
    /// It needs no sign-in.
    open: bool,
}

/// What an address's parameter is filled with: things that exist, where there are any.
fn filled(name: &str, route: &str) -> &'static str {
    match name {
        "team" => "speech",
        "pool" => "research",
        "number" | "cycle" => "1",
        "chip_type" => "A100",
        "id" if route.contains("/teams/") => "speech",
        "id" if route.contains("/pools/") => "research",
        "id" if route.contains("/chip-types/") => "A100",
        "id" if route.contains("/bids/") => "a",
        "user" => "engineer",
        "period" => "2026-11",
        _ => "nothing",
    }
}

/// All operations of the document.
fn operations() -> Vec<Operation> {
    let document: serde_json::Value = serde_json::from_str(&server::http::openapi_json()).unwrap();
    let mut operations = Vec::new();
    for (route, methods) in document["paths"].as_object().unwrap() {
        for (method, operation) in methods.as_object().unwrap() {
            let none = Vec::new();
            let parameters = operation["parameters"].as_array().unwrap_or(&none);
            let (mut address, mut query, mut of_team) = (route.clone(), Vec::new(), false);
            for parameter in parameters {
                let name = parameter["name"].as_str().unwrap();
                let value = filled(name, route);
                let is_team = name == "team" || (name == "id" && route.contains("/teams/"));
                match parameter["in"].as_str().unwrap() {
                    "path" => {
                        address = address.replace(&format!("{{{name}}}"), value);
                        of_team |= is_team;
                    }
                    "query" if is_team || parameter["required"] == true => {
                        query.push(format!("{name}={value}"));
                        of_team |= is_team;
                    }
                    _ => {}
                }
            }
            if !query.is_empty() {
                address = format!("{address}?{}", query.join("&"));
            }
            let open =
                operation["security"].as_array().is_some_and(|ways| ways.contains(&serde_json::json!({})));
            let has_body = operation.get("requestBody").is_some();
            operations.push(Operation {
                method: method.to_uppercase(),
                route: route.clone(),
                address,
                of_team,
                has_body,
                open,
            });
        }
    }
    assert!(operations.len() > 10, "the document has its operations");
    operations
}

fn request(operation: &Operation) -> Request<Body> {
    let request = Request::builder().method(operation.method.as_str()).uri(&operation.address);
    match operation.has_body {
        true => request.header(header::CONTENT_TYPE, "application/json").body(Body::from("{}")).unwrap(),
        false => request.body(Body::empty()).unwrap(),
    }
}

/// The status of an operation for a client. The head of an event stream is enough.
async fn status(client: &Client, operation: &Operation) -> u16 {
    client.status(request(operation)).await
}

/// The server functions of the pages: their addresses and methods.
fn server_functions() -> Vec<(String, String)> {
    let paths = leptos::server_fn::axum::server_fn_paths();
    let functions: Vec<_> = paths.map(|(path, method)| (path.to_owned(), method.to_string())).collect();
    assert!(functions.len() >= 5, "the server functions are linked in: {functions:?}");
    functions
}

#[tokio::test]
async fn t136_without_a_sign_in_nothing_answers_but_health_and_the_sign_in() {
    let mut app = TestApp::with_bids().await;
    app.clear().await;
    let nobody = app.anonymous();
    let mut open = BTreeSet::new();
    for operation in operations() {
        let status = status(&nobody, &operation).await;
        if operation.open {
            open.insert(operation.route.clone());
            assert_eq!(status, 200, "{operation:?}");
        } else {
            assert_eq!(status, 401, "{operation:?}");
        }
    }
    let known = ["/healthz", "/metrics", "/readyz"].map(str::to_owned);
    assert_eq!(open, known.into(), "the only operations that need no sign-in");
    for (path, method) in server_functions() {
        let request = Request::builder().method(method.as_str()).uri(&path).body(Body::empty()).unwrap();
        assert_eq!(nobody.status(request).await, 401, "{method} {path}");
    }
    for path in pages(&app).await {
        let answer = nobody.open(&path).await;
        if path.starts_with("/api/docs") || path.starts_with("/sign-in") || path.ends_with("/openapi.json") {
            continue;
        }
        if path.starts_with("/api/") {
            assert_eq!(answer.status, 401, "{path}");
        } else {
            assert_eq!(answer.status, 303, "{path}");
            assert!(answer.header(header::LOCATION).starts_with("/sign-in?next="), "{path}");
        }
        assert!(!answer.body.contains("A100") && !answer.body.contains("speech"), "{path} says nothing");
    }
}

/// The people of the table below, in its order.
const WHO: [&str; 5] = ["engineer", "outsider", "finance", "auditor", "admin"];

/// What an operation answers to each of [`WHO`].
struct Expected(&'static str, &'static str, [u16; 5]);

/// The operations whose answer depends on who asks.
const STATUSES: &[Expected] = &[
    Expected("GET", "/api/v1/audit", [404, 404, 200, 200, 200]),
    Expected("GET", "/api/v1/finance/spend", [404, 404, 200, 200, 200]),
    Expected("GET", "/api/v1/finance/budgets", [404, 404, 200, 200, 200]),
    Expected("GET", "/api/v1/finance/months", [404, 404, 200, 200, 200]),
    Expected("GET", "/api/v1/finance/months/{period}", [404, 404, 200, 200, 200]),
    Expected("GET", "/api/v1/finance/bookings", [404, 404, 200, 200, 200]),
    Expected("GET", "/api/v1/finance/bookings/{booking}", [404; 5]),
    Expected("GET", "/api/v1/teams/{team}/statement", [200, 404, 200, 200, 200]),
    Expected("GET", "/api/v1/supply", [404, 404, 404, 200, 200]),
    Expected("GET", "/api/v1/supply/{chip_type}/history", [404, 404, 404, 200, 200]),
    Expected("GET", "/api/v1/supply/cuts", [404, 404, 404, 200, 200]),
    Expected("GET", "/api/v1/what-if", [404, 404, 404, 200, 200]),
];

#[tokio::test]
async fn t137_each_role_gets_what_the_table_says_from_each_operation() {
    let mut app = TestApp::with_bids().await;
    app.clear().await;
    for (place, user) in WHO.into_iter().enumerate() {
        let client = app.client(user).await;
        for operation in operations() {
            // What changes something is tried with an empty body: it gets as far as its refusal.
            let status = status(&client, &operation).await;
            assert!(status < 500 && status != 401, "{user}: {operation:?} answered {status}");
            let row = STATUSES.iter().find(|row| (row.0, row.1) == (&operation.method, &operation.route));
            if let Some(Expected(_, _, statuses)) = row {
                assert_eq!(status, statuses[place], "{user}: {operation:?}");
            }
        }
    }
}

#[tokio::test]
async fn t143_t145_another_teams_things_do_not_exist() {
    let mut app = TestApp::with_bids().await;
    app.clear().await;
    // Public figures of a team: what it was granted, by product.md's page of allocations.
    let public = ["/api/v1/allocations", "/api/v1/cycles/{number}"];
    for operation in operations().iter().filter(|operation| operation.of_team) {
        if public.contains(&operation.route.as_str()) {
            continue;
        }
        let (of_another, of_none) = (
            operation.clone(),
            Operation { address: operation.address.replace("speech", "no-such-team"), ..operation.clone() },
        );
        let outsider = app.outsider().await;
        let (another, none) = (status(&outsider, &of_another).await, status(&outsider, &of_none).await);
        assert!([403, 404, 422].contains(&another), "{operation:?} answered {another}");
        if operation.method == "GET" {
            assert_eq!((another, none), (404, 404), "{operation:?}");
        }
    }
}

#[tokio::test]
async fn t140_t142_a_demoted_admin_and_the_tokens_of_one_can_do_no_more_than_anybody() {
    let mut app = TestApp::with_bids().await;
    app.clear().await;
    let (user, plain) = ("admin".parse().unwrap(), "nobody-special".parse().unwrap());
    let session = app.client("admin").await;
    let new = NewToken { name: "all".to_owned(), scopes: Scope::ALL.into(), days: 1 };
    let (_, secret) = app.auth.make_token(&user, new).await.unwrap();
    let token = Client::program(app.router.clone(), &secret);
    let before = session.get("/api/v1/audit").await.status;
    assert_eq!((before, token.get("/api/v1/audit").await.status), (before, before));
    assert_eq!(before, 200);

    let mut tx = app.store.store.write().await.unwrap();
    let account = accounts::NewAccount {
        id: plain,
        login: None,
        name: "Plain".to_owned(),
        password_hash: None,
        provider: None,
    };
    accounts::insert(&mut tx, crate::fixture::START, &account).await.unwrap();
    accounts::set_roles(&mut tx, &user, &BTreeSet::new()).await.unwrap();
    assert_eq!(accounts::count_with_role(&mut tx, Role::Admin).await.unwrap(), 0);
    tx.commit().await.unwrap();

    let anybody = app.client("nobody-special").await;
    for operation in operations() {
        let expected = status(&anybody, &operation).await;
        assert_eq!(status(&session, &operation).await, expected, "the session: {operation:?}");
        let with_token = status(&token, &operation).await;
        assert!(
            with_token == expected || with_token == 403,
            "the token: {operation:?} answered {with_token}"
        );
    }
}

#[tokio::test]
async fn a_token_does_no_more_than_its_scopes() {
    let mut app = TestApp::with_bids().await;
    app.clear().await;
    let user = "engineer".parse().unwrap();
    let new = NewToken { name: "bids only".to_owned(), scopes: [Scope::Bids].into(), days: 1 };
    let (made, secret) = app.auth.make_token(&user, new).await.unwrap();
    let token = Client::program(app.router.clone(), &secret);
    for path in ["/api/v1/market", "/api/v1/events", "/api/v1/cycles", "/api/v1/tokens", "/api/v1/sessions"] {
        assert_eq!(token.status(Request::get(path).body(Body::empty()).unwrap()).await, 403, "{path}");
    }
    assert_eq!(token.get("/account").await.status, 403, "pages are for browsers");
    let more = serde_json::json!({"name": "more", "scopes": ["admin"], "days": 1});
    assert_eq!(token.json("POST", "/api/v1/tokens", &more).await.status, 403, "it makes no other token");
    let who = token.get("/api/v1/session").await.json();
    assert_eq!((&who["viewer"]["user"], &who["scopes"]), (&"engineer".into(), &serde_json::json!(["bids"])));

    let browser = app.engineer().await;
    // The use is noted in the background.
    let noted = async {
        loop {
            let listed = browser.get("/api/v1/tokens").await;
            if listed.json()[0]["last_used_at"].is_string() {
                return listed;
            }
            tokio::task::yield_now().await;
        }
    };
    let listed = tokio::time::timeout(std::time::Duration::from_secs(30), noted).await.unwrap();
    assert!(!listed.body.contains(&secret));
    let bad = serde_json::json!({"name": " ", "scopes": [], "days": 400});
    let refused = browser.json("POST", "/api/v1/tokens", &bad).await;
    let fields: Vec<_> =
        refused.json()["errors"].as_array().unwrap().iter().map(|e| e["field"].clone()).collect();
    assert_eq!((refused.status.as_u16(), fields), (422, vec!["name".into(), "days".into(), "scopes".into()]));
    let path = format!("/api/v1/tokens/{}", made.id);
    let delete = || Request::delete(&path).body(Body::empty()).unwrap();
    assert_eq!(app.outsider().await.send(delete()).await.status, 404, "nobody else's");
    assert_eq!(browser.send(delete()).await.status, 204);
    assert_eq!(token.get("/api/v1/session").await.status, 401);
    app.clock.advance_seconds(86_400);
    assert!(app.auth.tokens(&user).await.unwrap().is_empty());
}

#[tokio::test]
async fn who_is_taken_out_of_a_team_has_nothing_of_it_any_more() {
    let mut app = TestApp::with_bids().await;
    app.clear().await;
    let engineer = app.engineer().await;
    let teams = async |client: &Client| client.get("/api/v1/session").await.json()["viewer"]["teams"].clone();
    assert_eq!(teams(&engineer).await.as_array().unwrap().len(), 2);
    let mut tx = app.store.store.write().await.unwrap();
    assert!(
        accounts::remove_member(&mut tx, &"engineer".parse().unwrap(), &"speech".parse().unwrap())
            .await
            .unwrap()
    );
    tx.commit().await.unwrap();
    assert_eq!(teams(&engineer).await.as_array().unwrap().len(), 1, "the same session, at once");
    let outsider = app.outsider().await;
    for operation in operations().iter().filter(|operation| operation.of_team) {
        let expected = status(&outsider, operation).await;
        assert_eq!(status(&engineer, operation).await, expected, "{operation:?}");
    }
    let mut tx = app.store.store.write().await.unwrap();
    accounts::set_disabled(&mut tx, &"engineer".parse().unwrap(), Some(crate::fixture::START)).await.unwrap();
    tx.commit().await.unwrap();
    assert_eq!(engineer.get("/api/v1/session").await.status, 401, "a disabled account is nobody");
}

/// Addresses of pages and of what they link to, found from the front page as the admin.
async fn pages(app: &TestApp) -> Vec<String> {
    let mut found: Vec<String> = ["/", "/account"].map(str::to_owned).into();
    let mut at = 0;
    while at < found.len() && found.len() < 150 {
        let answer = app.admin().open(&found[at]).await;
        assert!(answer.status.as_u16() < 500, "{}: {}", found[at], answer.status);
        for link in answer.body.split("href=\"").skip(1) {
            let link = link.split('"').next().unwrap().replace("&amp;", "&");
            let link = link.split('#').next().unwrap().to_owned();
            // A cycle shows an admin all bids, and that look is written down, which is its purpose.
            let sealed = link.contains("/cycles/");
            if link.starts_with('/') && !link.starts_with("/pkg/") && !sealed && !found.contains(&link) {
                found.push(link);
            }
        }
        at += 1;
    }
    found
}

#[tokio::test]
async fn t130_no_get_changes_anything() {
    let mut app = TestApp::with_bids().await;
    app.clear_many(2).await;
    let Place::Sqlite { path, .. } = &app.store.place else { unreachable!("it is SQLite") };
    let watching = sqlx::SqlitePool::connect(&format!("sqlite:{}", path.display())).await.unwrap();
    let mut watching = watching.acquire().await.unwrap();
    // Changes with every commit of another connection, whatever it wrote.
    let version = async |watching: &mut sqlx::SqliteConnection| {
        let row = sqlx::query("PRAGMA data_version").fetch_one(watching).await.unwrap();
        row.get::<i64, _>(0)
    };
    let mut asked = BTreeMap::new();
    let engineer = app.engineer().await;
    let before = version(&mut watching).await;
    for operation in operations().iter().filter(|operation| operation.method == "GET") {
        // An admin's look at sealed bids is written down, which is its purpose; their own team reads them unnoticed.
        let may_be_sealed = ["bids", "/cycles/"].iter().any(|part| operation.route.contains(part));
        let client = if may_be_sealed { &engineer } else { app.admin() };
        asked.insert(operation.address.clone(), status(client, operation).await);
        assert_eq!(version(&mut watching).await, before, "{operation:?} writes");
    }
    let pages = pages(&app).await;
    assert_eq!(version(&mut watching).await, before, "a page writes: {pages:?}");
    for path in pages {
        asked
            .insert(path.clone(), app.admin().status(Request::get(&path).body(Body::empty()).unwrap()).await);
    }
    for (path, _) in server_functions().into_iter().filter(|(_, method)| method == "GET") {
        asked
            .insert(path.clone(), app.admin().status(Request::get(&path).body(Body::empty()).unwrap()).await);
    }
    assert!(asked.len() > 30 && asked.values().filter(|status| **status == 200).count() > 15, "{asked:?}");
    assert_eq!(version(&mut watching).await, before, "nothing was written: {asked:?}");
    app.clear().await;
    assert_ne!(version(&mut watching).await, before, "a write would have been seen");
}

#[tokio::test]
async fn t130_what_changes_something_is_refused_from_another_site() {
    let app = TestApp::with_bids().await;
    let from_elsewhere = |mut request: Request<Body>| {
        request.headers_mut().insert("sec-fetch-site", "cross-site".parse().unwrap());
        request
    };
    for operation in operations().iter().filter(|operation| operation.method != "GET") {
        assert_eq!(app.admin().status(from_elsewhere(request(operation))).await, 403, "{operation:?}");
    }
    for (path, method) in server_functions().into_iter().filter(|(_, method)| method != "GET") {
        let request = Request::builder().method(method.as_str()).uri(&path).body(Body::empty()).unwrap();
        assert_eq!(app.admin().status(from_elsewhere(request)).await, 403, "{path}");
    }
    for path in
        ["/sign-in", "/sign-out", "/account/password", "/account/tokens", "/account/sessions/end-others"]
    {
        assert_eq!(app.admin().status(from_elsewhere(form(path, &[]))).await, 403, "{path}");
    }
}

#[tokio::test]
async fn the_account_page_changes_the_password_and_ends_sessions() {
    let app = TestApp::new().await;
    let user = "engineer".parse().unwrap();
    let hash = app.auth.passwords().hash("the first password").await.unwrap();
    let mut tx = app.store.store.write().await.unwrap();
    accounts::set_password(&mut tx, &user, &hash).await.unwrap();
    tx.commit().await.unwrap();
    let (here, there) = (app.engineer().await, app.engineer().await);
    let change = |old, new, again| [("old_password", old), ("password", new), ("again", again)];
    for (fields, fault) in [
        (change("wrong", "another password", "another password"), "f-old_password-error"),
        (change("the first password", "short", "short"), "f-password-error"),
        (change("the first password", "another password", "another"), "f-again-error"),
    ] {
        let answer = here.post("/account/password", &fields).await;
        assert!(answer.status == 422 && answer.body.contains(fault), "{fault}: {}", answer.status);
    }
    assert_eq!(there.get("/api/v1/session").await.status, 200);
    let right = change("the first password", "another password", "another password");
    assert_eq!(here.post("/account/password", &right).await.status, 303);
    assert_eq!(there.get("/api/v1/session").await.status, 401, "the others are signed out");
    let sessions = here.get("/api/v1/sessions").await.json();
    assert_eq!((sessions.as_array().unwrap().len(), &sessions[0]["current"]), (1, &true.into()));

    let third = app.engineer().await;
    let id = third.get("/api/v1/sessions").await.json();
    let id = id.as_array().unwrap().iter().find(|session| session["current"] == true).unwrap()["id"].clone();
    let path = format!("/account/sessions/{}/end", id.as_str().unwrap());
    assert_eq!(app.outsider().await.post(&path, &[]).await.status, 404, "nobody else's");
    assert_eq!(here.post(&path, &[]).await.status, 303);
    assert_eq!(third.get("/api/v1/session").await.status, 401);
}
