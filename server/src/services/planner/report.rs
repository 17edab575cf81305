//! Losses that a training job reports while it runs: the plan follows.

use common::api::{PlanReported, PostedLosses};
use common::ids::{PlanId, TeamId};

use super::super::Services;
use super::super::checks::Checks;
use super::{parse, plan_of, request_sha256};
use crate::error::AppError;
use crate::policy::{Action, Object, Viewer};
use crate::store::planner::{self as stored, StoredPlan, Writer};

/// How often a report is tried again when another one was faster.
const TRIES: usize = 5;

/// Longest id of a report.
const MAX_ID: usize = 64;

impl Services {
    /// Takes losses that a job reports, and works the plan out anew. The same report again changes nothing and
    /// answers how the plan stands; losses that are known already are left out.
    ///
    /// # Errors
    /// `NotFound`, `Forbidden`: not for the viewer. `Invalid`: the log is none, with its lines. `Conflict`: the plan is
    /// closed, the id is taken by another report, or others report at the same time.
    pub async fn report_losses(
        &self,
        viewer: &Viewer,
        (team, id): (&TeamId, &PlanId),
        posted: PostedLosses,
    ) -> Result<PlanReported, AppError> {
        let latest = self.latest().await?;
        let pool = latest.team(team).map(|team| team.pool.clone());
        let pool = pool.or_else(|| viewer.teams.get(team).map(|membership| membership.pool.clone()));
        let pool = pool.ok_or_else(|| AppError::not_found("team", team))?;
        let object = Object::Team { team, pool: &pool };
        if !viewer.teams.contains_key(team) && !viewer.can(Action::ReadBids, object) {
            return Err(AppError::not_found("team", team));
        }
        viewer.may(Action::ReportLosses, object)?;
        let name = latest.team_name(team);
        let team = common::api::TeamName { id: team.clone(), name, pool };
        check_id(&posted.id)?;
        let request = request_sha256(&posted)?;
        for _ in 0..TRIES {
            let mut tx = self.store.read().await?;
            let plan = plan_of(&mut tx, &team.id, id).await?;
            if is_repeated(
                &posted.id,
                stored::report_sha256(&mut tx, plan.number, &posted.id).await?,
                request,
            )? {
                return Ok(reported(&plan, 0));
            }
            if plan.newest.closed {
                return Err(AppError::conflict(
                    "the plan is closed and takes no losses; open it again first",
                ));
            }
            let mut losses = stored::losses(&mut tx, plan.number).await?;
            drop(tx);
            let context = parse::Context { per_step: plan.newest.terms.chip_hours_per_step, known: &losses };
            let new = parse::read(&posted.log, &posted.losses, context)
                .map_err(|what| AppError::invalid("log", what))?;
            losses.extend_from_slice(&new);
            let terms = plan.newest.terms.clone();
            let forecast = self.foresee(&latest, &team, &terms, losses).await?;
            let by = Writer { user: viewer.user.clone(), name: viewer.name.clone(), now: self.now() };
            let mut tx = self.store.write().await?;
            if plan_of(&mut tx, &team.id, id).await?.newest.version != plan.newest.version {
                continue;
            }
            stored::insert_report(&mut tx, &by, plan.number, (&posted.id, request), &new).await?;
            if !new.is_empty() {
                let version = plan.newest.version + 1;
                stored::insert_version(&mut tx, &by, plan.number, version, (&terms, false, &forecast))
                    .await?;
            }
            let plan = plan_of(&mut tx, &team.id, id).await?;
            tx.commit().await?;
            return Ok(reported(&plan, new.len() as u64));
        }
        Err(AppError::conflict("others report to this plan at the same time; send the same report again"))
    }
}

fn check_id(id: &str) -> Result<(), AppError> {
    let mut checks = Checks::default();
    if id.is_empty()
        || id.len() > MAX_ID
        || !id.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"-_.:".contains(&byte))
    {
        checks.refuse(
            "id",
            "names the report: 1 to 64 letters, digits and - _ . :, another one for each report",
        );
    }
    checks.finish()
}

fn is_repeated(id: &str, before: Option<[u8; 32]>, request: [u8; 32]) -> Result<bool, AppError> {
    match before {
        None => Ok(false),
        Some(before) if before == request => Ok(true),
        Some(_) => Err(AppError::conflict(format!(
            "the id {id} is taken by another report; make a new id for a new report"
        ))),
    }
}

fn reported(plan: &StoredPlan, new: u64) -> PlanReported {
    let forecast = &plan.forecast;
    PlanReported {
        version: plan.newest.version,
        new,
        losses: forecast.losses,
        verdict: forecast.verdict,
        verdict_words: forecast.verdict_words.clone(),
        remaining: forecast.remaining,
        chance_with_bids: forecast.chance_with_bids,
    }
}
