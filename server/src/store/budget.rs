//! One team's account as it is looked at: its balance, its entries, sums over time.

use std::collections::BTreeMap;

use common::api::{LedgerEntry, TransferEntry};
use common::chips::Chips;
use common::ids::{ChipTypeId, PoolId, TeamId};
use common::instant::{Instant, MICROS_PER_SECOND};
use common::money::MicroCredits;

use super::allowances::Allowance;
use super::db::{Row, Tx, values};
use super::entities::Versioned as _;
use super::ledger::TransferKind;
use crate::error::AppError;

/// Which entries of an account to read; what is absent does not restrict.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct EntryFilter {
    /// Of transfers of this kind.
    pub kind: Option<TransferKind>,
    /// Charges for this chip type.
    pub chip_type: Option<ChipTypeId>,
    /// What counts at or after this instant. An accounting step counts just before it is booked: it covers that time.
    pub from: Option<Instant>,
    /// What counts before this instant.
    pub to: Option<Instant>,
}

/// Where a page of entries ends: an entry's cycle, transfer and place.
pub(crate) type EntryPlace = (u64, u64, u64);

/// A team's balance with all that counts up to `cycle`.
pub(crate) async fn balance(tx: &mut Tx, team: &TeamId, cycle: u64) -> Result<MicroCredits, AppError> {
    const SQL: &str = "SELECT balance_after FROM ledger_entry \
        WHERE account = (SELECT number FROM ledger_account WHERE kind = 'team' AND owner = $1) AND cycle <= $2 \
        ORDER BY cycle DESC, transfer DESC, place DESC LIMIT 1";
    let row = tx.row(SQL, values![team.as_str(), cycle]).await?;
    row.map_or(Ok(MicroCredits::ZERO), |mut row| Ok(MicroCredits(row.int()?)))
}

/// The start of the last cycle up to `cycle` that booked an accounting step, and its number.
pub(crate) async fn last_step(tx: &mut Tx, cycle: u64) -> Result<Option<(u64, Instant)>, AppError> {
    const SQL: &str = "SELECT number, starts_at FROM cycle WHERE step IS NOT NULL AND number <= $1 \
                       ORDER BY number DESC LIMIT 1";
    let row = tx.row(SQL, values![cycle]).await?;
    row.map(|mut row| Ok((row.unsigned()?, Instant(row.int()?)))).transpose()
}

/// The start of the first cycle.
pub(crate) async fn first_cycle_at(tx: &mut Tx) -> Result<Option<Instant>, AppError> {
    let row = tx.row("SELECT starts_at FROM cycle ORDER BY number LIMIT 1", []).await?;
    row.map(|mut row| Ok(Instant(row.int()?))).transpose()
}

/// The paid chips that a team uses in `cycle`, by chip type.
pub(crate) async fn used_chips(
    tx: &mut Tx,
    team: &TeamId,
    cycle: u64,
) -> Result<Vec<(ChipTypeId, Chips)>, AppError> {
    const SQL: &str = "SELECT q.chip_type, q.used FROM (SELECT DISTINCT id FROM chip_type_version) c \
        JOIN team_quota q ON q.team = $1 AND q.chip_type = c.id WHERE q.used > 0 AND q.cycle = \
        (SELECT MAX(m.cycle) FROM team_quota m WHERE m.team = $1 AND m.chip_type = c.id AND m.cycle <= $2) \
        ORDER BY q.chip_type";
    let mut rows = tx.rows(SQL, values![team.as_str(), cycle]).await?;
    rows.iter_mut().map(|row| Ok((row.id()?, Chips(row.unsigned()?)))).collect()
}

/// What was booked to a team's account after `from`, summed by step of `step_seconds` and kind of transfer.
pub(crate) async fn sums_since(
    tx: &mut Tx,
    team: &TeamId,
    from: Instant,
    cycle: u64,
    step_seconds: u32,
) -> Result<BTreeMap<(Instant, TransferKind), MicroCredits>, AppError> {
    const SQL: &str = "SELECT counted / $4 AS step, kind, CAST(SUM(amount) AS BIGINT) FROM (SELECT t.kind, e.amount, \
        t.written_at - CASE WHEN t.step IS NULL THEN 0 ELSE 1 END AS counted \
        FROM ledger_entry e JOIN ledger_transfer t ON t.number = e.transfer \
        WHERE e.account = (SELECT number FROM ledger_account WHERE kind = 'team' AND owner = $1) \
        AND e.cycle > (SELECT COALESCE(MAX(number), 0) FROM cycle WHERE starts_at <= $2) AND e.cycle <= $3) AS entries \
        GROUP BY counted / $4, kind";
    let step = i64::from(step_seconds) * MICROS_PER_SECOND;
    let mut sums = BTreeMap::new();
    for mut row in tx.rows(SQL, values![team.as_str(), from.0, cycle, step]).await? {
        let at = Instant(row.int()? * step);
        sums.insert((at, TransferKind::parse(&row.text()?)?), MicroCredits(row.int()?));
    }
    Ok(sums)
}

/// At most `limit` entries of a team's account before a place, newest first, each with its place.
pub(crate) async fn entries(
    tx: &mut Tx,
    team: &TeamId,
    filter: &EntryFilter,
    before: EntryPlace,
    limit: u32,
) -> Result<Vec<(EntryPlace, LedgerEntry)>, AppError> {
    // The bounds of the cycle follow from those of time; with them the index finds the rows.
    const SQL: &str = "SELECT e.cycle, e.transfer, e.place, t.written_at, t.kind, e.amount, e.balance_after, \
        e.chip_type, e.chip_seconds, t.reason FROM ledger_entry e JOIN ledger_transfer t ON t.number = e.transfer \
        WHERE e.account = (SELECT number FROM ledger_account WHERE kind = 'team' AND owner = $1) \
        AND e.cycle <= $2 AND (e.cycle < $2 OR e.transfer < $3 OR (e.transfer = $3 AND e.place < $4)) \
        AND (CAST($5 AS TEXT) IS NULL OR t.kind = $5) AND (CAST($6 AS TEXT) IS NULL OR e.chip_type = $6) \
        AND t.written_at - CASE WHEN t.step IS NULL THEN 0 ELSE 1 END >= $7 \
        AND t.written_at - CASE WHEN t.step IS NULL THEN 0 ELSE 1 END < $8 \
        AND e.cycle >= (SELECT COALESCE(MAX(number), 0) FROM cycle WHERE starts_at <= $7) \
        AND e.cycle <= (SELECT COALESCE(MIN(number), $9) FROM cycle WHERE starts_at >= $8) \
        ORDER BY e.cycle DESC, e.transfer DESC, e.place DESC LIMIT $10";
    let (cycle, transfer, place) = before;
    let (from, to) = (filter.from.map_or(i64::MIN, |at| at.0), filter.to.map_or(i64::MAX, |at| at.0));
    let values = values![
        team.as_str(),
        cycle,
        transfer,
        place,
        filter.kind.map(TransferKind::as_str),
        filter.chip_type.as_ref().map(ChipTypeId::as_str),
        from,
        to,
        i64::MAX,
        limit
    ];
    tx.rows(SQL, values).await?.iter_mut().map(entry_from_row).collect()
}

fn entry_from_row(row: &mut Row) -> Result<(EntryPlace, LedgerEntry), AppError> {
    let place = (row.unsigned()?, row.unsigned()?, row.unsigned()?);
    let (cycle, transfer, _) = place;
    let entry = LedgerEntry {
        transfer,
        at: Instant(row.int()?),
        kind: row.text()?,
        cycle,
        amount: MicroCredits(row.int()?),
        balance_after: MicroCredits(row.int()?),
        chip_type: row.optional_id()?,
        chip_seconds: row.optional_unsigned()?,
        reason: row.text()?,
    };
    Ok((place, entry))
}

/// The first cycle since which a team has asked for chips without being granted any; none where it is granted some.
pub(crate) async fn starved_since(tx: &mut Tx, team: &TeamId, cycle: u64) -> Result<Option<u64>, AppError> {
    const SQL: &str = "SELECT MIN(cycle) FROM team_quota WHERE team = $1 AND asked > 0 AND cycle <= $2 \
        AND cycle > (SELECT COALESCE(MAX(cycle), 0) FROM team_quota WHERE team = $1 AND quota > 0 AND cycle <= $2)";
    let row = tx.row(SQL, values![team.as_str(), cycle]).await?;
    row.map_or(Ok(None), |mut row| row.optional_unsigned())
}

/// A transfer without its entries.
pub(crate) struct Head {
    pub(crate) at: Instant,
    pub(crate) kind: String,
    pub(crate) cycle: u64,
    pub(crate) step: Option<u64>,
    pub(crate) pool: PoolId,
    pub(crate) reason: String,
    pub(crate) sha256: [u8; 32],
}

/// A transfer by its number.
pub(crate) async fn transfer(tx: &mut Tx, number: u64) -> Result<Option<Head>, AppError> {
    const SQL: &str =
        "SELECT written_at, kind, cycle, step, pool, reason, sha256 FROM ledger_transfer WHERE number = $1";
    let Some(mut row) = tx.row(SQL, values![number]).await? else { return Ok(None) };
    Ok(Some(Head {
        at: Instant(row.int()?),
        kind: row.text()?,
        cycle: row.unsigned()?,
        step: row.optional_unsigned()?,
        pool: row.id()?,
        reason: row.text()?,
        sha256: row.sha256()?,
    }))
}

/// The entries of a transfer, in their order.
pub(crate) async fn transfer_entries(tx: &mut Tx, number: u64) -> Result<Vec<TransferEntry>, AppError> {
    const SQL: &str = "SELECT a.kind, a.owner, e.amount, e.chip_type, e.chip_seconds FROM ledger_entry e \
        JOIN ledger_account a ON a.number = e.account WHERE e.transfer = $1 ORDER BY e.place";
    let entry = |row: &mut Row| {
        Ok(TransferEntry {
            account: row.text()?,
            owner: Some(row.text()?),
            amount: MicroCredits(row.int()?),
            chip_type: row.optional_id()?,
            chip_seconds: row.optional_unsigned()?,
        })
    };
    tx.rows(SQL, values![number]).await?.iter_mut().map(entry).collect()
}

/// The newest allowance of a team, in force or waiting for the next cycle.
pub(crate) async fn newest_allowance(tx: &mut Tx, team: &TeamId) -> Result<Option<Allowance>, AppError> {
    const SQL: &str = "SELECT team, amount, hard, period, carry, carry_cap FROM allowance_version WHERE team = $1 \
        ORDER BY version DESC LIMIT 1";
    let row = tx.row(SQL, values![team.as_str()]).await?;
    row.map(|mut row| Allowance::from_row(&mut row)).transpose()
}
