//! The lab in the REST API.

use axum::Json;
use axum::extract::rejection::StringRejection;
use axum::extract::{DefaultBodyLimit, State};
use axum::http::{HeaderMap, StatusCode, header};
use axum::response::{IntoResponse, Response};
use common::api::{LabRequest, LabRun, LabRunView, ShadowChoice, ShadowView};
use common::words::counted;
use serde::{Deserialize, Serialize};
use utoipa::{IntoParams, ToSchema};
use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;

use super::AppState;
use super::answer::Format;
use super::api::Problems;
use super::extract::{Body, Query, Segment};
use crate::error::{AppError, ErrorKind};
use crate::lab::comparison_csv;
use crate::lab::csv_trace::MAX_BYTES;
use crate::policy::Viewer;
use crate::services::lab::Upload;

/// The routes, under `/api/v1`.
pub(super) fn routes() -> OpenApiRouter<AppState> {
    OpenApiRouter::new()
        .routes(routes!(traces, upload))
        .layer(DefaultBodyLimit::max(MAX_BYTES))
        .routes(routes!(runs, start))
        .routes(routes!(run))
        .routes(routes!(cancel))
        .routes(routes!(shadow, choose_shadow))
}

/// A trace that policies can be compared on.
#[derive(Debug, Serialize, ToSchema)]
struct LabTraceView {
    /// Its name.
    name: String,
    /// What it is, in a few words.
    about: String,
}

/// The traces that policies can be compared on.
#[utoipa::path(
    get, path = "/lab/traces", tag = "lab",
    responses((status = 200, description = "Built in, of the market, uploaded", body = Vec<LabTraceView>), Problems)
)]
async fn traces(State(state): State<AppState>, viewer: Viewer) -> Result<Response, AppError> {
    let choices = state.services().lab_traces(&viewer).await?;
    let views = choices.into_iter().map(|choice| LabTraceView { name: choice.name, about: choice.about });
    Ok(Json(views.collect::<Vec<_>>()).into_response())
}

#[derive(Debug, Deserialize, IntoParams)]
#[into_params(parameter_in = Query)]
#[serde(deny_unknown_fields)]
struct UploadQuery {
    /// What the trace will be called.
    name: String,
    /// Chips of each type in every round; a tenth above the mean demand where absent.
    supply: Option<u64>,
    /// Length of a round.
    #[serde(default = "an_hour")]
    #[param(minimum = 1, default = 3600, required = false)]
    round_seconds: u32,
}

const fn an_hour() -> u32 {
    3_600
}

/// Uploads a trace as CSV: columns `round`, `team`, `chips`, and if known `chip_type`, `value`, `weight`; rounds in
/// ascending order. Each line at fault is named.
#[utoipa::path(
    post, path = "/lab/traces", tag = "lab", params(UploadQuery),
    request_body(content = String, content_type = "text/csv"),
    responses((status = 201, description = "It can be compared on now", body = LabTraceView), Problems)
)]
async fn upload(
    State(state): State<AppState>,
    viewer: Viewer,
    Query(query): Query<UploadQuery>,
    csv: Result<String, StringRejection>,
) -> Result<Response, AppError> {
    let csv = csv.map_err(|rejection| {
        let kind = match rejection.status() {
            StatusCode::PAYLOAD_TOO_LARGE => ErrorKind::TooLarge,
            _ => ErrorKind::MalformedInput,
        };
        AppError::new(kind, rejection.body_text())
    })?;
    let UploadQuery { name, supply, round_seconds } = query;
    let upload = Upload { name: &name, supply, round_seconds, csv: &csv };
    let (rounds, teams) = state.services().upload_lab_trace(&viewer, upload).await?;
    let about = format!("{name}, uploaded: {} of {}", counted(rounds, "round"), counted(teams, "team"));
    Ok((StatusCode::CREATED, Json(LabTraceView { name, about })).into_response())
}

/// The newest runs, newest first.
#[utoipa::path(
    get, path = "/lab/runs", tag = "lab",
    responses((status = 200, description = "Up to 100 runs", body = Vec<LabRun>), Problems)
)]
async fn runs(State(state): State<AppState>, viewer: Viewer) -> Result<Response, AppError> {
    Ok(Json(state.services().lab_runs(&viewer).await?).into_response())
}

/// Starts a comparison; it is computed in the background.
#[utoipa::path(
    post, path = "/lab/runs", tag = "lab", request_body = LabRequest,
    responses((status = 202, description = "It waits for those before it", body = LabRun), Problems)
)]
async fn start(
    State(state): State<AppState>,
    viewer: Viewer,
    Body(request): Body<LabRequest>,
) -> Result<Response, AppError> {
    let run = state.services().start_lab_run(&viewer, request).await?;
    Ok((StatusCode::ACCEPTED, Json(run)).into_response())
}

#[derive(Debug, Deserialize, IntoParams)]
#[into_params(parameter_in = Query)]
#[serde(deny_unknown_fields)]
struct RunQuery {
    /// `json` or `csv`; the CSV is there when the run is done.
    #[serde(default)]
    #[param(inline, required = false)]
    format: Format,
}

/// A run, with its figures where it is done.
#[utoipa::path(
    get, path = "/lab/runs/{id}", tag = "lab", params(("id" = String, Path, description = "The run"), RunQuery),
    responses(
        (status = 200, description = "The run", content((LabRunView = "application/json"), (String = "text/csv"))),
        Problems,
    )
)]
async fn run(
    State(state): State<AppState>,
    viewer: Viewer,
    Segment(id): Segment<String>,
    Query(query): Query<RunQuery>,
) -> Result<Response, AppError> {
    let view = state.services().lab_run(&viewer, &id).await?;
    match query.format {
        Format::Json => Ok(Json(view).into_response()),
        Format::Csv => {
            let Some(result) = view.result else {
                return Err(AppError::conflict("the run has no figures; wait until it is done"));
            };
            let csv = comparison_csv(&result).map_err(AppError::internal)?;
            let mut headers = HeaderMap::new();
            headers.insert(header::CONTENT_TYPE, header::HeaderValue::from_static("text/csv; charset=utf-8"));
            let file = header::HeaderValue::from_static("attachment; filename=\"lab-run.csv\"");
            headers.insert(header::CONTENT_DISPOSITION, file);
            Ok((headers, csv).into_response())
        }
    }
}

/// Cancels a run that has not ended.
#[utoipa::path(
    post, path = "/lab/runs/{id}/cancel", tag = "lab", params(("id" = String, Path, description = "The run")),
    responses((status = 204, description = "It ends within a second or so"), Problems)
)]
async fn cancel(
    State(state): State<AppState>,
    viewer: Viewer,
    Segment(id): Segment<String>,
) -> Result<StatusCode, AppError> {
    state.services().cancel_lab_run(&viewer, &id).await?;
    Ok(StatusCode::NO_CONTENT)
}

/// What the policies in shadow would have given over the last day.
#[utoipa::path(
    get, path = "/lab/shadow", tag = "lab",
    responses((status = 200, description = "Per policy and team, beside what the market granted", body = ShadowView), Problems)
)]
async fn shadow(State(state): State<AppState>, viewer: Viewer) -> Result<Response, AppError> {
    Ok(Json(state.services().shadow(&viewer).await?).into_response())
}

/// Chooses the policies that run in shadow, from the next accounting step on. Nothing of them is ever in force.
#[utoipa::path(
    put, path = "/lab/shadow", tag = "lab", request_body = ShadowChoice,
    responses((status = 204, description = "Exactly these run"), Problems)
)]
async fn choose_shadow(
    State(state): State<AppState>,
    viewer: Viewer,
    Body(choice): Body<ShadowChoice>,
) -> Result<StatusCode, AppError> {
    state.services().choose_shadow(&viewer, &choice.policies).await?;
    Ok(StatusCode::NO_CONTENT)
}
