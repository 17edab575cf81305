//! Long work of the REST API: how far it is, its file, and the way to give it up.

use axum::Json;
use axum::body::{Body, Bytes};
use axum::extract::State;
use axum::http::{HeaderValue, header};
use axum::response::Response;
use common::api::JobView;
use futures::stream;
use tokio::io::AsyncReadExt as _;
use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;

use super::AppState;
use super::api::Problems;
use super::extract::Segment;
use crate::error::{AppError, ErrorKind};
use crate::policy::Viewer;

/// Bytes of a file that are read at once.
const PIECE: usize = 256 * 1024;

/// The routes, under `/api/v1`.
pub(super) fn routes() -> OpenApiRouter<AppState> {
    OpenApiRouter::new().routes(routes!(jobs)).routes(routes!(job, cancel)).routes(routes!(file))
}

/// The caller's exports in the background, newest first.
#[utoipa::path(
    get, path = "/jobs", tag = "exports",
    responses((status = 200, description = "At most 50", body = Vec<JobView>), Problems)
)]
async fn jobs(State(state): State<AppState>, viewer: Viewer) -> Result<Json<Vec<JobView>>, AppError> {
    state.services().export_jobs(&viewer).await.map(Json)
}

/// One of the caller's jobs: how far it is, and the address of its file once it is done.
#[utoipa::path(
    get, path = "/jobs/{job}", tag = "exports",
    params(("job" = String, Path, description = "The job")),
    responses((status = 200, description = "The job", body = JobView), Problems)
)]
async fn job(
    State(state): State<AppState>,
    viewer: Viewer,
    Segment(job): Segment<String>,
) -> Result<Json<JobView>, AppError> {
    state.services().job(&viewer, &job).await.map(Json)
}

/// Gives up a job that waits or runs; one that has ended stays as it is.
#[utoipa::path(
    delete, path = "/jobs/{job}", tag = "exports",
    params(("job" = String, Path, description = "The job")),
    responses((status = 200, description = "The job as it is now", body = JobView), Problems)
)]
async fn cancel(
    State(state): State<AppState>,
    viewer: Viewer,
    Segment(job): Segment<String>,
) -> Result<Json<JobView>, AppError> {
    state.services().cancel_job(&viewer, &job).await.map(Json)
}

/// The file of a finished export. It is kept for seven days.
#[utoipa::path(
    get, path = "/jobs/{job}/file", tag = "exports",
    params(("job" = String, Path, description = "The job")),
    responses(
        (status = 200, description = "The file",
         content((String = "text/csv"), (Vec<u8> = "application/vnd.apache.parquet"))),
        Problems,
    )
)]
async fn file(
    State(state): State<AppState>,
    viewer: Viewer,
    Segment(job): Segment<String>,
) -> Result<Response, AppError> {
    let found = state.services().job_file(&viewer, &job).await?;
    let unreadable = |error: std::io::Error| {
        AppError::new(ErrorKind::Io, "the file can't be read; ask for it again").with_context(error)
    };
    let file = tokio::fs::File::open(&found.path).await.map_err(unreadable)?;
    let length = file.metadata().await.map_err(unreadable)?.len();
    let pieces = stream::try_unfold(file, |mut file| async move {
        let mut piece = Vec::with_capacity(PIECE);
        let read = (&mut file).take(PIECE as u64).read_to_end(&mut piece).await?;
        Ok::<_, std::io::Error>((read > 0).then(|| (Bytes::from(piece), file)))
    });
    let mut response = Response::new(Body::from_stream(pieces));
    let disposition = HeaderValue::try_from(format!("attachment; filename=\"{}\"", found.name));
    let headers = response.headers_mut();
    headers.insert(header::CONTENT_TYPE, HeaderValue::from_static(found.media_type));
    headers.insert(header::CONTENT_LENGTH, HeaderValue::from(length));
    headers.insert(header::CONTENT_DISPOSITION, disposition.map_err(AppError::internal)?);
    Ok(response)
}
