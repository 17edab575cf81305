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

/// Merges `(limit, chips)` pairs, sorted by descending limit, into steps.
pub(crate) fn push_steps(steps: &mut Vec<Step>, sorted: impl Iterator<Item = (u64, u64)>) {
    let first = steps.len();
    let mut cumulative = 0;
    for (limit, chips) in sorted {
        cumulative += chips;
        match steps[first..].last_mut() {
            Some(last) if last.limit == limit => last.cumulative = cumulative,
            _ => steps.push(Step { limit, cumulative }),
        }
    }
}

/// The lowest tick above `lo` at which `holds`; it holds at `hi` and, once true, stays true.
pub(crate) fn lowest_tick(mut lo: u64, mut hi: u64, mut holds: impl FnMut(u64) -> bool) -> u64 {
    while hi - lo > 1 {
        let middle = lo + (hi - lo) / 2;
        if holds(middle) { hi = middle } else { lo = middle }
    }
    hi
}
