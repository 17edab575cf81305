//! The tables behind a price chart: prices newest first, and the changes of supply.

use common::api::{PriceHistory, PricePoint, SupplyChange};
use leptos::prelude::*;

use super::time::date_time;
use crate::chart::supply_change;
use crate::format;
use crate::words::address;

/// Rows shown at most; the CSV file has them all.
const MOST_ROWS: usize = 200;

/// Prices newest first, and the changes of supply where there are any.
pub(crate) fn history_table(history: &PriceHistory) -> impl IntoView + use<> {
    let with_pool = history.pool.is_some();
    let rows = history.points.iter().rev().take(MOST_ROWS).map(|point| row(point, with_pool)).collect_view();
    let left_out = history.points.len().saturating_sub(MOST_ROWS);
    let own = with_pool.then(|| {
        view! { <th scope="col" class="num">"Your price"<small>"local credits per chip-hour"</small></th> }
    });
    view! {
        <div class="scroll tall" tabindex="0" role="region" aria-label="Prices over time">
            <table>
                <thead>
                    <tr>
                        <th scope="col">"From"</th>
                        <th scope="col" class="num">"Cycle"</th>
                        {own}
                        <th scope="col" class="num">"Market price"<small>"credits per chip-hour"</small></th>
                        <th scope="col" class="num">"Supply"<small>"chips"</small></th>
                        <th scope="col" class="num">"Asked for"<small>"chips"</small></th>
                        <th scope="col" class="num">"Paid"<small>"chips"</small></th>
                    </tr>
                </thead>
                <tbody>{rows}</tbody>
            </table>
        </div>
        {(left_out > 0)
            .then(|| view! { <p class="quiet">{format!("{left_out} older rows are in the CSV file.")}</p> })}
        {(!history.supply_changes.is_empty()).then(|| supply_table(&history.supply_changes))}
    }
}

fn row(point: &PricePoint, with_pool: bool) -> impl IntoView + use<> {
    let own = with_pool.then(|| view! { <td class="num">{format::price(point.local_price)}</td> });
    view! {
        <tr>
            <td>{date_time(point.at)}</td>
            <td class="num">
                <a href=address(&format!("/cycles/{}", point.cycle), &[])>{format::thousands(point.cycle)}</a>
            </td>
            {own}
            <td class="num">{format::price(point.reference_price)}</td>
            <td class="num">{format::chips(point.occupancy.supply)}</td>
            <td class="num">{format::chips(point.asked)}</td>
            <td class="num">{format::chips(point.occupancy.paid)}</td>
        </tr>
    }
}

fn supply_table(changes: &[SupplyChange]) -> impl IntoView + use<> {
    let rows = changes
        .iter()
        .rev()
        .map(|change| {
            view! {
                <tr>
                    <td>{date_time(change.at)}</td>
                    <td class="num">{supply_change(change.before.0, change.after.0)}</td>
                    <td class="num">{format::chips(change.after)}</td>
                </tr>
            }
        })
        .collect_view();
    view! {
        <table>
            <caption>"Changes of supply"</caption>
            <thead>
                <tr>
                    <th scope="col">"At"</th>
                    <th scope="col" class="num">"Change"</th>
                    <th scope="col" class="num">"Supply after it"<small>"chips"</small></th>
                </tr>
            </thead>
            <tbody>{rows}</tbody>
        </table>
    }
}
