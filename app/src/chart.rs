//! Data of the interactive charts, as the JSON that the `<qm-chart>` element draws.
//!
//! Values stay integers (micro-credits, thousandths of chips) with a divisor beside them; only the browser's canvas
//! turns them into pixels.

#[cfg(feature = "ssr")]
mod plain;

use common::api::{AllocationsView, BookView, DepthLevel, PriceHistory};
use common::instant::{Instant, MICROS_PER_SECOND};
use common::money::{MICROS_PER_CREDIT, Price};
use common::words::counted;
use serde::Serialize;

use crate::data::OwnLimit;

#[cfg(feature = "ssr")]
pub(crate) use plain::{budget_chart, spend_chart, supply_chart};

/// Series drawn in their own colour; the rest joins "others".
pub(crate) const MOST_SERIES: usize = 7;

/// What the horizontal axis and the series mean.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
enum Kind {
    /// Lines over time.
    Line,
    /// Layers over time, each on top of the one before.
    Stack,
    /// A price over the chips asked for at it or above.
    Depth,
}

/// One chart.
#[derive(Debug, PartialEq, Eq, Serialize)]
struct Chart<'a> {
    kind: Kind,
    /// Unit of the values, in words.
    unit: &'static str,
    /// Values are divided by this.
    divisor: i64,
    /// Start of each step in seconds since 1970, or chips.
    x: Vec<i64>,
    /// Lines or layers.
    series: Vec<Series<'a>>,
    /// Vertical marks.
    marks: Vec<Mark>,
    /// Where demand met supply.
    #[serde(skip_serializing_if = "Option::is_none")]
    point: Option<Point>,
    /// Limits of the viewer's own bids.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    own: Vec<Own<'a>>,
}

/// The limit of a bid: a level line over time, a point on the curve of demand.
#[derive(Debug, PartialEq, Eq, Serialize)]
struct Own<'a> {
    /// Chips asked for at it or above; 0 over time.
    x: i64,
    y: u64,
    label: &'a str,
}

/// A point of its own.
#[derive(Debug, PartialEq, Eq, Serialize)]
struct Point {
    x: i64,
    y: u64,
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

/// A vertical mark on the horizontal axis.
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

/// The prices of a history, with the changes of supply as marks and the viewer's own limits as level lines. With a pool,
/// its own price comes first.
pub(crate) fn price_chart(history: &PriceHistory, limits: &[OwnLimit]) -> String {
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
        kind: Kind::Line,
        unit: "credits per chip-hour",
        divisor: MICROS_PER_CREDIT,
        x: history.points.iter().map(|point| seconds(point.at)).collect(),
        series,
        marks,
        point: None,
        own: limits.iter().map(|own| Own { x: 0, y: own.limit.0, label: &own.name }).collect(),
    })
}

/// How many times the market price the curve of demand reaches up. A few bids without a sensible limit would flatten
/// all others.
const DEPTH_REACH: u64 = 3;

/// Whether bids lie above the part of the curve that [`depth_chart`] shows.
pub(crate) fn depth_is_cut(book: &BookView) -> bool {
    let reach = depth_reach(book);
    book.levels.iter().any(|level| level.price.0 > reach)
}

/// Highest price that the curve of demand shows, in micro-credits.
fn depth_reach(book: &BookView) -> u64 {
    match book.reference_price {
        Some(price) if price.0 > 0 => price.0.saturating_mul(DEPTH_REACH),
        _ => u64::MAX,
    }
}

/// The curve of demand: price over the chips asked for at it or above, with the supply, the clearing point and the
/// viewer's own bids, in global credits.
pub(crate) fn depth_chart(book: &BookView, limits: &[OwnLimit]) -> String {
    let reach = depth_reach(book);
    let above = book.levels.iter().take_while(|level| level.price.0 > reach);
    let start = above.last().map_or(0, |level| level.cumulative.0);
    let shown: Vec<_> = book.levels.iter().filter(|level| level.price.0 <= reach).collect();
    let mut x = Vec::with_capacity(shown.len() + 1);
    let mut y = Vec::with_capacity(shown.len() + 1);
    let chips = |number: u64| i64::try_from(number).unwrap_or(i64::MAX);
    if let Some(first) = shown.first() {
        x.push(chips(start));
        y.push(Some(if start > 0 { reach } else { first.price.0 }));
    }
    for level in shown {
        // A level at which demand does not grow is no corner of the curve.
        if x.last().is_none_or(|last| *last < chips(level.cumulative.0)) {
            x.push(chips(level.cumulative.0));
            y.push(Some(level.price.0));
        }
    }
    let point = book.reference_price.map(|price| {
        let asked =
            book.levels.iter().filter(|level| level.price >= price).map(|level| level.cumulative.0).max();
        Point { x: chips(asked.unwrap_or_default().min(book.supply.0)), y: price.0 }
    });
    let supply =
        Mark { x: chips(book.supply.0), label: format!("supply {}", crate::format::chips(book.supply)) };
    json(&Chart {
        kind: Kind::Depth,
        unit: "credits per chip-hour",
        divisor: MICROS_PER_CREDIT,
        x,
        series: vec![Series { label: "Price", color: "accent", over: false, y }],
        marks: vec![supply],
        point,
        own: limits
            .iter()
            .filter(|own| own.limit.0 <= reach)
            .map(|own| {
                let asked = own_level(&book.levels, own.limit).map(|level| level.cumulative.0);
                Own { x: chips(asked.unwrap_or_default()), y: own.limit.0, label: &own.name }
            })
            .collect(),
    })
}

/// The level at which a bid with this limit is counted: the highest at or below it.
pub(crate) fn own_level(levels: &[DepthLevel], limit: Price) -> Option<&DepthLevel> {
    levels.iter().filter(|level| level.price <= limit).max_by_key(|level| level.price)
}

/// A change of supply as a label: "+512 chips".
pub(crate) fn supply_change(before: u64, after: u64) -> String {
    let sign = if after >= before { '+' } else { '\u{2212}' };
    format!("{sign}{}", counted(after.abs_diff(before), "chip"))
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
        kind: Kind::Stack,
        unit: "chips",
        divisor: 1_000,
        x: view.steps.iter().map(|at| seconds(*at)).collect(),
        series,
        marks: Vec::new(),
        point: None,
        own: Vec::new(),
    })
}

#[cfg(test)]
mod tests {
    use common::chips::Chips;

    use super::*;

    #[test]
    fn a_change_of_supply_is_signed() {
        assert_eq!(supply_change(1_000, 2_512), "+1,512 chips");
        assert_eq!(supply_change(512, 0), "−512 chips");
    }

    fn book(levels: &[(u64, u64)], supply: u64, reference_price: Option<u64>) -> BookView {
        let levels = levels.iter().map(|(price, cumulative)| common::api::DepthLevel {
            price: Price(*price),
            chips: Chips(0),
            cumulative: Chips(*cumulative),
        });
        BookView {
            clock: common::api::MarketClock {
                cycle: 1,
                cleared_at: Instant(0),
                next_at: Instant(0),
                cycle_seconds: 60,
                stale: None,
            },
            chip_types: Vec::new(),
            pools: Vec::new(),
            chip_type: common::ids::ChipTypeId::new("H100").unwrap(),
            supply: Chips(supply),
            reference_price: reference_price.map(Price),
            reserve_price: Price(0),
            levels: levels.collect(),
            by_pool: Vec::new(),
        }
    }

    fn curve(book: &BookView) -> (Vec<i64>, Vec<u64>, serde_json::Value) {
        let chart: serde_json::Value = serde_json::from_str(&depth_chart(book, &[])).unwrap();
        let x = serde_json::from_value(chart["x"].clone()).unwrap();
        let y = serde_json::from_value(chart["series"][0]["y"].clone()).unwrap();
        (x, y, chart["point"].clone())
    }

    #[test]
    fn a_depth_curve_starts_at_no_chips_and_has_a_corner_per_step() {
        let book = book(&[(400, 100), (300, 100), (200, 300)], 200, Some(200));
        let (x, y, point) = curve(&book);
        assert_eq!((x, y), (vec![0, 100, 300], vec![400, 400, 200]));
        // At the clearing price more is asked for than there is: the point lies on the supply line.
        assert_eq!(point, serde_json::json!({"x": 200, "y": 200}));
        assert!(!depth_is_cut(&book));
    }

    #[test]
    fn prices_far_above_the_market_price_are_cut_but_counted() {
        let book = book(&[(9_000, 40), (100, 90)], 50, Some(100));
        assert!(depth_is_cut(&book));
        assert_eq!(curve(&book).0, [40, 90]);
        assert_eq!(curve(&book).1, [300, 100]);
    }

    #[test]
    fn own_bids_stand_on_the_curve_where_they_are_counted() {
        let book = book(&[(400, 100), (300, 250), (200, 300)], 200, Some(200));
        let own = |limit| OwnLimit {
            pool: common::ids::PoolId::new("p").unwrap(),
            name: "mine".to_owned(),
            limit: Price(limit),
        };
        let chart: serde_json::Value =
            serde_json::from_str(&depth_chart(&book, &[own(5_000), own(310), own(100)])).unwrap();
        // The first lies far above the picture; the last is below all levels.
        assert_eq!(
            chart["own"],
            serde_json::json!([{"x": 250, "y": 310, "label": "mine"}, {"x": 0, "y": 100, "label": "mine"}])
        );
    }

    #[test]
    fn an_empty_book_has_no_curve() {
        assert_eq!(curve(&book(&[], 10, None)), (Vec::new(), Vec::new(), serde_json::Value::Null));
    }

    #[cfg(feature = "ssr")]
    #[test]
    fn supply_is_a_stack_of_hands_that_ends_now_and_marks_changes() {
        let level = |cycle, seconds, pool: Option<&str>, before, after| common::api::SupplyLevel {
            cycle,
            at: Instant(seconds * MICROS_PER_SECOND),
            pool: pool.map(|pool| pool.parse().unwrap()),
            before: Chips(before),
            after: Chips(after),
        };
        let history = common::api::SupplyHistory {
            chip_type: common::ids::ChipTypeId::new("H100").unwrap(),
            to: Instant(100 * MICROS_PER_SECOND),
            changes: vec![
                level(1, 10, None, 0, 40),
                level(1, 10, Some("p"), 0, 16),
                level(7, 70, None, 40, 30),
            ],
        };
        let chart: serde_json::Value = serde_json::from_str(&supply_chart(&history)).unwrap();
        assert_eq!(chart["x"], serde_json::json!([10, 70, 100]));
        assert_eq!(chart["series"][0]["y"], serde_json::json!([40, 30, 30]));
        assert_eq!(chart["series"][1]["y"], serde_json::json!([16, 16, 16]));
        assert_eq!(chart["marks"], serde_json::json!([{"x": 70, "label": "−10 chips"}]));
    }

    #[test]
    fn others_join_at_least_two() {
        assert_eq!(own_layers(3), 3);
        assert_eq!(own_layers(8), 8);
        assert_eq!(own_layers(9), 7);
        assert_eq!((layer_color(0), layer_color(6), layer_color(7)), ("s1", "s7", "s8"));
    }
}
