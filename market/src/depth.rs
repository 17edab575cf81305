//! The bid book: demand for one chip type at each price, thinned to what a chart can show.

use common::api::DepthLevel;
use common::chips::Chips;
use common::ids::ChipTypeId;
use common::money::Price;

use crate::clearing::Clearing;
use crate::curve::{NO_LIMIT, TeamCurve};
use crate::market::Market;

impl Clearing {
    /// Demand of all teams for a chip type by price, in global credits per chip-hour, highest price first: at most
    /// `levels` of them, those where demand steps or the curve bends most, always with the highest price at which
    /// anyone asks, the reference price and the lowest price. Empty where nobody asks, or for an unknown type.
    #[must_use]
    pub fn depth(&self, market: &Market, chip_type: &ChipTypeId, levels: usize) -> Vec<DepthLevel> {
        let Ok(nth) = market.chip_types.binary_search_by(|row| row.id.cmp(chip_type)) else {
            return Vec::new();
        };
        let curves: Vec<TeamCurve<'_>> = self.demand.curves(self.demand.asked.rows_of_type(nth)).collect();
        let demand = |price: u64| curves.iter().map(|curve| curve.quantity(price)).sum::<u64>();
        let mut points: Vec<Point> = candidates(&curves, self.chip_types[nth].reference, levels)
            .into_iter()
            .map(|(price, keep)| Point { price, chips: demand(price), keep })
            .filter(|point| point.chips > 0)
            .collect();
        thin(&mut points, levels);
        points
            .iter()
            .enumerate()
            .rev()
            .map(|(nth, point)| {
                let above = points.get(nth + 1).map_or(0, |above| above.chips);
                DepthLevel {
                    price: Price(point.price),
                    chips: Chips(point.chips - above),
                    cumulative: Chips(point.chips),
                }
            })
            .collect()
    }
}

/// One point of the aggregate curve.
#[derive(Clone, Copy, Debug)]
struct Point {
    price: u64,
    chips: u64,
    /// Must not be thinned out.
    keep: bool,
}

/// Prices at which the curve may step or bend, lowest first: limits (where there are many, spaced evenly by chips),
/// prices at which a team's rate begins to bind, and a grid of even ratios for the hyperbolas between them.
fn candidates(curves: &[TeamCurve<'_>], reference: Option<u64>, levels: usize) -> Vec<(u64, bool)> {
    let highest =
        curves.iter().filter_map(|curve| Some(curve.steps.first()?.limit.min(curve.rate))).max().unwrap_or(0);
    let mut prices = vec![(0, true), (highest, true)];
    prices.extend(reference.map(|price| (price, true)));
    let mut steps: Vec<(u64, u64)> = Vec::new();
    let mut binding: Vec<(u64, u64)> = Vec::new();
    for curve in curves {
        let mut before = 0;
        for step in curve.steps {
            if step.limit != NO_LIMIT {
                steps.push((step.limit, step.cumulative - before));
            }
            before = step.cumulative;
        }
        binding.push((curve.rate / curve.asked().max(1), curve.asked()));
    }
    for mut list in [steps, binding] {
        list.sort_unstable();
        prices.extend(evenly(&list, levels).map(|price| (price, false)));
    }
    let lowest = prices.iter().map(|(price, _)| *price).filter(|price| *price > 0).min().unwrap_or(1);
    let mut price = lowest;
    while price < highest {
        prices.push((price, false));
        price += (price / 16).max(1);
    }
    prices.retain(|(price, _)| *price <= highest);
    prices.sort_unstable_by_key(|(price, keep)| (*price, !keep));
    prices.dedup_by_key(|(price, _)| *price);
    prices
}

/// At most `count` of the prices of a sorted `(price, chips)` list, evenly spaced by chips.
fn evenly(list: &[(u64, u64)], count: usize) -> impl Iterator<Item = u64> {
    let total: u64 = list.iter().map(|(_, chips)| chips).sum();
    let step = total / u64::try_from(count.max(1)).unwrap_or(u64::MAX);
    let (mut sum, mut next) = (0, 0);
    list.iter().filter_map(move |(price, chips)| {
        sum += chips;
        (sum > next).then(|| {
            next = sum + step;
            *price
        })
    })
}

/// Removes, one by one, the point whose removal changes the curve's area least, until `levels` are left.
fn thin(points: &mut Vec<Point>, levels: usize) {
    let area = |a: &Point, b: &Point, c: &Point| {
        let side = |p: &Point, q: &Point| u128::from(p.price.abs_diff(q.price));
        let rise = |p: &Point, q: &Point| u128::from(p.chips.abs_diff(q.chips));
        (side(a, b) * rise(b, c)).abs_diff(side(b, c) * rise(a, b))
    };
    while points.len() > levels {
        let least = (1..points.len().saturating_sub(1))
            .filter(|nth| !points[*nth].keep)
            .min_by_key(|nth| area(&points[nth - 1], &points[*nth], &points[nth + 1]));
        let Some(least) = least else { break };
        points.remove(least);
    }
}
