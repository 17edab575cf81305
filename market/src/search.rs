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
    if hi - lo > 1 {
        search.gallop(guess, excess);
    }
    search.interpolate(excess)
}

/// The lowest tick above `lo` and up to `hi` without excess, where the excess at both is known.
pub(crate) fn lowest_tick_between(lo: Look, hi: Look, excess: &mut impl Excess) -> u64 {
    let mut search = Search { lo: lo.price, hi: hi.price, at_lo: Some(lo), at_hi: Some(hi) };
    search.interpolate(excess)
}

/// The excess at a price.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Look {
    pub(crate) price: u64,
    pub(crate) excess: i128,
}

impl Look {
    const fn is_above(self) -> bool {
        self.excess > 0
    }
}

/// A bracket and the excess at its ends, where that is known.
struct Search {
    lo: u64,
    hi: u64,
    at_lo: Option<Look>,
    at_hi: Option<Look>,
}

impl Search {
    /// Looks at a price within the bracket and moves an end there.
    fn look(&mut self, price: u64, excess: &mut impl Excess) -> Look {
        let look = Look { price, excess: excess.at(price) };
        if look.is_above() {
            (self.lo, self.at_lo) = (price, Some(look));
        } else {
            (self.hi, self.at_hi) = (price, Some(look));
        }
        excess.narrow(look.is_above());
        look
    }

    /// Goes from the guess towards the tick until it is between two prices looked at: one step first, then to where
    /// the last two looks point and a little beyond. Steps at least double, so that a curve that misleads costs little.
    fn gallop(&mut self, guess: Guess, excess: &mut impl Excess) {
        let mut least = guess.step.max(1);
        let mut before = self.look(self.inside(guess.price), excess);
        let mut step = least;
        while self.hi - self.lo > 1 {
            let look = self.look(self.inside(beyond(before, step)), excess);
            if look.is_above() != before.is_above() {
                return;
            }
            least = least.saturating_mul(2);
            let way = root(before, look).map_or(0, |price| price.abs_diff(look.price));
            step = way.saturating_add(way >> 4).clamp(least, least.saturating_mul(64));
            before = look;
        }
    }

    /// Narrows the bracket to one tick.
    fn interpolate(&mut self, excess: &mut impl Excess) -> u64 {
        while self.hi - self.lo > 1 {
            let width = self.hi - self.lo;
            let look = self.look(self.interpolated(), excess);
            if self.hi - self.lo > 1 {
                // Where the nearer bracket points now, and a little beyond, to have the tick between two near prices.
                let way = self.interpolated().abs_diff(look.price);
                self.look(self.inside(beyond(look, way + (way >> 4) + 1)), excess);
            }
            if self.hi - self.lo > width / 2 {
                self.look(self.middle(), excess);
            }
        }
        self.hi
    }

    fn inside(&self, price: u64) -> u64 {
        price.clamp(self.lo + 1, (self.hi - 1).max(self.lo + 1))
    }

    fn middle(&self) -> u64 {
        self.inside(self.lo + (self.hi - self.lo) / 2)
    }

    /// Where a curve through the ends has no excess; the middle while an end is unknown.
    fn interpolated(&self) -> u64 {
        let ends = self.at_lo.zip(self.at_hi);
        ends.and_then(|(lo, hi)| root(lo, hi)).map_or_else(|| self.middle(), |price| self.inside(price))
    }
}

/// A step from a look towards the tick.
fn beyond(look: Look, step: u64) -> u64 {
    if look.is_above() { look.price.saturating_add(step) } else { look.price.saturating_sub(step) }
}

/// Where the curve `a + b / price` through two looks has no excess. Teams whose rates bind ask for chips in that form,
/// and over a short way so do limits. Absent where the curve has no such price.
fn root(one: Look, other: Look) -> Option<u64> {
    // Demand comes in whole chips: between the least excess and none lies half a chip.
    let (one_excess, other_excess) = (2 * one.excess - 1, 2 * other.excess - 1);
    // To 20 bits, so that the product of two prices and an excess fits: an estimate needs no more.
    let largest = one_excess.unsigned_abs().max(other_excess.unsigned_abs());
    let shift = bits_beyond(20, largest);
    let (one_excess, other_excess) = (one_excess >> shift, other_excess >> shift);
    let (price, other_price) = (i128::from(one.price), i128::from(other.price));
    let part = price * one_excess;
    let slope = part - other_price * other_excess;
    // price + (other_price - price) · part / slope, in 64 bits: a division of 128 would cost more than a look.
    let shift = bits_beyond(30, part.unsigned_abs().max(slope.unsigned_abs()));
    let (part, slope) = (part >> shift, slope >> shift);
    let shift = bits_beyond(32, (other_price - price).unsigned_abs());
    let narrow = |number: i128| i64::try_from(number).ok();
    let way = (narrow((other_price - price) >> shift)? * narrow(part)?).checked_div(narrow(slope)?)?;
    u64::try_from(price + (i128::from(way) << shift)).ok()
}

/// How many bits a number has beyond so many.
fn bits_beyond(bits: u32, number: u128) -> u32 {
    (u128::BITS - number.leading_zeros()).saturating_sub(bits)
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
