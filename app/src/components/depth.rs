//! The demand curve of a chip type: who asks at which price, where it cleared, and the table behind it.

use std::collections::BTreeMap;

use common::api::{BookView, DepthLevel};
use common::money::Price;
use common::words::counted;
use leptos::prelude::*;

use super::problem::empty;
use crate::chart::{depth_chart, depth_is_cut, own_level};
use crate::data::OwnLimit;
use crate::format;

/// The curve with supply line and clearing point, or why there is none.
pub(crate) fn depth_figure(book: &BookView, own: &[OwnLimit]) -> impl IntoView + use<> {
    if book.levels.is_empty() {
        return empty("Nobody asks for this chip type.", "The curve appears with the first bid for it.")
            .into_any();
    }
    let cut = depth_is_cut(book)
        .then(|| view! { <p class="quiet">"Bids far above the market price are counted, but lie above the picture."</p> });
    let mine = (!own.is_empty()).then(|| view! { <li class="key-mine">"your bids"</li> });
    view! {
        <figure class="figure">
            <qm-chart data=depth_chart(book, own) data-label=summary(book)></qm-chart>
            <figcaption>
                <ul class="legend">
                    <li class="key-accent">"chips asked for at or above each price"</li>
                    <li class="key-supply">"supply"</li>
                    <li class="key-point">"clearing point"</li>
                    {mine}
                </ul>
                {cut}
                <p class="quiet">
                    "The clearing point can lie left of the supply line: a pool pays less for chips it owns, so some go to bids below the market price, which stand further right on the curve."
                </p>
            </figcaption>
        </figure>
    }
    .into_any()
}

/// The curve in one sentence, for those who do not see it.
fn summary(book: &BookView) -> String {
    let most = book.levels.iter().map(|level| level.cumulative).max().unwrap_or_default();
    let cleared = book.reference_price.map_or_else(
        || "without a market price".to_owned(),
        |price| format!("clearing at {price} credits per chip-hour"),
    );
    format!(
        "Demand curve of {}: {} asked for at any price, {} supplied, {cleared}.",
        book.chip_type,
        counted(most.0, "chip"),
        format::chips(book.supply)
    )
}

/// A row of the table behind the curve: a level, and the names of the own bids that stand there.
type TellingLevel<'a> = (&'a DepthLevel, Vec<&'a str>);

/// The levels that say something: where chips are added, or where an own bid stands. The others only bend the curve.
pub(crate) fn telling<'a>(levels: &'a [DepthLevel], own: &'a [OwnLimit]) -> Vec<TellingLevel<'a>> {
    let mut names: BTreeMap<Price, Vec<&str>> = BTreeMap::new();
    for one in own {
        if let Some(level) = own_level(levels, one.limit) {
            names.entry(level.price).or_default().push(&one.name);
        }
    }
    let rows = levels.iter().map(|level| (level, names.remove(&level.price).unwrap_or_default()));
    rows.filter(|(level, names)| level.chips.0 > 0 || !names.is_empty()).collect()
}

/// The levels behind the curve; `bids`: whether there are own ones.
pub(crate) fn depth_table(levels: &[TellingLevel<'_>], bids: bool) -> impl IntoView + use<> {
    let rows = levels
        .iter()
        .map(|(level, names)| {
            let mine = bids.then(|| view! { <td>{names.join(", ")}</td> });
            view! {
                <tr class:mine=!names.is_empty()>
                    <td class="num">{level.price.to_string()}</td>
                    <td class="num">{format::chips(level.chips)}</td>
                    <td class="num">{format::chips(level.cumulative)}</td>
                    {mine}
                </tr>
            }
        })
        .collect_view();
    view! {
        <div class="scroll tall" tabindex="0" role="region" aria-label="Depth by price">
            <table>
                <thead>
                    <tr>
                        <th scope="col" class="num">"Price"<small>"credits per chip-hour"</small></th>
                        <th scope="col" class="num">"Added here"<small>"chips"</small></th>
                        <th scope="col" class="num">"Asked at or above"<small>"chips"</small></th>
                        {bids.then(|| view! { <th scope="col">"Your bids"</th> })}
                    </tr>
                </thead>
                <tbody>{rows}</tbody>
            </table>
        </div>
    }
}
