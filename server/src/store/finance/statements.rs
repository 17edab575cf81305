//! What statements are made of: balances before a moment, sums over a stretch of time, and the numbers they were given.

use std::collections::BTreeMap;

use common::ids::{ChipTypeId, TeamId};
use common::instant::Instant;
use common::money::MicroCredits;

use super::close::Window;
use crate::error::AppError;
use crate::store::db::{Row, Tx, values};
use crate::store::ledger::TransferKind;

/// What was booked to a team's account by transfers of one kind, and of charges for one chip type.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Sum {
    pub(crate) kind: TransferKind,
    pub(crate) chip_type: Option<ChipTypeId>,
    pub(crate) amount: MicroCredits,
    pub(crate) chip_seconds: u64,
    pub(crate) entries: u64,
}

fn sum_from_row(row: &mut Row) -> Result<Sum, AppError> {
    Ok(Sum {
        kind: TransferKind::parse(&row.text()?)?,
        chip_type: row.optional_id()?,
        amount: MicroCredits(row.int()?),
        chip_seconds: row.unsigned()?,
        entries: row.unsigned()?,
    })
}

/// What was booked to one team from `from` until before `to`.
pub(crate) async fn sums_of(
    tx: &mut Tx,
    team: &TeamId,
    from: Instant,
    to: Instant,
) -> Result<Vec<Sum>, AppError> {
    const SQL: &str = "SELECT t.kind, e.chip_type, CAST(SUM(e.amount) AS BIGINT), \
        CAST(SUM(COALESCE(e.chip_seconds, 0)) AS BIGINT), COUNT(*) FROM ledger_entry e \
        JOIN ledger_transfer t ON t.number = e.transfer \
        WHERE e.account = (SELECT number FROM ledger_account WHERE kind = 'team' AND owner = $5) \
        AND e.cycle >= $1 AND e.cycle <= $2 \
        AND t.written_at - CASE WHEN t.step IS NULL THEN 0 ELSE 1 END >= $3 \
        AND t.written_at - CASE WHEN t.step IS NULL THEN 0 ELSE 1 END < $4 \
        GROUP BY t.kind, e.chip_type ORDER BY t.kind, e.chip_type";
    let window = Window::new(tx, from, to).await?;
    let values = values![window.first, window.last, from.0, to.0, team.as_str()];
    tx.rows(SQL, values).await?.iter_mut().map(sum_from_row).collect()
}

/// What was booked to all teams from `from` until before `to`.
pub(crate) async fn sums(
    tx: &mut Tx,
    from: Instant,
    to: Instant,
) -> Result<BTreeMap<TeamId, Vec<Sum>>, AppError> {
    const SQL: &str = "SELECT a.owner, t.kind, e.chip_type, CAST(SUM(e.amount) AS BIGINT), \
        CAST(SUM(COALESCE(e.chip_seconds, 0)) AS BIGINT), COUNT(*) FROM ledger_transfer t \
        JOIN ledger_entry e ON e.transfer = t.number JOIN ledger_account a ON a.number = e.account \
        WHERE a.kind = 'team' AND t.cycle >= $1 AND t.cycle <= $2 AND e.cycle >= $1 AND e.cycle <= $2 \
        AND t.written_at - CASE WHEN t.step IS NULL THEN 0 ELSE 1 END >= $3 \
        AND t.written_at - CASE WHEN t.step IS NULL THEN 0 ELSE 1 END < $4 \
        GROUP BY a.owner, t.kind, e.chip_type ORDER BY a.owner, t.kind, e.chip_type";
    let window = Window::new(tx, from, to).await?;
    let mut teams: BTreeMap<TeamId, Vec<Sum>> = BTreeMap::new();
    for mut row in tx.rows(SQL, values![window.first, window.last, from.0, to.0]).await? {
        teams.entry(row.id()?).or_default().push(sum_from_row(&mut row)?);
    }
    Ok(teams)
}

/// The balance of each team that has an account, with all that counts before an instant.
pub(crate) async fn balances_before(
    tx: &mut Tx,
    at: Instant,
) -> Result<BTreeMap<TeamId, MicroCredits>, AppError> {
    // What counts before the instant and lies in cycles that may hold later things as well is summed by itself.
    const SETTLED: &str = "SELECT a.owner, COALESCE((SELECT e.balance_after FROM ledger_entry e \
        WHERE e.account = a.number AND e.cycle < $1 ORDER BY e.cycle DESC, e.transfer DESC, e.place DESC LIMIT 1), 0) \
        FROM ledger_account a WHERE a.kind = 'team'";
    const REST: &str = "SELECT a.owner, CAST(SUM(e.amount) AS BIGINT) FROM ledger_transfer t \
        JOIN ledger_entry e ON e.transfer = t.number JOIN ledger_account a ON a.number = e.account \
        WHERE a.kind = 'team' AND t.cycle >= $1 AND t.cycle <= $2 AND e.cycle >= $1 AND e.cycle <= $2 \
        AND t.written_at - CASE WHEN t.step IS NULL THEN 0 ELSE 1 END < $3 GROUP BY a.owner";
    let window = Window::new(tx, at, at).await?;
    let mut balances = BTreeMap::new();
    for mut row in tx.rows(SETTLED, values![window.first]).await? {
        balances.insert(row.id()?, MicroCredits(row.int()?));
    }
    for mut row in tx.rows(REST, values![window.first, window.last, at.0]).await? {
        let balance = balances.entry(row.id()?).or_insert(MicroCredits::ZERO);
        balance.0 = balance.0.saturating_add(row.int()?);
    }
    Ok(balances)
}

/// A statement that was numbered when its month was closed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Numbered {
    pub(crate) number: u64,
    pub(crate) team: TeamId,
    pub(crate) opening: MicroCredits,
    pub(crate) closing: MicroCredits,
    pub(crate) sha256: [u8; 32],
}

/// The statements of the month that begins at an instant, in order of their numbers; none where it is not closed.
pub(crate) async fn numbered(tx: &mut Tx, starts_at: Instant) -> Result<Vec<Numbered>, AppError> {
    const SQL: &str =
        "SELECT number, team, opening, closing, sha256 FROM statement WHERE starts_at = $1 ORDER BY number";
    let statement = |row: &mut Row| {
        Ok(Numbered {
            number: row.unsigned()?,
            team: row.id()?,
            opening: MicroCredits(row.int()?),
            closing: MicroCredits(row.int()?),
            sha256: row.sha256()?,
        })
    };
    tx.rows(SQL, values![starts_at.0]).await?.iter_mut().map(statement).collect()
}

/// The number that the next statement gets.
pub(crate) async fn next_number(tx: &mut Tx) -> Result<u64, AppError> {
    let row = tx.row("SELECT COALESCE(MAX(number), 0) + 1 FROM statement", []).await?;
    row.map_or(Ok(1), |mut row| row.unsigned())
}

/// Stores the statements of a month.
pub(crate) async fn insert(tx: &mut Tx, starts_at: Instant, statements: &[Numbered]) -> Result<(), AppError> {
    const SQL: &str = "INSERT INTO statement (number, starts_at, team, opening, closing, sha256)";
    let rows = statements.iter();
    let rows = rows
        .map(|of| values![of.number, starts_at.0, of.team.as_str(), of.opening.0, of.closing.0, of.sha256]);
    tx.insert(SQL, rows.collect()).await
}
