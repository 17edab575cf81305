//! The budgets of a month: allowance against actual with a forecast, and how good such forecasts were.

use common::api::{BudgetRow, BudgetsView, ForecastTest};
use leptos::prelude::*;

use super::super::table::Table;
use super::{linked, panel_with_csv, period_bar, subnav};
use crate::components::time::date_time;
use crate::format;
use crate::plain::form::panel;
use crate::plain::names;
use crate::words::address;

/// The main part of the page.
pub fn budgets(view: &BudgetsView) -> AnyView {
    let period = Some(view.period.period.as_str());
    let csv = address("/api/v1/finance/budgets", &[("period", period), ("format", Some("csv"))]);
    view! {
        {subnav("/finance/budgets")}
        <div class="sections">
            <section class="panel" aria-label="Month">
                <div class="body">{period_bar("/finance/budgets", &view.period, "A month like 2026-11", &[])}</div>
            </section>
            {panel_with_csv("budgets", "Allowance, actual and forecast".to_owned(), csv, rows(view))}
            {panel("tests", "How far off such forecasts were", tests(view))}
        </div>
    }
    .into_any()
}

fn rows(view: &BudgetsView) -> AnyView {
    let cells = |row: &BudgetRow| {
        let (from, to) = (view.period.starts_at.to_string(), view.period.ends_at.to_string());
        let charges = address(
            "/budget/ledger",
            &[
                ("team", Some(row.team.as_str())),
                ("kind", Some("charge")),
                ("from", Some(&from)),
                ("to", Some(&to)),
            ],
        );
        let budget = address("/budget", &[("team", Some(row.team.as_str()))]);
        let kind = match (row.allowance, row.hard) {
            (None, _) => "none",
            (Some(_), true) => "hard: bids stop at 100 %",
            (Some(_), false) => "soft: alert only",
        };
        let dash = || format::NONE.to_owned();
        vec![
            linked(budget, row.name.clone()),
            names::pool(&row.pool).into_any(),
            kind.into_any(),
            row.allowance.map_or_else(dash, format::amount).into_any(),
            linked(charges, format::amount(row.spent)),
            row.used_percent
                .map_or_else(dash, |percent| format!("{} %", format::thousands(percent)))
                .into_any(),
            format::amount(row.forecast).into_any(),
            row.forecast_over.map_or_else(dash, format::amount).into_any(),
        ]
    };
    let columns = [
        ("Team", "", false),
        ("Pool", "", false),
        ("Allowance", "kind", false),
        ("Allowance", "local credits", true),
        ("Spent", "local credits", true),
        ("Used", "of the allowance", true),
        ("Forecast", "local credits", true),
        ("Forecast beyond it", "local credits", true),
    ];
    let method = if view.period.over {
        "The month is over: the forecast is what was spent.".to_owned()
    } else {
        format!(
            "Forecast: what is spent, and for the rest of the month the average rate since midnight {} days ago (since the \
             market's first cycle where that is later). It is the one of the budget page.",
            view.basis_days
        )
    };
    view! {
        {Table::new(format!("Teams that spent or have an allowance in {}", view.period.title), &columns, view.rows.iter().map(cells).collect()).captioned().sortable("teams").view_or("No team spent anything or has an allowance in this month.")}
        <p class="quiet">{method}</p>
    }
    .into_any()
}

fn tests(view: &BudgetsView) -> AnyView {
    let cells = |test: &ForecastTest| {
        let spend = address("/finance", &[("period", Some(&test.period.period))]);
        vec![
            linked(spend, test.period.title.clone()),
            date_time(test.made_at).into_any(),
            format::amount(test.forecast).into_any(),
            format::amount(test.actual).into_any(),
            test.off_permille.map_or_else(|| format::NONE.to_owned(), percent).into_any(),
        ]
    };
    let columns = [
        ("Month", "", false),
        ("Forecast made at", "", false),
        ("Forecast", "global credits", true),
        ("Actual", "global credits", true),
        ("Off by", "of the actual", true),
    ];
    view! {
        {Table::new("The same method in the middle of past months, all teams together", &columns, view.tests.iter().map(cells).collect()).captioned().view_or("There is no past month yet of which both halves are in the ledger. The first one that is over will stand here.")}
        <p class="quiet">
            "For each of the last six months that are over: what the forecast would have said at the beginning of the 16th day, \
             from the seven days before it, against what came."
        </p>
    }
    .into_any()
}

/// Tenths of a percent with their sign.
fn percent(permille: i64) -> String {
    let sign = if permille < 0 { "\u{2212}" } else { "+" };
    let size = permille.unsigned_abs();
    format!("{sign}{}.{} %", format::thousands(size / 10), size % 10)
}

#[cfg(test)]
mod tests_of_words {
    use super::percent;

    #[test]
    fn a_share_has_its_sign_and_a_decimal() {
        assert_eq!([percent(123), percent(-4), percent(0)], ["+12.3 %", "\u{2212}0.4 %", "+0.0 %"]);
    }
}
