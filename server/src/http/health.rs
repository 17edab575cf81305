//! Is the process alive, and can it do its work: for supervisors and load balancers.

use axum::Json;
use axum::extract::State;
use axum::http::{HeaderValue, StatusCode, header};
use axum::response::{IntoResponse, Response};
use common::api::MarketClock;
use serde::Serialize;

use super::AppState;

/// What a health check says.
#[derive(Clone, Debug, Serialize, utoipa::ToSchema)]
pub(super) struct Health {
    /// `ok`.
    status: &'static str,
}

/// Whether the server can do its work.
#[derive(Clone, Debug, Serialize, utoipa::ToSchema)]
pub(super) struct Readiness {
    /// `ready`; `stale` when a cycle is overdue and the last quotas stay in force; `unreachable` when the database
    /// does not answer; `waiting` when the server has just started and waits for its database.
    status: &'static str,
    /// Why it is not ready, in words.
    #[serde(skip_serializing_if = "Option::is_none")]
    reason: Option<String>,
    /// The last and the next cycle.
    clock: MarketClock,
}

impl Readiness {
    /// The server has started and can't answer from its database yet.
    pub(super) const fn waiting(reason: String, clock: MarketClock) -> Self {
        Self { status: "waiting", reason: Some(reason), clock }
    }
}

impl IntoResponse for Readiness {
    fn into_response(self) -> Response {
        let is_shown = matches!(self.status, "ready" | "stale");
        uncached(if is_shown { StatusCode::OK } else { StatusCode::SERVICE_UNAVAILABLE }, self)
    }
}

/// The process is alive.
#[utoipa::path(get, path = "/healthz", tag = "health", security(()), responses((status = 200, description = "Alive", body = Health)))]
pub(super) async fn healthz() -> Response {
    uncached(StatusCode::OK, Health { status: "ok" })
}

/// The database answers and cycles clear in time. A stale market is still shown, so it answers 200 and says so;
/// an unreachable database answers 503, as does a server that still waits for it at its start.
#[utoipa::path(
    get, path = "/readyz", tag = "health", security(()),
    responses(
        (status = 200, description = "Ready, or stale", body = Readiness),
        (status = 503, description = "The database does not answer, or is still waited for", body = Readiness),
    )
)]
pub(super) async fn readyz(State(state): State<AppState>) -> Response {
    let clock = state.market().clock();
    if let Err(error) = state.market().ping().await {
        tracing::warn!(cause = %error.private_context(), "not ready: {error}");
        let reason = Some(error.message().to_owned());
        return Readiness { status: "unreachable", reason, clock }.into_response();
    }
    let reason = clock.stale.as_ref().map(|stale| stale.reason.clone());
    let status = if reason.is_some() { "stale" } else { "ready" };
    Readiness { status, reason, clock }.into_response()
}

fn uncached<T: Serialize>(status: StatusCode, body: T) -> Response {
    let no_store = [(header::CACHE_CONTROL, HeaderValue::from_static("no-store"))];
    (status, no_store, Json(body)).into_response()
}
