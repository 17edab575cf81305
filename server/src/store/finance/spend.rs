//! Spend by days and months of the organisation's zone: a roll-up of the ledger's charges and of usage.
//!
//! What an accounting step booked belongs to the day that contains the moment just before it, as everywhere. The roll-up
//! is made step by step behind the clearing loop; a reader adds what was booked since, so that a sum is always what the
//! ledger says. It follows from the ledger alone and is made anew when the zone changes.

use std::collections::BTreeMap;

use common::ids::{ChipTypeId, PoolId, TeamId};
use common::instant::Instant;

use super::rates::Rates;
use crate::error::AppError;
use crate::services::periods::{Calendar, Period, PeriodKind};
use crate::store::db::{Row, Tx, Value, values};

/// Steps rolled up in one transaction at most, so that the clearing never waits for long.
const STEPS_AT_ONCE: u32 = 288;

/// What was used and charged. Seconds are chip-seconds, money is micro-credits.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Spend {
    pub(crate) granted: u64,
    pub(crate) used: u64,
    pub(crate) opportunistic: u64,
    /// Granted and not used.
    pub(crate) idle: u64,
    /// Used beyond what was granted.
    pub(crate) over: u64,
    /// What the charges are for.
    pub(crate) charged: u64,
    /// In the pool's local credits.
    pub(crate) cost: i64,
    /// In global credits, each charge converted once.
    pub(crate) global_cost: i64,
}

impl Spend {
    pub(crate) fn add(&mut self, other: &Self) {
        self.combine(other, u64::saturating_add, i64::saturating_add);
    }

    fn take_away(&mut self, other: &Self) {
        self.combine(other, u64::saturating_sub, i64::saturating_sub);
    }

    fn combine(&mut self, other: &Self, chips: fn(u64, u64) -> u64, money: fn(i64, i64) -> i64) {
        self.granted = chips(self.granted, other.granted);
        self.used = chips(self.used, other.used);
        self.opportunistic = chips(self.opportunistic, other.opportunistic);
        self.idle = chips(self.idle, other.idle);
        self.over = chips(self.over, other.over);
        self.charged = chips(self.charged, other.charged);
        self.cost = money(self.cost, other.cost);
        self.global_cost = money(self.global_cost, other.global_cost);
    }

    fn from_row(row: &mut Row) -> Result<Self, AppError> {
        Ok(Self {
            granted: row.unsigned()?,
            used: row.unsigned()?,
            opportunistic: row.unsigned()?,
            idle: row.unsigned()?,
            over: row.unsigned()?,
            charged: row.unsigned()?,
            cost: row.int()?,
            global_cost: row.int()?,
        })
    }

    fn values(&self, starts_at: Instant, owner: &str, chip_type: &str) -> [Value; 11] {
        values![
            starts_at.0,
            owner,
            chip_type,
            self.granted,
            self.used,
            self.opportunistic,
            self.idle,
            self.over,
            self.charged,
            self.cost,
            self.global_cost
        ]
    }
}

/// Spend of teams by chip type.
pub(crate) type ByTeam = BTreeMap<(TeamId, ChipTypeId), Spend>;

/// Spend of pools by chip type.
pub(crate) type ByPool = BTreeMap<(PoolId, ChipTypeId), Spend>;

/// An accounting step: its cycle, and when it was booked.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Step {
    pub(crate) cycle: u64,
    pub(crate) at: Instant,
}

/// Before the first step.
const NONE: Step = Step { cycle: 0, at: Instant(i64::MIN) };

/// What the steps of one day booked.
pub(crate) struct Booked {
    /// The day.
    pub(crate) day: Period,
    /// By team and chip type, with the team's pool.
    pub(crate) spend: BTreeMap<(TeamId, ChipTypeId), (PoolId, Spend)>,
}

/// The last step in the roll-up by days of `time_zone`.
pub(crate) async fn rolled_up_to(tx: &mut Tx, time_zone: &str) -> Result<Step, AppError> {
    const SQL: &str = "SELECT cycle, booked_at FROM spend_progress WHERE time_zone = $1";
    let row = tx.row(SQL, values![time_zone]).await?;
    row.map_or(Ok(NONE), |mut row| Ok(Step { cycle: row.unsigned()?, at: Instant(row.int()?) }))
}

/// Whether steps are booked that are not rolled up.
///
/// # Errors
/// The database can't be read.
pub(crate) async fn is_due(tx: &mut Tx, time_zone: &str) -> Result<bool, AppError> {
    let done = rolled_up_to(tx, time_zone).await?;
    Ok(last_step_at(tx, Instant(i64::MAX)).await?.at > done.at)
}

/// Rolls up the next steps.
///
/// # Errors
/// The database can't be read or written.
pub(crate) async fn roll_up(tx: &mut Tx, time_zone: &str) -> Result<(), AppError> {
    let done = rolled_up_to(tx, time_zone).await?;
    let steps = steps_after(tx, done, Instant(i64::MAX), STEPS_AT_ONCE).await?;
    let Some(last) = steps.last().copied() else { return Ok(()) };
    if done == NONE {
        // Nothing is rolled up, or by the days of another zone.
        for sql in ["DELETE FROM spend_day", "DELETE FROM spend_month", "DELETE FROM spend_pool_day"] {
            tx.execute(sql, []).await?;
        }
    }
    let calendar = Calendar::new(time_zone)?;
    for booked in by_day(tx, &calendar, done, &steps).await? {
        add(tx, &calendar, &booked).await?;
    }
    const PROGRESS: &str = "INSERT INTO spend_progress (number, cycle, booked_at, time_zone) VALUES (1, $1, $2, $3) \
        ON CONFLICT (number) DO UPDATE SET cycle = excluded.cycle, booked_at = excluded.booked_at, \
        time_zone = excluded.time_zone";
    tx.execute(PROGRESS, values![last.cycle, last.at.0, time_zone]).await.map(drop)
}

/// The statement that adds to rows of a table, in two parts.
macro_rules! add_to {
    ($table:literal, $owner:literal) => {
        (
            concat!(
                "INSERT INTO ",
                $table,
                " (starts_at, ",
                $owner,
                ", chip_type, granted_chip_seconds, used_chip_seconds, opportunistic_chip_seconds, \
                 idle_chip_seconds, over_chip_seconds, charged_chip_seconds, cost, global_cost)"
            ),
            concat!(
                " ON CONFLICT (starts_at, ",
                $owner,
                ", chip_type) DO UPDATE SET granted_chip_seconds = ",
                $table,
                ".granted_chip_seconds + excluded.granted_chip_seconds, used_chip_seconds = ",
                $table,
                ".used_chip_seconds + excluded.used_chip_seconds, opportunistic_chip_seconds = ",
                $table,
                ".opportunistic_chip_seconds + excluded.opportunistic_chip_seconds, idle_chip_seconds = ",
                $table,
                ".idle_chip_seconds + excluded.idle_chip_seconds, over_chip_seconds = ",
                $table,
                ".over_chip_seconds + excluded.over_chip_seconds, charged_chip_seconds = ",
                $table,
                ".charged_chip_seconds + excluded.charged_chip_seconds, cost = ",
                $table,
                ".cost + excluded.cost, global_cost = ",
                $table,
                ".global_cost + excluded.global_cost"
            ),
        )
    };
}

async fn add(tx: &mut Tx, calendar: &Calendar, booked: &Booked) -> Result<(), AppError> {
    const DAY: (&str, &str) = add_to!("spend_day", "team");
    const MONTH: (&str, &str) = add_to!("spend_month", "team");
    const POOL_DAY: (&str, &str) = add_to!("spend_pool_day", "pool");
    let day = booked.day.starts_at;
    let month = calendar.period(PeriodKind::Month, day)?.starts_at;
    let of_teams = |starts_at| {
        let rows = booked.spend.iter();
        rows.map(move |((team, chip_type), (_, spend))| {
            spend.values(starts_at, team.as_str(), chip_type.as_str())
        })
    };
    tx.insert_or(DAY.0, DAY.1, of_teams(day).collect()).await?;
    tx.insert_or(MONTH.0, MONTH.1, of_teams(month).collect()).await?;
    let mut pools = ByPool::new();
    for ((_, chip_type), (pool, spend)) in &booked.spend {
        pools.entry((pool.clone(), chip_type.clone())).or_default().add(spend);
    }
    let pools = pools.iter();
    let pools = pools.map(|((pool, chip_type), spend)| spend.values(day, pool.as_str(), chip_type.as_str()));
    tx.insert_or(POOL_DAY.0, POOL_DAY.1, pools.collect()).await
}

/// At most `limit` steps after one, booked at `to` or before, in order.
async fn steps_after(tx: &mut Tx, after: Step, to: Instant, limit: u32) -> Result<Vec<Step>, AppError> {
    const SQL: &str = "SELECT number, starts_at FROM cycle WHERE step IS NOT NULL AND starts_at > $1 \
        AND starts_at <= $2 ORDER BY starts_at LIMIT $3";
    let mut rows = tx.rows(SQL, values![after.at.0, to.0, limit]).await?;
    rows.iter_mut().map(|row| Ok(Step { cycle: row.unsigned()?, at: Instant(row.int()?) })).collect()
}

/// The last step booked at an instant or before.
async fn last_step_at(tx: &mut Tx, at: Instant) -> Result<Step, AppError> {
    const SQL: &str = "SELECT number, starts_at FROM cycle WHERE step IS NOT NULL AND starts_at <= $1 \
        ORDER BY starts_at DESC LIMIT 1";
    let row = tx.row(SQL, values![at.0]).await?;
    row.map_or(Ok(NONE), |mut row| Ok(Step { cycle: row.unsigned()?, at: Instant(row.int()?) }))
}

/// What consecutive steps booked, the first of them the one after `done`, by the days in which they count.
async fn by_day(
    tx: &mut Tx,
    calendar: &Calendar,
    done: Step,
    steps: &[Step],
) -> Result<Vec<Booked>, AppError> {
    let Some(last) = steps.last() else { return Ok(Vec::new()) };
    let rates = Rates::load(tx, last.cycle).await?;
    let mut days: Vec<(Period, Step)> = Vec::new();
    for step in steps {
        match days.last_mut() {
            Some((day, end)) if step.at <= day.ends_at => *end = *step,
            _ => days.push((calendar.period(PeriodKind::Day, Instant(step.at.0 - 1))?, *step)),
        }
    }
    let (mut from, mut booked) = (done, Vec::new());
    for (day, to) in days {
        booked.push(Booked { day, spend: between(tx, &rates, from, to).await? });
        from = to;
    }
    Ok(booked)
}

/// What was booked after one step and up to another: charges, and the usage they are for.
async fn between(
    tx: &mut Tx,
    rates: &Rates,
    after: Step,
    to: Step,
) -> Result<BTreeMap<(TeamId, ChipTypeId), (PoolId, Spend)>, AppError> {
    const CHARGES: &str = "SELECT a.owner, e.chip_type, a.pool, e.cycle, -e.amount, e.chip_seconds \
        FROM ledger_transfer t JOIN ledger_entry e ON e.transfer = t.number \
        JOIN ledger_account a ON a.number = e.account \
        WHERE t.cycle > $1 AND t.cycle <= $2 AND t.kind = 'charge' AND e.chip_type IS NOT NULL";
    // Pieces that are gone with the retention are in the hours.
    const USAGE: &str = "SELECT u.team, u.chip_type, (SELECT MIN(v.pool) FROM team_version v WHERE v.id = u.team), \
        CAST(SUM(granted) AS BIGINT), CAST(SUM(used) AS BIGINT), CAST(SUM(free) AS BIGINT), \
        CAST(SUM(CASE WHEN granted > used THEN granted - used ELSE 0 END) AS BIGINT), \
        CAST(SUM(CASE WHEN used > granted THEN used - granted ELSE 0 END) AS BIGINT) \
        FROM (SELECT team, chip_type, granted_chip_seconds AS granted, used_chip_seconds AS used, \
        opportunistic_chip_seconds AS free FROM usage WHERE starts_at >= $1 AND starts_at < $2 UNION ALL \
        SELECT team, chip_type, granted_chip_seconds, used_chip_seconds, opportunistic_chip_seconds FROM usage_hour \
        WHERE starts_at >= $1 AND starts_at < $2 AND starts_at < (SELECT COALESCE(MIN(starts_at), $2) FROM usage)) AS u \
        GROUP BY u.team, u.chip_type";
    let mut spend: BTreeMap<(TeamId, ChipTypeId), (PoolId, Spend)> = BTreeMap::new();
    for mut row in tx.rows(USAGE, values![after.at.0, to.at.0]).await? {
        let (key, pool) = ((row.id()?, row.id()?), row.id()?);
        let of_team = Spend {
            granted: row.unsigned()?,
            used: row.unsigned()?,
            opportunistic: row.unsigned()?,
            idle: row.unsigned()?,
            over: row.unsigned()?,
            ..Spend::default()
        };
        spend.insert(key, (pool, of_team));
    }
    for mut row in tx.rows(CHARGES, values![after.cycle, to.cycle]).await? {
        let (team, chip_type, pool): (TeamId, ChipTypeId, PoolId) = (row.id()?, row.id()?, row.id()?);
        let (cycle, cost, charged) = (row.unsigned()?, row.int()?, row.unsigned()?);
        let global_cost = rates.of_charge(&pool, cycle).to_global(cost);
        let (_, of_team) = spend.entry((team, chip_type)).or_insert_with(|| (pool, Spend::default()));
        of_team.add(&Spend { charged, cost, global_cost, ..Spend::default() });
    }
    Ok(spend)
}

/// What is not rolled up yet of the time from `from` to `to`, by days.
async fn since_roll_up(
    tx: &mut Tx,
    time_zone: &str,
    from: Instant,
    to: Instant,
) -> Result<Vec<Booked>, AppError> {
    let done = rolled_up_to(tx, time_zone).await?;
    if done.at >= to {
        return Ok(Vec::new());
    }
    let before = last_step_at(tx, from).await?;
    let after = if before.at > done.at { before } else { done };
    let steps = steps_after(tx, after, to, u32::MAX).await?;
    by_day(tx, &Calendar::new(time_zone)?, after, &steps).await
}

/// A stretch of the roll-up to sum: whole days, or a whole month; taken away where it is `minus`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Stretch {
    pub(crate) from: Instant,
    pub(crate) to: Instant,
    pub(crate) is_month: bool,
    pub(crate) minus: bool,
}

/// The columns of a sum.
macro_rules! sums {
    () => {
        "CAST(SUM(granted_chip_seconds) AS BIGINT), CAST(SUM(used_chip_seconds) AS BIGINT), \
         CAST(SUM(opportunistic_chip_seconds) AS BIGINT), CAST(SUM(idle_chip_seconds) AS BIGINT), \
         CAST(SUM(over_chip_seconds) AS BIGINT), CAST(SUM(charged_chip_seconds) AS BIGINT), \
         CAST(SUM(cost) AS BIGINT), CAST(SUM(global_cost) AS BIGINT)"
    };
}

/// Sums of whole days, by team and chip type. The stretches together are the time from `from` to `to`.
///
/// # Errors
/// The database can't be read.
pub(crate) async fn totals(
    tx: &mut Tx,
    time_zone: &str,
    (from, to): (Instant, Instant),
    stretches: &[Stretch],
) -> Result<ByTeam, AppError> {
    const DAYS: &str = concat!(
        "SELECT team, chip_type, ",
        sums!(),
        " FROM spend_day WHERE starts_at >= $1 AND starts_at < $2 GROUP BY team, chip_type"
    );
    const MONTH: &str = concat!(
        "SELECT team, chip_type, granted_chip_seconds, used_chip_seconds, opportunistic_chip_seconds, ",
        "idle_chip_seconds, over_chip_seconds, charged_chip_seconds, cost, global_cost ",
        "FROM spend_month WHERE starts_at = $1 AND $2 > $1"
    );
    let mut sums = ByTeam::new();
    if rolled_up_to(tx, time_zone).await? != NONE {
        for stretch in stretches {
            let sql = if stretch.is_month { MONTH } else { DAYS };
            for mut row in tx.rows(sql, values![stretch.from.0, stretch.to.0]).await? {
                let key = (row.id()?, row.id()?);
                let spend = Spend::from_row(&mut row)?;
                let sum = sums.entry(key).or_default();
                if stretch.minus { sum.take_away(&spend) } else { sum.add(&spend) }
            }
        }
    }
    for booked in since_roll_up(tx, time_zone, from, to).await? {
        for (key, (_, spend)) in booked.spend {
            sums.entry(key).or_default().add(&spend);
        }
    }
    sums.retain(|_, spend| *spend != Spend::default());
    Ok(sums)
}

/// Each day from `from` to `to` in which something was booked, by pool and chip type.
///
/// # Errors
/// The database can't be read.
pub(crate) async fn pool_days(
    tx: &mut Tx,
    time_zone: &str,
    from: Instant,
    to: Instant,
) -> Result<BTreeMap<Instant, ByPool>, AppError> {
    const SQL: &str = concat!(
        "SELECT starts_at, pool, chip_type, ",
        sums!(),
        " FROM spend_pool_day WHERE starts_at >= $1 AND starts_at < $2 GROUP BY starts_at, pool, chip_type"
    );
    let mut days: BTreeMap<Instant, ByPool> = BTreeMap::new();
    if rolled_up_to(tx, time_zone).await? != NONE {
        for mut row in tx.rows(SQL, values![from.0, to.0]).await? {
            let (day, key) = (Instant(row.int()?), (row.id()?, row.id()?));
            days.entry(day).or_default().insert(key, Spend::from_row(&mut row)?);
        }
    }
    for booked in since_roll_up(tx, time_zone, from, to).await? {
        let day = days.entry(booked.day.starts_at).or_default();
        for ((_, chip_type), (pool, spend)) in booked.spend {
            day.entry((pool, chip_type)).or_default().add(&spend);
        }
    }
    Ok(days)
}

/// Each day from `from` to `to` in which something was booked to one of some teams, by team and chip type.
///
/// # Errors
/// The database can't be read.
pub(crate) async fn team_days(
    tx: &mut Tx,
    time_zone: &str,
    (from, to): (Instant, Instant),
    teams: &[TeamId],
) -> Result<BTreeMap<Instant, ByTeam>, AppError> {
    const SQL: &str = concat!(
        "SELECT starts_at, chip_type, ",
        sums!(),
        " FROM spend_day WHERE team = $1 AND starts_at >= $2 AND starts_at < $3 GROUP BY starts_at, chip_type"
    );
    let mut days: BTreeMap<Instant, ByTeam> = BTreeMap::new();
    if rolled_up_to(tx, time_zone).await? != NONE {
        for team in teams {
            for mut row in tx.rows(SQL, values![team.as_str(), from.0, to.0]).await? {
                let (day, chip_type) = (Instant(row.int()?), row.id()?);
                let spend = Spend::from_row(&mut row)?;
                days.entry(day).or_default().insert((team.clone(), chip_type), spend);
            }
        }
    }
    for booked in since_roll_up(tx, time_zone, from, to).await? {
        let day = days.entry(booked.day.starts_at).or_default();
        for ((team, chip_type), (_, spend)) in booked.spend {
            if teams.contains(&team) {
                day.entry((team, chip_type)).or_default().add(&spend);
            }
        }
    }
    Ok(days)
}
