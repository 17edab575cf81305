//! A team's budget: what it has, what it may spend, how the month goes, and how it came to that.

use common::api::{
    AllowanceAlert, AllowanceLevel, AllowancePeriod, AllowanceView, BudgetHistory, BudgetView, CapLimit,
    Carry, MonthBudget, Runway, Span, SpendingCap,
};
use common::ids::TeamId;
use common::money::MicroCredits;
use leptos::prelude::*;

use super::form::panel;
use super::names;
use super::parts::{amount, fact, team_chooser, warning};
use super::runway::told;
use super::table::{Content, Table};
use crate::chart::budget_chart;
use crate::components::time::date_time;
use crate::format;
use crate::words::{self, address};

/// What the page shows.
#[derive(Clone, Debug)]
pub struct BudgetPage {
    /// The teams that the viewer may choose from: id and name.
    pub teams: Vec<(TeamId, String)>,
    /// The chosen one's budget.
    pub budget: BudgetView,
    /// The viewer may set the allowance.
    pub sets_allowance: bool,
}

/// The main part of the page.
pub fn budget(page: &BudgetPage) -> AnyView {
    let BudgetPage { teams, budget, sets_allowance } = page;
    let cycle = budget.clock.cycle.to_string();
    view! {
        {team_chooser("/budget", teams, &budget.team)}
        <div class="sections" data-each-cycle=cycle>
            {warnings(budget)}
            {panel("money", "Money", money(budget))}
            {panel("cap", "Spending cap", cap(budget))}
            {told(&budget.warnings)}
            {panel("month", "This period", month(budget, *sets_allowance))}
            {history(budget)}
        </div>
    }
    .into_any()
}

/// The budget page of somebody who is in no team.
pub fn no_team() -> AnyView {
    view! {
        <section class="panel" aria-label="No team">
            <div class="body">
                <p>"You are in no team, so there is no budget to show."</p>
                <p class="quiet">"The lead of a team, or an admin of the organisation, can add you to one."</p>
            </div>
        </section>
    }
    .into_any()
}

/// Seconds left below which a page warns: a day, and an hour.
const WARN_SECONDS: [(u64, &str); 2] = [(3_600, "within the hour"), (86_400, "within a day")];

fn warnings(budget: &BudgetView) -> AnyView {
    let runway = match budget.runway {
        Runway::Lasts { seconds } => WARN_SECONDS
            .iter()
            .find(|(limit, _)| seconds <= *limit)
            .map(|(_, words)| format!("The balance runs out {words}: it {}.", budget.runway)),
        Runway::UsedUp => Some("The balance is used up, and more is spent than earned.".to_owned()),
        Runway::NotSpending | Runway::Covered => None,
    };
    let whose = match budget.cap.binds {
        CapLimit::Allowance => Some("The team's hard allowance"),
        CapLimit::PoolAllowance => Some("The hard allowance of the team's pool"),
        CapLimit::Leverage | CapLimit::Sustain | CapLimit::Balance => None,
    };
    let stopped = whose.map(|whose| {
        format!(
            "{whose} is used up: the team's bids get only chips that cost nothing until its {} is over.",
            period_of(budget).as_str()
        )
    });
    view! { {runway.map(warning)} {stopped.map(warning)} }.into_any()
}

fn money(budget: &BudgetView) -> AnyView {
    let owed = (budget.owed > MicroCredits::ZERO).then(|| format!(" / {} owed", format::amount(budget.owed)));
    let balance = format!("{} available{}", format::amount(budget.available), owed.unwrap_or_default());
    let booked = match budget.booked_at {
        Some(at) => view! { <p class="quiet">"Booked up to "{date_time(at)}"; what ran up since is booked with the next accounting step."</p> }.into_any(),
        None => view! { <p class="quiet">"Nothing is booked yet."</p> }.into_any(),
    };
    let burns = budget.burns.iter().map(|burn| {
        vec![
            names::chip_type(&burn.chip_type),
            format::chips(burn.chips),
            format::price(burn.local_price),
            format::amount(burn.cost),
        ]
    });
    let columns = [
        ("Chip type", "", false),
        ("Chips in use", "", true),
        ("Price", "credits per chip-hour", true),
        ("Cost", "credits per hour", true),
    ];
    let table = (!budget.burns.is_empty()).then(|| {
        Table::new("What the burn rate is made of", &columns, burns.collect())
            .captioned()
            .sortable("burns")
            .view()
    });
    let ledger = address("/budget/ledger", &[("team", Some(budget.team.as_str()))]);
    let charges =
        address("/budget/ledger", &[("team", Some(budget.team.as_str())), ("kind", Some("charge"))]);
    view! {
        <dl class="figures">
            {fact("Balance", "credits", view! { <a href=ledger>{balance}</a> }.into_any())}
            {fact("Income", "credits per hour", format::amount(budget.income).into_any())}
            {fact("Burn rate", "credits per hour", view! { <a href=charges>{format::amount(budget.burn)}</a> }.into_any())}
            {fact("At this rate", "the balance", budget.runway.to_string().into_any())}
        </dl>
        {booked}
        {table}
    }
    .into_any()
}

/// Thousandths as a factor: 2000 → "2", 1250 → "1.25".
fn factor(thousandths: u32) -> String {
    let text = format!("{}.{:03}", thousandths / 1_000, thousandths % 1_000);
    text.trim_end_matches('0').trim_end_matches('.').to_owned()
}

fn cap(budget: &BudgetView) -> AnyView {
    let SpendingCap { cap, binds, leverage_thousandths, by_leverage, sustain_minutes, by_sustain } =
        budget.cap.clone();
    let income = format::amount(budget.income);
    let why = match binds {
        CapLimit::Leverage => "Leverage binds: it is the lower of the two.",
        CapLimit::Sustain => "What can be sustained binds: it is the lower of the two.",
        CapLimit::Balance => "The balance binds: there is none that adds to the income.",
        CapLimit::Allowance => "The team's hard allowance binds: it is used up.",
        CapLimit::PoolAllowance => "The hard allowance of the team's pool binds: it is used up.",
    };
    view! {
        <p>
            "The team's bids together may cost at most " <strong>{amount(cap, "credits per hour")}</strong> ". " {why}
        </p>
        <ul class="plain">
            <li>
                "Leverage: " {factor(leverage_thousandths)} " × income " {income.clone()} " = "
                {amount(by_leverage, "credits per hour")}
            </li>
            <li>
                "Sustain: income " {income} " + balance " {format::amount(budget.balance)} " spread over "
                {sustain_minutes} " minutes = " {amount(by_sustain, "credits per hour")}
            </li>
        </ul>
    }
    .into_any()
}

fn month(budget: &BudgetView, sets_allowance: bool) -> AnyView {
    let month = &budget.month;
    let (from, to) = (month.starts_at.to_string(), month.ends_at.to_string());
    let charges = address(
        "/budget/ledger",
        &[
            ("team", Some(budget.team.as_str())),
            ("kind", Some("charge")),
            ("from", Some(&from)),
            ("to", Some(&to)),
        ],
    );
    let spent = view! { <a href=charges>{format::amount(month.spent)}</a> }.into_any();
    let statements = address("/finance/statements/of", &[("team", Some(budget.team.as_str()))]);
    let change = sets_allowance.then(|| {
        let href = format!("/organisation/teams/{}/allowance", budget.team);
        view! {
            <p>
                <a class="button" href=href>
                    "Set the allowance"
                </a>
            </p>
        }
    });
    view! {
        <dl class="figures">
            {fact("Spent", "credits", spent)}
            {month.allowance.map(|allowance| allowance_facts(&allowance))}
            {fact("Forecast", "credits at its end", format::amount(month.forecast.amount).into_any())}
            {usable(month)}
        </dl>
        {month.allowance.map(|allowance| meter(&allowance))}
        <p class="quiet">
            {month.name.clone()} ", counted in " {month.time_zone.clone()} ", from " {date_time(month.starts_at)}
            " to before " {date_time(month.ends_at)} ". An accounting step counts in the month it covers."
        </p>
        <p class="quiet">{forecast_method(month)}</p>
        <p>{allowance_rule(month.allowance.as_ref())}</p>
        {alerts("Alerts of this period, each told once", &month.alerts)}
        {month.pool_allowance.map(|above| pool_rule(&above))}
        {alerts("Alerts of the pool's period, each told once", &month.pool_alerts)}
        <p>
            <a href=statements>"Statements of the team"</a>
        </p>
        {change}
    }
    .into_any()
}

/// The kind of period of the allowance that binds, or of the team's own.
fn period_of(budget: &BudgetView) -> AllowancePeriod {
    let (own, above) = (budget.month.allowance, budget.month.pool_allowance);
    let binds = if budget.cap.binds == CapLimit::PoolAllowance { above } else { own };
    binds.map_or(AllowancePeriod::Month, |allowance| allowance.period)
}

/// What is left to the team, and which allowance says so.
fn usable(month: &MonthBudget) -> Option<AnyView> {
    let whose = match month.binds? {
        AllowanceLevel::Team => "credits, by its own allowance",
        AllowanceLevel::Pool => "credits, by the allowance of its pool",
    };
    Some(fact("May still spend", whose, format::amount(month.usable?).into_any()))
}

/// What becomes of what is left, in words.
fn carry_rule(allowance: &AllowanceView) -> String {
    match allowance.carry {
        Carry::None => "Nothing is carried over to the next period.".to_owned(),
        Carry::Capped(most) => {
            format!(
                "At most {} credits of what is left are carried over to the next period.",
                format::amount(most)
            )
        }
        Carry::Full => "All that is left is carried over to the next period.".to_owned(),
    }
}

/// The allowance of the pool, in words.
fn pool_rule(above: &AllowanceView) -> AnyView {
    let kind = if above.hard { "hard: bids of all its teams stop at 100 %" } else { "soft: alert only" };
    view! {
        <p>
            {format!(
                "The pool's allowance for the {}, {kind}: {} of {} credits are spent by its teams together, {} are left. A team may \
                 spend the least of both. ",
                above.period.as_str(),
                format::amount(above.spent),
                format::amount(above.limit),
                format::amount(above.left),
            )}
            {carry_rule(above)}
        </p>
    }
    .into_any()
}

fn allowance_facts(allowance: &AllowanceView) -> AnyView {
    let unit = match allowance.period {
        AllowancePeriod::Month => "credits per month",
        AllowancePeriod::Quarter => "credits per quarter",
    };
    let left = if allowance.over > MicroCredits::ZERO {
        format!("0 left / {} over", format::amount(allowance.over))
    } else {
        format!("{} left", format::amount(allowance.left))
    };
    view! {
        {fact("Allowance", unit, format::amount(allowance.amount).into_any())}
        {(allowance.carry != Carry::None)
            .then(|| fact("Carried over", "credits", format::amount(allowance.carried).into_any()))}
        {fact("Used", "of the allowance", format!("{} %", format::thousands(allowance.used_percent)).into_any())}
        {fact("Left", "credits", left.into_any())}
    }
    .into_any()
}

fn meter(allowance: &AllowanceView) -> AnyView {
    let width = allowance.used_percent.min(100).to_string();
    let label = format!("{} % of the allowance is used", allowance.used_percent);
    let used = if allowance.used_percent >= 90 { "over" } else { "paid" };
    view! {
        <svg class="meter" viewBox="0 0 100 4" preserveAspectRatio="none" role="img" aria-label=label>
            <rect class="idle" width="100" height="4" />
            <rect class=used width=width height="4" />
        </svg>
    }
    .into_any()
}

/// What becomes of bids at the end of an allowance, in words.
fn allowance_rule(allowance: Option<&AllowanceView>) -> String {
    let Some(allowance) = allowance else {
        return "The team has no allowance of its own: what it may spend follows from its income and balance.".to_owned();
    };
    let rule = if allowance.hard {
        "Hard: at 100 % the team's bids get only what is free until the period is over. It is looked at with each accounting step, \
         so the last one may go a little beyond."
    } else {
        "Soft: alert only. Bids go on at 100 % and beyond, as far as income and balance allow."
    };
    format!("{rule} {}", carry_rule(allowance))
}

fn forecast_method(month: &MonthBudget) -> String {
    let forecast = &month.forecast;
    if forecast.basis_seconds == 0 {
        return "Forecast: what is spent; there is no past yet to go on from.".to_owned();
    }
    let basis = format::duration(i64::try_from(forecast.basis_seconds).unwrap_or(i64::MAX));
    format!(
        "Forecast: what is spent, and for the rest of it the average rate of the last {basis}, in which {} credits \
         were spent.",
        format::amount(forecast.basis_spent)
    )
}

fn alerts(caption: &'static str, alerts: &[AllowanceAlert]) -> AnyView {
    if alerts.is_empty() {
        return ().into_any();
    }
    let rows = alerts.iter().map(|alert| -> Vec<Content> {
        vec![
            format!("{} %", alert.percent).into(),
            date_time(alert.at).into(),
            view! { <a href=format!("/cycles/{}", alert.cycle)>{format::thousands(alert.cycle)}</a> }.into(),
            format::amount(alert.spent).into(),
            format::amount(alert.amount).into(),
        ]
    });
    let columns = [
        ("Reached", "", false),
        ("At", "", false),
        ("Cycle", "", true),
        ("Spent", "credits", true),
        ("Allowance", "credits", true),
    ];
    Table::new(caption, &columns, rows.collect()).captioned().view()
}

fn history(budget: &BudgetView) -> AnyView {
    let history = &budget.history;
    let spans = Span::ALL
        .into_iter()
        .map(|span| {
            let href =
                address("/budget", &[("team", Some(budget.team.as_str())), ("span", Some(span.as_str()))]);
            let current = (span == history.span).then_some("true");
            view! {
                <a href=href aria-current=current>
                    {words::span(span)}
                </a>
            }
        })
        .collect_view();
    let csv = address(
        &format!("/api/v1/teams/{}/budget", budget.team),
        &[("span", Some(history.span.as_str())), ("format", Some("csv"))],
    );
    view! {
        <section class="panel" aria-labelledby="history">
            <header>
                <h2 id="history">"Balance and spend"</h2>
                <div class="right">
                    <a class="button" href=csv download="">
                        "CSV"
                    </a>
                    <nav class="switch" aria-label="Span">
                        {spans}
                    </nav>
                </div>
            </header>
            <div class="body">
                <figure class="figure">
                    <qm-chart data=budget_chart(history) data-label=summary(history)></qm-chart>
                    <figcaption>
                        <ul class="legend">
                            <li class="key-accent">"balance at the end of a step"</li>
                            <li class="key-mine">"spent in a step"</li>
                        </ul>
                    </figcaption>
                </figure>
                <details>
                    <summary>"Table of balance and spend"</summary>
                    {history_table(history)}
                </details>
            </div>
        </section>
    }
    .into_any()
}

/// The chart in a sentence.
fn summary(history: &BudgetHistory) -> String {
    let spent = history.points.iter().fold(0_i64, |sum, point| sum.saturating_add(point.spent.0));
    let balances = || history.points.iter().map(|point| point.balance);
    match (balances().min(), balances().max(), balances().next_back()) {
        (Some(low), Some(high), Some(last)) => format!(
            "Balance over {}: from {low} to {high}, at last {last} credits; spent {} credits",
            words::last_span(history.span),
            MicroCredits(spent)
        ),
        _ => format!("Balance over {}: nothing is booked", words::last_span(history.span)),
    }
}

fn history_table(history: &BudgetHistory) -> AnyView {
    let rows = history.points.iter().rev().map(|point| -> Vec<Content> {
        let amounts = [point.income, point.spent, point.other, point.balance];
        let amounts = amounts.into_iter().map(|amount| format::amount(amount).into());
        std::iter::once(date_time(point.at).into()).chain(amounts).collect()
    });
    let columns = [
        ("From", "", false),
        ("Income", "credits", true),
        ("Spent", "credits", true),
        ("Other", "credits", true),
        ("Balance at its end", "credits", true),
    ];
    Table::new("Balance and spend over time", &columns, rows.collect()).tall().view()
}
