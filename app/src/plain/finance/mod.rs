//! The pages of finance: spend, budgets, months and their close, bookings, statements.

pub mod bookings;
pub mod budgets;
pub mod months;
pub mod spend;
pub mod statements;

use common::api::PeriodView;
use common::money::MicroCredits;
use common::problem::Problem;
use leptos::prelude::*;

use super::form::{Field, FormState, field};
use crate::format;
use crate::words::address;

/// The pages, in the order of their links: address and name.
const PAGES: [(&str, &str); 7] = [
    ("/finance", "Spend"),
    ("/finance/budgets", "Budgets"),
    ("/finance/months", "Months"),
    ("/finance/bookings", "Bookings"),
    ("/finance/statements", "Statements"),
    ("/finance/exports", "Exports"),
    ("/finance/reconciliation", "Reconciliation"),
];

/// The navigation of the finance pages.
pub(super) fn subnav(path: &str) -> AnyView {
    let links = PAGES
        .into_iter()
        .map(|(href, text)| {
            let current = (path == href).then_some("page");
            view! {
                <a href=href aria-current=current>
                    {text}
                </a>
            }
        })
        .collect_view();
    view! {
        <nav class="subnav" aria-label="Finance">
            {links}
        </nav>
    }
    .into_any()
}

/// The period of a page, with the ways to the ones beside it. `with` are the other parameters of the address.
fn period_bar(
    path: &str,
    period: &PeriodView,
    hint: &'static str,
    with: &[(&'static str, Option<&str>)],
) -> AnyView {
    let link = |name: &str| {
        let mut parameters = vec![("period", Some(name))];
        parameters.extend(with.iter().copied());
        address(path, &parameters)
    };
    let hidden = with
        .iter()
        .filter_map(|(name, value)| value.map(|value| (*name, value.to_owned())))
        .map(|(name, value)| view! { <input type="hidden" name=name value=value /> })
        .collect_view();
    let state = if period.closed {
        "closed"
    } else if period.over {
        "over, not closed"
    } else {
        "not over yet"
    };
    view! {
        <form class="filters" method="get" action=path.to_owned()>
            <div class="field">
                <label for="f-period">"Period"</label>
                <input
                    id="f-period"
                    type="text"
                    name="period"
                    value=period.period.clone()
                    autocomplete="off"
                    aria-describedby="period-hint"
                />
            </div>
            {hidden}
            <button class="button" type="submit">
                "Show"
            </button>
            {beside(period, link)}
        </form>
        <p class="quiet" id="period-hint">
            {hint}
        </p>
        <p>
            <strong>{period.title.clone()}</strong>
            ", counted in "
            {period.time_zone.clone()}
            ": from "
            {crate::components::time::date_time(period.starts_at)}
            " to before "
            {crate::components::time::date_time(period.ends_at)}
            ", "
            {state}
            "."
        </p>
    }
    .into_any()
}

/// A page whose period is refused: its field with what was typed, and why. `fields` are the parameters of the address.
pub fn refused_period(path: &str, fields: Vec<(String, String)>, problem: &Problem) -> AnyView {
    let others: Vec<AnyView> = fields
        .iter()
        .filter(|(name, value)| name != "period" && !value.is_empty())
        .map(|(name, value)| {
            view! { <input type="hidden" name=name.clone() value=value.clone() /> }.into_any()
        })
        .collect();
    let state = FormState::refused(fields, problem);
    let period = Field { required: false, ..Field::text("period", "Period") };
    view! {
        {subnav(path)}
        <section class="panel" aria-label="Period">
            <div class="body">
                <form class="form" method="get" action=path.to_owned()>
                    {field(&state, &period)} {others}
                    <div class="actions">
                        <button class="button" type="submit">
                            "Show"
                        </button>
                        <a class="quiet-link" href=path.to_owned()>
                            "This month"
                        </a>
                    </div>
                </form>
            </div>
        </section>
    }
    .into_any()
}

/// The ways to the periods before and after one, as far as there are any.
fn beside(period: &PeriodView, link: impl Fn(&str) -> String) -> AnyView {
    [(&period.earlier, "Earlier"), (&period.later, "Later")]
        .into_iter()
        .filter_map(|(name, text)| Some((link(name.as_deref()?), text)))
        .map(|(href, text)| {
            view! {
                <a class="button" href=href>
                    {text}
                </a>
            }
        })
        .collect_view()
        .into_any()
}

/// Chip-seconds as chip-hours with three decimals, rounded down; the exact seconds are in the CSV file.
fn chip_hours(chip_seconds: u64) -> String {
    format::milli(u64::try_from(u128::from(chip_seconds) * 1_000 / 3_600).unwrap_or(u64::MAX))
}

/// An amount with its sign, also above zero.
fn signed(amount: MicroCredits) -> String {
    let text = format::amount(amount);
    if amount.0 > 0 { format!("+{text}") } else { text }
}

/// A link in a cell.
fn linked(href: String, text: String) -> AnyView {
    view! { <a href=href>{text}</a> }.into_any()
}

/// A panel with a link to its numbers as CSV.
fn panel_with_csv(id: &'static str, heading: String, csv: String, body: AnyView) -> AnyView {
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
            <div class="body">{body}</div>
        </section>
    }
    .into_any()
}
