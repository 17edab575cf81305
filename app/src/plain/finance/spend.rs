//! What was spent in a period, by pool, team or chip type, against the period before, with the days behind it.

use common::api::{SpendDay, SpendGroup, SpendRow, SpendView, UseView};
use common::money::MicroCredits;
use leptos::prelude::*;

use super::super::table::Table;
use super::{chip_hours, linked, panel_with_csv, period_bar, signed, subnav};
use crate::chart::spend_chart;
use crate::format;
use crate::plain::form::panel;
use crate::plain::names;
use crate::plain::parts::fact;
use crate::words::address;

/// Rows on one page; the CSV file has all.
const ROWS: usize = 100;

/// What the page shows.
#[derive(Clone, Debug)]
pub struct SpendPage {
    /// The figures.
    pub spend: SpendView,
    /// The first row that is shown, from 0.
    pub first: usize,
}

const PERIOD_HINT: &str = "A month like 2026-11, a quarter like 2026-Q4, a day like 2026-11-30, or days like 2026-11-01..2026-11-15";

/// An address of the page with what is shown now, and something else.
fn link(view: &SpendView, changes: &[(&'static str, Option<&str>)]) -> String {
    to("/finance", view, changes)
}

fn to(path: &str, view: &SpendView, changes: &[(&'static str, Option<&str>)]) -> String {
    let (pool, team, chip_type) = (view.pool.as_ref(), view.team.as_ref(), view.chip_type.as_ref());
    let mut parameters = vec![
        ("period", Some(view.period.period.as_str())),
        ("group", Some(view.group.as_str())),
        ("pool", pool.map(|id| id.as_str())),
        ("team", team.map(|id| id.as_str())),
        ("chip_type", chip_type.map(|id| id.as_str())),
    ];
    for (name, value) in changes {
        match parameters.iter_mut().find(|(known, _)| known == name) {
            Some(known) => known.1 = *value,
            None => parameters.push((*name, *value)),
        }
    }
    address(path, &parameters)
}

const fn group_name(group: SpendGroup) -> &'static str {
    match group {
        SpendGroup::Pool => "Pool",
        SpendGroup::Team => "Team",
        SpendGroup::ChipType => "Chip type",
    }
}

/// The main part of the page.
pub fn spend(page: &SpendPage) -> AnyView {
    let view = &page.spend;
    let with = [
        ("group", Some(view.group.as_str())),
        ("pool", view.pool.as_ref().map(|id| id.as_str())),
        ("team", view.team.as_ref().map(|id| id.as_str())),
        ("chip_type", view.chip_type.as_ref().map(|id| id.as_str())),
    ];
    view! {
        {subnav("/finance")}
        <div class="sections">
            <section class="panel" aria-label="Period and filters">
                <div class="body">
                    {period_bar("/finance", &view.period, PERIOD_HINT, &with)} {filters(view)} {totals(view)}
                </div>
            </section>
            {days(view)}
            {rows(page)}
            {panel("use", "Granted, used and idle", use_table(page))}
        </div>
    }
    .into_any()
}

/// What the rows stand for, and what is left out, each with a way to change it.
fn filters(view: &SpendView) -> AnyView {
    let groups = SpendGroup::ALL
        .into_iter()
        .map(|group| {
            let current = (group == view.group).then_some("true");
            view! {
                <a href=link(view, &[("group", Some(group.as_str()))]) aria-current=current>
                    {format!("By {}", group_name(group).to_lowercase())}
                </a>
            }
        })
        .collect_view();
    let only = [
        ("pool", "Pool", view.pool.as_ref().map(names::pool)),
        ("team", "Team", view.team.as_ref().map(names::team)),
        ("chip_type", "Chip type", view.chip_type.as_ref().map(names::chip_type)),
    ];
    let only = only
        .into_iter()
        .filter_map(|(name, label, value)| value.map(|value| (name, label, value)))
        .map(|(name, label, value)| {
            view! {
                <a class="button" href=link(view, &[(name, None)])>
                    {format!("{label} {value}: show all")}
                </a>
            }
        })
        .collect_view();
    view! {
        <div class="filters">
            <nav class="switch" aria-label="Rows">
                {groups}
            </nav>
            {only}
        </div>
    }
    .into_any()
}

fn totals(view: &SpendView) -> AnyView {
    let total = &view.total;
    let local = total.cost.zip(total.pool.as_ref()).map(|(cost, pool)| {
        let name = format!("local credits of {}", names::pool(pool));
        view! {
            <div>
                <dt>"Spent " <small>{name}</small></dt>
                <dd>{format::amount(cost)}</dd>
            </div>
        }
    });
    view! {
        <dl class="figures">
            {local}
            {fact("Spent", "global credits", format::amount(total.global_cost).into_any())}
            {fact("Before", "global credits", format::amount(total.global_cost_before).into_any())}
            {fact("Change", "global credits", signed(total.change).into_any())}
            {fact("Granted", "chip-hours", chip_hours(total.usage.granted_chip_seconds).into_any())}
            {fact("Used", "chip-hours", chip_hours(total.usage.used_chip_seconds).into_any())}
            {fact("Idle", "chip-hours", chip_hours(total.usage.idle_chip_seconds).into_any())}
        </dl>
        <p class="quiet">
            "Spend is what the ledger charged. A local credit of a pool is worth its weight ÷ the total income of its teams in \
             global credits; each charge is converted once, at the worth when it was booked, to the nearest micro-credit. So \
             every grouping has the same total. Credits of several pools have no sum of their own."
        </p>
    }
    .into_any()
}

/// The chart of the days, and their table.
fn days(view: &SpendView) -> AnyView {
    let dearest = view.days.iter().max_by_key(|day| day.global_cost);
    let summary = dearest.map_or_else(
        || format!("Spend in {}: no day of it has begun", view.period.title),
        |day| {
            format!(
                "Spend by day in {}: {} global credits in all, most on {} with {}",
                view.period.title, view.total.global_cost, day.day, day.global_cost
            )
        },
    );
    let legend = view
        .series
        .iter()
        .enumerate()
        .map(|(place, series)| {
            let class = format!("key-{}", crate::chart::layer_color(place));
            view! { <li class=class>{series.name.clone()}</li> }
        })
        .collect_view();
    let has_local = view.days.iter().any(|day| day.cost.is_some());
    let rows = view.days.iter().rev().map(|day| day_row(view, day, has_local)).collect();
    let mut columns = vec![("Day", "", false)];
    if has_local {
        columns.push(("Spent", "local credits", true));
    }
    columns.extend([
        ("Spent", "global credits", true),
        ("Granted", "chip-hours", true),
        ("Used", "chip-hours", true),
        ("Idle", "chip-hours", true),
    ]);
    let body = view! {
        <figure class="figure">
            <qm-chart data=spend_chart(view) data-label=summary></qm-chart>
            <figcaption>
                <ul class="legend">{legend}</ul>
            </figcaption>
        </figure>
        <details open=view.team.is_some()>
            <summary>"Table of the days"</summary>
            {Table::new(format!("Days of {}, newest first", view.period.title), &columns, rows).captioned().view_or("No day of the period has begun.")}
        </details>
    };
    panel("days", "Spend by day", body.into_any())
}

/// A day; of one team it leads to the entries of the ledger behind it.
fn day_row(view: &SpendView, day: &SpendDay, has_local: bool) -> Vec<AnyView> {
    let href = match &view.team {
        Some(team) => {
            let (from, to) = (day.starts_at.to_string(), day.ends_at.to_string());
            let chip_type = view.chip_type.as_ref().map(|id| id.as_str());
            let bounds = [("from", Some(from.as_str())), ("to", Some(to.as_str())), ("chip_type", chip_type)];
            let mut parameters = vec![("team", Some(team.as_str())), ("kind", Some("charge"))];
            parameters.extend(bounds);
            address("/budget/ledger", &parameters)
        }
        None => link(view, &[("period", Some(&day.day))]),
    };
    let mut cells = vec![linked(href, day.day.clone())];
    if has_local {
        cells.push(day.cost.map_or_else(|| format::NONE.to_owned(), format::amount).into_any());
    }
    cells.push(format::amount(day.global_cost).into_any());
    let UseView { granted_chip_seconds, used_chip_seconds, idle_chip_seconds, .. } = day.usage;
    for seconds in [granted_chip_seconds, used_chip_seconds, idle_chip_seconds] {
        cells.push(chip_hours(seconds).into_any());
    }
    cells
}

/// Where a row leads: one level down.
fn row_link(view: &SpendView, row: &SpendRow) -> String {
    let (id, down) = (Some(row.id.as_str()), |group: SpendGroup| ("group", Some(group.as_str())));
    match view.group {
        SpendGroup::Pool => link(view, &[down(SpendGroup::Team), ("pool", id)]),
        SpendGroup::Team => link(view, &[down(SpendGroup::ChipType), ("team", id)]),
        SpendGroup::ChipType if view.team.is_some() => link(view, &[("chip_type", id)]),
        SpendGroup::ChipType => link(view, &[down(SpendGroup::Team), ("chip_type", id)]),
    }
}

/// The rows that the page shows.
fn shown(page: &SpendPage) -> impl Iterator<Item = &SpendRow> {
    page.spend.rows.iter().skip(page.first).take(ROWS)
}

fn rows(page: &SpendPage) -> AnyView {
    let view = &page.spend;
    let cells = |row: &SpendRow| {
        let local = row.cost.zip(row.pool.as_ref());
        let local = local.map_or_else(
            || format::NONE.to_owned(),
            |(cost, pool)| format!("{} {}", format::amount(cost), names::pool(pool)),
        );
        let change = if row.unusual { format!("{} unusual", signed(row.change)) } else { signed(row.change) };
        vec![
            linked(row_link(view, row), row.name.clone()),
            local.into_any(),
            format::amount(row.global_cost).into_any(),
            format::amount(row.global_cost_before).into_any(),
            change.into_any(),
            signed(row.price_effect).into_any(),
            signed(row.quantity_effect).into_any(),
        ]
    };
    let columns = [
        (group_name(view.group), "", false),
        ("Spent", "local credits, pool", true),
        ("Spent", "global credits", true),
        ("Before", "global credits", true),
        ("Change", "global credits", true),
        ("By price", "global credits", true),
        ("By quantity", "global credits", true),
    ];
    let mut rows: Vec<Vec<AnyView>> = shown(page).map(cells).collect();
    if view.rows.len() > 1 {
        let total = SpendRow { name: "All".to_owned(), ..view.total.clone() };
        let mut cells = cells(&total);
        cells[0] = "All".into_any();
        rows.push(cells);
    }
    let caption = format!(
        "Spend by {} in {}, against {}",
        group_name(view.group).to_lowercase(),
        view.period.title,
        view.compared.title
    );
    let body = view! {
        {Table::new(caption, &columns, rows).captioned().view_or("Nothing was charged in this period. Choose an earlier one, or take a filter away.")}
        {pager(page)}
        <p class="quiet">
            "By quantity: the chip-hours that were charged more or less, at the old average price. By price: the rest of the \
             change. Both are computed for each team and chip type and add up to the change exactly. A change is unusual from \
             25 % of the row's spend before and from 1 % of all spend of both periods, once the market ran in both. A period that is not over is compared \
             with as many days of the one before it."
        </p>
    };
    panel_with_csv("rows", "Spend and what changed".to_owned(), csv(view), body.into_any())
}

fn csv(view: &SpendView) -> String {
    to("/api/v1/finance/spend", view, &[("format", Some("csv"))])
}

fn pager(page: &SpendPage) -> AnyView {
    let count = page.spend.rows.len();
    if count <= ROWS {
        return ().into_any();
    }
    let link = |first: usize, text: &'static str| {
        let first = first.to_string();
        let href = link(&page.spend, &[("first", Some(&first))]);
        view! { <a class="button" href=href>{text}</a> }
    };
    let last = (page.first + ROWS).min(count);
    view! {
        <p class="pager filters">
            {(page.first > 0).then(|| link(page.first.saturating_sub(ROWS), "Dearer"))}
            <span>{format!("{} to {last} of {count}", page.first + 1)}</span>
            {(last < count).then(|| link(last, "Cheaper"))}
        </p>
    }
    .into_any()
}

fn use_table(page: &SpendPage) -> AnyView {
    let view = &page.spend;
    let cells = |name: AnyView, usage: &UseView, global_cost: MicroCredits| {
        let mut cells = vec![name];
        for seconds in [
            usage.granted_chip_seconds,
            usage.used_chip_seconds,
            usage.idle_chip_seconds,
            usage.over_chip_seconds,
            usage.opportunistic_chip_seconds,
        ] {
            cells.push(chip_hours(seconds).into_any());
        }
        cells.push(average(usage.charged_chip_seconds, global_cost).into_any());
        cells
    };
    let mut rows: Vec<Vec<AnyView>> = shown(page)
        .map(|row| cells(linked(row_link(view, row), row.name.clone()), &row.usage, row.global_cost))
        .collect();
    if view.rows.len() > 1 {
        rows.push(cells("All".into_any(), &view.total.usage, view.total.global_cost));
    }
    let columns = [
        (group_name(view.group), "", false),
        ("Granted", "chip-hours", true),
        ("Used", "chip-hours", true),
        ("Idle", "chip-hours", true),
        ("Over use", "chip-hours", true),
        ("Opportunistic", "chip-hours", true),
        ("Average price", "global credits per chip-hour", true),
    ];
    view! {
        {Table::new(format!("Use in {}", view.period.title), &columns, rows).captioned().view_or("Nothing was granted or used in this period.")}
        <p class="quiet">
            "Granted is the quota, used is what bids occupied of it and paid for: teams are charged by use. Idle is what was granted \
             and not used, over use is what was used beyond the quota; both are summed over pieces of at most one accounting step, \
             so that neither hides the other. Opportunistic use is free. Hours are rounded down to thousandths; the CSV file has \
             exact seconds."
        </p>
    }
    .into_any()
}

/// Credits per chip-hour, rounded down; a dash where nothing was charged.
fn average(chip_seconds: u64, cost: MicroCredits) -> String {
    if chip_seconds == 0 {
        return format::NONE.to_owned();
    }
    let average = i128::from(cost.0) * 3_600 / i128::from(chip_seconds);
    format::amount(MicroCredits(i64::try_from(average).unwrap_or(i64::MAX)))
}
