//! A team's bids: placing and changing them, who sees them, what is said of them, and what they cost.
#![expect(clippy::unwrap_used, reason = "what fails here fails the test")]

mod change;
mod cost;
mod input;
mod limits;
mod place;
mod preview;
mod privacy;

use axum::http::Method;
use common::api::{BidFilter, BidTerms, BidView, BidsQuery, BidsView, PlaceBid, Role};
use common::ids::{BidId, TeamId};
use serde_json::{Value, json};
use server::error::AppError;
use server::policy::{Membership, Viewer};
use server::services::Services;
use server::services::audit::Origin;

use crate::app::{Answer, TestApp};
use crate::audit::viewer;
use crate::fixture;

/// A member of teams, each with its pool.
fn member(name: &str, teams: &[(&str, &str)]) -> Viewer {
    let membership = |pool: &str| Membership { pool: pool.parse().unwrap(), leads: false };
    let teams = teams.iter().map(|(team, pool)| (team.parse().unwrap(), membership(pool)));
    Viewer { teams: teams.collect(), ..viewer(name, &[]) }
}

/// A member of the team `speech`.
fn sam() -> Viewer {
    member("sam", &[("speech", "research")])
}

/// A member of the team `ads`.
fn ada() -> Viewer {
    member("ada", &[("ads", "products")])
}

fn admin() -> Viewer {
    viewer("root", &[Role::Admin])
}

/// Servers on both stores, with an organisation and nothing cleared.
async fn apps() -> Vec<TestApp> {
    let mut apps = Vec::new();
    for test in fixture::both().await {
        fixture::create(&test.store).await;
        apps.push(TestApp::on(test).await);
    }
    apps
}

/// Terms for `chips` of a chip type.
fn terms(chip_type: &str, chips: u64, limit: &str) -> Value {
    json!({
        "name": format!("{chips} {chip_type}"),
        "alternatives": [{ "chip_type": chip_type, "chips": chips, "min_chips": 1 }],
        "limit": limit,
    })
}

fn wire_terms(chip_type: &str, chips: u64, limit: &str) -> BidTerms {
    serde_json::from_value(terms(chip_type, chips, limit)).unwrap()
}

fn id(text: &str) -> BidId {
    text.parse().unwrap()
}

fn team(text: &str) -> TeamId {
    text.parse().unwrap()
}

/// Posts to an address under a team's bids, or to them where `rest` is empty.
async fn post(app: &TestApp, viewer: &Viewer, team: &str, rest: &str, body: Value) -> Answer {
    let path = format!("/api/v1/teams/{team}/bids{rest}");
    app.send_as(viewer, Method::POST, &path, &[], body.to_string()).await
}

/// Places a bid and expects it to be taken.
async fn place(services: &Services, viewer: &Viewer, of: &str, bid: &str, terms: BidTerms) -> BidView {
    let bid = PlaceBid { id: id(bid), team: team(of), terms };
    services.place_bid(viewer, bid).await.unwrap()
}

async fn list(services: &Services, viewer: &Viewer, of: &str, show: BidFilter) -> BidsView {
    let query = BidsQuery { team: Some(team(of)), show, cursor: None };
    services.bids(viewer, &Origin::default(), query).await.unwrap()
}

async fn open_bid(services: &Services, viewer: &Viewer, bid: &str) -> common::api::BidDetail {
    services.bid(viewer, &Origin::default(), &id(bid), None).await.unwrap()
}

/// The ids of a team's open queue in its order.
async fn queue_of(services: &Services, viewer: &Viewer, of: &str) -> Vec<String> {
    let view = list(services, viewer, of, BidFilter::Open).await;
    let places: Vec<u64> = view.bids.iter().filter_map(|bid| bid.place).collect();
    assert_eq!(places, (1..=view.bids.len() as u64).collect::<Vec<_>>());
    view.bids.iter().map(|bid| bid.id.to_string()).collect()
}

/// The fields at fault.
fn fields(error: &AppError) -> Vec<&str> {
    error.fields().iter().map(|fault| fault.field.as_str()).collect()
}
