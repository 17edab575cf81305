//! The price a bid would face in a market it does not hold (market.md 3.2).
//!
//! The market is its last demand, the bids that held the type in the last cycle, on today's supply, each team with
//! its whole spending cap. Clearing it again for every bid that looks at it would cost far more than clearing it for
//! real, so the price is an estimate in one respect: reference prices above the one at which the last demand clears
//! are looked at on a ladder whose rungs are 1/32 apart (never less than a tick; from a free market the first is a
//! millionth of the highest price that anyone could pay), and the lowest rung at which the shared chips suffice with
//! the bid added counts. Everything else is exact: the bid is added to its own team's curve
//! under the team's cap, its pool stops lending what the bid needs, and its pool blends its own chips as in 4.1 to
//! 4.3. So a bid that moves no price sees the exact one, and any other sees at most 1/32 too much.

use std::sync::{Arc, OnceLock};

use crate::asks::Asks;
use crate::curve::TeamCurve;
use crate::demand::{Asked, Demand};
use crate::market::{AlternativeRow, Market, NO_CHIP_TYPE};
use crate::pool::{Added, PoolDemand};
use crate::purchases::lowest_price;
use crate::team_asks::{TeamAsks, over_teams};
use crate::window::{Bracket, Window};

/// All chip types' markets as their last demand makes them.
#[derive(Clone, Debug)]
pub(crate) struct LastMarkets {
    of: Vec<Arc<LastMarket>>,
}

/// One chip type's market on its last demand.
#[derive(Debug)]
pub(crate) struct LastMarket {
    demand: Arc<Demand>,
    chip_type: usize,
    pools: Vec<PoolDemand>,
    /// Chips that pools lend.
    pub(crate) lent: u64,
    /// Shared chips and those lent.
    shared: u64,
    reserve: u64,
    ladder: OnceLock<Vec<Rung>>,
}

/// A reference price.
#[derive(Debug)]
struct Rung {
    price: u64,
    /// What each pool buys at it, computed once.
    purchases: OnceLock<Box<Purchases>>,
}

#[derive(Debug)]
struct Purchases {
    total: u64,
    /// By pool: chips, and the bracket of the pool's own tick where it blends.
    of: Vec<(u64, Option<Bracket>)>,
}

impl LastMarkets {
    pub(crate) fn new(market: &Market) -> Self {
        let asked = Asked::new(market, last_asks(market));
        let rates = asked.teams.iter().map(|team| market.teams[*team as usize].cap).collect();
        let demand = Arc::new(Demand { asked: Arc::new(asked), rates });
        let of = 0..market.chip_types.len();
        Self { of: of.map(|chip_type| Arc::new(LastMarket::new(market, chip_type, &demand))).collect() }
    }

    /// The same with another demand of one team for one chip type.
    pub(crate) fn set(&mut self, market: &Market, chip_type: usize, team: u32, curve: Option<TeamCurve<'_>>) {
        let last = &self.of[chip_type].demand;
        let demand = last.extract(market, chip_type, 0..market.pools.len(), team, curve);
        self.of[chip_type] = Arc::new(LastMarket::new(market, chip_type, &Arc::new(demand)));
    }

    /// A team's demand for a chip type.
    pub(crate) fn curve(&self, market: &Market, chip_type: usize, team: u32) -> Option<TeamCurve<'_>> {
        let demand = &self.of[chip_type].demand;
        demand.row_of(market, chip_type, team).map(|row| demand.curve(row))
    }

    /// Chips of a type that pools lend.
    pub(crate) fn lent(&self, chip_type: usize) -> u64 {
        self.of[chip_type].lent
    }

    /// The price in the team's pool once a bid of the team is added, in global ticks; absent where the pool could
    /// get nothing.
    pub(crate) fn would_face(
        &self,
        market: &Market,
        team: usize,
        wanted: &AlternativeRow,
        limit: u64,
    ) -> Option<u64> {
        self.of[wanted.chip_type as usize].would_face(market, team, wanted.chips, limit)
    }
}

/// What bids asked for in the chip types that they hold.
fn last_asks(market: &Market) -> Vec<TeamAsks> {
    over_teams(market, |teams| {
        let mut part = TeamAsks::default();
        let mut asks = Asks::new(market.chip_types.len());
        for team in teams {
            for bid in market.bids_of(team) {
                let row = &market.bids[bid];
                let held = market.alternatives_of(bid).get(usize::from(row.held));
                let counts = |held: &&AlternativeRow| row.in_window && held.chip_type != NO_CHIP_TYPE;
                if let Some(held) = held.filter(counts) {
                    asks.add(held.chip_type, row.limit, held.chips);
                }
            }
            part.push_team(u32::try_from(team).unwrap_or(u32::MAX), &mut asks);
        }
        part
    })
}

impl LastMarket {
    fn new(market: &Market, chip_type: usize, demand: &Arc<Demand>) -> Self {
        let (pools, row) = (demand.pools_of(market, chip_type), &market.chip_types[chip_type]);
        let lent = pools.iter().map(|pool| pool.lent).sum();
        let (shared, reserve, ladder) = (row.shared + lent, row.reserve, OnceLock::new());
        Self { demand: Arc::clone(demand), chip_type, pools, lent, shared, reserve, ladder }
    }

    fn would_face(&self, market: &Market, team: usize, chips: u32, limit: u64) -> Option<u64> {
        let demand = &*self.demand;
        let index = u32::try_from(team).unwrap_or(u32::MAX);
        let row = &market.teams[team];
        let place = self.pools.binary_search_by_key(&row.pool, |pool| pool.pool);
        let absent;
        let pool = match place {
            Ok(nth) => &self.pools[nth],
            Err(_) => {
                // It owns none, and none of its teams holds any.
                let pool = row.pool as usize;
                absent = PoolDemand::new(demand, pool, 0, 0, market.last_price(pool, self.chip_type), 0..0);
                &absent
            }
        };
        let own = demand.asked.teams[pool.rows.clone()].binary_search(&index);
        let own = own.ok().map(|nth| demand.curve(pool.rows.start + nth));
        let curve = own.unwrap_or(TeamCurve { rate: row.cap, steps: &[] });
        let added = Added { curve, limit, chips: u64::from(chips) };
        if pool.asked + added.chips <= pool.owned {
            return Some(0);
        }
        let shared = self.shared - pool.lent;
        if shared == 0 {
            return (pool.owned > 0).then(|| pool.price_alone(demand, &added));
        }
        let ladder = self.ladder(market, demand);
        let with_bid = |rung: &Rung| {
            let purchases = self.purchases(demand, rung);
            let own = place.map_or_else(|_| pool.purchase(demand, rung.price), |nth| purchases.of[nth]);
            let others = purchases.total - place.map_or(0, |_| own.0);
            (others, buys_more(demand, pool, rung.price, own, &added))
        };
        let nth = climb(ladder.len(), |nth| {
            let (others, (bought, _)) = with_bid(&ladder[nth]);
            others + bought <= shared
        });
        let found = ladder[nth].price;
        let reference = found.saturating_sub(1).max(self.reserve);
        if pool.owned == 0 || reference == 0 {
            return Some(reference);
        }
        let (bought, tick) = if found < self.reserve {
            buys_more(demand, pool, self.reserve, pool.purchase(demand, self.reserve), &added)
        } else {
            with_bid(&ladder[nth]).1
        };
        let blended = (u128::from(reference) * u128::from(bought)).div_ceil(u128::from(pool.owned + bought));
        Some((tick.hi - 1).max(u64::try_from(blended).unwrap_or(reference)))
    }

    fn purchases<'r>(&self, demand: &Demand, rung: &'r Rung) -> &'r Purchases {
        rung.purchases.get_or_init(|| {
            let of: Vec<_> = self.pools.iter().map(|pool| pool.purchase(demand, rung.price)).collect();
            Box::new(Purchases { total: of.iter().map(|(chips, _)| chips).sum(), of })
        })
    }

    /// From the price at which the last demand clears to one at which no pool buys anything, whoever joins it.
    fn ladder(&self, market: &Market, demand: &Demand) -> &[Rung] {
        self.ladder.get_or_init(|| {
            let rates = self.pools.iter().map(|pool| pool.rates).max().unwrap_or(0);
            let cap = market.teams.iter().map(|team| team.cap).max().unwrap_or(0);
            let top = rates + cap + 1;
            let mut price = lowest_price(demand, &self.pools, self.shared).map_or(0, |found| found.found);
            let mut ladder = Vec::new();
            loop {
                ladder.push(Rung { price, purchases: OnceLock::new() });
                if price >= top {
                    return ladder;
                }
                // From free the first rung is a millionth of the top: nobody tells prices below it apart.
                let step = if price == 0 { top >> 20 } else { price >> 5 };
                price = (price + step.max(1)).min(top);
            }
        })
    }
}

/// What a pool buys at a reference price with a bid added, and the bracket of its own tick there, from both without
/// the bid.
fn buys_more(
    demand: &Demand,
    pool: &PoolDemand,
    reference: u64,
    (bought, tick): (u64, Option<Bracket>),
    added: &Added<'_>,
) -> (u64, Bracket) {
    // Of account only where the pool owns chips and the price is not 0.
    let none = Bracket { lo: 0, hi: 1, at_lo: 0, at_hi: 0 };
    if reference == 0 {
        return (pool.asked + added.chips - pool.owned, none);
    }
    if pool.owned == 0 {
        return (bought + added.at(reference), none);
    }
    let mut window = tick.map_or_else(
        || pool.window(demand),
        |tick| {
            // More demand only raises the pool's own tick; where rates bind, about in proportion.
            let step = u128::from(tick.hi) * u128::from(added.chips) / u128::from(tick.at_lo.max(1));
            let step = u64::try_from(step).unwrap_or(u64::MAX).max(1);
            Window::between(demand, vec![pool.rows.clone()], tick.lo, tick.hi.saturating_add(step))
        },
    );
    let tick = window.tick(demand, Some(added), pool.unpaid(reference));
    (pool.bought(reference, tick), tick)
}

/// The lowest of `0 .. count` that suffices; the last one does. Most bids need only the first few.
fn climb(count: usize, suffices: impl Fn(usize) -> bool) -> usize {
    let (mut below, mut step, mut at) = (0, 1, 0);
    while at < count - 1 && !suffices(at) {
        below = at + 1;
        at += step;
        step *= 2;
    }
    let mut above = at.min(count - 1);
    while below < above {
        let middle = below + (above - below) / 2;
        if suffices(middle) { above = middle } else { below = middle + 1 }
    }
    above
}
