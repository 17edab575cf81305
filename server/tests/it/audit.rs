//! The audit log: what is in it, who reads it, and that it can't be changed.
#![expect(clippy::unwrap_used, reason = "what fails here fails the test")]

use std::collections::{BTreeMap, BTreeSet};

use common::api::Role;
use server::error::ErrorKind;
use server::policy::{Scope, Via, Viewer};
use server::services::audit::{Deed, Doer, Origin, record};
use server::store::Store;

use crate::app::{Answer, TestApp};
use crate::fixture::{self, START};

/// Somebody with roles, at a browser.
pub(crate) fn viewer(name: &str, roles: &[Role]) -> Viewer {
    Viewer {
        user: name.parse().unwrap(),
        name: format!("{name} of the test"),
        roles: roles.iter().copied().collect(),
        teams: BTreeMap::new(),
        pools: BTreeSet::new(),
        via: Via::Session("s".parse().unwrap()),
    }
}

async fn note(store: &Store, viewer: &Viewer, reason: &str) -> Result<(), ErrorKind> {
    let origin = Origin { address: Some("192.0.2.7".to_owned()), request_id: Some("r-1".to_owned()) };
    let mut tx = store.write().await.unwrap();
    let deed = Deed::new("team.changed", "team", "speech").before(&"30.00").unwrap().after(&"=1+1").unwrap();
    record(&mut tx, START, Doer { viewer, origin: &origin, reason }, deed)
        .await
        .map_err(|error| error.kind())?;
    tx.commit().await.unwrap();
    Ok(())
}

async fn get(app: &TestApp, viewer: &Viewer, path: &str) -> Answer {
    app.client_of(viewer).await.get(path).await
}

#[tokio::test]
async fn t131_a_change_without_a_reason_is_refused_and_leaves_no_entry() {
    for test in fixture::both().await {
        let admin = viewer("ada", &[Role::Admin]);
        for reason in ["", "  \n ", &"x".repeat(501), "tab\u{7}"] {
            assert_eq!(note(&test.store, &admin, reason).await, Err(ErrorKind::Invalid), "{}", test.name);
        }
        note(&test.store, &admin, &"ä".repeat(500)).await.unwrap();
        let mut token = viewer("tom", &[Role::Admin]);
        token.via = Via::Token { id: "t-1".parse().unwrap(), scopes: [Scope::Read].into() };
        note(&test.store, &token, " a look ").await.unwrap();
        let app = TestApp::on(test).await;
        let page = get(&app, &admin, "/api/v1/audit").await.json();
        let items = page["items"].as_array().unwrap();
        assert_eq!(items.len(), 2);
        assert_eq!((&items[0]["number"], &items[0]["reason"]), (&2.into(), &"a look".into()));
        assert_eq!((&items[0]["token"], &items[1]["token"]), (&"t-1".into(), &serde_json::Value::Null));
        assert_eq!(items[1]["user_name"], "ada of the test");
        assert_eq!((&items[1]["address"], &items[1]["request_id"]), (&"192.0.2.7".into(), &"r-1".into()));
        assert_eq!((&items[1]["before"], &items[1]["after"]), (&"30.00".into(), &"=1+1".into()));
    }
}

#[tokio::test]
async fn the_log_is_filtered_paged_and_exported() {
    for test in fixture::both().await {
        let (ada, fay) = (viewer("ada", &[Role::Admin]), viewer("fay", &[Role::Finance]));
        for round in 0..3 {
            note(&test.store, &ada, &format!("=SUM({round})")).await.unwrap();
            note(&test.store, &fay, "budget").await.unwrap();
        }
        let app = TestApp::on(test).await;
        let first = get(&app, &fay, "/api/v1/audit?user=ada&limit=2").await.json();
        let numbers = |page: &serde_json::Value| -> Vec<u64> {
            page["items"].as_array().unwrap().iter().map(|entry| entry["number"].as_u64().unwrap()).collect()
        };
        assert_eq!(numbers(&first), [5, 3]);
        let cursor = first["next_cursor"].as_str().unwrap();
        let second = get(&app, &fay, &format!("/api/v1/audit?user=ada&limit=2&cursor={cursor}")).await.json();
        assert_eq!(numbers(&second), [1]);
        assert!(second.get("next_cursor").is_none());
        for (query, count) in [
            ("action=team.changed&object_kind=team&object=speech", 6),
            ("object=vision", 0),
            ("from=2026-11-30T00:00:00Z", 6),
            ("to=2026-11-30T00:00:00Z", 0),
        ] {
            assert_eq!(
                numbers(&get(&app, &fay, &format!("/api/v1/audit?{query}")).await.json()).len(),
                count
            );
        }
        let csv = get(&app, &fay, "/api/v1/audit?format=csv&user=ada&limit=1").await.body;
        assert!(
            csv.starts_with("number,at,user,user_name,token,action,object_kind,object,before,after,reason,")
        );
        assert!(csv.contains(",'=SUM(2),"), "{csv}");
    }
}

#[tokio::test]
async fn the_log_is_hidden_from_those_who_may_not_read_it() {
    let app = TestApp::new().await;
    assert_eq!(app.anonymous().get("/api/v1/audit").await.status, 401);
    assert_eq!(get(&app, &viewer("eve", &[]), "/api/v1/audit").await.status, 404);
    for role in Role::ALL {
        assert_eq!(get(&app, &viewer("ada", &[role]), "/api/v1/audit").await.status, 200);
    }
    let refused = get(&app, &viewer("ada", &[Role::Admin]), "/api/v1/audit?limit=0").await;
    assert_eq!((refused.status.as_u16(), &refused.json()["errors"][0]["field"]), (422, &"limit".into()));
}
