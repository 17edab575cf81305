//! Paths of the small pictures that the server draws. Integer arithmetic only.

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
}
