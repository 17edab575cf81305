//! The compact, checked form of a snapshot that is cleared: indices instead of ids, canonical order, global ticks.
//!
//! A [`Market`] is made by [`MarketBuilder`](crate::MarketBuilder) only, so whatever reads one can rely on its bounds:
//! every price, rate and limit is at most 2^53 − 1 ticks, every sum of chips fits 64 bits, and every product of the
//! two fits 128.

use std::sync::Arc;

use common::ids::{BidId, ChipTypeId, PoolId, TeamId};
use common::instant::Instant;

use crate::builder::{ChipTypeIndex, PoolIndex, TeamIndex};
use crate::curve::NO_LIMIT;
use crate::demand::Asked;
use crate::queue::Queue;

/// A checked snapshot, ready to clear.
#[derive(Clone, Debug)]
pub struct Market {
    pub(crate) cycle: u64,
    pub(crate) time: Instant,
    pub(crate) chip_types: Vec<ChipTypeRow>,
    pub(crate) pools: Vec<PoolRow>,
    /// Chips owned, by pool and then chip type.
    pub(crate) owned: Vec<u64>,
    /// Prices of the last cycle in global ticks, by pool and then chip type; [`NO_PRICE`] where there was none.
    pub(crate) last_prices: Vec<u64>,
    pub(crate) teams: Vec<TeamRow>,
    /// In order of team, position and id.
    pub(crate) bids: Vec<BidRow>,
    /// In the order of the bids.
    pub(crate) names: Vec<BidName>,
    /// In the order of the bids.
    pub(crate) alternatives: Vec<AlternativeRow>,
    /// A bid has a choice to make, or may depend on chips that pools lent: the last demand must be known.
    pub(crate) needs_last_demand: bool,
    /// What teams ask for, where that is settled before anything is cleared: no bid's choice depends on a price or on
    /// chips that pools lend.
    pub(crate) settled: Option<Arc<Asked>>,
    pub(crate) ranks: Ranks,
}

/// Where the rows that were added to the builder went.
#[derive(Clone, Debug)]
pub(crate) struct Ranks {
    pub(crate) chip_types: Vec<u32>,
    pub(crate) pools: Vec<u32>,
    pub(crate) teams: Vec<u32>,
}

impl Ranks {
    pub(crate) fn chip_type(&self, index: ChipTypeIndex) -> usize {
        self.chip_types[index.0 as usize] as usize
    }

    pub(crate) fn pool(&self, index: PoolIndex) -> u32 {
        self.pools[index.0 as usize]
    }

    pub(crate) fn team(&self, index: TeamIndex) -> usize {
        self.teams[index.0 as usize] as usize
    }
}

/// The mark for "had no price".
pub(crate) const NO_PRICE: u64 = u64::MAX;

#[derive(Clone, Debug)]
pub(crate) struct ChipTypeRow {
    pub(crate) id: ChipTypeId,
    pub(crate) shared: u64,
    /// Global ticks.
    pub(crate) reserve: u64,
}

#[derive(Clone, Debug)]
pub(crate) struct PoolRow {
    pub(crate) id: PoolId,
    /// `W_k` in global ticks per hour.
    pub(crate) weight: u64,
    /// `C_k`: the sum of its teams' incomes, in local ticks per hour.
    pub(crate) incomes: u64,
    /// Most chips of one type that it lends.
    pub(crate) may_lend: u64,
}

impl PoolRow {
    /// Global ticks as local ones, `ceil(p · C_k / W_k)`; absent where nobody in the pool could pay it: it has no
    /// purchasing power, or the amount is beyond what may be written.
    pub(crate) fn local_price(&self, price: u64) -> Option<u64> {
        if price == 0 {
            return Some(0);
        }
        if self.weight == 0 || self.incomes == 0 {
            return None;
        }
        let local = (u128::from(price) * u128::from(self.incomes)).div_ceil(u128::from(self.weight));
        u64::try_from(local).ok().filter(|local| *local <= common::money::MAX_MICROS.unsigned_abs())
    }
}

#[derive(Clone, Debug)]
pub(crate) struct TeamRow {
    pub(crate) id: TeamId,
    pub(crate) pool: u32,
    /// `cap_i` in global ticks per hour.
    pub(crate) cap: u64,
    /// First of its bids; they end where the next team's begin.
    pub(crate) first_bid: u32,
    pub(crate) bids: u32,
}

/// What clearing reads of a bid. Small, because a million of them are read several times.
#[derive(Clone, Copy, Debug)]
pub(crate) struct BidRow {
    /// Global ticks; [`NO_LIMIT`] where it has none.
    pub(crate) limit: u64,
    /// First of its alternatives.
    pub(crate) first_alternative: u32,
    pub(crate) alternatives: u8,
    /// Which alternative it held in the last cycle; [`NO_ALTERNATIVE`] for none.
    pub(crate) held: u8,
    pub(crate) in_window: bool,
}

/// What outcomes and explanations read of a bid.
#[derive(Clone, Debug)]
pub(crate) struct BidName {
    pub(crate) id: BidId,
    /// Local ticks, as given; [`NO_LIMIT`] where it has none.
    pub(crate) local_limit: u64,
    /// Its place in the order in which bids were added.
    pub(crate) nth: u32,
}

/// The mark for "no alternative".
pub(crate) const NO_ALTERNATIVE: u8 = u8::MAX;

#[derive(Clone, Copy, Debug)]
pub(crate) struct AlternativeRow {
    /// Chip type; [`NO_CHIP_TYPE`] where the snapshot has none of that id.
    pub(crate) chip_type: u32,
    pub(crate) chips: u32,
    pub(crate) min_chips: u32,
}

/// The mark for a chip type that the snapshot does not have.
pub(crate) const NO_CHIP_TYPE: u32 = u32::MAX;

impl Market {
    /// Number of the cycle.
    #[must_use]
    pub fn cycle(&self) -> u64 {
        self.cycle
    }

    /// How many bids there are.
    #[must_use]
    pub fn bid_count(&self) -> usize {
        self.bids.len()
    }

    pub(crate) fn owned(&self, pool: usize, chip_type: usize) -> u64 {
        self.owned[pool * self.chip_types.len() + chip_type]
    }

    /// What the chip type cost in the pool in the last cycle, or its reserve price where it had no price there.
    pub(crate) fn last_price(&self, pool: usize, chip_type: usize) -> u64 {
        match self.last_prices[pool * self.chip_types.len() + chip_type] {
            NO_PRICE => self.chip_types[chip_type].reserve,
            price => price,
        }
    }

    pub(crate) fn bids_of(&self, team: usize) -> std::ops::Range<usize> {
        let first = self.teams[team].first_bid as usize;
        first..first + self.teams[team].bids as usize
    }

    /// How many bids the teams before `team` have; of all teams where it is their number.
    pub(crate) fn bids_before(&self, team: usize) -> usize {
        self.teams.get(team).map_or(self.bids.len(), |row| row.first_bid as usize)
    }

    pub(crate) fn bids_in(&self, teams: &std::ops::Range<usize>) -> std::ops::Range<usize> {
        self.bids_before(teams.start)..self.bids_before(teams.end)
    }

    /// The number of a bid.
    pub(crate) fn bid_of(&self, id: &BidId) -> Option<usize> {
        self.names.iter().position(|name| name.id == *id)
    }

    /// The team a bid belongs to.
    pub(crate) fn team_of(&self, bid: usize) -> usize {
        self.teams.partition_point(|team| (team.first_bid + team.bids) as usize <= bid)
    }

    /// The market with another queue of one team.
    pub(crate) fn with_queue(&self, team: usize, queue: &Queue) -> Self {
        let mut market = self.clone();
        let bids = market.bids_of(team);
        let alternatives = |bid: usize| {
            self.bids.get(bid).map_or(self.alternatives.len(), |row| row.first_alternative as usize)
        };
        let (first, end) = (alternatives(bids.start), alternatives(bids.end));
        let new: Vec<AlternativeRow> = queue.bids.iter().flat_map(|bid| bid.alternatives.clone()).collect();
        let place = |at: usize| u32::try_from(at).unwrap_or(u32::MAX);
        for row in &mut market.bids[bids.end..] {
            row.first_alternative = place(row.first_alternative as usize + first + new.len() - end);
        }
        for row in &mut market.teams[team + 1..] {
            row.first_bid = place(row.first_bid as usize + bids.start + queue.bids.len() - bids.end);
        }
        market.teams[team].bids = place(queue.bids.len());
        market.needs_last_demand = true;
        market.settled = None;
        let mut next = first;
        let rows = queue.bids.iter().map(|bid| {
            let row = BidRow { first_alternative: place(next), ..bid.row };
            next += bid.alternatives.len();
            row
        });
        market.bids.splice(bids.clone(), rows.collect::<Vec<_>>());
        market.names.splice(bids, queue.bids.iter().map(|bid| bid.name.clone()));
        market.alternatives.splice(first..end, new);
        market
    }

    pub(crate) fn alternatives_of(&self, bid: usize) -> &[AlternativeRow] {
        let row = &self.bids[bid];
        let first = row.first_alternative as usize;
        &self.alternatives[first..first + usize::from(row.alternatives)]
    }
}

/// A local limit in global ticks, `floor(limit · W_k / C_k)`; 0 where the pool's teams have no income.
pub(crate) fn global_limit(limit: u64, weight: u64, incomes: u64) -> u64 {
    if limit == NO_LIMIT {
        return NO_LIMIT;
    }
    if incomes == 0 {
        return 0;
    }
    match limit.checked_mul(weight) {
        Some(product) => product / incomes,
        // A limit that is beyond 64 bits in global ticks is above any price, but it remains a limit.
        None => u64::try_from(u128::from(limit) * u128::from(weight) / u128::from(incomes))
            .map_or(NO_LIMIT - 1, |limit| limit.min(NO_LIMIT - 1)),
    }
}
