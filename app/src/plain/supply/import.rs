//! Importing an inventory: the file, what each model of it is, what would change, and what that would do.

use common::api::{Comparison, InventoryChange, InventoryModel, InventoryView};
use common::words::counted;
use leptos::prelude::*;

use super::super::form::{Field, FormState, field, hidden, select, text_area};
use super::super::names;
use super::super::organisation::{Cell, Listing, listed};
use super::{comparison, subnav};
use crate::chart::supply_change;
use crate::fields::text_of_area;
use crate::format;

/// What the page shows.
#[derive(Clone, Debug)]
pub struct ImportPage {
    /// Chip types: id and name.
    pub chip_types: Vec<(String, String)>,
    /// Pools: id and name.
    pub pools: Vec<(String, String)>,
    /// The cycle in which an import takes effect.
    pub next_cycle: u64,
    /// The form as it was sent, or empty.
    pub state: FormState,
    /// What the file says and, where it can be imported, what it would do.
    pub read: Option<(InventoryView, Option<Comparison>)>,
}

impl ImportPage {
    /// Something is wrong with the file.
    #[must_use]
    pub fn has_faults(&self) -> bool {
        self.read.as_ref().is_some_and(|(view, _)| !view.faults.is_empty())
    }
}

/// The main part of the page.
#[must_use]
pub fn import(page: &ImportPage) -> AnyView {
    let body = match &page.read {
        None => choose(page),
        Some((view, effect)) => {
            let effect = effect.as_ref().map(comparison);
            view! { <div class="sections">{said(page, view)} {effect}</div> }.into_any()
        }
    };
    view! {
        {subnav("/supply/import")}
        {body}
    }
    .into_any()
}

fn pools(page: &ImportPage) -> Vec<(String, String)> {
    let mut options = vec![(String::new(), "shared".to_owned())];
    options.extend(page.pools.iter().cloned());
    options
}

const POOL_HINT: &str =
    "Of a list of nodes, all of which are in one hand; the other form says it in each row";

/// The choice of a file.
fn choose(page: &ImportPage) -> AnyView {
    let file = Field { kind: "file", required: false, ..Field::text("file", "File") }
        .with_hint("CSV with a header, at most 1 MB");
    let area = view! {
        <div class="field">
            <label for="f-csv">"Or its text"</label>
            <textarea id="f-csv" name="csv" rows="8" spellcheck="false"></textarea>
        </div>
    };
    view! {
        <section class="panel" aria-labelledby="file">
            <header>
                <h2 id="file">"Choose a file"</h2>
            </header>
            <div class="body two">
                <form class="form" method="post" action="/supply/import" enctype="multipart/form-data">
                    {field(&page.state, &file)} {area}
                    {select(&page.state, "pool", "Whose chips", POOL_HINT, pools(page))}
                    <div class="actions">
                        <button class="button primary" type="submit" name="do" value="read">
                            "Show what it changes"
                        </button>
                    </div>
                </form>
                <div>
                    <h3>"What a file looks like"</h3>
                    <ul class="plain">
                        <li><code>"chip_type,pool,chips"</code>": a row is the chips of a type in one hand; without a pool they are shared."</li>
                        <li><code>"sn,cpu_milli,memory_mib,gpu,model"</code>": a row is a node with so many GPUs of a model."</li>
                        <li><code>"node,tres"</code>": a row is a node with its resources as Slurm writes them."</li>
                    </ul>
                    <p class="quiet">"Hands and types that the file does not name stay as they are. Nothing is imported before you have seen the difference, and nothing of a file with a fault."</p>
                </div>
            </div>
        </section>
    }
    .into_any()
}

/// What a file says, and the form that imports it.
fn said(page: &ImportPage, view: &InventoryView) -> AnyView {
    let state = &page.state;
    let csv = state.value("csv").to_owned();
    let lines = csv.lines().count();
    let refusal = state.refusal().map(|text| view! { <p class="refusal" role="alert">{text.to_owned()}</p> });
    let can_import = view.faults.is_empty() && !view.changes.is_empty();
    let import = can_import.then(|| {
        view! {
            {text_area(state, "reason", "Reason", "Why, in a few words: at most 500 characters. The audit log keeps it.")}
        }
    });
    let button = can_import.then(|| {
        view! {
            <button class="button primary" type="submit" name="do" value="import">
                "Import it"
            </button>
        }
    });
    let summary = format!(
        "Read {}. Numbers of chips: {} change in cycle {}, {} stay as they are.",
        counted(view.rows, "row"),
        view.changes.len(),
        format::thousands(page.next_cycle),
        view.unchanged
    );
    view! {
        <section class="panel" aria-labelledby="difference">
            <header>
                <h2 id="difference">"What the file changes"</h2>
            </header>
            <div class="body">
                {faults(view)}
                <p>{summary}</p>
                <form class="form wide" method="post" action="/supply/import">
                    {refusal} {models(page, view)}
                    {select(state, "pool", "Whose chips", POOL_HINT, pools(page))} {import}
                    {hidden("version", &view.version)}
                    <details>
                        <summary>{format!("The file, {}", counted(lines as u64, "line"))}</summary>
                        <textarea class="file" name="csv" rows="12" spellcheck="false" aria-label="The file" inner_html=text_of_area(&csv)></textarea>
                    </details>
                    <div class="actions">
                        {button}
                        <button class="button" type="submit" name="do" value="read" formnovalidate>
                            "Show it again"
                        </button>
                        <a href="/supply/import">"Another file"</a>
                    </div>
                </form>
            </div>
        </section>
        {listed(changes(&view.changes))}
    }
    .into_any()
}

fn faults(view: &InventoryView) -> AnyView {
    if view.faults.is_empty() {
        return ().into_any();
    }
    let lines = view
        .faults
        .iter()
        .map(|fault| {
            let line = fault.line.map_or(String::new(), |line| format!("Line {line} "));
            view! { <li>{format!("{line}{}.", fault.detail)}</li> }
        })
        .collect_view();
    view! {
        <div class="refusal" role="alert">
            <p>"Nothing can be imported from this file:"</p>
            <ul class="plain">{lines}</ul>
        </div>
    }
    .into_any()
}

/// For each model which chip type it is, to be said by the admin.
fn models(page: &ImportPage, view: &InventoryView) -> AnyView {
    if view.models.is_empty() {
        return ().into_any();
    }
    let rows = view.models.iter().map(|model| model_row(page, model)).collect_view();
    view! {
        <div class="scroll" tabindex="0" role="region" aria-label="Models of the file">
            <table>
                <caption>"Which chip type each model is"</caption>
                <thead>
                    <tr>
                        <th scope="col">"Model"</th>
                        <th scope="col" class="num">"Nodes"</th>
                        <th scope="col" class="num">"Chips"</th>
                        <th scope="col">"Chip type"</th>
                    </tr>
                </thead>
                <tbody>{rows}</tbody>
            </table>
        </div>
    }
    .into_any()
}

fn model_row(page: &ImportPage, model: &InventoryModel) -> AnyView {
    let chosen = match &model.chip_type {
        Some(chip_type) => chip_type.to_string(),
        None if model.left_out => "-".to_owned(),
        None => String::new(),
    };
    let mut options = Vec::new();
    if chosen.is_empty() {
        options.push((String::new(), "say which one it is".to_owned()));
    }
    options.extend(page.chip_types.iter().cloned());
    options.push(("-".to_owned(), "leave its chips out".to_owned()));
    let options = options
        .into_iter()
        .map(|(value, text)| {
            let selected = value == chosen;
            view! { <option value=value selected=selected>{text}</option> }
        })
        .collect_view();
    let label = format!("Chip type of {}", model.model);
    view! {
        <tr>
            <th scope="row">{model.model.clone()}</th>
            <td class="num">{format::thousands(model.nodes)}</td>
            <td class="num">{format::chips(model.chips)}</td>
            <td>
                <select name=format!("model-{}", model.model) aria-label=label>
                    {options}
                </select>
            </td>
        </tr>
    }
    .into_any()
}

fn changes(changes: &[InventoryChange]) -> Listing {
    let rows = changes.iter().map(|change| {
        vec![
            Cell::Text(names::chip_type(&change.chip_type)),
            Cell::Text(names::whose(change.pool.as_ref())),
            Cell::Number(format::chips(change.before)),
            Cell::Number(format::chips(change.after)),
            Cell::Number(supply_change(change.before.0, change.after.0)),
        ]
    });
    Listing {
        caption: "The difference".to_owned(),
        columns: vec![
            ("Chip type", "", false),
            ("Whose", "", false),
            ("Now", "chips", true),
            ("By the file", "chips", true),
            ("Change", "", true),
        ],
        rows: rows.collect(),
        empty: "The file changes nothing.",
    }
}
