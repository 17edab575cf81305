//! Data of the interactive charts, as the JSON that the `<qm-chart>` element draws.
//!
//! Values stay integers (micro-credits, thousandths of chips) with a divisor beside them; only the browser's canvas
//! turns them into pixels.

use common::api::{AllocationsView, PriceHistory};
use common::instant::{Instant, MICROS_PER_SECOND};
use common::money::MICROS_PER_CREDIT;
use serde::Serialize;

/// Series drawn in their own colour; the rest joins "others".
pub(crate) const MOST_SERIES: usize = 7;

/// One chart.
#[derive(Debug, PartialEq, Eq, Serialize)]
struct Chart<'a> {
    /// `line` or `stack`.
    kind: &'static str,
    /// Unit of the values, in words.
    unit: &'static str,
    /// Values are divided by this.
    divisor: i64,
    /// Start of each step, in seconds since 1970.
    x: Vec<i64>,
    /// Lines or layers.
    series: Vec<Series<'a>>,
    /// Vertical marks.
    marks: Vec<Mark>,
}

/// One line, or one layer of a stack.
#[derive(Debug, PartialEq, Eq, Serialize)]
struct Series<'a> {
    label: &'a str,
    /// Name of the design token that colours it, without the dashes.
    color: &'a str,
    /// Drawn as a line over the stack.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    over: bool,
    y: Vec<Option<u64>>,
}

/// A vertical mark on the time axis.
#[derive(Debug, PartialEq, Eq, Serialize)]
struct Mark {
    x: i64,
    label: String,
}

fn seconds(at: Instant) -> i64 {
    at.0.div_euclid(MICROS_PER_SECOND)
}

/// Plain data cannot fail to become JSON; an empty chart shows itself as such.
fn json(chart: &Chart<'_>) -> String {
    serde_json::to_string(chart).unwrap_or_default()
}

/// The prices of a history, with the changes of supply as marks. With a pool, its own price comes first.
pub(crate) fn price_chart(history: &PriceHistory) -> String {
    let prices = |price: fn(&common::api::PricePoint) -> Option<common::money::Price>| {
        history.points.iter().map(|point| price(point).map(|price| price.0)).collect()
    };
    let market = Series {
        label: "Market price",
        color: "accent",
        over: false,
        y: prices(|point| point.reference_price),
    };
    let mut series = vec![market];
    if history.pool.is_some() {
        let own = prices(|point| point.local_price);
        series.push(Series { label: "Your price", color: "mine", over: false, y: own });
    }
    if history.step_seconds > 0 {
        series.push(Series { label: "Lowest", color: "band", over: false, y: prices(|point| point.low) });
        series.push(Series { label: "Highest", color: "band", over: false, y: prices(|point| point.high) });
    }
    let marks = history
        .supply_changes
        .iter()
        .map(|change| Mark { x: seconds(change.at), label: supply_change(change.before.0, change.after.0) })
        .collect();
    json(&Chart {
        kind: "line",
        unit: "credits per chip-hour",
        divisor: MICROS_PER_CREDIT,
        x: history.points.iter().map(|point| seconds(point.at)).collect(),
        series,
        marks,
    })
}

/// A change of supply as a label: "+512 chips".
pub(crate) fn supply_change(before: u64, after: u64) -> String {
    let sign = if after >= before { '+' } else { '\u{2212}' };
    format!("{sign}{} chips", crate::format::thousands(after.abs_diff(before)))
}

/// Which of the two amounts a stack shows.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum Measure {
    /// Chips used and paid for.
    #[default]
    Used,
    /// Chips granted: the quota.
    Granted,
}

impl Measure {
    /// All measures.
    pub(crate) const ALL: [Self; 2] = [Self::Used, Self::Granted];

    /// As it stands in an address.
    pub(crate) const fn as_str(self) -> &'static str {
        match self {
            Self::Used => "used",
            Self::Granted => "granted",
        }
    }
}

/// Name of the token that colours layer `index`.
pub(crate) const fn layer_color(index: usize) -> &'static str {
    const COLORS: [&str; MOST_SERIES] = ["s1", "s2", "s3", "s4", "s5", "s6", "s7"];
    if index < MOST_SERIES { COLORS[index] } else { "s8" }
}

/// How many series have a colour of their own: all, when "others" would be a single one.
pub(crate) const fn own_layers(series: usize) -> usize {
    if series <= MOST_SERIES + 1 { series } else { MOST_SERIES }
}

/// The stack of allocations, with the supply and the sum of the other measure as lines over it.
pub(crate) fn allocation_chart(view: &AllocationsView, measure: Measure) -> String {
    let own = own_layers(view.series.len());
    let steps = view.steps.len();
    let sum = |series: &[common::api::AllocationSeries], measure: Measure| -> Vec<Option<u64>> {
        (0..steps)
            .map(|step| {
                let values = series.iter().filter_map(|one| {
                    let values = match measure {
                        Measure::Used => &one.used_milli,
                        Measure::Granted => &one.granted_milli,
                    };
                    values.get(step)
                });
                Some(values.fold(0_u64, |sum, value| sum.saturating_add(*value)))
            })
            .collect()
    };
    let mut series: Vec<Series<'_>> = view.series[..own]
        .iter()
        .enumerate()
        .map(|(index, one)| Series {
            label: &one.name,
            color: layer_color(index),
            over: false,
            y: sum(std::slice::from_ref(one), measure),
        })
        .collect();
    if own < view.series.len() {
        let rest = sum(&view.series[own..], measure);
        series.push(Series { label: "Others", color: layer_color(own), over: false, y: rest });
    }
    let (label, other) = match measure {
        Measure::Used => ("Granted, all", Measure::Granted),
        Measure::Granted => ("Used, all", Measure::Used),
    };
    series.push(Series { label, color: "mine", over: true, y: sum(&view.series, other) });
    let supply = view.supply_milli.iter().copied().map(Some).collect();
    series.push(Series { label: "Supply", color: "supply", over: true, y: supply });
    json(&Chart {
        kind: "stack",
        unit: "chips",
        divisor: 1_000,
        x: view.steps.iter().map(|at| seconds(*at)).collect(),
        series,
        marks: Vec::new(),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_change_of_supply_is_signed() {
        assert_eq!(supply_change(1_000, 2_512), "+1,512 chips");
        assert_eq!(supply_change(512, 0), "−512 chips");
    }

    #[test]
    fn others_join_at_least_two() {
        assert_eq!(own_layers(3), 3);
        assert_eq!(own_layers(8), 8);
        assert_eq!(own_layers(9), 7);
        assert_eq!((layer_color(0), layer_color(6), layer_color(7)), ("s1", "s7", "s8"));
    }
}
