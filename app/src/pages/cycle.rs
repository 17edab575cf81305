//! One cycle: its proof, its prices, its teams, and why each bid got what it got.

use common::api::{CycleChipType, CycleSummary, CycleTeam, CycleView};
use common::ids::TeamId;
use leptos::prelude::*;
use leptos_meta::Title;
use leptos_router::hooks::{use_params_map, use_query_map};
use serde::{Deserialize, Serialize};

use crate::components::bids::bids_panel;
use crate::components::facts::occupancy;
use crate::components::icon::{Icon, icon};
use crate::components::page::page;
use crate::components::pools::pool_table;
use crate::components::problem::empty;
use crate::components::proof::proof_panel;
use crate::components::time::date_time;
use crate::data::{PageError, read_cycle};
use crate::format;
use crate::live::Live;
use crate::words::address;

/// What the page shows: the cycle, and the team whose bids were asked for.
#[derive(Clone, Debug, Serialize, Deserialize)]
struct Shown {
    team: Option<TeamId>,
    cycle: CycleView,
}

/// One cycle, computed again from its stored inputs. It never changes, so it is not read again with each new cycle.
#[component]
pub fn CyclePage() -> impl IntoView {
    let live = Live::from_context();
    let parameters = use_params_map();
    let query = use_query_map();
    let number = Memo::new(move |_| {
        // A text that is no number names a cycle that does not exist: cycles count from 1.
        parameters.with(|map| map.get_str("cycle").and_then(|text| text.parse().ok())).unwrap_or(0_u64)
    });
    let team: Memo<Option<TeamId>> =
        Memo::new(move |_| query.with(|query| query.get_str("team").and_then(|text| text.parse().ok())));
    let shown = Resource::new(
        move || (number.get(), team.get(), live.retries()),
        |(number, team, _)| async move {
            Ok::<_, PageError>(Shown { team: team.clone(), cycle: read_cycle(number, team).await? })
        },
    );
    view! {
        <Title text="Cycle" />
        {page(shown, cycle)}
    }
}

fn cycle(shown: Shown) -> impl IntoView {
    let Shown { team, cycle } = shown;
    // A fixed text: the head is written when the signals of the page may be gone.
    let title = format!("Cycle {}", format::thousands(cycle.summary.cycle));
    view! {
        <Title text=title />
        {neighbours(&cycle.summary, team.as_ref()).into_any()}
        {facts(&cycle.summary).into_any()}
        {proof_panel(cycle.summary.cycle, &cycle.proof).into_any()}
        {cycle.chip_types.iter().map(|market| chip_type_panel(market).into_any()).collect_view()}
        {teams_panel(&cycle).into_any()}
        {bids_panel(&cycle, team.as_ref()).into_any()}
    }
}

fn neighbours(summary: &CycleSummary, team: Option<&TeamId>) -> impl IntoView + use<> {
    let link = |number: u64| address(&format!("/cycles/{number}"), &[("team", team.map(TeamId::as_str))]);
    let previous = (summary.cycle > 1).then(|| {
        view! {
            <a class="button" rel="prev" href=link(summary.cycle - 1) data-noscroll>
                {icon(Icon::Previous)}
                {format::thousands(summary.cycle - 1)}
            </a>
        }
    });
    let next = summary.ends_at.is_some().then(|| {
        view! {
            <a class="button" rel="next" href=link(summary.cycle + 1) data-noscroll>
                {format::thousands(summary.cycle + 1)}
                {icon(Icon::Next)}
            </a>
        }
    });
    view! {
        <nav class="pages" aria-label="Cycles before and after">
            {previous}
            {next}
            <a class="quiet-link" href="/cycles">"All cycles"</a>
        </nav>
    }
}

fn facts(summary: &CycleSummary) -> impl IntoView + use<> {
    let until = summary.ends_at.map_or_else(
        || view! { <small>"in force now"</small> }.into_any(),
        |end| view! { <small>"in force until "{date_time(end)}</small> }.into_any(),
    );
    let supply = summary.occupancy.supply;
    view! {
        <dl class="facts">
            <div>
                <dt>"Began"</dt>
                <dd class="text">{date_time(summary.starts_at)}{until}</dd>
            </div>
            <div>
                <dt>"Live bids"</dt>
                <dd>{format::thousands(summary.bids)}<small>"in all teams' queues"</small></dd>
            </div>
            <div>
                <dt>"Chips paid for"</dt>
                <dd>
                    {format::chips(summary.occupancy.paid)}
                    <small>
                        {format!("of {}, {}", format::chips(supply), format::percent(summary.occupancy.paid, supply))}
                    </small>
                </dd>
            </div>
            <div>
                <dt>"Cleared within"</dt>
                <dd>{format::short_time(summary.clear_micros)}<small>"all chip types"</small></dd>
            </div>
        </dl>
    }
}

fn chip_type_panel(market: &CycleChipType) -> impl IntoView + use<> {
    let title = format!("chip-{}", market.chip_type);
    view! {
        <section class="panel" aria-labelledby=title.clone()>
            <header>
                <h2 id=title.clone()>{market.chip_type.to_string()}</h2>
                <span>
                    <b>{format::price(market.reference_price)}</b>
                    <span class="quiet">
                        {if market.reference_price.is_some() {
                            " global credits per chip-hour"
                        } else {
                            " no market price"
                        }}
                    </span>
                </span>
                <span class="quiet">
                    {format!(
                        "reserve {} · {} shared · {} asked for · {} supplied",
                        market.reserve_price,
                        format::chips(market.shared),
                        format::chips(market.asked),
                        format::chips(market.occupancy.supply),
                    )}
                </span>
                <div class="right">{occupancy(&market.occupancy)}</div>
            </header>
            {if market.pools.is_empty() {
                empty("No pool owned chips of this type or asked for some.", "So there was no trade.").into_any()
            } else {
                pool_table(&market.pools, &format!("pools.{}", market.chip_type)).into_any()
            }}
        </section>
    }
}

fn teams_panel(cycle: &CycleView) -> impl IntoView + use<> {
    let number = cycle.summary.cycle;
    let rows = cycle.teams.iter().map(|team| team_row(number, team)).collect_view();
    view! {
        <section class="panel" aria-labelledby="teams-title">
            <header>
                <h2 id="teams-title">"Teams"</h2>
                <span class="quiet">"money when the cycle began, chips after it cleared"</span>
            </header>
            <table class="cards" role="table" data-rows data-sortable="teams" aria-labelledby="teams-title">
                <thead role="rowgroup">
                    <tr role="row">
                        <th scope="col" role="columnheader">"Team"</th>
                        <th scope="col" role="columnheader" class="num">"Balance"<small>"local credits"</small></th>
                        <th scope="col" role="columnheader" class="num">
                            "Income"
                            <small>"local credits per hour"</small>
                        </th>
                        <th scope="col" role="columnheader" class="num">
                            "Spending cap"
                            <small>"global credits per hour"</small>
                        </th>
                        <th scope="col" role="columnheader" data-unsorted>
                            "Chips"
                            <small>"quota of asked, used"</small>
                        </th>
                    </tr>
                </thead>
                <tbody role="rowgroup">{rows}</tbody>
            </table>
        </section>
    }
}

fn team_row(number: u64, team: &CycleTeam) -> impl IntoView + use<> {
    let name = if team.shows_bids {
        let href = address(&format!("/cycles/{number}"), &[("team", Some(team.team.as_str()))]);
        view! { <a class="row-link" data-row data-noscroll href=href>{team.name.clone()}</a> }.into_any()
    } else {
        team.name.clone().into_any()
    };
    let quotas = team
        .quotas
        .iter()
        .map(|quota| {
            view! {
                <li>
                    <b>{quota.chip_type.to_string()}</b>
                    {format!(
                        " {} of {}, {} used",
                        format::chips(quota.quota),
                        format::chips(quota.asked),
                        format::chips(quota.used),
                    )}
                </li>
            }
        })
        .collect_view();
    let quotas = if team.quotas.is_empty() {
        view! { <span class="quiet">"no bids"</span> }.into_any()
    } else {
        view! { <ul class="plain">{quotas}</ul> }.into_any()
    };
    view! {
        <tr role="row">
            <th scope="row" role="rowheader">
                {name}
            </th>
            <td role="cell" class="num" data-label="Balance" data-unit="local credits">{format::amount(team.balance)}</td>
            <td role="cell" class="num" data-label="Income" data-unit="local credits per hour">{format::amount(team.income)}</td>
            <td role="cell" class="num" data-label="Spending cap" data-unit="global credits per hour">{format::amount(team.cap)}</td>
            <td role="cell" class="wide-cell" data-label="Chips">{quotas}</td>
        </tr>
    }
}
