//! Bids: an identity made once, and versions of what is bid.

use std::collections::BTreeMap;

use common::ids::{BidId, ChipTypeId, TeamId, UserId};
use common::instant::Instant;
use common::money::Price;
use market::snapshot::Alternative;
use sha2::{Digest as _, Sha256};

use super::db::{Row, Tx, Value, values};
use crate::error::AppError;

/// Where a bid is in its life.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum BidState {
    /// In the market.
    Live,
    /// Kept out of the market until its team resumes it.
    Paused,
    /// Ended by its team.
    Cancelled,
    /// Ended because its work estimate is done.
    Served,
    /// Ended because its window is over.
    Expired,
}

impl BidState {
    /// The state as it is stored.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Live => "live",
            Self::Paused => "paused",
            Self::Cancelled => "cancelled",
            Self::Served => "served",
            Self::Expired => "expired",
        }
    }

    /// The bid is over for good.
    #[must_use]
    pub const fn is_end(self) -> bool {
        matches!(self, Self::Cancelled | Self::Served | Self::Expired)
    }

    pub(super) fn parse(text: &str) -> Result<Self, AppError> {
        [Self::Live, Self::Paused, Self::Cancelled, Self::Served, Self::Expired]
            .into_iter()
            .find(|state| state.as_str() == text)
            .ok_or_else(|| AppError::internal(format!("a stored bid has the unknown state {text:?}")))
    }
}

/// What is bid.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BidTerms {
    /// Display name.
    pub name: String,
    /// Free text.
    pub note: String,
    /// Place in the team's queue, lowest first.
    pub position: u64,
    /// What it would take, in order of preference.
    pub alternatives: Vec<Alternative>,
    /// Most it pays in local credits per chip-hour.
    pub limit: Option<Price>,
    /// Not before this instant.
    pub not_before: Option<Instant>,
    /// Not at or after this instant.
    pub not_after: Option<Instant>,
    /// Estimate of all its work in chip-seconds; the bid ends when so much is done.
    pub work_chip_seconds: Option<u64>,
}

/// A version of a bid.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BidVersion {
    /// The short number that stored rows carry.
    pub number: u64,
    /// The bid.
    pub id: BidId,
    /// Its team.
    pub team: TeamId,
    /// Number of this version, from 1.
    pub version: u64,
    /// What is bid.
    pub terms: BidTerms,
    /// Where it is in its life.
    pub state: BidState,
}

impl BidVersion {
    /// The hash of all that a version written at an instant says.
    pub(crate) fn sha256(&self, written_at: Instant) -> Result<[u8; 32], AppError> {
        let Self { number, id, team, version, terms, state } = self;
        let text = serde_json::to_vec(&(
            (number, id.as_str(), team.as_str(), version, written_at.0, state.as_str()),
            (&terms.name, &terms.note, terms.position, &terms.alternatives),
            (terms.limit, terms.not_before, terms.not_after, terms.work_chip_seconds),
        ))
        .map_err(AppError::internal)?;
        Ok(Sha256::digest(text).into())
    }
}

/// The columns that [`from_row`] reads, of `bid` as `b` and `bid_version` as `v`.
macro_rules! columns {
    () => {
        "b.number, b.id, b.team, v.version, v.name, v.note, v.position, v.alternatives, v.limit_price, v.not_before, \
         v.not_after, v.work_chip_seconds, v.state"
    };
}

pub(super) use columns;

pub(super) fn from_row(row: &mut Row) -> Result<BidVersion, AppError> {
    Ok(BidVersion {
        number: row.unsigned()?,
        id: row.id()?,
        team: row.id()?,
        version: row.unsigned()?,
        terms: BidTerms {
            name: row.text()?,
            note: row.text()?,
            position: row.unsigned()?,
            alternatives: serde_json::from_str(&row.text()?).map_err(AppError::internal)?,
            limit: row.optional_unsigned()?.map(Price),
            not_before: row.optional_int()?.map(Instant),
            not_after: row.optional_int()?.map(Instant),
            work_chip_seconds: row.optional_unsigned()?,
        },
        state: BidState::parse(&row.text()?)?,
    })
}

fn from_rows(mut rows: Vec<Row>) -> Result<Vec<BidVersion>, AppError> {
    rows.iter_mut().map(from_row).collect()
}

/// The bids, paused ones among them, that hold in `cycle`.
pub(crate) async fn in_cycle(tx: &mut Tx, cycle: u64) -> Result<Vec<BidVersion>, AppError> {
    // Two branches, so that each finds its rows by a partial index; the plus keeps SQLite from another, worse one.
    const SQL: &str = concat!(
        "SELECT ",
        columns!(),
        " FROM bid_version v JOIN bid b ON b.number = v.bid",
        " WHERE v.superseded_cycle IS NULL AND +v.effective_cycle <= $1 UNION ALL SELECT ",
        columns!(),
        " FROM bid_version v JOIN bid b ON b.number = v.bid",
        " WHERE v.superseded_cycle > $1 AND v.effective_cycle <= $1"
    );
    from_rows(tx.rows(SQL, values![cycle]).await?)
}

/// The newest version of one bid, in effect, waiting or ended.
///
/// # Errors
/// The database can't be read.
pub async fn newest(tx: &mut Tx, id: &BidId) -> Result<Option<BidVersion>, AppError> {
    const SQL: &str = concat!(
        "SELECT ",
        columns!(),
        " FROM bid b JOIN bid_version v ON v.bid = b.number WHERE b.id = $1",
        " ORDER BY v.version DESC LIMIT 1"
    );
    tx.row(SQL, values![id.as_str()]).await?.as_mut().map(from_row).transpose()
}

/// The hashes of the requests that placed bids, of those ids that there are.
pub(crate) async fn request_sha256s(
    tx: &mut Tx,
    ids: impl Iterator<Item = &BidId>,
) -> Result<BTreeMap<BidId, [u8; 32]>, AppError> {
    let ids: Vec<Value> = ids.map(|id| Value::from(id.as_str())).collect();
    let rows = tx.rows_among("SELECT id, request_sha256 FROM bid WHERE id", &ids).await?;
    rows.into_iter().map(|mut row| Ok((row.id()?, row.sha256()?))).collect()
}

/// A version as `verify` reads it.
#[derive(Clone, Debug)]
pub(crate) struct StoredVersion {
    pub(crate) bid: BidVersion,
    /// Of the request that placed the bid.
    pub(crate) request_sha256: [u8; 32],
    /// The cycle with which the version took effect.
    pub(crate) cycle: Option<u64>,
    pub(crate) written_at: Instant,
    /// Of what the version says; absent for those from before there were such hashes.
    pub(crate) sha256: Option<[u8; 32]>,
}

/// The versions behind a bid's number and version, at most `limit`, in that order.
pub(crate) async fn versions_after(
    tx: &mut Tx,
    (number, version): (u64, u64),
    limit: u32,
) -> Result<Vec<StoredVersion>, AppError> {
    const SQL: &str = concat!(
        "SELECT ",
        columns!(),
        ", b.request_sha256, v.effective_cycle, v.written_at, v.sha256",
        " FROM bid_version v JOIN bid b ON b.number = v.bid",
        " WHERE v.bid >= $1 AND (v.bid > $1 OR v.version > $2) ORDER BY v.bid, v.version LIMIT $3"
    );
    let mut rows = tx.rows(SQL, values![number, version, limit]).await?;
    let versions = rows.iter_mut().map(|row| {
        Ok(StoredVersion {
            bid: from_row(row)?,
            request_sha256: row.sha256()?,
            cycle: row.optional_unsigned()?,
            written_at: Instant(row.int()?),
            sha256: row.optional_sha256()?,
        })
    });
    versions.collect()
}

/// When the first version with a hash was written; none where there is no such version.
pub(crate) async fn hashed_since(tx: &mut Tx) -> Result<Option<Instant>, AppError> {
    const SQL: &str = "SELECT MIN(written_at) FROM bid_version WHERE sha256 IS NOT NULL";
    let row = tx.row(SQL, []).await?;
    Ok(row.map_or(Ok(None), |mut row| row.optional_int())?.map(Instant))
}

/// Bids without any version, and versions without a bid: how many of each are stored.
pub(crate) async fn strays(tx: &mut Tx) -> Result<(u64, u64), AppError> {
    const SQL: &str = "SELECT (SELECT COUNT(*) FROM bid b WHERE NOT EXISTS \
        (SELECT 1 FROM bid_version v WHERE v.bid = b.number)), \
        (SELECT COUNT(*) FROM bid_version v WHERE NOT EXISTS (SELECT 1 FROM bid b WHERE b.number = v.bid))";
    tx.row(SQL, []).await?.map_or(Ok((0, 0)), |mut row| Ok((row.unsigned()?, row.unsigned()?)))
}

/// What bids were charged up to the last accounting step, by their numbers, in 1/3600 of a micro-credit.
pub(crate) async fn costs(tx: &mut Tx) -> Result<BTreeMap<u64, u128>, AppError> {
    let mut rows = tx.rows("SELECT bid, amount, carry FROM bid_cost", []).await?;
    let costs = rows.iter_mut().map(|row| {
        let (bid, amount, carry) = (row.unsigned()?, row.unsigned()?, row.unsigned()?);
        Ok((bid, u128::from(amount) * 3_600 + u128::from(carry)))
    });
    costs.collect()
}

/// The number that the next new bid gets.
pub(crate) async fn next_number(tx: &mut Tx) -> Result<u64, AppError> {
    let row = tx.row("SELECT COALESCE(MAX(number), 0) + 1 FROM bid", []).await?;
    row.map_or(Ok(1), |mut row| row.unsigned())
}

/// What a new bid is placed behind, and checked against.
pub(crate) struct Behind {
    /// The hash of the request that placed a bid of that id before.
    pub(crate) request_sha256: Option<[u8; 32]>,
    /// The number of the next bid.
    pub(crate) next_number: u64,
    /// The position of the last bid of the team's queue; 0 where it is empty.
    pub(crate) last_position: u64,
    /// Open bids of the team.
    pub(crate) open: u64,
    /// The cycle that is cleared next.
    pub(crate) next_cycle: u64,
    /// Whether the team is archived; none where there is no such team.
    pub(crate) is_team_archived: Option<bool>,
    /// Whether the team's newest allowance is a hard one.
    pub(crate) has_hard_allowance: bool,
    /// Whether the chip type is retired; none where there is no such type.
    pub(crate) is_chip_type_retired: Option<bool>,
}

/// What a new bid of a team for a chip type is placed behind, in one look: each statement of a write keeps other writers
/// waiting.
pub(crate) async fn behind(
    tx: &mut Tx,
    id: &BidId,
    team: &TeamId,
    chip_type: Option<&ChipTypeId>,
) -> Result<Behind, AppError> {
    const SQL: &str = "SELECT (SELECT COALESCE(MAX(number), 0) + 1 FROM bid), (SELECT COALESCE(MAX(position), 0) \
         FROM bid_version WHERE superseded_cycle IS NULL AND team = $2), \
         (SELECT request_sha256 FROM bid WHERE id = $1), \
         (SELECT COUNT(*) FROM bid_version v WHERE v.team = $2 AND v.superseded_cycle IS NULL \
          AND v.state IN ('live', 'paused') \
          AND NOT EXISTS (SELECT 1 FROM bid_version n WHERE n.bid = v.bid AND n.version > v.version)), \
         (SELECT COALESCE(MAX(number), 0) + 1 FROM cycle), \
         (SELECT archived FROM team_version WHERE id = $2 ORDER BY version DESC LIMIT 1), \
         COALESCE((SELECT CASE WHEN amount IS NULL THEN 0 ELSE hard END FROM allowance_version WHERE team = $2 \
          ORDER BY version DESC LIMIT 1), 0), \
         (SELECT retired FROM chip_type_version WHERE id = $3 ORDER BY version DESC LIMIT 1)";
    let values = values![id.as_str(), team.as_str(), chip_type.map(ChipTypeId::as_str)];
    let row = tx.row(SQL, values).await?;
    let mut row = row.ok_or_else(|| AppError::internal("a statement without a table gave no row"))?;
    Ok(Behind {
        next_number: row.unsigned()?,
        last_position: row.unsigned()?,
        request_sha256: row.optional_sha256()?,
        open: row.unsigned()?,
        next_cycle: row.unsigned()?,
        is_team_archived: row.optional_int()?.map(|flag| flag != 0),
        has_hard_allowance: row.flag()?,
        is_chip_type_retired: row.optional_int()?.map(|flag| flag != 0),
    })
}

/// The last position of a team's queue; 0 where it is empty.
pub(crate) async fn last_position(tx: &mut Tx, team: &TeamId) -> Result<u64, AppError> {
    const SQL: &str =
        "SELECT COALESCE(MAX(position), 0) FROM bid_version WHERE superseded_cycle IS NULL AND team = $1";
    tx.row(SQL, values![team.as_str()]).await?.map_or(Ok(0), |mut row| row.unsigned())
}

/// Whether a team is archived, or will be with the next cycle; none where there is no such team.
pub(crate) async fn is_team_archived(tx: &mut Tx, id: &TeamId) -> Result<Option<bool>, AppError> {
    const SQL: &str = "SELECT archived FROM team_version WHERE id = $1 ORDER BY version DESC LIMIT 1";
    tx.row(SQL, values![id.as_str()]).await?.map(|mut row| row.flag()).transpose()
}

/// Whether a chip type is retired, or will be with the next cycle; none where there is no such type.
pub(crate) async fn is_chip_type_retired(tx: &mut Tx, id: &ChipTypeId) -> Result<Option<bool>, AppError> {
    const SQL: &str = "SELECT retired FROM chip_type_version WHERE id = $1 ORDER BY version DESC LIMIT 1";
    tx.row(SQL, values![id.as_str()]).await?.map(|mut row| row.flag()).transpose()
}

/// Adds new bids: their identities, each with the hash of the request that placed it, and their first versions, which wait
/// for the next cycle.
pub(crate) async fn insert_first(
    tx: &mut Tx,
    now: Instant,
    placed_by: Option<&UserId>,
    bids: &[(BidVersion, [u8; 32])],
) -> Result<(), AppError> {
    const HEAD: &str = "INSERT INTO bid (number, id, team, request_sha256, placed_at, placed_by)";
    let placed_by = placed_by.map(UserId::as_str);
    let row = |(bid, sha256): &(BidVersion, [u8; 32])| {
        values![bid.number, bid.id.as_str(), bid.team.as_str(), *sha256, now.0, placed_by]
    };
    let versions: Vec<_> =
        bids.iter().map(|(bid, _)| version_row(now, None, bid)).collect::<Result<_, AppError>>()?;
    tx.insert_both((HEAD, bids.iter().map(row).collect()), (VERSION_HEAD, versions)).await
}

/// Adds to what bids were charged, in 1/3600 of a micro-credit.
pub(crate) async fn add_costs(tx: &mut Tx, costs: &BTreeMap<u64, u128>) -> Result<(), AppError> {
    const ADD: &str = " ON CONFLICT (bid) DO UPDATE SET \
        amount = bid_cost.amount + excluded.amount + (bid_cost.carry + excluded.carry) / 3600, \
        carry = (bid_cost.carry + excluded.carry) % 3600";
    let row = |(bid, cost): (&u64, &u128)| {
        let (amount, carry) = (cost / 3_600, cost % 3_600);
        values![*bid, u64::try_from(amount).unwrap_or(u64::MAX >> 1), u64::try_from(carry).unwrap_or(0)]
    };
    tx.insert_or("INSERT INTO bid_cost (bid, amount, carry)", ADD, costs.iter().map(row).collect()).await
}

/// Adds versions. With a cycle they hold from it (the end of a bid that the cycle itself finds); without one they
/// wait for the next.
pub(crate) async fn insert_versions<'a>(
    tx: &mut Tx,
    now: Instant,
    cycle: Option<u64>,
    versions: impl IntoIterator<Item = &'a BidVersion>,
) -> Result<(), AppError> {
    let rows: Vec<_> =
        versions.into_iter().map(|bid| version_row(now, cycle, bid)).collect::<Result<_, AppError>>()?;
    tx.insert(VERSION_HEAD, rows).await
}

const VERSION_HEAD: &str = "INSERT INTO bid_version (bid, team, version, name, note, position, alternatives, limit_price, \
    not_before, not_after, work_chip_seconds, state, written_at, effective_cycle, superseded_cycle, sha256)";

fn version_row(now: Instant, cycle: Option<u64>, bid: &BidVersion) -> Result<[Value; 16], AppError> {
    let terms = &bid.terms;
    let alternatives = serde_json::to_string(&terms.alternatives).map_err(AppError::internal)?;
    let superseded = cycle.filter(|_| bid.state.is_end());
    Ok(values![
        bid.number,
        bid.team.as_str(),
        bid.version,
        terms.name.as_str(),
        terms.note.as_str(),
        terms.position,
        alternatives,
        terms.limit.map(|limit| limit.0),
        terms.not_before.map(|at| at.0),
        terms.not_after.map(|at| at.0),
        terms.work_chip_seconds,
        bid.state.as_str(),
        now.0,
        cycle,
        superseded,
        bid.sha256(now)?,
    ])
}

/// Puts all waiting versions into effect with `cycle`; the answer is what they say, the last one of each bid last.
pub(crate) async fn put_into_effect(tx: &mut Tx, cycle: u64) -> Result<Vec<BidVersion>, AppError> {
    const PENDING: &str = concat!(
        "SELECT ",
        columns!(),
        " FROM bid_version v JOIN bid b ON b.number = v.bid WHERE v.effective_cycle IS NULL",
        " ORDER BY v.bid, v.version"
    );
    const STAMP: &str = "UPDATE bid_version SET effective_cycle = $1 WHERE effective_cycle IS NULL";
    let pending = from_rows(tx.rows(PENDING, []).await?)?;
    if !pending.is_empty() {
        supersede_older(tx, cycle).await?;
        tx.execute(STAMP, values![cycle]).await?;
    }
    Ok(pending)
}

/// The versions that took effect in cycles `from` to `to`, each with its cycle, in the order they were written.
pub(crate) async fn stamped(tx: &mut Tx, from: u64, to: u64) -> Result<Vec<(u64, BidVersion)>, AppError> {
    const SQL: &str = concat!(
        "SELECT ",
        columns!(),
        ", v.effective_cycle FROM bid_version v JOIN bid b ON b.number = v.bid",
        " WHERE v.effective_cycle BETWEEN $1 AND $2 ORDER BY v.effective_cycle, v.bid, v.version"
    );
    let mut rows = tx.rows(SQL, values![from, to]).await?;
    let stamped = rows.iter_mut().map(|row| {
        let version = from_row(row)?;
        Ok((row.unsigned()?, version))
    });
    stamped.collect()
}

/// Marks as superseded by `cycle` what waiting versions replace, and waiting versions that end their bid: those never
/// hold.
async fn supersede_older(tx: &mut Tx, cycle: u64) -> Result<(), AppError> {
    const SUPERSEDE: &str = "UPDATE bid_version AS old SET superseded_cycle = $1 WHERE superseded_cycle IS NULL \
        AND bid IN (SELECT bid FROM bid_version WHERE effective_cycle IS NULL) \
        AND EXISTS (SELECT 1 FROM bid_version AS newer WHERE newer.bid = old.bid AND newer.version > old.version)";
    const SUPERSEDE_ENDS: &str = "UPDATE bid_version SET superseded_cycle = $1 \
        WHERE effective_cycle IS NULL AND superseded_cycle IS NULL AND state IN ('cancelled', 'served', 'expired')";
    tx.execute(SUPERSEDE, values![cycle]).await?;
    tx.execute(SUPERSEDE_ENDS, values![cycle]).await?;
    Ok(())
}

/// Ends bids within `cycle`: their present versions are superseded and the ending ones added.
pub(crate) async fn end(
    tx: &mut Tx,
    now: Instant,
    cycle: u64,
    versions: &[BidVersion],
) -> Result<(), AppError> {
    const SUPERSEDE: &str =
        "UPDATE bid_version SET superseded_cycle = $1 WHERE superseded_cycle IS NULL AND bid";
    let numbers: Vec<Value> = versions.iter().map(|bid| Value::from(bid.number)).collect();
    tx.execute_among(SUPERSEDE, &values![cycle], &numbers).await?;
    insert_versions(tx, now, Some(cycle), versions).await
}

/// The display names of bids in `cycle`, by their ids.
pub(crate) async fn names(tx: &mut Tx, cycle: u64) -> Result<BTreeMap<BidId, BidName>, AppError> {
    let bids = in_cycle(tx, cycle).await?;
    Ok(bids.into_iter().map(|bid| (bid.id, BidName { name: bid.terms.name, note: bid.terms.note })).collect())
}

/// What people call a bid.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BidName {
    /// Display name.
    pub name: String,
    /// Free text.
    pub note: String,
}
