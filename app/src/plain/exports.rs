//! Exports as a page: what to export, of which time and as which file; what each column means; and the files that are
//! made in the background, which are found here again.

use common::api::{CreditValueView, ExportColumn, ExportView, JobState, JobView};
use leptos::prelude::*;

use super::finance::subnav;
use super::form::{
    Field, FormState, boxes, field, form as posted_form, panel, select, stretch, text_area, zone_of_times,
};
use super::parts::{fact, work_progress};
use super::table::{Content, Table};
use crate::components::time::date_time;
use crate::format;
use crate::words::address;

/// What the page shows.
#[derive(Clone, Debug)]
pub struct ExportsPage {
    /// The exports that the viewer may have.
    pub exports: Vec<ExportView>,
    /// What is asked for, as it stands in the address: `name`, `period`, `from`, `to`, `format`.
    pub form: FormState,
    /// What that gives; none where it is refused.
    pub chosen: Option<ChosenExport>,
    /// The viewer's exports in the background, newest first.
    pub jobs: Vec<JobView>,
    /// The organisation's zone.
    pub time_zone: String,
    /// The viewer has the other pages of finance as well.
    pub in_finance: bool,
    /// What a credit is worth, where the export depends on it.
    pub credit_value: Option<ShownValue>,
}

/// What a credit is worth, and who may change it.
#[derive(Clone, Debug)]
pub struct ShownValue {
    /// The value of this month; none before it was ever set.
    pub value: Option<CreditValueView>,
    /// The viewer may set it.
    pub may_set: bool,
}

/// The export that is asked for.
#[derive(Clone, Debug)]
pub struct ChosenExport {
    /// What it is.
    pub view: ExportView,
    /// The name of its file.
    pub file_name: String,
    /// About how many rows it has.
    pub expected_rows: u64,
}

/// The fields of the form that stand in addresses.
const FIELDS: [&str; 4] = ["period", "from", "to", "format"];

/// Rows from which on the page advises to make the file in the background.
const MANY_ROWS: u64 = 500_000;

/// The main part of the page.
pub fn exports(page: ExportsPage) -> AnyView {
    let ExportsPage { exports, form, chosen, jobs, time_zone, in_finance, credit_value } = page;
    let extra = exports.iter().find(|export| export.name == form.value("name"));
    let extra = extra.map(|export| export.extra_columns.clone()).unwrap_or_default();
    let chooser = chooser(&exports, &form, &time_zone, &extra);
    let value = credit_value.as_ref().map(value_line);
    let chosen = chosen.map(|chosen| chosen_view(&form, chosen, &time_zone));
    view! {
        {in_finance.then(|| subnav("/finance/exports"))}
        <div class="sections">
            <section class="panel" aria-labelledby="what">
                <header>
                    <h2 id="what">"What to export"</h2>
                </header>
                <div class="body">{chooser} {value}</div>
            </section>
            {chosen} {job_list(&jobs)}
        </div>
    }
    .into_any()
}

fn chooser(exports: &[ExportView], form: &FormState, time_zone: &str, extra: &[ExportColumn]) -> AnyView {
    let names = exports.iter().map(|export| (export.name.clone(), export.title.clone())).collect();
    let formats = [("csv", "CSV"), ("parquet", "Parquet")];
    let formats = formats.map(|(value, text)| (value.to_owned(), text.to_owned())).into();
    let line = |name, label| Field { required: false, ..Field::text(name, label) };
    let extra =
        extra.iter().map(|column| (column.name.clone(), format!("{}: {}", column.name, column.meaning)));
    let extra: Vec<_> = extra.collect();
    let extra = (!extra.is_empty()).then(|| boxes(form, "columns", "Columns to add", extra));
    view! {
        <form class="filters" method="get" action="/finance/exports">
            {select(form, "name", "Export", "", names)}
            {field(form, &line("period", "Period").with_hint("2026, 2026-Q4, 2026-11 or 2026-11-30"))}
            {stretch(form, "Or from")}
            {select(form, "format", "File", "", formats)} {extra}
            <button class="button" type="submit">
                "Show"
            </button>
            {zone_of_times(form)}
        </form>
        <p class="quiet">
            "Periods are those of the organisation's zone, " {time_zone.to_owned()}
            ". Without a period and a time it is everything."
        </p>
    }
    .into_any()
}

fn chosen_view(form: &FormState, chosen: ChosenExport, time_zone: &str) -> AnyView {
    let ChosenExport { view: export, file_name, expected_rows } = chosen;
    let value = |name: &'static str| Some(form.value(name)).filter(|value| !value.is_empty());
    let added: Vec<&str> = export.extra_columns.iter().map(|column| column.name.as_str()).collect();
    let added: Vec<&str> = added.into_iter().filter(|name| form.has("columns", name)).collect();
    let extra = Some(added.join(",")).filter(|columns| !columns.is_empty());
    let mut parameters: Vec<(&str, Option<&str>)> = FIELDS.iter().map(|name| (*name, value(name))).collect();
    parameters.push(("columns", extra.as_deref()));
    let download = address(&format!("/api/v1/exports/{}", export.name), &parameters);
    let carried = FIELDS
        .iter()
        .filter_map(|name| value(name).map(|value| (*name, value.to_owned())))
        .chain([("name", export.name.clone())])
        .chain(added.iter().map(|column| ("columns", (*column).to_owned())))
        .map(|(name, value)| view! { <input type="hidden" name=name value=value /> })
        .collect_view();
    let advice = if expected_rows >= MANY_ROWS {
        "This is a long file. In the background it goes on when you leave, and you find it below."
    } else {
        "A download begins at once. In the background it goes on when you leave, and you find it below."
    };
    let shown = export
        .columns
        .iter()
        .chain(export.extra_columns.iter().filter(|column| form.has("columns", &column.name)));
    let rows = shown.map(|column| -> Vec<Content> {
        let name = view! { <code>{column.name.clone()}</code> };
        vec![name.into(), column.kind.clone().into(), column.meaning.clone().into()]
    });
    let columns = [("Column", "", false), ("Holds", "", false), ("Means", "", false)];
    let columns = Table::new("Columns of the export", &columns, rows.collect()).view();
    view! {
        <section class="panel" aria-labelledby="chosen">
            <header>
                <h2 id="chosen">{export.title.clone()}</h2>
                <div class="right">
                    <a class="button primary" href=download download="">
                        "Download"
                    </a>
                    <form method="post" action="/finance/exports">
                        {carried}
                        <button class="button" type="submit">
                            "Make it in the background"
                        </button>
                    </form>
                </div>
            </header>
            <div class="body">
                <dl class="figures">
                    {fact("Rows", "about", format::thousands(expected_rows).into_any())}
                    {fact("File", "", file_name.into_any())}
                    {fact("Periods counted in", "", time_zone.to_owned().into_any())}
                </dl>
                <p>{export.meaning.clone()}</p>
                <p class="quiet">{advice}</p>
                {columns}
            </div>
        </section>
    }
    .into_any()
}

/// What a credit is worth, with the way to change it.
fn value_line(shown: &ShownValue) -> AnyView {
    let text = match &shown.value {
        Some(value) => {
            format!("A credit is worth {} {} this month.", format::amount(value.value), value.currency)
        }
        None => "What a credit is worth in money is not set yet: this export needs it.".to_owned(),
    };
    let link = shown.may_set.then(|| {
        view! {
            " "
            <a href="/finance/exports/credit-value">"Set it"</a>
        }
    });
    view! { <p>{text} {link}</p> }.into_any()
}

/// The main part of the page that sets what a credit is worth.
pub fn credit_value(state: &FormState, present: Option<CreditValueView>) -> AnyView {
    let now = present.map(|value| {
        let text = format!("Now a credit is worth {} {}.", format::amount(value.value), value.currency);
        view! { <p>{text}</p> }
    });
    let body = view! {
        {now}
        <p>
            "It holds from this month on; months that are over keep their value. The export of charges counts credits of \
             every pool with it, and shows the credits beside the money."
        </p>
        {posted_form(
            state,
            "/finance/exports/credit-value",
            vec![
                field(state, &Field::text("currency", "Currency").with_hint("A code of ISO 4217, such as EUR or USD")),
                field(state, &Field::text("value", "Value of a credit").with_hint("In that currency, like 2.50")),
                text_area(state, "reason", "Reason", "The audit log keeps it."),
            ],
            "Set the value",
        )}
    };
    panel("value", "What a credit is worth", body.into_any())
}

fn job_list(jobs: &[JobView]) -> AnyView {
    let goes_on = jobs.iter().any(|job| job.state.is_open());
    let columns = [
        ("Export", "", false),
        ("Asked for at", "", false),
        ("State", "", false),
        ("Rows", "", true),
        ("Size", "bytes", true),
        ("File", "", false),
    ];
    let table = Table::new("Exports in the background", &columns, jobs.iter().map(job_row).collect())
        .view_or("No file was made in the background yet.");
    view! {
        <section class="panel" id="jobs" aria-labelledby="jobs-title" data-goes-on=goes_on.then_some("")>
            <header>
                <h2 id="jobs-title">"In the background"</h2>
            </header>
            <div class="body">
                {table}
                <p class="quiet">"Yours, newest first. A file is kept for seven days."</p>
            </div>
        </section>
    }
    .into_any()
}

fn job_row(job: &JobView) -> Vec<Content> {
    let rows = if job.state.is_open() && job.expected_rows > job.rows {
        format!("{} of about {}", format::thousands(job.rows), format::thousands(job.expected_rows))
    } else {
        format::thousands(job.rows)
    };
    let act = match (&job.file, job.state.is_open()) {
        (Some(file), _) => view! {
            <a class="button" href=file.clone() download="">
                "Download"
            </a>
        }
        .into_any(),
        (None, true) => view! {
            <form method="post" action=format!("/finance/exports/jobs/{}/cancel", job.id)>
                <button class="button danger" type="submit">
                    "Cancel"
                </button>
            </form>
        }
        .into_any(),
        (None, false) if job.state == JobState::Done => "removed".into_any(),
        (None, false) => ().into_any(),
    };
    vec![
        job.title.clone().into(),
        date_time(job.made_at).into(),
        work_progress(job).into(),
        rows.into(),
        format::thousands(job.bytes).into(),
        act.into(),
    ]
}
