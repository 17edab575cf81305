//! From a plan to its bids: the hours to bid for, the bids that are there, and what of them no longer fits.

use common::api::{BidStatus, PlanBid, PlanFit, PlanView, PlanWindow, SeenBids};
use common::instant::Instant;
use common::measure::{chip_hours, percent};
use leptos::prelude::*;

use super::super::form::{form, hidden, panel};
use super::super::parts::{amount, fact};
use super::super::table::{Content, Table};
use super::plan::PlanPage;
use crate::components::time::date_time;
use crate::format;

fn window(one: &PlanWindow) -> Vec<Content> {
    vec![
        date_time(one.from).into(),
        date_time(one.to).into(),
        format::chips(one.chips).into(),
        chip_hours(one.chip_seconds as f64 / 3_600.0).into(),
        one.price.to_string().into(),
        one.limit.to_string().into(),
        format::amount(one.spend).into(),
    ]
}

/// The hours to bid for, what they cost, and the button that places the bids.
pub(super) fn hours(page: &PlanPage) -> AnyView {
    let view = &page.view;
    let forecast = &view.forecast;
    if forecast.windows.is_empty() {
        return ().into_any();
    }
    let columns = [
        ("From", "", false),
        ("To", "", false),
        ("Chips", "", true),
        ("Chip-hours", "", true),
        ("Foreseen price", "credits per chip-hour", true),
        ("Limit", "credits per chip-hour", true),
        ("Cost", "local credits", true),
    ];
    let funds = forecast.funds;
    let may_place = view.may_change && !view.closed && view.fit.is_none();
    let body = view! {
        <p>
            {format!(
                "The cheapest hours before the deadline that give {} chip-hours: enough with {}.",
                chip_hours(forecast.covered_chip_hours),
                percent(forecast.chance_with_bids),
            )}
        </p>
        {Table::new("Hours to bid for", &columns, forecast.windows.iter().map(window).collect()).view()}
        <dl class="figures">
            {fact("All hours", "at foreseen prices", amount(SeenBids::of(forecast).cost, "credits").into_any())}
            {fact("Spend, 50 %", "", amount(forecast.spend_p50, "credits").into_any())}
            {fact("Spend, 90 %", "", amount(forecast.spend_p90, "credits").into_any())}
            {fact("Balance", "", amount(funds.balance, "credits").into_any())}
            {fact("Income until the deadline", "", amount(funds.income_until_deadline, "credits").into_any())}
            {fact("Spending cap", "per hour", amount(funds.cap_per_hour, "credits").into_any())}
        </dl>
        {may_place.then(|| place(page, "Place the bids"))}
    };
    panel("hours", "Hours to bid for", body.into_any())
}

/// The form that makes the bids what the plan says.
fn place(page: &PlanPage, button: &'static str) -> AnyView {
    let view = &page.view;
    let state = &page.place;
    let action = format!("/planner/{}/{}/bids", view.team.id, view.id);
    // What is read here is what is agreed to: where it has become dearer by then, it is shown again before it is placed.
    let seen = SeenBids::of(&view.forecast);
    let fields = vec![
        hidden("id", state.value("id")),
        hidden("version", &view.version.to_string()),
        hidden("seen_bids", &seen.bids.to_string()),
        hidden("seen_cost", &seen.cost.to_string()),
    ];
    form(state, &action, fields, button)
}

/// What of the bids no longer fits, with the button that changes them.
pub(super) fn fit(page: &PlanPage) -> AnyView {
    let Some(PlanFit { fits: false, changes }) = &page.view.fit else { return ().into_any() };
    let changes = changes.iter().map(|change| view! { <li>{change.clone()}</li> }).collect_view();
    let may_place = page.view.may_change && !page.view.closed;
    view! {
        <section class="panel misfit" aria-labelledby="misfit">
            <header>
                <h2 id="misfit">"The bids no longer fit the plan"</h2>
            </header>
            <div class="body">
                <ul class="notes">{changes}</ul>
                {may_place.then(|| place(page, "Change the bids to the plan"))}
            </div>
        </section>
    }
    .into_any()
}

const fn status_word(status: BidStatus) -> &'static str {
    match status {
        BidStatus::Live => "live",
        BidStatus::Paused => "paused",
        BidStatus::Cancelled => "cancelled",
        BidStatus::Served => "served",
        BidStatus::Expired => "expired",
    }
}

fn bid(one: &PlanBid) -> Vec<Content> {
    let href = format!("/bids/{}", one.bid);
    let instant = |at: Option<Instant>, none: &'static str| match at {
        Some(at) => date_time(at).into_any(),
        None => none.into_any(),
    };
    vec![
        view! { <a href=href>{instant(one.from, "at once")}</a> }.into(),
        instant(one.to, "open").into(),
        status_word(one.status).into(),
        format::chips(one.chips).into(),
        one.limit.map_or_else(|| "none".to_owned(), |limit| limit.to_string()).into(),
        chip_hours(one.done_chip_seconds as f64 / 3_600.0).into(),
    ]
}

pub(super) fn bids(view: &PlanView) -> AnyView {
    if view.bids.is_empty() {
        return ().into_any();
    }
    let fits = view.fit.as_ref().is_some_and(|fit| fit.fits);
    let columns = [
        ("From", "", false),
        ("To", "", false),
        ("State", "", false),
        ("Chips", "", true),
        ("Limit", "credits per chip-hour", true),
        ("Done", "chip-hours", true),
    ];
    let rows = view.bids.iter().map(bid).collect();
    let body = view! {
        {fits.then(|| view! { <p class="quiet">"The bids fit the plan."</p> })}
        {Table::new("Bids of the plan", &columns, rows).sortable("bids").view()}
    };
    panel("bids", "Bids of the plan", body.into_any())
}
