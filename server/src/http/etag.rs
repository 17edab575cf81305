//! Versions of what can be changed: the `ETag` of an answer, and `If-Match`, with which a change names the version that
//! it was made from.

use std::fmt::Display;

use axum::Json;
use axum::http::{HeaderMap, HeaderValue, header};
use axum::response::{IntoResponse, Response};
use serde::Serialize;

use crate::error::AppError;

/// What `If-Match` says.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Seen {
    /// Whatever is there (`*`).
    Any,
    /// This version.
    Version(String),
}

/// The version that a change was made from; none where the header is missing.
pub(super) fn if_match(headers: &HeaderMap) -> Result<Option<Seen>, AppError> {
    let Some(value) = headers.get(header::IF_MATCH) else { return Ok(None) };
    let text = value.to_str().unwrap_or_default().trim();
    if text == "*" {
        return Ok(Some(Seen::Any));
    }
    let tag = text.strip_prefix('"').and_then(|rest| rest.strip_suffix('"'));
    let tag = tag.filter(|tag| !tag.is_empty()).ok_or_else(|| no_tag(text))?;
    Ok(Some(Seen::Version(tag.to_owned())))
}

/// The version that a change must name; none where any will do (`If-Match: *`).
pub(super) fn seen_version(headers: &HeaderMap) -> Result<Option<String>, AppError> {
    match if_match(headers)? {
        None => Err(missing()),
        Some(Seen::Any) => Ok(None),
        Some(Seen::Version(version)) => Ok(Some(version)),
    }
}

/// A change does not say which version it was made from.
pub(super) fn missing() -> AppError {
    AppError::invalid(
        "If-Match",
        "is missing; send the ETag of what you read, so that nobody's change is lost, or * for whatever is there",
    )
}

/// A text that is no tag.
pub(super) fn no_tag(text: &str) -> AppError {
    AppError::invalid("If-Match", format!("is {text:?}; send the ETag of what you read, such as \"3\""))
}

/// An answer with the version of what it is about: what `If-Match` takes.
pub(super) fn with_version<T: Serialize>(version: &impl Display, body: &T) -> Result<Response, AppError> {
    let tag = HeaderValue::try_from(format!("\"{version}\"")).map_err(AppError::internal)?;
    let headers = [(header::ETAG, tag), (header::CACHE_CONTROL, HeaderValue::from_static("no-store"))];
    Ok((headers, Json(body)).into_response())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn seen(text: &'static str) -> Result<Option<Seen>, AppError> {
        let mut headers = HeaderMap::new();
        headers.insert(header::IF_MATCH, HeaderValue::from_static(text));
        if_match(&headers)
    }

    #[test]
    fn a_version_has_quotes_and_a_star_is_any() {
        assert_eq!(seen("\"3\"").unwrap(), Some(Seen::Version("3".to_owned())));
        assert_eq!(seen("*").unwrap(), Some(Seen::Any));
        for text in ["3", "\"\"", "\"", "W/\"3\"", ""] {
            assert!(seen(text).is_err(), "{text}");
        }
        assert!(seen_version(&HeaderMap::new()).is_err(), "a change says what it was made from");
    }
}
