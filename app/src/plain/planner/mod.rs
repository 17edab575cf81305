//! The planner as pages: a team's plans and the form for a new one, a plan opened, and what all open plans come to.

mod bids;
mod plan;
mod plot;
mod sums;

pub use plan::{PlanPage, plan};
pub use sums::{demand, spend};

use common::api::{PlanSummary, PlanVerdict, PlannedDemand, PlannedSpend, PlansView};
use common::ids::TeamId;
use common::measure::{chip_hours, loss, percent};
use leptos::prelude::*;

use super::form::{Field, FormState, field, hidden, panel, select, zone_of_times};
use super::names;
use super::table::{Content, Table};
use crate::components::time::date_time;
use crate::fields::text_of_area;
use crate::format;

/// What the first page shows.
#[derive(Clone, Debug)]
pub struct PlannerPage {
    /// Teams whose plans the viewer may read: id and name.
    pub teams: Vec<(TeamId, String)>,
    /// The chosen one's plans; none where none is chosen or there is none.
    pub plans: Option<PlansView>,
    /// Chip types that a plan may name: id and name.
    pub chip_types: Vec<(String, String)>,
    /// The form for a new plan.
    pub form: FormState,
    /// Foreseen spend of all open plans, for those who read all money.
    pub spend: Option<Vec<PlannedSpend>>,
    /// Foreseen demand of all open plans, for those who see the supply.
    pub demand: Option<Vec<PlannedDemand>>,
}

/// The main part of the first page.
pub fn planner(page: &PlannerPage) -> AnyView {
    let none = (page.plans.is_none() && page.teams.is_empty()).then(|| {
        view! {
            <p class="empty">"You are in no team, so there is no job of yours to plan. A team lead or an admin can add you to one."</p>
        }
    });
    let plans = page.plans.as_ref().map(|plans| {
        view! { {list(plans)} {plans.may_change.then(|| new_plan(page, plans))} }
    });
    view! {
        <p class="quiet">
            "A training job's losses so far say what it still needs. The planner foresees the rest of the curve, finds the cheapest hours before the deadline, and places the bids for them."
        </p>
        {none} {chooser(page)}
        <div class="sections">
            {plans} {page.spend.as_deref().map(spend)} {page.demand.as_deref().map(demand)}
        </div>
    }
    .into_any()
}

/// A choice of team, also where none is chosen yet.
fn chooser(page: &PlannerPage) -> AnyView {
    let chosen = page.plans.as_ref().map(|plans| &plans.team.id);
    if page.teams.is_empty() || (page.teams.len() == 1 && chosen.is_some()) {
        return ().into_any();
    }
    let options = page
        .teams
        .iter()
        .map(|(id, name)| {
            let selected = Some(id) == chosen;
            view! {
                <option value=id.to_string() selected=selected>
                    {name.clone()}
                </option>
            }
        })
        .collect_view();
    view! {
        <form class="filters" method="get" action="/planner">
            <label>
                "Team"
                <select name="team">{options}</select>
            </label>
            <button class="button" type="submit">
                "Show"
            </button>
        </form>
    }
    .into_any()
}

/// How a plan stands, in a word or two.
const fn verdict_word(verdict: PlanVerdict) -> &'static str {
    match verdict {
        PlanVerdict::Reached => "target met",
        PlanVerdict::Overdue => "deadline passed",
        PlanVerdict::CannotFinish => "cannot finish",
        PlanVerdict::Uncertain => "may not finish",
        PlanVerdict::CanFinish => "can finish",
    }
}

fn list(plans: &PlansView) -> AnyView {
    let heading = format!("Plans of {}", plans.team.name);
    let csv = format!("/api/v1/teams/{}/plans?format=csv", plans.team.id);
    let rows = plans.plans.iter().map(|plan| row(plans, plan)).collect();
    let columns = [
        ("Job", "", false),
        ("Outlook", "", false),
        ("Chip type", "", false),
        ("Loss", "", true),
        ("Target", "loss", true),
        ("Deadline", "", false),
        ("Still needs", "chip-hours", true),
        ("Chance", "to finish in time", true),
        ("Spend", "local credits", true),
        ("As of", "", false),
    ];
    let body = Table::new(heading.as_str(), &columns, rows)
        .sortable("plans")
        .view_or("There is no plan yet. Make one below from the losses of a job.");
    view! {
        <section class="panel" aria-labelledby="plans">
            <header>
                <h2 id="plans">{heading}</h2>
                <div class="right">
                    <a class="button" href=csv download="">
                        "CSV"
                    </a>
                </div>
            </header>
            <div class="body">{body}</div>
        </section>
    }
    .into_any()
}

fn row(plans: &PlansView, plan: &PlanSummary) -> Vec<Content> {
    let href = format!("/planner/{}/{}", plans.team.id, plan.id);
    let outlook = if plan.closed { "closed" } else { verdict_word(plan.verdict) };
    let needs = plan.remaining_p50.map_or_else(|| format::NONE.to_owned(), chip_hours);
    vec![
        view! { <a href=href>{plan.terms.name.clone()}</a> }.into(),
        outlook.into(),
        names::chip_type(&plan.terms.chip_type).into(),
        loss(plan.last.loss).into(),
        loss(plan.terms.target_loss).into(),
        date_time(plan.terms.deadline).into(),
        Content::sorted_by(needs, plan.remaining_p50.map(|hours| hours.to_string())),
        Content::sorted_by(percent(plan.chance), Some(plan.chance.to_string())),
        format::amount(plan.spend_p50).into(),
        date_time(plan.forecast_at).into(),
    ]
}

/// The fields that say what a plan is for.
fn terms_fields(state: &FormState, chip_types: &[(String, String)]) -> Vec<AnyView> {
    let optional = |name, label, hint| Field { required: false, ..Field::text(name, label) }.with_hint(hint);
    let deadline = Field::time("terms.deadline", "Deadline");
    vec![
        field(state, &Field::text("terms.name", "Name of the job")),
        field(
            state,
            &Field::text("terms.target_loss", "Target loss")
                .with_hint("Done when the loss is at it or below"),
        ),
        field(state, &deadline),
        zone_of_times(state),
        select(state, "terms.chip_type", "Chip type", "", chip_types.to_vec()),
        field(state, &Field::text("terms.most_chips", "Most chips at once")),
        field(state, &optional("terms.least_chips", "Fewest chips it runs on", "1 where empty")),
        field(
            state,
            &optional(
                "terms.chip_hours_per_step",
                "Chip-hours of a step",
                "Where the log does not say what was used: TensorBoard's columns do not",
            ),
        ),
    ]
}

/// A fault of a log as sentences: it begins with its line, or goes on from "the log".
fn log_fault(fault: &str) -> String {
    let fault = fault.trim_end_matches('.');
    match fault.strip_prefix("line ") {
        Some(rest) => format!("Line {rest}."),
        None => format!("The log {fault}."),
    }
}

/// A file or a text with losses.
fn log_fields(state: &FormState) -> AnyView {
    let file = Field { kind: "file", required: false, ..Field::text("file", "Loss log, as a file") };
    let fault = state.fault("log").map(|fault| {
        view! { <p class="error" id="f-log-error" role="alert">{log_fault(fault)}</p> }
    });
    let described = state.fault("log").map(|_| "f-log-error");
    view! {
        {field(state, &file)}
        <div class="field">
            <label for="f-log">"Or its text"</label>
            <textarea
                id="f-log"
                name="log"
                rows="8"
                spellcheck="false"
                placeholder="step,loss,chip_hours"
                aria-invalid=state.fault("log").map(|_| "true")
                aria-describedby=described
                inner_html=text_of_area(state.value("log"))
            ></textarea>
            {fault}
        </div>
    }
    .into_any()
}

/// What a form says of a refusal that is the fault of no field.
fn refusal(state: &FormState) -> AnyView {
    state.refusal().map(|text| view! { <p class="refusal" role="alert">{text.to_owned()}</p> }).into_any()
}

/// What a log may look like.
fn forms_of_a_log() -> AnyView {
    view! {
        <h3>"What a loss log may look like"</h3>
        <ul class="plain">
            <li>"CSV with a header: "<code>"step,loss,chip_hours"</code>", in any order; other columns are not read"</li>
            <li>"JSON, one line per step: "<code>"{\"step\": 100, \"loss\": 3.2, \"chip_hours\": 1.5}"</code></li>
            <li>
                "TensorBoard's export: "<code>"Wall time,Step,Value"</code>", with the chip-hours of a step beside it"
            </li>
            <li>"Chip-hours count all that was used since the job began, so they grow from line to line"</li>
        </ul>
        <p class="quiet">"A log with a fault is refused whole, each line at fault is named, and what was typed stays."</p>
    }
    .into_any()
}

fn new_plan(page: &PlannerPage, plans: &PlansView) -> AnyView {
    let state = &page.form;
    let body = view! {
        <div class="two">
            <form class="form" method="post" action="/planner" enctype="multipart/form-data">
                {refusal(state)} {hidden("id", state.value("id"))} {hidden("team", plans.team.id.as_str())}
                {log_fields(state)} {terms_fields(state, &page.chip_types)}
                <div class="actions">
                    <button class="button primary" type="submit">
                        "Make the plan"
                    </button>
                </div>
            </form>
            <div>{forms_of_a_log()}</div>
        </div>
    };
    panel("new-plan", "Plan a job", body.into_any())
}
