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

use std::sync::OnceLock;

use crate::asks::Asks;
use crate::bidder::over_teams;
use crate::curve::TeamCurve;
use crate::demand::{Demand, pools_of};
use crate::market::{AlternativeRow, Market, NO_CHIP_TYPE};
use crate::pool::{Added, Bracket, PoolDemand};
use crate::reference::lowest_price;
use crate::search::Guess;
use crate::window::Window;

/// All chip types' markets as their last demand makes them.
pub(crate) struct LastMarkets<'a> {
    of: Vec<LastMarket<'a>>,
}

/// One chip type's market on its last demand.
pub(crate) struct LastMarket<'a> {
    chip_type: usize,
    pools: Vec<PoolDemand<'a>>,
    /// Chips that pools lend.
    pub(crate) lent: u64,
    /// Shared chips and those lent.
    shared: u64,
    reserve: u64,
    ladder: OnceLock<Vec<Rung>>,
}

/// A reference price.
struct Rung {
    price: u64,
    /// What each pool buys at it, computed once.
    purchases: OnceLock<Box<Purchases>>,
}

struct Purchases {
    total: u64,
    /// By pool: chips, and the bracket of the pool's own tick.
    of: Vec<(u64, Bracket)>,
}

impl<'a> LastMarkets<'a> {
    /// What bids asked for in the chip types that they hold.
    pub(crate) fn demand(market: &Market) -> Demand {
        over_teams(market, |teams| {
            let mut demand = Demand::default();
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
                let cap = market.teams[team].cap;
                demand.push_team(u32::try_from(team).unwrap_or(u32::MAX), &mut asks, |_| cap);
            }
            demand
        })
    }

    /// The curves of that demand by chip type, ordered by pool and team.
    pub(crate) fn curves<'d>(market: &Market, demand: &'d Demand) -> Vec<Vec<TeamCurve<'d>>> {
        let by_type = demand.rows_by_type(market);
        by_type.iter().map(|rows| rows.iter().map(|row| demand.curve(*row as usize)).collect()).collect()
    }

    pub(crate) fn new(market: &Market, curves: &'a [Vec<TeamCurve<'a>>]) -> Self {
        let of = curves.iter().enumerate().map(|(chip_type, curves)| {
            let pools = pools_of(market, chip_type, curves);
            let row = &market.chip_types[chip_type];
            let lent = pools.iter().map(|pool| pool.lent).sum();
            let (shared, reserve) = (row.shared + lent, row.reserve);
            LastMarket { chip_type, pools, lent, shared, reserve, ladder: OnceLock::new() }
        });
        Self { of: of.collect() }
    }

    pub(crate) fn of(&self, chip_type: usize) -> &LastMarket<'a> {
        &self.of[chip_type]
    }
}

impl LastMarket<'_> {
    /// The price in the team's pool once a bid of the team is added, in global ticks; absent where the pool could
    /// get nothing.
    pub(crate) fn would_face(&self, market: &Market, team: usize, chips: u32, limit: u64) -> Option<u64> {
        let index = u32::try_from(team).unwrap_or(u32::MAX);
        let row = &market.teams[team];
        let place = self.pools.binary_search_by_key(&row.pool, |pool| pool.pool);
        let absent;
        let pool = match place {
            Ok(nth) => &self.pools[nth],
            Err(_) => {
                // It owns none, and none of its teams holds any.
                absent = PoolDemand::new(
                    row.pool,
                    0,
                    0,
                    market.last_price(row.pool as usize, self.chip_type),
                    &[],
                );
                &absent
            }
        };
        let own = pool.teams.binary_search_by_key(&index, |curve| curve.team).ok().map(|nth| pool.teams[nth]);
        let curve = own.unwrap_or(TeamCurve { team: index, rate: row.cap, steps: &[] });
        let added = Added { curve, limit, chips: u64::from(chips) };
        if pool.asked + added.chips <= pool.owned {
            return Some(0);
        }
        let shared = self.shared - pool.lent;
        if shared == 0 {
            return (pool.owned > 0).then(|| pool.price_alone(&added));
        }
        let ladder = self.ladder(market);
        let with_bid = |rung: &Rung| {
            let purchases = self.purchases(rung);
            let own = place.map_or_else(|_| pool.purchase(rung.price), |nth| purchases.of[nth]);
            let others = purchases.total - place.map_or(0, |_| own.0);
            (others, buys_more(pool, rung.price, own, &added))
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
            buys_more(pool, self.reserve, pool.purchase(self.reserve), &added)
        } else {
            with_bid(&ladder[nth]).1
        };
        let blended = (u128::from(reference) * u128::from(bought)).div_ceil(u128::from(pool.owned + bought));
        Some((tick.hi - 1).max(u64::try_from(blended).unwrap_or(reference)))
    }

    fn purchases<'r>(&self, rung: &'r Rung) -> &'r Purchases {
        rung.purchases.get_or_init(|| {
            let of: Vec<_> = self.pools.iter().map(|pool| pool.purchase(rung.price)).collect();
            Box::new(Purchases { total: of.iter().map(|(chips, _)| chips).sum(), of })
        })
    }

    /// From the price at which the last demand clears to one at which no pool buys anything, whoever joins it.
    fn ladder(&self, market: &Market) -> &[Rung] {
        self.ladder.get_or_init(|| {
            let rates = self.pools.iter().map(|pool| pool.rates).max().unwrap_or(0);
            let cap = market.teams.iter().map(|team| team.cap).max().unwrap_or(0);
            let top = rates + cap + 1;
            let mut price = lowest_price(&self.pools, self.shared).map_or(0, |found| found.found);
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
    pool: &PoolDemand<'_>,
    reference: u64,
    (bought, tick): (u64, Bracket),
    added: &Added<'_>,
) -> (u64, Bracket) {
    let whole = pool.whole_bracket_with(added);
    if reference == 0 {
        return (whole.at_lo - pool.owned, whole);
    }
    if pool.owned == 0 {
        return (bought + added.at(reference), whole);
    }
    let mut window = Window::new(pool.teams.iter());
    let (bracket, guess) = if pool.blends() {
        // More demand only raises the pool's own tick; where rates bind, about in proportion.
        let at_lo = if tick.lo == 0 { whole.at_lo } else { tick.at_lo + added.at(tick.lo) };
        let step = u128::from(tick.hi) * u128::from(added.chips) / u128::from(tick.at_lo.max(1));
        let step = u64::try_from(step).unwrap_or(u64::MAX);
        (Bracket { lo: tick.lo, at_lo, ..whole }, Guess { price: tick.hi, step })
    } else {
        (whole, Guess { price: pool.last_price, step: pool.last_price >> 5 })
    };
    let tick = pool.tick(reference, bracket, guess, &mut window, Some(added));
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
