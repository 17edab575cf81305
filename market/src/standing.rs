//! One chip type's market as it was cleared, kept to be cleared again with other demand of one team.
//!
//! All other teams' demand is summed up around the price that was found, so that clearing again looks only at the few
//! whose quantity changes near it.

use crate::demand::Demand;
use crate::market::Market;
use crate::pool::{PoolDemand, Tie, pool_price};
use crate::purchases::{Blending, Instead, Purchases, guess};
use crate::ties::{Claim, Level, divide};
use crate::window::Window;

/// A market that is cleared.
#[derive(Debug)]
pub(crate) struct Standing {
    chip_type: usize,
    pools: Vec<PoolDemand>,
    /// Chips that pools lend.
    lent: u64,
    asked: u64,
    /// What pools would buy for nothing.
    wanted: u64,
    /// A price near the reference price.
    near: u64,
    without: Window,
    blending: Vec<Blending>,
}

/// What a team has in a market.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Place {
    /// In its pool, in global ticks.
    pub(crate) price: Option<u64>,
    pub(crate) quota: u64,
}

/// How far around the price that was found demand is summed up: as a part of the price.
const AROUND: u32 = 7;

impl Standing {
    pub(crate) fn new(market: &Market, demand: &Demand, chip_type: usize, reference: Option<u64>) -> Self {
        let pools = demand.pools_of(market, chip_type);
        let lent = pools.iter().map(|pool| pool.lent).sum();
        let shared = market.chip_types[chip_type].shared + lent;
        let near = reference.filter(|price| *price > 0).unwrap_or_else(|| guess(&pools, shared));
        let around = |price: u64| {
            let margin = (price >> AROUND).max(1);
            (price.saturating_sub(margin), price.saturating_add(margin))
        };
        let without = pools.iter().filter(|pool| pool.owned == 0).map(|pool| pool.rows.clone()).collect();
        let (lo, hi) = around(near);
        let without = Window::between(demand, without, lo, hi);
        let blending = pools.iter().enumerate().filter(|(_, pool)| pool.blends()).map(|(nth, pool)| {
            let (_, tick) = pool.purchase(demand, near.max(1));
            let (lo, hi) = around(tick.map_or(near, |tick| tick.hi));
            Blending::new(nth, pool, Window::between(demand, vec![pool.rows.clone()], lo, hi))
        });
        let blending = blending.collect();
        let asked = pools.iter().map(|pool| pool.asked).sum();
        let wanted = pools.iter().map(PoolDemand::wanted).sum();
        Self { chip_type, pools, lent, asked, wanted, near, without, blending }
    }

    /// Clears the market with other demand of the pool that the team is in (4.0 to 4.3): an extract of it.
    pub(crate) fn clear_with(&self, market: &Market, demand: &Demand, extract: &Demand, team: u32) -> Place {
        let pool = market.teams[team as usize].pool as usize;
        let pool = extract.pool_in(market, self.chip_type, pool);
        let (asked, reference, bought) = self.reference_with(market, demand, extract, &pool);
        let tie = Tie {
            cycle: market.cycle,
            chip_type: market.chip_types[self.chip_type].id.as_str(),
            id: |team: u32| market.teams[team as usize].id.as_str(),
        };
        let shares = pool.share(extract, pool.owned + bought, None, &tie);
        let price = (asked > 0).then(|| pool_price(&pool, reference, bought, shares.own_price)).flatten();
        let row = extract.row_of(market, self.chip_type, team);
        Place { price, quota: row.map_or(0, |row| shares.quotas[row - pool.rows.start]) }
    }

    /// What is asked for, the reference price, and what the pool buys at it (4.2, 4.6 and 4.7).
    fn reference_with(
        &self,
        market: &Market,
        demand: &Demand,
        extract: &Demand,
        pool: &PoolDemand,
    ) -> (u64, Option<u64>, u64) {
        let row = &market.chip_types[self.chip_type];
        let nth = self.pools.binary_search_by_key(&pool.pool, |pool| pool.pool).ok();
        let replaced = nth.map(|nth| &self.pools[nth]);
        let was = |figure: fn(&PoolDemand) -> u64| replaced.map_or(0, figure);
        let shared = row.shared + self.lent - was(|pool| pool.lent) + pool.lent;
        let asked = self.asked - was(|pool| pool.asked) + pool.asked;
        let wanted = self.wanted - was(PoolDemand::wanted) + pool.wanted();
        if asked == 0 || shared == 0 {
            return (asked, None, 0);
        }
        if wanted <= shared {
            return (asked, Some(row.reserve), pool.buys(extract, row.reserve));
        }
        let mut without = Window::default();
        without.copy_from(&self.without);
        let others = self.blending.iter().filter(|blending| Some(blending.nth) != nth);
        let own = pool.blends().then(|| Blending::new(0, pool, pool.window(extract)));
        let mut purchases = Purchases {
            demand,
            pools: &self.pools,
            shared,
            without,
            blending: others.map(Blending::copy).collect(),
            instead: Some(Instead {
                demand: extract,
                pool,
                replaced: replaced.filter(|pool| pool.owned == 0),
                blending: own,
            }),
        };
        let found = purchases.find(self.near);
        if found - 1 < row.reserve {
            return (asked, Some(row.reserve), pool.buys(extract, row.reserve));
        }
        (asked, Some(found - 1), self.bought(market, purchases, found))
    }

    /// What the pool that stands in for another buys: what it does at the tick that was found, and its part of the chips
    /// that are left there.
    fn bought(&self, market: &Market, purchases: Purchases<'_>, found: u64) -> u64 {
        let Purchases { demand, shared, without, blending, instead, .. } = purchases;
        let Some(Instead { demand: extract, pool, replaced, blending: own }) = instead else { return 0 };
        let (sure, more) = match own {
            Some(own) => (own.at_hi, own.at_lo - own.at_hi),
            None if pool.owned == 0 => {
                let sure = pool.demand(extract, found);
                (sure, pool.demand(extract, found - 1) - sure)
            }
            None => (0, 0),
        };
        let others = without.bracket.at_hi - replaced.map_or(0, |pool| pool.demand(demand, found));
        let left = shared - others - blending.iter().map(|each| each.at_hi).sum::<u64>() - sure;
        if left == 0 || more == 0 {
            return sure;
        }
        let id = |pool: &PoolDemand| market.pools[pool.pool as usize].id.as_str();
        let mut claims = vec![Claim { id: id(pool), chips: more }];
        claims.extend(
            blending
                .iter()
                .map(|each| Claim { id: id(&self.pools[each.nth]), chips: each.at_lo - each.at_hi }),
        );
        let none = self.pools.iter().filter(|other| other.owned == 0 && other.pool != pool.pool);
        claims.extend(none.map(|pool| {
            let chips = without.marginal(&pool.rows).map(|(_, chips)| chips).sum();
            Claim { id: id(pool), chips }
        }));
        let chip_type = market.chip_types[self.chip_type].id.as_str();
        sure + divide(market.cycle, chip_type, Level::Pool, &claims, left)[0]
    }
}
