//! What all open plans come to: spend for finance, demand for admins.

use common::api::{PlannedDemand, PlannedSpend};
use leptos::prelude::*;

use super::super::names;
use super::super::table::{Content, Table};
use crate::format;
use crate::words::address;

/// Said where no plan has anything to sum.
const NO_HOURS: &str = "No open plan has hours ahead of it.";

/// A panel with its rows as CSV.
fn sums(
    id: &'static str,
    heading: &'static str,
    csv: &'static str,
    about: &'static str,
    body: AnyView,
) -> AnyView {
    view! {
        <section class="panel" aria-labelledby=id>
            <header>
                <h2 id=id>{heading}</h2>
                <div class="right">
                    <a class="button" href=csv download="">
                        "CSV"
                    </a>
                </div>
            </header>
            <div class="body">
                <p class="quiet">{about}</p>
                {body}
            </div>
        </section>
    }
    .into_any()
}

/// Foreseen spend of open plans, by day and team.
pub fn spend(rows: &[PlannedSpend]) -> AnyView {
    let rows = rows.iter().map(|row| -> Vec<Content> {
        let budget = address("/budget", &[("team", Some(row.team.as_str()))]);
        vec![
            row.day.clone().into(),
            view! { <a href=budget>{row.team_name.clone()}</a> }.into(),
            format::thousands(row.plans).into(),
            format::amount(row.spend).into(),
            format::amount(row.at_most).into(),
        ]
    });
    let columns = [
        ("Day", "", false),
        ("Team", "", false),
        ("Plans", "", true),
        ("Spend", "local credits, at foreseen prices", true),
        ("At most", "local credits, at the limits", true),
    ];
    let body = Table::new("Foreseen spend of open plans", &columns, rows.collect())
        .sortable("spend")
        .view_or(NO_HOURS);
    sums(
        "planned-spend",
        "Foreseen spend of open plans",
        "/api/v1/planner/spend?format=csv",
        "What training jobs with a plan would pay from now on, as each plan last said, whether its bids are placed or not.",
        body,
    )
}

/// Chip-seconds as whole chip-hours, rounded up.
fn hours(chip_seconds: u64) -> String {
    format::thousands(chip_seconds.div_ceil(3_600))
}

/// Foreseen demand of open plans, by day and chip type.
pub fn demand(rows: &[PlannedDemand]) -> AnyView {
    let rows = rows.iter().map(|row| -> Vec<Content> {
        vec![
            row.day.clone().into(),
            names::chip_type(&row.chip_type).into(),
            format::thousands(row.plans).into(),
            hours(row.chip_seconds).into(),
            hours(row.supply_chip_seconds).into(),
            format::chips(row.peak_chips).into(),
            format::chips(row.supply).into(),
        ]
    });
    let columns = [
        ("Day", "", false),
        ("Chip type", "", false),
        ("Plans", "", true),
        ("Demand", "chip-hours", true),
        ("Supply", "chip-hours in the day", true),
        ("At one time", "chips at most", true),
        ("There are", "chips", true),
    ];
    let body = Table::new("Foreseen demand of open plans", &columns, rows.collect())
        .sortable("demand")
        .view_or(NO_HOURS);
    sums(
        "planned-demand",
        "Foreseen demand of open plans",
        "/api/v1/planner/demand?format=csv",
        "What training jobs with a plan would use of each chip type, beside what there is now.",
        body,
    )
}
