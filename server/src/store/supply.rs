//! Planned changes of supply, windows of maintenance, and how supply went.

use std::collections::BTreeMap;

use common::api::{PlanState, PlannedChange, SupplyEdit, SupplyLevel};
use common::chips::Chips;
use common::ids::{ChipTypeId, PoolId, UserId};
use common::instant::Instant;

use super::db::{Row, Tx, values};
use crate::error::AppError;

/// A change or a window to plan.
#[derive(Clone, Debug)]
pub(crate) struct NewPlan<'a> {
    /// Made by the client.
    pub(crate) id: &'a str,
    /// What it sets, or which chips are down.
    pub(crate) edit: &'a SupplyEdit,
    /// When it takes effect.
    pub(crate) from: Instant,
    /// Of maintenance: when its chips are back.
    pub(crate) to: Option<Instant>,
    /// Who plans it.
    pub(crate) user: &'a UserId,
    /// The account's display name.
    pub(crate) user_name: &'a str,
    /// Why.
    pub(crate) reason: &'a str,
}

/// Chips of a type in one hand: those of a pool, or without one the shared ones.
pub(crate) type Hand = (ChipTypeId, Option<PoolId>);

macro_rules! plan_columns {
    () => {
        "number, edit, starts_at, ends_at, begun_cycle, taken, outcome, note, user_name, reason"
    };
}

fn plan_from_row(row: &mut Row) -> Result<PlannedChange, AppError> {
    let (number, edit) = (row.unsigned()?, row.text()?);
    let (from, to) = (Instant(row.int()?), row.optional_int()?.map(Instant));
    let (cycle, taken) = (row.optional_unsigned()?, row.optional_unsigned()?.map(Chips));
    let state = match row.optional_text()?.as_deref() {
        Some("done") => PlanState::Done,
        Some("cancelled") => PlanState::Cancelled,
        Some(_) => PlanState::Refused,
        None if cycle.is_some() => PlanState::Running,
        None => PlanState::Waiting,
    };
    Ok(PlannedChange {
        number,
        edit: serde_json::from_str(&edit).map_err(AppError::internal)?,
        from,
        to,
        state,
        cycle,
        taken,
        note: row.optional_text()?,
        by: row.text()?,
        reason: row.text()?,
    })
}

/// Adds a plan; the answer is its number, which is safe to choose here because there is one writer.
pub(crate) async fn insert_plan(tx: &mut Tx, now: Instant, plan: &NewPlan<'_>) -> Result<u64, AppError> {
    const SQL: &str = "INSERT INTO supply_plan (id, kind, edit, starts_at, ends_at, user_id, user_name, reason, written_at, \
        number) SELECT $1, $2, $3, $4, $5, $6, $7, $8, $9, COALESCE(MAX(number), 0) + 1 FROM supply_plan RETURNING number";
    let kind = if plan.to.is_some() { "maintenance" } else { "change" };
    let edit = serde_json::to_string(plan.edit).map_err(AppError::internal)?;
    let values = values![
        plan.id,
        kind,
        edit,
        plan.from.0,
        plan.to.map(|to| to.0),
        plan.user.as_str(),
        plan.user_name,
        plan.reason,
        now.0
    ];
    let row = tx.row(SQL, values).await?;
    row.ok_or_else(|| AppError::internal("an inserted plan has no number"))?.unsigned()
}

/// The plan that a client gave this id.
pub(crate) async fn plan_by_id(tx: &mut Tx, id: &str) -> Result<Option<PlannedChange>, AppError> {
    const SQL: &str = concat!("SELECT ", plan_columns!(), " FROM supply_plan WHERE id = $1");
    tx.row(SQL, values![id]).await?.as_mut().map(plan_from_row).transpose()
}

/// A plan by its number.
pub(crate) async fn plan(tx: &mut Tx, number: u64) -> Result<Option<PlannedChange>, AppError> {
    const SQL: &str = concat!("SELECT ", plan_columns!(), " FROM supply_plan WHERE number = $1");
    tx.row(SQL, values![number]).await?.as_mut().map(plan_from_row).transpose()
}

/// Plans that wait or run, in the order in which they are due.
pub(crate) async fn open_plans(tx: &mut Tx) -> Result<Vec<PlannedChange>, AppError> {
    const SQL: &str = concat!(
        "SELECT ",
        plan_columns!(),
        " FROM supply_plan WHERE outcome IS NULL ORDER BY starts_at, number"
    );
    tx.rows(SQL, []).await?.iter_mut().map(plan_from_row).collect()
}

/// Plans that something is to be done about in a cycle that begins at `at`, in the order in which they are due.
pub(crate) async fn due_plans(tx: &mut Tx, at: Instant) -> Result<Vec<PlannedChange>, AppError> {
    const SQL: &str = concat!(
        "SELECT ",
        plan_columns!(),
        " FROM supply_plan WHERE outcome IS NULL AND starts_at <= $1 AND (begun_cycle IS NULL OR ends_at <= $1) ",
        "ORDER BY CASE WHEN begun_cycle IS NULL THEN starts_at ELSE ends_at END, number"
    );
    tx.rows(SQL, values![at.0]).await?.iter_mut().map(plan_from_row).collect()
}

/// The last plans that are over, at most `limit`, the last ended first.
pub(crate) async fn ended_plans(tx: &mut Tx, limit: u32) -> Result<Vec<PlannedChange>, AppError> {
    const SQL: &str = concat!(
        "SELECT ",
        plan_columns!(),
        " FROM supply_plan WHERE outcome IS NOT NULL ORDER BY ended_at DESC, number DESC LIMIT $1"
    );
    tx.rows(SQL, values![limit]).await?.iter_mut().map(plan_from_row).collect()
}

/// Notes that a plan took effect with a cycle, and which chips maintenance took.
pub(crate) async fn begin_plan(
    tx: &mut Tx,
    number: u64,
    cycle: u64,
    taken: Option<Chips>,
) -> Result<(), AppError> {
    const SQL: &str = "UPDATE supply_plan SET begun_cycle = $2, taken = $3 WHERE number = $1";
    tx.execute(SQL, values![number, cycle, taken.map(|chips| chips.0)]).await.map(drop)
}

/// Notes how a plan ended.
pub(crate) async fn end_plan(
    tx: &mut Tx,
    number: u64,
    at: Instant,
    outcome: PlanState,
    note: Option<&str>,
) -> Result<(), AppError> {
    const SQL: &str = "UPDATE supply_plan SET outcome = $2, note = $3, ended_at = $4 WHERE number = $1";
    let outcome = match outcome {
        PlanState::Cancelled => "cancelled",
        PlanState::Refused => "refused",
        PlanState::Done | PlanState::Waiting | PlanState::Running => "done",
    };
    tx.execute(SQL, values![number, outcome, note, at.0]).await.map(drop)
}

/// Chips that are down for maintenance now.
pub(crate) async fn down(tx: &mut Tx) -> Result<BTreeMap<Hand, Chips>, AppError> {
    let mut down: BTreeMap<Hand, Chips> = BTreeMap::new();
    for plan in open_plans(tx).await?.into_iter().filter(|plan| plan.state == PlanState::Running) {
        if let SupplyEdit::Chips { chip_type, pool, .. } = plan.edit {
            down.entry((chip_type, pool)).or_default().0 += plan.taken.unwrap_or_default().0;
        }
    }
    Ok(down)
}

/// How the shared and owned chips of a type went, oldest first.
pub(crate) async fn levels(tx: &mut Tx, chip_type: &ChipTypeId) -> Result<Vec<SupplyLevel>, AppError> {
    const SQL: &str = "SELECT c.number, c.starts_at, v.pool, v.chips FROM (SELECT effective_cycle AS cycle, version, \
        CAST(NULL AS TEXT) AS pool, shared AS chips FROM chip_type_version WHERE id = $1 \
        AND (superseded_cycle IS NULL OR superseded_cycle > effective_cycle) \
        UNION ALL SELECT effective_cycle, version, pool, chips FROM owned_supply_version WHERE chip_type = $1 \
        AND (superseded_cycle IS NULL OR superseded_cycle > effective_cycle)) AS v \
        JOIN cycle c ON c.number = v.cycle ORDER BY c.number, v.pool, v.version";
    let mut now: BTreeMap<Option<PoolId>, Chips> = BTreeMap::new();
    let mut levels = Vec::new();
    for mut row in tx.rows(SQL, values![chip_type.as_str()]).await? {
        let (cycle, at) = (row.unsigned()?, Instant(row.int()?));
        let (pool, after) = (row.optional_id::<PoolId>()?, Chips(row.unsigned()?));
        let before = now.insert(pool.clone(), after).unwrap_or_default();
        if before != after {
            levels.push(SupplyLevel { cycle, at, pool, before, after });
        }
    }
    Ok(levels)
}
