//! What teams and pools may spend in a period, what they were charged, and the alerts that were fired.

use common::api::{AllowancePeriod, Carry};
use common::ids::{PoolId, TeamId};
use common::instant::Instant;
use common::money::MicroCredits;
use serde::Serialize;

use super::db::{Row, Tx, Value, values};
use super::entities::{Versioned, versioned};
use crate::error::AppError;
use crate::services::usable::Rule;

/// The shares of an allowance, in percent, that are told once each when they are reached.
pub const ALERT_PERCENTS: [u32; 4] = [50, 75, 90, 100];

/// Whose allowance it is.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Owner {
    /// A team's.
    Team(TeamId),
    /// The teams of a pool together.
    Pool(PoolId),
}

/// What a team may spend in each period of the organisation's zone.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Allowance {
    /// The team.
    pub team: TeamId,
    /// Local credits per period; absent where the team has no allowance.
    pub amount: Option<MicroCredits>,
    /// Once it is used up, the team's bids get only chips that cost nothing until the period is over.
    pub hard: bool,
    /// How long its period is.
    pub period: AllowancePeriod,
    /// What becomes of what is left.
    pub carry: Carry,
}

impl Allowance {
    /// An allowance by the month of which nothing is carried over; none without an amount.
    #[must_use]
    pub const fn monthly(team: TeamId, amount: Option<MicroCredits>, hard: bool) -> Self {
        Self { team, amount, hard, period: AllowancePeriod::Month, carry: Carry::None }
    }
}

/// What the teams of a pool together may spend in each period.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct PoolAllowance {
    /// The pool.
    pub pool: PoolId,
    /// Local credits per period; absent where the pool has no allowance.
    pub amount: Option<MicroCredits>,
    /// Once it is used up, the bids of all its teams get only chips that cost nothing until the period is over.
    pub hard: bool,
    /// How long its period is.
    pub period: AllowancePeriod,
    /// What becomes of what is left.
    pub carry: Carry,
    /// The allowances of its teams may sum to more than it.
    pub overcommit: bool,
}

fn period_from(text: &str) -> AllowancePeriod {
    if text == AllowancePeriod::Quarter.as_str() { AllowancePeriod::Quarter } else { AllowancePeriod::Month }
}

fn carry_from(text: &str, cap: Option<i64>) -> Carry {
    match text {
        "capped" => Carry::Capped(MicroCredits(cap.unwrap_or(0))),
        "full" => Carry::Full,
        _ => Carry::None,
    }
}

const fn carry_parts(carry: Carry) -> (&'static str, Option<i64>) {
    match carry {
        Carry::None => ("none", None),
        Carry::Capped(most) => ("capped", Some(most.0)),
        Carry::Full => ("full", None),
    }
}

impl Versioned for Allowance {
    versioned!(
        Allowance, "allowance_version", same: "newer.team = old.team", key: "team",
        columns: "team, amount, hard, period, carry, carry_cap", parameters: "$1, $2, $3, $4, $5, $6", at: "$7"
    );

    fn from_row(row: &mut Row) -> Result<Self, AppError> {
        Ok(Self {
            team: row.id()?,
            amount: row.optional_int()?.map(MicroCredits),
            hard: row.flag()?,
            period: period_from(&row.text()?),
            carry: carry_from(&row.text()?, row.optional_int()?),
        })
    }

    fn to_values(&self) -> Vec<Value> {
        let (amount, (carry, cap)) = (self.amount.map(|amount| amount.0), carry_parts(self.carry));
        values![self.team.as_str(), amount, self.hard, self.period.as_str(), carry, cap].into()
    }
}

impl Versioned for PoolAllowance {
    versioned!(
        PoolAllowance, "pool_allowance_version", same: "newer.pool = old.pool", key: "pool",
        columns: "pool, amount, hard, period, carry, carry_cap, overcommit", parameters: "$1, $2, $3, $4, $5, $6, $7", at: "$8"
    );

    fn from_row(row: &mut Row) -> Result<Self, AppError> {
        Ok(Self {
            pool: row.id()?,
            amount: row.optional_int()?.map(MicroCredits),
            hard: row.flag()?,
            period: period_from(&row.text()?),
            carry: carry_from(&row.text()?, row.optional_int()?),
            overcommit: row.flag()?,
        })
    }

    fn to_values(&self) -> Vec<Value> {
        let (amount, (carry, cap)) = (self.amount.map(|amount| amount.0), carry_parts(self.carry));
        values![self.pool.as_str(), amount, self.hard, self.period.as_str(), carry, cap, self.overcommit]
            .into()
    }
}

/// A rule that holds in `cycle`, from a row of amount, hard, period, carry, its cap and when it took effect. Where that is
/// in `cycle` itself, its row may not be written yet: it begins at `at`.
fn rule_from(row: &mut Row, at: Instant) -> Result<Option<Rule>, AppError> {
    let (amount, hard) = (row.optional_int()?, row.flag()?);
    let (period, carry) = (period_from(&row.text()?), carry_from(&row.text()?, row.optional_int()?));
    let since = row.optional_int()?.map_or(at, Instant);
    Ok(amount.map(|amount| Rule { amount: MicroCredits(amount), hard, period, carry, since }))
}

/// The rule of each team and pool that has an allowance in `cycle`, which begins at `at`.
pub(crate) async fn rules(tx: &mut Tx, cycle: u64, at: Instant) -> Result<Vec<(Owner, Rule)>, AppError> {
    const TEAMS: &str = "SELECT v.team, v.amount, v.hard, v.period, v.carry, v.carry_cap, c.starts_at \
        FROM allowance_version v LEFT JOIN cycle c ON c.number = v.effective_cycle \
        WHERE v.effective_cycle <= $1 AND (v.superseded_cycle IS NULL OR v.superseded_cycle > $1)";
    const POOLS: &str = "SELECT v.pool, v.amount, v.hard, v.period, v.carry, v.carry_cap, c.starts_at \
        FROM pool_allowance_version v LEFT JOIN cycle c ON c.number = v.effective_cycle \
        WHERE v.effective_cycle <= $1 AND (v.superseded_cycle IS NULL OR v.superseded_cycle > $1)";
    let mut rules = Vec::new();
    for mut row in tx.rows(TEAMS, values![cycle]).await? {
        let owner = Owner::Team(row.id()?);
        rules.extend(rule_from(&mut row, at)?.map(|rule| (owner, rule)));
    }
    for mut row in tx.rows(POOLS, values![cycle]).await? {
        let owner = Owner::Pool(row.id()?);
        rules.extend(rule_from(&mut row, at)?.map(|rule| (owner, rule)));
    }
    Ok(rules)
}

/// The newest allowance of a pool, in force or waiting for the next cycle.
pub(crate) async fn newest_of_pool(tx: &mut Tx, pool: &PoolId) -> Result<Option<PoolAllowance>, AppError> {
    const SQL: &str = "SELECT pool, amount, hard, period, carry, carry_cap, overcommit FROM pool_allowance_version \
        WHERE pool = $1 ORDER BY version DESC LIMIT 1";
    let row = tx.row(SQL, values![pool.as_str()]).await?;
    row.map(|mut row| PoolAllowance::from_row(&mut row)).transpose()
}

/// What the teams of a pool were charged together; as [`charged`].
pub(crate) async fn charged_in_pool(
    tx: &mut Tx,
    pool: &PoolId,
    (after, to): (Instant, Instant),
    cycle: u64,
) -> Result<MicroCredits, AppError> {
    // Charges are all that comes into the account of a pool's revenue.
    const SQL: &str = "SELECT CAST(COALESCE(SUM(e.amount), 0) AS BIGINT) FROM ledger_entry e \
        WHERE e.account = (SELECT number FROM ledger_account WHERE kind = 'revenue' AND owner = $1) \
        AND e.cycle > (SELECT COALESCE(MAX(number), 0) FROM cycle WHERE starts_at <= $2) \
        AND e.cycle <= (SELECT COALESCE(MAX(number), 0) FROM cycle WHERE starts_at <= $3 AND number <= $4)";
    let row = tx.row(SQL, values![pool.as_str(), after.0, to.0, cycle]).await?;
    row.map_or(Ok(MicroCredits::ZERO), |mut row| Ok(MicroCredits(row.int()?)))
}

/// A share of an allowance that was reached.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Alert {
    /// Whose allowance it is.
    pub owner: Owner,
    /// Start of the period.
    pub period_starts_at: Instant,
    /// The allowance at that time, with what was carried into the period.
    pub amount: MicroCredits,
    /// The share, one of [`ALERT_PERCENTS`].
    pub percent: u32,
    /// What was spent in the period by then.
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
    const TEAM: &str = "INSERT INTO allowance_alert (team, month_starts_at, amount, percent, spent, cycle, fired_at) \
        VALUES ($1, $2, $3, $4, $5, $6, $7) ON CONFLICT (team, month_starts_at, amount, percent) DO NOTHING";
    const POOL: &str = "INSERT INTO pool_allowance_alert (pool, period_starts_at, amount, percent, spent, cycle, fired_at) \
        VALUES ($1, $2, $3, $4, $5, $6, $7) ON CONFLICT (pool, period_starts_at, amount, percent) DO NOTHING";
    for alert in alerts {
        let Alert { owner, period_starts_at, amount, percent, spent, cycle, fired_at } = alert;
        let (sql, id) = match owner {
            Owner::Team(team) => (TEAM, team.as_str()),
            Owner::Pool(pool) => (POOL, pool.as_str()),
        };
        let values = values![id, period_starts_at.0, amount.0, *percent, spent.0, *cycle, fired_at.0];
        tx.execute(sql, values).await?;
    }
    Ok(())
}

/// The alerts of a team or a pool in its periods since an instant, oldest first.
///
/// # Errors
/// The database can't be read.
pub async fn alerts_since(tx: &mut Tx, owner: &Owner, since: Instant) -> Result<Vec<Alert>, AppError> {
    const TEAM: &str = "SELECT month_starts_at, amount, percent, spent, cycle, fired_at FROM allowance_alert \
        WHERE team = $1 AND month_starts_at >= $2 ORDER BY cycle, amount, percent";
    const POOL: &str = "SELECT period_starts_at, amount, percent, spent, cycle, fired_at FROM pool_allowance_alert \
        WHERE pool = $1 AND period_starts_at >= $2 ORDER BY cycle, amount, percent";
    let (sql, id) = match owner {
        Owner::Team(team) => (TEAM, team.as_str()),
        Owner::Pool(pool) => (POOL, pool.as_str()),
    };
    let mut rows = tx.rows(sql, values![id, since.0]).await?;
    let alert = |row: &mut Row| {
        Ok(Alert {
            owner: owner.clone(),
            period_starts_at: Instant(row.int()?),
            amount: MicroCredits(row.int()?),
            percent: row.small()?,
            spent: MicroCredits(row.int()?),
            cycle: row.unsigned()?,
            fired_at: Instant(row.int()?),
        })
    };
    rows.iter_mut().map(alert).collect()
}
