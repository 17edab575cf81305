//! One bid: what it asks for, what it got and why, and what it would take to win.

use common::api::{BidDetail, BidStretch, BidTerms};
use common::words::counted;
use leptos::prelude::*;

use super::list::ask;
use super::outcome::outcome;
use super::reply::{Opened, Reply};
use super::rows::{self, Rows};
use super::words as bid_words;
use crate::components::icon::{Icon, icon};
use crate::components::problem::empty;
use crate::components::time::date_time;
use crate::format;
use crate::words::{self, address};

pub(super) fn opened(opened: Opened) -> impl IntoView {
    let Opened { detail, cursor, form, reply } = opened;
    let here = format!("/bids/{}", detail.bid.id);
    let team = detail.team.clone();
    let list = address("/bids", &[("team", Some(team.id.as_str()))]);
    let terms = match form {
        Some(form) => super::form::edit(&form),
        None => terms_panel(&detail, here, reply.as_ref()),
    };
    view! {
        <nav class="pages" aria-label="Bid">
            <a class="button" href=list>{icon(Icon::Previous)}{format!("Bids of {}", team.name)}</a>
        </nav>
        {facts(&detail).into_any()}
        {terms}
        {history(&detail, cursor.is_some()).into_any()}
    }
}

fn facts(detail: &BidDetail) -> impl IntoView + use<> {
    let bid = &detail.bid;
    let place = bid.place.map_or_else(|| "over".to_owned(), format::thousands);
    let (_, chips) = bid_words::chips_tag(bid);
    let facts = [
        ("Place in the queue", place, "first in line is paid for first"),
        ("Chips now", chips, ""),
        ("Cost so far", format::amount(bid.cost), "credits, up to the last accounting step"),
        ("Work done", bid_words::chip_hours(bid.done_chip_seconds), ""),
        ("Left", rows::left(bid), "on the chips it has"),
    ]
    .map(|(label, value, note)| {
        view! {
            <div>
                <dt>{label}</dt>
                <dd class="text">{value}<small>{note}</small></dd>
            </div>
        }
    });
    view! { <dl class="facts">{facts.into_iter().collect_view()}</dl> }
}

/// The terms, the reason, and the buttons.
fn terms_panel(detail: &BidDetail, here: String, reply: Option<&Reply>) -> AnyView {
    let bid = &detail.bid;
    let rows = Rows { team: detail.team.id.clone(), may_bid: detail.may_bid, clock: detail.clock.clone() };
    let acts = (detail.may_bid && bid.place.is_some()).then(|| rows::acts(&rows, bid));
    let chip_type = bid.now.as_ref().and_then(|now| now.chip_type.as_ref());
    let to_win = detail.price_to_win.as_ref().map(|price| {
        let text = bid_words::price_to_win(price, &bid.terms, chip_type.map(|id| id.as_str()));
        view! { <p>{text}</p> }
    });
    let rank = detail.rank.map(|rank| {
        let (rank, of) = (format::thousands(rank.rank), counted(rank.of, "bid"));
        view! { <p>{format!("Rank {rank} of {of} for its chip type, by what they would pay at most.")}</p> }
    });
    let price = bid.now.as_ref().and_then(|now| now.local_price).map(|price| {
        view! { <p class="quiet">{format!("Your price now: {price} credits per chip-hour")}</p> }
    });
    let asked = match reply {
        Some(Reply::Asked(bids)) => Some(ask(bids, std::slice::from_ref(bid), here.clone())),
        _ => None,
    };
    let placed = bid.placed_by.as_ref().map(|name| format!(" by {name}"));
    view! {
        {outcome(reply)}
        <form
            class="panel"
            method="post"
            action=here
            aria-labelledby="terms-title"
            data-sent
        >
            <header>
                <h2 id="terms-title">{bid.terms.name.clone()}</h2>
                {rows::pending(bid, &detail.clock)}
                <div class="right">{acts}</div>
            </header>
            {asked}
            <div class="body why">
                <p class="strong">{bid_words::state(bid)}</p>
                {rows::retired(bid)}
                {to_win}
                {rank}
                {price}
            </div>
            <dl class="body terms">{terms(&bid.terms)}
                <dt>"Placed"</dt>
                <dd>{date_time(bid.placed_at)}{placed}</dd>
            </dl>
        </form>
    }
    .into_any()
}

fn terms(terms: &BidTerms) -> impl IntoView + use<> {
    let window = (terms.not_before.is_some() || terms.not_after.is_some())
        .then(|| view! { <dt>"Window"</dt> <dd>{rows::window(terms)}</dd> });
    let note = (!terms.note.is_empty())
        .then(|| view! { <dt>"Note"</dt> <dd class="note-text">{terms.note.clone()}</dd> });
    view! {
        <dt>"Asks for"</dt>
        <dd>{bid_words::asks(terms)}</dd>
        <dt>"Limit"</dt>
        <dd>{rows::limit(terms)}" "<span class="quiet">"local credits per chip-hour"</span></dd>
        <dt>"Work"</dt>
        <dd>{bid_words::work(terms.work_chip_seconds)}</dd>
        {window}
        {note}
    }
}

/// Stretches of cycles in which it got the same.
fn history(detail: &BidDetail, later: bool) -> impl IntoView + use<> {
    let path = format!("/bids/{}", detail.bid.id);
    let first =
        later.then(|| view! { <a class="button" href=path.clone()>{icon(Icon::Previous)}"Newest"</a> });
    let older = detail.next_cursor.as_deref().map(|cursor| {
        let href = address(&path, &[("cursor", Some(cursor))]);
        view! { <a class="button" rel="next" href=href>"Older"{icon(Icon::Next)}</a> }
    });
    let body = if detail.history.is_empty() {
        empty("It was in no cycle yet.", "Its first one appears here as soon as it has cleared.").into_any()
    } else {
        let rows = detail.history.iter().map(stretch).collect_view();
        view! {
            <table class="cards" role="table" data-rows aria-labelledby="stretches-title">
                <thead role="rowgroup">
                    <tr role="row">
                        <th scope="col" role="columnheader">"From cycle"</th>
                        <th scope="col" role="columnheader">"Began"</th>
                        <th scope="col" role="columnheader" class="num">"For"</th>
                        <th scope="col" role="columnheader" class="num">"Chips"</th>
                        <th scope="col" role="columnheader" class="num">"Idle chips for free"</th>
                        <th scope="col" role="columnheader" class="num">
                            "Price at its start"
                            <small>"local credits per chip-hour"</small>
                        </th>
                        <th scope="col" role="columnheader">"Why"</th>
                    </tr>
                </thead>
                <tbody role="rowgroup">{rows}</tbody>
            </table>
        }
        .into_any()
    };
    view! {
        <section class="panel" aria-labelledby="stretches-title">
            <header>
                <h2 id="stretches-title">"What it got"</h2>
                <span class="quiet">"stretches of cycles with the same result, newest first"</span>
            </header>
            {body}
        </section>
        <nav class="pages" aria-label="Pages of the history">{first}{older}</nav>
    }
}

fn stretch(stretch: &BidStretch) -> impl IntoView + use<> {
    let lasted = stretch.ends_at.map_or_else(
        || "until now".to_owned(),
        |end| format::duration((end.0 - stretch.starts_at.0) / common::instant::MICROS_PER_SECOND),
    );
    let chip_type = stretch.chip_type.as_ref().map(|id| format!(" · {id}"));
    view! {
        <tr role="row">
            <th scope="row" role="rowheader">
                <a class="row-link" data-row href=format!("/cycles/{}", stretch.first_cycle)>
                    {format::thousands(stretch.first_cycle)}
                </a>
            </th>
            <td role="cell" data-label="Began">{date_time(stretch.starts_at)}</td>
            <td role="cell" class="num" data-label="For">{lasted}</td>
            <td role="cell" class="num" data-label="Chips">{format::chips(stretch.chips)}{chip_type}</td>
            <td role="cell" class="num" data-label="Idle chips for free">
                {format::chips(stretch.opportunistic_chips)}
            </td>
            <td role="cell" class="num" data-label="Price at its start" data-unit="local credits per chip-hour">{format::price(stretch.local_price)}</td>
            <td role="cell" data-label="Why">{words::reason(stretch.reason)}</td>
        </tr>
    }
}
