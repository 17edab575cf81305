//! Exports of the REST API: which there are, their files as they are made, and jobs that make them in the background.

use axum::Json;
use axum::body::{Body, Bytes};
use axum::extract::State;
use axum::http::{HeaderName, HeaderValue, StatusCode, header};
use axum::response::Response;
use common::api::{CreditValueView, ExportView, JobView, NewCreditValue};
use common::ids::UserId;
use common::instant::Instant;
use futures::stream;
use serde::Deserialize;
use utoipa::IntoParams;
use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;

use super::AppState;
use super::api::Problems;
use super::extract::{Body as Sent, Query, Segment};
use crate::error::AppError;
use crate::policy::Viewer;
use crate::services::audit::{Doer, Origin};
use crate::services::credit_value::CreditValue;
use crate::services::exports::{Export, ExportName, ExportRequest, FileFormat};
use crate::store::audit::AuditFilter;

/// Names the zone in which the periods of a file are counted.
const TIME_ZONE: HeaderName = HeaderName::from_static("x-organisation-time-zone");

/// Says about how many rows a file will have.
const EXPECTED_ROWS: HeaderName = HeaderName::from_static("x-expected-rows");

/// The routes, under `/api/v1`.
pub(super) fn routes() -> OpenApiRouter<AppState> {
    OpenApiRouter::new()
        .routes(routes!(exports))
        .routes(routes!(export, begin_job))
        .routes(routes!(credit_value, set_credit_value))
}

/// What part of an export is asked for, as it stands in an address.
#[derive(Debug, Deserialize, IntoParams)]
#[into_params(parameter_in = Query)]
#[serde(deny_unknown_fields)]
pub(super) struct ExportQuery {
    /// A year, quarter, month or day of the organisation's calendar: `2026`, `2026-Q4`, `2026-11`, `2026-11-30`.
    period: Option<String>,
    /// Instead of a period: at or after this instant. Without any of the three it is all there is.
    from: Option<Instant>,
    /// Instead of a period: before this instant.
    to: Option<Instant>,
    /// `csv` or `parquet`.
    #[serde(default)]
    #[param(inline, required = false)]
    format: FileFormat,
    /// Columns to be added, with commas between; `GET /exports` says which an export has.
    columns: Option<String>,
    /// Of the audit log: only what this account did.
    user: Option<UserId>,
    /// Of the audit log: only this action, such as `team.changed`.
    action: Option<String>,
    /// Of the audit log: only what was done to objects of this kind, such as `team`.
    object_kind: Option<String>,
    /// Of the audit log: only what was done to this object.
    object: Option<String>,
}

impl ExportQuery {
    fn of(self, name: ExportName) -> ExportRequest {
        let Self { period, from, to, format, columns, user, action, object_kind, object } = self;
        let user = user.map(|user| user.to_string());
        let filter = AuditFilter { user, action, object_kind, object, from: None, to: None };
        let columns = columns.iter().flat_map(|names| names.split(',')).filter(|name| !name.is_empty());
        let columns = columns.map(str::to_owned).collect();
        ExportRequest { name, format, period, from, to, columns, filter }
    }
}

/// The exports that the caller may have, with the columns of each and what they mean.
#[utoipa::path(
    get, path = "/exports", tag = "exports",
    responses((status = 200, description = "In the order in which they are shown", body = Vec<ExportView>), Problems)
)]
async fn exports(State(state): State<AppState>, viewer: Viewer) -> Json<Vec<ExportView>> {
    Json(state.services().exports(&viewer))
}

/// An export as a file, sent as it is made. It has the rows that the caller may see on the pages; a stretch without any is
/// a file with a header. Times are UTC; `x-organisation-time-zone` names the zone that periods are counted in, and
/// `x-expected-rows` says about how many rows it will be.
#[utoipa::path(
    get, path = "/exports/{name}", tag = "exports",
    params(("name" = String, Path, description = "The export, as in `GET /exports`"), ExportQuery),
    responses(
        (status = 200, description = "The file",
         content((String = "text/csv"), (Vec<u8> = "application/vnd.apache.parquet"))),
        Problems,
    )
)]
async fn export(
    State(state): State<AppState>,
    viewer: Viewer,
    Segment(name): Segment<ExportName>,
    Query(query): Query<ExportQuery>,
) -> Result<Response, AppError> {
    let export = state.services().export(&viewer, &query.of(name)).await?;
    sent(export).await
}

/// Makes an export in the background: for one that takes long. `GET /jobs/{id}` says how far it is and where its file is.
#[utoipa::path(
    post, path = "/exports/{name}", tag = "exports",
    params(("name" = String, Path, description = "The export, as in `GET /exports`"), ExportQuery),
    responses((status = 202, description = "The job", body = JobView), Problems)
)]
async fn begin_job(
    State(state): State<AppState>,
    viewer: Viewer,
    Segment(name): Segment<ExportName>,
    Query(query): Query<ExportQuery>,
) -> Result<(StatusCode, Json<JobView>), AppError> {
    let job = state.services().begin_export_job(&viewer, &query.of(name)).await?;
    Ok((StatusCode::ACCEPTED, Json(job)))
}

/// What a credit is worth in an ISO currency this month: the value that the FOCUS export counts with.
#[utoipa::path(
    get, path = "/credit-value", tag = "exports",
    responses(
        (status = 200, description = "The value; null before it was ever set", body = Option<CreditValueView>),
        Problems,
    )
)]
async fn credit_value(
    State(state): State<AppState>,
    viewer: Viewer,
) -> Result<Json<Option<CreditValueView>>, AppError> {
    Ok(Json(state.services().credit_value(&viewer).await?.map(value_view)))
}

/// Sets what a credit is worth, from this month on; months that are over keep theirs. For finance.
#[utoipa::path(
    put, path = "/credit-value", tag = "exports", request_body = NewCreditValue,
    responses((status = 200, description = "The value as it is now", body = CreditValueView), Problems)
)]
async fn set_credit_value(
    State(state): State<AppState>,
    viewer: Viewer,
    origin: Origin,
    Sent(new): Sent<NewCreditValue>,
) -> Result<Json<CreditValueView>, AppError> {
    let doer = Doer { viewer: &viewer, origin: &origin, reason: &new.reason };
    let set = state.services().set_credit_value(doer, &new.currency, new.value).await?;
    Ok(Json(value_view(set)))
}

fn value_view(value: CreditValue) -> CreditValueView {
    let CreditValue { currency, value, holds_from } = value;
    CreditValueView { currency, value, holds_from }
}

/// Answers with a file as it is made. Its first piece is made before the answer begins, so that what can't be read at all
/// is answered as a problem; what fails later ends the answer early, which a client sees as a broken one.
async fn sent(mut export: Export) -> Result<Response, AppError> {
    let headers = [
        (header::CONTENT_TYPE, export.media_type().to_owned()),
        (header::CONTENT_DISPOSITION, format!("attachment; filename=\"{}\"", export.file_name())),
        (TIME_ZONE, export.stated().time_zone.clone()),
        (EXPECTED_ROWS, export.expected_rows().to_string()),
    ];
    let first = next_piece(&mut export).await?;
    let pieces = stream::try_unfold((first, export), |(piece, mut export)| async move {
        let Some(piece) = piece else { return Ok::<_, AppError>(None) };
        let next = next_piece(&mut export).await.inspect_err(|error| {
            tracing::error!(context = error.private_context(), "an export ended early: {error}");
        })?;
        Ok(Some((piece, (next, export))))
    });
    let mut response = Response::new(Body::from_stream(pieces));
    for (name, value) in headers {
        let value = HeaderValue::try_from(value).map_err(AppError::internal)?;
        response.headers_mut().insert(name, value);
    }
    Ok(response)
}

/// The next piece that has something in it.
async fn next_piece(export: &mut Export) -> Result<Option<Bytes>, AppError> {
    while let Some(piece) = export.next_piece().await? {
        if !piece.is_empty() {
            return Ok(Some(piece.into()));
        }
    }
    Ok(None)
}
