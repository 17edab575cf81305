//! What becomes of jobs that lose their quota by a cut of supply: the policy, and the jobs that were stopped.

use common::api::{CutPolicyKind, ReclaimWhy};
use common::chips::Chips;
use common::ids::{BidId, ChipTypeId, TeamId};
use common::instant::Instant;
use common::money::Price;
use serde::Serialize;

use super::db::{Row, Tx, Value, values};
use super::entities::{Versioned, versioned};
use super::results::OverQuota;
use crate::error::AppError;

/// What becomes of them. As long as nothing is set they stop at once.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct CutPolicy {
    /// Stop, run on, or be reclaimed.
    pub kind: CutPolicyKind,
    /// Of reclaiming: chips taken in a cycle at most, but for the rest of the last job's gang; none is no limit.
    pub churn_chips: Option<Chips>,
}

impl Versioned for CutPolicy {
    versioned!(
        CutPolicy, "cut_policy_version", same: "TRUE", key: "version", columns: "policy, churn_chips",
        parameters: "$1, $2", at: "$3"
    );

    fn from_row(row: &mut Row) -> Result<Self, AppError> {
        let kind = match row.text()?.as_str() {
            "keep" => CutPolicyKind::Keep,
            "reclaim" => CutPolicyKind::Reclaim,
            _ => CutPolicyKind::AtOnce,
        };
        Ok(Self { kind, churn_chips: row.optional_unsigned()?.map(Chips) })
    }

    fn to_values(&self) -> Vec<Value> {
        values![self.kind.as_str(), self.churn_chips.map(|chips| chips.0)].into()
    }
}

/// A job that a cut stopped.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Reclaim {
    /// The cycle.
    pub cycle: u64,
    /// The bid's number.
    pub bid: u64,
    /// Its team.
    pub team: TeamId,
    /// The chip type.
    pub chip_type: ChipTypeId,
    /// Chips of it that the job used.
    pub chips: Chips,
    /// Why it was stopped.
    pub why: ReclaimWhy,
    /// The team's local price in the cycle before.
    pub price_then: Option<Price>,
    /// And in this one.
    pub price_now: Option<Price>,
}

macro_rules! reclaim_columns {
    () => {
        "cycle, bid, team, chip_type, chips, why, price_then, price_now"
    };
}

fn reclaim_from_row(row: &mut Row) -> Result<Reclaim, AppError> {
    Ok(Reclaim {
        cycle: row.unsigned()?,
        bid: row.unsigned()?,
        team: row.id()?,
        chip_type: row.id()?,
        chips: Chips(row.unsigned()?),
        why: match row.text()?.as_str() {
            "room" => ReclaimWhy::Room,
            "policy" => ReclaimWhy::Policy,
            _ => ReclaimWhy::AtOnce,
        },
        price_then: row.optional_unsigned()?.map(Price),
        price_now: row.optional_unsigned()?.map(Price),
    })
}

/// Stores what was reclaimed in a cycle.
pub(crate) async fn insert_reclaims(tx: &mut Tx, reclaims: &[Reclaim]) -> Result<(), AppError> {
    let rows = reclaims.iter().map(|row| {
        let (then, now) = (row.price_then.map(|price| price.0), row.price_now.map(|price| price.0));
        let (team, chip_type, why) = (row.team.as_str(), row.chip_type.as_str(), row.why.as_str());
        values![row.cycle, row.bid, team, chip_type, row.chips.0, why, then, now]
    });
    tx.insert(concat!("INSERT INTO reclaim (", reclaim_columns!(), ")"), rows.collect()).await
}

/// What was reclaimed in cycles `from` to `to`, in order of cycle and bid.
pub(crate) async fn reclaims(tx: &mut Tx, from: u64, to: u64) -> Result<Vec<Reclaim>, AppError> {
    const SQL: &str = concat!(
        "SELECT ",
        reclaim_columns!(),
        " FROM reclaim WHERE cycle BETWEEN $1 AND $2 ORDER BY cycle, bid"
    );
    tx.rows(SQL, values![from, to]).await?.iter_mut().map(reclaim_from_row).collect()
}

/// The last reclaims before a cycle, at most `limit`, newest first, each with the start of its cycle and the bid's name.
pub(crate) async fn last_reclaims(
    tx: &mut Tx,
    limit: u32,
) -> Result<Vec<(Reclaim, Instant, BidId, String)>, AppError> {
    const SQL: &str = "SELECT r.cycle, r.bid, r.team, r.chip_type, r.chips, r.why, r.price_then, r.price_now, c.starts_at, \
        b.id, (SELECT v.name FROM bid_version v WHERE v.bid = r.bid ORDER BY v.version DESC LIMIT 1) FROM reclaim r \
        JOIN cycle c ON c.number = r.cycle JOIN bid b ON b.number = r.bid ORDER BY r.cycle DESC, r.bid LIMIT $1";
    let mut rows = tx.rows(SQL, values![limit]).await?;
    let read =
        rows.iter_mut().map(|row| Ok((reclaim_from_row(row)?, Instant(row.int()?), row.id()?, row.text()?)));
    read.collect()
}

/// Chips reclaimed in cycles that began at or after an instant.
pub(crate) async fn reclaimed_since(tx: &mut Tx, since: Instant) -> Result<u64, AppError> {
    const SQL: &str = "SELECT CAST(COALESCE(SUM(chips), 0) AS BIGINT) FROM reclaim WHERE cycle >= \
        (SELECT COALESCE(MIN(number), 0) FROM cycle WHERE starts_at >= $1)";
    let row = tx.row(SQL, values![since.0]).await?;
    row.map_or(Ok(0), |mut row| row.unsigned())
}

/// Jobs over quota in the last cycle: bid, name, team, and what they use.
pub(crate) async fn over_quota(tx: &mut Tx) -> Result<Vec<(BidId, String, TeamId, OverQuota)>, AppError> {
    const SQL: &str = "SELECT b.id, v.name, b.team, r.over_type, r.over_chips, r.over_price FROM bid_version v \
        JOIN bid b ON b.number = v.bid JOIN bid_result r ON r.bid = v.bid \
        AND r.cycle = (SELECT MAX(m.cycle) FROM bid_result m WHERE m.bid = v.bid) \
        WHERE v.superseded_cycle IS NULL AND v.effective_cycle IS NOT NULL AND v.state = 'live' \
        AND r.over_type IS NOT NULL ORDER BY b.number";
    let mut rows = tx.rows(SQL, []).await?;
    let read = rows.iter_mut().map(|row| {
        let (bid, name, team) = (row.id()?, row.text()?, row.id()?);
        let over =
            OverQuota { chip_type: row.id()?, chips: Chips(row.unsigned()?), price: Price(row.unsigned()?) };
        Ok((bid, name, team, over))
    });
    read.collect()
}
