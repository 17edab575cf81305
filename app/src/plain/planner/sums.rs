//! What all open plans come to: spend for finance, demand for admins.

use common::api::{PlannedDemand, PlannedSpend};
use leptos::prelude::*;

use crate::format;

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
    let body = if rows.is_empty() {
        view! { <p class="empty">"No open plan has hours ahead of it."</p> }.into_any()
    } else {
        let rows = rows
            .iter()
            .map(|row| {
                view! {
                    <tr>
                        <th scope="row">{row.day.clone()}</th>
                        <td data-label="Team">{row.team_name.clone()}</td>
                        <td class="num" data-label="Plans">
                            {format::thousands(row.plans)}
                        </td>
                        <td class="num" data-label="Spend">
                            {format::amount(row.spend)}
                        </td>
                        <td class="num" data-label="At most">
                            {format::amount(row.at_most)}
                        </td>
                    </tr>
                }
            })
            .collect_view();
        view! {
            <div class="scroll" tabindex="0" role="region" aria-label="Foreseen spend of open plans">
                <table class="cards" data-sortable="spend">
                    <thead>
                        <tr>
                            <th scope="col">"Day"</th>
                            <th scope="col">"Team"</th>
                            <th scope="col" class="num">
                                "Plans"
                            </th>
                            <th scope="col" class="num">
                                "Spend"
                                <small>"local credits, at foreseen prices"</small>
                            </th>
                            <th scope="col" class="num">
                                "At most"
                                <small>"local credits, at the limits"</small>
                            </th>
                        </tr>
                    </thead>
                    <tbody>{rows}</tbody>
                </table>
            </div>
        }
        .into_any()
    };
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

fn demand_row(row: &PlannedDemand) -> AnyView {
    view! {
        <tr>
            <th scope="row">{row.day.clone()}</th>
            <td data-label="Chip type">{row.chip_type.to_string()}</td>
            <td class="num" data-label="Plans">
                {format::thousands(row.plans)}
            </td>
            <td class="num" data-label="Demand">
                {hours(row.chip_seconds)}
            </td>
            <td class="num" data-label="Supply">
                {hours(row.supply_chip_seconds)}
            </td>
            <td class="num" data-label="At one time">
                {format::chips(row.peak_chips)}
            </td>
            <td class="num" data-label="There are">
                {format::chips(row.supply)}
            </td>
        </tr>
    }
    .into_any()
}

/// Foreseen demand of open plans, by day and chip type.
pub fn demand(rows: &[PlannedDemand]) -> AnyView {
    let body = if rows.is_empty() {
        view! { <p class="empty">"No open plan has hours ahead of it."</p> }.into_any()
    } else {
        let rows = rows.iter().map(demand_row).collect_view();
        view! {
            <div class="scroll" tabindex="0" role="region" aria-label="Foreseen demand of open plans">
                <table class="cards" data-sortable="demand">
                    <thead>
                        <tr>
                            <th scope="col">"Day"</th>
                            <th scope="col">"Chip type"</th>
                            <th scope="col" class="num">
                                "Plans"
                            </th>
                            <th scope="col" class="num">
                                "Demand"
                                <small>"chip-hours"</small>
                            </th>
                            <th scope="col" class="num">
                                "Supply"
                                <small>"chip-hours in the day"</small>
                            </th>
                            <th scope="col" class="num">
                                "At one time"
                                <small>"chips at most"</small>
                            </th>
                            <th scope="col" class="num">
                                "There are"
                                <small>"chips"</small>
                            </th>
                        </tr>
                    </thead>
                    <tbody>{rows}</tbody>
                </table>
            </div>
        }
        .into_any()
    };
    sums(
        "planned-demand",
        "Foreseen demand of open plans",
        "/api/v1/planner/demand?format=csv",
        "What training jobs with a plan would use of each chip type, beside what there is now.",
        body,
    )
}
