//! Reconciliations of the REST API.

use axum::Json;
use axum::extract::State;
use axum::http::StatusCode;
use common::api::{JobView, ReconciliationView};
use serde::Deserialize;
use utoipa::IntoParams;
use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;

use super::AppState;
use super::api::Problems;
use super::extract::Query;
use crate::error::AppError;
use crate::policy::Viewer;

/// The routes, under `/api/v1`.
pub(super) fn routes() -> OpenApiRouter<AppState> {
    OpenApiRouter::new().routes(routes!(reconciliations, begin))
}

/// The newest reconciliations of everybody, newest first, with the figure of each check: for finance, admins and auditors.
#[utoipa::path(
    get, path = "/reconciliations", tag = "money",
    responses((status = 200, description = "At most 20", body = Vec<ReconciliationView>), Problems)
)]
async fn reconciliations(
    State(state): State<AppState>,
    viewer: Viewer,
) -> Result<Json<Vec<ReconciliationView>>, AppError> {
    let runs = state.services().reconciliations(&viewer).await?;
    Ok(Json(runs.into_iter().map(|run| run.view).collect()))
}

#[derive(Debug, Deserialize, IntoParams)]
#[into_params(parameter_in = Query)]
#[serde(deny_unknown_fields)]
struct ReconciliationQuery {
    /// A year, quarter, month or day of the organisation's calendar, such as `2026-11`; without one it is everything.
    period: Option<String>,
}

/// Checks in the background whether the money adds up. `GET /reconciliations` has the result, `GET /jobs/{id}` how far it is.
#[utoipa::path(
    post, path = "/reconciliations", tag = "money", params(ReconciliationQuery),
    responses((status = 202, description = "The job", body = JobView), Problems)
)]
async fn begin(
    State(state): State<AppState>,
    viewer: Viewer,
    Query(query): Query<ReconciliationQuery>,
) -> Result<(StatusCode, Json<JobView>), AppError> {
    let job = state.services().begin_reconciliation(&viewer, query.period.as_deref()).await?;
    Ok((StatusCode::ACCEPTED, Json(job)))
}
