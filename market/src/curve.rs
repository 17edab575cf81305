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

/// One team's demand for one chip type.
#[derive(Clone, Copy, Debug)]
pub(crate) struct TeamCurve<'a> {
    /// The team, as its index in the market.
    pub(crate) team: u32,
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
        match self.steps.partition_point(|step| step.limit >= price) {
            0 => 0,
            count => self.steps[count - 1].cumulative,
        }
    }

    /// `q_i(p)`: what the team asks for at `price`, within its rate. Never rises with the price.
    pub(crate) fn quantity(&self, price: u64) -> u64 {
        if price == 0 { self.asked() } else { self.wanted(price).min(self.rate / price) }
    }
}
