//! What a page says to HTTP: its status and its security policy. The only file that calls `leptos_axum`.

use axum::http::{HeaderValue, StatusCode, header};
use leptos::prelude::use_context;
use leptos_axum::ResponseOptions;

/// Sets the status of the page being rendered; outside a request it does nothing.
pub(crate) fn set_status(status: u16) {
    let status = StatusCode::from_u16(status).unwrap_or(StatusCode::INTERNAL_SERVER_ERROR);
    if let Some(response) = use_context::<ResponseOptions>() {
        response.set_status(status);
    }
}

/// Allows scripts of this site and those that carry `nonce`, and nothing from elsewhere.
pub(crate) fn security_policy(nonce: &str) -> String {
    format!(
        "default-src 'self'; script-src 'self' 'nonce-{nonce}' 'wasm-unsafe-eval'; style-src 'self'; \
         img-src 'self' data:; object-src 'none'; base-uri 'none'; form-action 'self'; frame-ancestors 'none'"
    )
}

/// Sends the policy of [`security_policy`] with the page being rendered.
pub(crate) fn set_security_policy(nonce: &str) {
    let policy = security_policy(nonce);
    if let (Some(response), Ok(policy)) = (use_context::<ResponseOptions>(), HeaderValue::from_str(&policy)) {
        response.insert_header(header::CONTENT_SECURITY_POLICY, policy);
    }
}
