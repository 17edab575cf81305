//! The audit log: what people with power did, and why.

use serde::{Deserialize, Serialize};

use crate::ids::{TokenId, UserId};
use crate::instant::Instant;

/// Something that was done, or looked at, by somebody with power over others.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct AuditEntry {
    /// Its number, from 1 without gaps.
    pub number: u64,
    /// When.
    pub at: Instant,
    /// Who.
    pub user: UserId,
    /// Display name at that time.
    pub user_name: String,
    /// The token that was used; absent for somebody at a browser.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub token: Option<TokenId>,
    /// What was done, such as `team.changed`.
    pub action: String,
    /// What it was done to: `team`, `pool`, `user`, …
    pub object_kind: String,
    /// The id of the object.
    pub object: String,
    /// The object before; absent where there was none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "openapi", schema(value_type = Object))]
    pub before: Option<serde_json::Value>,
    /// The object after; absent where there is none any more, and for a look.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "openapi", schema(value_type = Object))]
    pub after: Option<serde_json::Value>,
    /// Why, in the words of whoever did it.
    pub reason: String,
    /// The network address it came from, where it is known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub address: Option<String>,
    /// `X-Request-Id` of the request.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub request_id: Option<String>,
}
