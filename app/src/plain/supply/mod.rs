//! The supply as a page: what there is of each chip type and whose it is, how it went, and what is planned.

mod compare;
mod cuts;
mod import;
mod what_if;

use common::api::{
    Comparison, Holding, PlanState, PlannedChange, SuppliedType, SupplyEdit, SupplyHistory, SupplyLevel,
    SupplyView, SupplyingPool,
};
use common::chips::Chips;
use common::ids::ChipTypeId;
use common::words::counted;
use leptos::prelude::*;

pub use self::compare::comparison;
pub use self::cuts::{cuts, policy_words};
pub use self::import::{ImportPage, import};
pub use self::what_if::{AskPage, SORTS, answered, ask};
use super::names;
use super::organisation::{Cell, ChangePage, Link, Listing, change, listed};
use super::table::{Content, DO, Table};
use crate::chart::{layer_color, own_layers, supply_change, supply_chart};
use crate::components::time::date_time;
use crate::format;
use crate::words::address;

/// What the page shows.
#[derive(Clone, Debug)]
pub struct SupplyPage {
    /// The supply as it is set.
    pub view: SupplyView,
    /// How the chosen chip type's went.
    pub history: SupplyHistory,
    /// The viewer may change it.
    pub may_change: bool,
}

/// The pages about supply: address and name.
const PAGES: [(&str, &str); 4] =
    [("/supply", "Chips"), ("/supply/cuts", "Cuts"), ("/supply/import", "Import"), ("/what-if", "What if")];

/// The navigation of the supply pages.
#[must_use]
pub fn subnav(path: &str) -> AnyView {
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
        <nav class="subnav" aria-label="Supply">
            {links}
        </nav>
    }
    .into_any()
}

/// The main part of the page.
#[must_use]
pub fn supply(page: SupplyPage) -> AnyView {
    let SupplyPage { view, history, may_change } = page;
    let cycle = view.clock.cycle.to_string();
    let note = format::as_set(view.next_cycle);
    view! {
        {subnav("/supply")}
        <div class="sections" data-each-cycle=cycle>
            {may_change.then(|| actions(&view))}
            {listed(chips(&view, may_change))}
            {over_time(&view, &history)}
            {listed(planned(&view.planned, may_change))}
            {listed(reserves(&view.chip_types, may_change))}
            {listed(lending(&view.pools, may_change))}
            <p class="quiet">{note}</p>
        </div>
    }
    .into_any()
}

/// The form that confirms a change, above what it does.
#[must_use]
pub fn confirmation(page: ChangePage, effect: &Comparison) -> AnyView {
    view! {
        <div class="sections">{change(page)} {comparison(effect)}</div>
    }
    .into_any()
}

/// The links to forms, and the choice of whose chips to set.
fn actions(view: &SupplyView) -> AnyView {
    let types = view.chip_types.iter().map(|row| {
        view! { <option value=row.chip_type.to_string()>{row.name.clone()}</option> }
    });
    let pools = view.pools.iter().map(|row| {
        view! { <option value=row.pool.to_string()>{row.name.clone()}</option> }
    });
    let (types, pools) = (types.collect_view(), pools.collect_view());
    view! {
        <form class="filters" method="get" action="/supply/chips">
            <label>
                "Chip type"
                <select name="chip_type">{types}</select>
            </label>
            <label>
                "Whose"
                <select name="pool">
                    <option value="">"shared"</option>
                    {pools}
                </select>
            </label>
            <button class="button" type="submit">
                "Set the chips"
            </button>
            <button class="button" type="submit" formaction="/supply/maintenance">
                "Plan maintenance"
            </button>
        </form>
    }
    .into_any()
}

/// The address of the form for a hand's chips, or for maintenance of them.
fn form_of(path: &str, chip_type: &ChipTypeId, holding: &Holding) -> String {
    let pool = holding.pool.as_ref().map(common::ids::PoolId::as_str);
    address(path, &[("chip_type", Some(chip_type.as_str())), ("pool", pool)])
}

fn link(href: String, text: &str) -> Link {
    Link { href, text: text.to_owned() }
}

/// Cells of what can be done, where the viewer may.
fn doing(may_change: bool, links: Vec<Link>) -> Option<Cell> {
    may_change.then_some(Cell::Links(links))
}

fn columns(
    columns: &[(&'static str, &'static str, bool)],
    may_change: bool,
) -> Vec<(&'static str, &'static str, bool)> {
    let mut columns = columns.to_vec();
    if may_change {
        columns.push(DO);
    }
    columns
}

fn chips(view: &SupplyView, may_change: bool) -> Listing {
    let rows = view.chip_types.iter().flat_map(|row| {
        row.holdings.iter().map(|holding| {
            let mut cells = vec![
                Cell::Text(row.name.clone()),
                Cell::Text(holding.name.clone()),
                Cell::Number(format::chips(holding.chips)),
                Cell::Number(format::chips(holding.under_maintenance)),
                Cell::Number(format::chips(holding.in_force)),
            ];
            let links = vec![
                link(form_of("/supply/chips", &row.chip_type, holding), "Change"),
                link(form_of("/supply/maintenance", &row.chip_type, holding), "Maintenance"),
            ];
            cells.extend(doing(may_change, links));
            cells
        })
    });
    let all = [
        ("Chip type", "", false),
        ("Whose", "", false),
        ("Exist", "chips", true),
        ("Under maintenance", "chips", true),
        ("In the market", "chips", true),
    ];
    Listing {
        caption: "Chips".to_owned(),
        rows: rows.collect(),
        columns: columns(&all, may_change),
        empty: "There is no chip type yet.",
    }
}

fn reserves(chip_types: &[SuppliedType], may_change: bool) -> Listing {
    let rows = chip_types.iter().map(|row| {
        let mut cells = vec![
            Cell::Text(row.name.clone()),
            Cell::Number(row.reserve_price.to_string()),
            Cell::Number(format::price(row.list_price)),
        ];
        let form = |path| address(path, &[("chip_type", Some(row.chip_type.as_str()))]);
        let links = vec![
            link(form("/supply/reserve"), "Reserve price"),
            link(form("/supply/list-price"), "List price"),
            link(format!("/organisation/chip-types/{}/retire", row.chip_type), "Retire the type"),
        ];
        cells.extend(doing(may_change, links));
        cells
    });
    Listing {
        caption: "Prices that are set: shared chips are not sold below the reserve price; the list price is what a chip-hour \
                  costs outside the market"
            .to_owned(),
        rows: rows.collect(),
        columns: columns(
            &[
                ("Chip type", "", false),
                ("Reserve price", "global credits per chip-hour", true),
                ("List price", "global credits per chip-hour", true),
            ],
            may_change,
        ),
        empty: "There is no chip type yet.",
    }
}

fn lending(pools: &[SupplyingPool], may_change: bool) -> Listing {
    let rows = pools.iter().map(|row| {
        let mut cells = vec![Cell::Text(row.name.clone()), Cell::Text(lending_words(row.lends_at_most))];
        let href = address("/supply/lending", &[("pool", Some(row.pool.as_str()))]);
        cells.extend(doing(may_change, vec![link(href, "Change")]));
        cells
    });
    Listing {
        caption: "Lending: idle chips of a pool go to the shared market".to_owned(),
        rows: rows.collect(),
        columns: columns(&[("Pool", "", false), ("Lends", "", false)], may_change),
        empty: "There is no pool yet.",
    }
}

/// What a pool lends, in words.
fn lending_words(lends_at_most: Option<Chips>) -> String {
    match lends_at_most {
        None => "all that are idle".to_owned(),
        Some(Chips(0)) => "none".to_owned(),
        Some(chips) => format!("at most {} of each chip type", format::chips(chips)),
    }
}

/// What an edit sets, in words.
fn edit_words(edit: &SupplyEdit, is_maintenance: bool) -> String {
    match edit {
        SupplyEdit::Chips { chip_type, pool, chips } => {
            let whose = pool.as_ref().map_or("shared".to_owned(), |pool| format!("of {}", names::pool(pool)));
            let (chip_type, chips) = (names::chip_type(chip_type), counted(chips.0, "chip"));
            format!("{chip_type} {whose}: {chips}{}", if is_maintenance { " down" } else { "" })
        }
        SupplyEdit::Reserve { chip_type, reserve_price } => {
            let chip_type = names::chip_type(chip_type);
            format!("{chip_type}: reserve price {reserve_price} credits per chip-hour")
        }
        SupplyEdit::ListPrice { chip_type, list_price: None } => {
            format!("{}: no list price", names::chip_type(chip_type))
        }
        SupplyEdit::ListPrice { chip_type, list_price: Some(price) } => {
            let chip_type = names::chip_type(chip_type);
            format!("{chip_type}: list price {price} credits per chip-hour")
        }
        SupplyEdit::Lending { pool, lends_at_most } => {
            format!("{} lends {}", names::pool(pool), lending_words(*lends_at_most))
        }
    }
}

const fn state_words(plan: &PlannedChange) -> &'static str {
    match plan.state {
        PlanState::Waiting => "waits",
        PlanState::Running => "runs",
        PlanState::Done => "done",
        PlanState::Cancelled => "taken back",
        PlanState::Refused => "not applied",
    }
}

fn planned(planned: &[PlannedChange], may_change: bool) -> Listing {
    let rows = planned.iter().map(|plan| {
        let state = match &plan.note {
            Some(note) => format!("{}: {note}", state_words(plan)),
            None => state_words(plan).to_owned(),
        };
        let mut cells = vec![
            Cell::Text(edit_words(&plan.edit, plan.to.is_some())),
            Cell::Time(Some(plan.from)),
            Cell::Time(plan.to),
            Cell::Text(state),
            Cell::Text(format!("{}: {}", plan.by, plan.reason)),
        ];
        let open = matches!(plan.state, PlanState::Waiting | PlanState::Running);
        let text = if plan.state == PlanState::Running { "End now" } else { "Take back" };
        let href = format!("/supply/planned/{}/cancel", plan.number);
        cells.extend(doing(may_change, if open { vec![link(href, text)] } else { Vec::new() }));
        cells
    });
    let all = [
        ("What", "", false),
        ("From", "", false),
        ("To", "", false),
        ("State", "", false),
        ("By and why", "", false),
    ];
    Listing {
        caption: "Planned changes and maintenance".to_owned(),
        rows: rows.collect(),
        columns: columns(&all, may_change),
        empty: "Nothing is planned. Set chips at a time to come, or plan maintenance.",
    }
}

fn over_time(view: &SupplyView, history: &SupplyHistory) -> AnyView {
    let types = view
        .chip_types
        .iter()
        .map(|row| {
            let href = address("/supply", &[("chip", Some(row.chip_type.as_str()))]);
            let current = (row.chip_type == history.chip_type).then_some("true");
            view! {
                <a href=href aria-current=current>
                    {row.name.clone()}
                </a>
            }
        })
        .collect_view();
    let csv = format!("/api/v1/supply/{}/history?format=csv", history.chip_type);
    let total = history.changes.iter().fold(0_u64, |sum, level| (sum + level.after.0) - level.before.0);
    let label = format!(
        "Chips of {} over time: {} now, after {}",
        names::chip_type(&history.chip_type),
        format::thousands(total),
        counted(history.changes.len() as u64, "change")
    );
    view! {
        <section class="panel" aria-labelledby="history">
            <header>
                <h2 id="history">"Over time"</h2>
                <div class="right">
                    <a class="button" href=csv download="">
                        "CSV"
                    </a>
                    <nav class="switch" aria-label="Chip type">
                        {types}
                    </nav>
                </div>
            </header>
            <div class="body">
                <figure class="figure">
                    <qm-chart data=supply_chart(history) data-label=label></qm-chart>
                    <figcaption>{legend(history)}</figcaption>
                </figure>
                <details>
                    <summary>"Table of changes"</summary>
                    {levels(&history.changes)}
                </details>
            </div>
        </section>
    }
    .into_any()
}

/// The layers of the chart, the lowest first.
fn legend(history: &SupplyHistory) -> AnyView {
    let mut hands: Vec<_> = history.changes.iter().map(|level| level.pool.as_ref()).collect();
    hands.sort_unstable();
    hands.dedup();
    let own = own_layers(hands.len());
    let name = |hand: &Option<&common::ids::PoolId>| hand.map_or_else(|| "Shared".to_owned(), names::pool);
    let mut names: Vec<String> = hands[..own].iter().map(name).collect();
    if own < hands.len() {
        names.push("Others".to_owned());
    }
    let items = names.into_iter().enumerate().map(|(index, name)| {
        view! { <li class=format!("key-{}", layer_color(index))>{name}</li> }
    });
    view! { <ul class="legend">{items.collect_view()}</ul> }.into_any()
}

fn levels(changes: &[SupplyLevel]) -> AnyView {
    let rows = changes.iter().rev().map(|level| -> Vec<Content> {
        vec![
            date_time(level.at).into(),
            view! { <a href=format!("/cycles/{}", level.cycle)>{format::thousands(level.cycle)}</a> }.into(),
            names::whose(level.pool.as_ref()).into(),
            format::chips(level.before).into(),
            format::chips(level.after).into(),
            supply_change(level.before.0, level.after.0).into(),
        ]
    });
    let columns = [
        ("At", "", false),
        ("Cycle", "", true),
        ("Whose", "", false),
        ("Before", "chips", true),
        ("After", "chips", true),
        ("Change", "", true),
    ];
    Table::new("Changes of supply", &columns, rows.collect()).tall().view()
}
