//! Shares: what each team used against what it could bid with, over a week, a month and a quarter.

use app::plain::organisation::{Cell, Listing, OverviewPage, overview};
use axum::Router;
use axum::response::Response;
use axum::routing::get;
use common::api::{SharesView, TeamShare};
use serde::Deserialize;

use super::super::{AppState, Plain};
use super::{link, shows};
use crate::error::AppError;
use crate::http::extract::Query;
use crate::http::tables::thousandths;
use crate::policy::{Action, Object, Viewer};
use crate::services::read::SHARE_DAYS;

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
        plain.state().market().shares(days).await
    };
    match read.await {
        Ok(shares) => plain.ok("Shares", || overview(shares_page(&viewer, &shares))),
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
    let sign = if used >= budget { "+" } else { "−" };
    format!("{sign}{}", percent(used.abs_diff(budget)))
}

fn shares_page(viewer: &Viewer, shares: &SharesView) -> OverviewPage {
    let rows = shares.teams.iter().map(|share| {
        vec![
            Cell::Links(vec![link(format!("/organisation/teams/{}", share.team), share.name.clone())]),
            Cell::Text(share.pool.to_string()),
            Cell::Number(thousandths(share.used_milli_chip_hours)),
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
            format!("From {} to {}. Chips used for free do not count.", shares.from, shares.to),
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
