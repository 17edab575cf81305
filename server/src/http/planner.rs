//! Plans of training jobs in the REST API.

use axum::Json;
use axum::extract::{DefaultBodyLimit, State};
use axum::http::{HeaderMap, HeaderValue, StatusCode, header};
use axum::response::{IntoResponse, Response};
use common::api::{
    ChangedPlan, NewPlan, PlaceBidsOfPlan, PlanBidsPlaced, PlanLosses, PlanReported, PlanView, PlannedDemand,
    PlannedSpend, PlansView, PostedLosses,
};
use common::ids::{PlanId, TeamId};
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;
use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;

use super::AppState;
use super::answer::{Table, answer};
use super::api::{ChangedSince, Conflicts, Problems};
use super::etag::with_version;
use super::extract::{Body, FormatQuery, Query, Segment, Segments};
use crate::error::AppError;
use crate::policy::Viewer;
use crate::services::audit::Origin;
use crate::services::planner::MAX_BYTES;

/// What a request may hold beside a log, which grows where it is written as JSON.
const BODY_BYTES: usize = 2 * MAX_BYTES;

/// The routes, under `/api/v1`.
pub(super) fn routes() -> OpenApiRouter<AppState> {
    OpenApiRouter::new()
        .routes(routes!(list, make))
        .routes(routes!(losses, report))
        .layer(DefaultBodyLimit::max(BODY_BYTES))
        .routes(routes!(open, change))
        .routes(routes!(place))
        .routes(routes!(spend))
        .routes(routes!(demand))
}

/// A team's plans, open ones first, with what each said when it last changed or losses were reported.
#[utoipa::path(
    get, path = "/teams/{team}/plans", tag = "planner",
    params(("team" = TeamId, Path, description = "The team"), FormatQuery),
    responses(
        (status = 200, description = "At most 200", content((PlansView = "application/json"), (String = "text/csv"))),
        Problems,
    )
)]
async fn list(
    State(state): State<AppState>,
    viewer: Viewer,
    origin: Origin,
    Segment(team): Segment<TeamId>,
    headers: HeaderMap,
    Query(query): Query<FormatQuery>,
) -> Result<Response, AppError> {
    let view = state.services().plans(&viewer, &origin, &team).await?;
    answer(&headers, query.format, &view)
}

/// Makes a plan from the losses of a job so far: foresees what it still needs and plans the cheapest hours. The same request
/// again changes nothing and answers the same. Places no bids.
#[utoipa::path(
    post, path = "/teams/{team}/plans", tag = "planner",
    params(("team" = TeamId, Path, description = "The team")),
    request_body = NewPlan,
    responses((status = 201, description = "The plan; `ETag` is its version", body = PlanView), Conflicts, Problems)
)]
async fn make(
    State(state): State<AppState>,
    viewer: Viewer,
    origin: Origin,
    Segment(team): Segment<TeamId>,
    Body(new): Body<NewPlan>,
) -> Result<Response, AppError> {
    let view = state.services().make_plan(&viewer, &origin, &team, new).await?;
    let location = format!("/api/v1/teams/{team}/plans/{}", view.id);
    let location = HeaderValue::try_from(location).map_err(AppError::internal)?;
    Ok((StatusCode::CREATED, [(header::LOCATION, location)], with_version(&view.version, &view)?)
        .into_response())
}

/// One plan, worked out anew: the forecast, the chances, the hours to bid for, its bids and whether they still fit.
#[utoipa::path(
    get, path = "/teams/{team}/plans/{plan}", tag = "planner",
    params(("team" = TeamId, Path, description = "The team"), ("plan" = PlanId, Path, description = "The plan")),
    responses((status = 200, description = "The plan; `ETag` is its version", body = PlanView), Problems)
)]
async fn open(
    State(state): State<AppState>,
    viewer: Viewer,
    origin: Origin,
    Segments(team, plan): Segments<TeamId, PlanId>,
) -> Result<Response, AppError> {
    let view = state.services().plan(&viewer, &origin, &team, &plan).await?;
    with_version(&view.version, &view)
}

/// Changes what a plan is for, closes it, or opens it again. Its bids stay as they are until they are placed anew.
#[utoipa::path(
    put, path = "/teams/{team}/plans/{plan}", tag = "planner",
    params(("team" = TeamId, Path, description = "The team"), ("plan" = PlanId, Path, description = "The plan")),
    request_body = ChangedPlan,
    responses((status = 200, description = "The plan; `ETag` is its version", body = PlanView), ChangedSince, Problems)
)]
async fn change(
    State(state): State<AppState>,
    viewer: Viewer,
    origin: Origin,
    Segments(team, plan): Segments<TeamId, PlanId>,
    Body(change): Body<ChangedPlan>,
) -> Result<Response, AppError> {
    let view = state.services().change_plan(&viewer, &origin, (&team, &plan), change).await?;
    with_version(&view.version, &view)
}

/// All losses that a plan knows.
#[utoipa::path(
    get, path = "/teams/{team}/plans/{plan}/losses", tag = "planner",
    params(
        ("team" = TeamId, Path, description = "The team"), ("plan" = PlanId, Path, description = "The plan"),
        FormatQuery,
    ),
    responses(
        (status = 200, description = "Oldest first", content((PlanLosses = "application/json"), (String = "text/csv"))),
        Problems,
    )
)]
async fn losses(
    State(state): State<AppState>,
    viewer: Viewer,
    origin: Origin,
    Segments(team, plan): Segments<TeamId, PlanId>,
    headers: HeaderMap,
    Query(query): Query<FormatQuery>,
) -> Result<Response, AppError> {
    let losses = state.services().plan_losses(&viewer, &origin, &team, &plan).await?;
    answer(&headers, query.format, &losses)
}

/// Reports losses of a running job; a token needs the scope `losses` and no other. The same report again changes nothing, and
/// losses that are known already are left out, so a job may send its last lines again.
#[utoipa::path(
    post, path = "/teams/{team}/plans/{plan}/losses", tag = "planner",
    params(("team" = TeamId, Path, description = "The team"), ("plan" = PlanId, Path, description = "The plan")),
    request_body = PostedLosses,
    responses((status = 200, description = "How the plan stands with them", body = PlanReported), Conflicts, Problems)
)]
async fn report(
    State(state): State<AppState>,
    viewer: Viewer,
    Segments(team, plan): Segments<TeamId, PlanId>,
    Body(posted): Body<PostedLosses>,
) -> Result<Json<PlanReported>, AppError> {
    state.services().report_losses(&viewer, (&team, &plan), posted).await.map(Json)
}

/// Makes the bids of a plan what it says now: places, changes and ends them, all or none, each with the checks of any bid. The
/// same request again changes nothing and answers the same.
#[utoipa::path(
    post, path = "/teams/{team}/plans/{plan}/bids", tag = "planner",
    params(("team" = TeamId, Path, description = "The team"), ("plan" = PlanId, Path, description = "The plan")),
    request_body = PlaceBidsOfPlan,
    responses(
        (status = 200, description = "What became of the bids", body = PlanBidsPlaced),
        Conflicts, ChangedSince, Problems,
    )
)]
async fn place(
    State(state): State<AppState>,
    viewer: Viewer,
    origin: Origin,
    Segments(team, plan): Segments<TeamId, PlanId>,
    Body(request): Body<PlaceBidsOfPlan>,
) -> Result<Json<PlanBidsPlaced>, AppError> {
    state.services().place_bids_of_plan(&viewer, &origin, (&team, &plan), request).await.map(Json)
}

/// What open plans would spend, by day and team.
#[derive(Debug, Serialize, Deserialize, ToSchema)]
struct PlannedSpendView {
    /// By day, then team.
    rows: Vec<PlannedSpend>,
}

/// What open plans would spend, by day and team, at foreseen prices.
#[utoipa::path(
    get, path = "/planner/spend", tag = "planner", params(FormatQuery),
    responses(
        (status = 200, description = "By day, then team",
         content((PlannedSpendView = "application/json"), (String = "text/csv"))),
        Problems,
    )
)]
async fn spend(
    State(state): State<AppState>,
    viewer: Viewer,
    headers: HeaderMap,
    Query(query): Query<FormatQuery>,
) -> Result<Response, AppError> {
    let rows = state.services().planned_spend(&viewer).await?;
    answer(&headers, query.format, &PlannedSpendView { rows })
}

/// What open plans would ask of chip types, by day.
#[derive(Debug, Serialize, Deserialize, ToSchema)]
struct PlannedDemandView {
    /// By day, then chip type.
    rows: Vec<PlannedDemand>,
}

/// What open plans would ask of each chip type, by day, beside what there is.
#[utoipa::path(
    get, path = "/planner/demand", tag = "planner", params(FormatQuery),
    responses(
        (status = 200, description = "By day, then chip type",
         content((PlannedDemandView = "application/json"), (String = "text/csv"))),
        Problems,
    )
)]
async fn demand(
    State(state): State<AppState>,
    viewer: Viewer,
    headers: HeaderMap,
    Query(query): Query<FormatQuery>,
) -> Result<Response, AppError> {
    let rows = state.services().planned_demand(&viewer).await?;
    answer(&headers, query.format, &PlannedDemandView { rows })
}

impl Table for PlansView {
    fn file_name(&self) -> String {
        format!("plans-{}", self.team.id)
    }

    fn columns(&self) -> Vec<&'static str> {
        vec![
            "plan",
            "name",
            "chip_type",
            "most_chips",
            "target_loss",
            "deadline",
            "closed",
            "losses",
            "last_loss",
            "used_chip_hours",
            "verdict",
            "remaining_p50_chip_hours",
            "chance",
            "spend_p50_credits",
            "spend_p90_credits",
            "forecast_at",
        ]
    }

    fn rows(&self) -> Vec<Vec<String>> {
        let row = |plan: &common::api::PlanSummary| {
            let verdict = serde_json::to_value(plan.verdict).ok();
            vec![
                plan.id.to_string(),
                plan.terms.name.clone(),
                plan.terms.chip_type.to_string(),
                plan.terms.most_chips.to_string(),
                plan.terms.target_loss.to_string(),
                plan.terms.deadline.to_string(),
                plan.closed.to_string(),
                plan.losses.to_string(),
                plan.last.loss.to_string(),
                plan.last.chip_hours.to_string(),
                verdict.as_ref().and_then(serde_json::Value::as_str).unwrap_or_default().to_owned(),
                super::answer::cell(plan.remaining_p50),
                plan.chance.to_string(),
                plan.spend_p50.to_string(),
                plan.spend_p90.to_string(),
                plan.forecast_at.to_string(),
            ]
        };
        self.plans.iter().map(row).collect()
    }
}

impl Table for PlanLosses {
    fn file_name(&self) -> String {
        format!("losses-{}", self.id)
    }

    fn columns(&self) -> Vec<&'static str> {
        vec!["step", "loss", "chip_hours"]
    }

    fn rows(&self) -> Vec<Vec<String>> {
        let row = |one: &common::api::PlanLoss| {
            vec![one.step.to_string(), one.loss.to_string(), one.chip_hours.to_string()]
        };
        self.losses.iter().map(row).collect()
    }
}

impl Table for PlannedSpendView {
    fn file_name(&self) -> String {
        "planned-spend".to_owned()
    }

    fn columns(&self) -> Vec<&'static str> {
        vec!["day", "team", "team_name", "plans", "spend_credits", "at_most_credits"]
    }

    fn rows(&self) -> Vec<Vec<String>> {
        let row = |row: &PlannedSpend| {
            vec![
                row.day.clone(),
                row.team.to_string(),
                row.team_name.clone(),
                row.plans.to_string(),
                row.spend.to_string(),
                row.at_most.to_string(),
            ]
        };
        self.rows.iter().map(row).collect()
    }
}

impl Table for PlannedDemandView {
    fn file_name(&self) -> String {
        "planned-demand".to_owned()
    }

    fn columns(&self) -> Vec<&'static str> {
        vec![
            "day",
            "chip_type",
            "plans",
            "demand_chip_seconds",
            "supply_chip_seconds",
            "peak_chips",
            "supply_chips",
        ]
    }

    fn rows(&self) -> Vec<Vec<String>> {
        let row = |row: &PlannedDemand| {
            vec![
                row.day.clone(),
                row.chip_type.to_string(),
                row.plans.to_string(),
                row.chip_seconds.to_string(),
                row.supply_chip_seconds.to_string(),
                row.peak_chips.to_string(),
                row.supply.to_string(),
            ]
        };
        self.rows.iter().map(row).collect()
    }
}
