//! Pages without WebAssembly: what their handlers work with, and their routes.
//!
//! A handler reads what was posted as texts ([`Posted`]), calls one service, and answers with the page again
//! ([`Plain::refused`]) or with a redirect and a notice ([`Plain::done`]).

mod account;
mod budget;
mod exports;
mod fields;
mod finance;
mod lab;
mod link;
mod organisation;
mod planner;
mod provider;
mod reconciliation;
pub(super) mod sign_in;
mod supply;

use std::sync::Arc;

use app::document::SiteFiles;
use app::plain::form::FormState;
use app::plain::{Frame, PlainPage, render};
use axum::Router;
use axum::extract::{FromRequest, FromRequestParts, Multipart, Request};
use axum::http::request::Parts;
use axum::http::{HeaderValue, StatusCode, header};
use axum::response::{Html, IntoResponse, Redirect, Response};
use axum::routing::{get, post};
use common::api::ShellView;
use common::names::Names;
use common::problem::Problem;
use leptos::prelude::AnyView;

use super::AppState;
use super::cookies::Cookies;
use crate::error::AppError;
use crate::policy::Viewer;

/// The routes.
pub(super) fn routes() -> Router<AppState> {
    Router::new()
        .route("/sign-in", get(sign_in::page).post(sign_in::sign_in))
        .route("/sign-in/oidc", get(provider::depart).post(provider::depart_with_form))
        .route("/sign-in/oidc/callback", get(provider::arrive))
        .route("/account/provider", post(provider::link))
        .route("/account/provider/unlink", post(provider::unlink))
        .route("/sign-out", post(sign_in::sign_out))
        .route("/account", get(account::page))
        .route("/account/password", post(account::password))
        .route("/account/sessions/{id}/end", post(account::end_session))
        .route("/account/sessions/end-others", post(account::end_others))
        .route("/account/tokens", post(account::make_token))
        .route("/account/tokens/{id}/revoke", post(account::revoke_token))
        .route("/link/{secret}", get(link::page).post(link::used))
        .merge(budget::routes())
        .merge(exports::routes())
        .merge(reconciliation::routes())
        .merge(finance::routes())
        .merge(organisation::routes())
        .merge(lab::routes())
        .merge(planner::routes())
        .merge(supply::routes())
}

/// What is around the page of a request.
pub(super) struct Plain {
    state: AppState,
    site: SiteFiles,
    shell: Option<ShellView>,
    names: Arc<Names>,
    path: String,
    notice: Option<String>,
    cookies: Cookies,
}

impl FromRequestParts<AppState> for Plain {
    type Rejection = std::convert::Infallible;

    async fn from_request_parts(parts: &mut Parts, state: &AppState) -> Result<Self, Self::Rejection> {
        let viewer = parts.extensions.get::<Viewer>();
        let (shell, names) = match viewer {
            // Without an organisation there is nothing to show around the page.
            Some(viewer) => (state.market().shell(Some(viewer)).await.ok(), state.market().names().await),
            None => (None, Arc::default()),
        };
        let mut cookies = Cookies::new(state.config());
        Ok(Self {
            notice: cookies.take_notice(&parts.headers),
            state: state.clone(),
            site: state.site().clone(),
            shell,
            names,
            path: parts.uri.path().to_owned(),
            cookies,
        })
    }
}

impl Plain {
    /// The services and settings.
    pub(super) fn state(&self) -> &AppState {
        &self.state
    }

    /// What pools, teams and chip types are called.
    pub(super) fn names(&self) -> &Names {
        &self.names
    }

    /// The page.
    pub(super) fn ok(self, title: &str, main: impl FnOnce() -> AnyView) -> Response {
        self.with_status(StatusCode::OK, title, main)
    }

    /// The page with a form that was refused: `main` shows what was typed and why it was refused.
    pub(super) fn refused(self, error: &AppError, title: &str, main: impl FnOnce() -> AnyView) -> Response {
        self.with_status(status(error), title, main)
    }

    /// A fault that is no matter of a field, as a page.
    pub(super) fn problem(self, error: &AppError) -> Response {
        if status(error).is_server_error() {
            tracing::error!(cause = %error.private_context(), "{error}");
        }
        let problem = Problem::from(error);
        let title = problem.title.clone();
        self.with_status(status(error), &title, || app::plain::problem(problem))
    }

    /// Sends the browser to a page, which says once what was done.
    pub(super) fn done(mut self, to: &str, notice: &str) -> Response {
        self.cookies.notice(notice);
        self.to(to)
    }

    /// Sends the browser to a page.
    pub(super) fn to(self, to: &str) -> Response {
        let mut response = Redirect::to(to).into_response();
        self.cookies.set_on(&mut response);
        response
    }

    /// The cookies that the answer sets.
    pub(super) fn cookies(&mut self) -> &mut Cookies {
        &mut self.cookies
    }

    fn with_status(self, status: StatusCode, title: &str, main: impl FnOnce() -> AnyView) -> Response {
        let frame = Frame {
            site: &self.site,
            shell: self.shell,
            names: self.names,
            path: &self.path,
            title: title.to_owned(),
            notice: self.notice,
        };
        let PlainPage { html, policy } = render(frame, main);
        let mut response = (status, Html(html)).into_response();
        if let Ok(policy) = HeaderValue::try_from(policy) {
            response.headers_mut().insert(header::CONTENT_SECURITY_POLICY, policy);
        }
        // A page of somebody is not shown to whoever sits down after the sign-out.
        response.headers_mut().insert(header::CACHE_CONTROL, HeaderValue::from_static("no-store"));
        self.cookies.set_on(&mut response);
        response
    }
}

fn status(error: &AppError) -> StatusCode {
    StatusCode::from_u16(error.kind().row().status).unwrap_or(StatusCode::INTERNAL_SERVER_ERROR)
}

/// A form as it was posted: names and values in order.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Posted(Vec<(String, String)>);

impl FromRequest<AppState> for Posted {
    type Rejection = AppError;

    async fn from_request(request: Request, state: &AppState) -> Result<Self, AppError> {
        let kind = request.headers().get(header::CONTENT_TYPE).and_then(|kind| kind.to_str().ok());
        if kind.is_some_and(|kind| kind.starts_with("multipart/form-data")) {
            return Self::in_parts(request, state).await;
        }
        let body = axum::body::Bytes::from_request(request, state).await.map_err(too_large)?;
        Ok(Self(form_urlencoded::parse(&body).into_owned().collect()))
    }
}

fn too_large(error: impl std::error::Error + Send + Sync + 'static) -> AppError {
    AppError::new(crate::error::ErrorKind::TooLarge, "the form is larger than the server takes")
        .with_context(error)
}

impl Posted {
    /// Reads a form with a file in it; the file's text is the value of its field.
    async fn in_parts(request: Request, state: &AppState) -> Result<Self, AppError> {
        let mut parts = Multipart::from_request(request, state).await.map_err(too_large)?;
        let mut fields = Vec::new();
        while let Some(part) = parts.next_field().await.map_err(too_large)? {
            let name = part.name().unwrap_or_default().to_owned();
            let bytes = part.bytes().await.map_err(too_large)?;
            let text = String::from_utf8(bytes.to_vec());
            let text =
                text.map_err(|_| AppError::invalid(name.as_str(), "is not text in UTF-8; save it as UTF-8"))?;
            fields.push((name, text));
        }
        Ok(Self(fields))
    }

    /// The first value of a field; empty without one.
    pub(super) fn get(&self, name: &str) -> &str {
        self.0.iter().find(|(known, _)| known == name).map_or("", |(_, value)| value)
    }

    /// All values of a field.
    pub(super) fn all<'a>(&'a self, name: &'a str) -> impl Iterator<Item = &'a str> {
        self.0.iter().filter(move |(known, _)| known == name).map(|(_, value)| value.as_str())
    }

    /// The form to be shown again, with what was typed and why it was refused.
    pub(super) fn refused(self, error: &AppError) -> FormState {
        FormState::refused(self.0, &Problem::from(error))
    }

    /// The fields, with all their values.
    fn fields(&self) -> &[(String, String)] {
        &self.0
    }

    /// All fields.
    fn into_fields(self) -> Vec<(String, String)> {
        self.0
    }
}

/// A path of this site, from what a browser sent; anything else becomes `/`. So nobody is sent elsewhere.
fn local_path(text: &str) -> &str {
    let inside = text.starts_with('/') && !text.starts_with("//");
    let plain = text.bytes().all(|byte| byte.is_ascii_graphic() && byte != b'\\');
    if inside && plain && text.len() <= 2_000 { text } else { "/" }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nobody_is_sent_elsewhere() {
        for text in [
            "//evil.example",
            "https://evil.example",
            "/\\evil.example",
            "",
            "javascript:x",
            "/\t/evil",
            "/ü",
        ] {
            assert_eq!(local_path(text), "/", "{text}");
        }
        assert_eq!(local_path("/book?chip=H100"), "/book?chip=H100");
    }
}
