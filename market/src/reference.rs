//! The reference price of one chip type and what each pool buys at it (market.md 4.2, 4.6 and 4.7).

use crate::pool::{Bracket, PoolDemand};
use crate::search::{Excess, Guess, lowest_tick};
use crate::ties::{Claim, Level, divide};
use crate::window::Window;

/// One chip type's global clearing.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Reference {
    /// `p*` in global ticks; absent when nobody asks or nothing is shared.
    pub(crate) price: Option<u64>,
    /// `Z`: shared chips and those lent.
    pub(crate) shared: u64,
    /// `D(0)` over all pools.
    pub(crate) asked: u64,
    /// `z_k`, in the order of the pools.
    pub(crate) bought: Vec<u64>,
    /// The floor took the place of a lower price.
    pub(crate) reserve_binds: bool,
    /// A price near each pool's own, in the order of the pools.
    pub(crate) near: Vec<u64>,
}

/// Finds `p*`, the lowest reference price at which pools buy no more than is shared, and divides the shared chips.
pub(crate) fn clear_reference<'id>(
    pools: &[PoolDemand<'_>],
    shared: u64,
    reserve: u64,
    cycle: u64,
    chip_type: &str,
    pool_id: impl Fn(u32) -> &'id str,
) -> Reference {
    let shared = shared + pools.iter().map(|pool| pool.lent).sum::<u64>();
    let asked: u64 = pools.iter().map(|pool| pool.asked).sum();
    let at = |price: u64| -> Vec<u64> { pools.iter().map(|pool| pool.buys(price)).collect() };
    let near = || pools.iter().map(|pool| pool.last_price).collect();
    let bought = vec![0; pools.len()];
    let none = |price| Reference { price, shared, asked, bought, reserve_binds: false, near: near() };
    if asked == 0 || shared == 0 {
        return none(None);
    }
    let marginal = lowest_price(pools, shared);
    let price = marginal.as_ref().map_or(0, |marginal| marginal.found - 1);
    if price < reserve {
        return Reference { bought: at(reserve), reserve_binds: true, ..none(Some(reserve)) };
    }
    let Some(Marginal { mut bought, at_price, near, .. }) = marginal else {
        return Reference { bought: at(0), ..none(Some(0)) };
    };
    let left = shared - bought.iter().sum::<u64>();
    if left > 0 {
        let claims: Vec<Claim<'_>> = pools
            .iter()
            .zip(bought.iter().zip(&at_price))
            .map(|(pool, (sure, most))| Claim { id: pool_id(pool.pool), chips: most - sure })
            .collect();
        for (sure, share) in bought.iter_mut().zip(divide(cycle, chip_type, Level::Pool, &claims, left)) {
            *sure += share;
        }
    }
    Reference { bought, near, ..none(Some(price)) }
}

/// The lowest reference price at which the shared chips suffice, and what pools buy there and one tick lower.
pub(crate) struct Marginal {
    pub(crate) found: u64,
    bought: Vec<u64>,
    at_price: Vec<u64>,
    /// A price near each pool's own.
    near: Vec<u64>,
}

/// Absent where the shared chips suffice even for nothing.
pub(crate) fn lowest_price(pools: &[PoolDemand<'_>], shared: u64) -> Option<Marginal> {
    let wanted: u64 = pools.iter().map(|pool| pool.buys(0)).sum();
    (wanted > shared).then(|| Purchases::search(pools, shared))
}

/// What all pools buy, while the search for the reference price narrows its bracket.
struct Purchases<'p, 'a> {
    shared: u64,
    /// Teams of pools that own nothing: such a pool buys what they ask for at the reference price itself.
    without: Window<'a>,
    /// Pools that own chips, but too few.
    blending: Vec<Blending<'p, 'a>>,
}

/// A pool that blends. Its own price never falls when the reference price rises, so the bracket of one holds the
/// other's.
struct Blending<'p, 'a> {
    pool: &'p PoolDemand<'a>,
    /// Teams' demand within `bracket`.
    window: Window<'a>,
    bracket: Bracket,
    /// Space for the search at one reference price.
    scratch: Window<'a>,
    /// At the reference prices of the outer bracket: what the pool buys.
    at_lo: u64,
    at_hi: u64,
    /// The reference price last asked about, the pool's own tick there, and what it buys.
    last: (u64, Bracket, u64),
}

impl<'p, 'a> Purchases<'p, 'a> {
    fn search(pools: &'p [PoolDemand<'a>], shared: u64) -> Marginal {
        let without = pools.iter().filter(|pool| pool.owned == 0).flat_map(|pool| pool.teams);
        let blending = pools.iter().filter(|pool| pool.blends()).map(Blending::new).collect();
        let mut purchases = Self { shared, without: Window::new(without), blending };
        let ceiling = pools.iter().map(|pool| pool.rates).max().unwrap_or(0) + 1;
        let found = lowest_tick(0, ceiling, start(pools, shared), &mut purchases);
        let mut blending = purchases.blending.iter();
        let count = pools.len();
        let (mut bought, mut at_price, mut near) =
            (Vec::with_capacity(count), Vec::with_capacity(count), Vec::with_capacity(count));
        for pool in pools {
            // One for each pool that blends, in the same order.
            let blended = if pool.blends() { blending.next() } else { None };
            let (at_found, one_lower, own) = match blended {
                Some(blended) => (blended.at_hi, blended.at_lo, blended.bracket.hi),
                None => (pool.buys(found), pool.buys(found - 1), found),
            };
            bought.push(at_found);
            at_price.push(one_lower);
            near.push(own);
        }
        Marginal { found, bought, at_price, near }
    }
}

/// The highest price of the last cycle; without one, what all rates would pay for the shared chips if chips could be
/// divided.
fn start(pools: &[PoolDemand<'_>], shared: u64) -> Guess {
    let last = pools.iter().map(|pool| pool.last_price).max().unwrap_or(0);
    if last > 0 {
        return Guess { price: last, step: last >> 5 };
    }
    let rates: u128 = pools.iter().map(|pool| u128::from(pool.rates)).sum();
    let price = u64::try_from(rates / u128::from(shared.max(1))).unwrap_or(u64::MAX);
    Guess { price, step: price >> 2 }
}

impl Excess for Purchases<'_, '_> {
    fn at(&mut self, reference: u64) -> i128 {
        let blending: u64 = self.blending.iter_mut().map(|pool| pool.buys(reference)).sum();
        i128::from(self.without.demand(reference) + blending) - i128::from(self.shared)
    }

    fn narrow(&mut self, above: bool) {
        self.without.narrow(above);
        for pool in &mut self.blending {
            pool.narrow(above);
        }
    }
}

impl<'p, 'a> Blending<'p, 'a> {
    fn new(pool: &'p PoolDemand<'a>) -> Self {
        Self {
            pool,
            window: Window::new(pool.teams.iter()),
            bracket: pool.whole_bracket(),
            scratch: Window::default(),
            at_lo: pool.buys(0),
            at_hi: 0,
            last: (0, pool.whole_bracket(), 0),
        }
    }

    fn buys(&mut self, reference: u64) -> u64 {
        let (last_reference, last_tick, _) = self.last;
        let guess = if last_reference == 0 {
            Guess { price: self.pool.last_price, step: self.pool.last_price >> 5 }
        } else {
            // Its own price moves about as the reference price does.
            let price = u128::from(last_tick.hi) * u128::from(reference) / u128::from(last_reference);
            let price = u64::try_from(price).unwrap_or(u64::MAX);
            Guess { price, step: price.abs_diff(last_tick.hi) >> 3 }
        };
        self.scratch.copy_from(&self.window);
        let tick = self.pool.tick(reference, self.bracket, guess, &mut self.scratch, None);
        let bought = self.pool.bought(reference, tick);
        self.last = (reference, tick, bought);
        bought
    }

    fn narrow(&mut self, above: bool) {
        let (_, tick, bought) = self.last;
        if above {
            self.at_lo = bought;
            if tick.lo > self.bracket.lo {
                (self.bracket.lo, self.bracket.at_lo) = (tick.lo, tick.at_lo);
                self.window.demand(tick.lo);
                self.window.narrow(true);
            }
        } else {
            self.at_hi = bought;
            if tick.hi < self.bracket.hi {
                (self.bracket.hi, self.bracket.at_hi) = (tick.hi, tick.at_hi);
                self.window.demand(tick.hi);
                self.window.narrow(false);
            }
        }
    }
}

/// The pool price `p_k` (4.3) from what the pool's own clearing and its purchase say; absent where the pool can get
/// nothing.
pub(crate) fn pool_price(
    pool: &PoolDemand<'_>,
    reference: Option<u64>,
    bought: u64,
    own_price: u64,
) -> Option<u64> {
    if pool.owned == 0 {
        return reference;
    }
    if pool.asked <= pool.owned {
        return Some(0);
    }
    let total = pool.owned + bought;
    let blended = reference.map_or(0, |reference| {
        let ceil = (u128::from(reference) * u128::from(bought)).div_ceil(u128::from(total));
        // At most the reference price, because `bought` is at most `total`.
        u64::try_from(ceil).unwrap_or(reference)
    });
    Some(own_price.max(blended))
}
