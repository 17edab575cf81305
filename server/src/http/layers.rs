//! What happens around every request: an id, a log line, metrics, a time limit, security headers, compression, who asks,
//! and a problem document in place of a panic.

use std::any::Any;
use std::net::SocketAddr;
use std::time::Duration;

use axum::Router;
use axum::extract::{ConnectInfo, DefaultBodyLimit, MatchedPath, Request, State};
use axum::http::{HeaderName, HeaderValue, header};
use axum::middleware::{Next, from_fn, from_fn_with_state};
use axum::response::{IntoResponse, Response};
use tokio::time::Instant;
use tower_http::catch_panic::CatchPanicLayer;
use tower_http::compression::{CompressionLayer, CompressionLevel};
use tower_http::csrf::{CsrfLayer, ProtectionError};
use tracing::Instrument;

use super::{AppState, session};
use crate::error::{AppError, ErrorKind};
use crate::services::audit::Origin;
use crate::telemetry::{REQUEST_SECONDS, REQUESTS};

const REQUEST_ID: HeaderName = HeaderName::from_static("x-request-id");

/// Puts all layers around the routes, the outermost last.
pub(super) fn around(routes: Router<AppState>, state: &AppState) -> Router<AppState> {
    let limits = state.config();
    routes
        .layer(DefaultBodyLimit::max(limits.max_body_bytes))
        .layer(from_fn_with_state(state.clone(), session::recognise))
        .layer(same_site_only(&limits.public_url))
        .layer(from_fn(session::only_the_token))
        .layer(CatchPanicLayer::custom(panicked))
        .layer(from_fn_with_state(limits.request_timeout, time_limit))
        // Streams and what has an encoding already pass through as they are.
        .layer(CompressionLayer::new().quality(CompressionLevel::Fastest))
        .layer(from_fn(security_headers))
        .layer(from_fn_with_state(state.clone(), observe))
}

/// Refuses what changes something and comes from another site. `public_url` is believed as the origin of forms; a proxy
/// may have replaced the host that they are compared with.
fn same_site_only(public_url: &str) -> CsrfLayer<fn(ProtectionError) -> Response> {
    let layer = CsrfLayer::new();
    let layer = match public_url {
        "" => layer,
        // The configuration takes only what is an origin, so this can't fail.
        _ => layer.clone().add_trusted_origin(public_url).unwrap_or(layer),
    };
    layer.with_rejection_response(session::cross_site)
}

#[expect(clippy::needless_pass_by_value, reason = "the layer hands the panic over")]
fn panicked(panic: Box<dyn Any + Send>) -> Response {
    let text = panic
        .downcast_ref::<String>()
        .map(String::as_str)
        .or_else(|| panic.downcast_ref::<&str>().copied())
        .unwrap_or("a panic without a text");
    AppError::internal(text.to_owned()).into_response()
}

/// The limit covers the time to the head of the answer: a stream goes on beyond it.
async fn time_limit(State(limit): State<Duration>, request: Request, next: Next) -> Response {
    match tokio::time::timeout(limit, next.run(request)).await {
        Ok(response) => response,
        Err(_) => AppError::new(
            ErrorKind::TimedOut,
            format!("no answer within {} s; ask for a shorter span, or again later", limit.as_secs()),
        )
        .into_response(),
    }
}

pub(super) async fn security_headers(request: Request, next: Next) -> Response {
    const SAME_FOR_ALL: [(HeaderName, &str); 5] = [
        (header::X_CONTENT_TYPE_OPTIONS, "nosniff"),
        (header::X_FRAME_OPTIONS, "DENY"),
        (header::REFERRER_POLICY, "same-origin"),
        (HeaderName::from_static("cross-origin-opener-policy"), "same-origin"),
        (
            HeaderName::from_static("permissions-policy"),
            "camera=(), microphone=(), geolocation=(), payment=(), usb=()",
        ),
    ];
    let mut response = next.run(request).await;
    let headers = response.headers_mut();
    for (name, value) in SAME_FOR_ALL {
        headers.insert(name, HeaderValue::from_static(value));
    }
    // What does not say how long it is good for is asked for again each time.
    headers.entry(header::CACHE_CONTROL).or_insert(HeaderValue::from_static("private, no-cache"));
    // Pages bring their own policy with a nonce; everything else needs no script at all.
    headers
        .entry(header::CONTENT_SECURITY_POLICY)
        .or_insert(HeaderValue::from_static("default-src 'none'; frame-ancestors 'none'"));
    response
}

/// Gives the request an id (its own, where it brings a usable one), logs it and measures it.
async fn observe(State(state): State<AppState>, mut request: Request, next: Next) -> Response {
    let id = request
        .headers()
        .get(REQUEST_ID)
        .and_then(|value| value.to_str().ok())
        .filter(|text| (1..=64).contains(&text.len()) && text.bytes().all(|b| b.is_ascii_graphic()))
        .map_or_else(|| state.new_request_id(), ToOwned::to_owned);
    let method = request.method().clone();
    let route = request
        .extensions()
        .get::<MatchedPath>()
        .map_or_else(|| "none".to_owned(), |path| path.as_str().to_owned());
    let span = tracing::info_span!("request", id, %method, path = request.uri().path());
    let peer = request.extensions().get::<ConnectInfo<SocketAddr>>().map(|peer| peer.0.ip().to_string());
    request.extensions_mut().insert(Origin { address: peer, request_id: Some(id.clone()) });
    let started = Instant::now();
    let mut response = next.run(request).instrument(span.clone()).await;
    let seconds = started.elapsed().as_secs_f64();
    let status = response.status().as_u16();
    metrics::counter!(REQUESTS, "method" => method.to_string(), "route" => route.clone(), "status" => status.to_string())
        .increment(1);
    metrics::histogram!(REQUEST_SECONDS, "method" => method.to_string(), "route" => route).record(seconds);
    span.in_scope(|| tracing::debug!(status, seconds, "answered"));
    if let Ok(id) = HeaderValue::try_from(id) {
        response.headers_mut().insert(REQUEST_ID, id);
    }
    response
}
