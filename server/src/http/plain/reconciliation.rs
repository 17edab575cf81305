//! The page of reconciliations.

use app::plain::form::FormState;
use app::plain::reconciliation::{ReconciliationPage, reconciliation as page_view};
use axum::Router;
use axum::response::Response;
use axum::routing::{get, post};

use super::{AppState, Plain, Posted};
use crate::error::{AppError, ErrorKind};
use crate::http::extract::Segment;
use crate::policy::Viewer;

const PAGE: &str = "/finance/reconciliation";
const TITLE: &str = "Reconciliation";

/// The routes.
pub(super) fn routes() -> Router<AppState> {
    Router::new()
        .route("/finance/reconciliation", get(page).post(begin))
        .route("/finance/reconciliation/{job}/cancel", post(cancel))
}

async fn page(plain: Plain, viewer: Viewer) -> Response {
    match read_page(plain.state(), &viewer, FormState::default()).await {
        Ok(page) => plain.ok(TITLE, || page_view(page)),
        Err(error) => plain.problem(&error),
    }
}

async fn read_page(
    state: &AppState,
    viewer: &Viewer,
    form: FormState,
) -> Result<ReconciliationPage, AppError> {
    let services = state.services();
    let runs = services.reconciliations(viewer).await?;
    let own = runs.iter().filter(|run| run.is_of(viewer)).map(|run| run.view.job.id.clone()).collect();
    let time_zone = services.setup(viewer).await?.0.organisation.time_zone;
    Ok(ReconciliationPage { form, runs: runs.into_iter().map(|run| run.view).collect(), own, time_zone })
}

async fn begin(plain: Plain, viewer: Viewer, posted: Result<Posted, AppError>) -> Response {
    let posted = match posted {
        Ok(posted) => posted,
        Err(error) => return plain.problem(&error),
    };
    let period = Some(posted.get("period").trim().to_owned()).filter(|period| !period.is_empty());
    match plain.state().services().begin_reconciliation(&viewer, period.as_deref()).await {
        Ok(job) => plain.done(PAGE, &format!("{} has begun.", job.title)),
        Err(error) if error.kind() == ErrorKind::Invalid => {
            match read_page(plain.state(), &viewer, posted.refused(&error)).await {
                Ok(page) => plain.refused(&error, TITLE, || page_view(page)),
                Err(error) => plain.problem(&error),
            }
        }
        Err(error) => plain.problem(&error),
    }
}

async fn cancel(plain: Plain, viewer: Viewer, Segment(job): Segment<String>) -> Response {
    match plain.state().services().cancel_job(&viewer, &job).await {
        Ok(job) => plain.done(PAGE, &format!("{}: {}.", job.title, job.state.as_str())),
        Err(error) => plain.problem(&error),
    }
}
