//! What reads writes nothing, and what writes does so for this site only.

use std::collections::BTreeMap;

use axum::body::Body;
use axum::http::Request;
use server::store::Place;
use sqlx::Row as _;

use super::{operations, pages, request, server_functions, status};
use crate::app::TestApp;
use crate::client::form;

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
        let may_be_sealed = ["bids", "plans", "/cycles/"].iter().any(|part| operation.route.contains(part));
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
