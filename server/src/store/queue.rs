//! A team's bids as they are listed: each with its newest version, what it got last and what it cost. All are index
//! reads, however many bids there are or ever were.

use common::api::BidCounts;
use common::chips::Chips;
use common::ids::{BidId, ChipTypeId, PoolId, TeamId, UserId};
use common::instant::Instant;
use common::money::{MicroCredits, Price};
use market::snapshot::Alternative;

use super::bids::{BidVersion, columns, count_open, from_row as version_from_row};
use super::db::{Row, Tx, values};
use super::results::{BidResult, OverQuota, bid_result_columns, bid_result_from_row};
use crate::error::AppError;

/// A bid with all that a list shows of it and that is stored.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ListedBid {
    /// Its newest version.
    pub version: BidVersion,
    /// The cycle from which that version holds; absent while it waits for the next one.
    pub effective_cycle: Option<u64>,
    /// When that version was written.
    pub written_at: Instant,
    /// When the bid was placed.
    pub placed_at: Instant,
    /// The display name of the person who placed it; absent where no person did.
    pub placed_by: Option<String>,
    /// What it was charged up to the last accounting step.
    pub cost: MicroCredits,
    /// What it got last, with the start of the cycle since which it does; absent before its first cycle.
    pub result: Option<(BidResult, Instant)>,
    /// The start of the cycle that ended it; absent while it is open and before that cycle.
    pub over_at: Option<Instant>,
}

/// A place in an open queue: position, then id.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct QueuePlace {
    /// The version's position.
    pub position: u64,
    /// The bid.
    pub id: BidId,
}

/// The columns of a listed bid: `bid_version` as `v`, `bid` as `b`, who placed it as `u`, its cost as `k`, the cycle of its
/// end as `e`; then its result as `r` with the start of that cycle.
macro_rules! listed {
    ($from:literal, $rest:literal) => {
        concat!(
            "SELECT ",
            columns!(),
            ", v.effective_cycle, v.written_at, b.placed_at, u.name, COALESCE(k.amount, 0), e.starts_at, c.starts_at, ",
            bid_result_columns!(),
            " FROM ",
            $from,
            " LEFT JOIN user_account u ON u.id = b.placed_by",
            " LEFT JOIN bid_cost k ON k.bid = b.number",
            " LEFT JOIN cycle e ON e.number = v.superseded_cycle",
            " LEFT JOIN bid_result r ON r.bid = b.number",
            " AND r.cycle = (SELECT MAX(m.cycle) FROM bid_result m WHERE m.bid = b.number)",
            " LEFT JOIN cycle c ON c.number = r.cycle ",
            $rest
        )
    };
}

fn listed_from_row(row: &mut Row) -> Result<ListedBid, AppError> {
    let version = version_from_row(row)?;
    let (effective_cycle, written_at) = (row.optional_unsigned()?, Instant(row.int()?));
    let (placed_at, placed_by) = (Instant(row.int()?), row.optional_text()?);
    let cost = MicroCredits(row.int()?);
    let over_at = row.optional_int()?.map(Instant);
    let result = match row.optional_int()?.map(Instant) {
        Some(since) => Some((bid_result_from_row(row)?, since)),
        None => None,
    };
    Ok(ListedBid { version, effective_cycle, written_at, placed_at, placed_by, cost, result, over_at })
}

/// One bid, open or over.
pub(crate) async fn bid(tx: &mut Tx, id: &BidId) -> Result<Option<ListedBid>, AppError> {
    const SQL: &str = listed!(
        "bid b JOIN bid_version v ON v.bid = b.number",
        "WHERE b.id = $1 ORDER BY v.version DESC LIMIT 1"
    );
    tx.row(SQL, values![id.as_str()]).await?.as_mut().map(listed_from_row).transpose()
}

/// Bids of a team's open queue behind a place, from its head where there is none; at most `limit`.
pub(crate) async fn open(
    tx: &mut Tx,
    team: &TeamId,
    after: Option<&QueuePlace>,
    limit: u32,
) -> Result<Vec<ListedBid>, AppError> {
    const SQL: &str = listed!(
        "bid_version v JOIN bid b ON b.number = v.bid",
        "WHERE v.team = $1 AND v.superseded_cycle IS NULL AND v.state IN ('live', 'paused') AND v.position >= $2 \
         AND (v.position > $2 OR b.id > $3) \
         AND NOT EXISTS (SELECT 1 FROM bid_version n WHERE n.bid = v.bid AND n.version > v.version) \
         ORDER BY v.position, b.id LIMIT $4"
    );
    let (position, id) = after.map_or((0, ""), |place| (place.position, place.id.as_str()));
    let mut rows = tx.rows(SQL, values![team.as_str(), position, id, limit]).await?;
    rows.iter_mut().map(listed_from_row).collect()
}

/// A team's open bids that have a work estimate.
pub(crate) async fn estimated(tx: &mut Tx, team: &TeamId) -> Result<Vec<ListedBid>, AppError> {
    const SQL: &str = listed!(
        "bid_version v JOIN bid b ON b.number = v.bid",
        "WHERE v.team = $1 AND v.superseded_cycle IS NULL AND v.state IN ('live', 'paused') \
         AND v.work_chip_seconds IS NOT NULL \
         AND NOT EXISTS (SELECT 1 FROM bid_version n WHERE n.bid = v.bid AND n.version > v.version)"
    );
    tx.rows(SQL, values![team.as_str()]).await?.iter_mut().map(listed_from_row).collect()
}

/// A team's open queue in its order.
pub(crate) async fn places(tx: &mut Tx, team: &TeamId) -> Result<Vec<QueuePlace>, AppError> {
    const SQL: &str = "SELECT v.position, b.id FROM bid_version v JOIN bid b ON b.number = v.bid \
         WHERE v.team = $1 AND v.superseded_cycle IS NULL AND v.state IN ('live', 'paused') \
         AND NOT EXISTS (SELECT 1 FROM bid_version n WHERE n.bid = v.bid AND n.version > v.version) \
         ORDER BY v.position, b.id";
    let mut rows = tx.rows(SQL, values![team.as_str()]).await?;
    rows.iter_mut().map(|row| Ok(QueuePlace { position: row.unsigned()?, id: row.id()? })).collect()
}

/// The open bids of a team that a person placed, in the order of the queue, with their names.
pub(crate) async fn placed_by(
    tx: &mut Tx,
    team: &TeamId,
    user: &UserId,
) -> Result<Vec<(BidId, String)>, AppError> {
    const SQL: &str = "SELECT b.id, v.name FROM bid_version v JOIN bid b ON b.number = v.bid \
         WHERE v.team = $1 AND b.placed_by = $2 AND v.superseded_cycle IS NULL AND v.state IN ('live', 'paused') \
         AND NOT EXISTS (SELECT 1 FROM bid_version n WHERE n.bid = v.bid AND n.version > v.version) \
         ORDER BY v.position, b.id";
    let mut rows = tx.rows(SQL, values![team.as_str(), user.as_str()]).await?;
    rows.iter_mut().map(|row| Ok((row.id()?, row.text()?))).collect()
}

/// The bids of a team's open queue in its order, with their names.
pub(crate) async fn names(tx: &mut Tx, team: &TeamId) -> Result<Vec<(BidId, String)>, AppError> {
    const SQL: &str = "SELECT b.id, v.name FROM bid_version v JOIN bid b ON b.number = v.bid \
         WHERE v.team = $1 AND v.superseded_cycle IS NULL AND v.state IN ('live', 'paused') \
         AND NOT EXISTS (SELECT 1 FROM bid_version n WHERE n.bid = v.bid AND n.version > v.version) \
         ORDER BY v.position, b.id";
    tx.rows(SQL, values![team.as_str()]).await?.iter_mut().map(|row| Ok((row.id()?, row.text()?))).collect()
}

/// Live bids of a team that name a chip type and have a limit: their names and limits, in the order of the queue, at most
/// `limit` of the team's.
pub(crate) async fn limits(
    tx: &mut Tx,
    team: &TeamId,
    chip_type: &ChipTypeId,
    limit: u32,
) -> Result<Vec<(String, Price)>, AppError> {
    const SQL: &str = "SELECT v.name, v.limit_price, v.alternatives FROM bid_version v \
         WHERE v.team = $1 AND v.superseded_cycle IS NULL AND v.state = 'live' AND v.limit_price IS NOT NULL \
         AND NOT EXISTS (SELECT 1 FROM bid_version n WHERE n.bid = v.bid AND n.version > v.version) \
         ORDER BY v.position, v.bid LIMIT $2";
    let mut limits = Vec::new();
    for row in &mut tx.rows(SQL, values![team.as_str(), limit]).await? {
        let (name, price) = (row.text()?, Price(row.unsigned()?));
        let alternatives: Vec<Alternative> =
            serde_json::from_str(&row.text()?).map_err(AppError::internal)?;
        if alternatives.iter().any(|one| one.chip_type == *chip_type) {
            limits.push((name, price));
        }
    }
    Ok(limits)
}

/// How many open bids of all teams name a chip type.
pub(crate) async fn count_naming(tx: &mut Tx, chip_type: &ChipTypeId) -> Result<u64, AppError> {
    // Of what an id may consist, only the underscore means something in a pattern.
    const SQL: &str = "SELECT COUNT(*) FROM bid_version v \
         WHERE v.superseded_cycle IS NULL AND v.state IN ('live', 'paused') AND v.alternatives LIKE $1 ESCAPE '!' \
         AND NOT EXISTS (SELECT 1 FROM bid_version n WHERE n.bid = v.bid AND n.version > v.version)";
    let pattern = format!("%\"chip_type\":\"{}\"%", chip_type.as_str().replace('_', "!_"));
    tx.row(SQL, values![pattern]).await?.map_or(Ok(0), |mut row| row.unsigned())
}

/// How many bids of a team's open queue stand up to a place.
pub(crate) async fn count_up_to(tx: &mut Tx, team: &TeamId, place: &QueuePlace) -> Result<u64, AppError> {
    const SQL: &str = "SELECT COUNT(*) FROM bid_version v JOIN bid b ON b.number = v.bid \
         WHERE v.team = $1 AND v.superseded_cycle IS NULL AND v.state IN ('live', 'paused') AND v.position <= $2 \
         AND (v.position < $2 OR b.id <= $3) \
         AND NOT EXISTS (SELECT 1 FROM bid_version n WHERE n.bid = v.bid AND n.version > v.version)";
    let values = values![team.as_str(), place.position, place.id.as_str()];
    tx.row(SQL, values).await?.map_or(Ok(0), |mut row| row.unsigned())
}

/// Bids of a team that are over, last ended first, before an end and a bid's number; at most `limit`.
pub(crate) async fn ended(
    tx: &mut Tx,
    team: &TeamId,
    before: (Instant, u64),
    limit: u32,
) -> Result<Vec<ListedBid>, AppError> {
    const SQL: &str = listed!(
        "bid_version v JOIN bid b ON b.number = v.bid",
        "WHERE v.team = $1 AND v.state IN ('cancelled', 'served', 'expired') AND v.written_at <= $2 \
         AND (v.written_at < $2 OR v.bid < $3) ORDER BY v.written_at DESC, v.bid DESC LIMIT $4"
    );
    let (at, number) = before;
    let mut rows = tx.rows(SQL, values![team.as_str(), at.0, number, limit]).await?;
    rows.iter_mut().map(listed_from_row).collect()
}

/// How many bids of a team are open, how many are over, and which cycle is cleared next.
pub(crate) async fn counts_and_next_cycle(tx: &mut Tx, team: &TeamId) -> Result<(BidCounts, u64), AppError> {
    const SQL: &str = concat!(
        "SELECT (",
        count_open!("$1"),
        "), (SELECT COUNT(*) FROM bid_version WHERE team = $1 AND state IN ('cancelled', 'served', 'expired')), \
         (SELECT COALESCE(MAX(number), 0) + 1 FROM cycle)"
    );
    let row = tx.row(SQL, values![team.as_str()]).await?;
    let mut row = row.ok_or_else(|| AppError::internal("a statement without a table gave no row"))?;
    let counts = BidCounts { open: row.unsigned()?, ended: row.unsigned()? };
    Ok((counts, row.unsigned()?))
}

/// The newest versions of a team's open bids that wait for the next cycle, ended ones among them.
pub(crate) async fn waiting(tx: &mut Tx, team: &TeamId) -> Result<Vec<BidVersion>, AppError> {
    const SQL: &str = concat!(
        "SELECT ",
        columns!(),
        " FROM bid_version v JOIN bid b ON b.number = v.bid",
        " WHERE v.team = $1 AND v.superseded_cycle IS NULL AND v.effective_cycle IS NULL",
        " AND NOT EXISTS (SELECT 1 FROM bid_version n WHERE n.bid = v.bid AND n.version > v.version)",
        " ORDER BY v.position, b.id"
    );
    tx.rows(SQL, values![team.as_str()]).await?.iter_mut().map(version_from_row).collect()
}

/// One version of a bid, by the bid's number.
pub(crate) async fn version(tx: &mut Tx, bid: u64, version: u64) -> Result<Option<BidVersion>, AppError> {
    const SQL: &str = concat!(
        "SELECT ",
        columns!(),
        " FROM bid_version v JOIN bid b ON b.number = v.bid WHERE v.bid = $1 AND v.version = $2"
    );
    tx.row(SQL, values![bid, version]).await?.as_mut().map(version_from_row).transpose()
}

/// Cycles in a row in which a bid got the same.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Stretch {
    /// Since when.
    pub starts_at: Instant,
    /// What it got.
    pub result: BidResult,
    /// Its pool's price of the chip type when the stretch began.
    pub local_price: Option<Price>,
}

/// A bid's results before a cycle, newest first; at most `limit`.
pub(crate) async fn stretches(
    tx: &mut Tx,
    bid: u64,
    pool: &PoolId,
    before: u64,
    limit: u32,
) -> Result<Vec<Stretch>, AppError> {
    const SQL: &str = concat!(
        "SELECT c.starts_at, (SELECT p.local_price FROM pool_price p WHERE p.pool = $2 AND p.chip_type = r.chip_type",
        " AND p.cycle <= r.cycle ORDER BY p.cycle DESC LIMIT 1), ",
        bid_result_columns!(),
        " FROM bid_result r JOIN cycle c ON c.number = r.cycle",
        " WHERE r.bid = $1 AND r.cycle < $3 ORDER BY r.cycle DESC LIMIT $4"
    );
    let mut rows = tx.rows(SQL, values![bid, pool.as_str(), before, limit]).await?;
    let stretches = rows.iter_mut().map(|row| {
        let starts_at = Instant(row.int()?);
        let local_price = row.optional_unsigned()?.map(Price);
        Ok(Stretch { starts_at, local_price, result: bid_result_from_row(row)? })
    });
    stretches.collect()
}

impl ListedBid {
    /// Where it stands in an open queue.
    #[must_use]
    pub fn place(&self) -> QueuePlace {
        QueuePlace { position: self.version.terms.position, id: self.version.id.clone() }
    }

    /// The chips it has since its last result, within quota, over it or free; none when it is over.
    #[must_use]
    pub fn in_use(&self) -> Chips {
        match &self.result {
            Some((result, _)) if self.over_at.is_none() => chips_of(result),
            _ => Chips(0),
        }
    }

    /// Chip-seconds of its work done at an instant, or at its end.
    #[must_use]
    pub fn done_chip_seconds(&self, now: Instant) -> u64 {
        let Some((result, since)) = &self.result else { return 0 };
        let until = self.over_at.unwrap_or(now);
        let seconds = super::history::seconds_between(*since, until.max(*since)).unsigned_abs();
        let done = result.done_chip_seconds.saturating_add(chips_of(result).0.saturating_mul(seconds));
        self.version.terms.work_chip_seconds.map_or(done, |work| done.min(work))
    }

    /// Chips used over quota, where it has some.
    #[must_use]
    pub fn over_quota(&self) -> Option<&OverQuota> {
        self.result.as_ref().and_then(|(result, _)| result.over.as_ref())
    }

    /// Chips used for free and their type, where it has some.
    #[must_use]
    pub fn opportunistic(&self) -> Option<&(ChipTypeId, Chips)> {
        self.result.as_ref().and_then(|(result, _)| result.opportunistic.as_ref())
    }
}

fn chips_of(result: &BidResult) -> Chips {
    match (&result.over, &result.opportunistic) {
        _ if result.chips.0 > 0 => result.chips,
        (Some(over), _) => over.chips,
        (None, Some((_, chips))) => *chips,
        (None, None) => Chips(0),
    }
}
