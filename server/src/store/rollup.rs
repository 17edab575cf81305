//! Roll-ups: hours from raw rows, days from hours, and an end for raw rows that are old.
//!
//! Hours and days are those of UTC. An hour is rolled up once it is over and everything in it is accounted; `price_hour`
//! gets its rows last, so its newest hour says how far the roll-ups go. What an hour or a day says is a function of its
//! parts (`hours_of_parts`, `day_of_hours`), so that verification can ask for it again.

use common::ids::{ChipTypeId, PoolId};
use common::instant::Instant;
use common::money::Price;

use super::db::{Row, Tx, Value, values};
use super::history::{self, PricePiece, step_start};
use super::results;
use super::usage::{self, Usage, usage_columns};
use crate::error::AppError;

/// Seconds in an hour.
const HOUR: i64 = 3_600;

/// Seconds in a day.
const DAY: i64 = 86_400;

/// The columns of `price_hour` and `price_day`.
macro_rules! price_columns {
    () => {
        "starts_at, chip_type, cycle, seconds, priced_seconds, reference_price, low, high, supply_chip_seconds, \
         asked_chip_seconds, paid_chip_seconds, opportunistic_chip_seconds"
    };
}

/// The columns that [`piece_from_row`] reads where no pool is asked for.
macro_rules! stored_price {
    () => {
        "starts_at, cycle, seconds, priced_seconds, reference_price, low, high, supply_chip_seconds, \
         asked_chip_seconds, paid_chip_seconds, opportunistic_chip_seconds, CAST(0 AS BIGINT), NULL"
    };
}

/// The end of the last hour that is rolled up; none before the first.
pub(crate) async fn rolled_up_to(tx: &mut Tx) -> Result<Option<Instant>, AppError> {
    let row = tx.row("SELECT MAX(starts_at) FROM price_hour", []).await?;
    let last = row.map_or(Ok(None), |mut row| row.optional_int())?;
    Ok(last.map(|start| Instant(start).plus_seconds(HOUR)))
}

/// The first hour of usage or of pool prices that has no hour of prices up to `end` beside it; none where all have.
pub(crate) async fn first_beyond(tx: &mut Tx, end: Option<Instant>) -> Result<Option<Instant>, AppError> {
    const SQL: &str = "SELECT MIN(starts_at) FROM (SELECT starts_at FROM usage_hour UNION ALL \
        SELECT starts_at FROM pool_price_hour) AS hours WHERE starts_at >= $1";
    let row = tx.row(SQL, values![end.map_or(i64::MIN, |end| end.0)]).await?;
    Ok(row.map_or(Ok(None), |mut row| row.optional_int())?.map(Instant))
}

/// Rolls up the first hour that is due, with its day where that is over; the answer is whether there was one.
///
/// # Errors
/// The database can't be read or written.
pub async fn roll_up_next_hour(tx: &mut Tx) -> Result<bool, AppError> {
    const ACCOUNTED: &str = "SELECT MAX(starts_at) FROM cycle WHERE step IS NOT NULL";
    const FIRST: &str = "SELECT MIN(starts_at) FROM cycle";
    let accounted = tx.row(ACCOUNTED, []).await?.map_or(Ok(None), |mut row| row.optional_int())?.map(Instant);
    let Some(accounted) = accounted else { return Ok(false) };
    let start = match rolled_up_to(tx).await? {
        Some(end) => end,
        None => match tx.row(FIRST, []).await?.map_or(Ok(None), |mut row| row.optional_int())? {
            Some(first) => step_start(Instant(first), HOUR),
            None => return Ok(false),
        },
    };
    let end = start.plus_seconds(HOUR);
    if end > accounted {
        return Ok(false);
    }
    if !roll_up_hour(tx, start, end).await? {
        return Ok(false);
    }
    if end == step_start(end, DAY) {
        roll_up_day(tx, end.plus_seconds(-DAY), end).await?;
    }
    Ok(true)
}

/// Rolls up one hour; false where no chip type had a price row in it.
async fn roll_up_hour(tx: &mut Tx, start: Instant, end: Instant) -> Result<bool, AppError> {
    const USAGE: &str = concat!("INSERT INTO usage_hour (", usage_columns!(), ")");
    const LOCAL: &str =
        "INSERT INTO pool_price_hour (starts_at, pool, chip_type, priced_seconds, local_price)";
    const PRICES: &str = concat!("INSERT INTO price_hour (", price_columns!(), ")");
    let hour = hours_of_parts(tx, start, end).await?;
    tx.insert(USAGE, hour.usage.iter().map(usage::row_values).collect()).await?;
    tx.insert(LOCAL, hour.pool_prices.iter().map(PoolPriceHour::values).collect()).await?;
    tx.insert(PRICES, hour.prices.iter().map(RolledUpPrice::values).collect()).await?;
    Ok(!hour.prices.is_empty())
}

/// Rolls up one day from its hours.
async fn roll_up_day(tx: &mut Tx, start: Instant, end: Instant) -> Result<(), AppError> {
    const USAGE: &str = concat!("INSERT INTO usage_day (", usage_columns!(), ")");
    const PRICES: &str = concat!("INSERT INTO price_day (", price_columns!(), ")");
    let day = day_of_hours(tx, start, end).await?;
    tx.insert(USAGE, day.usage.iter().map(usage::row_values).collect()).await?;
    tx.insert(PRICES, day.prices.iter().map(RolledUpPrice::values).collect()).await
}

/// What is rolled up over hours or a day, each list in the order of its key.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct RolledUp {
    pub(crate) usage: Vec<Usage>,
    pub(crate) prices: Vec<RolledUpPrice>,
    /// Of hours only.
    pub(crate) pool_prices: Vec<PoolPriceHour>,
}

/// A row of `price_hour` or `price_day`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct RolledUpPrice {
    pub(crate) chip_type: ChipTypeId,
    /// With its price averaged, as it is stored.
    pub(crate) piece: PricePiece,
}

/// A row of `pool_price_hour`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct PoolPriceHour {
    pub(crate) starts_at: Instant,
    pub(crate) pool: PoolId,
    pub(crate) chip_type: ChipTypeId,
    pub(crate) priced_seconds: i64,
    pub(crate) local_price: Price,
}

impl RolledUpPrice {
    fn new(chip_type: &ChipTypeId, piece: &PricePiece) -> Self {
        let price_seconds = weighed(piece.reference_price(), piece.priced_seconds);
        Self { chip_type: chip_type.clone(), piece: PricePiece { price_seconds, ..piece.clone() } }
    }

    fn values(&self) -> [Value; 12] {
        let piece = &self.piece;
        values![
            piece.starts_at.0,
            self.chip_type.as_str(),
            piece.cycle,
            piece.seconds,
            piece.priced_seconds,
            piece.reference_price().map(|price| price.0),
            piece.low.map(|price| price.0),
            piece.high.map(|price| price.0),
            piece.supply_chip_seconds,
            piece.asked_chip_seconds,
            piece.paid_chip_seconds,
            piece.opportunistic_chip_seconds,
        ]
    }
}

impl PoolPriceHour {
    fn values(&self) -> [Value; 5] {
        let (pool, chip_type) = (self.pool.as_str(), self.chip_type.as_str());
        values![self.starts_at.0, pool, chip_type, self.priced_seconds, self.local_price.0]
    }
}

/// A price that held for so many seconds, times them.
fn weighed(price: Option<Price>, seconds: i64) -> i128 {
    price.map_or(0, |price| i128::from(price.0) * i128::from(seconds))
}

/// The hours between two full hours as their cycles and pieces of usage make them.
pub(crate) async fn hours_of_parts(tx: &mut Tx, start: Instant, end: Instant) -> Result<RolledUp, AppError> {
    // Instants are microseconds; the division is a whole one.
    const USAGE: &str = "SELECT starts_at / 3600000000 * 3600000000 AS hour, team, chip_type, \
        CAST(SUM(granted_chip_seconds) AS BIGINT), CAST(SUM(used_chip_seconds) AS BIGINT), \
        CAST(SUM(opportunistic_chip_seconds) AS BIGINT), CAST(SUM(cost) AS BIGINT) FROM usage \
        WHERE starts_at >= $1 AND starts_at < $2 GROUP BY 1, team, chip_type ORDER BY 1, team, chip_type";
    const PAIRS: &str = "SELECT DISTINCT pool, chip_type FROM pool_price ORDER BY pool, chip_type";
    let usage = tx.rows(USAGE, values![start.0, end.0]).await?.into_iter().map(usage::from_row);
    let mut rolled_up = RolledUp { usage: usage.collect::<Result<_, _>>()?, ..RolledUp::default() };
    for mut row in tx.rows(PAIRS, []).await? {
        let (pool, chip_type): (PoolId, ChipTypeId) = (row.id()?, row.id()?);
        let pieces = history::raw_pieces(tx, &chip_type, Some(&pool), start, end, HOUR).await?;
        let hours = history::fold(pieces, HOUR);
        rolled_up.pool_prices.extend(hours.iter().filter_map(|hour| {
            let (starts_at, priced_seconds) = (hour.starts_at, hour.local_priced_seconds);
            let (pool, chip_type, local_price) = (pool.clone(), chip_type.clone(), hour.local_price()?);
            Some(PoolPriceHour { starts_at, pool, chip_type, priced_seconds, local_price })
        }));
    }
    for chip_type in chip_types(tx).await? {
        let pieces = history::raw_pieces(tx, &chip_type, None, start, end, HOUR).await?;
        let hours = history::fold(pieces, HOUR);
        rolled_up.prices.extend(hours.iter().map(|hour| RolledUpPrice::new(&chip_type, hour)));
    }
    Ok(rolled_up)
}

/// A day as its hours make it.
pub(crate) async fn day_of_hours(tx: &mut Tx, start: Instant, end: Instant) -> Result<RolledUp, AppError> {
    const USAGE: &str = "SELECT CAST($1 AS BIGINT), team, chip_type, CAST(SUM(granted_chip_seconds) AS BIGINT), \
        CAST(SUM(used_chip_seconds) AS BIGINT), CAST(SUM(opportunistic_chip_seconds) AS BIGINT), \
        CAST(SUM(cost) AS BIGINT) FROM usage_hour WHERE starts_at >= $1 AND starts_at < $2 \
        GROUP BY team, chip_type ORDER BY team, chip_type";
    let usage = tx.rows(USAGE, values![start.0, end.0]).await?.into_iter().map(usage::from_row);
    let mut rolled_up = RolledUp { usage: usage.collect::<Result<_, _>>()?, ..RolledUp::default() };
    for chip_type in chip_types(tx).await? {
        let hours = price_pieces(tx, &chip_type, None, start, end, HOUR).await?;
        let days = history::fold(hours, DAY);
        rolled_up.prices.extend(days.iter().map(|day| RolledUpPrice::new(&chip_type, day)));
    }
    Ok(rolled_up)
}

/// The hours that are stored between two instants.
pub(crate) async fn stored_hours(tx: &mut Tx, start: Instant, end: Instant) -> Result<RolledUp, AppError> {
    const USAGE: &str = concat!(
        "SELECT ",
        usage_columns!(),
        " FROM usage_hour WHERE starts_at >= $1 AND starts_at < $2 ORDER BY starts_at, team, chip_type"
    );
    const PRICES: &str = concat!(
        "SELECT chip_type, ",
        stored_price!(),
        " FROM price_hour WHERE starts_at >= $1 AND starts_at < $2 ORDER BY chip_type, starts_at"
    );
    const LOCAL: &str = "SELECT starts_at, pool, chip_type, priced_seconds, local_price FROM pool_price_hour \
        WHERE starts_at >= $1 AND starts_at < $2 ORDER BY pool, chip_type, starts_at";
    let mut hours = stored(tx, USAGE, PRICES, start, end).await?;
    for mut row in tx.rows(LOCAL, values![start.0, end.0]).await? {
        hours.pool_prices.push(PoolPriceHour {
            starts_at: Instant(row.int()?),
            pool: row.id()?,
            chip_type: row.id()?,
            priced_seconds: row.int()?,
            local_price: Price(row.unsigned()?),
        });
    }
    Ok(hours)
}

/// The days that are stored between two instants.
pub(crate) async fn stored_days(tx: &mut Tx, start: Instant, end: Instant) -> Result<RolledUp, AppError> {
    const USAGE: &str = concat!(
        "SELECT ",
        usage_columns!(),
        " FROM usage_day WHERE starts_at >= $1 AND starts_at < $2 ORDER BY starts_at, team, chip_type"
    );
    const PRICES: &str = concat!(
        "SELECT chip_type, ",
        stored_price!(),
        " FROM price_day WHERE starts_at >= $1 AND starts_at < $2 ORDER BY chip_type, starts_at"
    );
    stored(tx, USAGE, PRICES, start, end).await
}

async fn stored(
    tx: &mut Tx,
    usage: &'static str,
    prices: &'static str,
    start: Instant,
    end: Instant,
) -> Result<RolledUp, AppError> {
    let usage = tx.rows(usage, values![start.0, end.0]).await?.into_iter().map(usage::from_row);
    let usage = usage.collect::<Result<_, _>>()?;
    let mut rows = Vec::new();
    for mut row in tx.rows(prices, values![start.0, end.0]).await? {
        rows.push(RolledUpPrice { chip_type: row.id()?, piece: piece_from_row(row)? });
    }
    Ok(RolledUp { usage, prices: rows, pool_prices: Vec::new() })
}

/// All chip types there ever were.
async fn chip_types(tx: &mut Tx) -> Result<Vec<ChipTypeId>, AppError> {
    let rows = tx.rows("SELECT DISTINCT id FROM chip_type_version ORDER BY id", []).await?;
    rows.into_iter().map(|mut row| row.id()).collect()
}

fn piece_from_row(mut row: Row) -> Result<PricePiece, AppError> {
    let (starts_at, cycle, seconds, priced_seconds) =
        (Instant(row.int()?), row.unsigned()?, row.int()?, row.int()?);
    let reference_price = row.optional_unsigned()?.map(Price);
    let mut piece = PricePiece {
        starts_at,
        seconds,
        cycle,
        priced_seconds,
        price_seconds: weighed(reference_price, priced_seconds),
        low: row.optional_unsigned()?.map(Price),
        high: row.optional_unsigned()?.map(Price),
        supply_chip_seconds: row.unsigned()?,
        asked_chip_seconds: row.unsigned()?,
        paid_chip_seconds: row.unsigned()?,
        opportunistic_chip_seconds: row.unsigned()?,
        local_priced_seconds: row.optional_int()?.unwrap_or(0),
        local_price_seconds: 0,
    };
    let local_price = row.optional_unsigned()?.map(Price);
    piece.local_price_seconds = weighed(local_price, piece.local_priced_seconds);
    Ok(piece)
}

/// The rolled-up stretches that begin between two instants: finished days where the step is one or more, else hours.
/// Pool prices are kept by the hour.
pub(super) async fn price_pieces(
    tx: &mut Tx,
    chip_type: &ChipTypeId,
    pool: Option<&PoolId>,
    from: Instant,
    to: Instant,
    step_seconds: i64,
) -> Result<Vec<PricePiece>, AppError> {
    const DAYS: &str = concat!(
        "SELECT ",
        stored_price!(),
        " FROM price_day WHERE chip_type = $1 AND starts_at >= $2 AND starts_at < $3 ORDER BY starts_at"
    );
    const HOURS: &str = concat!(
        "SELECT h.starts_at, h.cycle, h.seconds, h.priced_seconds, h.reference_price, h.low, h.high, ",
        "h.supply_chip_seconds, h.asked_chip_seconds, h.paid_chip_seconds, h.opportunistic_chip_seconds, ",
        "p.priced_seconds, p.local_price FROM price_hour h LEFT JOIN pool_price_hour p ",
        "ON p.starts_at = h.starts_at AND p.chip_type = h.chip_type AND p.pool = $4 ",
        "WHERE h.chip_type = $1 AND h.starts_at >= $2 AND h.starts_at < $3 ORDER BY h.starts_at"
    );
    let (mut pieces, mut hours_from) = (Vec::new(), from);
    if step_seconds >= DAY && pool.is_none() {
        for row in tx.rows(DAYS, values![chip_type.as_str(), from.0, to.0]).await? {
            pieces.push(piece_from_row(row)?);
        }
        if let Some(last) = pieces.last() {
            hours_from = last.starts_at.plus_seconds(DAY);
        }
    }
    let values = values![chip_type.as_str(), hours_from.0, to.0, pool.map(PoolId::as_str)];
    for row in tx.rows(HOURS, values).await? {
        pieces.push(piece_from_row(row)?);
    }
    Ok(pieces)
}

/// Rolled-up usage that begins between two instants: finished days where the step is one or more, else hours.
pub(super) async fn usage(
    tx: &mut Tx,
    from: Instant,
    to: Instant,
    step_seconds: i64,
) -> Result<Vec<Usage>, AppError> {
    const DAYS: &str = concat!(
        "SELECT ",
        usage_columns!(),
        " FROM usage_day WHERE starts_at >= $1 AND starts_at < $2 ORDER BY starts_at, team"
    );
    const HOURS: &str = concat!(
        "SELECT ",
        usage_columns!(),
        " FROM usage_hour WHERE starts_at >= $1 AND starts_at < $2 ORDER BY starts_at, team"
    );
    let (mut usage, mut hours_from) = (Vec::new(), from);
    if step_seconds >= DAY {
        for row in tx.rows(DAYS, values![from.0, to.0]).await? {
            usage.push(usage::from_row(row)?);
        }
        if let Some(last) = usage.last() {
            hours_from = last.starts_at.plus_seconds(DAY);
        }
    }
    for row in tx.rows(HOURS, values![hours_from.0, to.0]).await? {
        usage.push(usage::from_row(row)?);
    }
    Ok(usage)
}

/// Removes per-cycle rows from before `older_than` that are rolled up; what still holds then stays. The answer is the
/// number of rows removed. Versions, cycles with their hashes and the ledger stay for good.
///
/// # Errors
/// The database can't be read or written.
pub async fn remove_old_rows(tx: &mut Tx, older_than: Instant) -> Result<u64, AppError> {
    const PRICES: &str = "DELETE FROM price WHERE cycle < $1";
    const POOL_PRICES: &str = "DELETE FROM pool_price AS old WHERE cycle < $1 AND EXISTS (SELECT 1 FROM pool_price n \
        WHERE n.pool = old.pool AND n.chip_type = old.chip_type AND n.cycle > old.cycle AND n.cycle <= $1)";
    const QUOTAS: &str = "DELETE FROM team_quota AS old WHERE cycle < $1 AND EXISTS (SELECT 1 FROM team_quota n \
        WHERE n.team = old.team AND n.chip_type = old.chip_type AND n.cycle > old.cycle AND n.cycle <= $1)";
    const BIDS: &str = "DELETE FROM bid_result AS old WHERE cycle < $1 AND (EXISTS (SELECT 1 FROM bid_result n \
        WHERE n.bid = old.bid AND n.cycle > old.cycle AND n.cycle <= $1) OR NOT EXISTS (SELECT 1 FROM bid_version v \
        WHERE v.bid = old.bid AND (v.superseded_cycle IS NULL OR v.superseded_cycle > $1)))";
    const PIECES: &str = "DELETE FROM usage WHERE starts_at < $1";
    let limit = rolled_up_to(tx).await?.map_or(older_than, |end| end.min(older_than));
    // Verification starts from a cycle that booked an accounting step, so one stays the first with all its rows.
    const FIRST_KEPT: &str = "SELECT MAX(number) FROM cycle WHERE starts_at <= $1 AND step IS NOT NULL";
    let first_kept = tx.row(FIRST_KEPT, values![limit.0]).await?;
    let Some(first_kept) = first_kept.map_or(Ok(None), |mut row| row.optional_unsigned())? else {
        return Ok(0);
    };
    let Some(cycle) = results::cycle(tx, first_kept).await? else { return Ok(0) };
    let mut removed = 0;
    for sql in [PRICES, POOL_PRICES, QUOTAS, BIDS] {
        removed += tx.execute(sql, values![cycle.number]).await?;
    }
    removed += tx.execute(PIECES, values![step_start(cycle.starts_at, HOUR).0]).await?;
    Ok(removed)
}
