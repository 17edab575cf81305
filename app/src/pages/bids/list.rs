//! A team's queue, and its bids that are over.

use common::api::{BidChange, BidFilter, BidView};
use common::ids::{BidId, TeamId};
use leptos::prelude::*;

use super::funds::funds_strip;
use super::outcome::outcome;
use super::reply::{List, Reply};
use super::rows::{Rows, ended_row, open_row};
use super::wanted::{BUTTONS, CHOSEN, ENDS, FIRST};
use crate::components::icon::{Icon, icon};
use crate::components::problem::empty;
use crate::components::switch::{Choice, csv, switch};
use crate::format;
use crate::words::address;

const PATH: &str = "/bids";

const fn show_in_address(show: BidFilter) -> Option<&'static str> {
    match show {
        BidFilter::Open => None,
        BidFilter::Ended => Some("ended"),
    }
}

fn href(team: &TeamId, show: BidFilter, cursor: Option<&str>) -> String {
    address(PATH, &[("team", Some(team.as_str())), ("show", show_in_address(show)), ("cursor", cursor)])
}

pub(super) fn list(list: List) -> impl IntoView {
    let List { teams, show, cursor, view, reply } = list;
    let here = href(&view.team.id, show, cursor.as_deref());
    let asked = match &reply {
        Some(Reply::Asked(bids)) => Some(ask(bids, &view.bids, here.clone())),
        _ => None,
    };
    let rows = Rows { team: view.team.id.clone(), may_bid: view.may_bid, clock: view.clock.clone() };
    let new_bid = address("/bids/new", &[("team", Some(view.team.id.as_str()))]);
    let toolbar = toolbar(teams, show, &view, &new_bid);
    let body = match (view.bids.is_empty(), show) {
        (true, BidFilter::Open) => nothing_open(view.may_bid, new_bid),
        (true, BidFilter::Ended) => empty(
            "No bid of this team has ended yet.",
            "A bid comes here when its work is done, its window is over, or somebody cancels it.",
        )
        .into_any(),
        (false, BidFilter::Open) => open_table(&rows, &view.bids),
        (false, BidFilter::Ended) => ended_table(&rows, &view.bids),
    };
    let team = view.team.id.as_str();
    let csv_href = address(
        &format!("/api/v1/teams/{team}/bids"),
        &[("show", show_in_address(show)), ("format", Some("csv"))],
    );
    let (title, hint) = match show {
        BidFilter::Open => ("Queue", "first in line is paid for first"),
        BidFilter::Ended => ("Ended bids", "last ended first"),
    };
    let pages = pages(&view.team.id, show, cursor.is_some(), view.next_cursor.as_deref());
    view! {
        {toolbar.into_any()}
        {funds_strip(&view.funds).into_any()}
        {outcome(reply.as_ref())}
        <p class="hidden" data-moved data-own aria-live="polite"></p>
        <form
            class="panel"
            method="post"
            action=here
            aria-labelledby="bids-title"
            data-sent
        >
            // Return in a checkbox presses the first button: nothing shall be changed that way.
            <button class="hidden" type="submit" disabled tabindex="-1" aria-hidden="true"></button>
            <header>
                <h2 id="bids-title">{title}</h2>
                <span class="quiet">{hint}</span>
                <div class="right">
                    {(view.may_bid && show == BidFilter::Open && !view.bids.is_empty()).then(bulk)}
                    {csv(csv_href, title)}
                </div>
            </header>
            {asked}
            {body}
        </form>
        {pages.into_any()}
    }
}

fn toolbar(
    teams: Vec<common::api::TeamName>,
    show: BidFilter,
    view: &common::api::BidsView,
    new_bid: &str,
) -> impl IntoView + use<> {
    let choices =
        [(BidFilter::Open, "In the queue", view.counts.open), (BidFilter::Ended, "Ended", view.counts.ended)]
            .map(|(filter, text, count)| Choice {
                text: format!("{text} {}", format::thousands(count)),
                href: href(&view.team.id, filter, None),
                chosen: filter == show,
            });
    let options = teams
        .into_iter()
        .map(|team| {
            let chosen = team.id == view.team.id;
            view! { <option value=team.id.to_string() selected=chosen>{team.name}</option> }
        })
        .collect_view();
    let kept = show_in_address(show).map(|show| view! { <input type="hidden" name="show" value=show /> });
    let team = view! {
        <form class="chooser" method="get" action=PATH autocomplete="off" data-chooser>
            {kept}
            <label>
                <span>"Team"</span>
                <select name="team">{options}</select>
            </label>
            <noscript>
                <button class="button" type="submit">"Show"</button>
            </noscript>
        </form>
    };
    let place = view.may_bid.then(|| {
        view! { <a class="button primary last" href=new_bid.to_owned() data-new-bid>"New bid"</a> }
    });
    view! { <div class="toolbar">{team}{switch("Show bids", choices.into())}{place}</div> }
}

/// Buttons for all chosen bids.
fn bulk() -> impl IntoView {
    let buttons = BUTTONS
        .map(|(name, change)| {
            let text = match change {
                BidChange::Pause => "Pause",
                BidChange::Resume => "Resume",
                BidChange::Cancel => "Cancel",
            };
            view! {
                <button class="button" type="submit" name=name value=CHOSEN>
                    {text}
                </button>
            }
        })
        .into_iter()
        .collect_view();
    let first = view! {
        <button class="button" type="submit" name=FIRST value=CHOSEN>
            "Put first"
        </button>
    };
    view! {
        <span class="bulk" role="group" aria-label="Chosen bids">
            <span class="quiet scripted"><b data-chosen data-own>"0"</b>" chosen"</span>
            {first}
            {buttons}
        </span>
    }
}

/// Asks once before bids end, and says what happens then.
pub(super) fn ask(bids: &[BidId], rows: &[BidView], here: String) -> AnyView {
    let names: Vec<_> =
        rows.iter().filter(|row| bids.contains(&row.id)).map(|row| format!("“{}”", row.terms.name)).collect();
    let hidden = bids
        .iter()
        .map(|bid| view! { <input type="hidden" name=ENDS value=bid.to_string() /> })
        .collect_view();
    let what = if bids.len() == 1 { "this bid".to_owned() } else { format!("these {} bids", bids.len()) };
    view! {
        <fieldset class="ask" aria-labelledby="ask-title">
            <p class="strong" id="ask-title">{format!("End {what} for good? {}", names.join(", "))}</p>
            <p>
                "Chips go back to the market in the next cycle. What was charged so far stays charged. A bid that ended can't be resumed, but it can be duplicated."
            </p>
            <p class="buttons">
                {hidden}
                <button class="button danger" type="submit" name="sure" value="yes">
                    {format!("End {what}")}
                </button>
                <a class="button" href=here data-refresh>
                    "Keep"
                </a>
            </p>
        </fieldset>
    }
    .into_any()
}

fn nothing_open(may_bid: bool, new_bid: String) -> AnyView {
    if !may_bid {
        return empty("The queue is empty.", "Members of the team place bids; they appear here at once.")
            .into_any();
    }
    view! {
        <div class="empty">
            <p class="strong">"The queue is empty."</p>
            <p>"Place a bid to get chips: the preview shows what it would get now, and what it would cost."</p>
            <p><a class="button primary" href=new_bid>"Place the first bid"</a></p>
        </div>
    }
    .into_any()
}

fn open_table(rows: &Rows, bids: &[BidView]) -> AnyView {
    let may_bid = rows.may_bid;
    let body = bids.iter().map(|bid| open_row(rows, bid)).collect_view();
    let all = may_bid.then(|| {
        view! { <input class="scripted" type="checkbox" name="all" value="yes" data-all aria-label="Choose all" /> }
    });
    let help = may_bid.then(|| {
        view! {
            <p class="body quiet scripted" id="move-help">
                "Drag a row by its handle, or move it with the keys ↑ ↓ Home End while the handle has the focus."
            </p>
        }
    });
    view! {
        <table
            class="cards queue"
            role="table"
            data-rows
            data-movable
            aria-labelledby="bids-title"
        >
            <thead role="rowgroup">
                <tr role="row">
                    <th scope="col" role="columnheader">{all}<span>"Place"</span></th>
                    <th scope="col" role="columnheader">"Bid"</th>
                    <th scope="col" role="columnheader">"Chips now"</th>
                    <th scope="col" role="columnheader" class="num">"Limit"<small>"credits per chip-hour"</small></th>
                    <th scope="col" role="columnheader">"Now"</th>
                    <th scope="col" role="columnheader" class="num">"Cost so far"<small>"credits"</small></th>
                    <th scope="col" role="columnheader" class="num">"Left"</th>
                    <th scope="col" role="columnheader"><span class="hidden">"Actions"</span></th>
                </tr>
            </thead>
            <tbody role="rowgroup">{body}</tbody>
        </table>
        {help}
    }
    .into_any()
}

fn ended_table(rows: &Rows, bids: &[BidView]) -> AnyView {
    let body = bids.iter().map(|bid| ended_row(rows, bid)).collect_view();
    view! {
        <table class="cards" role="table" data-rows aria-labelledby="bids-title">
            <thead role="rowgroup">
                <tr role="row">
                    <th scope="col" role="columnheader">"Bid"</th>
                    <th scope="col" role="columnheader">"Ended"</th>
                    <th scope="col" role="columnheader">"At"</th>
                    <th scope="col" role="columnheader" class="num">"Limit"<small>"credits per chip-hour"</small></th>
                    <th scope="col" role="columnheader" class="num">"Work done"</th>
                    <th scope="col" role="columnheader" class="num">"Cost"<small>"credits"</small></th>
                    <th scope="col" role="columnheader"><span class="hidden">"Actions"</span></th>
                </tr>
            </thead>
            <tbody role="rowgroup">{body}</tbody>
        </table>
    }
    .into_any()
}

fn pages(team: &TeamId, show: BidFilter, later: bool, next: Option<&str>) -> impl IntoView + use<> {
    let first = later.then(|| {
        view! { <a class="button" href=href(team, show, None)>{icon(Icon::Previous)}"First page"</a> }
    });
    let next = next.map(|cursor| {
        view! {
            <a class="button" rel="next" href=href(team, show, Some(cursor))>"Next page"{icon(Icon::Next)}</a>
        }
    });
    view! { <nav class="pages" aria-label="Pages of bids">{first}{next}</nav> }
}
