//! The Bid book: aggregate demand for one chip type. Single bids do not appear in it.

use common::api::{BookView, PoolDemand};
use common::ids::ChipTypeId;
use common::words::counted;
use leptos::prelude::*;
use leptos_meta::Title;
use leptos_router::hooks::use_query_map;

use crate::components::bids::bid_for;
use crate::components::depth::{depth_figure, depth_table, telling};
use crate::components::page::page;
use crate::components::pools::pool_table;
use crate::components::problem::empty;
use crate::components::switch::{Choice, csv, switch};
use crate::data::{self, read_book};
use crate::format;
use crate::live::Live;
use crate::words::address;

/// Demand at each price, live.
#[component]
pub fn BookPage() -> impl IntoView {
    let live = Live::from_context();
    let query = use_query_map();
    let chip: Memo<Option<ChipTypeId>> =
        Memo::new(move |_| query.with(|query| query.get_str("chip").and_then(|text| text.parse().ok())));
    let shown = Resource::new(move || (chip.get(), live.version()), |(chip, _)| read_book(chip));
    view! {
        <Title text="Bid book" />
        {page(shown, |shown| book(&shown))}
    }
}

fn href(chip_type: &ChipTypeId) -> String {
    address("/book", &[("chip", Some(chip_type.as_str()))])
}

fn book(shown: &data::BookPage) -> impl IntoView + use<> {
    let data::BookPage { book, own, bids, reads_sealed } = shown;
    let choices = book
        .chip_types
        .iter()
        .map(|row| Choice {
            text: row.name.clone(),
            href: href(&row.chip_type),
            chosen: row.chip_type == book.chip_type,
        })
        .collect();
    let sealed = (*reads_sealed && book.clock.cycle > 0).then(|| {
        view! {
            <a class="quiet-link" href=format!("/cycles/{}", book.clock.cycle)>
                "Single bids of this cycle: each look is noted in the audit log"
            </a>
        }
    });
    let row = book.chip_types.iter().find(|row| row.chip_type == book.chip_type);
    let bid = row.filter(|row| *bids && !row.retired).map(|row| bid_for(row, false));
    let path = format!("/api/v1/chip-types/{}/book", book.chip_type);
    let levels = telling(&book.levels, own);
    view! {
        <div class="toolbar">{switch("Chip type", choices)} {sealed} {bid}</div>
        {facts(book).into_any()}
        <div class="columns">
            <section class="panel" aria-labelledby="curve-title">
                <header>
                    <h2 id="curve-title">"Who asks at which price"</h2>
                    <span class="quiet">"all teams together; single bids stay sealed"</span>
                </header>
                <div class="body">{depth_figure(book, own)}</div>
            </section>
            <section class="panel" aria-labelledby="depth-title">
                <header>
                    <h2 id="depth-title">"Depth"</h2>
                    <span class="quiet">{counted(levels.len() as u64, "level")}</span>
                    <div class="right">{csv(address(&path, &[("format", Some("csv"))]), "Depth")}</div>
                </header>
                {if book.levels.is_empty() {
                    empty("No bids.", "Levels appear with the first bid for this chip type.").into_any()
                } else {
                    depth_table(&levels, !own.is_empty()).into_any()
                }}
            </section>
        </div>
        {by_pool(&book.by_pool).into_any()}
    }
}

fn facts(book: &BookView) -> impl IntoView + use<> {
    let asked = book
        .chip_types
        .iter()
        .find(|row| row.chip_type == book.chip_type)
        .map_or_else(|| format::NONE.to_owned(), |row| format::chips(row.asked));
    let price_note = if book.reference_price.is_some() { "global credits per chip-hour" } else { "no trade" };
    view! {
        <dl class="facts">
            <div>
                <dt>"Market price"</dt>
                <dd>{format::price(book.reference_price)}<small>{price_note}</small></dd>
            </div>
            <div>
                <dt>"Reserve price"</dt>
                <dd>{book.reserve_price.to_string()}<small>"global credits per chip-hour"</small></dd>
            </div>
            <div>
                <dt>"Supply"</dt>
                <dd>{format::chips(book.supply)}<small>"chips"</small></dd>
            </div>
            <div>
                <dt>"Asked for at any price"</dt>
                <dd>{asked}<small>"chips"</small></dd>
            </div>
        </dl>
    }
}

fn by_pool(pools: &[PoolDemand]) -> impl IntoView + use<> {
    let body = if pools.is_empty() {
        empty("No pool owns chips of this type or asks for some.", "Pools appear with their first bid.")
            .into_any()
    } else {
        pool_table(pools, "pools").into_any()
    };
    view! {
        <section class="panel" aria-labelledby="pools-title">
            <header>
                <h2 id="pools-title">"By pool"</h2>
                <span class="quiet">"at the prices of the last cycle"</span>
            </header>
            {body}
        </section>
    }
}
