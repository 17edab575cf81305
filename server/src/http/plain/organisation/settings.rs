//! The settings of the market: what is in force, with the range of each, and the form that changes them.

use app::format::as_set;
use app::plain::form::{Field, FormState};
use app::plain::organisation::{ChangePage, Input, OverviewPage, overview};
use axum::Router;
use axum::response::Response;
use axum::routing::get;
use common::words::counted;

use super::super::fields::Fields;
use super::super::{AppState, Plain, Posted};
use super::{doer, effective, known, link, refuse, show, shows};
use crate::error::AppError;
use crate::policy::{Action, Object, Viewer};
use crate::services::audit::Origin;
use crate::services::version::version_of;
use crate::store::entities::Organisation;

const TITLE: &str = "Market settings";
const PATH: &str = "/organisation/settings";

pub(super) fn routes() -> Router<AppState> {
    Router::new().route(PATH, get(page)).route("/organisation/settings/change", get(form_page).post(set))
}

/// What is in force, for everybody.
async fn page(plain: Plain, viewer: Viewer) -> Response {
    let (setup, cycle) = match plain.state().services().setup(&viewer).await {
        Ok(found) => found,
        Err(error) => return plain.problem(&error),
    };
    let settings = setup.organisation;
    let may = viewer.can(Action::SetOrganisation, Object::Organisation);
    let page = OverviewPage {
        path: PATH.to_owned(),
        shows: shows(&viewer),
        facts: facts(&settings).into_iter().map(|(name, value)| (name, "", value)).collect(),
        actions: if may {
            vec![link("/organisation/settings/change", "Change the settings")]
        } else {
            Vec::new()
        },
        notes: vec![as_set(cycle)],
        ..OverviewPage::default()
    };
    plain.ok(TITLE, || overview(page))
}

fn facts(settings: &Organisation) -> Vec<(&'static str, String)> {
    vec![
        ("Organisation", settings.name.clone()),
        ("Time zone", settings.time_zone.clone()),
        ("Clearing", format!("every {} s", settings.cycle_seconds)),
        ("Accounting", format!("every {} s", settings.accounting_seconds)),
        ("A bid must be sustained for", format!("{} min", settings.sustain_minutes)),
        ("Balances follow the pool's income", yes_or_no(settings.rebase_balances).to_owned()),
        ("A balance holds at most", cap_words(settings.balance_cap_hours)),
        ("Most hours per bid", hours_words(settings.most_bid_hours)),
        ("Rows of single cycles stay for", counted(settings.raw_retention_days.into(), "day")),
    ]
}

fn cap_words(hours: Option<u32>) -> String {
    hours.map_or_else(|| "any amount".to_owned(), |hours| format!("{hours} h of income"))
}

fn hours_words(hours: Option<u32>) -> String {
    hours.map_or_else(|| "any".to_owned(), |hours| format!("{hours} h"))
}

const fn yes_or_no(flag: bool) -> &'static str {
    if flag { "yes" } else { "no" }
}

async fn form_page(plain: Plain, viewer: Viewer) -> Response {
    let page = form(&plain, &viewer).await;
    show(plain, TITLE, page)
}

async fn form(plain: &Plain, viewer: &Viewer) -> Result<ChangePage, AppError> {
    viewer.may(Action::SetOrganisation, Object::Organisation)?;
    let (setup, cycle) = plain.state().services().setup(viewer).await?;
    let settings = setup.organisation;
    let number =
        |name, label, hint| Input::Line(Field { kind: "number", ..Field::text(name, label) }.with_hint(hint));
    Ok(ChangePage {
        heading: "Change the market's settings",
        action: "/organisation/settings/change".to_owned(),
        state: filled(&settings),
        version: version_of(&settings)?,
        inputs: vec![
            Input::Line(Field::text("name", "Name of the organisation").with_hint("1 to 200 characters")),
            Input::Line(Field::text("time_zone", "Time zone").with_hint("An IANA name such as Europe/Berlin or UTC")),
            number("cycle_seconds", "Seconds between two clearings", "1 to 3600; 60 is usual"),
            number(
                "accounting_seconds",
                "Seconds between two accounting steps",
                "1 to 3600, a multiple of the seconds between two clearings; 300 is usual",
            ),
            number("sustain_minutes", "Minutes a bid must be sustained", "1 to 100000; 120 is usual"),
            Input::Choice {
                name: "rebase_balances",
                label: "Balances follow the pool's income",
                hint: "Without it a pool that lowers its incomes makes its old balances worth more",
                options: [("yes", "Yes"), ("no", "No")].map(|(value, text)| (value.to_owned(), text.to_owned())).into(),
            },
            Input::Line(
                Field { required: false, ..Field::text("balance_cap_hours", "Hours of income that a balance holds") }
                    .with_hint("1 to 100000; empty: no cap. What exceeds it lapses at an accounting step"),
            ),
            Input::Line(
                Field { required: false, ..Field::text("most_bid_hours", "Most hours per bid") }.with_hint(
                    "1 to 100000; empty: any. A bid needs an end or a work estimate then. Such as 24: a bid from Monday \
                     09:00 to Tuesday 10:00 is for 25 h and is refused",
                ),
            ),
            number("raw_retention_days", "Days that rows of single cycles stay", "2 to 36500; hours and days stay for good"),
        ],
        button: "Change the settings",
        now: facts(&settings),
        effects: vec![
            effective(cycle),
            "Another time zone moves where days and months begin. What is spent in the month is counted anew from the \
             ledger; nothing that is booked changes. Once finance has closed a month the zone stays: what is closed keeps \
             its bounds."
                .to_owned(),
            "A cap on balances takes what exceeds it at the next accounting step, for good; it stands in the ledger as a \
             lapse."
                .to_owned(),
            "A shorter time to sustain lets teams bid more of their balance per hour, a longer one less.".to_owned(),
        ],
        listing: None,
        back: link(PATH, "Market settings"),
    })
}

fn filled(settings: &Organisation) -> FormState {
    FormState::filled(&[
        ("name", &settings.name),
        ("time_zone", &settings.time_zone),
        ("cycle_seconds", &settings.cycle_seconds.to_string()),
        ("accounting_seconds", &settings.accounting_seconds.to_string()),
        ("sustain_minutes", &settings.sustain_minutes.to_string()),
        ("rebase_balances", yes_or_no(settings.rebase_balances)),
        ("raw_retention_days", &settings.raw_retention_days.to_string()),
        (
            "balance_cap_hours",
            &settings.balance_cap_hours.map_or_else(String::new, |hours| hours.to_string()),
        ),
        ("most_bid_hours", &settings.most_bid_hours.map_or_else(String::new, |hours| hours.to_string())),
    ])
}

async fn set(plain: Plain, viewer: Viewer, origin: Origin, posted: Posted) -> Response {
    match change(&plain, &viewer, &origin, &posted).await {
        Ok(()) => plain.done(PATH, "The settings are changed from the next cycle on."),
        Err(error) => {
            let page = form(&plain, &viewer).await;
            refuse(plain, TITLE, posted, &error, page)
        }
    }
}

async fn change(plain: &Plain, viewer: &Viewer, origin: &Origin, posted: &Posted) -> Result<(), AppError> {
    let services = plain.state().services();
    let (setup, _) = services.setup(viewer).await?;
    let mut fields = Fields::new(posted.fields());
    let (cycle, accounting) =
        (fields.number("cycle_seconds", 1, 3_600), fields.number("accounting_seconds", 1, 3_600));
    let sustain = fields.number("sustain_minutes", 1, 100_000);
    let retention = fields.number("raw_retention_days", 2, 36_500);
    let mut hours = |name| match fields.text(name) {
        "" => None,
        _ => fields.number(name, 1, 100_000),
    };
    let (balance_cap_hours, most_bid_hours) = (hours("balance_cap_hours"), hours("most_bid_hours"));
    let (name, time_zone) = (fields.text("name").to_owned(), fields.text("time_zone").to_owned());
    let rebase_balances = fields.text("rebase_balances") != "no";
    fields.finish()?;
    let present = setup.organisation;
    let settings = Organisation {
        name,
        time_zone,
        cycle_seconds: cycle.unwrap_or(present.cycle_seconds),
        accounting_seconds: accounting.unwrap_or(present.accounting_seconds),
        sustain_minutes: sustain.unwrap_or(present.sustain_minutes),
        rebase_balances,
        raw_retention_days: retention.unwrap_or(present.raw_retention_days),
        balance_cap_hours,
        most_bid_hours,
        data_note: present.data_note,
    };
    services.set_settings(doer(viewer, origin, posted), &settings, known(posted)).await
}
