//! Bids: an identity made once, and versions of what is bid.

use std::collections::{BTreeMap, BTreeSet};

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
    let ids = keys(ids.map(BidId::as_str));
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

/// The numbers that the next new bid and the next cycle get.
pub(crate) async fn next_numbers(tx: &mut Tx) -> Result<(u64, u64), AppError> {
    const SQL: &str = "SELECT (SELECT COALESCE(MAX(number), 0) + 1 FROM bid), (SELECT COALESCE(MAX(number), 0) + 1 FROM cycle)";
    tx.row(SQL, []).await?.map_or(Ok((1, 1)), |mut row| Ok((row.unsigned()?, row.unsigned()?)))
}

/// The end of a team's queue, behind which new bids are placed.
#[derive(Clone, Copy, Debug)]
pub(crate) struct QueueEnd {
    /// Whether the team is archived, or will be with the next cycle.
    pub(crate) is_archived: bool,
    /// Whether the team's newest allowance is a hard one.
    pub(crate) has_hard_allowance: bool,
    /// The position of the last bid; 0 where there is none.
    pub(crate) last_position: u64,
    /// Open bids.
    pub(crate) open: u64,
}

/// Counts the open bids of a team, which is given as an expression.
macro_rules! count_open {
    ($team:literal) => {
        concat!(
            "SELECT COUNT(*) FROM bid_version v WHERE v.superseded_cycle IS NULL AND v.state IN ('live', 'paused') \
             AND NOT EXISTS (SELECT 1 FROM bid_version n WHERE n.bid = v.bid AND n.version > v.version) AND v.team = ",
            $team
        )
    };
}
pub(super) use count_open;

/// The ends of the queues of those teams that there are.
pub(crate) async fn queue_ends(
    tx: &mut Tx,
    teams: impl Iterator<Item = &TeamId>,
) -> Result<BTreeMap<TeamId, QueueEnd>, AppError> {
    const HEAD: &str = concat!(
        "SELECT t.id, t.archived, COALESCE((SELECT CASE WHEN amount IS NULL THEN 0 ELSE hard END \
         FROM allowance_version WHERE team = t.id ORDER BY version DESC LIMIT 1), 0), \
         (SELECT COALESCE(MAX(position), 0) FROM bid_version WHERE superseded_cycle IS NULL AND team = t.id), (",
        count_open!("t.id"),
        ") FROM team_version t WHERE NOT EXISTS \
         (SELECT 1 FROM team_version n WHERE n.id = t.id AND n.version > t.version) AND t.id"
    );
    let rows = tx.rows_among(HEAD, &keys(teams.map(TeamId::as_str))).await?;
    let ends = rows.into_iter().map(|mut row| {
        let id = row.id()?;
        let (is_archived, has_hard_allowance) = (row.flag()?, row.flag()?);
        let (last_position, open) = (row.unsigned()?, row.unsigned()?);
        Ok((id, QueueEnd { is_archived, has_hard_allowance, last_position, open }))
    });
    ends.collect()
}

/// Which chip types are retired, or will be with the next cycle, of those that there are.
pub(crate) async fn are_chip_types_retired(
    tx: &mut Tx,
    ids: impl Iterator<Item = &ChipTypeId>,
) -> Result<BTreeMap<ChipTypeId, bool>, AppError> {
    const HEAD: &str = "SELECT c.id, c.retired FROM chip_type_version c WHERE NOT EXISTS \
         (SELECT 1 FROM chip_type_version n WHERE n.id = c.id AND n.version > c.version) AND c.id";
    let rows = tx.rows_among(HEAD, &keys(ids.map(ChipTypeId::as_str))).await?;
    rows.into_iter().map(|mut row| Ok((row.id()?, row.flag()?))).collect()
}

/// Texts as the values of a statement, each once.
fn keys<'a>(texts: impl Iterator<Item = &'a str>) -> Vec<Value> {
    texts.collect::<BTreeSet<_>>().into_iter().map(Value::from).collect()
}

/// Whether a team is archived, or will be with the next cycle; none where there is no such team.
pub(crate) async fn is_team_archived(tx: &mut Tx, id: &TeamId) -> Result<Option<bool>, AppError> {
    const SQL: &str = "SELECT archived FROM team_version WHERE id = $1 ORDER BY version DESC LIMIT 1";
    tx.row(SQL, values![id.as_str()]).await?.map(|mut row| row.flag()).transpose()
}

/// A new bid.
#[derive(Clone, Debug)]
pub(crate) struct FirstVersion {
    /// What it says.
    pub(crate) version: BidVersion,
    /// Of the request that placed it.
    pub(crate) request_sha256: [u8; 32],
    /// When it was placed.
    pub(crate) placed_at: Instant,
    /// Who placed it; none where no person did.
    pub(crate) placed_by: Option<UserId>,
}

/// Adds new bids: their identities and their first versions, which wait for the next cycle.
pub(crate) async fn insert_first(tx: &mut Tx, bids: &[FirstVersion]) -> Result<(), AppError> {
    const HEAD: &str = "INSERT INTO bid (number, id, team, request_sha256, placed_at, placed_by)";
    let row = |bid: &FirstVersion| {
        let FirstVersion { version, request_sha256, placed_at, placed_by } = bid;
        let placed_by = placed_by.as_ref().map(UserId::as_str);
        let (id, team) = (version.id.as_str(), version.team.as_str());
        values![version.number, id, team, *request_sha256, placed_at.0, placed_by]
    };
    let versions = bids.iter().map(|bid| version_row(bid.placed_at, None, &bid.version));
    let versions = versions.collect::<Result<Vec<_>, AppError>>()?;
    tx.insert(HEAD, bids.iter().map(row).collect()).await?;
    tx.insert(VERSION_HEAD, versions).await
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
