//! Demand curves (market.md 3.5): how many chips a team, or a pool of teams, asks for at each price.

/// A price below which this step's bids ask: chips of all bids with this limit or a higher one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Step {
    /// Limit in global ticks; [`NO_LIMIT`] for bids without one.
    pub(crate) limit: u64,
    /// Chips of this step and all before it.
    pub(crate) cumulative: u64,
}

/// The limit of a bid that has none. Real limits are at most 2^53 − 1.
pub(crate) const NO_LIMIT: u64 = u64::MAX;

/// How many of these steps, which descend, have a limit at or above `price`.
pub(crate) fn steps_at(steps: &[Step], price: u64) -> usize {
    steps.partition_point(|step| step.limit >= price)
}

/// A price of at least 1 by which many rates are divided: its reciprocal makes each division a multiplication.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Divisor {
    pub(crate) price: u64,
    reciprocal: u64,
}

impl Divisor {
    pub(crate) fn new(price: u64) -> Self {
        Self { price, reciprocal: u64::MAX / price }
    }

    /// `floor(rate / price)`, exactly; `rate` is below 2^63.
    pub(crate) fn divide(self, rate: u64) -> u64 {
        // At most one too low: the reciprocal is less than one short, and so is the product.
        let low = ((u128::from(rate) * u128::from(self.reciprocal)) >> 64) as u64;
        low + u64::from(rate - low * self.price >= self.price)
    }
}

/// One team's demand for one chip type.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct TeamCurve<'a> {
    /// Spending rate `b_i` in global ticks per hour.
    pub(crate) rate: u64,
    /// Steps in descending order of limits, none equal.
    pub(crate) steps: &'a [Step],
}

impl TeamCurve<'_> {
    /// `d_i(0)`: chips asked for at any price.
    pub(crate) fn asked(&self) -> u64 {
        self.steps.last().map_or(0, |step| step.cumulative)
    }

    /// `d_i(p)`: chips of bids whose limit is at or above `price`.
    pub(crate) fn wanted(&self, price: u64) -> u64 {
        match steps_at(self.steps, price) {
            0 => 0,
            count => self.steps[count - 1].cumulative,
        }
    }

    /// `q_i(p)`: what the team asks for at `price`, within its rate. Never rises with the price.
    pub(crate) fn quantity(&self, price: u64) -> u64 {
        if price == 0 { self.asked() } else { self.wanted(price).min(self.rate / price) }
    }

    /// The same at a price of at least 1 that many teams are asked about.
    pub(crate) fn quantity_at(&self, price: Divisor) -> u64 {
        self.wanted(price.price).min(price.divide(self.rate))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn a_reciprocal_divides_exactly(rate in 0_u64..1 << 63, price in 1_u64..=u64::MAX, bits in 0_u32..64) {
            let price = (price >> bits).max(1);
            prop_assert_eq!(Divisor::new(price).divide(rate), rate / price);
            let multiple = rate / price * price;
            for near in [multiple, multiple.saturating_sub(1)] {
                prop_assert_eq!(Divisor::new(price).divide(near), near / price);
            }
        }
    }
}
