//! Statements: the list of a month, and one team's, which prints on one page.

use common::api::{StatementLine, StatementRow, StatementView, StatementsView};
use common::money::MicroCredits;
use leptos::prelude::*;

use super::super::table::Table;
use super::{linked, panel_with_csv, period_bar, subnav};
use crate::components::time::date_time;
use crate::format;
use crate::plain::ledger::kind_name;
use crate::plain::names;
use crate::plain::parts::warning;
use crate::words::address;

/// The main part of the list. `finance` shows the way to the other finance pages.
pub fn statements(view: &StatementsView, finance: bool) -> AnyView {
    let period = Some(view.period.period.as_str());
    let cells = |row: &StatementRow| {
        let href =
            address("/finance/statements/of", &[("team", Some(row.team.as_str())), ("period", period)]);
        vec![
            linked(href, row.name.clone()),
            row.number.map_or_else(|| "draft".to_owned(), format::thousands).into_any(),
            names::pool(&row.pool).into_any(),
            format::amount(row.opening).into_any(),
            format::amount(row.charges).into_any(),
            format::amount(row.closing).into_any(),
        ]
    };
    let columns = [
        ("Team", "", false),
        ("Statement", "number", true),
        ("Pool", "", false),
        ("Opening balance", "local credits", true),
        ("Charges", "local credits", true),
        ("Closing balance", "local credits", true),
    ];
    let csv = address("/api/v1/finance/statements", &[("period", period), ("format", Some("csv"))]);
    let body = view! {
        {Table::new(format!("Statements of {}", view.period.title), &columns, view.statements.iter().map(cells).collect()).captioned().sortable("teams").view_or("There is no team whose statement you may read.")}
        <p class="quiet">"Statements get their numbers when finance closes the month. Until then they are drafts."</p>
    };
    view! {
        {finance.then(|| subnav("/finance/statements"))}
        <div class="sections">
            <section class="panel" aria-label="Month">
                <div class="body">{period_bar("/finance/statements", &view.period, "A month like 2026-11", &[])}</div>
            </section>
            {panel_with_csv("statements", "Statements".to_owned(), csv, body.into_any())}
        </div>
    }
    .into_any()
}

/// The main part of one statement.
pub fn statement(view: &StatementView) -> AnyView {
    let (team, period) = (Some(view.team.as_str()), Some(view.period.period.as_str()));
    let csv = address(
        &format!("/api/v1/teams/{}/statement", view.team),
        &[("period", period), ("format", Some("csv"))],
    );
    let list = if view.period.period.len() == "2026-11".len() { period } else { None };
    let back = address("/finance/statements", &[("period", list)]);
    let link = |name: &str| address("/finance/statements/of", &[("team", team), ("period", Some(name))]);
    let number = match view.number {
        Some(number) => format!("Statement {}", format::thousands(number)),
        None => "Draft of a statement".to_owned(),
    };
    let broken = (view.holds == Some(false)).then(|| {
        warning(
            "The ledger does not say any more what this statement said when its month was closed.".to_owned(),
        )
    });
    view! {
        <p class="filters no-print">
            <a class="button" href=back>
                "All statements"
            </a>
            {super::beside(&view.period, link)}
            <a class="button" href=csv download="">
                "CSV"
            </a>
        </p>
        {broken}
        <div class="sections"><article class="panel statement" aria-labelledby="statement">
            <div class="body">
                <header>
                    <p class="quiet">{view.organisation.clone()}</p>
                    <h2 id="statement">{number}</h2>
                    <p>
                        <strong>{view.name.clone()}</strong>
                        {format!(" · {} · {}", names::pool(&view.pool), view.period.title)}
                    </p>
                    <p class="quiet">
                        "From " {date_time(view.period.starts_at)} " to before " {date_time(view.period.ends_at)} ", days of "
                        {view.period.time_zone.clone()} ". All amounts are local credits of the pool."
                    </p>
                </header>
                {lines(view)}
                <p class="quiet">
                    "Amounts are exact sums of entries of the ledger. Rounded amounts and chip-hours are rounded once in their sum; \
                     the lines are rounded by largest remainder, so that they add up."
                </p>
                <p class="quiet">"SHA-256 over what it says:"</p>
                <p class="id">{view.sha256.clone()}</p>
            </div>
        </article></div>
    }
    .into_any()
}

fn lines(view: &StatementView) -> AnyView {
    let link = |line: &StatementLine| {
        let (from, to) = (view.period.starts_at.to_string(), view.period.ends_at.to_string());
        address(
            "/budget/ledger",
            &[
                ("team", Some(view.team.as_str())),
                ("kind", Some(&line.kind)),
                ("chip_type", line.chip_type.as_ref().map(|id| id.as_str())),
                ("from", Some(&from)),
                ("to", Some(&to)),
            ],
        )
    };
    let name = |line: &StatementLine| match &line.chip_type {
        Some(chip_type) => format!("{} for {}", kind_name(&line.kind), names::chip_type(chip_type)),
        None => kind_name(&line.kind),
    };
    let cells = |line: &StatementLine| {
        vec![
            linked(link(line), name(line)),
            line.chip_hours_milli.map(format::milli).into_any(),
            line.average_price.map(format::amount).into_any(),
            format::amount(line.amount).into_any(),
            format::amount(line.rounded).into_any(),
        ]
    };
    let balance =
        |name: &'static str, hours: Option<String>, amount: MicroCredits, rounded: Option<String>| {
            vec![
                view! { <strong>{name}</strong> }.into_any(),
                hours.into_any(),
                ().into_any(),
                view! { <strong>{format::amount(amount)}</strong> }.into_any(),
                rounded.into_any(),
            ]
        };
    let rounded = view.lines.iter().fold(0_i64, |sum, line| sum.saturating_add(line.rounded.0));
    let mut rows = vec![balance("Opening balance", None, view.opening, None)];
    rows.extend(view.lines.iter().map(cells));
    rows.push(balance(
        "Change",
        Some(total_hours(view)),
        view.change,
        Some(format::amount(MicroCredits(rounded))),
    ));
    rows.push(balance("Closing balance", None, view.closing, None));
    let columns = [
        ("Line", "", false),
        ("Used", "chip-hours", true),
        ("Average price", "credits per chip-hour", true),
        ("Amount", "credits", true),
        ("Rounded", "credits", true),
    ];
    Table::new(format!("Account of {} in {}", view.name, view.period.title), &columns, rows)
        .captioned()
        .view()
}

/// The sum of the lines' chip-hours.
fn total_hours(view: &StatementView) -> String {
    format::milli(view.lines.iter().filter_map(|line| line.chip_hours_milli).fold(0, u64::saturating_add))
}
