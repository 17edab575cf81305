//! `/metrics`: what Prometheus scrapes.

use axum::Extension;
use axum::extract::State;
use axum::http::{HeaderValue, header};
use axum::response::{IntoResponse, Response};

use super::AppState;
use crate::auth::Client;
use crate::error::AppError;
use crate::telemetry::{CHURN, CYCLE, CYCLE_AGE, RECONCILIATION_OFF, STALE, UNSETTLED_AGE};

/// All metrics in Prometheus' text form, for this machine only unless `server.open_metrics` says otherwise.
#[utoipa::path(
    get, path = "/metrics", tag = "health", security(()),
    responses(
        (status = 200, description = "Prometheus text", body = String, content_type = "text/plain"),
        (status = 403, description = "Asked from another machine", body = common::problem::Problem,
         content_type = "application/problem+json"),
    )
)]
pub(super) async fn metrics(
    State(state): State<AppState>,
    Extension(client): Extension<Client>,
) -> Result<Response, AppError> {
    if !client.address.is_loopback() && !state.config().open_metrics {
        return Err(AppError::forbidden(
            "metrics are for this machine only; server.open_metrics = true lets every address read them",
        ));
    }
    let clock = state.market().clock();
    let seconds = |since: common::instant::Instant| {
        // A metric is a float; it is no money.
        (state.market().now().0 - since.0).max(0) as f64 / 1e6
    };
    metrics::gauge!(CYCLE).set(clock.cycle as f64);
    metrics::gauge!(STALE).set(if clock.stale.is_some() { 1.0 } else { 0.0 });
    if clock.cycle > 0 {
        metrics::gauge!(CYCLE_AGE).set(seconds(clock.cleared_at));
    }
    match state.market().unsettled_since().await {
        Ok(since) => metrics::gauge!(UNSETTLED_AGE).set(since.map_or(0.0, seconds)),
        Err(error) => tracing::warn!(cause = %error.private_context(), "unsettled age unknown: {error}"),
    }
    match state.market().reclaimed_last_hour().await {
        Ok(chips) => metrics::gauge!(CHURN).set(chips as f64),
        Err(error) => tracing::warn!(cause = %error.private_context(), "churn unknown: {error}"),
    }
    match state.services().newest_reconciliation_off().await {
        Ok(Some(off)) => metrics::gauge!(RECONCILIATION_OFF).set(off as f64),
        Ok(None) => {}
        Err(error) => tracing::warn!(cause = %error.private_context(), "reconciliation unknown: {error}"),
    }
    let text = state.metrics().render();
    let kind = HeaderValue::from_static("text/plain; version=0.0.4; charset=utf-8");
    Ok(([(header::CONTENT_TYPE, kind)], text).into_response())
}
