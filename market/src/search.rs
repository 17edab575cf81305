//! Searching for prices. Every price of the mechanism is the lowest tick at which demand is met; what differs is
//! what "met" means. The search brackets that tick from a guess (the price of the last cycle, or the closed form for
//! divisible chips), then interpolates, so that a tick among 2^53 is found in some ten looks at the demand instead
//! of fifty. A wrong guess costs time, never the result: the bracket is kept by comparison alone.

/// Demand beyond what there is, as a function of the price.
pub(crate) trait Excess {
    /// Above zero while demand is too large at `price`. Its sign never rises with the price.
    fn at(&mut self, price: u64) -> i128;

    /// The search goes on above the price last asked about (`true`) or at and below it: what does not change there
    /// may be summed up for good.
    fn narrow(&mut self, above: bool);
}

/// Part of a bracket by which the search oversteps an interpolated price, to have the tick between two near prices.
const OVERSTEP_SHIFT: u32 = 7;

/// A price to start from, and how far off it may well be.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Guess {
    pub(crate) price: u64,
    pub(crate) step: u64,
}

/// The lowest tick in `lo + 1 ..= hi` without excess. There is excess at `lo`, and none at `hi`; neither is asked
/// about.
pub(crate) fn lowest_tick(lo: u64, hi: u64, guess: Guess, excess: &mut impl Excess) -> u64 {
    let mut search = Search { lo, hi, at_lo: None, at_hi: None };
    search.gallop(guess, excess);
    while search.hi - search.lo > 1 {
        let width = search.hi - search.lo;
        let price = search.interpolated();
        let above = search.look(price, excess);
        if search.hi - search.lo > 1 {
            let step = (width >> OVERSTEP_SHIFT).max(1);
            let beyond = if above { price.saturating_add(step) } else { price.saturating_sub(step) };
            search.look(search.inside(beyond), excess);
        }
        if search.hi - search.lo > width / 2 {
            search.look(search.middle(), excess);
        }
    }
    search.hi
}

/// A bracket and the excess at its ends, where that is known.
struct Search {
    lo: u64,
    hi: u64,
    at_lo: Option<i128>,
    at_hi: Option<i128>,
}

impl Search {
    /// Looks at a price within the bracket and moves an end there; true when demand is too large.
    fn look(&mut self, price: u64, excess: &mut impl Excess) -> bool {
        let at = excess.at(price);
        let above = at > 0;
        if above {
            (self.lo, self.at_lo) = (price, Some(at));
        } else {
            (self.hi, self.at_hi) = (price, Some(at));
        }
        excess.narrow(above);
        above
    }

    /// Steps away from the guess, doubling the step, until the tick is between two prices looked at.
    fn gallop(&mut self, guess: Guess, excess: &mut impl Excess) {
        let Guess { mut price, step } = guess;
        let mut step = step.max(1);
        let mut before = None;
        while self.hi - self.lo > 1 {
            price = self.inside(price);
            let above = self.look(price, excess);
            if before.is_some_and(|before| before != above) {
                return;
            }
            before = Some(above);
            price = if above { price.saturating_add(step) } else { price.saturating_sub(step) };
            step = step.saturating_mul(4);
        }
    }

    fn inside(&self, price: u64) -> u64 {
        price.clamp(self.lo + 1, (self.hi - 1).max(self.lo + 1))
    }

    fn middle(&self) -> u64 {
        self.inside(self.lo + (self.hi - self.lo) / 2)
    }

    /// Where a straight line between the ends has no excess; the middle while an end is unknown.
    fn interpolated(&self) -> u64 {
        let (Some(at_lo), Some(at_hi)) = (self.at_lo, self.at_hi) else { return self.middle() };
        // Demand comes in whole chips: between the last excess and none lies half a chip, not none.
        let (rise, run) = (2 * at_lo.unsigned_abs() - 1, 2 * at_lo.abs_diff(at_hi));
        // Both to 64 bits: an estimate needs no more.
        let shift = (u128::BITS - run.leading_zeros()).saturating_sub(u64::BITS);
        let part = u128::from(self.hi - self.lo) * (rise >> shift) / (run >> shift).max(1);
        self.inside(self.lo.saturating_add(u64::try_from(part).unwrap_or(u64::MAX)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// Excess `total / price - supply`, or by the sign alone.
    struct Hyperbola {
        total: u64,
        supply: u64,
        sign_only: bool,
        looks: u32,
    }

    impl Excess for Hyperbola {
        fn at(&mut self, price: u64) -> i128 {
            self.looks += 1;
            let excess = i128::from(self.total / price) - i128::from(self.supply);
            if self.sign_only { excess.signum() } else { excess }
        }

        fn narrow(&mut self, _: bool) {}
    }

    proptest! {
        #[test]
        fn finds_the_lowest_tick_from_any_guess(
            total in 1_u64..1 << 53,
            supply in 0_u64..1 << 20,
            price: u64,
            step: u64,
            sign_only: bool,
        ) {
            let mut excess = Hyperbola { total, supply, sign_only, looks: 0 };
            let found = lowest_tick(0, total + 1, Guess { price, step }, &mut excess);
            prop_assert!(total / found <= supply);
            prop_assert!(found == 1 || total / (found - 1) > supply);
        }
    }

    #[test]
    fn a_near_guess_needs_few_looks() {
        let guess = Guess { price: 4_100_000, step: 100_000 };
        let mut excess = Hyperbola { total: 40_000_000_000, supply: 10_000, sign_only: false, looks: 0 };
        assert_eq!(lowest_tick(0, 40_000_000_001, guess, &mut excess), 3_999_601);
        assert!(excess.looks < 20, "{} looks", excess.looks);
    }
}
