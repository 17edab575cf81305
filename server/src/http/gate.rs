//! What answers before the market is there: while the database is waited for, or a demo is set up.
//!
//! The port is taken first, so that a supervisor, a load balancer or a person at a browser hears what the server waits
//! for. Once the gate is opened every request goes to the whole server, without a connection being lost.

use std::sync::{Arc, OnceLock, RwLock};

use axum::Router;
use axum::extract::{Request, State};
use axum::http::{HeaderValue, StatusCode, header};
use axum::middleware::from_fn;
use axum::response::{Html, IntoResponse, Response};
use common::api::MarketClock;
use tower::ServiceExt as _;

use super::health::{self, Readiness};
use super::layers::security_headers;
use super::problem::RETRY_AFTER_SECONDS;
use crate::error::AppError;

/// A door that is closed until the server behind it is ready.
#[derive(Clone)]
pub struct Gate(Arc<Inner>);

struct Inner {
    behind: OnceLock<Router>,
    clock: MarketClock,
    reason: RwLock<&'static str>,
}

impl Gate {
    /// A closed gate. `clock` is what readiness shows for the time being; `reason` ends the sentence "the market is
    /// not ready yet: …".
    #[must_use]
    pub fn closed(clock: MarketClock, reason: &'static str) -> Self {
        Self(Arc::new(Inner { behind: OnceLock::new(), clock, reason: RwLock::new(reason) }))
    }

    /// Says from now on that something else is waited for.
    pub fn wait_for(&self, reason: &'static str) {
        // A text is whole, whatever happened to the thread that wrote one before.
        *self.0.reason.write().unwrap_or_else(std::sync::PoisonError::into_inner) = reason;
    }

    /// Lets all requests through to a server. The first one stays.
    pub fn open(&self, server: Router) {
        if self.0.behind.set(server).is_err() {
            tracing::warn!("the gate is open already");
        }
    }

    /// The service to listen with.
    pub fn router(&self) -> Router {
        Router::new().fallback(answer).with_state(self.clone())
    }

    fn message(&self) -> String {
        let reason = *self.0.reason.read().unwrap_or_else(std::sync::PoisonError::into_inner);
        format!("the market is not ready yet: {reason}")
    }
}

async fn answer(State(gate): State<Gate>, request: Request) -> Response {
    match gate.0.behind.get() {
        Some(server) => server.clone().oneshot(request).await.into_response(),
        None => closed(gate, request).await,
    }
}

/// The answer of a closed gate, with the headers of all others.
async fn closed(gate: Gate, request: Request) -> Response {
    let closed = move |request: Request| async move {
        match request.uri().path() {
            "/healthz" => health::healthz().await,
            "/readyz" => Readiness::waiting(gate.message(), gate.0.clock.clone()).into_response(),
            path if path == "/metrics" || path == "/api" || path.starts_with("/api/") => {
                AppError::unavailable(gate.message()).into_response()
            }
            _ => page(&gate.message()),
        }
    };
    let service = Router::new().fallback(closed).layer(from_fn(security_headers));
    service.oneshot(request).await.into_response()
}

/// A page that needs nothing of the built site, and asks again by itself.
fn page(message: &str) -> Response {
    let mut letters = message.chars();
    let sentence: String = letters.next().into_iter().flat_map(char::to_uppercase).chain(letters).collect();
    let text = format!(
        "<!DOCTYPE html><html lang=\"en\"><head><meta charset=\"utf-8\"><title>Not ready yet</title>\
         <meta name=\"viewport\" content=\"width=device-width\"><meta name=\"color-scheme\" content=\"light dark\">\
         <meta http-equiv=\"refresh\" content=\"2\"></head><body><h1>Not ready yet</h1><p>{sentence}.</p>\
         <p>This page asks again by itself.</p></body></html>"
    );
    let headers = [
        (header::RETRY_AFTER, RETRY_AFTER_SECONDS),
        (header::CACHE_CONTROL, HeaderValue::from_static("no-store")),
    ];
    (StatusCode::SERVICE_UNAVAILABLE, headers, Html(text)).into_response()
}
