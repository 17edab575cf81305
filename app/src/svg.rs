//! Paths of the small pictures that the server draws: sparklines and depth curves. Integer arithmetic only.

use common::api::DepthLevel;
use common::chips::Chips;
use common::money::Price;

/// Coordinates are in tenths of a unit of the view box, so that paths stay short and exact.
const TENTHS: u128 = 10;

/// Size of a sparkline's view box.
pub(crate) const SPARK: (u64, u64) = (112, 24);

/// A coordinate in tenths as text: 123 → "12.3".
fn tenths(value: u128) -> String {
    if value.is_multiple_of(TENTHS) {
        (value / TENTHS).to_string()
    } else {
        format!("{}.{}", value / TENTHS, value % TENTHS)
    }
}

/// `value` out of `span` along `length` units, in tenths; the start where the span is empty.
fn along(value: u64, span: u64, length: u64) -> u128 {
    if span == 0 {
        return 0;
    }
    u128::from(value.min(span)) * u128::from(length) * TENTHS / u128::from(span)
}

/// The path of a sparkline over [`SPARK`], one step per price, broken where a price is absent ("no trade"). Empty
/// without two prices. A level price runs through the middle.
pub(crate) fn sparkline(prices: &[Option<Price>]) -> String {
    let (width, height) = SPARK;
    let known = || prices.iter().flatten().map(|price| price.0);
    let (Some(low), Some(high)) = (known().min(), known().max()) else { return String::new() };
    if known().count() < 2 {
        return String::new();
    }
    let last = prices.len() as u64 - 1;
    // Two units of room above and below keep the line's own width inside the box.
    let y = |price: u64| {
        let room = height - 4;
        if high == low {
            u128::from(height) * TENTHS / 2
        } else {
            (u128::from(room) + 2) * TENTHS - along(price - low, high - low, room)
        }
    };
    let mut path = String::new();
    let mut broken = true;
    for (index, price) in (0..).zip(prices) {
        match price {
            Some(price) => {
                path.push(if broken { 'M' } else { 'L' });
                path.push_str(&tenths(along(index, last, width)));
                path.push(' ');
                path.push_str(&tenths(y(price.0)));
                broken = false;
            }
            None => broken = true,
        }
    }
    path
}

/// Round values from 0 to `most`, at most `count` steps apart by 1, 2 or 5 times a power of ten.
pub(crate) fn ticks(most: u64, count: u64) -> Vec<u64> {
    let least_step = most.div_ceil(count.max(1)).max(1);
    let mut power = 1_u64;
    let step = loop {
        if let Some(step) =
            [1, 2, 5].map(|factor| power.saturating_mul(factor)).into_iter().find(|step| *step >= least_step)
        {
            break step;
        }
        power = power.saturating_mul(10);
    };
    (0..=most / step).map(|index| index * step).collect()
}

/// Where a depth curve lies: view box, scales and the curve itself.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct DepthCurve {
    /// The curve as a path.
    pub(crate) path: String,
    /// The area under it, closed at the bottom.
    pub(crate) area: String,
    /// Most chips on the horizontal axis.
    most_chips: u64,
    /// Highest price on the vertical axis, in micro-credits.
    top_price: u64,
    /// There are bids above the highest price shown.
    pub(crate) cut: bool,
}

impl DepthCurve {
    /// Size of the view box.
    pub(crate) const WIDTH: u64 = 640;
    /// Size of the view box.
    pub(crate) const HEIGHT: u64 = 300;
    /// Room for the labels of prices on the left.
    pub(crate) const LEFT: u64 = 56;
    /// Room on the right.
    pub(crate) const RIGHT: u64 = 12;
    /// Room above the plot.
    pub(crate) const TOP: u64 = 18;
    /// Room for the labels of chips below the plot.
    pub(crate) const BOTTOM: u64 = 34;

    /// The curve of the levels (highest price first), with `supply` and `reference_price` in view. Prices above three
    /// times the reference price are cut off: a few bids without a sensible limit would flatten all others.
    pub(crate) fn new(levels: &[DepthLevel], supply: Chips, reference_price: Option<Price>) -> Self {
        let highest = levels.first().map_or(0, |level| level.price.0);
        let interesting = reference_price.filter(|price| price.0 > 0).map_or(u64::MAX, |price| price.0 * 3);
        let top_price = highest.min(interesting).max(reference_price.map_or(0, |price| price.0)).max(1);
        let most_chips =
            levels.iter().map(|level| level.cumulative.0).max().unwrap_or(0).max(supply.0).max(1);
        let mut curve = Self {
            path: String::new(),
            area: String::new(),
            // A little room beyond the last chip and the highest price.
            most_chips: most_chips + most_chips.div_ceil(20),
            top_price: top_price + top_price.div_ceil(20),
            cut: false,
        };
        curve.draw(levels);
        curve
    }

    fn draw(&mut self, levels: &[DepthLevel]) {
        let above = levels.iter().take_while(|level| level.price.0 > self.top_price);
        let start = above.last().map_or(0, |level| level.cumulative.0);
        let shown: Vec<_> = levels.iter().filter(|level| level.price.0 <= self.top_price).collect();
        self.cut = shown.len() < levels.len();
        let Some(last) = shown.last().copied().or(levels.last()) else { return };
        let mut path = format!("M{} {}", self.x(Chips(start)), self.y(Price(self.top_price)));
        for level in shown {
            path.push_str(&format!("V{}H{}", self.y(level.price), self.x(level.cumulative)));
        }
        path.push_str(&format!("V{}", self.y(Price(0))));
        self.area = format!(
            "{path}H{}V{}H{}Z",
            self.x(Chips(0)),
            self.y(Price(self.top_price)),
            self.x(Chips(start))
        );
        // Without a bid at price 0 the curve ends where its last level ends.
        debug_assert!(last.cumulative.0 <= self.most_chips);
        self.path = path;
    }

    /// Horizontal place of a number of chips.
    pub(crate) fn x(&self, chips: Chips) -> String {
        let length = Self::WIDTH - Self::LEFT - Self::RIGHT;
        tenths(u128::from(Self::LEFT) * TENTHS + along(chips.0, self.most_chips, length))
    }

    /// Vertical place of a price.
    pub(crate) fn y(&self, price: Price) -> String {
        let length = Self::HEIGHT - Self::TOP - Self::BOTTOM;
        let bottom = u128::from(Self::HEIGHT - Self::BOTTOM) * TENTHS;
        tenths(bottom - along(price.0, self.top_price, length))
    }

    /// Round prices for the vertical axis.
    pub(crate) fn price_ticks(&self) -> Vec<Price> {
        ticks(self.top_price, 5).into_iter().map(Price).collect()
    }

    /// Round numbers of chips for the horizontal axis.
    pub(crate) fn chip_ticks(&self) -> Vec<Chips> {
        ticks(self.most_chips, 6).into_iter().map(Chips).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn prices(values: &[Option<u64>]) -> Vec<Option<Price>> {
        values.iter().map(|value| value.map(Price)).collect()
    }

    #[test]
    fn a_sparkline_spans_its_box_and_breaks_at_gaps() {
        assert_eq!(
            sparkline(&prices(&[Some(1), Some(3), None, Some(2), Some(1)])),
            "M0 22L28 2M84 12L112 22"
        );
        assert_eq!(sparkline(&prices(&[Some(7), Some(7)])), "M0 12L112 12");
    }

    #[test]
    fn a_sparkline_needs_two_prices() {
        assert_eq!(sparkline(&[]), "");
        assert_eq!(sparkline(&prices(&[None, Some(4), None])), "");
    }

    #[test]
    fn ticks_are_round_and_few() {
        assert_eq!(ticks(2_300_000, 5), [0, 500_000, 1_000_000, 1_500_000, 2_000_000]);
        assert_eq!(ticks(0, 5), [0]);
        assert_eq!(ticks(7, 3), [0, 5]);
        assert!(ticks(u64::MAX, 5).len() <= 6);
    }

    fn level(price: u64, cumulative: u64) -> DepthLevel {
        DepthLevel { price: Price(price), chips: Chips(0), cumulative: Chips(cumulative) }
    }

    #[test]
    fn a_depth_curve_steps_down_to_the_axis() {
        let curve = DepthCurve::new(&[level(400, 100), level(200, 300)], Chips(200), Some(Price(200)));
        assert_eq!(curve.path, "M56 18V29.9H237.5V148H600.7V266");
        assert!(!curve.cut);
        assert_eq!(curve.x(Chips(0)), "56");
        assert_eq!(curve.y(Price(0)), "266");
    }

    #[test]
    fn prices_far_above_the_reference_price_are_cut_but_counted() {
        let curve = DepthCurve::new(&[level(9_000, 40), level(100, 90)], Chips(50), Some(Price(100)));
        assert!(curve.cut);
        assert!(curve.path.starts_with(&format!("M{} 18", curve.x(Chips(40)))));
    }

    #[test]
    fn an_empty_book_has_no_curve() {
        let curve = DepthCurve::new(&[], Chips(10), None);
        assert_eq!(curve.path, "");
        assert_eq!(curve.chip_ticks().first(), Some(&Chips(0)));
    }
}
