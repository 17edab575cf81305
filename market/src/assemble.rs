//! Makes a [`Market`] of the rows that a builder took: everything in canonical order, spending caps and limits in
//! global ticks.

use std::collections::HashSet;
use std::sync::Arc;

use common::money::Price;

use crate::bidder::ask;
use crate::builder::{MAX_AMOUNT, MarketBuilder, TeamInput};
use crate::error::SnapshotError;
use crate::market::{AlternativeRow, Market, NO_CHIP_TYPE, NO_PRICE, PoolRow, Ranks, TeamRow, global_limit};

impl MarketBuilder {
    /// The market: everything in canonical order, spending caps and limits in global ticks.
    ///
    /// # Errors
    /// An id given twice, or teams that could together bid more than an amount can hold.
    pub fn build(mut self) -> Result<Market, SnapshotError> {
        let chip_type_ranks = sort_by_id("chip_types", &mut self.chip_types, |row| row.id.as_str())?;
        let pool_ranks = sort_by_id("pools", &mut self.pools, |row| row.id.as_str())?;
        for alternative in &mut self.alternatives {
            if alternative.chip_type != NO_CHIP_TYPE {
                alternative.chip_type = chip_type_ranks[alternative.chip_type as usize];
            }
        }
        let place = |pool: u32, chip_type: u32| {
            let pool = pool_ranks[pool as usize] as usize;
            pool * chip_type_ranks.len() + chip_type_ranks[chip_type as usize] as usize
        };
        let mut owned = vec![0; self.pools.len() * self.chip_types.len()];
        for &(pool, chip_type, chips) in &self.owned {
            owned[place(pool, chip_type)] = chips;
        }
        let mut last_prices = vec![NO_PRICE; self.pools.len() * self.chip_types.len()];
        for &(pool, chip_type, price) in &self.last_prices {
            last_prices[place(pool, chip_type)] = price;
        }
        let mut teams = self.team_rows(&pool_ranks)?;
        let team_ranks = sort_by_id("teams", &mut teams, |row| row.id.as_str())?;
        self.order_bids(&mut teams, &team_ranks)?;
        let Self { cycle, time, chip_types, pools, bids, names, alternatives, .. } = self;
        let unshared = |alternative: &AlternativeRow| {
            alternative.chip_type != NO_CHIP_TYPE && chip_types[alternative.chip_type as usize].shared == 0
        };
        let needs_last_demand = alternatives.len() > bids.len() || alternatives.iter().any(unshared);
        let ranks = Ranks { chip_types: chip_type_ranks, pools: pool_ranks, teams: team_ranks };
        let mut market = Market {
            cycle,
            time,
            chip_types,
            pools,
            owned,
            last_prices,
            teams,
            bids,
            names,
            alternatives,
            needs_last_demand,
            settled: None,
            ranks,
        };
        if !needs_last_demand {
            market.settled = Some(Arc::new(ask(&market, None)));
        }
        Ok(market)
    }

    /// Teams with their spending caps, in the order added. Checks what a team, and all teams of a pool, could bid:
    /// prices stay below the sum, so that they fit an amount as well.
    fn team_rows(&self, pool_ranks: &[u32]) -> Result<Vec<TeamRow>, SnapshotError> {
        let mut caps = vec![0_u64; self.pools.len()];
        let mut rows = Vec::with_capacity(self.teams.len());
        for (index, team) in self.teams.iter().enumerate() {
            let local = u128::from(team.income) * u128::from(team.leverage_thousandths) / 1_000;
            let path = || format!("teams[{index}].leverage_thousandths");
            if local > u128::from(MAX_AMOUNT) {
                let problem = format!(
                    "is {}, which lets the team bid more than {} credits per hour",
                    team.leverage_thousandths,
                    Price(MAX_AMOUNT)
                );
                return Err(SnapshotError::new(path(), problem));
            }
            let pool = pool_ranks[team.pool as usize];
            let cap = spending_cap(team, &self.pools[pool as usize], self.sustain_minutes);
            let total = u128::from(caps[pool as usize]) + cap;
            caps[pool as usize] =
                u64::try_from(total).ok().filter(|total| *total <= MAX_AMOUNT).ok_or_else(|| {
                    let problem = format!(
                        "lets the teams of its pool together bid more than {} global credits per hour",
                        Price(MAX_AMOUNT)
                    );
                    SnapshotError::new(path(), problem)
                })?;
            let cap = u64::try_from(cap).unwrap_or(MAX_AMOUNT);
            rows.push(TeamRow { id: team.id.clone(), pool, cap, first_bid: 0, bids: 0 });
        }
        Ok(rows)
    }

    /// Puts bids in order of team, position and id, tells each team where its own are, and turns limits into global
    /// ticks.
    fn order_bids(&mut self, teams: &mut [TeamRow], ranks: &[u32]) -> Result<(), SnapshotError> {
        let names = &self.names;
        let mut seen = HashSet::with_capacity(names.len());
        if let Some(index) = names.iter().position(|name| !seen.insert(name.id.as_str())) {
            return Err(SnapshotError::twice(format!("bids[{index}].id"), &names[index].id));
        }
        drop(seen);
        for place in &mut self.queue {
            place.team = ranks[place.team as usize];
        }
        self.queue.sort_unstable_by(|a, b| {
            let ids = || names[a.row as usize].id.cmp(&names[b.row as usize].id);
            (a.team, a.position).cmp(&(b.team, b.position)).then_with(ids)
        });
        self.permute();
        for ((bid, name), place) in self.bids.iter_mut().zip(&self.names).zip(&self.queue) {
            let team = &mut teams[place.team as usize];
            team.bids += 1;
            let pool = &self.pools[team.pool as usize];
            bid.limit = global_limit(name.local_limit, pool.weight, pool.incomes);
        }
        let mut first_bid = 0;
        for team in teams {
            team.first_bid = first_bid;
            first_bid += team.bids;
        }
        self.queue = Vec::new();
        self.order_alternatives();
        Ok(())
    }

    /// Moves each bid to its place in the queue order without a second list: a million bids are large.
    fn permute(&mut self) {
        for start in 0..self.queue.len() {
            // Follows the cycle of moves that begins here; a row that is done points to itself.
            let mut at = start;
            loop {
                let from = self.queue[at].row as usize;
                self.queue[at].row = u32::try_from(at).unwrap_or(u32::MAX);
                if from == start || from == at {
                    break;
                }
                self.bids.swap(at, from);
                self.names.swap(at, from);
                at = from;
            }
        }
    }

    /// Puts alternatives in the order of the bids, so that clearing reads them one after the other.
    fn order_alternatives(&mut self) {
        if self.bids.is_sorted_by_key(|bid| bid.first_alternative) {
            return;
        }
        let mut ordered = Vec::with_capacity(self.alternatives.len());
        for bid in &mut self.bids {
            let first = bid.first_alternative as usize;
            bid.first_alternative = u32::try_from(ordered.len()).unwrap_or(u32::MAX);
            ordered.extend_from_slice(&self.alternatives[first..first + usize::from(bid.alternatives)]);
        }
        self.alternatives = ordered;
    }
}

/// `cap_i` of market.md 3.1. Both bounds are exact fractions with one floor; the lower floor is the floor of the
/// lower bound.
fn spending_cap(team: &TeamInput, pool: &PoolRow, sustain_minutes: u32) -> u128 {
    if pool.incomes == 0 {
        return 0;
    }
    let (weight, incomes) = (u128::from(pool.weight), u128::from(pool.incomes));
    let sustain = i128::from(sustain_minutes);
    let by_income =
        weight * u128::from(team.leverage_thousandths) * u128::from(team.income) / (1_000 * incomes);
    let lasting = i128::from(team.income) * sustain + i128::from(team.balance) * 60;
    // 2^53 · (2^53 · 2^17 + 2^53 · 2^6) stays below 2^124.
    let by_balance = weight * u128::try_from(lasting).unwrap_or(0) / (sustain.unsigned_abs() * incomes);
    by_income.min(by_balance)
}

/// Sorts rows by id and says where each went.
fn sort_by_id<T>(list: &str, rows: &mut Vec<T>, id: impl Fn(&T) -> &str) -> Result<Vec<u32>, SnapshotError> {
    let count = u32::try_from(rows.len()).unwrap_or(u32::MAX);
    if rows.is_sorted_by(|a, b| id(a) < id(b)) {
        return Ok((0..count).collect());
    }
    let mut taken: Vec<(u32, T)> = (0..count).zip(rows.drain(..)).collect();
    taken.sort_by(|a, b| id(&a.1).cmp(id(&b.1)));
    if let Some(pair) = taken.windows(2).find(|pair| id(&pair[0].1) == id(&pair[1].1)) {
        return Err(SnapshotError::twice(format!("{list}[{}].id", pair[1].0), id(&pair[1].1)));
    }
    let mut ranks = vec![0; taken.len()];
    for (rank, (index, row)) in (0..count).zip(taken) {
        ranks[index as usize] = rank;
        rows.push(row);
    }
    Ok(ranks)
}
