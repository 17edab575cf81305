//! The first page of the lab: start a comparison, the runs so far, upload a trace, what each policy is.

use common::api::LabRun;
use leptos::prelude::*;

use super::frontier::{Frontier, frontier, slider_of};
use super::shadow::{ShadowPanel, shadow};
use super::{request_words, state_words};
use crate::components::time::date_time;
use crate::plain::form::{Field, FormState, boxes, field, form, panel, select};

/// A policy in words.
#[derive(Clone, Debug)]
pub struct PolicyWords {
    /// Its name.
    pub name: &'static str,
    /// Its name for people.
    pub title: &'static str,
    /// What it does, in two sentences.
    pub explanation: &'static str,
    /// Where it comes from.
    pub source: &'static str,
}

/// What the page shows.
#[derive(Clone, Debug)]
pub struct LabPage {
    /// The traces that can be chosen: name, and what it is.
    pub traces: Vec<(String, String)>,
    /// All policies.
    pub policies: Vec<PolicyWords>,
    /// The newest runs, newest first.
    pub runs: Vec<LabRun>,
    /// The learned allocator's frontier; none where its weights can't be read.
    pub frontier: Option<Frontier>,
    /// Policies in shadow.
    pub shadow: ShadowPanel,
    /// The form that starts a run.
    pub start: FormState,
    /// The form that uploads a trace.
    pub upload: FormState,
}

/// The main part of the page.
pub fn lab(page: &LabPage) -> AnyView {
    let words = page.policies.iter().map(words).collect_view();
    view! {
        <p class="quiet">
            "Compare ways to share out chips on the same demand: this market's own, a real cluster's, or one of yours. Nothing here touches the market."
        </p>
        <div class="sections">
            {runs(&page.runs)} {page.frontier.as_ref().map(frontier)} {start_panel(page)} {shadow(&page.shadow)}
            {upload_panel(&page.upload)}
            {panel("policies", "The policies", view! { <dl class="lab-policies">{words}</dl> }.into_any())}
        </div>
    }
    .into_any()
}

fn words(policy: &PolicyWords) -> AnyView {
    view! {
        <div>
            <dt>{policy.title} " " <code>{policy.name}</code></dt>
            <dd>{policy.explanation}</dd>
            <dd class="quiet">{policy.source}</dd>
        </div>
    }
    .into_any()
}

fn runs(runs: &[LabRun]) -> AnyView {
    if runs.is_empty() {
        let empty = view! { <p class="empty">"There is no run yet. Start one below."</p> };
        return panel("runs", "Runs", empty.into_any());
    }
    let rows = runs
        .iter()
        .map(|run| {
            let label = format!("Compare {} of {}", run.request.trace, run.created_at);
            view! {
                <tr>
                    <th scope="row">
                        <input type="checkbox" name="run" value=run.id.clone() aria-label=label />
                        " "
                        <a href=format!("/lab/runs/{}", run.id)>{run.request.trace.clone()}</a>
                    </th>
                    <td data-label="Of">{request_words(run)}</td>
                    <td data-label="State">{state_words(run)}</td>
                    <td data-label="Started">{date_time(run.created_at)}</td>
                    <td data-label="By">{run.created_by_name.clone()}</td>
                </tr>
            }
        })
        .collect_view();
    let body = view! {
        <form method="get" action="/lab/compare">
            <div class="scroll" tabindex="0" role="region" aria-label="Runs">
                <table class="cards">
                    <thead>
                        <tr>
                            <th scope="col">"Trace"</th>
                            <th scope="col">"Of"</th>
                            <th scope="col">"State"</th>
                            <th scope="col">"Started"</th>
                            <th scope="col">"By"</th>
                        </tr>
                    </thead>
                    <tbody>{rows}</tbody>
                </table>
            </div>
            <p class="pager">
                <button class="button" type="submit">
                    "Compare the marked runs"
                </button>
            </p>
        </form>
    };
    panel("runs", "Runs", body.into_any())
}

fn start_panel(page: &LabPage) -> AnyView {
    let state = &page.start;
    let optional = |name, label, hint| Field { required: false, ..Field::text(name, label) }.with_hint(hint);
    let traces = page.traces.clone();
    let values = vec![
        ("uniform".to_owned(), "1 credit for everybody".to_owned()),
        ("heavy-tailed".to_owned(), "Drawn by the seed, with a heavy tail".to_owned()),
    ];
    let policies = page.policies.iter().map(|policy| (policy.name.to_owned(), policy.title.to_owned()));
    let fields = vec![
        select(state, "trace", "Trace", "", traces),
        select(state, "values", "Values", "What a chip-hour is worth where the trace does not tell", values),
        field(state, &Field::text("seed", "Seed").with_hint("The same seed gives the same figures")),
        field(state, &optional("supply", "Chips", "Of each type; as the trace has it where empty")),
        field(state, &optional("rounds", "Rounds", "At most so many, from the first on; all where empty")),
        field(
            state,
            &optional(
                "regret_rounds",
                "Rounds with misreports",
                "What lying would gain is tried on so many rounds, 45 times per team; empty leaves it out",
            ),
        ),
        boxes(state, "policies", "Policies (none marked: all)", policies.collect()),
        slider_of(state, "start-weight"),
    ];
    panel("start", "Start a run", form(state, "/lab", fields, "Start"))
}

fn upload_panel(state: &FormState) -> AnyView {
    let optional = |name, label, hint| Field { required: false, ..Field::text(name, label) }.with_hint(hint);
    let file = Field { kind: "file", ..optional("file", "File", "CSV with a header, at most 16 MB") };
    let fault =
        state.fault("csv").map(|fault| view! { <p class="error" role="alert">{fault.to_owned()}</p> });
    let refusal = state.refusal().map(|text| view! { <p class="refusal" role="alert">{text.to_owned()}</p> });
    let body = view! {
        <div class="two">
            <form class="form" method="post" action="/lab/traces" enctype="multipart/form-data">
                {refusal}
                {field(state, &Field::text("name", "Name").with_hint("Up to 40 letters, digits and - _ ."))}
                {field(state, &file)}
                <div class="field">
                    <label for="f-csv">"Or its text"</label>
                    <textarea id="f-csv" name="csv" rows="5" spellcheck="false"></textarea>
                    {fault}
                </div>
                {field(state, &optional("chips", "Chips of each type", "A tenth above the mean demand where empty"))}
                {field(state, &Field::text("round_seconds", "Seconds of a round").with_hint("3600 is an hour"))}
                <div class="actions">
                    <button class="button" type="submit">
                        "Upload"
                    </button>
                </div>
            </form>
            <div>
                <h3>"Columns, in any order"</h3>
                <ul class="plain">
                    <li><code>"round"</code>": 0, 1, 2, … in ascending order"</li>
                    <li><code>"team"</code>": its name, up to 64 characters"</li>
                    <li><code>"chips"</code>": how many it could use in the round, a whole number"</li>
                    <li><code>"chip_type"</code>": of which type; left out, there is one"</li>
                    <li><code>"value"</code>": what a chip-hour is worth to it, in credits; left out, 1"</li>
                    <li><code>"weight"</code>": its part of what is shared out; left out, 1"</li>
                </ul>
                <p class="quiet">
                    "What the file does not name is not asked for. A file with a fault is refused whole, and each line at fault is named."
                </p>
            </div>
        </div>
    };
    panel("upload", "Upload a trace", body.into_any())
}
