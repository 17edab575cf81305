//! The Market page: a row per chip type, and what is behind the opened row.

use common::api::{ChipTypeRow, MarketView, PriceHistory, Span};
use common::ids::{ChipTypeId, PoolId};
use leptos::prelude::*;
use leptos_meta::Title;
use leptos_router::hooks::use_query_map;
use serde::{Deserialize, Serialize};

use crate::chart::price_chart;
use crate::components::bids::bid_for;
use crate::components::depth::depth_figure;
use crate::components::facts::{change, occupancy, occupancy_legend, paid_share, sparkline};
use crate::components::history::history_table;
use crate::components::page::page;
use crate::components::problem::{empty, notice};
use crate::components::switch::{Choice, csv, switch};
use crate::data::{self, OpenedChipType, PageError, read_market};
use crate::format;
use crate::live::Live;
use crate::words::{self, address};

/// How far back the changes in the rows look.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
enum Back {
    #[default]
    Hour,
    Day,
}

/// The state that the address holds.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
struct State {
    chip: Option<ChipTypeId>,
    pool: Option<PoolId>,
    span: Span,
    back: Back,
}

impl State {
    /// The address of this state.
    fn href(&self) -> String {
        address(
            "/",
            &[
                ("chip", self.chip.as_ref().map(ChipTypeId::as_str)),
                ("span", (self.span != Span::default()).then(|| self.span.as_str())),
                ("change", (self.back == Back::Day).then_some("24h")),
                ("pool", self.pool.as_ref().map(PoolId::as_str)),
            ],
        )
    }
}

/// What the page shows: the data, and the state it was read for.
#[derive(Clone, Debug, Serialize, Deserialize)]
struct Shown {
    state: State,
    data: data::MarketPage,
}

/// Prices of all chip types, live.
#[component]
pub fn MarketPage() -> impl IntoView {
    let live = Live::from_context();
    let query = use_query_map();
    let state = Memo::new(move |_| {
        query.with(|query| State {
            chip: query.get_str("chip").and_then(|text| text.parse().ok()),
            pool: query.get_str("pool").and_then(|text| text.parse().ok()),
            span: query.get_str("span").and_then(|text| text.parse().ok()).unwrap_or_default(),
            back: if query.get_str("change") == Some("24h") { Back::Day } else { Back::Hour },
        })
    });
    // Without a chosen chip type the server opens the shortest. It stays open while the page is: what one looks at
    // does not change under the pointer because another became shorter.
    let opened = StoredValue::new(None);
    let shown = Resource::new(
        move || (state.get(), live.version()),
        move |(state, _)| async move {
            let chip_type = state.chip.clone().or_else(|| opened.get_value());
            let data = read_market(state.pool.clone(), chip_type, state.span).await?;
            Ok::<_, PageError>(Shown { state, data })
        },
    );
    Effect::new(move |_| {
        if let Some(Ok(shown)) = shown.get() {
            opened.set_value(shown.data.opened_chip_type());
        }
    });
    view! {
        <Title text="Market" />
        {page(shown, market)}
    }
}

fn market(shown: Shown) -> impl IntoView {
    let Shown { state, data } = shown;
    if data.market.rows.is_empty() {
        return empty(
            "There are no chip types yet.",
            "An admin adds chip types and their supply; prices appear with the first cycle after that.",
        )
        .into_any();
    }
    let shown_chip = data.opened_chip_type();
    let opened = data.opened.map(|opened| match opened {
        Ok(opened) => behind(&state, &data.market, &opened, data.bids).into_any(),
        Err(error) => notice(error).into_any(),
    });
    view! {
        {prices(&state, &data.market, shown_chip.as_ref()).into_any()}
        {opened}
    }
    .into_any()
}

/// The table of prices.
fn prices(state: &State, market: &MarketView, opened: Option<&ChipTypeId>) -> impl IntoView + use<> {
    let back = [(Back::Hour, "1 h"), (Back::Day, "24 h")].map(|(back, text)| Choice {
        text: text.to_owned(),
        href: State { back, ..state.clone() }.href(),
        chosen: back == state.back,
    });
    let with_pool = market.pool.is_some();
    let csv_href = address(
        "/api/v1/market",
        &[("pool", market.pool.as_ref().map(PoolId::as_str)), ("format", Some("csv"))],
    );
    let rows = market
        .rows
        .iter()
        .map(|row| price_row(state, row, opened == Some(&row.chip_type), with_pool))
        .collect_view();
    let own_price = with_pool.then(|| {
        view! {
            <th scope="col" role="columnheader" class="num">
                "Your price"
                <small>"local credits per chip-hour"</small>
            </th>
        }
    });
    view! {
        <section class="panel" aria-labelledby="prices-title">
            <header>
                <h2 id="prices-title">"Chip prices"</h2>
                {occupancy_legend()}
                <div class="right">
                    <span class="quiet">"Change over"</span>
                    {switch("Change over", back.into())}
                    {csv(csv_href, "Prices of all chip types")}
                </div>
            </header>
            <table class="cards prices" role="table" data-rows data-sortable aria-labelledby="prices-title">
                <thead role="rowgroup">
                    <tr role="row">
                        <th scope="col" role="columnheader">"Chip type"</th>
                        {own_price}
                        <th scope="col" role="columnheader" class="num">
                            "Market price"
                            <small>"global credits per chip-hour"</small>
                        </th>
                        <th scope="col" role="columnheader" class="num">"Change"</th>
                        <th scope="col" role="columnheader" class="spark-cell" data-unsorted>"Last 24 h"</th>
                        <th scope="col" role="columnheader" class="num">"Supply"<small>"chips"</small></th>
                        <th scope="col" role="columnheader" class="num">"Asked for"<small>"chips"</small></th>
                        <th scope="col" role="columnheader">"Occupancy"</th>
                    </tr>
                </thead>
                <tbody role="rowgroup">{rows}</tbody>
            </table>
        </section>
    }
}

fn price_row(state: &State, row: &ChipTypeRow, opened: bool, with_pool: bool) -> impl IntoView + use<> {
    let href = State { chip: Some(row.chip_type.clone()), ..state.clone() }.href();
    let before = match state.back {
        Back::Hour => row.reference_price_1h_ago,
        Back::Day => row.reference_price_24h_ago,
    };
    let own_price = with_pool.then(|| {
        view! {
            <td role="cell" class="num price" data-label="Your price" data-unit="local credits per chip-hour">{format::price(row.local_price)}</td>
        }
    });
    let price_class = if with_pool { "num" } else { "num price" };
    view! {
        <tr role="row" class:selected=opened>
            <th scope="row" role="rowheader">
                <a class="row-link" href=href data-noscroll data-row aria-current=opened.then_some("true")>
                    {row.name.clone()}
                </a>
                {row.retired.then(|| view! { <small class="quiet">"retired: takes no new bids"</small> })}
            </th>
            {own_price}
            <td role="cell" class=price_class data-label="Market price" data-unit="global credits per chip-hour">{format::price(row.reference_price)}</td>
            <td role="cell" class="num" data-label="Change">{change(row.reference_price, before)}</td>
            <td role="cell" class="spark-cell" data-label="Last 24 h">{sparkline(&row.name, &row.last_24h)}</td>
            <td role="cell" class="num" data-label="Supply" data-unit="chips">{format::chips(row.occupancy.supply)}</td>
            <td role="cell" class="num" data-label="Asked for" data-unit="chips">{format::chips(row.asked)}</td>
            <td role="cell" class="wide-cell" data-label="Occupancy" data-value=paid_share(&row.occupancy)>
                {occupancy(&row.occupancy)}
            </td>
        </tr>
    }
}

/// History and demand of the opened chip type.
fn behind(state: &State, market: &MarketView, opened: &OpenedChipType, bids: bool) -> impl IntoView + use<> {
    let chip_type = &opened.history.chip_type;
    let row = market.rows.iter().find(|row| row.chip_type == *chip_type);
    let name = row.map_or_else(|| chip_type.to_string(), |row| row.name.clone());
    let bid = row.filter(|row| bids && !row.retired).map(|row| bid_for(row, true));
    view! {
        <div class="columns">
            {history_panel(state, &name, opened).into_any()}
            <section class="panel" aria-labelledby="depth-title">
                <header>
                    <h2 id="depth-title">{name.clone()}" · who asks at which price"</h2>
                    <div class="right">
                        <a class="quiet-link" href=address("/book", &[("chip", Some(chip_type.as_str()))])>
                            "Bid book"
                        </a>
                        {bid}
                    </div>
                </header>
                <div class="body">{depth_figure(&opened.book, &[])}</div>
            </section>
        </div>
    }
}

fn history_panel(state: &State, name: &str, opened: &OpenedChipType) -> impl IntoView + use<> {
    let history = &opened.history;
    let spans = Span::ALL
        .into_iter()
        .map(|span| Choice {
            text: words::span(span).to_owned(),
            href: State { span, chip: Some(history.chip_type.clone()), ..state.clone() }.href(),
            chosen: span == history.span,
        })
        .collect();
    let own = history.pool.is_some().then(|| view! { <li class="key-mine">"your price"</li> });
    let band = (history.step_seconds > 0).then(|| view! { <li class="key-band">"lowest to highest"</li> });
    let limits = (!opened.limits.is_empty()).then(|| view! { <li class="key-limit">"your limits"</li> });
    let summary = history_summary(name, history);
    let body = if history.points.is_empty() {
        empty("There is no price in this span yet.", "Choose a longer span, or wait for the next cycle.")
            .into_any()
    } else {
        view! {
            <figure class="figure">
                <qm-chart data=price_chart(history, &opened.limits) data-label=summary></qm-chart>
                <figcaption>
                    <ul class="legend">
                        <li class="key-accent">"market price"</li>
                        {own}
                        {band}
                        {limits}
                        <li class="key-mark">"supply change"</li>
                    </ul>
                </figcaption>
            </figure>
            <details>
                <summary>"Table of prices"</summary>
                {history_table(history).into_any()}
            </details>
        }
        .into_any()
    };
    view! {
        <section class="panel" aria-labelledby="history-title">
            <header>
                <h2 id="history-title">{name.to_owned()}" · price"</h2>
                <div class="right">{csv(history_csv(history), "Prices")}{switch("Span", spans)}</div>
            </header>
            <div class="body">{body}</div>
        </section>
    }
}

fn history_csv(history: &PriceHistory) -> String {
    address(
        &format!("/api/v1/chip-types/{}/prices", history.chip_type),
        &[
            ("span", Some(history.span.as_str())),
            ("pool", history.pool.as_ref().map(PoolId::as_str)),
            ("format", Some("csv")),
        ],
    )
}

/// A history in one sentence, for those who do not see the chart.
fn history_summary(name: &str, history: &PriceHistory) -> String {
    let known = || history.points.iter().filter_map(|point| point.reference_price);
    let span = words::last_span(history.span);
    match (known().min(), known().max(), known().next_back()) {
        (Some(low), Some(high), Some(last)) => {
            format!("Price of {name} over {span}: from {low} to {high}, at last {last} credits per chip-hour")
        }
        _ => format!("Price of {name} over {span}: no trade"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_address_holds_what_differs_from_the_default() {
        assert_eq!(State::default().href(), "/");
        let state = State {
            chip: Some(ChipTypeId::new("H100").unwrap()),
            pool: Some(PoolId::new("research").unwrap()),
            span: Span::Week,
            back: Back::Day,
        };
        assert_eq!(state.href(), "/?chip=H100&span=7d&change=24h&pool=research");
    }
}
