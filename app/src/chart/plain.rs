//! The charts of pages that only the server renders.

use common::api::{BudgetHistory, BudgetPoint, SpendView, SupplyHistory};
use common::ids::PoolId;
use common::money::MICROS_PER_CREDIT;

use super::{Chart, Kind, Mark, Series, json, layer_color, own_layers, seconds, supply_change};

/// A team's balance and what it spent in each step. A balance below zero is drawn at zero.
pub(crate) fn budget_chart(history: &BudgetHistory) -> String {
    let points = &history.points;
    let line = |label, color, value: fn(&BudgetPoint) -> i64| Series {
        label,
        color,
        over: false,
        y: points.iter().map(|point| Some(value(point).max(0).unsigned_abs())).collect(),
    };
    json(&Chart {
        kind: Kind::Line,
        unit: "credits",
        divisor: MICROS_PER_CREDIT,
        x: points.iter().map(|point| seconds(point.at)).collect(),
        series: vec![
            line("Balance", "accent", |point| point.balance.0),
            line("Spent", "mine", |point| point.spent.0),
        ],
        marks: Vec::new(),
        own: Vec::new(),
        point: None,
    })
}

/// The chips of a type over time, shared ones at the bottom and each pool's on top, with each change marked.
pub(crate) fn supply_chart(history: &SupplyHistory) -> String {
    let mut x: Vec<i64> = history.changes.iter().map(|level| seconds(level.at)).collect();
    x.push(seconds(history.to));
    x.dedup();
    let mut hands: Vec<Option<&PoolId>> = history.changes.iter().map(|level| level.pool.as_ref()).collect();
    hands.sort_unstable();
    hands.dedup();
    let own = own_layers(hands.len());
    let level_at = |hand: Option<&PoolId>, at: i64| {
        let mut levels = history.changes.iter().rev();
        let level = levels.find(|level| level.pool.as_ref() == hand && seconds(level.at) <= at);
        level.map_or(0, |level| level.after.0)
    };
    let layer = |hands: &[Option<&PoolId>]| -> Vec<Option<u64>> {
        x.iter().map(|at| Some(hands.iter().map(|hand| level_at(*hand, *at)).sum())).collect()
    };
    let label =
        |hand: &Option<&'_ PoolId>| hand.map_or_else(|| "Shared".to_owned(), crate::plain::names::pool);
    let labels: Vec<String> = hands.iter().map(label).collect();
    let mut series: Vec<Series<'_>> = labels[..own]
        .iter()
        .enumerate()
        .map(|(index, label)| Series {
            label,
            color: layer_color(index),
            over: false,
            y: layer(&hands[index..=index]),
        })
        .collect();
    if own < hands.len() {
        series.push(Series {
            label: "Others",
            color: layer_color(own),
            over: false,
            y: layer(&hands[own..]),
        });
    }
    // The first level is where the history begins, not a change.
    let first = history.changes.first().map(|level| level.cycle);
    let marks = history.changes.iter().filter(|level| Some(level.cycle) != first);
    let marks = marks
        .map(|level| Mark { x: seconds(level.at), label: supply_change(level.before.0, level.after.0) })
        .collect();
    json(&Chart {
        kind: Kind::Stack,
        unit: "chips",
        divisor: 1,
        x,
        series,
        marks,
        point: None,
        own: Vec::new(),
    })
}

/// Spend by day in global credits, a layer for each of the dearest rows. What was paid back is drawn as nothing. A step is drawn
/// up to where the next one begins, so that the last day is said again at its end.
pub(crate) fn spend_chart(view: &SpendView) -> String {
    let layers = view.series.iter().enumerate().map(|(place, series)| Series {
        label: &series.name,
        color: layer_color(place),
        over: false,
        y: series
            .global_cost
            .iter()
            .chain(series.global_cost.last())
            .map(|cost| Some(cost.0.max(0).unsigned_abs()))
            .collect(),
    });
    json(&Chart {
        kind: Kind::Stack,
        unit: "global credits",
        divisor: MICROS_PER_CREDIT,
        x: view
            .days
            .iter()
            .map(|day| day.starts_at)
            .chain(view.days.last().map(|day| day.ends_at))
            .map(seconds)
            .collect(),
        series: layers.collect(),
        marks: Vec::new(),
        own: Vec::new(),
        point: None,
    })
}
