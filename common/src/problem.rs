//! Errors as they travel: RFC 9457 problem documents.

use serde::{Deserialize, Serialize};

use crate::api::BidView;

/// A problem document (RFC 9457), the body of every error answer.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, thiserror::Error)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[error("{detail}")]
pub struct Problem {
    /// A stable name of the kind of problem, such as `not_found`.
    #[serde(rename = "type")]
    pub kind: String,
    /// The kind in a few words.
    pub title: String,
    /// The HTTP status.
    pub status: u16,
    /// What was asked, what the limit is, and what to do.
    pub detail: String,
    /// The fields at fault, where there are any.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub errors: Vec<FieldProblem>,
    /// What the thing is now, where it was changed since the client read it (412): to show both.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub newest: Option<Box<BidView>>,
}

/// What is wrong with one field of a request.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct FieldProblem {
    /// The field's path in the request, such as `alternatives[0].chips`.
    pub field: String,
    /// What is wrong and what would be right.
    pub detail: String,
}
