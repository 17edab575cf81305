//! The demand curve of a chip type: who asks at which price, where it cleared, and the table behind it.

use common::api::{BookView, DepthLevel};
use common::chips::Chips;
use common::money::Price;
use leptos::prelude::*;

use super::problem::empty;
use crate::format;
use crate::svg::DepthCurve;

/// The curve with supply line and clearing point, or why there is none.
pub(crate) fn depth_figure(book: &BookView) -> impl IntoView + use<> {
    if book.levels.is_empty() {
        return empty("Nobody asks for this chip type.", "The curve appears with the first bid for it.")
            .into_any();
    }
    let curve = DepthCurve::new(&book.levels, book.supply, book.reference_price);
    let caption = curve.cut.then_some("Bids far above the market price count, but lie above the picture.");
    view! {
        <figure class="figure">
            {picture(book, &curve)}
            <figcaption class="legend-row">
                <ul class="legend">
                    <li class="key-accent">"chips asked for at or above each price"</li>
                    <li class="key-supply">"supply"</li>
                    <li class="key-point">"clearing point"</li>
                </ul>
                {caption.map(|text| view! { <p class="quiet">{text}</p> })}
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
        "Demand curve of {}: {} chips asked for at any price, {} supplied, {cleared}.",
        book.chip_type,
        format::chips(most),
        format::chips(book.supply)
    )
}

fn picture(book: &BookView, curve: &DepthCurve) -> impl IntoView + use<> {
    let bottom = DepthCurve::HEIGHT - DepthCurve::BOTTOM;
    let right = DepthCurve::WIDTH - DepthCurve::RIGHT;
    let prices = curve
        .price_ticks()
        .into_iter()
        .map(|price| {
            let y = curve.y(price);
            view! {
                <line class="grid" x1=DepthCurve::LEFT x2=right y1=y.clone() y2=y.clone() />
                <text x=DepthCurve::LEFT - 8 y=y dy="4" text-anchor="end">
                    {price.to_string()}
                </text>
            }
        })
        .collect_view();
    let chips = curve
        .chip_ticks()
        .into_iter()
        .map(|chips| {
            view! {
                <text x=curve.x(chips) y=bottom + 16 text-anchor="middle">
                    {format::chips(chips)}
                </text>
            }
        })
        .collect_view();
    view! {
        <svg
            class="depth"
            viewBox=format!("0 0 {} {}", DepthCurve::WIDTH, DepthCurve::HEIGHT)
            role="img"
            aria-label=summary(book)
        >
            {prices}
            {chips}
            <text x=DepthCurve::LEFT y="10" text-anchor="start">
                "credits per chip-hour"
            </text>
            <text x=right y=DepthCurve::HEIGHT - 3 text-anchor="end">
                "chips →"
            </text>
            <path class="area" d=curve.area.clone() />
            <path class="curve" d=curve.path.clone() />
            {supply_line(book.supply, curve)}
            {book.reference_price.map(|price| clearing_point(book, price, curve))}
        </svg>
    }
}

fn supply_line(supply: Chips, curve: &DepthCurve) -> impl IntoView + use<> {
    let x = curve.x(supply);
    view! {
        <line
            class="supply"
            x1=x.clone()
            x2=x
            y1=DepthCurve::TOP
            y2=DepthCurve::HEIGHT - DepthCurve::BOTTOM
        />
    }
}

/// Where demand met supply: what was asked at the clearing price, at most the supply.
fn clearing_point(book: &BookView, price: Price, curve: &DepthCurve) -> impl IntoView + use<> {
    let asked = book.levels.iter().filter(|level| level.price >= price).map(|level| level.cumulative).max();
    let at_price = asked.unwrap_or_default().min(book.supply);
    view! { <circle class="point" cx=curve.x(at_price) cy=curve.y(price) r="5" /> }
}

/// The levels behind the curve.
pub(crate) fn depth_table(levels: &[DepthLevel]) -> impl IntoView + use<> {
    let rows = levels
        .iter()
        .map(|level| {
            view! {
                <tr>
                    <td class="num">{level.price.to_string()}</td>
                    <td class="num">{format::chips(level.chips)}</td>
                    <td class="num">{format::chips(level.cumulative)}</td>
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
                    </tr>
                </thead>
                <tbody>{rows}</tbody>
            </table>
        </div>
    }
}
