//! Why spend changed: by price and by quantity, in integers that add up.
//!
//! With the quantities `q0`, `q1` (chip-seconds charged) and the costs `c0`, `c1` of two periods, the quantity effect is
//! what the other quantity would have cost at the old average price, `(q1 − q0) · c0 / q0`, rounded half up; the price
//! effect is the rest of the change, `c1 − c0` less the quantity effect. What was not used before is all quantity. It is
//! computed for each team and chip type and then summed, so that a shift from one to another is never taken for a price.

use crate::store::finance::rates::rounded;
use crate::store::finance::spend::Spend;

/// A change of spend in micro-credits, split.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Variance {
    pub(super) price: i64,
    pub(super) quantity: i64,
}

impl Variance {
    /// The change from one period to another, in global credits.
    pub(super) fn between(before: &Spend, now: &Spend) -> Self {
        let (c0, c1) = (i128::from(before.global_cost), i128::from(now.global_cost));
        let (q0, q1) = (i128::from(before.charged), i128::from(now.charged));
        let change = now.global_cost.saturating_sub(before.global_cost);
        let quantity = if q0 == 0 { change } else { rounded((q1 - q0).saturating_mul(c0), q0) };
        debug_assert_eq!(i128::from(change), c1 - c0);
        Self { price: change.saturating_sub(quantity), quantity }
    }

    pub(super) fn add(&mut self, other: Self) {
        self.price = self.price.saturating_add(other.price);
        self.quantity = self.quantity.saturating_add(other.quantity);
    }
}

/// A change is worth a look from this share of what was spent before, in percent,
pub(super) const UNUSUAL_PERCENT: i128 = 25;

/// and from this share of all spend of the two periods together, in thousandths.
pub(super) const UNUSUAL_OF_ALL_PERMILLE: i128 = 10;

/// Whether a change from `before` to `now` is unusual, where both periods together cost `all`.
pub(super) fn is_unusual(before: i64, now: i64, all: i64) -> bool {
    let change = (i128::from(now) - i128::from(before)).abs();
    change > 0
        && change * 100 >= i128::from(before.abs()) * UNUSUAL_PERCENT
        && change * 1_000 >= i128::from(all.abs()) * UNUSUAL_OF_ALL_PERMILLE
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn spend(charged: u64, global_cost: i64) -> Spend {
        Spend { charged, global_cost, ..Spend::default() }
    }

    #[test]
    fn a_change_is_split_into_price_and_quantity() {
        // 100 at 2.00 before, 150 at 3.00 now: 50 more at 2.00, and 1.00 more for each of 150.
        let variance = Variance::between(&spend(100, 200), &spend(150, 450));
        assert_eq!(variance, Variance { price: 150, quantity: 100 });
        assert_eq!(Variance::between(&spend(0, 0), &spend(5, 7)), Variance { price: 0, quantity: 7 });
        assert_eq!(Variance::between(&spend(5, 7), &spend(0, 0)), Variance { price: 0, quantity: -7 });
    }

    #[test]
    fn a_change_is_unusual_where_it_is_large_for_the_row_and_for_the_whole() {
        assert!(is_unusual(100, 130, 1_000));
        assert!(!is_unusual(100, 120, 1_000), "20 % of the row");
        assert!(!is_unusual(1, 9, 1_000), "0.8 % of the whole");
        assert!(is_unusual(0, 100, 1_000) && !is_unusual(0, 0, 0));
    }

    proptest! {
        #[test]
        fn the_effects_sum_to_the_change(
            (q0, q1) in (0..1_u64 << 40, 0..1_u64 << 40), (c0, c1) in (0..1_i64 << 53, 0..1_i64 << 53),
        ) {
            let variance = Variance::between(&spend(q0, c0), &spend(q1, c1));
            prop_assert_eq!(variance.price + variance.quantity, c1 - c0);
        }
    }
}
