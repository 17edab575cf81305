//! Extractors whose refusals are problem documents that name the field.

use axum::body::Bytes;
use axum::extract::{FromRequest, FromRequestParts, OriginalUri, Path, Request};
use axum::http::StatusCode;
use axum::http::request::Parts;
use serde::Deserialize;
use serde::de::DeserializeOwned;
use utoipa::IntoParams;

use super::answer::Format;
use crate::error::{AppError, ErrorKind};
use crate::policy::Viewer;
use crate::services::audit::Origin;

/// The query of an address, read into `T`. `T` denies unknown fields, so that a misspelt filter is not ignored. On pages
/// it may also say how the lists are sorted and searched, which their script reads (`assets/tables.js`).
#[derive(Debug)]
pub(super) struct Query<T>(pub(super) T);

impl<S: Sync, T: DeserializeOwned> FromRequestParts<S> for Query<T> {
    type Rejection = AppError;

    async fn from_request_parts(parts: &mut Parts, _state: &S) -> Result<Self, AppError> {
        let address = parts.extensions.get::<OriginalUri>().map_or(&parts.uri, |OriginalUri(whole)| whole);
        let text = match parts.uri.query().unwrap_or_default() {
            query if address.path().starts_with("/api/") => query.to_owned(),
            query => without_views_of_lists(query),
        };
        let text = text.as_str();
        let pairs = serde_urlencoded::Deserializer::new(form_urlencoded::parse(text.as_bytes()));
        serde_path_to_error::deserialize(pairs).map(Self).map_err(|error| {
            let path = error.path().to_string();
            let detail = error.inner().to_string();
            // A parameter given twice has no path; the reader names it in its text.
            let twice = detail.strip_prefix("duplicate field `").and_then(|rest| rest.strip_suffix('`'));
            let field = twice.unwrap_or_else(|| path.trim_matches(['?', '.'])).to_owned();
            let field = if field.is_empty() { "query".to_owned() } else { field };
            let detail = in_words(detail, text, &field);
            AppError::invalid(field, detail)
        })
    }
}

/// A query without `sort`, `find`, and those of named lists such as `teams.sort`.
fn without_views_of_lists(query: &str) -> String {
    let is_view = |name: &str| matches!(name.rsplit('.').next(), Some("sort" | "find"));
    let kept = form_urlencoded::parse(query.as_bytes()).filter(|(name, _)| !is_view(name));
    form_urlencoded::Serializer::new(String::new()).extend_pairs(kept).finish()
}

/// A page of a list.
#[derive(Debug, Deserialize, IntoParams)]
#[into_params(parameter_in = Query)]
#[serde(deny_unknown_fields)]
pub(super) struct ListQuery {
    /// `next_cursor` of the page before.
    pub(super) cursor: Option<String>,
    /// Rows in a page, 1 to 500.
    #[serde(default = "default_limit")]
    #[param(minimum = 1, maximum = 500, default = 50, required = false)]
    pub(super) limit: u32,
    /// `json` or `csv`.
    #[serde(default)]
    #[param(inline, required = false)]
    pub(super) format: Format,
}

/// Rows in a page of a list, where the request does not say how many.
pub(super) const fn default_limit() -> u32 {
    50
}

/// The form of an answer.
#[derive(Debug, Deserialize, IntoParams)]
#[into_params(parameter_in = Query)]
#[serde(deny_unknown_fields)]
pub(super) struct FormatQuery {
    /// `json` or `csv`.
    #[serde(default)]
    #[param(inline, required = false)]
    pub(super) format: Format,
}

/// What is wrong with a field. The reader's texts for numbers name neither the value nor what would be right.
fn in_words(detail: String, query: &str, field: &str) -> String {
    let about_numbers = ["invalid digit", "cannot parse integer", "number too"];
    if !about_numbers.iter().any(|start| detail.starts_with(start)) {
        return detail;
    }
    let value =
        form_urlencoded::parse(query.as_bytes()).find(|(name, _)| name == field).map(|(_, value)| value);
    format!("is {:?}; it must be a whole number in its range", value.unwrap_or_default())
}

/// The one variable part of an address, read into `T`; a text that is no `T` names nothing, so the answer is 404.
#[derive(Debug)]
pub(super) struct Segment<T>(pub(super) T);

impl<S: Send + Sync, T: std::str::FromStr> FromRequestParts<S> for Segment<T> {
    type Rejection = AppError;

    async fn from_request_parts(parts: &mut Parts, state: &S) -> Result<Self, AppError> {
        let text = Path::<String>::from_request_parts(parts, state).await.ok();
        let value = text.and_then(|Path(text)| text.parse().ok());
        value.map(Self).ok_or_else(|| AppError::not_found("address", parts.uri.path()))
    }
}

/// A JSON body, read into `T`; a field that can't be read is named.
#[derive(Debug)]
pub(super) struct Body<T>(pub(super) T);

impl<S: Send + Sync, T: DeserializeOwned> FromRequest<S> for Body<T> {
    type Rejection = AppError;

    async fn from_request(request: Request, state: &S) -> Result<Self, AppError> {
        let bytes = Bytes::from_request(request, state).await.map_err(|rejection| {
            let kind = match rejection.status() {
                StatusCode::PAYLOAD_TOO_LARGE => ErrorKind::TooLarge,
                _ => ErrorKind::MalformedInput,
            };
            AppError::new(kind, rejection.body_text())
        })?;
        let mut reader = serde_json::Deserializer::from_slice(&bytes);
        serde_path_to_error::deserialize(&mut reader).map(Self).map_err(|error| {
            let path = error.path().to_string();
            let field = path.trim_matches(['?', '.']);
            let detail = without_place(&error.inner().to_string());
            if field.is_empty() && !error.inner().is_data() {
                return AppError::malformed(format!("the body is no JSON: {detail}"));
            }
            // A field that is missing has no path; the reader names it in its text.
            let missing = detail.strip_prefix("missing field `").and_then(|rest| rest.strip_suffix('`'));
            match missing {
                Some(name) if field.is_empty() => AppError::invalid(name, "is missing"),
                Some(name) => AppError::invalid(format!("{field}.{name}"), "is missing"),
                None => AppError::invalid(if field.is_empty() { "body" } else { field }, detail),
            }
        })
    }
}

/// A text of the JSON reader without the line and column, which a program that sends one line does not need.
fn without_place(text: &str) -> String {
    text.split_once(" at line ").map_or(text, |(text, _)| text).to_owned()
}

/// The two variable parts of an address; texts that are none of them name nothing, so the answer is 404.
#[derive(Debug)]
pub(super) struct Segments<A, B>(pub(super) A, pub(super) B);

impl<S: Send + Sync, A: std::str::FromStr, B: std::str::FromStr> FromRequestParts<S> for Segments<A, B> {
    type Rejection = AppError;

    async fn from_request_parts(parts: &mut Parts, state: &S) -> Result<Self, AppError> {
        let texts = Path::<(String, String)>::from_request_parts(parts, state).await.ok();
        let values = texts.and_then(|Path((one, two))| Some(Self(one.parse().ok()?, two.parse().ok()?)));
        values.ok_or_else(|| AppError::not_found("address", parts.uri.path()))
    }
}

/// Who asks, as the layer around all routes found out; on its open addresses nobody may be refused.
impl<S: Sync> FromRequestParts<S> for Viewer {
    type Rejection = AppError;

    async fn from_request_parts(parts: &mut Parts, _state: &S) -> Result<Self, AppError> {
        parts.extensions.get::<Self>().cloned().ok_or_else(AppError::unauthenticated)
    }
}

/// Where the request comes from, for the audit log. The layers around the routes note it.
impl<S: Sync> FromRequestParts<S> for Origin {
    type Rejection = std::convert::Infallible;

    async fn from_request_parts(parts: &mut Parts, _state: &S) -> Result<Self, Self::Rejection> {
        Ok(parts.extensions.get::<Self>().cloned().unwrap_or_default())
    }
}
