//! Who may call what, for every operation of the OpenAPI document, every server function and every page.
//!
//! The lists come from the program itself, so that a route that is added is noticed; what each answers to whom stands in
//! [`table`], which must know every one of them.
#![expect(clippy::unwrap_used, reason = "what fails here fails the test")]

mod pages;
mod table;
mod writes;

use std::collections::BTreeSet;

use axum::body::Body;
use axum::http::{Request, header};
use common::api::Role;
use server::auth::NewToken;
use server::policy::{Scope, Viewer};
use server::store::accounts;

use crate::app::TestApp;
use crate::audit::viewer;
use crate::client::Client;

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
    /// The body must say why.
    has_reason: bool,
    /// It is also given as CSV.
    has_csv: bool,
    /// It needs no sign-in.
    open: bool,
}

/// What an address's parameter is filled with: things that exist, where there are any.
fn filled(name: &str, route: &str) -> &'static str {
    match name {
        "team" => "speech",
        "pool" => "research",
        "number" | "cycle" | "transfer" => "1",
        "income" => "20",
        "plan" => "1",
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
            let schema = &operation["requestBody"]["content"]["application/json"]["schema"]["$ref"];
            let schema = schema.as_str().and_then(|schema| schema.strip_prefix("#/components/schemas/"));
            let has_reason = schema.is_some_and(|schema| {
                document["components"]["schemas"][schema]["properties"].get("reason").is_some()
            });
            operations.push(Operation {
                method: method.to_uppercase(),
                route: route.clone(),
                address,
                of_team,
                has_body,
                has_reason,
                has_csv: parameters.iter().any(|parameter| parameter["name"] == "format"),
                open,
            });
        }
    }
    assert!(operations.len() > 10, "the document has its operations");
    operations
}

/// The request of an operation, with a body that is read and refused: it gets as far as the question who may.
fn request(operation: &Operation) -> Request<Body> {
    let request = Request::builder().method(operation.method.as_str()).uri(&operation.address);
    // Of a bid, the key is the id that its body names.
    let request = request.header(header::IF_MATCH, "*").header("idempotency-key", "x");
    match operation.has_body {
        true => {
            let body = table::line(operation).map_or("{}", |line| line.body);
            request.header(header::CONTENT_TYPE, "application/json").body(Body::from(body)).unwrap()
        }
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

/// A server whose people do something, and clients of all of [`table::WHO`].
async fn app_and_people() -> (TestApp, Vec<(&'static str, Client)>) {
    let mut app = TestApp::with_bids().await;
    app.clear().await;
    let mut people = Vec::new();
    for user in table::WHO {
        let client = match user {
            "keeper" => {
                let keeper = viewer(user, &[]);
                app.client_of(&Viewer { pools: ["research".parse().unwrap()].into(), ..keeper }).await
            }
            _ => app.client(user).await,
        };
        people.push((user, client));
    }
    (app, people)
}

#[tokio::test]
async fn t137_each_role_gets_what_the_table_says_from_each_operation() {
    let (_app, people) = app_and_people().await;
    let operations = operations();
    for line in table::OPERATIONS {
        let known = operations.iter().any(|operation| line.is_of(operation));
        assert!(
            known,
            "the table has an operation that the document has not: {} {}",
            line.method, line.route
        );
    }
    let mut wrong = Vec::new();
    for operation in operations.iter().filter(|operation| !operation.open) {
        let mut statuses = Vec::new();
        for (_, client) in &people {
            statuses.push(status(client, operation).await);
        }
        let expected = table::line(operation).map(|line| line.statuses.to_vec());
        if expected.as_ref() != Some(&statuses) {
            let Operation { method, route, .. } = operation;
            wrong.push(format!(
                "op(\"{method}\", \"{route}\", {statuses:?}, r#\"{{}}\"#), // not {expected:?}"
            ));
        }
    }
    let who = table::WHO;
    assert!(wrong.is_empty(), "answers to {who:?} that access/table.rs does not know:\n{}", wrong.join("\n"));
}

#[tokio::test]
async fn t131_what_asks_for_a_reason_is_refused_without_one() {
    let (_app, people) = app_and_people().await;
    let mut asked = 0;
    for operation in operations().iter().filter(|operation| operation.has_reason) {
        for (user, client) in &people {
            let answer = client.send(request(operation)).await;
            if answer.status == 422 {
                assert!(
                    answer.body.contains("\"field\":\"reason\""),
                    "{user}: {operation:?}: {}",
                    answer.body
                );
                asked += 1;
            }
        }
    }
    assert!(asked >= 15, "{asked}");
}

#[tokio::test]
async fn t134_an_export_is_given_to_those_who_may_read_the_page_and_has_its_rows_only() {
    let (_app, people) = app_and_people().await;
    // Bids of the teams that somebody is not in.
    let sealed = [("engineer", "job c"), ("outsider", "job a"), ("outsider", "job b"), ("finance", "job ")];
    let mut exports = 0;
    for operation in operations().iter().filter(|operation| operation.has_csv) {
        let separator = if operation.address.contains('?') { '&' } else { '?' };
        let address = format!("{}{separator}format=csv", operation.address);
        for (user, client) in &people {
            let export = client.get(&address).await;
            assert_eq!(export.status.as_u16(), status(client, operation).await, "{user}: {address}");
            for (_, words) in sealed.iter().filter(|(of, _)| of == user) {
                assert!(!export.body.contains(words), "{user}: {address}: {}", export.body);
            }
        }
        exports += 1;
    }
    assert!(exports > 10, "{exports}");
}

#[tokio::test]
async fn t143_t145_another_teams_things_do_not_exist() {
    let mut app = TestApp::with_bids().await;
    app.clear().await;
    // What everybody may know of a team: its name and income, and what it was granted.
    let public = ["/api/v1/allocations", "/api/v1/cycles/{number}", "/api/v1/teams/{team}"];
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
        let expected = if operation.route.ends_with("/income-effect") { 403 } else { 404 };
        if operation.method == "GET" {
            assert_eq!((another, none), (expected, 404), "{operation:?}");
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
