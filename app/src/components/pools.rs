//! What the pools want, own and got of one chip type.

use common::api::PoolDemand;
use leptos::prelude::*;

use crate::format;

/// One row per pool; `list` is the name of the list in the address, where its order stands.
pub(crate) fn pool_table(pools: &[PoolDemand], list: &str) -> impl IntoView + use<> {
    let rows = pools
        .iter()
        .map(|pool| {
            view! {
                <tr role="row">
                    <th scope="row" role="rowheader">{pool.pool.name.clone()}</th>
                    <td role="cell" class="num" data-label="Asked for" data-unit="chips">{format::chips(pool.asked)}</td>
                    <td role="cell" class="num" data-label="Owned" data-unit="chips">{format::chips(pool.owned)}</td>
                    <td role="cell" class="num" data-label="Lent" data-unit="chips">{format::chips(pool.lent)}</td>
                    <td role="cell" class="num" data-label="Bought" data-unit="chips">{format::chips(pool.bought)}</td>
                    <td role="cell" class="num" data-label="Granted" data-unit="chips">{format::chips(pool.granted)}</td>
                    <td role="cell" class="num" data-label="Pool price" data-unit="global credits per chip-hour">{format::price(pool.price)}</td>
                    <td role="cell" class="num price" data-label="Pool price" data-unit="local credits per chip-hour">
                        {format::price(pool.local_price)}
                    </td>
                </tr>
            }
        })
        .collect_view();
    view! {
        <table class="cards" role="table" data-sortable=list.to_owned() aria-label="Pools">
            <thead role="rowgroup">
                <tr role="row">
                    <th scope="col" role="columnheader">"Pool"</th>
                    <th scope="col" role="columnheader" class="num">"Asked for"<small>"chips"</small></th>
                    <th scope="col" role="columnheader" class="num">"Owned"<small>"chips"</small></th>
                    <th scope="col" role="columnheader" class="num">"Lent"<small>"chips"</small></th>
                    <th scope="col" role="columnheader" class="num">"Bought"<small>"chips"</small></th>
                    <th scope="col" role="columnheader" class="num">"Granted"<small>"chips"</small></th>
                    <th scope="col" role="columnheader" class="num">
                        "Pool price"
                        <small>"global credits per chip-hour"</small>
                    </th>
                    <th scope="col" role="columnheader" class="num">
                        "Pool price"
                        <small>"local credits per chip-hour"</small>
                    </th>
                </tr>
            </thead>
            <tbody role="rowgroup">{rows}</tbody>
        </table>
    }
}
