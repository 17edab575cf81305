//! The months of the ledger, and closing one.

use common::api::{CloseView, MonthView, MonthsView, PeriodTotal};
use common::words::counted;
use leptos::prelude::*;

use super::super::table::Table;
use super::{linked, panel_with_csv, subnav};
use crate::components::time::date_time;
use crate::format;
use crate::plain::form::{FormState, form, panel, text_area};
use crate::plain::ledger::kind_name;
use crate::plain::names;
use crate::plain::parts::warning;
use crate::words::address;

/// The main part of the list.
pub fn months(view: &MonthsView) -> AnyView {
    let cells = |month: &MonthView| {
        let period = &month.period;
        let state = match (&month.close, &month.waits_for) {
            (Some(close), _) => {
                view! { "closed by " {close.closed_by.clone()} " at " {date_time(close.closed_at)} }
                    .into_any()
            }
            (None, Some(why)) => format!("open: {why}").into_any(),
            (None, None) => "open: it can be closed".into_any(),
        };
        vec![
            linked(format!("/finance/months/{}", period.period), period.title.clone()),
            date_time(period.starts_at).into_any(),
            date_time(period.ends_at).into_any(),
            state,
            linked(address("/finance", &[("period", Some(&period.period))]), "Spend".to_owned()),
            linked(
                address("/finance/statements", &[("period", Some(&period.period))]),
                "Statements".to_owned(),
            ),
        ]
    };
    let columns = [
        ("Month", "", false),
        ("From", "", false),
        ("To before", "", false),
        ("State", "", false),
        ("Spend", "", false),
        ("Statements", "", false),
    ];
    let zone = view.months.first().map(|month| month.period.time_zone.clone());
    let body = view! {
        {Table::new("Months since the first booking, newest first", &columns, view.months.iter().map(cells).collect()).captioned().view_or("Nothing is booked yet.")}
        <p class="quiet">
            {zone.map(|zone| format!("Days and months are counted in {zone}, the zone of the organisation. "))}
            "Months are closed in order, after the accounting step at their end. What counts in a closed month never changes; what \
             is found later is booked in the open month, with a link to what it corrects. There is no way to open a month again."
        </p>
    };
    view! {
        {subnav("/finance/months")}
        {panel_with_csv("months", "Months".to_owned(), "/api/v1/finance/months?format=csv".to_owned(), body.into_any())}
    }
    .into_any()
}

/// The page of one month.
#[derive(Clone, Debug)]
pub struct MonthPage {
    /// The month.
    pub month: MonthView,
    /// The viewer may close it.
    pub may_close: bool,
    /// The form that closes it.
    pub state: FormState,
}

/// The main part of the page of one month.
pub fn month(page: &MonthPage) -> AnyView {
    let MonthPage { month, may_close, state } = page;
    let period = &month.period;
    let csv = format!("/api/v1/finance/months/{}?format=csv", period.period);
    let close = match (&month.close, &month.waits_for) {
        (Some(close), _) => closed(close),
        (None, Some(why)) => view! { <p>{format!("It can't be closed now: {why}.")}</p> }.into_any(),
        (None, None) if *may_close => close_form(&period.period, &period.title, state),
        (None, None) => view! { <p>"Finance can close it."</p> }.into_any(),
    };
    view! {
        {subnav("/finance/months")}
        <div class="sections">
            {panel("close", "Close of the month", close)}
            {panel_with_csv("booked", format!("Booked in {}", period.title), csv, totals(&month.totals))}
        </div>
    }
    .into_any()
}

fn closed(close: &CloseView) -> AnyView {
    let broken = (close.holds == Some(false)).then(|| {
        warning(
            "The ledger does not say any more what it said when the month was closed. Look at the reconciliation and run verify."
                .to_owned(),
        )
    });
    let holds = (close.holds == Some(true))
        .then_some(" The ledger says the same now: the hash and all totals are as stored.");
    view! {
        {broken}
        <p>
            "Closed at " {date_time(close.closed_at)} " by " {close.closed_by.clone()} ": " {close.reason.clone()}
        </p>
        <p>
            {format!("Counted in it: {} with {}.", counted(close.transfers, "transfer"), counted(close.entries, "entry"))}
            {holds}
        </p>
        <p class="quiet">"SHA-256 over the numbers and hashes of these transfers:"</p>
        <p class="id">{close.sha256.clone()}</p>
    }
    .into_any()
}

fn close_form(period: &str, title: &str, state: &FormState) -> AnyView {
    let reason = text_area(
        state,
        "reason",
        "Reason",
        "Why, in a few words: at most 500 characters. The audit log keeps it.",
    );
    view! {
        <div class="two">
            <div>{form(state, &format!("/finance/months/{period}/close"), vec![reason], "Close the month for good")}</div>
            <div>
                <h3>"What the close does"</h3>
                <ul class="plain">
                    <li>{format!("What counts in {title} never changes any more; the database itself refuses it.")}</li>
                    <li>"What is found later is booked as a correction in the open month, with a link to what it corrects."</li>
                    <li>"Each team's statement gets its number, and a hash that proves that it says the same for ever."</li>
                    <li>"The time zone of the organisation can't change after it."</li>
                    <li>"A month can't be opened again."</li>
                </ul>
            </div>
        </div>
    }
    .into_any()
}

fn totals(totals: &[PeriodTotal]) -> AnyView {
    let cells = |total: &PeriodTotal| {
        vec![
            names::pool(&total.pool).into_any(),
            kind_name(&total.kind).into_any(),
            format::amount(total.amount).into_any(),
        ]
    };
    let columns = [("Pool", "", false), ("Kind", "", false), ("Booked to its teams", "local credits", true)];
    Table::new(
        "What was booked to teams, by pool and kind of transfer",
        &columns,
        totals.iter().map(cells).collect(),
    )
    .captioned()
    .view_or("Nothing was booked in this month.")
}
