//! Rows for exports: read in batches from one place to the next, each by index, so that a file of any length can be
//! written without holding more than a batch.

use common::ids::{ChipTypeId, PoolId, TeamId};
use common::instant::Instant;
use common::money::MicroCredits;

use super::db::{Row, Tx, values};
use crate::error::AppError;

/// Transfers up to which entries are counted; beyond, their number is estimated from samples.
const COUNTED_TRANSFERS: u64 = 2_000;

/// Transfers whose entries are counted for an estimate.
const SAMPLES: u64 = 40;

/// An entry with what its transfer and its account say.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct ExportedEntry {
    pub(crate) cycle: u64,
    pub(crate) transfer: u64,
    pub(crate) place: u64,
    pub(crate) kind: String,
    pub(crate) written_at: Instant,
    pub(crate) step: Option<u64>,
    pub(crate) pool: PoolId,
    pub(crate) account: String,
    pub(crate) owner: String,
    pub(crate) amount: MicroCredits,
    pub(crate) balance_after: MicroCredits,
    pub(crate) chip_type: Option<ChipTypeId>,
    pub(crate) chip_seconds: Option<u64>,
    pub(crate) reason: String,
}

impl ExportedEntry {
    /// When it counts: an accounting step just before it is booked, what a person books when it is booked.
    pub(crate) fn counts_at(&self) -> Instant {
        Instant(self.written_at.0 - i64::from(self.step.is_some()))
    }
}

macro_rules! entry_columns {
    () => {
        "SELECT e.cycle, e.transfer, e.place, t.kind, t.written_at, t.step, t.pool, a.kind, a.owner, e.amount, \
         e.balance_after, e.chip_type, e.chip_seconds, t.reason "
    };
}

macro_rules! entries {
    () => {
        "FROM ledger_entry e JOIN ledger_transfer t ON t.number = e.transfer JOIN ledger_account a ON a.number = e.account "
    };
}

macro_rules! counts_between {
    () => {
        " AND t.written_at - CASE WHEN t.step IS NULL THEN 0 ELSE 1 END >= $1 \
         AND t.written_at - CASE WHEN t.step IS NULL THEN 0 ELSE 1 END < $2 "
    };
}

fn entry_from_row(row: &mut Row) -> Result<ExportedEntry, AppError> {
    Ok(ExportedEntry {
        cycle: row.unsigned()?,
        transfer: row.unsigned()?,
        place: row.unsigned()?,
        kind: row.text()?,
        written_at: Instant(row.int()?),
        step: row.optional_unsigned()?,
        pool: row.id()?,
        account: row.text()?,
        owner: row.text()?,
        amount: MicroCredits(row.int()?),
        balance_after: MicroCredits(row.int()?),
        chip_type: row.optional_id()?,
        chip_seconds: row.optional_unsigned()?,
        reason: row.text()?,
    })
}

/// Which transfers an export reads: a stretch of numbers that has all that count between two instants, and few others.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Stretch {
    pub(crate) from: Instant,
    pub(crate) to: Instant,
    pub(crate) first: u64,
    pub(crate) last: u64,
}

/// The transfers that count between two instants; none where there is none.
pub(crate) async fn transfers_between(
    tx: &mut Tx,
    from: Instant,
    to: Instant,
) -> Result<Option<Stretch>, AppError> {
    const FIRST: &str = "SELECT number FROM ledger_transfer WHERE cycle >= (SELECT COALESCE(MAX(number), 0) FROM cycle \
        WHERE starts_at <= $1) ORDER BY cycle, number LIMIT 1";
    const LAST: &str = "SELECT number FROM ledger_transfer WHERE cycle <= (SELECT COALESCE(MIN(number), $2) FROM cycle \
        WHERE starts_at >= $1) ORDER BY cycle DESC, number DESC LIMIT 1";
    let first = tx.row(FIRST, values![from.0]).await?.map(|mut row| row.unsigned()).transpose()?;
    let last = tx.row(LAST, values![to.0, i64::MAX]).await?.map(|mut row| row.unsigned()).transpose()?;
    Ok(first.zip(last).filter(|(first, last)| first <= last).map(|(first, last)| Stretch {
        from,
        to,
        first,
        last,
    }))
}

/// At most `limit` entries of a stretch after a transfer and place, in their order.
pub(crate) async fn entries_after(
    tx: &mut Tx,
    stretch: &Stretch,
    after: (u64, u64),
    limit: u32,
) -> Result<Vec<ExportedEntry>, AppError> {
    const SQL: &str = concat!(
        entry_columns!(),
        entries!(),
        "WHERE (e.transfer, e.place) > ($3, $4) AND e.transfer <= $5",
        counts_between!(),
        "ORDER BY e.transfer, e.place LIMIT $6"
    );
    let values = values![stretch.from.0, stretch.to.0, after.0, after.1, stretch.last, limit];
    tx.rows(SQL, values).await?.iter_mut().map(entry_from_row).collect()
}

/// At most `limit` entries of one account in a stretch after a cycle, transfer and place, in their order.
pub(crate) async fn entries_of_after(
    tx: &mut Tx,
    stretch: &Stretch,
    account: u64,
    after: (u64, u64, u64),
    limit: u32,
) -> Result<Vec<ExportedEntry>, AppError> {
    const SQL: &str = concat!(
        entry_columns!(),
        entries!(),
        "WHERE e.account = $3 AND (e.cycle, e.transfer, e.place) > ($4, $5, $6) ",
        "AND e.transfer BETWEEN $7 AND $8 AND e.cycle <= (SELECT cycle FROM ledger_transfer WHERE number = $8)",
        counts_between!(),
        "ORDER BY e.cycle, e.transfer, e.place LIMIT $9"
    );
    let (cycle, transfer, place) = after;
    let (first, last) = (stretch.first, stretch.last);
    let values = values![stretch.from.0, stretch.to.0, account, cycle, transfer, place, first, last, limit];
    tx.rows(SQL, values).await?.iter_mut().map(entry_from_row).collect()
}

/// The cycle in which the first transfer of a stretch counts.
pub(crate) async fn first_cycle(tx: &mut Tx, stretch: &Stretch) -> Result<u64, AppError> {
    let row = tx.row("SELECT cycle FROM ledger_transfer WHERE number = $1", values![stretch.first]).await?;
    row.map_or(Ok(0), |mut row| row.unsigned())
}

/// The number of each team's account.
pub(crate) async fn team_accounts(tx: &mut Tx) -> Result<Vec<(TeamId, u64)>, AppError> {
    const SQL: &str = "SELECT owner, number FROM ledger_account WHERE kind = 'team' ORDER BY owner";
    tx.rows(SQL, []).await?.iter_mut().map(|row| Ok((row.id()?, row.unsigned()?))).collect()
}

/// About how many entries a stretch has: counted where it is short, else from evenly spread transfers.
pub(crate) async fn estimated_entries(tx: &mut Tx, stretch: &Stretch) -> Result<u64, AppError> {
    const COUNT: &str = "SELECT COUNT(*) FROM ledger_entry WHERE transfer BETWEEN $1 AND $2";
    let transfers = stretch.last - stretch.first + 1;
    if transfers <= COUNTED_TRANSFERS {
        let row = tx.row(COUNT, values![stretch.first, stretch.last]).await?;
        return row.map_or(Ok(0), |mut row| row.unsigned());
    }
    let mut entries = 0;
    for sample in 0..SAMPLES {
        // An accounting step books several transfers of different sizes; neighbours are counted together.
        let first = stretch.first + (transfers - SAMPLES) / SAMPLES * sample;
        let row = tx.row(COUNT, values![first, first + SAMPLES - 1]).await?;
        entries += row.map_or(Ok(0), |mut row| row.unsigned())?;
    }
    Ok(entries * transfers / (SAMPLES * SAMPLES))
}

/// What a team was charged for a chip type in an hour.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct HourlyCharge {
    /// Start of the hour in UTC in which it counts.
    pub(crate) hour: Instant,
    pub(crate) team: TeamId,
    pub(crate) pool: PoolId,
    pub(crate) chip_type: ChipTypeId,
    /// What was taken from the team; not negative.
    pub(crate) amount: MicroCredits,
    pub(crate) chip_seconds: u64,
}

/// The charges that count between two instants, summed by hour, in order of hour, team and chip type.
pub(crate) async fn hourly_charges(
    tx: &mut Tx,
    from: Instant,
    to: Instant,
) -> Result<Vec<HourlyCharge>, AppError> {
    // Charges are booked by steps: each counts a microsecond before it is written.
    const SQL: &str = "SELECT (t.written_at - 1) / 3600000000 * 3600000000, a.owner, t.pool, e.chip_type, \
        CAST(SUM(-e.amount) AS BIGINT), CAST(SUM(e.chip_seconds) AS BIGINT) FROM ledger_transfer t \
        JOIN ledger_entry e ON e.transfer = t.number JOIN ledger_account a ON a.number = e.account \
        WHERE t.number BETWEEN $3 AND $4 AND t.kind = 'charge' AND e.chip_type IS NOT NULL \
        AND t.written_at - 1 >= $1 AND t.written_at - 1 < $2 GROUP BY 1, a.owner, t.pool, e.chip_type \
        ORDER BY 1, a.owner, e.chip_type";
    let Some(stretch) = transfers_between(tx, from, to).await? else { return Ok(Vec::new()) };
    let mut rows = tx.rows(SQL, values![from.0, to.0, stretch.first, stretch.last]).await?;
    let charge = |row: &mut Row| {
        Ok(HourlyCharge {
            hour: Instant(row.int()?),
            team: row.id()?,
            pool: row.id()?,
            chip_type: row.id()?,
            amount: MicroCredits(row.int()?),
            chip_seconds: row.unsigned()?,
        })
    };
    rows.iter_mut().map(charge).collect()
}

/// The entries of corrections in teams' accounts that count between two instants, in their order, each with its team.
pub(crate) async fn corrections(
    tx: &mut Tx,
    from: Instant,
    to: Instant,
) -> Result<Vec<(TeamId, ExportedEntry)>, AppError> {
    const SQL: &str = concat!(
        entry_columns!(),
        // In this order, so that few transfers lead to their entries, and not all entries of all teams to few transfers.
        "FROM ledger_transfer t CROSS JOIN ledger_entry e CROSS JOIN ledger_account a ",
        "WHERE t.number BETWEEN $3 AND $4 AND t.kind = 'correction' ",
        "AND e.transfer = t.number AND a.number = e.account AND a.kind = 'team'",
        counts_between!(),
        "ORDER BY e.transfer, e.place"
    );
    let Some(stretch) = transfers_between(tx, from, to).await? else { return Ok(Vec::new()) };
    let values = values![from.0, to.0, stretch.first, stretch.last];
    let entry = |row: &mut Row| {
        let entry = entry_from_row(row)?;
        Ok((entry.owner.parse().map_err(AppError::internal)?, entry))
    };
    tx.rows(SQL, values).await?.iter_mut().map(entry).collect()
}

/// All chip types that were ever in force, in order.
pub(crate) async fn chip_types(tx: &mut Tx) -> Result<Vec<ChipTypeId>, AppError> {
    const SQL: &str =
        "SELECT DISTINCT id FROM chip_type_version WHERE effective_cycle IS NOT NULL ORDER BY id";
    tx.rows(SQL, []).await?.iter_mut().map(Row::id).collect()
}
