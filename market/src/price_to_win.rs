//! What it would have taken to fill a bid (market.md 7), others' bids fixed.

use common::money::{MAX_MICROS, MicroCredits, Price};

/// What fills a bid.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PriceToWin {
    /// The lowest limit at which it has all its chips, in local credits per chip-hour: one tick less does not fill it. A
    /// bid that is filled may have a higher one.
    Limit(Price),
    /// No limit is enough: the team would need so much more spending power, in local credits per hour, with no limit
    /// on the bid and each bid keeping the chip type it then chooses.
    MoreCredits(MicroCredits),
    /// Not for any amount of credits in this cycle: its window, its pool or the supply stands against it.
    OutOfReach,
}

/// The lowest limit that fills a bid, where it is filled without a limit at `price`; `filled_at` tells the price at which
/// it is filled with a limit.
///
/// A limit of the price is enough, unless the bid chooses another chip type with it: then the search starts higher.
/// Mostly one tick less is not, so the search first goes down in small steps.
pub(crate) fn lowest_limit(price: u64, mut filled_at: impl FnMut(u64) -> Option<u64>) -> Option<Price> {
    if filled_at(0).is_some() {
        return Some(Price(0));
    }
    let most = MAX_MICROS.unsigned_abs();
    let (mut below, mut enough) = (0, price.max(1));
    while filled_at(enough).is_none() {
        if enough == most {
            return None;
        }
        (below, enough) = (enough, enough.saturating_mul(2).min(most));
    }
    let mut step = 1;
    while enough - below > 1 {
        let limit = (enough - step.min(enough - below - 1)).max(below + 1);
        match filled_at(limit) {
            Some(_) => (enough, step) = (limit, step.saturating_mul(4)),
            None => (below, step) = (limit, (enough - limit) / 2),
        }
        step = step.max(1);
    }
    Some(Price(enough))
}

/// The least that a team's cap must grow for a bid to be filled; absent where no amount up to `most` is enough.
pub(crate) fn least_credits(cap: u64, most: u64, mut fills: impl FnMut(u64) -> bool) -> Option<u64> {
    if most == 0 {
        return None;
    }
    let (mut below, mut enough) = (0, (cap >> 6).clamp(1, most));
    while !fills(enough) {
        if enough >= most {
            return None;
        }
        (below, enough) = (enough, enough.saturating_mul(4).min(most));
    }
    while enough - below > 1 {
        let middle = below + (enough - below) / 2;
        if fills(middle) { enough = middle } else { below = middle }
    }
    Some(enough)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn the_lowest_limit_fills_and_a_tick_less_does_not(least in 1_u64..1 << 40, price in 0_u64..1 << 41) {
            let mut looks = 0;
            let filled_at = |limit: u64| {
                looks += 1;
                (limit >= least).then_some(price)
            };
            prop_assert_eq!(lowest_limit(price, filled_at), Some(Price(least)));
            prop_assert!(looks < 150);
        }

        #[test]
        fn the_least_credits_fill(least in 1_u64..1 << 40, cap in 0_u64..1 << 41, most in 0_u64..1 << 42) {
            prop_assert_eq!(least_credits(cap, most, |more| more >= least), (least <= most).then_some(least));
        }
    }

    #[test]
    fn a_limit_at_the_price_needs_few_looks() {
        let mut looks = 0;
        let filled_at = |limit: u64| {
            looks += 1;
            (limit >= 3_200_001).then_some(3_200_001)
        };
        assert_eq!(lowest_limit(3_200_001, filled_at), Some(Price(3_200_001)));
        assert_eq!(looks, 3);
    }
}
