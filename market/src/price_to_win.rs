//! What it would have taken to fill a bid (market.md 7), others' bids fixed.

use common::api::Reason;
use common::money::{MAX_MICROS, MicroCredits, Price};

use crate::clearing::Clearing;
use crate::curve::NO_LIMIT;
use crate::market::{Market, global_limit};

/// What fills a bid.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PriceToWin {
    /// The lowest limit at which it has all its chips, in local credits per chip-hour: one tick less does not fill it. A
    /// bid that is filled may have a higher one.
    Limit(Price),
    /// No limit is enough: the team would need so much more spending power, in local credits per hour, with no limit
    /// on the bid.
    MoreCredits(MicroCredits),
    /// Not for any amount of credits in this cycle: its window, its pool or the supply stands against it.
    OutOfReach,
}

/// What fills a bid, by its number in a market that is cleared already.
pub(crate) fn price_to_win(market: &Market, bid: usize, cleared: &Clearing) -> PriceToWin {
    if matches!(cleared.jobs[bid].reason, Reason::NotInWindow) {
        return PriceToWin::OutOfReach;
    }
    let mut trial = Trial { market: market.clone(), bid, team: market.team_of(bid) };
    match trial.with_limit(NO_LIMIT) {
        Some(price) => trial.lowest_limit(price).map_or(PriceToWin::OutOfReach, PriceToWin::Limit),
        None => trial.least_credits().map_or(PriceToWin::OutOfReach, PriceToWin::MoreCredits),
    }
}

/// A market in which one bid's limit and its team's cap are tried out.
struct Trial {
    market: Market,
    bid: usize,
    team: usize,
}

impl Trial {
    /// The local price at which the bid is filled with this local limit; absent where it is not.
    fn with_limit(&mut self, limit: u64) -> Option<u64> {
        let pool = self.market.teams[self.team].pool as usize;
        let (weight, incomes) = (self.market.pools[pool].weight, self.market.pools[pool].incomes);
        self.market.names[self.bid].local_limit = limit;
        self.market.bids[self.bid].limit = global_limit(limit, weight, incomes);
        self.filled_at()
    }

    fn filled_at(&self) -> Option<u64> {
        let cleared = self.market.clear();
        let explained = cleared.explain(&self.market, &self.market.names[self.bid].id)?;
        (explained.reason == Reason::Filled).then(|| explained.price.map_or(0, |price| price.0))
    }

    /// The lowest limit that fills the bid, by bisection. It is filled without a limit at `price`, so that a limit
    /// of the price is enough, unless the bid chooses another chip type with it: then the search starts higher.
    fn lowest_limit(&mut self, price: u64) -> Option<Price> {
        if self.with_limit(0).is_some() {
            return Some(Price(0));
        }
        let most = MAX_MICROS.unsigned_abs();
        let (mut below, mut enough) = (0, price.max(1));
        while self.with_limit(enough).is_none() {
            if enough == most {
                return None;
            }
            (below, enough) = (enough, enough.saturating_mul(2).min(most));
        }
        while enough - below > 1 {
            let middle = below + (enough - below) / 2;
            if self.with_limit(middle).is_some() { enough = middle } else { below = middle }
        }
        Some(Price(enough))
    }

    /// The least that the team's cap must grow for the bid to be filled without a limit, in local credits per hour
    /// rounded up; absent where no amount is enough.
    fn least_credits(&mut self) -> Option<MicroCredits> {
        let pool = self.market.teams[self.team].pool;
        let row = self.market.pools[pool as usize].clone();
        let caps: u64 = self.market.teams.iter().filter(|team| team.pool == pool).map(|team| team.cap).sum();
        let cap = self.market.teams[self.team].cap;
        // The bound that the builder sets for the caps of a pool.
        let most = MAX_MICROS.unsigned_abs() - caps;
        let mut fills = |more: u64| {
            self.market.teams[self.team].cap = cap + more;
            self.filled_at().is_some()
        };
        let (mut below, mut enough) = (0, 1);
        while !fills(enough) {
            if enough == most {
                return None;
            }
            (below, enough) = (enough, enough.saturating_mul(4).min(most));
        }
        while enough - below > 1 {
            let middle = below + (enough - below) / 2;
            if fills(middle) { enough = middle } else { below = middle }
        }
        row.local_price(enough).and_then(|local| i64::try_from(local).ok()).map(MicroCredits)
    }
}
