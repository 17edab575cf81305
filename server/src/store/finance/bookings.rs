//! Corrections, grants and transfers that finance asked for, the decisions about them, and the amount above which a second
//! person decides.

use common::api::BookingKind;
use common::ids::{TeamId, UserId};
use common::instant::Instant;
use common::money::MicroCredits;

use crate::error::AppError;
use crate::store::db::{Row, Tx, values};

/// A booking that somebody asked for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Booking {
    pub(crate) number: u64,
    /// Made by the client.
    pub(crate) id: String,
    pub(crate) request_sha256: [u8; 32],
    pub(crate) kind: BookingKind,
    pub(crate) team: TeamId,
    pub(crate) to_team: Option<TeamId>,
    pub(crate) amount: MicroCredits,
    /// The transfer that it corrects.
    pub(crate) corrects: Option<u64>,
    pub(crate) reason: String,
    pub(crate) maker: UserId,
    pub(crate) maker_name: String,
    pub(crate) made_at: Instant,
    pub(crate) expires_at: Instant,
    pub(crate) needs_approval: bool,
    pub(crate) decision: Option<Decision>,
}

/// What became of a booking.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Decision {
    pub(crate) is_booked: bool,
    pub(crate) by: UserId,
    pub(crate) by_name: String,
    pub(crate) at: Instant,
    pub(crate) reason: String,
    /// The transfers that were booked.
    pub(crate) transfers: Vec<u64>,
}

/// The columns that [`from_row`] reads, from both tables.
macro_rules! bookings {
    () => {
        "SELECT r.number, r.id, r.request_sha256, r.kind, r.team, r.to_team, r.amount, r.corrects, r.reason, r.maker, \
         r.maker_name, r.made_at, r.expires_at, r.needs_approval, d.verdict, d.by_user, d.by_name, d.at, d.reason, \
         d.transfer, d.second_transfer FROM money_request r LEFT JOIN money_decision d ON d.request = r.number"
    };
}

fn from_row(row: &mut Row) -> Result<Booking, AppError> {
    let mut booking = Booking {
        number: row.unsigned()?,
        id: row.text()?,
        request_sha256: row.sha256()?,
        kind: kind(&row.text()?)?,
        team: row.id()?,
        to_team: row.optional_id()?,
        amount: MicroCredits(row.int()?),
        corrects: row.optional_unsigned()?,
        reason: row.text()?,
        maker: row.id()?,
        maker_name: row.text()?,
        made_at: Instant(row.int()?),
        expires_at: Instant(row.int()?),
        needs_approval: row.flag()?,
        decision: None,
    };
    if let Some(verdict) = row.optional_text()? {
        booking.decision = Some(Decision {
            is_booked: verdict == "booked",
            by: row.id()?,
            by_name: row.text()?,
            at: Instant(row.int()?),
            reason: row.text()?,
            transfers: row.optional_unsigned()?.into_iter().chain(row.optional_unsigned()?).collect(),
        });
    }
    Ok(booking)
}

fn kind(text: &str) -> Result<BookingKind, AppError> {
    BookingKind::ALL
        .into_iter()
        .find(|kind| kind.as_str() == text)
        .ok_or_else(|| AppError::internal(format!("a stored booking has the unknown kind {text:?}")))
}

/// The booking of an id.
pub(crate) async fn by_id(tx: &mut Tx, id: &str) -> Result<Option<Booking>, AppError> {
    const SQL: &str = concat!(bookings!(), " WHERE r.id = $1");
    tx.row(SQL, values![id]).await?.map(|mut row| from_row(&mut row)).transpose()
}

/// The booking of a number.
pub(crate) async fn by_number(tx: &mut Tx, number: u64) -> Result<Option<Booking>, AppError> {
    const SQL: &str = concat!(bookings!(), " WHERE r.number = $1");
    tx.row(SQL, values![number]).await?.map(|mut row| from_row(&mut row)).transpose()
}

/// At most `limit` bookings, newest first; only those that wait for a decision at `pending_at`, where it is given.
pub(crate) async fn newest(
    tx: &mut Tx,
    pending_at: Option<Instant>,
    limit: u32,
) -> Result<Vec<Booking>, AppError> {
    const SQL: &str = concat!(
        bookings!(),
        " WHERE CAST($1 AS BIGINT) IS NULL OR (d.request IS NULL AND r.expires_at > $1)",
        " ORDER BY r.number DESC LIMIT $2"
    );
    tx.rows(SQL, values![pending_at.map(|at| at.0), limit]).await?.iter_mut().map(from_row).collect()
}

/// The transfers that correct one, of one team where it is given, and the one that it corrects.
pub(crate) async fn links_of(
    tx: &mut Tx,
    transfer: u64,
    team: Option<&TeamId>,
) -> Result<(Vec<u64>, Option<u64>), AppError> {
    const BY: &str = "SELECT d.transfer FROM money_request r JOIN money_decision d ON d.request = r.number \
        WHERE r.corrects = $1 AND d.transfer IS NOT NULL AND (CAST($2 AS TEXT) IS NULL OR r.team = $2) \
        ORDER BY d.transfer";
    const OF: &str = "SELECT r.corrects FROM money_decision d JOIN money_request r ON r.number = d.request \
        WHERE d.transfer = $1 OR d.second_transfer = $1";
    let mut rows = tx.rows(BY, values![transfer, team.map(TeamId::as_str)]).await?;
    let by = rows.iter_mut().map(Row::unsigned).collect::<Result<_, _>>()?;
    let of = tx.row(OF, values![transfer]).await?.map_or(Ok(None), |mut row| row.optional_unsigned())?;
    Ok((by, of))
}

/// Stores what somebody asked for under the next number; the answer is the number.
pub(crate) async fn insert(tx: &mut Tx, booking: &Booking) -> Result<u64, AppError> {
    const NUMBER: &str = "SELECT COALESCE(MAX(number), 0) + 1 FROM money_request";
    const SQL: &str = "INSERT INTO money_request (number, id, request_sha256, kind, team, to_team, amount, corrects, \
        reason, maker, maker_name, made_at, expires_at, needs_approval) \
        VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14)";
    let number = tx.row(NUMBER, []).await?.map_or(Ok(1), |mut row| row.unsigned())?;
    let values = values![
        number,
        booking.id.as_str(),
        booking.request_sha256,
        booking.kind.as_str(),
        booking.team.as_str(),
        booking.to_team.as_ref().map(TeamId::as_str),
        booking.amount.0,
        booking.corrects,
        booking.reason.as_str(),
        booking.maker.as_str(),
        booking.maker_name.as_str(),
        booking.made_at.0,
        booking.expires_at.0,
        booking.needs_approval
    ];
    tx.execute(SQL, values).await?;
    Ok(number)
}

/// Stores what became of a booking.
pub(crate) async fn decide(tx: &mut Tx, number: u64, decision: &Decision) -> Result<(), AppError> {
    const SQL: &str = "INSERT INTO money_decision (request, verdict, by_user, by_name, at, reason, transfer, \
        second_transfer) VALUES ($1, $2, $3, $4, $5, $6, $7, $8)";
    let verdict = if decision.is_booked { "booked" } else { "refused" };
    let values = values![
        number,
        verdict,
        decision.by.as_str(),
        decision.by_name.as_str(),
        decision.at.0,
        decision.reason.as_str(),
        decision.transfers.first().copied(),
        decision.transfers.get(1).copied()
    ];
    tx.execute(SQL, values).await.map(drop)
}

/// What people took from a team since an instant by corrections and transfers.
pub(crate) async fn taken_since(
    tx: &mut Tx,
    team: &TeamId,
    since: Instant,
) -> Result<MicroCredits, AppError> {
    const SQL: &str = "SELECT CAST(COALESCE(SUM(-e.amount), 0) AS BIGINT) FROM ledger_entry e \
        JOIN ledger_transfer t ON t.number = e.transfer \
        WHERE e.account = (SELECT number FROM ledger_account WHERE kind = 'team' AND owner = $1) \
        AND t.kind = 'correction' AND t.step IS NULL AND t.written_at >= $2 AND e.amount < 0 \
        AND e.cycle >= (SELECT COALESCE(MAX(number), 0) FROM cycle WHERE starts_at <= $2)";
    let row = tx.row(SQL, values![team.as_str(), since.0]).await?;
    row.map_or(Ok(MicroCredits::ZERO), |mut row| Ok(MicroCredits(row.int()?)))
}

/// Whether a transfer has an entry of a team.
pub(crate) async fn concerns(tx: &mut Tx, transfer: u64, team: &TeamId) -> Result<bool, AppError> {
    const SQL: &str = "SELECT 1 FROM ledger_entry e JOIN ledger_account a ON a.number = e.account \
        WHERE e.transfer = $1 AND a.kind = 'team' AND a.owner = $2 LIMIT 1";
    Ok(tx.row(SQL, values![transfer, team.as_str()]).await?.is_some())
}

/// The global credits above which a second person decides; none where each booking needs one.
pub(crate) async fn approval_above(tx: &mut Tx) -> Result<Option<MicroCredits>, AppError> {
    const SQL: &str = "SELECT amount FROM approval_limit ORDER BY number DESC LIMIT 1";
    let row = tx.row(SQL, []).await?;
    Ok(row.map_or(Ok(None), |mut row| row.optional_int())?.map(MicroCredits))
}

/// Sets it.
pub(crate) async fn set_approval_above(
    tx: &mut Tx,
    amount: Option<MicroCredits>,
    at: Instant,
    by: &UserId,
) -> Result<(), AppError> {
    const SQL: &str = "INSERT INTO approval_limit (number, amount, set_at, set_by) \
        SELECT COALESCE(MAX(number), 0) + 1, $1, $2, $3 FROM approval_limit";
    let amount = amount.map(|amount| amount.0);
    tx.execute(SQL, values![amount, at.0, by.as_str()]).await.map(drop)
}
