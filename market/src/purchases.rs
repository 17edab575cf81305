//! The search for the reference price: what all pools buy, while its bracket narrows (market.md 4.2).

use std::ops::Range;

use crate::demand::Demand;
use crate::pool::PoolDemand;
use crate::search::{Excess, Guess, lowest_tick};
use crate::window::{Bracket, Window};

/// The lowest reference price at which the shared chips suffice, and what pools buy there.
pub(crate) struct Marginal {
    pub(crate) found: u64,
    /// By pool.
    pub(crate) bought: Vec<u64>,
    /// How many chips more each pool buys one tick lower.
    pub(crate) more: Vec<u64>,
    /// Demand of the teams of pools that own nothing, between the two prices.
    pub(crate) without: Window,
    /// For pools that blend, by pool: demand around the pool's own price there.
    pub(crate) blending: Vec<Option<Window>>,
}

/// Absent where the shared chips suffice even for nothing.
pub(crate) fn lowest_price(demand: &Demand, pools: &[PoolDemand], shared: u64) -> Option<Marginal> {
    let wanted: u64 = pools.iter().map(PoolDemand::wanted).sum();
    (wanted > shared).then(|| Purchases::new(demand, pools, shared).search())
}

/// What all pools buy.
pub(crate) struct Purchases<'a> {
    pub(crate) demand: &'a Demand,
    pub(crate) pools: &'a [PoolDemand],
    pub(crate) shared: u64,
    /// Teams of pools that own nothing: such a pool buys what they ask for at the reference price itself.
    pub(crate) without: Window,
    /// Pools that own chips, but too few.
    pub(crate) blending: Vec<Blending>,
    /// A pool that takes the place of one of the others.
    pub(crate) instead: Option<Instead<'a>>,
}

/// A pool with another demand than the market's.
pub(crate) struct Instead<'a> {
    pub(crate) demand: &'a Demand,
    pub(crate) pool: &'a PoolDemand,
    /// The pool as it is in the market, where it owns nothing: it counts in `without` and is taken off.
    pub(crate) replaced: Option<&'a PoolDemand>,
    /// Where it blends.
    pub(crate) blending: Option<Blending>,
}

/// A pool that blends. Its own price never falls when the reference price rises, so the bracket of one holds the
/// other's.
#[derive(Debug)]
pub(crate) struct Blending {
    /// Which of the pools.
    pub(crate) nth: usize,
    /// Teams' demand around the pool's own price.
    pub(crate) window: Window,
    /// Space for the search at one reference price.
    scratch: Window,
    /// At the reference prices of the outer bracket: what the pool buys.
    pub(crate) at_lo: u64,
    pub(crate) at_hi: u64,
    /// The pool's own tick at the reference price last asked about, and what it buys there.
    last: (Bracket, u64),
}

impl<'a> Purchases<'a> {
    fn new(demand: &'a Demand, pools: &'a [PoolDemand], shared: u64) -> Self {
        let without: Vec<Range<usize>> =
            pools.iter().filter(|pool| pool.owned == 0).map(|pool| pool.rows.clone()).collect();
        let blending = pools.iter().enumerate().filter(|(_, pool)| pool.blends());
        let blending = blending.map(|(nth, pool)| Blending::new(nth, pool, pool.window(demand))).collect();
        let without = Window::around(demand, without, guess(pools, shared));
        Self { demand, pools, shared, without, blending, instead: None }
    }

    /// The lowest reference price at which the shared chips suffice, from a price near it.
    pub(crate) fn find(&mut self, near: u64) -> u64 {
        let instead = self.instead.as_ref().map(|instead| instead.pool.rates);
        let rates = self.pools.iter().map(|pool| pool.rates).chain(instead);
        let ceiling = rates.max().unwrap_or(0) + 1;
        let found = lowest_tick(0, ceiling, Guess { price: near, step: near >> 7 }, self);
        // Where the price was plain from the start, nothing was asked.
        if (self.without.bracket.lo, self.without.bracket.hi) != (found - 1, found) {
            self.without = std::mem::take(&mut self.without).at(self.demand, found - 1, found);
        }
        found
    }

    fn search(mut self) -> Marginal {
        let found = self.find(guess(self.pools, self.shared));
        let count = self.pools.len();
        let (mut bought, mut more, mut blending) = (vec![0; count], vec![0; count], vec![None; count]);
        for each in self.blending {
            bought[each.nth] = each.at_hi;
            more[each.nth] = each.at_lo - each.at_hi;
            blending[each.nth] = Some(each.window);
        }
        let without = self.without;
        for (nth, pool) in self.pools.iter().enumerate().filter(|(_, pool)| pool.owned == 0) {
            bought[nth] = without.quantities(&pool.rows).iter().sum();
            more[nth] = without.marginal(&pool.rows).map(|(_, chips)| chips).sum();
        }
        Marginal { found, bought, more, without, blending }
    }
}

/// A reference price to start from: the last one, where a pool that owns nothing faced it, or the highest that a pool
/// faced; without one, what all rates would pay for the shared chips if chips could be divided.
pub(crate) fn guess(pools: &[PoolDemand], shared: u64) -> u64 {
    let last = |pool: &PoolDemand| pool.last_price;
    let without = pools.iter().filter(|pool| pool.owned == 0 && pool.last_price > 0);
    let count = u64::try_from(without.clone().count()).unwrap_or(u64::MAX);
    if let Some(mean) = without.map(last).sum::<u64>().checked_div(count) {
        return mean;
    }
    let highest = pools.iter().map(last).max().unwrap_or(0);
    if highest > 0 {
        return highest;
    }
    let rates: u128 = pools.iter().map(|pool| u128::from(pool.rates)).sum();
    u64::try_from(rates / u128::from(shared.max(1))).unwrap_or(u64::MAX)
}

impl Excess for Purchases<'_> {
    fn at(&mut self, reference: u64) -> i128 {
        let (demand, pools) = (self.demand, self.pools);
        self.without.reach(demand, reference);
        let without = self.without.demand(demand, reference);
        let blending = self.blending.iter_mut().map(|blending| blending.buys(demand, pools, reference));
        let bought = i128::from(without + blending.sum::<u64>());
        let more = self.instead.as_mut().map_or(0, |instead| instead.buys_more(demand, reference));
        bought + more - i128::from(self.shared)
    }

    fn narrow(&mut self, above: bool) {
        self.without.narrow(above);
        for blending in &mut self.blending {
            blending.narrow(self.demand, above);
        }
        if let Some(instead) = &mut self.instead
            && let Some(blending) = &mut instead.blending
        {
            blending.narrow(instead.demand, above);
        }
    }
}

impl Instead<'_> {
    /// What it buys, less what the one it replaces would.
    pub(crate) fn buys_more(&mut self, market: &Demand, reference: u64) -> i128 {
        let pools = std::slice::from_ref(self.pool);
        let buys = match &mut self.blending {
            Some(blending) => blending.buys(self.demand, pools, reference),
            None if self.pool.owned == 0 => self.pool.demand(self.demand, reference),
            None => 0,
        };
        let replaced = self.replaced.map_or(0, |pool| pool.demand(market, reference));
        i128::from(buys) - i128::from(replaced)
    }
}

impl Blending {
    pub(crate) fn new(nth: usize, pool: &PoolDemand, window: Window) -> Self {
        let (scratch, last) = (Window::default(), (Bracket::default(), 0));
        Self { nth, window, scratch, at_lo: pool.asked - pool.owned, at_hi: 0, last }
    }

    /// A copy for a search of its own.
    pub(crate) fn copy(&self) -> Self {
        let mut window = Window::default();
        window.copy_from(&self.window);
        let (scratch, last) = (Window::default(), self.last);
        Self { nth: self.nth, window, scratch, at_lo: self.at_lo, at_hi: self.at_hi, last }
    }

    fn buys(&mut self, demand: &Demand, pools: &[PoolDemand], reference: u64) -> u64 {
        let pool = &pools[self.nth];
        let unpaid = pool.unpaid(reference);
        self.window.bracket_tick(demand, None, &unpaid);
        self.scratch.copy_from(&self.window);
        let tick = self.scratch.find_tick(demand, None, unpaid);
        let bought = pool.bought(reference, tick);
        self.last = (tick, bought);
        bought
    }

    fn narrow(&mut self, demand: &Demand, above: bool) {
        let (tick, bought) = self.last;
        let Bracket { lo, hi, .. } = self.window.bracket;
        if above {
            self.at_lo = bought;
            if tick.lo > lo {
                self.window.demand(demand, tick.lo);
                self.window.narrow(true);
            }
        } else {
            self.at_hi = bought;
            if tick.hi < hi {
                self.window.demand(demand, tick.hi);
                self.window.narrow(false);
            }
        }
    }
}
