//! Shares: what each team used against what it could bid with, over a week, a month and a quarter.

use std::cmp::Ordering;

use app::format::{milli, utc};
use app::plain::organisation::{Cell, Listing, OverviewPage, overview};
use axum::Router;
use axum::response::Response;
use axum::routing::get;
use common::api::{SharesView, TeamShare};
use serde::Deserialize;

use super::super::{AppState, Plain};
use super::{link, pool_name, shows};
use crate::error::AppError;
use crate::http::extract::Query;
use crate::policy::{Action, Object, Viewer};
use crate::services::read::SHARE_DAYS;
use crate::store::entities::Setup;

const PATH: &str = "/organisation/shares";

pub(super) fn routes() -> Router<AppState> {
    Router::new().route(PATH, get(page))
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct DaysQuery {
    #[serde(default = "month")]
    days: u32,
}

const fn month() -> u32 {
    30
}

async fn page(plain: Plain, viewer: Viewer, query: Result<Query<DaysQuery>, AppError>) -> Response {
    let read = async {
        let Query(DaysQuery { days }) = query?;
        viewer.may(Action::ReadMarket, Object::Organisation)?;
        let (setup, _) = plain.state().services().setup(&viewer).await?;
        Ok((setup, plain.state().market().shares(days).await?))
    };
    match read.await {
        Ok((setup, shares)) => plain.ok("Shares", || overview(shares_page(&viewer, &setup, &shares))),
        Err(error) => plain.problem(&error),
    }
}

/// Millionths as percent with two decimals.
fn percent(ppm: u64) -> String {
    format!("{}.{:02}", ppm / 10_000, ppm / 100 % 100)
}

/// How far the use is above or below the budget, in percentage points with two decimals.
fn difference(share: &TeamShare) -> String {
    let (used, budget) = (share.used_share_ppm, share.budget_share_ppm);
    let apart = percent(used.abs_diff(budget));
    match used.cmp(&budget) {
        _ if apart == "0.00" => apart,
        Ordering::Less => format!("−{apart}"),
        Ordering::Equal | Ordering::Greater => format!("+{apart}"),
    }
}

fn shares_page(viewer: &Viewer, setup: &Setup, shares: &SharesView) -> OverviewPage {
    let rows = shares.teams.iter().map(|share| {
        vec![
            Cell::Links(vec![link(format!("/organisation/teams/{}", share.team), share.name.clone())]),
            Cell::Text(pool_name(setup, &share.pool)),
            Cell::Number(milli(share.used_milli_chip_hours)),
            Cell::Number(percent(share.used_share_ppm)),
            Cell::Number(percent(share.budget_share_ppm)),
            Cell::Number(difference(share)),
        ]
    });
    let mut actions: Vec<_> = SHARE_DAYS
        .into_iter()
        .filter(|days| *days != shares.days)
        .map(|days| link(format!("{PATH}?days={days}"), format!("{days} days")))
        .collect();
    actions.push(link(format!("/api/v1/shares?days={}&format=csv", shares.days), "CSV"));
    OverviewPage {
        path: PATH.to_owned(),
        shows: shows(viewer),
        actions,
        listings: vec![Listing {
            caption: format!("The last {} days", shares.days),
            columns: vec![
                ("Team", "", false),
                ("Pool", "", false),
                ("Used", "chip-hours", true),
                ("Share of use", "%", true),
                ("Share of budget", "%", true),
                ("Difference", "percentage points", true),
            ],
            rows: rows.collect(),
            empty: "Nobody used anything or had an income.",
        }],
        notes: vec![
            format!("From {} to {}. Chips used for free do not count.", utc(shares.from), utc(shares.to)),
            "Share of budget: the pool's part of all weights, times the team's part of its pool's incomes, both over the \
             time. A team above it bought when chips were cheap, or used what others left; one below it saved, or bid for \
             what was dear."
                .to_owned(),
        ],
        ..OverviewPage::default()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shares_are_percent_with_two_decimals() {
        assert_eq!([percent(1_000_000), percent(456_789), percent(99)], ["100.00", "45.67", "0.00"]);
    }
}
