//! Small facts about a chip type: its change, its occupancy, its last day.

use common::api::Occupancy;
use common::chips::Chips;
use common::money::Price;
use leptos::prelude::*;

use crate::format::{self, Direction};
use crate::svg;

/// A change of price: sign, arrow and colour say the same.
pub(crate) fn change(now: Option<Price>, before: Option<Price>) -> impl IntoView {
    let change = format::change(now, before);
    let (class, arrow) = match change.direction {
        Direction::Up => ("change up", "▲"),
        Direction::Down => ("change down", "▼"),
        Direction::Level => ("change quiet", ""),
    };
    view! {
        <span class=class>
            <span aria-hidden="true">{arrow}</span>
            {change.text}
        </span>
    }
}

/// By what lists sort occupancies: thousandths of the supply that are paid for; none without supply.
pub(crate) fn paid_share(use_of: &Occupancy) -> Option<String> {
    let thousandths = u128::from(use_of.paid.0) * 1_000;
    thousandths.checked_div(u128::from(use_of.supply.0)).map(|share| share.to_string())
}

/// Paid, opportunistic and idle as a bar with the words beside it.
pub(crate) fn occupancy(use_of: &Occupancy) -> impl IntoView + use<> {
    // Widths in thousandths of the bar.
    let width = |part: Chips| {
        let share = u128::from(part.0) * 1_000 / u128::from(use_of.supply.0.max(1));
        share.min(1_000).to_string()
    };
    let (paid, free) = (width(use_of.paid), width(use_of.opportunistic));
    view! {
        <span class="occupancy">
            <svg class="bar-of-use" viewBox="0 0 1000 8" preserveAspectRatio="none" aria-hidden="true">
                <rect class="idle" width="1000" height="8" />
                <rect class="paid" width=paid.clone() height="8" />
                <rect class="opportunistic" x=paid width=free height="8" />
            </svg>
            <span class="quiet">{format::occupancy(use_of)}</span>
        </span>
    }
}

/// What the colours of an occupancy bar mean.
pub(crate) fn occupancy_legend() -> impl IntoView {
    view! {
        <ul class="legend" aria-label="Occupancy">
            <li class="key-paid">"paid"</li>
            <li class="key-opportunistic">"opportunistic, for free"</li>
            <li class="key-idle">"idle"</li>
        </ul>
    }
}

/// The prices of the last day in a small picture.
pub(crate) fn sparkline(name: &str, prices: &[Option<Price>]) -> impl IntoView + use<> {
    let known = || prices.iter().flatten();
    let label = match (known().min(), known().max()) {
        (Some(low), Some(high)) => format!("{name}, last 24 hours: {low} to {high} credits per chip-hour"),
        _ => format!("{name}, last 24 hours: no trade"),
    };
    let (width, height) = svg::SPARK;
    view! {
        <svg
            class="spark"
            viewBox=format!("0 0 {width} {height}")
            width=width.to_string()
            height=height.to_string()
            role="img"
            aria-label=label
        >
            <path d=svg::sparkline(prices) />
        </svg>
    }
}
