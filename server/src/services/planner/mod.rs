//! Plans of training jobs: from the losses that a job reports to the chip-hours that it still needs, and from there to bids
//! for the cheapest hours before its deadline.
//!
//! A plan is its team's: as private as its bids, changed by members. Losses, versions and placements are only added. Each
//! change and each report stores a version and what it says; a look works the forecast out anew, since time and prices move.

mod checks;
mod forecast;
mod hours;
mod parse;
mod place;
mod prices;
mod report;
mod sums;
mod view;
mod words;

use std::sync::{Arc, LazyLock};

use ::planner::forecast::{ForecastError, Predictor};
use common::api::{
    ChangedPlan, NewPlan, PlanForecast, PlanLoss, PlanLosses, PlanTerms, PlanView, PlansView, TeamName,
};
use common::ids::{PlanId, TeamId};
use common::instant::Instant;
use common::money::MICROS_PER_CREDIT;
use serde::Serialize;
use sha2::{Digest, Sha256};

use self::forecast::Inputs;
pub(crate) use self::parse::MAX_BYTES;
use super::Services;
use super::audit::{Deed, Doer, Origin, record};
use super::checks::Checks;
use super::queue::funds;
use super::read::latest::Latest;
use crate::error::AppError;
use crate::policy::{Action, Object, Viewer};
use crate::store::Tx;
use crate::store::history::{price_steps, step_start};
use crate::store::planner::{self as stored, PlanVersion, StoredPlan, Writer};

/// Plans in a list.
const LISTED: u32 = 200;

/// Days of prices that a forecast is made from.
const PRICE_DAYS: i64 = 28;

/// Plans of a team that may be open at once.
const MOST_OPEN: usize = 100;

/// The best predictor there is, loaded once.
static PREDICTOR: LazyLock<Result<Arc<dyn Predictor>, ForecastError>> =
    LazyLock::new(|| ::planner::predict::shipped().map(Arc::from));

fn predictor() -> Result<Arc<dyn Predictor>, AppError> {
    PREDICTOR.clone().map_err(AppError::internal)
}

/// What is wrong with a log, for a form that has other faults as well.
pub(crate) fn check_log(log: &str, per_step: Option<f64>) -> Result<(), String> {
    parse::read(log, &[], parse::Context { per_step, known: &[] }).map(drop)
}

/// The hash by which a repeated request is told from another one with the same id.
fn request_sha256(request: &impl Serialize) -> Result<[u8; 32], AppError> {
    Ok(Sha256::digest(serde_json::to_vec(request).map_err(AppError::internal)?).into())
}

impl Services {
    /// A team's plans with their newest stored forecasts. A look at another team's is noted in the audit log.
    ///
    /// # Errors
    /// `NotFound`: there is no such team, or the viewer may not read its bids. `Unavailable`: the database does not answer.
    pub async fn plans(
        &self,
        viewer: &Viewer,
        origin: &Origin,
        team: &TeamId,
    ) -> Result<PlansView, AppError> {
        let latest = self.latest().await?;
        let team = Self::team_for(&latest, viewer, Action::ReadBids, team)?;
        self.note_team_look(viewer, origin, &team.id, || Deed::new("plans.read", "team", &team.id)).await?;
        let plans = stored::of_team(&mut self.store.read().await?, &team.id, LISTED).await?;
        let may_change = viewer.can(Action::ChangeBids, Object::Team { team: &team.id, pool: &team.pool });
        Ok(PlansView { may_change, plans: plans.into_iter().map(view::summary).collect(), team })
    }

    /// Makes a plan from the losses so far. The same request again changes nothing and answers the same.
    ///
    /// # Errors
    /// `NotFound`, `Forbidden`: not for the viewer. `Invalid`: a field is wrong, or the log is none; the log's fault names
    /// its lines. `Conflict`: the id is taken by another plan, or too many of the team are open.
    pub async fn make_plan(
        &self,
        viewer: &Viewer,
        origin: &Origin,
        team: &TeamId,
        new: NewPlan,
    ) -> Result<PlanView, AppError> {
        let latest = self.latest().await?;
        let team = Self::team_for(&latest, viewer, Action::ChangeBids, team)?;
        let request = request_sha256(&(&team.id, &new))?;
        let before = stored::request_sha256(&mut self.store.read().await?, &new.id).await?;
        if is_repeated(&new.id, before, request)? {
            return self.plan(viewer, origin, &team.id, &new.id).await;
        }
        let NewPlan { id, mut terms, log, losses } = new;
        let now = self.now();
        terms.name = terms.name.trim().to_owned();
        let mut found = Checks::default();
        checks::terms(&mut found, &latest, &team, now, &terms);
        let context = parse::Context { per_step: terms.chip_hours_per_step, known: &[] };
        let losses = match parse::read(&log, &losses, context) {
            Ok(losses) => losses,
            Err(what) => {
                found.refuse("log", what);
                Vec::new()
            }
        };
        checks::target(&mut found, &losses, &terms);
        found.finish()?;
        let forecast = self.foresee(&latest, &team, &terms, losses.clone()).await?;
        let by = Writer { user: viewer.user.clone(), name: viewer.name.clone(), now };
        let mut tx = self.store.write().await?;
        if !is_repeated(&id, stored::request_sha256(&mut tx, &id).await?, request)? {
            let open = stored::of_team(&mut tx, &team.id, LISTED).await?;
            if open.iter().filter(|plan| !plan.newest.closed).count() >= MOST_OPEN {
                return Err(AppError::conflict(format!(
                    "{MOST_OPEN} plans of the team are open already; close those that are over"
                )));
            }
            let number = stored::insert(&mut tx, &by, &id, &team.id, request).await?;
            stored::insert_report(&mut tx, &by, number, (id.as_str(), request), &losses).await?;
            stored::insert_version(&mut tx, &by, number, 1, (&terms, false, &forecast)).await?;
            let doer = Doer { viewer, origin, reason: "planned a training job" };
            record(&mut tx, now, doer, Deed::new("plan.made", "plan", &id).after(&terms)?).await?;
            tx.commit().await?;
        }
        self.plan(viewer, origin, &team.id, &id).await
    }

    /// One plan, worked out anew. A look at another team's is noted in the audit log.
    ///
    /// # Errors
    /// `NotFound`: there is no such plan of the team, or not for the viewer. `Unavailable`: the database does not answer.
    pub async fn plan(
        &self,
        viewer: &Viewer,
        origin: &Origin,
        team: &TeamId,
        id: &PlanId,
    ) -> Result<PlanView, AppError> {
        let latest = self.latest().await?;
        let team = Self::team_for(&latest, viewer, Action::ReadBids, team)?;
        self.note_team_look(viewer, origin, &team.id, || Deed::new("plan.read", "plan", id)).await?;
        let mut tx = self.store.read().await?;
        let plan = plan_of(&mut tx, &team.id, id).await?;
        let losses = stored::losses(&mut tx, plan.number).await?;
        let steps = stored::versions(&mut tx, plan.number, view::STEPS).await?;
        let bids = self.bids_of_plan(&mut tx, plan.number).await?;
        drop(tx);
        let forecast = if plan.newest.closed {
            plan.forecast.clone()
        } else {
            self.foresee(&latest, &team, &plan.newest.terms, losses.clone()).await?
        };
        let may_change = viewer.can(Action::ChangeBids, Object::Team { team: &team.id, pool: &team.pool });
        Ok(view::view(team, plan, &losses, forecast, &steps, bids, may_change))
    }

    /// All losses of a plan.
    ///
    /// # Errors
    /// As [`Services::plan`].
    pub async fn plan_losses(
        &self,
        viewer: &Viewer,
        origin: &Origin,
        team: &TeamId,
        id: &PlanId,
    ) -> Result<PlanLosses, AppError> {
        let latest = self.latest().await?;
        let team = Self::team_for(&latest, viewer, Action::ReadBids, team)?;
        self.note_team_look(viewer, origin, &team.id, || Deed::new("plan.read", "plan", id)).await?;
        let mut tx = self.store.read().await?;
        let plan = plan_of(&mut tx, &team.id, id).await?;
        Ok(PlanLosses { id: plan.id, losses: stored::losses(&mut tx, plan.number).await? })
    }

    /// Changes what a plan is for, closes it or opens it again. What it says already is left as it is.
    ///
    /// # Errors
    /// `NotFound`, `Forbidden`: not for the viewer. `PreconditionFailed`: it has another version than the one that the
    /// change was made from. `Invalid`: a field is wrong.
    pub async fn change_plan(
        &self,
        viewer: &Viewer,
        origin: &Origin,
        (team, id): (&TeamId, &PlanId),
        change: ChangedPlan,
    ) -> Result<PlanView, AppError> {
        let latest = self.latest().await?;
        let team = Self::team_for(&latest, viewer, Action::ChangeBids, team)?;
        let ChangedPlan { version, mut terms, closed } = change;
        terms.name = terms.name.trim().to_owned();
        let (plan, losses) = self.plan_and_losses(&team.id, id).await?;
        let PlanVersion { terms: before, closed: was_closed, .. } = &plan.newest;
        if (before, *was_closed) == (&terms, closed) {
            return self.plan(viewer, origin, &team.id, id).await;
        }
        checks::version(&plan, version)?;
        let now = self.now();
        if *before != terms {
            let mut found = Checks::default();
            checks::terms(&mut found, &latest, &team, now, &terms);
            found.finish()?;
        }
        let forecast = self.foresee(&latest, &team, &terms, losses).await?;
        let by = Writer { user: viewer.user.clone(), name: viewer.name.clone(), now };
        let mut tx = self.store.write().await?;
        checks::version(&plan_of(&mut tx, &team.id, id).await?, version)?;
        stored::insert_version(&mut tx, &by, plan.number, version + 1, (&terms, closed, &forecast)).await?;
        let doer = Doer { viewer, origin, reason: "changed a plan" };
        let deed =
            Deed::new("plan.changed", "plan", id).before(&(before, was_closed))?.after(&(&terms, closed))?;
        record(&mut tx, now, doer, deed).await?;
        tx.commit().await?;
        self.plan(viewer, origin, &team.id, id).await
    }

    async fn plan_and_losses(
        &self,
        team: &TeamId,
        id: &PlanId,
    ) -> Result<(StoredPlan, Vec<PlanLoss>), AppError> {
        let mut tx = self.store.read().await?;
        let plan = plan_of(&mut tx, team, id).await?;
        let losses = stored::losses(&mut tx, plan.number).await?;
        Ok((plan, losses))
    }

    /// What a plan says at this moment.
    async fn foresee(
        &self,
        latest: &Arc<Latest>,
        team: &TeamName,
        terms: &PlanTerms,
        losses: Vec<PlanLoss>,
    ) -> Result<PlanForecast, AppError> {
        let now = self.now();
        let prices = hourly_prices(&mut self.store.read().await?, team, terms, now).await?;
        let money = funds(latest, &team.id, None);
        let inputs = Inputs {
            now,
            terms: terms.clone(),
            losses,
            prices,
            balance: money.balance,
            income_per_hour: money.income_per_hour,
            cap_per_hour: money.cap_per_hour,
        };
        let predictor = predictor()?;
        let made = tokio::task::spawn_blocking(move || forecast::forecast(&*predictor, &inputs)).await;
        made.map_err(AppError::internal)?
    }
}

/// Whether a request for a new plan is the one that made it.
fn is_repeated(id: &PlanId, before: Option<[u8; 32]>, request: [u8; 32]) -> Result<bool, AppError> {
    match before {
        None => Ok(false),
        Some(before) if before == request => Ok(true),
        Some(_) => Err(AppError::conflict(format!(
            "the id {id} is taken by another plan; make a new id for a new plan"
        ))),
    }
}

/// The plan of a team that has an id. Another team's is not told from none.
async fn plan_of(tx: &mut Tx, team: &TeamId, id: &PlanId) -> Result<StoredPlan, AppError> {
    let plan = stored::by_id(tx, id).await?.filter(|plan| plan.team == *team);
    plan.ok_or_else(|| AppError::not_found("plan", id))
}

/// What the team's pool paid in each hour up to the one that has begun, in credits per chip-hour, oldest first.
async fn hourly_prices(
    tx: &mut Tx,
    team: &TeamName,
    terms: &PlanTerms,
    now: Instant,
) -> Result<Vec<Option<f64>>, AppError> {
    let first = step_start(now, hours::HOUR).plus_seconds(-PRICE_DAYS * 24 * hours::HOUR);
    let step = u32::try_from(hours::HOUR).map_err(AppError::internal)?;
    let steps = price_steps(tx, &terms.chip_type, Some(&team.pool), first, now, step).await?;
    let mut steps = steps.into_iter().peekable();
    let mut prices = Vec::new();
    let mut at = first;
    while at < now {
        let step = steps.next_if(|step| step.starts_at <= at);
        let price = step.and_then(|step| step.local_price());
        prices.push(price.map(|price| price.0 as f64 / MICROS_PER_CREDIT as f64));
        at = at.plus_seconds(hours::HOUR);
    }
    Ok(prices)
}
