//! Takes a market from rows and checks every bound once, at the border; `assemble` puts the rows in order.
//!
//! Rows name each other by the numbers that adding them returned, so that a caller who clears thousands of markets
//! builds no maps of ids. [`Market::build`] uses the same builder for a [`Snapshot`](crate::Snapshot).

use common::chips::{Chips, MAX_CHIPS};
use common::ids::{BidId, ChipTypeId, PoolId, TeamId};
use common::instant::Instant;
use common::money::{MAX_MICROS, MicroCredits, Price};

use crate::checks::{check_alternatives, check_amount, check_chips, check_price, next_index};
use crate::curve::NO_LIMIT;
use crate::error::SnapshotError;
use crate::market::{AlternativeRow, BidName, BidRow, ChipTypeRow, NO_ALTERNATIVE, NO_CHIP_TYPE, PoolRow};
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

pub(crate) const MAX_AMOUNT: u64 = MAX_MICROS.unsigned_abs();

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
pub(crate) struct TeamInput {
    pub(crate) id: TeamId,
    pub(crate) pool: u32,
    pub(crate) income: u64,
    pub(crate) balance: i64,
    pub(crate) leverage_thousandths: u32,
}

/// Takes a market row by row. Order does not matter, except that a row names only rows added before it.
#[derive(Debug)]
pub struct MarketBuilder {
    pub(crate) cycle: u64,
    pub(crate) time: Instant,
    pub(crate) sustain_minutes: u32,
    pub(crate) chip_types: Vec<ChipTypeRow>,
    pub(crate) pools: Vec<PoolRow>,
    pub(crate) owned: Vec<(u32, u32, u64)>,
    pub(crate) last_prices: Vec<(u32, u32, u64)>,
    pub(crate) teams: Vec<TeamInput>,
    /// Rows in the order added, their global limits not yet known, and where each belongs.
    pub(crate) bids: Vec<BidRow>,
    pub(crate) names: Vec<BidName>,
    pub(crate) queue: Vec<QueuePlace>,
    pub(crate) alternatives: Vec<AlternativeRow>,
}

/// Where a bid stands, and which row it is.
#[derive(Clone, Copy, Debug)]
pub(crate) struct QueuePlace {
    pub(crate) position: u64,
    pub(crate) team: u32,
    pub(crate) row: u32,
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
            names: Vec::new(),
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
        check_alternatives(|| format!("bids[{index}]"), alternatives)?;
        let first_alternative = u32::try_from(self.alternatives.len()).map_err(|_| {
            SnapshotError::new(format!("bids[{index}].alternatives"), "is one too many for a snapshot")
        })?;
        self.alternatives.extend(alternatives.iter().map(AlternativeRow::from));
        self.queue.push(QueuePlace { position: bid.position, team: bid.team.0, row: index });
        self.bids.push(BidRow {
            limit: NO_LIMIT,
            first_alternative,
            alternatives: small(alternatives.len()),
            held: bid.held.map_or(NO_ALTERNATIVE, small),
            in_window: is_in_window(self.time, bid.not_before, bid.not_after),
        });
        let local_limit = bid.limit.map_or(NO_LIMIT, |limit| limit.0);
        self.names.push(BidName { id: bid.id, local_limit, nth: index });
        Ok(())
    }
}

/// How many of the rows name the pool.
fn rows_of(pool: PoolIndex, rows: &[(u32, u32, u64)]) -> usize {
    rows.iter().filter(|(of, ..)| *of == pool.0).count()
}

/// Whether a bid with such a window counts at `time`.
pub(crate) fn is_in_window(time: Instant, not_before: Option<Instant>, not_after: Option<Instant>) -> bool {
    not_before.is_none_or(|from| from <= time) && not_after.is_none_or(|until| time < until)
}

impl From<&AlternativeInput> for AlternativeRow {
    /// Of an alternative that was checked.
    fn from(alternative: &AlternativeInput) -> Self {
        Self {
            chip_type: alternative.chip_type.map_or(NO_CHIP_TYPE, |chip_type| chip_type.0),
            chips: narrow(alternative.chips),
            min_chips: narrow(alternative.min_chips),
        }
    }
}

/// Chips that were checked to fit.
fn narrow(chips: Chips) -> u32 {
    u32::try_from(chips.0).unwrap_or(u32::MAX)
}

/// A number of alternatives, or which of them: at most [`MAX_ALTERNATIVES`].
fn small(number: usize) -> u8 {
    u8::try_from(number).unwrap_or(NO_ALTERNATIVE)
}
