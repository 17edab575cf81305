//! Which alternative a bid takes (market.md 3.2).

use std::collections::BTreeMap;

use crate::curve::{Step, TeamCurve, push_steps};
use crate::market::{Market, NO_ALTERNATIVE, NO_CHIP_TYPE};
use crate::pool::PoolDemand;
use crate::reference::{clear_reference, pool_price};
use crate::ties::may_move;

/// Chooses alternatives. Computes what a market last asked for only when a bid has a choice to make.
pub(crate) struct Chooser<'a> {
    market: &'a Market,
    /// Per chip type, once needed.
    last: Vec<Option<LastDemand>>,
    /// What a bid would face, by chip type, team, chips and limit.
    faced: BTreeMap<(u32, u32, u32, u64), Option<u64>>,
}

impl<'a> Chooser<'a> {
    pub(crate) fn new(market: &'a Market) -> Self {
        let last = market.chip_types.iter().map(|_| None).collect();
        Self { market, last, faced: BTreeMap::new() }
    }

    /// The index of the bid's choice among its alternatives, or [`NO_ALTERNATIVE`].
    pub(crate) fn choose(&mut self, team: usize, bid: usize) -> u16 {
        let market = self.market;
        let row = &market.bids[bid];
        if !row.in_window {
            return NO_ALTERNATIVE;
        }
        let pool = market.teams[team].pool as usize;
        let alternatives = market.alternatives_of(bid);
        let admissible = |chooser: &mut Self, nth: u16| {
            let chip_type = alternatives[usize::from(nth)].chip_type;
            chip_type != NO_CHIP_TYPE && chooser.can_get(pool, chip_type as usize)
        };
        if row.alternatives == 1 {
            return if admissible(self, 0) { 0 } else { NO_ALTERNATIVE };
        }
        let held = Some(row.held).filter(|held| *held < row.alternatives && admissible(self, *held));
        if held.is_some() && !may_move(market.cycle, row.id.as_str()) {
            return row.held;
        }
        let mut best: Option<(u128, u16)> = None;
        for nth in 0..row.alternatives {
            if Some(nth) == held || !admissible(self, nth) {
                continue;
            }
            let cost = self.would_cost(team, bid, nth);
            if best.is_none_or(|(least, _)| cost < least) {
                best = Some((cost, nth));
            }
        }
        let (Some(held), Some((new, nth))) = (held, best) else {
            return held.or(best.map(|(_, nth)| nth)).unwrap_or(NO_ALTERNATIVE);
        };
        let alternative = alternatives[usize::from(held)];
        let price = market.last_price(pool, alternative.chip_type as usize);
        let old = u128::from(alternative.chips) * u128::from(price);
        if new < old && new.saturating_mul(100) <= old * 95 { nth } else { held }
    }

    /// Whether the pool can get chips of the type: its own, shared ones, or those lent on the last demand.
    fn can_get(&mut self, pool: usize, chip_type: usize) -> bool {
        let market = self.market;
        market.owned(pool, chip_type) > 0
            || market.chip_types[chip_type].shared > 0
            || self.last_demand(chip_type).lent(market, chip_type) > 0
    }

    fn last_demand(&mut self, chip_type: usize) -> &LastDemand {
        self.last[chip_type].get_or_insert_with(|| LastDemand::new(self.market, chip_type))
    }

    /// Chips times the price the bid would face there; beyond everything where there would be no price.
    fn would_cost(&mut self, team: usize, bid: usize, nth: u16) -> u128 {
        let market = self.market;
        let alternative = market.alternatives_of(bid)[usize::from(nth)];
        let limit = market.bids[bid].limit;
        let index = u32::try_from(team).unwrap_or(u32::MAX);
        let key = (alternative.chip_type, index, alternative.chips, limit);
        let price = match self.faced.get(&key) {
            Some(price) => *price,
            None => {
                let last = self.last_demand(alternative.chip_type as usize);
                let price = last.would_face(market, key);
                self.faced.insert(key, price);
                price
            }
        };
        price.map_or(u128::MAX, |price| u128::from(alternative.chips) * u128::from(price))
    }
}

/// Who asked for a chip type in the last cycle: the bids that held it, each team with its whole spending cap.
#[derive(Debug, Default)]
struct LastDemand {
    /// Team and its steps, ordered by pool and team.
    teams: Vec<(u32, Vec<Step>)>,
}

impl LastDemand {
    fn new(market: &Market, chip_type: usize) -> Self {
        let mut teams = Vec::new();
        for team in 0..market.teams.len() {
            let mut asks: Vec<(u64, u64)> = market
                .bids_of(team)
                .filter_map(|bid| {
                    let row = &market.bids[bid];
                    let held = market.alternatives_of(bid).get(usize::from(row.held))?;
                    let counts = row.in_window && held.chip_type as usize == chip_type;
                    counts.then_some((row.limit, u64::from(held.chips)))
                })
                .collect();
            if !asks.is_empty() {
                asks.sort_unstable_by(|a, b| b.cmp(a));
                let mut steps = Vec::new();
                push_steps(&mut steps, asks.into_iter());
                teams.push((u32::try_from(team).unwrap_or(u32::MAX), steps));
            }
        }
        teams.sort_by_key(|(team, _)| market.teams[*team as usize].pool);
        Self { teams }
    }

    fn curves<'s>(&'s self, market: &Market) -> Vec<TeamCurve<'s>> {
        let curve = |(team, steps): &'s (u32, Vec<Step>)| TeamCurve {
            team: *team,
            rate: market.teams[*team as usize].cap,
            steps,
        };
        self.teams.iter().map(curve).collect()
    }

    fn lent(&self, market: &Market, chip_type: usize) -> u64 {
        pools_of(market, chip_type, &self.curves(market)).iter().map(|pool| pool.lent).sum()
    }

    /// The price in the team's pool once the bid is added to the team's curve.
    fn would_face(
        &self,
        market: &Market,
        (chip_type, team, chips, limit): (u32, u32, u32, u64),
    ) -> Option<u64> {
        let mut added = Self { teams: self.teams.clone() };
        let pool_of = |team: u32| market.teams[team as usize].pool;
        let place =
            added.teams.partition_point(|(other, _)| (pool_of(*other), *other) < (pool_of(team), team));
        if added.teams.get(place).is_none_or(|(other, _)| *other != team) {
            added.teams.insert(place, (team, Vec::new()));
        }
        let steps = &mut added.teams[place].1;
        let mut asks: Vec<(u64, u64)> = Vec::with_capacity(steps.len() + 1);
        let mut before = 0;
        for step in steps.iter() {
            asks.push((step.limit, step.cumulative - before));
            before = step.cumulative;
        }
        asks.push((limit, u64::from(chips)));
        asks.sort_unstable_by(|a, b| b.cmp(a));
        steps.clear();
        push_steps(steps, asks.into_iter());

        let curves = added.curves(market);
        let row = &market.chip_types[chip_type as usize];
        let pools = pools_of(market, chip_type as usize, &curves);
        let id = |pool: u32| market.pools[pool as usize].id.as_str();
        let cleared = clear_reference(&pools, row.shared, row.reserve, market.cycle, row.id.as_str(), id);
        let nth = pools.iter().position(|pool| pool.pool == pool_of(team))?;
        let (pool, bought) = (&pools[nth], cleared.bought[nth]);
        let shares = pool.share(pool.owned + bought, market.cycle, row.id.as_str(), |team| {
            market.teams[team as usize].id.as_str()
        });
        pool_price(pool, cleared.price, bought, shares.own_price)
    }
}

/// The pools that own chips of the type or ask for some, in order of their ids; curves are ordered by pool.
pub(crate) fn pools_of<'a>(
    market: &Market,
    chip_type: usize,
    curves: &'a [TeamCurve<'a>],
) -> Vec<PoolDemand<'a>> {
    let mut rest = curves;
    let mut pools = Vec::new();
    for (pool, row) in (0..).zip(&market.pools) {
        let count = rest.partition_point(|curve| market.teams[curve.team as usize].pool == pool);
        let (mine, others) = rest.split_at(count);
        rest = others;
        let owned = market.owned(pool as usize, chip_type);
        if owned > 0 || !mine.is_empty() {
            pools.push(PoolDemand::new(pool, owned, row.may_lend, mine));
        }
    }
    pools
}
