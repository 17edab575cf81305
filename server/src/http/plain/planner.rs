//! The planner's pages: a team's plans, a plan opened, and the forms that make, feed, place and change one.

use app::format::thousands;
use app::plain::form::FormState;
use app::plain::planner::{PlanPage, PlannerPage, plan as plan_view, planner as planner_view};
use axum::Router;
use axum::extract::{DefaultBodyLimit, FromRequestParts};
use axum::http::request::Parts;
use axum::response::Response;
use axum::routing::{get, post};
use common::api::{
    ChangedPlan, NewPlan, PlaceBidsOfPlan, PlanBidsPlaced, PlanTerms, PlanView, PlansView, PostedLosses,
    SeenBids,
};
use common::chips::Chips;
use common::ids::{ChipTypeId, PlanId, TeamId};
use common::instant::Instant;
use serde::Deserialize;

use super::fields::{Fields, typed};
use super::{AppState, Plain, Posted};
use crate::error::AppError;
use crate::http::extract::{Query, Segments};
use crate::policy::{Action, Object, Viewer};
use crate::services::Services;
use crate::services::audit::Origin;
use crate::services::planner::{MAX_BYTES, check_log};

/// What a form may hold: a file, its text after a refusal, and the other fields.
const FORM_BYTES: usize = 2 * MAX_BYTES + (64 << 10);

/// The routes.
pub(super) fn routes() -> Router<AppState> {
    Router::new()
        .route("/planner", get(page).post(make).layer(DefaultBodyLimit::max(FORM_BYTES)))
        .route("/planner/{team}/{plan}", get(plan_page))
        .route("/planner/{team}/{plan}/losses", post(report).layer(DefaultBodyLimit::max(FORM_BYTES)))
        .route("/planner/{team}/{plan}/bids", post(place))
        .route("/planner/{team}/{plan}/change", post(change))
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct PlannerQuery {
    team: Option<TeamId>,
}

async fn page(
    plain: Plain,
    viewer: Viewer,
    origin: Origin,
    query: Result<Query<PlannerQuery>, AppError>,
) -> Response {
    let read = async {
        let Query(PlannerQuery { team }) = query?;
        first_page(plain.state(), &viewer, &origin, team, None).await
    };
    match read.await {
        Ok(page) => plain.ok("Planner", || planner_view(&page)),
        Err(error) => plain.problem(&error),
    }
}

/// The first page, of a team or of the viewer's first one.
async fn first_page(
    state: &AppState,
    viewer: &Viewer,
    origin: &Origin,
    team: Option<TeamId>,
    form: Option<FormState>,
) -> Result<PlannerPage, AppError> {
    let services = state.services();
    let (setup, _) = services.setup(viewer).await?;
    let is_readable = |team: &crate::store::entities::Team| {
        viewer.can(Action::ReadBids, Object::Team { team: &team.id, pool: &team.pool })
    };
    let readable = setup.teams.iter().filter(|team| is_readable(team) && !team.archived);
    let teams: Vec<(TeamId, String)> = readable.map(|team| (team.id.clone(), team.name.clone())).collect();
    // Another team's plans are opened by name only, since the look is noted.
    let team = team.or_else(|| viewer.teams.keys().next().cloned());
    let plans = match &team {
        Some(team) => Some(services.plans(viewer, origin, team).await?),
        None => None,
    };
    let may = |action| viewer.can(action, Object::Organisation);
    let spend = if may(Action::ReadMoney) { Some(services.planned_spend(viewer).await?) } else { None };
    let demand = if may(Action::ReadSupply) { Some(services.planned_demand(viewer).await?) } else { None };
    let form = form.unwrap_or_else(|| new_form(state, plans.as_ref()));
    Ok(PlannerPage { teams, plans, chip_types: chip_types(&setup), form, spend, demand })
}

/// Chip types that take bids.
fn chip_types(setup: &crate::store::entities::Setup) -> Vec<(String, String)> {
    let open = setup.chip_types.iter().filter(|chip_type| !chip_type.retired);
    open.map(|chip_type| (chip_type.id.to_string(), chip_type.name.clone())).collect()
}

/// The form of a new plan: with an id of its own, and the chip type of the plan before it.
fn new_form(state: &AppState, plans: Option<&PlansView>) -> FormState {
    let before = plans.and_then(|plans| plans.plans.first());
    let chip_type = before.map(|plan| plan.terms.chip_type.to_string()).unwrap_or_default();
    FormState::filled(&[("id", &new_id(state)), ("terms.chip_type", &chip_type)])
}

fn new_id(state: &AppState) -> String {
    state.new_request_id()
}

/// What was posted, with the text of a chosen file in the place of the pasted one: so it is kept when it is refused.
fn with_file(posted: Posted) -> Posted {
    let mut fields = posted.into_fields();
    let file = fields.iter().position(|(name, _)| name == "file").map(|at| fields.remove(at).1);
    if let Some(text) = file.filter(|text| !text.trim().is_empty()) {
        fields.retain(|(name, _)| name != "log");
        fields.push(("log".to_owned(), text));
    }
    Posted(fields)
}

/// The terms of a plan from a form.
fn terms(fields: &mut Fields<'_>) -> Option<PlanTerms> {
    let number = |fields: &mut Fields<'_>, name: &str| -> Option<f64> {
        let text = fields.text(name);
        let number = text.parse::<f64>().ok().filter(|number| number.is_finite());
        if number.is_none() {
            fields.refuse(
                name,
                format!("is {}; it must be a number, with a point before decimals", typed(text)),
            );
        }
        number
    };
    let name = fields.text("terms.name").to_owned();
    let chip_type = fields.value::<ChipTypeId>("terms.chip_type");
    let most = fields.number("terms.most_chips", 1, u32::MAX);
    let least = match fields.text("terms.least_chips") {
        "" => Some(1),
        _ => fields.number("terms.least_chips", 1, u32::MAX),
    };
    let target_loss = number(fields, "terms.target_loss");
    let per_step = match fields.text("terms.chip_hours_per_step") {
        "" => Some(None),
        _ => number(fields, "terms.chip_hours_per_step").map(Some),
    };
    let deadline = fields.instant("terms.deadline");
    Some(PlanTerms {
        name,
        chip_type: chip_type?,
        most_chips: Chips(most?.into()),
        least_chips: Chips(least?.into()),
        target_loss: target_loss?,
        deadline: deadline?,
        chip_hours_per_step: per_step?,
    })
}

/// An instant as a browser's field takes it.
fn local(at: Instant) -> String {
    at.to_string().get(..16).unwrap_or_default().to_owned()
}

async fn make(plain: Plain, viewer: Viewer, origin: Origin, posted: Posted) -> Response {
    let posted = with_file(posted);
    let team = posted.get("team").parse::<TeamId>();
    let made = async {
        let team = team.clone().map_err(|_| AppError::not_found("team", posted.get("team")))?;
        // Whoever may not make plans is told so before anything that was typed is looked at.
        plain.state().services().plans(&viewer, &origin, &team).await?;
        let mut fields = Fields::new(posted.fields());
        let (id, terms) = (fields.value::<PlanId>("id"), terms(&mut fields));
        let per_step = fields.text("terms.chip_hours_per_step").parse().ok();
        if let Err(what) = check_log(posted.get("log"), per_step) {
            fields.refuse("log", what);
        }
        fields.finish()?;
        let (Some(id), Some(terms)) = (id, terms) else {
            return Err(AppError::internal("a form without faults has no terms"));
        };
        let new = NewPlan { id, terms, log: posted.get("log").to_owned(), losses: Vec::new() };
        plain.state().services().make_plan(&viewer, &origin, &team, new).await
    };
    match made.await {
        Ok(view) => plain
            .done(&address(&view), "The plan is made. Nothing is bid yet: look at it, then place the bids."),
        Err(error) => {
            let form = posted.refused(&error);
            match first_page(plain.state(), &viewer, &origin, team.ok(), Some(form)).await {
                Ok(page) => plain.refused(&error, "Planner", || planner_view(&page)),
                Err(error) => plain.problem(&error),
            }
        }
    }
}

fn address(view: &PlanView) -> String {
    format!("/planner/{}/{}", view.team.id, view.id)
}

/// The forms of a plan's page, where one was sent and refused.
#[derive(Default)]
struct Forms {
    place: Option<FormState>,
    report: Option<FormState>,
    change: Option<FormState>,
}

/// The terms of a plan as its form shows them.
fn change_form(view: &PlanView) -> FormState {
    let terms = &view.terms;
    let per_step = terms.chip_hours_per_step.map(|each| each.to_string()).unwrap_or_default();
    FormState::filled(&[
        ("terms.name", &terms.name),
        ("terms.chip_type", terms.chip_type.as_str()),
        ("terms.most_chips", &terms.most_chips.to_string()),
        ("terms.least_chips", &terms.least_chips.to_string()),
        ("terms.target_loss", &terms.target_loss.to_string()),
        ("terms.deadline", &local(terms.deadline)),
        ("terms.chip_hours_per_step", &per_step),
    ])
}

/// A request about one plan: who asks, and for which.
struct OfPlan {
    plain: Plain,
    viewer: Viewer,
    origin: Origin,
    team: TeamId,
    plan: PlanId,
}

impl FromRequestParts<AppState> for OfPlan {
    type Rejection = Response;

    async fn from_request_parts(parts: &mut Parts, state: &AppState) -> Result<Self, Response> {
        let Ok(plain) = Plain::from_request_parts(parts, state).await;
        let Ok(origin) = Origin::from_request_parts(parts, state).await;
        let read = async {
            let viewer = Viewer::from_request_parts(parts, state).await?;
            Ok((viewer, Segments::from_request_parts(parts, state).await?))
        };
        match read.await {
            Ok((viewer, Segments(team, plan))) => Ok(Self { plain, viewer, origin, team, plan }),
            Err(error) => Err(plain.problem(&error)),
        }
    }
}

impl OfPlan {
    fn services(&self) -> &Services {
        self.plain.state().services()
    }

    /// The plan's page.
    async fn page(&self, forms: Forms) -> Result<PlanPage, AppError> {
        let state = self.plain.state();
        let view = self.services().plan(&self.viewer, &self.origin, &self.team, &self.plan).await?;
        let (setup, _) = self.services().setup(&self.viewer).await?;
        let with_id = || FormState::filled(&[("id", &new_id(state))]);
        Ok(PlanPage {
            chip_types: chip_types(&setup),
            place: forms.place.unwrap_or_else(with_id),
            report: forms.report.unwrap_or_else(with_id),
            change: forms.change.unwrap_or_else(|| change_form(&view)),
            view,
        })
    }

    /// Answers a form of the page: with a notice, or with the page and why it was refused.
    async fn answer(
        self,
        done: Result<String, AppError>,
        forms: impl FnOnce(&AppError) -> Forms,
    ) -> Response {
        let error = match done {
            Ok(notice) => {
                let page = format!("/planner/{}/{}", self.team, self.plan);
                return self.plain.done(&page, &notice);
            }
            Err(error) => error,
        };
        match self.page(forms(&error)).await {
            Ok(page) => self.plain.refused(&error, &title(&page), || plan_view(&page)),
            Err(error) => self.plain.problem(&error),
        }
    }
}

fn title(page: &PlanPage) -> String {
    format!("Plan: {}", page.view.terms.name)
}

async fn plan_page(of: OfPlan) -> Response {
    match of.page(Forms::default()).await {
        Ok(page) => of.plain.ok(&title(&page), || plan_view(&page)),
        Err(error) => of.plain.problem(&error),
    }
}

async fn report(of: OfPlan, posted: Posted) -> Response {
    let posted = with_file(posted);
    let losses = PostedLosses {
        id: posted.get("id").to_owned(),
        log: posted.get("log").to_owned(),
        losses: Vec::new(),
    };
    let reported = of.services().report_losses(&of.viewer, (&of.team, &of.plan), losses).await;
    let done = reported.map(|reported| format!("{} new losses. {}", reported.new, reported.verdict_words));
    of.answer(done, |error| Forms { report: Some(posted.refused(error)), ..Forms::default() }).await
}

async fn place(of: OfPlan, posted: Posted) -> Response {
    let placed = async {
        let version = posted.get("version").parse().unwrap_or_default();
        let request = PlaceBidsOfPlan { id: posted.get("id").to_owned(), version, seen: seen(&posted)? };
        let ids = (&of.team, &of.plan);
        of.services().place_bids_of_plan(&of.viewer, &of.origin, ids, request).await
    };
    let done = placed.await.map(|placed| said(&placed));
    of.answer(done, |error| Forms { place: Some(posted.refused(error)), ..Forms::default() }).await
}

/// The bids that the page showed above its button; none in a form that does not say.
fn seen(posted: &Posted) -> Result<Option<SeenBids>, AppError> {
    let mut fields = Fields::new(posted.fields());
    let (bids, cost) = (fields.optional("seen_bids"), fields.optional("seen_cost"));
    fields.finish()?;
    Ok(bids.zip(cost).map(|(bids, cost)| SeenBids { bids, cost }))
}

/// What became of the bids, in words.
fn said(done: &PlanBidsPlaced) -> String {
    let counts =
        [(done.placed.len(), "placed"), (done.changed.len(), "changed"), (done.cancelled.len(), "ended")];
    let parts: Vec<String> = counts
        .iter()
        .filter(|(count, _)| *count > 0)
        .map(|(count, what)| format!("{count} {what}"))
        .collect();
    format!("Bids: {}, from cycle {} on.", parts.join(", "), thousands(done.effective_cycle))
}

async fn change(of: OfPlan, posted: Posted) -> Response {
    let done = async {
        let version = posted.get("version").parse().unwrap_or_default();
        let (terms, closed) = match posted.get("closed") {
            "" => {
                let mut fields = Fields::new(posted.fields());
                let terms = terms(&mut fields);
                fields.finish()?;
                let missing = || AppError::internal("a form without faults has no terms");
                (terms.ok_or_else(missing)?, false)
            }
            closed => {
                let view = of.services().plan(&of.viewer, &of.origin, &of.team, &of.plan).await?;
                (view.terms, closed == "yes")
            }
        };
        let changed = ChangedPlan { version, terms, closed };
        of.services().change_plan(&of.viewer, &of.origin, (&of.team, &of.plan), changed).await?;
        Ok(if closed { "The plan is closed." } else { "The plan is changed." }.to_owned())
    };
    let done = done.await;
    of.answer(done, |error| Forms { change: Some(posted.refused(error)), ..Forms::default() }).await
}
