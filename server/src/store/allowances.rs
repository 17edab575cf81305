//! What teams may spend in a month, what they were charged, and the alerts that were fired.

use common::ids::TeamId;
use common::instant::Instant;
use common::money::MicroCredits;
use serde::Serialize;

use super::db::{Row, Tx, Value, values};
use super::entities::{Versioned, versioned};
use crate::error::AppError;

/// The shares of an allowance, in percent, that are told once each when they are reached.
pub const ALERT_PERCENTS: [u32; 4] = [50, 75, 90, 100];

/// What a team may spend in each month of the organisation's zone.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Allowance {
    /// The team.
    pub team: TeamId,
    /// Local credits per month; absent where the team has no allowance.
    pub amount: Option<MicroCredits>,
    /// Once it is used up, the team's bids get only chips that cost nothing until the month is over.
    pub hard: bool,
}

impl Versioned for Allowance {
    versioned!(
        Allowance, "allowance_version", same: "newer.team = old.team", key: "team",
        columns: "team, amount, hard", parameters: "$1, $2, $3", at: "$4"
    );

    fn from_row(row: &mut Row) -> Result<Self, AppError> {
        Ok(Self { team: row.id()?, amount: row.optional_int()?.map(MicroCredits), hard: row.int()? != 0 })
    }

    fn to_values(&self) -> Vec<Value> {
        values![self.team.as_str(), self.amount.map(|amount| amount.0), self.hard].into()
    }
}

/// A share of an allowance that was reached.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Alert {
    /// The team.
    pub team: TeamId,
    /// Start of the month.
    pub month_starts_at: Instant,
    /// The allowance at that time.
    pub amount: MicroCredits,
    /// The share, one of [`ALERT_PERCENTS`].
    pub percent: u32,
    /// What was spent in the month by then.
    pub spent: MicroCredits,
    /// The cycle in which it was reached.
    pub cycle: u64,
    /// When that cycle began.
    pub fired_at: Instant,
}

/// What a team was charged by the accounting steps that were booked after `after` and not after `to`, in the cycles up to
/// `cycle`. A step covers the time before it: with the bounds of a month these are its charges.
///
/// # Errors
/// The database can't be read.
pub async fn charged(
    tx: &mut Tx,
    team: &TeamId,
    (after, to): (Instant, Instant),
    cycle: u64,
) -> Result<MicroCredits, AppError> {
    const SQL: &str = "SELECT CAST(COALESCE(SUM(e.amount), 0) AS BIGINT) FROM ledger_entry e \
        WHERE e.account = (SELECT number FROM ledger_account WHERE kind = 'team' AND owner = $1) \
        AND e.chip_type IS NOT NULL \
        AND e.cycle > (SELECT COALESCE(MAX(number), 0) FROM cycle WHERE starts_at <= $2) \
        AND e.cycle <= (SELECT COALESCE(MAX(number), 0) FROM cycle WHERE starts_at <= $3 AND number <= $4)";
    let row = tx.row(SQL, values![team.as_str(), after.0, to.0, cycle]).await?;
    row.map_or(Ok(MicroCredits::ZERO), |mut row| Ok(MicroCredits(-row.int()?)))
}

/// Stores alerts; one that was fired before stays as it was.
pub(crate) async fn insert_alerts(tx: &mut Tx, alerts: &[Alert]) -> Result<(), AppError> {
    const SQL: &str = "INSERT INTO allowance_alert (team, month_starts_at, amount, percent, spent, cycle, fired_at) \
        VALUES ($1, $2, $3, $4, $5, $6, $7) ON CONFLICT (team, month_starts_at, amount, percent) DO NOTHING";
    for alert in alerts {
        let Alert { team, month_starts_at, amount, percent, spent, cycle, fired_at } = alert;
        let values =
            values![team.as_str(), month_starts_at.0, amount.0, *percent, spent.0, *cycle, fired_at.0];
        tx.execute(SQL, values).await?;
    }
    Ok(())
}

/// The alerts of a team since an instant, oldest first.
///
/// # Errors
/// The database can't be read.
pub async fn alerts_since(tx: &mut Tx, team: &TeamId, since: Instant) -> Result<Vec<Alert>, AppError> {
    const SQL: &str = "SELECT team, month_starts_at, amount, percent, spent, cycle, fired_at FROM allowance_alert \
        WHERE team = $1 AND month_starts_at >= $2 ORDER BY cycle, amount, percent";
    let mut rows = tx.rows(SQL, values![team.as_str(), since.0]).await?;
    let alert = |row: &mut Row| {
        Ok(Alert {
            team: row.id()?,
            month_starts_at: Instant(row.int()?),
            amount: MicroCredits(row.int()?),
            percent: row.small()?,
            spent: MicroCredits(row.int()?),
            cycle: row.unsigned()?,
            fired_at: Instant(row.int()?),
        })
    };
    rows.iter_mut().map(alert).collect()
}
