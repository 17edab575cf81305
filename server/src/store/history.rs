//! Prices and supply over time, for charts: raw cycles for the recent past, roll-ups for what is older, as one series.

use common::api::{Occupancy, PricePoint, SupplyChange};
use common::chips::Chips;
use common::ids::{ChipTypeId, PoolId};
use common::instant::{Instant, MICROS_PER_SECOND};
use common::money::Price;

use super::db::{Tx, values};
use super::results;
use crate::error::AppError;

/// A stretch of time in which a chip type's market stood still, or sums over one in which it moved.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct PricePiece {
    pub(crate) starts_at: Instant,
    pub(crate) seconds: i64,
    /// Last cycle in it.
    pub(crate) cycle: u64,
    /// Seconds with a reference price, and the price times those seconds.
    pub(crate) priced_seconds: i64,
    pub(crate) price_seconds: i128,
    pub(crate) low: Option<Price>,
    pub(crate) high: Option<Price>,
    pub(crate) supply_chip_seconds: u64,
    pub(crate) asked_chip_seconds: u64,
    pub(crate) paid_chip_seconds: u64,
    pub(crate) opportunistic_chip_seconds: u64,
    /// The same as for the reference price, for the price of the pool that was asked for.
    pub(crate) local_priced_seconds: i64,
    pub(crate) local_price_seconds: i128,
}

impl PricePiece {
    /// Time-weighted average reference price, rounded half up; absent where there was none.
    pub(crate) fn reference_price(&self) -> Option<Price> {
        average(self.price_seconds, self.priced_seconds)
    }

    /// Time-weighted average local price, rounded half up; absent where there was none.
    pub(crate) fn local_price(&self) -> Option<Price> {
        average(self.local_price_seconds, self.local_priced_seconds)
    }

    fn add(&mut self, other: &Self) {
        self.seconds += other.seconds;
        self.cycle = self.cycle.max(other.cycle);
        self.priced_seconds += other.priced_seconds;
        self.price_seconds += other.price_seconds;
        self.low = self.low.into_iter().chain(other.low).min();
        self.high = self.high.max(other.high);
        self.supply_chip_seconds += other.supply_chip_seconds;
        self.asked_chip_seconds += other.asked_chip_seconds;
        self.paid_chip_seconds += other.paid_chip_seconds;
        self.opportunistic_chip_seconds += other.opportunistic_chip_seconds;
        self.local_priced_seconds += other.local_priced_seconds;
        self.local_price_seconds += other.local_price_seconds;
    }

    fn to_point(&self) -> PricePoint {
        let chips = |chip_seconds: u64| {
            let seconds = self.seconds.unsigned_abs().max(1);
            (chip_seconds + seconds / 2) / seconds
        };
        let (supply, paid) = (chips(self.supply_chip_seconds), chips(self.paid_chip_seconds));
        let opportunistic = chips(self.opportunistic_chip_seconds).min(supply.saturating_sub(paid));
        PricePoint {
            at: self.starts_at,
            cycle: self.cycle,
            reference_price: self.reference_price(),
            low: self.low,
            high: self.high,
            local_price: self.local_price(),
            asked: Chips(chips(self.asked_chip_seconds)),
            occupancy: Occupancy {
                supply: Chips(supply),
                paid: Chips(paid),
                opportunistic: Chips(opportunistic),
                idle: Chips(supply.saturating_sub(paid + opportunistic)),
            },
        }
    }
}

fn average(sum: i128, seconds: i64) -> Option<Price> {
    let seconds = i128::from(seconds);
    (seconds > 0).then(|| Price(u64::try_from((sum + seconds / 2) / seconds).unwrap_or(u64::MAX)))
}

/// The start of the step of `step_seconds` that contains an instant.
pub(crate) const fn step_start(at: Instant, step_seconds: i64) -> Instant {
    let step = step_seconds * MICROS_PER_SECOND;
    Instant(at.0.div_euclid(step) * step)
}

/// Whole seconds from one instant to another; 0 where the other is earlier.
pub(crate) fn seconds_between(from: Instant, to: Instant) -> i64 {
    ((to.0 - from.0) / MICROS_PER_SECOND).max(0)
}

/// Sums pieces over steps of `step_seconds`; each piece lies within one step.
pub(crate) fn fold(pieces: impl IntoIterator<Item = PricePiece>, step_seconds: i64) -> Vec<PricePiece> {
    let mut steps: Vec<PricePiece> = Vec::new();
    for piece in pieces {
        let start = step_start(piece.starts_at, step_seconds);
        match steps.last_mut() {
            Some(step) if step.starts_at == start => step.add(&piece),
            _ => {
                let mut step = PricePiece { starts_at: start, ..PricePiece::default() };
                step.add(&piece);
                steps.push(step);
            }
        }
    }
    steps
}

/// The price of a chip type from `from` to `to`. A step of 0 seconds gives one point per cycle, any other the
/// time-weighted averages over steps that begin at multiples of it. With a pool, its local price as well.
///
/// # Errors
/// The database can't be read.
pub async fn price_points(
    tx: &mut Tx,
    chip_type: &ChipTypeId,
    pool: Option<&PoolId>,
    from: Instant,
    to: Instant,
    step_seconds: u32,
) -> Result<Vec<PricePoint>, AppError> {
    let steps = price_steps(tx, chip_type, pool, from, to, step_seconds).await?;
    Ok(steps.iter().map(PricePiece::to_point).collect())
}

/// The steps behind [`price_points`], with their sums over time.
pub(crate) async fn price_steps(
    tx: &mut Tx,
    chip_type: &ChipTypeId,
    pool: Option<&PoolId>,
    from: Instant,
    to: Instant,
    step_seconds: u32,
) -> Result<Vec<PricePiece>, AppError> {
    let step = i64::from(step_seconds);
    let mut pieces = Vec::new();
    let mut raw_from = from;
    if step >= 3_600 {
        raw_from = super::rollup::rolled_up_to(tx).await?.unwrap_or(from).max(from);
        pieces = super::rollup::price_pieces(tx, chip_type, pool, from, to.min(raw_from), step).await?;
    }
    if raw_from < to {
        // Pieces end at multiples of the step, so that each lies within one.
        pieces.extend(
            raw_pieces(tx, chip_type, pool, raw_from, to, if step == 0 { i64::MAX } else { step }).await?,
        );
    }
    Ok(if step == 0 { pieces } else { fold(pieces, step) })
}

/// The stretches between `from` and `to`, one per cycle, cut at multiples of `cut_seconds`.
pub(crate) async fn raw_pieces(
    tx: &mut Tx,
    chip_type: &ChipTypeId,
    pool: Option<&PoolId>,
    from: Instant,
    to: Instant,
    cut_seconds: i64,
) -> Result<Vec<PricePiece>, AppError> {
    let starts = cycle_starts(tx, from, to).await?;
    let (Some((first, _)), Some((last, _))) = (starts.first(), starts.last()) else { return Ok(Vec::new()) };
    let prices = results::prices(tx, *first, *last, Some(chip_type)).await?;
    let local = match pool {
        Some(pool) => results::pool_price_changes(tx, pool, chip_type, *first, *last).await?,
        None => Vec::new(),
    };
    let mut pieces = Vec::with_capacity(prices.len());
    let (mut local, mut local_price) = (local.into_iter().peekable(), None);
    let mut prices = prices.into_iter().peekable();
    for (index, (cycle, starts_at)) in starts.iter().enumerate() {
        let ends_at = starts.get(index + 1).map_or(to, |next| next.1).min(to);
        while let Some(change) = local.next_if(|change| change.cycle <= *cycle) {
            local_price = change.local_price;
        }
        let Some(price) = prices.next_if(|price| price.cycle == *cycle) else { continue };
        let mut at = (*starts_at).max(from);
        while at < ends_at {
            let cut = if cut_seconds == i64::MAX {
                ends_at
            } else {
                step_start(at, cut_seconds).plus_seconds(cut_seconds)
            };
            let end = cut.min(ends_at);
            pieces.push(standing_still(&price, local_price, at, seconds_between(at, end)));
            at = end;
        }
    }
    Ok(pieces)
}

/// The piece of one cycle, or of a part of it.
fn standing_still(
    price: &results::ChipTypePrice,
    local_price: Option<Price>,
    starts_at: Instant,
    seconds: i64,
) -> PricePiece {
    let weigh = |price: Option<Price>| match price {
        Some(price) => (seconds, i128::from(price.0) * i128::from(seconds)),
        None => (0, 0),
    };
    let (priced_seconds, price_seconds) = weigh(price.reference_price);
    let (local_priced_seconds, local_price_seconds) = weigh(local_price);
    let chip_seconds = |chips: Chips| chips.0 * seconds.unsigned_abs();
    PricePiece {
        starts_at,
        seconds,
        cycle: price.cycle,
        priced_seconds,
        price_seconds,
        low: price.reference_price,
        high: price.reference_price,
        supply_chip_seconds: chip_seconds(price.supply),
        asked_chip_seconds: chip_seconds(price.asked),
        paid_chip_seconds: chip_seconds(price.paid),
        opportunistic_chip_seconds: chip_seconds(price.opportunistic),
        local_priced_seconds,
        local_price_seconds,
    }
}

/// Number and start of the cycles in force between `from` and `to`, oldest first.
pub(crate) async fn cycle_starts(
    tx: &mut Tx,
    from: Instant,
    to: Instant,
) -> Result<Vec<(u64, Instant)>, AppError> {
    const SQL: &str = "SELECT number, starts_at FROM cycle WHERE starts_at < $2 AND starts_at >= \
        COALESCE((SELECT MAX(starts_at) FROM cycle WHERE starts_at <= $1), $1) ORDER BY number";
    let rows = tx.rows(SQL, values![from.0, to.0]).await?;
    rows.into_iter().map(|mut row| Ok((row.unsigned()?, Instant(row.int()?)))).collect()
}

/// Changes of a chip type's whole supply, owned and shared, from `from` to `to`, oldest first.
///
/// # Errors
/// The database can't be read.
pub async fn supply_changes(
    tx: &mut Tx,
    chip_type: &ChipTypeId,
    from: Instant,
    to: Instant,
) -> Result<Vec<SupplyChange>, AppError> {
    const SQL: &str = "SELECT c.starts_at, CAST( \
        (SELECT COALESCE(SUM(t.shared), 0) FROM chip_type_version t WHERE t.id = $1 AND t.effective_cycle <= c.number \
         AND (t.superseded_cycle IS NULL OR t.superseded_cycle > c.number)) + \
        (SELECT COALESCE(SUM(o.chips), 0) FROM owned_supply_version o WHERE o.chip_type = $1 \
         AND o.effective_cycle <= c.number AND (o.superseded_cycle IS NULL OR o.superseded_cycle > c.number)) \
        AS BIGINT) FROM cycle c WHERE c.starts_at <= $2 AND c.number IN (SELECT effective_cycle FROM chip_type_version WHERE id = $1 \
        UNION SELECT effective_cycle FROM owned_supply_version WHERE chip_type = $1) ORDER BY c.number";
    let mut changes = Vec::new();
    let mut before = None;
    for mut row in tx.rows(SQL, values![chip_type.as_str(), to.0]).await? {
        let (at, after) = (Instant(row.int()?), Chips(row.unsigned()?));
        if let Some(before) = before
            && at >= from
            && before != after
        {
            changes.push(SupplyChange { at, before, after });
        }
        before = Some(after);
    }
    Ok(changes)
}

/// Chip-seconds of a chip type supplied from `from` to `to`, by steps that begin at multiples of their length.
///
/// # Errors
/// The database can't be read.
pub async fn supplied(
    tx: &mut Tx,
    chip_type: &ChipTypeId,
    from: Instant,
    to: Instant,
    step_seconds: u32,
) -> Result<Vec<(Instant, u64)>, AppError> {
    let steps = price_steps(tx, chip_type, None, from, to, step_seconds).await?;
    Ok(steps.iter().map(|step| (step.starts_at, step.supply_chip_seconds)).collect())
}
