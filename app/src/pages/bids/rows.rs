//! The rows of a list of bids: a queue's, and those of bids that are over.

use common::api::{BidStatus, BidTerms, BidView, MarketClock};
use common::ids::TeamId;
use leptos::prelude::*;

use super::wanted::FIRST;
use super::words;
use crate::components::icon::{Icon, icon};
use crate::components::time::{date_time, time_of_day};
use crate::format;
use crate::words::address;

/// What all rows of a list have in common.
#[derive(Clone)]
pub(super) struct Rows {
    /// The team.
    pub(super) team: TeamId,
    /// The viewer may change its bids.
    pub(super) may_bid: bool,
    /// The clock of the market.
    pub(super) clock: MarketClock,
}

/// A bid in the queue.
pub(super) fn open_row(rows: &Rows, bid: &BidView) -> AnyView {
    let name = &bid.terms.name;
    let pick = rows.may_bid.then(|| {
        view! {
            <input type="checkbox" name="bid" value=bid.id.to_string() aria-label=format!("Choose {name}") />
            <button
                type="button"
                class="handle scripted"
                data-move
                data-name=name.clone()
                value=bid.id.to_string()
                aria-label=format!("Move {name}")
                aria-describedby="move-help"
            >
                {icon(Icon::Grip)}
            </button>
        }
    });
    let place = bid.place.map_or_else(|| format::NONE.to_owned(), format::thousands);
    let (class, chips) = words::chips_tag(bid);
    let free = bid.now.as_ref().map_or(0, |now| now.opportunistic_chips.0);
    let free = (free > 0).then(|| {
        view! { <small class="quiet">{format!("+ {} idle for free", format::thousands(free))}</small> }
    });
    let state = words::state(bid);
    view! {
        <tr role="row" id=format!("bid-{}", bid.id) class:paused=bid.status == BidStatus::Paused>
            <td role="cell" class="pick" data-label="Place"><span class="picks">{pick}<b data-place>{place}</b></span></td>
            <th scope="row" role="rowheader">
                {name_link(bid)}
                <small class="quiet">{words::asks(&bid.terms)}</small>
                {window(&bid.terms)}
            </th>
            <td role="cell" data-label="Chips now"><span class="stack"><span class=class>{chips}</span>{free}</span></td>
            <td role="cell" class="num" data-label="Limit" data-unit="credits per chip-hour">{limit(&bid.terms)}</td>
            <td role="cell" class="wide-cell why" data-label="Now">
                <span class="stack"><span>{state}</span>{retired(bid)}{pending(bid, &rows.clock)}</span>
            </td>
            <td role="cell" class="num" data-label="Cost so far" data-unit="credits">{format::amount(bid.cost)}</td>
            <td role="cell" class="num" data-label="Time left">{left(bid)}</td>
            <td role="cell" class="acts">{rows.may_bid.then(|| acts(rows, bid))}</td>
        </tr>
    }
    .into_any()
}

/// A bid that is over.
pub(super) fn ended_row(rows: &Rows, bid: &BidView) -> AnyView {
    let (class, text) = words::chips_tag(bid);
    view! {
        <tr role="row" id=format!("bid-{}", bid.id)>
            <th scope="row" role="rowheader">
                {name_link(bid)}
                <small class="quiet">{words::asks(&bid.terms)}</small>
            </th>
            <td role="cell" data-label="Ended"><span class=class>{text}</span></td>
            <td role="cell" data-label="At">{bid.ended_at.map(date_time)}</td>
            <td role="cell" class="num" data-label="Limit" data-unit="credits per chip-hour">{limit(&bid.terms)}</td>
            <td role="cell" class="num" data-label="Work done">{words::chip_hours(bid.done_chip_seconds)}</td>
            <td role="cell" class="num" data-label="Cost" data-unit="credits">{format::amount(bid.cost)}</td>
            <td role="cell" class="acts">
                <span class="buttons">{rows.may_bid.then(|| duplicate(&rows.team, bid))}</span>
            </td>
        </tr>
    }
    .into_any()
}

fn name_link(bid: &BidView) -> impl IntoView + use<> {
    view! {
        <a class="row-link" data-row href=address(&format!("/bids/{}", bid.id), &[])>
            {bid.terms.name.clone()}
        </a>
    }
}

/// The limit as it stands in a cell.
pub(super) fn limit(terms: &BidTerms) -> String {
    terms.limit.price().map_or_else(|| "no limit".to_owned(), |price| price.to_string())
}

/// When a bid takes part, where that is not always.
pub(super) fn window(terms: &BidTerms) -> AnyView {
    let from = terms.not_before.map(|at| view! { "from "{date_time(at)}" " });
    let to = terms.not_after.map(|at| view! { "until "{date_time(at)} });
    if from.is_none() && to.is_none() {
        return ().into_any();
    }
    view! { <small class="quiet">{from}{to}</small> }.into_any()
}

/// Says that what stands in the row waits for the next cycle.
pub(super) fn pending(bid: &BidView, clock: &MarketClock) -> AnyView {
    if !bid.pending {
        return ().into_any();
    }
    view! {
        <small class="pending">"takes effect in the next cycle ("{time_of_day(clock.next_at)}")"</small>
    }
    .into_any()
}

/// Says where a chip type that it names is retired.
pub(super) fn retired(bid: &BidView) -> AnyView {
    words::retired(bid).map(|text| view! { <small class="pending">{text}</small> }).into_any()
}

/// How long a bid still takes on the chips it has; else how much work is left.
pub(super) fn left(bid: &BidView) -> String {
    if let Some(seconds) = bid.left_seconds {
        return format::duration(i64::try_from(seconds).unwrap_or(i64::MAX));
    }
    bid.terms.work_chip_seconds.map_or_else(
        || format::NONE.to_owned(),
        |work| words::chip_hours(work.saturating_sub(bid.done_chip_seconds)),
    )
}

/// The buttons of a bid. Each says whose bid it means.
pub(super) fn acts(rows: &Rows, bid: &BidView) -> AnyView {
    let name = &bid.terms.name;
    let toggle = match bid.status {
        BidStatus::Paused => button("resume", "Resume", Icon::Resume, bid),
        _ => button("pause", "Pause", Icon::Pause, bid),
    };
    view! {
        <span class="buttons">
            <a class="tool" href=format!("/bids/{}?edit=yes", bid.id) title="Edit" aria-label=format!("Edit {name}")>
                {icon(Icon::Edit)}
                <span>"Edit"</span>
            </a>
            {duplicate(&rows.team, bid)}
            {(bid.place != Some(1)).then(|| button(FIRST, "Put first", Icon::Up, bid))}
            {toggle}
            {button("cancel", "Cancel", Icon::End, bid)}
        </span>
    }
    .into_any()
}

fn button(name: &'static str, text: &'static str, picture: Icon, bid: &BidView) -> AnyView {
    view! {
        <button
            class="tool"
            type="submit"
            name=name
            value=bid.id.to_string()
            title=text
            aria-label=format!("{text} {}", bid.terms.name)
        >
            {icon(picture)}
            <span>{text}</span>
        </button>
    }
    .into_any()
}

fn duplicate(team: &TeamId, bid: &BidView) -> AnyView {
    let href = address("/bids/new", &[("team", Some(team.as_str())), ("from", Some(bid.id.as_str()))]);
    view! {
        <a class="tool" href=href title="Duplicate" aria-label=format!("Duplicate {}", bid.terms.name)>
            {icon(Icon::Copy)}
            <span>"Duplicate"</span>
        </a>
    }
    .into_any()
}
