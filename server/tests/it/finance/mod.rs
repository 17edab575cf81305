//! Finance: spend, months and their close, bookings with a second person, statements. Each figure is held against the ledger.
#![expect(clippy::unwrap_used, reason = "what fails here fails the test")]

mod bookings;
mod close;
mod speed;
mod spend;
mod story;

use std::collections::BTreeMap;

use axum::http::header;
use common::api::{BookingKind, BookingView};
use common::money::MicroCredits;
use server::clock::Clock as _;
use server::cycle::{maintain, verify};
use server::error::AppError;
use server::policy::Viewer;
use server::services::audit::{Doer, Origin};
use server::services::finance::NewBooking;
use server::store::Place;

use crate::app::{Answer, TestApp};
use crate::audit::viewer;
use crate::client::Client;

/// An accounting step is booked every five minutes.
pub(crate) async fn to_next_step(app: &mut TestApp) {
    app.clear_many(5).await;
}

/// From the first minutes of 30 November into the first minutes of December: all of November is booked.
pub(crate) async fn into_december(app: &mut TestApp) {
    for _ in 0..3 {
        to_next_step(app).await;
    }
    let left = |app: &TestApp| 86_400 - (app.clock.now().0 - crate::fixture::START.0) / 1_000_000;
    while left(app) > 3_600 {
        app.clock.advance_seconds(3_600 - 60);
        app.clear().await;
    }
    app.clock.advance_seconds(left(app) - 120);
    app.clear_many(7).await;
}

/// Rolls up all that is due.
pub(crate) async fn roll_up(app: &TestApp) {
    while maintain(&app.store.store, app.clock.now(), 100).await.unwrap() {}
}

/// An amount of a JSON answer.
pub(crate) fn amount(value: &serde_json::Value) -> i64 {
    value.as_str().unwrap_or_else(|| panic!("{value} is no amount")).parse::<MicroCredits>().unwrap().0
}

/// All entries of a team's account, oldest first.
pub(crate) async fn entries(client: &Client, team: &str, filter: &str) -> Vec<serde_json::Value> {
    let mut entries = Vec::new();
    let mut cursor = String::new();
    loop {
        let path = format!("/api/v1/teams/{team}/ledger?limit=500{filter}{cursor}");
        let page = client.get(&path).await.json();
        entries.extend(page["items"].as_array().unwrap().clone());
        match page["next_cursor"].as_str() {
            Some(next) => cursor = format!("&cursor={next}"),
            None => break,
        }
    }
    entries.reverse();
    entries
}

/// What entries say, summed by kind of transfer.
pub(crate) fn by_kind(entries: &[serde_json::Value]) -> BTreeMap<String, i64> {
    let mut sums = BTreeMap::new();
    for entry in entries {
        *sums.entry(entry["kind"].as_str().unwrap().to_owned()).or_default() += amount(&entry["amount"]);
    }
    sums
}

/// A booking of whole credits.
pub(crate) fn new(id: &str, kind: BookingKind, team: &str, credits: i64) -> NewBooking {
    NewBooking {
        id: id.to_owned(),
        kind,
        team: team.parse().unwrap(),
        to_team: None,
        amount: MicroCredits(credits * 1_000_000),
        corrects: None,
    }
}

/// Books as somebody does.
pub(crate) async fn book(
    app: &TestApp,
    who: &Viewer,
    reason: &str,
    new: &NewBooking,
) -> Result<BookingView, AppError> {
    let origin = Origin::default();
    app.services.book(Doer { viewer: who, origin: &origin, reason }, new).await
}

/// Lets bookings up to so many global credits pass without a second person.
pub(crate) async fn approve_above(app: &TestApp, credits: i64) {
    let admin = viewer("ada", &[common::api::Role::Admin]);
    let origin = Origin::default();
    let doer = Doer { viewer: &admin, origin: &origin, reason: "small ones are seen in the log" };
    app.services.set_approval_above(doer, Some(MicroCredits(credits * 1_000_000))).await.unwrap();
}

/// Sends a booking as a program does.
pub(crate) async fn post(client: &Client, key: &str, body: &serde_json::Value) -> Answer {
    let request = axum::http::Request::post("/api/v1/finance/bookings")
        .header(header::CONTENT_TYPE, "application/json")
        .header("idempotency-key", key);
    client.send(request.body(axum::body::Body::from(body.to_string())).unwrap()).await
}

/// Everything stored follows from what was decided.
pub(crate) async fn is_proved(app: &TestApp) {
    let report = verify::verify(&app.store.store, None, None, |_, _| {}).await.unwrap();
    assert!(report.is_clean(), "{}: {report}", app.store.name);
}

/// Runs a statement past the program.
pub(crate) async fn past_the_program(place: &Place, sql: &'static str) -> Result<(), sqlx::Error> {
    match place {
        Place::Sqlite { path, .. } => {
            let pool = sqlx::SqlitePool::connect(&format!("sqlite:{}", path.display())).await?;
            sqlx::query(sql).execute(&pool).await.map(drop)
        }
        Place::Postgres { url, .. } => {
            let pool = sqlx::PgPool::connect(url).await?;
            sqlx::query(sql).execute(&pool).await.map(drop)
        }
    }
}
