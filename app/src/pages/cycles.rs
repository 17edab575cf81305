//! The list of cycles, newest first.

use common::api::{CycleSummary, Page};
use leptos::prelude::*;
use leptos_meta::Title;
use leptos_router::hooks::use_query_map;
use serde::{Deserialize, Serialize};

use crate::components::facts::{occupancy, occupancy_legend};
use crate::components::icon::{Icon, icon};
use crate::components::page::page;
use crate::components::problem::empty;
use crate::components::switch::csv;
use crate::components::time::date_time;
use crate::data::{CYCLES_PER_PAGE, PageError, read_cycles};
use crate::format;
use crate::live::Live;
use crate::words::address;

/// What the page shows: the cycles, and where in the list they stand.
#[derive(Clone, Debug, Serialize, Deserialize)]
struct Shown {
    cursor: Option<String>,
    cycles: Page<CycleSummary>,
}

/// Cycles by pages; the first page is live, later pages stay as they are.
#[component]
pub fn CyclesPage() -> impl IntoView {
    let live = Live::from_context();
    let query = use_query_map();
    let cursor = Memo::new(move |_| query.with(|query| query.get("cursor").filter(|text| !text.is_empty())));
    let shown = Resource::new(
        move || (cursor.get(), live.version()),
        |(cursor, _)| async move {
            Ok::<_, PageError>(Shown { cursor: cursor.clone(), cycles: read_cycles(cursor).await? })
        },
    );
    view! {
        <Title text="Cycles" />
        {page(shown, cycles)}
    }
}

fn cycles(shown: Shown) -> impl IntoView {
    let Shown { cursor, cycles } = shown;
    let newest = cursor.is_none();
    let csv_href = address("/api/v1/cycles", &[("cursor", cursor.as_deref()), ("format", Some("csv"))]);
    if cycles.items.is_empty() {
        let (title, what_to_do) = if newest {
            ("No cycle has cleared yet.", "The first one appears here as soon as it has.")
        } else {
            ("There are no older cycles.", "Go back to the newest.")
        };
        return view! {
            <section class="panel">
                {empty(title, what_to_do)}
                {(!newest).then(to_newest)}
            </section>
        }
        .into_any();
    }
    let rows = cycles.items.iter().map(row).collect_view();
    let older = cycles.next_cursor.map(|cursor| {
        view! {
            <a class="button" rel="next" href=address("/cycles", &[("cursor", Some(&cursor))])>
                "Older"
                {icon(Icon::Next)}
            </a>
        }
    });
    view! {
        <section class="panel" aria-labelledby="cycles-title">
            <header>
                <h2 id="cycles-title">"Cleared cycles"</h2>
                <span class="quiet">{format!("newest first, {CYCLES_PER_PAGE} on a page")}</span>
                {occupancy_legend()}
                <div class="right">{csv(csv_href, "Cycles")}</div>
            </header>
            <table class="cards" role="table" data-rows data-held aria-labelledby="cycles-title">
                <thead role="rowgroup">
                    <tr role="row">
                        <th scope="col" role="columnheader" class="num">"Cycle"</th>
                        <th scope="col" role="columnheader">"Began"</th>
                        <th scope="col" role="columnheader" class="num">"In force for"</th>
                        <th scope="col" role="columnheader" class="num">"Live bids"</th>
                        <th scope="col" role="columnheader" class="num">"Supply"<small>"chips"</small></th>
                        <th scope="col" role="columnheader">"Occupancy"</th>
                        <th scope="col" role="columnheader" class="num">"Cleared within"</th>
                    </tr>
                </thead>
                <tbody role="rowgroup">{rows}</tbody>
            </table>
        </section>
        <nav class="pages" aria-label="Pages of cycles">
            {(!newest).then(to_newest)}
            {older}
        </nav>
    }
    .into_any()
}

fn to_newest() -> impl IntoView {
    view! {
        <a class="button" href="/cycles">
            {icon(Icon::Previous)}
            "Newest"
        </a>
    }
}

fn row(cycle: &CycleSummary) -> impl IntoView + use<> {
    let in_force = cycle.ends_at.map_or_else(
        || "in force now".to_owned(),
        |end| format::duration((end.0 - cycle.starts_at.0) / common::instant::MICROS_PER_SECOND),
    );
    view! {
        <tr role="row">
            <th scope="row" role="rowheader" class="num">
                <a class="row-link" data-row href=address(&format!("/cycles/{}", cycle.cycle), &[])>
                    {format::thousands(cycle.cycle)}
                </a>
            </th>
            <td role="cell" data-label="Began">{date_time(cycle.starts_at)}</td>
            <td role="cell" class="num" data-label="In force for">{in_force}</td>
            <td role="cell" class="num" data-label="Live bids">{format::thousands(cycle.bids)}</td>
            <td role="cell" class="num" data-label="Supply" data-unit="chips">{format::chips(cycle.occupancy.supply)}</td>
            <td role="cell" class="wide-cell" data-label="Occupancy">{occupancy(&cycle.occupancy)}</td>
            <td role="cell" class="num" data-label="Cleared within">{format::short_time(cycle.clear_micros)}</td>
        </tr>
    }
}
