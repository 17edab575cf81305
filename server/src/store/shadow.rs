//! Policies in shadow: which run, and what each would have given.

use common::ids::TeamId;
use common::instant::Instant;
use serde::{Deserialize, Serialize};

use super::db::{Row, Tx, values};
use crate::error::AppError;

/// A team in one step, all chip types together.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ShadowTeam {
    /// The team.
    pub team: TeamId,
    /// Chips it asked for at any price.
    pub asked: u64,
    /// Chips that the market granted.
    pub granted: u64,
    /// Chips that the policy would have given.
    pub given: u64,
}

/// What a policy would have given in one cycle.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ShadowStep {
    /// The policy.
    pub policy: String,
    /// The cycle.
    pub cycle: u64,
    /// When the cycle began.
    pub at: Instant,
    /// The teams that asked for chips.
    pub teams: Vec<ShadowTeam>,
}

/// The policies that run in shadow, in order of their names.
///
/// # Errors
/// The database can't be read.
pub async fn chosen(tx: &mut Tx) -> Result<Vec<String>, AppError> {
    let rows = tx.rows("SELECT policy FROM shadow_policy ORDER BY policy", []).await?;
    rows.into_iter().map(|mut row| row.text()).collect()
}

/// Lets exactly these policies run in shadow.
///
/// # Errors
/// The database can't be written.
pub async fn choose(tx: &mut Tx, policies: &[String], by: &str, now: Instant) -> Result<(), AppError> {
    tx.execute("DELETE FROM shadow_policy", []).await?;
    let rows = policies.iter().map(|policy| values![policy.as_str(), now.0, by]).collect();
    tx.insert("INSERT INTO shadow_policy (policy, chosen_at, chosen_by)", rows).await
}

/// Adds steps; one that is there stays as it is.
///
/// # Errors
/// The database can't be written.
pub async fn insert(tx: &mut Tx, steps: &[ShadowStep]) -> Result<(), AppError> {
    let mut rows = Vec::with_capacity(steps.len());
    for step in steps {
        let teams = serde_json::to_string(&step.teams).map_err(AppError::internal)?;
        rows.push(values![&*step.policy, step.cycle, step.at.0, teams]);
    }
    tx.insert_or("INSERT INTO shadow_step (policy, cycle, at, teams)", " ON CONFLICT DO NOTHING", rows).await
}

/// Removes steps before an instant.
///
/// # Errors
/// The database can't be written.
pub async fn remove_before(tx: &mut Tx, before: Instant) -> Result<(), AppError> {
    tx.execute("DELETE FROM shadow_step WHERE at < $1", values![before.0]).await.map(drop)
}

/// All steps since an instant, in order of policy and cycle.
///
/// # Errors
/// The database can't be read.
pub async fn steps_since(tx: &mut Tx, since: Instant) -> Result<Vec<ShadowStep>, AppError> {
    const SQL: &str =
        "SELECT policy, cycle, at, teams FROM shadow_step WHERE at >= $1 ORDER BY policy, cycle";
    let step = |mut row: Row| -> Result<ShadowStep, AppError> {
        Ok(ShadowStep {
            policy: row.text()?,
            cycle: row.unsigned()?,
            at: Instant(row.int()?),
            teams: serde_json::from_str(&row.text()?).map_err(AppError::internal)?,
        })
    };
    tx.rows(SQL, values![since.0]).await?.into_iter().map(step).collect()
}
