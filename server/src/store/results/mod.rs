//! What cycles decided: the cycle itself, prices, quotas, and what each bid got.
//!
//! Rows of quotas, pool prices and bids are written when they change and hold until the next row of the same key.

mod cycles;

use std::collections::BTreeMap;

use common::api::Reason;
use common::chips::Chips;
use common::ids::{ChipTypeId, PoolId, TeamId};
use common::instant::Instant;
use common::money::Price;

use super::cuts::{self, Reclaim};
use super::db::{Row, Tx, Value, values};
use crate::error::AppError;
pub use cycles::{
    Cycle, cycle, cycle_at, cycles_before, cycles_from, first_detailed_cycle, last_cycle, unsettled_since,
};
pub(crate) use cycles::{cycles_between, insert_cycle};

/// The market of one chip type in one cycle.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ChipTypePrice {
    /// The cycle.
    pub cycle: u64,
    /// The chip type.
    pub chip_type: ChipTypeId,
    /// Reference price in global credits per chip-hour.
    pub reference_price: Option<Price>,
    /// All chips.
    pub supply: Chips,
    /// Chips in the shared market, with those lent.
    pub shared: Chips,
    /// Chips asked for at any price.
    pub asked: Chips,
    /// Chips in teams' quotas.
    pub granted: Chips,
    /// Chips that bids won and use.
    pub paid: Chips,
    /// Chips used for free.
    pub opportunistic: Chips,
}

/// A pool's price of a chip type, from a cycle on.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PoolPrice {
    /// The cycle.
    pub cycle: u64,
    /// The pool.
    pub pool: PoolId,
    /// The chip type.
    pub chip_type: ChipTypeId,
    /// Global credits per chip-hour.
    pub price: Option<Price>,
    /// Local credits per chip-hour.
    pub local_price: Option<Price>,
}

/// A team's quota of a chip type, from a cycle on.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TeamQuota {
    /// The cycle.
    pub cycle: u64,
    /// The team.
    pub team: TeamId,
    /// The chip type.
    pub chip_type: ChipTypeId,
    /// Chips asked for at any price.
    pub asked: Chips,
    /// Chips it got.
    pub quota: Chips,
    /// Chips of the quota that its bids use.
    pub used: Chips,
    /// Chips its waiting bids use for free.
    pub opportunistic: Chips,
}

/// What a bid got, from a cycle on.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BidResult {
    /// The cycle.
    pub cycle: u64,
    /// The bid's number.
    pub bid: u64,
    /// The chip type it chose.
    pub chip_type: Option<ChipTypeId>,
    /// Chips it won.
    pub chips: Chips,
    /// Chips it uses for free, and their type.
    pub opportunistic: Option<(ChipTypeId, Chips)>,
    /// Chips that it uses over quota.
    pub over: Option<OverQuota>,
    /// Why.
    pub reason: Reason,
    /// Chip-seconds of its work done when the cycle began.
    pub done_chip_seconds: u64,
}

/// Chips that a bid uses though it is granted none any more.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OverQuota {
    /// Their type.
    pub chip_type: ChipTypeId,
    /// How many.
    pub chips: Chips,
    /// What each costs, in local credits per chip-hour.
    pub price: Price,
}

macro_rules! price_columns {
    () => {
        "cycle, chip_type, reference_price, supply, shared, asked, granted, paid, opportunistic"
    };
}

fn price_from_row(mut row: Row) -> Result<ChipTypePrice, AppError> {
    Ok(ChipTypePrice {
        cycle: row.unsigned()?,
        chip_type: row.id()?,
        reference_price: row.optional_unsigned()?.map(Price),
        supply: Chips(row.unsigned()?),
        shared: Chips(row.unsigned()?),
        asked: Chips(row.unsigned()?),
        granted: Chips(row.unsigned()?),
        paid: Chips(row.unsigned()?),
        opportunistic: Chips(row.unsigned()?),
    })
}

/// Prices of cycles `from` to `to`, both included, in order of cycle and chip type; of one chip type or of all.
///
/// # Errors
/// The database can't be read.
pub async fn prices(
    tx: &mut Tx,
    from: u64,
    to: u64,
    chip_type: Option<&ChipTypeId>,
) -> Result<Vec<ChipTypePrice>, AppError> {
    const ALL: &str = concat!(
        "SELECT ",
        price_columns!(),
        " FROM price WHERE cycle BETWEEN $1 AND $2 ORDER BY cycle, chip_type"
    );
    const ONE: &str = concat!(
        "SELECT ",
        price_columns!(),
        " FROM price WHERE cycle BETWEEN $1 AND $2 AND chip_type = $3 ORDER BY cycle"
    );
    let rows = match chip_type {
        None => tx.rows(ALL, values![from, to]).await?,
        Some(id) => tx.rows(ONE, values![from, to, id.as_str()]).await?,
    };
    rows.into_iter().map(price_from_row).collect()
}

macro_rules! pool_price_columns {
    () => {
        "cycle, pool, chip_type, price, local_price"
    };
}

fn pool_price_from_row(mut row: Row) -> Result<PoolPrice, AppError> {
    Ok(PoolPrice {
        cycle: row.unsigned()?,
        pool: row.id()?,
        chip_type: row.id()?,
        price: row.optional_unsigned()?.map(Price),
        local_price: row.optional_unsigned()?.map(Price),
    })
}

/// The pool prices in force in `cycle`, in order of pool and chip type.
///
/// # Errors
/// The database can't be read.
pub async fn pool_prices_in(tx: &mut Tx, cycle: u64) -> Result<Vec<PoolPrice>, AppError> {
    const SQL: &str = concat!(
        "SELECT ",
        pool_price_columns!(),
        " FROM (SELECT DISTINCT id FROM pool_version) AS o CROSS JOIN (SELECT DISTINCT id FROM chip_type_version) AS c ",
        "CROSS JOIN pool_price AS p WHERE p.pool = o.id AND p.chip_type = c.id AND p.cycle = ",
        "(SELECT MAX(m.cycle) FROM pool_price m WHERE m.pool = o.id AND m.chip_type = c.id AND m.cycle <= $1) ",
        "ORDER BY pool, chip_type"
    );
    tx.rows(SQL, values![cycle]).await?.into_iter().map(pool_price_from_row).collect()
}

/// The changes of one pool's price of a chip type in cycles `from` to `to`, the row in force in `from` first.
///
/// # Errors
/// The database can't be read.
pub async fn pool_price_changes(
    tx: &mut Tx,
    pool: &PoolId,
    chip_type: &ChipTypeId,
    from: u64,
    to: u64,
) -> Result<Vec<PoolPrice>, AppError> {
    const SQL: &str = concat!(
        "SELECT ",
        pool_price_columns!(),
        " FROM pool_price WHERE pool = $1 AND chip_type = $2 AND cycle <= $4 ",
        "AND cycle >= COALESCE((SELECT MAX(m.cycle) FROM pool_price m WHERE m.pool = $1 AND m.chip_type = $2 ",
        "AND m.cycle <= $3), $3) ORDER BY cycle"
    );
    let values = values![pool.as_str(), chip_type.as_str(), from, to];
    tx.rows(SQL, values).await?.into_iter().map(pool_price_from_row).collect()
}

macro_rules! quota_columns {
    () => {
        "cycle, team, chip_type, asked, quota, used, opportunistic"
    };
}

fn quota_from_row(mut row: Row) -> Result<TeamQuota, AppError> {
    Ok(TeamQuota {
        cycle: row.unsigned()?,
        team: row.id()?,
        chip_type: row.id()?,
        asked: Chips(row.unsigned()?),
        quota: Chips(row.unsigned()?),
        used: Chips(row.unsigned()?),
        opportunistic: Chips(row.unsigned()?),
    })
}

/// The quotas in force in `cycle`, in order of team and chip type.
///
/// # Errors
/// The database can't be read.
pub async fn quotas_in(tx: &mut Tx, cycle: u64) -> Result<Vec<TeamQuota>, AppError> {
    const SQL: &str = concat!(
        "SELECT ",
        quota_columns!(),
        " FROM (SELECT DISTINCT id FROM team_version) AS o CROSS JOIN (SELECT DISTINCT id FROM chip_type_version) AS c ",
        "CROSS JOIN team_quota AS q WHERE q.team = o.id AND q.chip_type = c.id AND q.cycle = ",
        "(SELECT MAX(m.cycle) FROM team_quota m WHERE m.team = o.id AND m.chip_type = c.id AND m.cycle <= $1) ",
        "ORDER BY team, chip_type"
    );
    tx.rows(SQL, values![cycle]).await?.into_iter().map(quota_from_row).collect()
}

/// The changes of all quotas after `from` up to `to`, in order of cycle, team and chip type.
///
/// # Errors
/// The database can't be read.
pub async fn quota_changes(tx: &mut Tx, from: u64, to: u64) -> Result<Vec<TeamQuota>, AppError> {
    const SQL: &str = concat!(
        "SELECT ",
        quota_columns!(),
        " FROM team_quota WHERE cycle > $1 AND cycle <= $2 ORDER BY cycle, team, chip_type"
    );
    tx.rows(SQL, values![from, to]).await?.into_iter().map(quota_from_row).collect()
}

macro_rules! bid_result_columns {
    () => {
        "r.cycle, r.bid, r.chip_type, r.chips, r.opportunistic_type, r.opportunistic_chips, r.reason, r.done_chip_seconds, \
         r.over_type, r.over_chips, r.over_price"
    };
}

pub(in crate::store) use bid_result_columns;

pub(in crate::store) fn bid_result_from_row(row: &mut Row) -> Result<BidResult, AppError> {
    let (cycle, bid, chip_type, chips) =
        (row.unsigned()?, row.unsigned()?, row.optional_id()?, row.unsigned()?);
    let (opportunistic_type, opportunistic_chips) = (row.optional_id()?, row.unsigned()?);
    let reason =
        serde_json::from_value(serde_json::Value::String(row.text()?)).map_err(AppError::internal)?;
    let done_chip_seconds = row.unsigned()?;
    let (over_type, over_chips, over_price) = (row.optional_id()?, row.unsigned()?, row.unsigned()?);
    let over = |chip_type| OverQuota { chip_type, chips: Chips(over_chips), price: Price(over_price) };
    Ok(BidResult {
        cycle,
        bid,
        chip_type,
        chips: Chips(chips),
        opportunistic: opportunistic_type.map(|chip_type| (chip_type, Chips(opportunistic_chips))),
        over: over_type.map(over),
        reason,
        done_chip_seconds,
    })
}

/// What bids that hold in `cycle` got in it, in order of their numbers, each with the start of the cycle since which it
/// holds.
///
/// # Errors
/// The database can't be read.
pub async fn bid_results_in(tx: &mut Tx, cycle: u64) -> Result<Vec<(BidResult, Instant)>, AppError> {
    const SQL: &str = concat!(
        "SELECT ",
        bid_result_columns!(),
        ", c.starts_at FROM (SELECT bid FROM bid_version WHERE superseded_cycle IS NULL AND +effective_cycle <= $1 ",
        "UNION ALL SELECT bid FROM bid_version WHERE superseded_cycle > $1 AND effective_cycle <= $1) AS v ",
        "JOIN bid_result r ON r.bid = v.bid AND r.cycle = (SELECT MAX(m.cycle) FROM bid_result m WHERE m.bid = v.bid ",
        "AND m.cycle <= $1) JOIN cycle c ON c.number = r.cycle ORDER BY r.bid"
    );
    let mut rows = tx.rows(SQL, values![cycle]).await?;
    let results = rows.iter_mut().map(|row| Ok((bid_result_from_row(row)?, Instant(row.int()?))));
    results.collect()
}

/// All rows that cycles `from` to `to` wrote, by cycle.
pub(crate) async fn rows_between(tx: &mut Tx, from: u64, to: u64) -> Result<BTreeMap<u64, Rows>, AppError> {
    const POOL_PRICES: &str = concat!(
        "SELECT ",
        pool_price_columns!(),
        " FROM pool_price WHERE cycle BETWEEN $1 AND $2 ORDER BY cycle, pool, chip_type"
    );
    const BIDS: &str = concat!(
        "SELECT ",
        bid_result_columns!(),
        " FROM bid_result r WHERE r.cycle BETWEEN $1 AND $2 ORDER BY r.cycle, r.bid"
    );
    let mut cycles: BTreeMap<u64, Rows> = BTreeMap::new();
    for row in prices(tx, from, to, None).await? {
        cycles.entry(row.cycle).or_default().prices.push(row);
    }
    for row in tx.rows(POOL_PRICES, values![from, to]).await? {
        let row = pool_price_from_row(row)?;
        cycles.entry(row.cycle).or_default().pool_prices.push(row);
    }
    for row in quota_changes(tx, from.saturating_sub(1), to).await? {
        cycles.entry(row.cycle).or_default().quotas.push(row);
    }
    for mut row in tx.rows(BIDS, values![from, to]).await? {
        let row = bid_result_from_row(&mut row)?;
        cycles.entry(row.cycle).or_default().bids.push(row);
    }
    for row in cuts::reclaims(tx, from, to).await? {
        cycles.entry(row.cycle).or_default().reclaims.push(row);
    }
    Ok(cycles)
}

/// The rows that one cycle writes.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Rows {
    pub(crate) prices: Vec<ChipTypePrice>,
    pub(crate) pool_prices: Vec<PoolPrice>,
    pub(crate) quotas: Vec<TeamQuota>,
    pub(crate) bids: Vec<BidResult>,
    pub(crate) reclaims: Vec<Reclaim>,
}

/// Writes what a cycle decided.
pub(crate) async fn insert_rows(tx: &mut Tx, rows: &Rows) -> Result<(), AppError> {
    let prices = rows.prices.iter().map(|row| {
        let price = row.reference_price.map(|price| price.0);
        let (supply, shared, asked) = (row.supply.0, row.shared.0, row.asked.0);
        let (granted, paid, opportunistic) = (row.granted.0, row.paid.0, row.opportunistic.0);
        values![row.cycle, row.chip_type.as_str(), price, supply, shared, asked, granted, paid, opportunistic]
    });
    tx.insert(concat!("INSERT INTO price (", price_columns!(), ")"), prices.collect()).await?;
    let pool_prices = rows.pool_prices.iter().map(|row| {
        let (price, local_price) = (row.price.map(|price| price.0), row.local_price.map(|price| price.0));
        values![row.cycle, row.pool.as_str(), row.chip_type.as_str(), price, local_price]
    });
    tx.insert(concat!("INSERT INTO pool_price (", pool_price_columns!(), ")"), pool_prices.collect()).await?;
    let quotas = rows.quotas.iter().map(|row| {
        let (asked, quota, used, opportunistic) = (row.asked.0, row.quota.0, row.used.0, row.opportunistic.0);
        values![row.cycle, row.team.as_str(), row.chip_type.as_str(), asked, quota, used, opportunistic]
    });
    tx.insert(concat!("INSERT INTO team_quota (", quota_columns!(), ")"), quotas.collect()).await?;
    cuts::insert_reclaims(tx, &rows.reclaims).await?;
    let bids: Vec<[Value; 11]> = rows.bids.iter().map(bid_result_values).collect::<Result<_, _>>()?;
    const BIDS: &str = "INSERT INTO bid_result (cycle, bid, chip_type, chips, opportunistic_type, \
                        opportunistic_chips, reason, done_chip_seconds, over_type, over_chips, over_price)";
    tx.insert(BIDS, bids).await
}

fn bid_result_values(row: &BidResult) -> Result<[Value; 11], AppError> {
    let reason = serde_json::to_value(row.reason).map_err(AppError::internal)?;
    let (free_type, free_chips) = match &row.opportunistic {
        Some((chip_type, chips)) => (Some(chip_type.as_str()), chips.0),
        None => (None, 0),
    };
    let (over_type, over_chips, over_price) = match &row.over {
        Some(over) => (Some(over.chip_type.as_str()), over.chips.0, over.price.0),
        None => (None, 0, 0),
    };
    Ok(values![
        row.cycle,
        row.bid,
        row.chip_type.as_ref().map(ChipTypeId::as_str),
        row.chips.0,
        free_type,
        free_chips,
        reason.as_str(),
        row.done_chip_seconds,
        over_type,
        over_chips,
        over_price,
    ])
}
