//! Makes a [`Market`] from rows: checks every bound once, at the border, and puts everything in canonical order.
//!
//! Rows name each other by the numbers that adding them returned, so that a caller who clears thousands of markets
//! builds no maps of ids. [`Market::build`] uses the same builder for a [`Snapshot`](crate::Snapshot).

use std::collections::HashSet;

use common::chips::{Chips, MAX_CHIPS};
use common::ids::{BidId, ChipTypeId, PoolId, TeamId};
use common::instant::Instant;
use common::money::{MAX_MICROS, MicroCredits, Price};

use crate::curve::NO_LIMIT;
use crate::error::SnapshotError;
use crate::market::{
    AlternativeRow, BidRow, ChipTypeRow, Market, NO_ALTERNATIVE, NO_CHIP_TYPE, NO_PRICE, PoolRow, Ranks,
    TeamRow, global_limit,
};
use crate::snapshot::Lending;

/// Most chip types in a snapshot.
pub const MAX_CHIP_TYPES: usize = 1_024;
/// Most pools in a snapshot.
pub const MAX_POOLS: usize = 4_096;
/// Most teams in a snapshot.
pub const MAX_TEAMS: usize = 1_000_000;
/// Most bids in a snapshot.
pub const MAX_BIDS: usize = 10_000_000;
/// Most alternatives of one bid.
pub const MAX_ALTERNATIVES: usize = 64;
/// Most minutes for which a team must sustain what it bids.
pub const MAX_SUSTAIN_MINUTES: u32 = 100_000;
/// Largest income leverage, in thousandths.
pub const MAX_LEVERAGE_THOUSANDTHS: u32 = 1_000_000;

const MAX_AMOUNT: u64 = MAX_MICROS.unsigned_abs();

/// A chip type of the builder that returned it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ChipTypeIndex(pub(crate) u32);
/// A pool of the builder that returned it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct PoolIndex(pub(crate) u32);
/// A team of the builder that returned it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct TeamIndex(pub(crate) u32);

/// A live bid as the builder takes it.
#[derive(Clone, Debug)]
pub struct BidInput {
    /// The bid.
    pub id: BidId,
    /// Its team.
    pub team: TeamIndex,
    /// Place in the team's queue, lowest first; equal places go by the bid's id.
    pub position: u64,
    /// Most it pays in local credits per chip-hour; absent is no limit.
    pub limit: Option<Price>,
    /// Not before this instant.
    pub not_before: Option<Instant>,
    /// Not at or after this instant.
    pub not_after: Option<Instant>,
    /// Which of its alternatives it chose in the last cycle.
    pub held: Option<usize>,
}

/// One way to serve a bid, as the builder takes it.
#[derive(Clone, Copy, Debug)]
pub struct AlternativeInput {
    /// The chip type; absent where there is none such now: the alternative cannot be chosen.
    pub chip_type: Option<ChipTypeIndex>,
    /// Chips wanted, at least 1.
    pub chips: Chips,
    /// The gang: 1 to `chips`.
    pub min_chips: Chips,
}

#[derive(Debug)]
struct TeamInput {
    id: TeamId,
    pool: u32,
    income: u64,
    balance: i64,
    leverage_thousandths: u32,
}

/// Takes a market row by row. Order does not matter, except that a row names only rows added before it.
#[derive(Debug)]
pub struct MarketBuilder {
    cycle: u64,
    time: Instant,
    sustain_minutes: u32,
    chip_types: Vec<ChipTypeRow>,
    pools: Vec<PoolRow>,
    owned: Vec<(u32, u32, u64)>,
    last_prices: Vec<(u32, u32, u64)>,
    teams: Vec<TeamInput>,
    /// Rows in the order added, their global limits not yet known, and where each belongs.
    bids: Vec<BidRow>,
    queue: Vec<QueuePlace>,
    alternatives: Vec<AlternativeRow>,
}

/// Where a bid stands, and which row it is.
#[derive(Clone, Copy, Debug)]
struct QueuePlace {
    position: u64,
    team: u32,
    row: u32,
}

impl MarketBuilder {
    /// An empty market.
    ///
    /// # Errors
    /// `sustain_minutes` is not 1 to [`MAX_SUSTAIN_MINUTES`].
    pub fn new(cycle: u64, time: Instant, sustain_minutes: u32) -> Result<Self, SnapshotError> {
        if sustain_minutes == 0 {
            return Err(SnapshotError::below("sustain_minutes", 0, 1));
        }
        if sustain_minutes > MAX_SUSTAIN_MINUTES {
            return Err(SnapshotError::above("sustain_minutes", sustain_minutes, MAX_SUSTAIN_MINUTES));
        }
        Ok(Self {
            cycle,
            time,
            sustain_minutes,
            chip_types: Vec::new(),
            pools: Vec::new(),
            owned: Vec::new(),
            last_prices: Vec::new(),
            teams: Vec::new(),
            bids: Vec::new(),
            queue: Vec::new(),
            alternatives: Vec::new(),
        })
    }

    /// Adds a chip type.
    ///
    /// # Errors
    /// More than [`MAX_CHIP_TYPES`], or an amount above its limit.
    pub fn chip_type(
        &mut self,
        id: ChipTypeId,
        shared: Chips,
        reserve_price: Price,
    ) -> Result<ChipTypeIndex, SnapshotError> {
        let index = next_index("chip_types", self.chip_types.len(), MAX_CHIP_TYPES)?;
        let path = |field: &str| format!("chip_types[{index}].{field}");
        check_chips(shared, || path("shared"))?;
        check_price(reserve_price, || path("reserve_price"))?;
        self.chip_types.push(ChipTypeRow { id, shared: shared.0, reserve: reserve_price.0 });
        Ok(ChipTypeIndex(index))
    }

    /// Adds a pool.
    ///
    /// # Errors
    /// More than [`MAX_POOLS`], or an amount outside its limits.
    pub fn pool(
        &mut self,
        id: PoolId,
        weight: MicroCredits,
        lending: Lending,
    ) -> Result<PoolIndex, SnapshotError> {
        let index = next_index("pools", self.pools.len(), MAX_POOLS)?;
        let weight = check_amount(weight, || format!("pools[{index}].weight"))?;
        let may_lend = match lending {
            Lending::All => MAX_CHIPS,
            Lending::None => 0,
            Lending::AtMost(chips) => {
                check_chips(chips, || format!("pools[{index}].lending.at_most"))?;
                chips.0
            }
        };
        self.pools.push(PoolRow { id, weight, incomes: 0, may_lend });
        Ok(PoolIndex(index))
    }

    /// Sets what a pool owns of a chip type.
    ///
    /// # Errors
    /// More than [`MAX_CHIPS`].
    pub fn owned(
        &mut self,
        pool: PoolIndex,
        chip_type: ChipTypeIndex,
        chips: Chips,
    ) -> Result<(), SnapshotError> {
        check_chips(chips, || format!("pools[{}].owned[{}].chips", pool.0, rows_of(pool, &self.owned)))?;
        self.owned.push((pool.0, chip_type.0, chips.0));
        Ok(())
    }

    /// Sets what a chip type cost in a pool in the last cycle, in global credits per chip-hour.
    ///
    /// # Errors
    /// Above [`MAX_MICROS`].
    pub fn last_price(
        &mut self,
        pool: PoolIndex,
        chip_type: ChipTypeIndex,
        price: Price,
    ) -> Result<(), SnapshotError> {
        let nth = || rows_of(pool, &self.last_prices);
        check_price(price, || format!("pools[{}].last_prices[{}].price", pool.0, nth()))?;
        self.last_prices.push((pool.0, chip_type.0, price.0));
        Ok(())
    }

    /// Adds a team; `income` and `balance` are in its pool's local credits.
    ///
    /// # Errors
    /// More than [`MAX_TEAMS`], or an amount outside its limits.
    pub fn team(
        &mut self,
        id: TeamId,
        pool: PoolIndex,
        income: MicroCredits,
        balance: MicroCredits,
        leverage_thousandths: u32,
    ) -> Result<TeamIndex, SnapshotError> {
        let index = next_index("teams", self.teams.len(), MAX_TEAMS)?;
        let path = |field: &str| format!("teams[{index}].{field}");
        let income = check_amount(income, || path("income"))?;
        if balance.0.unsigned_abs() > MAX_AMOUNT {
            let limit = MicroCredits(MAX_MICROS);
            return Err(if balance.0 < 0 {
                SnapshotError::below(path("balance"), balance, format!("-{limit}"))
            } else {
                SnapshotError::above(path("balance"), balance, limit)
            });
        }
        if leverage_thousandths > MAX_LEVERAGE_THOUSANDTHS {
            let path = path("leverage_thousandths");
            return Err(SnapshotError::above(path, leverage_thousandths, MAX_LEVERAGE_THOUSANDTHS));
        }
        let row = &mut self.pools[pool.0 as usize];
        row.incomes += income;
        if row.incomes > MAX_AMOUNT {
            let total = Price(row.incomes);
            let problem = format!(
                "brings the incomes of its pool to {total} credits per hour; the most is {}",
                Price(MAX_AMOUNT)
            );
            return Err(SnapshotError::new(path("income"), problem));
        }
        self.teams.push(TeamInput { id, pool: pool.0, income, balance: balance.0, leverage_thousandths });
        Ok(TeamIndex(index))
    }

    /// Adds a bid.
    ///
    /// # Errors
    /// More than [`MAX_BIDS`], no or too many alternatives, one chip type twice, or an amount outside its limits.
    pub fn bid(&mut self, bid: BidInput, alternatives: &[AlternativeInput]) -> Result<(), SnapshotError> {
        let index = next_index("bids", self.bids.len(), MAX_BIDS)?;
        if let Some(limit) = bid.limit {
            check_price(limit, || format!("bids[{index}].limit"))?;
        }
        check_alternatives(index, alternatives)?;
        let first_alternative = u32::try_from(self.alternatives.len()).map_err(|_| {
            SnapshotError::new(format!("bids[{index}].alternatives"), "is one too many for a snapshot")
        })?;
        self.alternatives.extend(alternatives.iter().map(|alternative| AlternativeRow {
            chip_type: alternative.chip_type.map_or(NO_CHIP_TYPE, |chip_type| chip_type.0),
            chips: narrow(alternative.chips),
            min_chips: narrow(alternative.min_chips),
        }));
        self.queue.push(QueuePlace { position: bid.position, team: bid.team.0, row: index });
        self.bids.push(BidRow {
            id: bid.id,
            limit: NO_LIMIT,
            local_limit: bid.limit.map_or(NO_LIMIT, |limit| limit.0),
            nth: index,
            first_alternative,
            alternatives: u16::try_from(alternatives.len()).unwrap_or(NO_ALTERNATIVE),
            held: bid.held.and_then(|held| u16::try_from(held).ok()).unwrap_or(NO_ALTERNATIVE),
            in_window: bid.not_before.is_none_or(|from| from <= self.time)
                && bid.not_after.is_none_or(|until| self.time < until),
        });
        Ok(())
    }

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
        let bids = self.bid_rows(&mut teams, &team_ranks)?;
        let Self { cycle, time, chip_types, pools, alternatives, .. } = self;
        let ranks = Ranks { chip_types: chip_type_ranks, pools: pool_ranks, teams: team_ranks };
        Ok(Market { cycle, time, chip_types, pools, owned, last_prices, teams, bids, alternatives, ranks })
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

    /// Bids with global limits in order of team, position and id; tells each team where its own are.
    fn bid_rows(&mut self, teams: &mut [TeamRow], ranks: &[u32]) -> Result<Vec<BidRow>, SnapshotError> {
        let mut bids = std::mem::take(&mut self.bids);
        let mut queue = std::mem::take(&mut self.queue);
        let mut seen = HashSet::with_capacity(bids.len());
        if let Some(index) = bids.iter().position(|bid| !seen.insert(bid.id.as_str())) {
            return Err(SnapshotError::twice(format!("bids[{index}].id"), &bids[index].id));
        }
        drop(seen);
        for place in &mut queue {
            place.team = ranks[place.team as usize];
        }
        queue.sort_unstable_by(|a, b| {
            let ids = || bids[a.row as usize].id.cmp(&bids[b.row as usize].id);
            (a.team, a.position).cmp(&(b.team, b.position)).then_with(ids)
        });
        permute(&mut bids, &mut queue);
        for (bid, place) in bids.iter_mut().zip(&queue) {
            let team = &mut teams[place.team as usize];
            team.bids += 1;
            let pool = &self.pools[team.pool as usize];
            bid.limit = global_limit(bid.local_limit, pool.weight, pool.incomes);
        }
        let mut first_bid = 0;
        for team in teams {
            team.first_bid = first_bid;
            first_bid += team.bids;
        }
        Ok(bids)
    }
}

/// Moves each bid to its place in the queue order without a second list: a million bids are large.
fn permute(bids: &mut [BidRow], queue: &mut [QueuePlace]) {
    for start in 0..queue.len() {
        // Follows the cycle of moves that begins here; a row that is done points to itself.
        let mut at = start;
        loop {
            let from = queue[at].row as usize;
            queue[at].row = u32::try_from(at).unwrap_or(u32::MAX);
            if from == start || from == at {
                break;
            }
            bids.swap(at, from);
            at = from;
        }
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

/// How many of the rows name the pool.
fn rows_of(pool: PoolIndex, rows: &[(u32, u32, u64)]) -> usize {
    rows.iter().filter(|(of, ..)| *of == pool.0).count()
}

/// Chips that were checked to fit.
fn narrow(chips: Chips) -> u32 {
    u32::try_from(chips.0).unwrap_or(u32::MAX)
}

/// The number of the next row, unless there are too many.
fn next_index(list: &str, length: usize, most: usize) -> Result<u32, SnapshotError> {
    if length >= most {
        return Err(SnapshotError::new(list, format!("has more than {most} entries, which is the most")));
    }
    Ok(u32::try_from(length).unwrap_or(u32::MAX))
}

fn check_chips(chips: Chips, path: impl FnOnce() -> String) -> Result<(), SnapshotError> {
    if chips.0 > MAX_CHIPS { Err(SnapshotError::above(path(), chips, MAX_CHIPS)) } else { Ok(()) }
}

fn check_price(price: Price, path: impl FnOnce() -> String) -> Result<(), SnapshotError> {
    if price.0 > MAX_AMOUNT { Err(SnapshotError::above(path(), price, Price(MAX_AMOUNT))) } else { Ok(()) }
}

/// An amount that may not be negative.
fn check_amount(amount: MicroCredits, path: impl Fn() -> String) -> Result<u64, SnapshotError> {
    match u64::try_from(amount.0) {
        Err(_) => Err(SnapshotError::below(path(), amount, "0.00")),
        Ok(micros) if micros > MAX_AMOUNT => Err(SnapshotError::above(path(), amount, Price(MAX_AMOUNT))),
        Ok(micros) => Ok(micros),
    }
}

fn check_alternatives(bid: u32, alternatives: &[AlternativeInput]) -> Result<(), SnapshotError> {
    if alternatives.is_empty() {
        return Err(SnapshotError::new(
            format!("bids[{bid}].alternatives"),
            "is empty; a bid has at least one",
        ));
    }
    if alternatives.len() > MAX_ALTERNATIVES {
        let problem = format!("has {} entries; the most is {MAX_ALTERNATIVES}", alternatives.len());
        return Err(SnapshotError::new(format!("bids[{bid}].alternatives"), problem));
    }
    for (nth, alternative) in alternatives.iter().enumerate() {
        let path = |field: &str| format!("bids[{bid}].alternatives[{nth}].{field}");
        check_chips(alternative.chips, || path("chips"))?;
        if alternative.chips.0 == 0 {
            return Err(SnapshotError::below(path("chips"), 0, 1));
        }
        if alternative.min_chips.0 == 0 {
            return Err(SnapshotError::below(path("min_chips"), 0, 1));
        }
        if alternative.min_chips > alternative.chips {
            let most = format!("{}, the bid's chips", alternative.chips);
            return Err(SnapshotError::above(path("min_chips"), alternative.min_chips, most));
        }
        let twice = |other: &AlternativeInput| {
            alternative.chip_type.is_some() && other.chip_type == alternative.chip_type
        };
        if alternatives[..nth].iter().any(twice) {
            return Err(SnapshotError::new(
                path("chip_type"),
                "is named by an earlier alternative of the bid",
            ));
        }
    }
    Ok(())
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
