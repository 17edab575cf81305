//! Faults as problem documents (RFC 9457), on every address that is not a page.

use axum::Json;
use axum::http::{HeaderValue, StatusCode, header};
use axum::response::{IntoResponse, Response};
use common::problem::Problem;

use crate::error::{AppError, ErrorKind};

/// Media type of problem documents.
pub(super) const PROBLEM_JSON: &str = "application/problem+json";

/// Seconds after which a client may ask again when something is unavailable.
pub(super) const RETRY_AFTER_SECONDS: HeaderValue = HeaderValue::from_static("5");

impl IntoResponse for AppError {
    fn into_response(self) -> Response {
        let row = self.kind().row();
        let status = StatusCode::from_u16(row.status).unwrap_or(StatusCode::INTERNAL_SERVER_ERROR);
        if status.is_server_error() {
            tracing::error!(kind = row.name, cause = %self.private_context(), "{self}");
        } else {
            tracing::debug!(kind = row.name, "{self}");
        }
        let mut response = (status, Json(Problem::from(&self))).into_response();
        response.headers_mut().insert(header::CONTENT_TYPE, HeaderValue::from_static(PROBLEM_JSON));
        response.headers_mut().insert(header::CACHE_CONTROL, HeaderValue::from_static("no-store"));
        if matches!(self.kind(), ErrorKind::Unavailable | ErrorKind::TimedOut) {
            response.headers_mut().insert(header::RETRY_AFTER, RETRY_AFTER_SECONDS);
        }
        if self.kind() == ErrorKind::Unauthenticated {
            response.headers_mut().insert(header::WWW_AUTHENTICATE, HeaderValue::from_static("Bearer"));
        }
        response
    }
}

/// No route has this address.
pub(super) async fn no_such_address(uri: axum::http::Uri) -> AppError {
    AppError::not_found("address", uri.path())
}

/// The address has no such method.
pub(super) async fn no_such_method(method: axum::http::Method, uri: axum::http::Uri) -> AppError {
    AppError::new(
        ErrorKind::MethodNotAllowed,
        format!("{} can't be asked with {method}; the header Allow says what it takes", uri.path()),
    )
}
