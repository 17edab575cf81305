//! The market without and with a change, side by side: prices, chips and spend, and who gains or loses.

use common::api::{ComparedBid, Comparison, Sides};
use common::chips::Chips;
use common::money::{MicroCredits, Price};
use common::words::counted;
use leptos::prelude::*;

use super::super::names;
use super::super::organisation::{Cell, Listing, listed};
use crate::format;

/// A comparison as tables, with its gist in a sentence; the teams with the largest loss first.
#[must_use]
pub fn comparison(comparison: &Comparison) -> AnyView {
    let mut comparison = comparison.clone();
    comparison
        .teams
        .sort_by_key(|team| i128::from(team.chips_milli.after) - i128::from(team.chips_milli.before));
    in_this_order(&comparison)
}

/// The same with the teams in their order.
pub(super) fn in_this_order(comparison: &Comparison) -> AnyView {
    let losing = (!comparison.losing.is_empty()).then(|| listed(bids(comparison)));
    let pools = (!comparison.pools.is_empty()).then(|| listed(local_prices(comparison)));
    view! {
        <div class="sections">
            <section class="panel" aria-label="In short">
                <div class="body">
                    <p>{gist(comparison)}</p>
                    <p class="quiet">{basis(comparison)}</p>
                </div>
            </section>
            {listed(chip_types(comparison))}
            {listed(teams(comparison))}
            {losing}
            {pools}
        </div>
    }
    .into_any()
}

/// What the comparison says, in a sentence.
fn gist(comparison: &Comparison) -> String {
    let prices = comparison.chip_types.iter().filter(|row| row.reference_price.differs()).count();
    let moved = |lost: bool| {
        let teams = comparison.teams.iter();
        teams
            .filter(|team| {
                (team.chips_milli.after < team.chips_milli.before) == lost && team.chips_milli.differs()
            })
            .count()
    };
    let mut text = format!(
        "{prices} of {} prices change; {} fewer chips, {} more",
        comparison.chip_types.len(),
        have(moved(true), "team"),
        have(moved(false), "team")
    );
    if comparison.cleared == 1 {
        let counts = [(comparison.losing_bids, "fewer"), (comparison.gaining_bids, "more")];
        for (bids, than) in counts {
            let bids = usize::try_from(bids).unwrap_or(usize::MAX);
            text.push_str(&format!("; {} {than} chips", have(bids, "bid")));
        }
    }
    text.push('.');
    text
}

/// How many have something: "1 team has", "3 bids have".
fn have(count: usize, what: &str) -> String {
    if count == 1 {
        return format!("1 {what} has");
    }
    format!("{} {what}s have", format::thousands(count as u64))
}

/// On what it was computed, and what it assumes.
fn basis(comparison: &Comparison) -> String {
    let assumes = "All bids stay as they were, also where a price would have made somebody bid otherwise";
    if comparison.cleared == 1 {
        return format!(
            "Cycle {} cleared without and with the change. {assumes}; a bid that can use other chip types moves to one \
             that became cheaper within the next cycles.",
            format::thousands(comparison.last_cycle)
        );
    }
    format!(
        "{}, {} to {}, each cleared without and with the change; the figures are averages in which each cycle \
         counts alike. {assumes}, and balances and last prices are those of the time.",
        counted(comparison.cleared, "cycle"),
        format::thousands(comparison.first_cycle),
        format::thousands(comparison.last_cycle)
    )
}

/// Thousandths of chips; whole ones without decimals.
fn chips(milli: u64) -> String {
    if milli.is_multiple_of(1_000) { format::chips(Chips(milli / 1_000)) } else { format::milli(milli) }
}

/// Two cells, without and with the change.
fn two<T>(sides: Sides<T>, text: impl Fn(T) -> String) -> [Cell; 2] {
    let Sides { before, after } = sides.map(text);
    [Cell::Number(before), Cell::Number(after)]
}

fn price(price: Option<Price>) -> String {
    format::price(price)
}

/// The difference of two whole numbers, with its sign.
fn signed(before: i128, after: i128, text: impl Fn(u64) -> String) -> String {
    let size = text(u64::try_from((after - before).unsigned_abs()).unwrap_or(u64::MAX));
    match after.cmp(&before) {
        std::cmp::Ordering::Equal => "0".to_owned(),
        std::cmp::Ordering::Greater => format!("+{size}"),
        std::cmp::Ordering::Less => format!("\u{2212}{size}"),
    }
}

fn chip_types(comparison: &Comparison) -> Listing {
    let rows = comparison.chip_types.iter().map(|row| {
        let mut cells = vec![Cell::Text(names::chip_type(&row.chip_type))];
        cells.extend(two(row.supply_milli, chips));
        cells.extend(two(row.reference_price, price));
        cells.extend(two(row.granted_milli, chips));
        cells.push(Cell::Number(chips(row.asked_milli.before)));
        cells
    });
    Listing {
        caption: "Chip types".to_owned(),
        columns: vec![
            ("Chip type", "", false),
            ("Supply", "chips", true),
            ("Supply then", "chips", true),
            ("Price", "global credits per chip-hour", true),
            ("Price then", "global credits per chip-hour", true),
            ("Granted", "chips", true),
            ("Granted then", "chips", true),
            ("Asked for", "chips", true),
        ],
        rows: rows.collect(),
        empty: "There is no chip type.",
    }
}

fn teams(comparison: &Comparison) -> Listing {
    let rows = comparison.teams.iter().map(|row| {
        let (before, after) = (row.chips_milli.before, row.chips_milli.after);
        let mut cells = vec![Cell::Text(row.name.clone()), Cell::Text(names::pool(&row.pool))];
        cells.extend(two(row.chips_milli, chips));
        cells.push(Cell::Number(signed(before.into(), after.into(), chips)));
        cells.extend(two(row.spend, format::amount));
        let spend = row.spend;
        let amount = |micros: u64| format::amount(MicroCredits(micros.cast_signed()));
        cells.push(Cell::Number(signed(spend.before.0.into(), spend.after.0.into(), amount)));
        cells
    });
    Listing {
        caption: "Teams".to_owned(),
        columns: vec![
            ("Team", "", false),
            ("Pool", "", false),
            ("Chips", "in use", true),
            ("Chips then", "in use", true),
            ("Difference", "chips", true),
            ("Spend", "local credits per hour", true),
            ("Spend then", "local credits per hour", true),
            ("Difference", "credits per hour", true),
        ],
        rows: rows.collect(),
        empty: "No team asks for chips.",
    }
}

fn bids(comparison: &Comparison) -> Listing {
    let team_name = |bid: &ComparedBid| {
        let team = comparison.teams.iter().find(|team| team.team == bid.team);
        team.map_or_else(|| names::team(&bid.team), |team| team.name.clone())
    };
    let rows = comparison.losing.iter().map(|row| {
        let name = if row.name.is_empty() { row.bid.to_string() } else { row.name.clone() };
        let mut cells =
            vec![Cell::Text(name), Cell::Text(team_name(row)), Cell::Text(names::chip_type(&row.chip_type))];
        cells.extend(two(row.chips, format::chips));
        cells.push(Cell::Text(crate::words::reason(row.reason).to_owned()));
        cells
    });
    Listing {
        caption: "Bids that lose chips".to_owned(),
        columns: vec![
            ("Bid", "", false),
            ("Team", "", false),
            ("Chip type", "", false),
            ("Chips", "", true),
            ("Chips then", "", true),
            ("Why", "", false),
        ],
        rows: rows.collect(),
        empty: "",
    }
}

fn local_prices(comparison: &Comparison) -> Listing {
    let rows = comparison.pools.iter().map(|row| {
        let mut cells =
            vec![Cell::Text(names::pool(&row.pool)), Cell::Text(names::chip_type(&row.chip_type))];
        cells.extend(two(row.local_price, price));
        cells
    });
    Listing {
        caption: "Prices of pools that change".to_owned(),
        columns: vec![
            ("Pool", "", false),
            ("Chip type", "", false),
            ("Price", "local credits per chip-hour", true),
            ("Price then", "local credits per chip-hour", true),
        ],
        rows: rows.collect(),
        empty: "",
    }
}
