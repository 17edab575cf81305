//! The bids of a cycle: what each asked for, what it got, and why, in words.

use common::api::{ChipTypeRow, CycleBid, CycleView, Reason};
use common::ids::TeamId;
use leptos::prelude::*;

use super::chooser::{Choosable, Chooser, chooser};
use super::problem::empty;
use super::switch::csv;
use crate::format;
use crate::words;

/// The way to a new bid for a chip type, which a short text leaves to the heading beside it.
pub(crate) fn bid_for(chip_type: &ChipTypeRow, short: bool) -> impl IntoView + use<> {
    let href = words::address("/bids/new", &[("chip", Some(chip_type.chip_type.as_str()))]);
    let whole = format!("Bid for {}", chip_type.name);
    let (text, label) = if short { ("Bid".to_owned(), Some(whole)) } else { (whole, None) };
    view! { <a class="button" href=href aria-label=label>{text}</a> }
}

/// All bids that came with the cycle, by team and queue position.
pub(crate) fn bids_panel(cycle: &CycleView, team: Option<&TeamId>) -> impl IntoView + use<> {
    let number = cycle.summary.cycle;
    let path = format!("/cycles/{number}");
    let filter = chooser(Chooser {
        label: "Team",
        name: "team",
        none: "All teams",
        values: cycle
            .teams
            .iter()
            .filter(|team| team.shows_bids)
            .map(|team| Choosable { value: team.team.to_string(), text: team.name.clone() })
            .collect(),
        chosen: team.map(ToString::to_string),
        path: path.clone(),
        keep: Vec::new(),
    });
    let csv_href = words::address(
        &format!("/api/v1{path}"),
        &[("team", team.map(TeamId::as_str)), ("format", Some("csv"))],
    );
    let sealed = !cycle.teams.is_empty() && !cycle.teams.iter().any(|team| team.shows_bids);
    let body = if sealed {
        empty(
            "Single bids are sealed.",
            "A team reads its own; admins and auditors read all, and each look is noted.",
        )
        .into_any()
    } else if cycle.bids.is_empty() {
        empty("No live bids.", "Choose another team, or look at another cycle.").into_any()
    } else {
        table(cycle).into_any()
    };
    let left_out = (cycle.bids_left_out > 0).then(|| {
        let count = format::thousands(cycle.bids_left_out);
        view! { <p class="body quiet">{format!("{count} more bids are not shown. Choose a team to see its own.")}</p> }
    });
    view! {
        <section class="panel" aria-labelledby="bids-title">
            <header>
                <h2 id="bids-title">"Bids"</h2>
                <span class="quiet">"in order of team and queue"</span>
                <div class="right">{csv(csv_href, "Bids")}{filter}</div>
            </header>
            {body}
            {left_out}
        </section>
    }
}

fn table(cycle: &CycleView) -> impl IntoView + use<> {
    let rows = cycle
        .bids
        .iter()
        .map(|bid| {
            let team = cycle.teams.iter().find(|team| team.team == bid.team);
            row(bid, team.map_or_else(|| bid.team.to_string(), |team| team.name.clone()))
        })
        .collect_view();
    view! {
        <table class="cards bids" role="table" data-sortable="bids" aria-labelledby="bids-title">
            <thead role="rowgroup">
                <tr role="row">
                    <th scope="col" role="columnheader">"Bid"</th>
                    <th scope="col" role="columnheader">"Team"<small>"place in queue"</small></th>
                    <th scope="col" role="columnheader" class="num">"Asked"<small>"chips"</small></th>
                    <th scope="col" role="columnheader">"Got"<small>"chips"</small></th>
                    <th scope="col" role="columnheader" class="num">
                        "Limit"
                        <small>"local credits per chip-hour"</small>
                    </th>
                    <th scope="col" role="columnheader" class="num">
                        "Price"
                        <small>"local credits per chip-hour"</small>
                    </th>
                    <th scope="col" role="columnheader">"Why"</th>
                </tr>
            </thead>
            <tbody role="rowgroup">{rows}</tbody>
        </table>
    }
}

fn row(bid: &CycleBid, team: String) -> impl IntoView + use<> {
    let class = match bid.reason {
        Reason::Filled => "tag ok",
        Reason::PartlyFilled => "tag part",
        _ => "tag",
    };
    let chip_type = bid.chip_type.as_ref().map_or_else(String::new, |chip_type| format!(" · {chip_type}"));
    let got = format!("{} of {}{chip_type}", format::chips(bid.chips), format::chips(bid.asked));
    let minimum = (bid.min_chips < bid.asked).then(
        || view! { <small class="quiet">{format!("at least {}", format::chips(bid.min_chips))}</small> },
    );
    let limit = bid.limit.map_or_else(|| "no limit".to_owned(), |limit| limit.to_string());
    view! {
        <tr role="row">
            <th scope="row" role="rowheader">
                <a href=words::address(&format!("/bids/{}", bid.bid), &[])>{bid.name.clone()}</a>
                <small class="quiet id">{bid.bid.to_string()}</small>
            </th>
            <td role="cell" data-label="Team">{team}" "<small class="quiet">{format!("№ {}", bid.place)}</small></td>
            <td role="cell" class="num" data-label="Asked" data-unit="chips">{format::chips(bid.asked)}" "{minimum}</td>
            <td role="cell" data-label="Got" data-value=bid.chips.0.to_string()><span class=class>{got}</span></td>
            <td role="cell" class="num" data-label="Limit" data-unit="local credits per chip-hour">{limit}</td>
            <td role="cell" class="num" data-label="Price" data-unit="local credits per chip-hour">{format::price(bid.local_price)}</td>
            <td role="cell" class="wide-cell" data-label="Why">
                <span class="reason">
                    <b>{words::reason(bid.reason)}</b>
                    <span>{bid.explanation.clone()}</span>
                </span>
            </td>
        </tr>
    }
}
