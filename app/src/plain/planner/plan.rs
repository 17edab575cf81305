//! One plan: how it stands, the curve, the chances, the hours to bid for, its bids, and what changed it.

use common::api::{PlanFanPoint, PlanForecast, PlanStep, PlanVerdict, PlanView};
use common::measure::{chip_hours, loss, percent};
use leptos::prelude::*;

use super::super::form::{FormState, form, hidden, panel};
use super::super::parts::fact;
use super::super::table::{Column, Content, Table};
use super::bids::{bids, fit, hours};
use super::{forms_of_a_log, log_fields, plot, refusal, terms_fields, verdict_word};
use crate::components::time::date_time;
use crate::format;

/// What the page shows.
#[derive(Clone, Debug)]
pub struct PlanPage {
    /// The plan.
    pub view: PlanView,
    /// Chip types that a plan may name: id and name.
    pub chip_types: Vec<(String, String)>,
    /// The form that places bids.
    pub place: FormState,
    /// The form that reports losses.
    pub report: FormState,
    /// The form that changes the plan.
    pub change: FormState,
}

/// The main part of the page.
pub fn plan(page: &PlanPage) -> AnyView {
    let view = &page.view;
    let forecast = &view.forecast;
    let forms = view.may_change.then(|| view! { {report(page)} {change(page)} });
    view! {
        <p>
            <a href=format!("/planner?team={}", view.team.id)>{format!("Plans of {}", view.team.name)}</a>
        </p>
        {fit(page)}
        <div class="sections">
            {stands(view)} {curve(view)} {chances(forecast)} {hours(page)} {bids(view)} {prices(forecast)} {steps(&view.steps)}
            {forms}
        </div>
    }
    .into_any()
}

const fn verdict_class(verdict: PlanVerdict) -> &'static str {
    match verdict {
        PlanVerdict::Reached | PlanVerdict::CanFinish => "verdict good",
        PlanVerdict::Uncertain => "verdict fair",
        PlanVerdict::Overdue | PlanVerdict::CannotFinish => "verdict bad",
    }
}

/// How many losses are known, in words.
fn known(losses: u64) -> String {
    match losses {
        1 => "1 loss is known".to_owned(),
        _ => format!("{} losses are known", format::thousands(losses)),
    }
}

fn or_never(hours: Option<f64>) -> String {
    hours.map_or_else(|| "never".to_owned(), chip_hours)
}

fn stands(view: &PlanView) -> AnyView {
    let (forecast, terms) = (&view.forecast, &view.terms);
    let closed = view.closed.then(|| {
        view! { <p class="quiet">"The plan is closed: what it said last is shown, it takes no losses and places no bids."</p> }
    });
    let notes = (!forecast.notes.is_empty()).then(|| {
        let notes = forecast.notes.iter().map(|note| view! { <li>{note.clone()}</li> }).collect_view();
        view! { <ul class="notes">{notes}</ul> }
    });
    let remaining = forecast.remaining;
    let unlike = if forecast.unlike_training { " (unlike the training curves)" } else { "" };
    let body = view! {
        {closed}
        <p class=verdict_class(forecast.verdict)>
            {forecast.verdict_words.clone()}
        </p>
        <dl class="figures">
            {fact("Loss now", "", loss(forecast.last.loss).into_any())}
            {fact("Target", "", loss(terms.target_loss).into_any())}
            {fact("Used", "chip-hours", chip_hours(forecast.last.chip_hours).into_any())}
            {fact("Still needs, 50 %", "chip-hours", or_never(remaining.p50).into_any())}
            {fact("10 % to 90 %", "chip-hours", format!("{} – {}", or_never(remaining.p10), or_never(remaining.p90)).into_any())}
            {fact("Deadline", "", date_time(terms.deadline).into_any())}
            {fact("Chips", "at once", format!("{} to {} {}", terms.least_chips, terms.most_chips, terms.chip_type).into_any())}
        </dl>
        {notes}
        <h3>{format!("Who foresaw it{unlike}")}</h3>
        <p class="quiet">{forecast.why.clone()}</p>
        <p class="quiet">
            {format!("{}; worked out ", known(forecast.losses))} {date_time(forecast.at)}
            ". A plan of " {view.made_by.clone()} ", made " {date_time(view.made_at)} "."
        </p>
    };
    panel("stands", "How it stands", body.into_any())
}

/// A table behind a picture, opened by a click.
fn behind(summary: &'static str, columns: [Column; 4], rows: Vec<[String; 4]>) -> AnyView {
    let rows = rows.into_iter().map(Vec::from).collect();
    view! {
        <details class="behind">
            <summary>{summary}</summary>
            {Table::new(summary, &columns, rows).always_in_lines().view()}
        </details>
    }
    .into_any()
}

fn curve(view: &PlanView) -> AnyView {
    let forecast = &view.forecast;
    let row = |one: &PlanFanPoint| [chip_hours(one.chip_hours), loss(one.p10), loss(one.p50), loss(one.p90)];
    let csv = format!("/api/v1/teams/{}/plans/{}/losses?format=csv", view.team.id, view.id);
    view! {
        <section class="panel" aria-labelledby="curve">
            <header>
                <h2 id="curve">"The loss, and how it may go on"</h2>
                <div class="right">
                    <a class="button" href=csv download="">
                        "Losses as CSV"
                    </a>
                </div>
            </header>
            <div class="body">
                {plot::fan(&view.losses, &forecast.fan, view.terms.target_loss)}
                {behind(
                    "The band in numbers",
                    [
                        ("Since the job began", "chip-hours", true),
                        ("10 % below", "loss", true),
                        ("50 % below", "loss", true),
                        ("90 % below", "loss", true),
                    ],
                    forecast.fan.iter().map(row).collect(),
                )}
            </div>
        </section>
    }
    .into_any()
}

fn chances(forecast: &PlanForecast) -> AnyView {
    if forecast.chances.is_empty() {
        return ().into_any();
    }
    let rows = forecast
        .chances
        .iter()
        .map(|one| vec![format::chips(one.chips), chip_hours(one.chip_hours), percent(one.probability)]);
    let columns =
        [("Chips", "at once", true), ("Chip-hours", "until the deadline", true), ("Chance", "", true)];
    let body = view! {
        <div class="plan-beside">
            {plot::chances(&forecast.chances)}
            {Table::new("Chance by chips", &columns, rows.collect()).always_in_lines().view()}
        </div>
    };
    panel("chances", "Chance of finishing by the deadline, by chips", body.into_any())
}

fn prices(forecast: &PlanForecast) -> AnyView {
    let prices = &forecast.prices;
    let rows = prices.methods.iter().map(|method| {
        let error =
            method.error.map_or_else(|| "not tested".to_owned(), |error| format!("{:.1} %", error * 100.0));
        let chosen = if method.name == prices.chosen { "chosen" } else { "" };
        vec![
            method.title.clone().into(),
            Content::sorted_by(error, method.error.map(|error| error.to_string())),
            chosen.into(),
        ]
    });
    let columns =
        [("Method", "", false), ("Error", "of the mean price, in the back-test", true), ("Used", "", false)];
    let table = (!prices.methods.is_empty()).then(|| {
        Table::new("Methods that foresee prices", &columns, rows.collect()).sortable("methods").view()
    });
    let body = view! {
        <p>{prices.words.clone()}</p>
        {table}
    };
    panel("prices", "How the prices were foreseen", body.into_any())
}

fn steps(steps: &[PlanStep]) -> AnyView {
    let rows = steps.iter().map(|step| -> Vec<Content> {
        vec![
            date_time(step.at).into(),
            step.by.clone().into(),
            format::thousands(step.losses).into(),
            verdict_word(step.verdict).into(),
            or_never(step.remaining_p50).into(),
            or_never(step.remaining_p90).into(),
            format::amount(step.spend_p50).into(),
        ]
    });
    let columns = [
        ("At", "", false),
        ("By", "", false),
        ("Losses", "", true),
        ("Outlook", "", false),
        ("Needed, 50 %", "chip-hours", true),
        ("Needed, 90 %", "chip-hours", true),
        ("Spend, 50 %", "local credits", true),
    ];
    let table = Table::new("What the plan said so far", &columns, rows.collect()).sortable("steps").view();
    panel("steps", "What the plan said so far", table)
}

/// The form that reports losses, and how a job does it by itself.
fn report(page: &PlanPage) -> AnyView {
    let view = &page.view;
    if view.closed {
        return ().into_any();
    }
    let state = &page.report;
    let action = format!("/planner/{}/{}/losses", view.team.id, view.id);
    let address = format!("/api/v1/teams/{}/plans/{}/losses", view.team.id, view.id);
    let body = view! {
        <div class="two">
            <form class="form" method="post" action=action enctype="multipart/form-data">
                {refusal(state)} {hidden("id", state.value("id"))} {log_fields(state)}
                <div class="actions">
                    <button class="button" type="submit">
                        "Add the losses"
                    </button>
                </div>
            </form>
            <div>
                <h3>"Or let the job report by itself"</h3>
                <p class="quiet">
                    "Make a token with the scope losses on the "<a href="/account">"account page"</a>
                    "; it can do nothing else. Then post to"
                </p>
                <pre class="code" tabindex="0" role="region" aria-label="How a job reports">
                    {format!(
                        "POST {address}\nAuthorization: Bearer <token>\n\n{{\"id\": \"step-1200\",\n \"losses\": [{{\"step\": 1200, \"loss\": 2.41,\n             \"chip_hours\": 96.5}}]}}",
                    )}
                </pre>
                <p class="quiet">"The same report sent again changes nothing. Every few minutes is often enough."</p>
                {forms_of_a_log()}
            </div>
        </div>
    };
    panel("report", "Report losses", body.into_any())
}

fn change(page: &PlanPage) -> AnyView {
    let view = &page.view;
    let state = &page.change;
    let action = format!("/planner/{}/{}/change", view.team.id, view.id);
    let close_action = action.clone();
    let version = view.version.to_string();
    let mut fields = vec![hidden("version", &version)];
    fields.extend(terms_fields(state, &page.chip_types));
    let (closed, button) =
        if view.closed { ("no", "Open the plan again") } else { ("yes", "Close the plan") };
    let body = view! {
        {view.closed.then(|| view! { <p class="quiet">"Open it again to change it."</p> })}
        {(!view.closed).then(|| form(state, &action, fields, "Change the plan"))}
        <form class="form" method="post" action=close_action>
            {hidden("version", &version)} {hidden("closed", closed)}
            <p class="hint">
                "A closed plan takes no losses, places no bids and counts in no sum. Its bids stay as they are: end them on the page of bids."
            </p>
            <div class="actions">
                <button class="button" type="submit">
                    {button}
                </button>
            </div>
        </form>
    };
    panel("change", "Change or close", body.into_any())
}
