//! Warnings that a team's balance is about to be used up.

use common::ids::TeamId;
use common::instant::Instant;
use common::money::MicroCredits;

use super::db::{Row, Tx, values};
use crate::error::AppError;

/// Hours that a balance still lasts when it is told, each once a day.
pub const WARNING_HOURS: [u32; 2] = [24, 1];

/// A balance that would last no longer than some hours.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RunwayWarning {
    /// The team.
    pub team: TeamId,
    /// The first instant of the day, in the organisation's zone.
    pub day_starts_at: Instant,
    /// One of [`WARNING_HOURS`].
    pub hours: u32,
    /// The balance, in local credits.
    pub balance: MicroCredits,
    /// Local credits per hour that its chips cost.
    pub burn: MicroCredits,
    /// Local credits per hour that it earned.
    pub income: MicroCredits,
    /// The cycle in which it was noticed.
    pub cycle: u64,
    /// When that cycle began.
    pub fired_at: Instant,
}

/// Stores warnings; one that was told on the same day stays as it was.
pub(crate) async fn insert(tx: &mut Tx, warnings: &[RunwayWarning]) -> Result<(), AppError> {
    const SQL: &str = "INSERT INTO runway_warning (team, day_starts_at, hours, balance, burn, income, cycle, fired_at) \
        VALUES ($1, $2, $3, $4, $5, $6, $7, $8) ON CONFLICT (team, day_starts_at, hours) DO NOTHING";
    for warning in warnings {
        let RunwayWarning { team, day_starts_at, hours, balance, burn, income, cycle, fired_at } = warning;
        let values =
            values![team.as_str(), day_starts_at.0, *hours, balance.0, burn.0, income.0, *cycle, fired_at.0];
        tx.execute(SQL, values).await?;
    }
    Ok(())
}

/// The warnings of a team since an instant, oldest first.
///
/// # Errors
/// The database can't be read.
pub async fn since(tx: &mut Tx, team: &TeamId, since: Instant) -> Result<Vec<RunwayWarning>, AppError> {
    const SQL: &str = "SELECT team, day_starts_at, hours, balance, burn, income, cycle, fired_at FROM runway_warning \
        WHERE team = $1 AND day_starts_at >= $2 ORDER BY cycle, hours DESC";
    let mut rows = tx.rows(SQL, values![team.as_str(), since.0]).await?;
    let warning = |row: &mut Row| {
        Ok(RunwayWarning {
            team: row.id()?,
            day_starts_at: Instant(row.int()?),
            hours: row.small()?,
            balance: MicroCredits(row.int()?),
            burn: MicroCredits(row.int()?),
            income: MicroCredits(row.int()?),
            cycle: row.unsigned()?,
            fired_at: Instant(row.int()?),
        })
    };
    rows.iter_mut().map(warning).collect()
}
