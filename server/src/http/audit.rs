//! The audit log of the REST API.

use axum::extract::State;
use axum::http::HeaderMap;
use axum::response::Response;
use common::api::{AuditEntry, Page};
use common::ids::UserId;
use common::instant::Instant;
use serde::Deserialize;
use utoipa::IntoParams;
use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;

use super::AppState;
use super::answer::{Format, Table, answer, cell};
use super::api::Problems;
use super::extract::{Query, default_limit};
use crate::error::AppError;
use crate::policy::Viewer;
use crate::store::audit::AuditFilter;

/// The routes, under `/api/v1`.
pub(super) fn routes() -> OpenApiRouter<AppState> {
    OpenApiRouter::new().routes(routes!(audit))
}

#[derive(Debug, Deserialize, IntoParams)]
#[into_params(parameter_in = Query)]
#[serde(deny_unknown_fields)]
struct AuditQuery {
    /// Only what this account did.
    user: Option<UserId>,
    /// Only this action, such as `team.changed`.
    action: Option<String>,
    /// Only what was done to objects of this kind, such as `team`.
    object_kind: Option<String>,
    /// Only what was done to this object.
    object: Option<String>,
    /// At or after this instant.
    from: Option<Instant>,
    /// Before this instant.
    to: Option<Instant>,
    /// `next_cursor` of the page before.
    cursor: Option<String>,
    /// Rows in a page, 1 to 500.
    #[serde(default = "default_limit")]
    #[param(minimum = 1, maximum = 500, default = 50, required = false)]
    limit: u32,
    /// `json` or `csv`.
    #[serde(default)]
    #[param(inline, required = false)]
    format: Format,
}

/// What was done by people with power over others, newest first: for admins, finance and auditors.
#[utoipa::path(
    get, path = "/audit", tag = "organisation", params(AuditQuery),
    responses(
        (status = 200, description = "One page of the log",
         content((Page<AuditEntry> = "application/json"), (String = "text/csv"))),
        Problems,
    )
)]
async fn audit(
    State(state): State<AppState>,
    viewer: Viewer,
    headers: HeaderMap,
    Query(query): Query<AuditQuery>,
) -> Result<Response, AppError> {
    let AuditQuery { user, action, object_kind, object, from, to, cursor, limit, format } = query;
    let user = user.map(|user| user.to_string());
    let filter = AuditFilter { user, action, object_kind, object, from, to };
    let page = state.services().audit_log(&viewer, &filter, cursor.as_deref(), limit).await?;
    answer(&headers, format, &page)
}

impl Table for Page<AuditEntry> {
    fn file_name(&self) -> String {
        "audit-log".to_owned()
    }

    fn columns(&self) -> Vec<&'static str> {
        vec![
            "number",
            "at",
            "user",
            "user_name",
            "token",
            "action",
            "object_kind",
            "object",
            "before",
            "after",
            "reason",
            "address",
            "request_id",
        ]
    }

    fn rows(&self) -> Vec<Vec<String>> {
        let row = |entry: &AuditEntry| {
            vec![
                entry.number.to_string(),
                entry.at.to_string(),
                entry.user.to_string(),
                entry.user_name.clone(),
                cell(entry.token.as_ref()),
                entry.action.clone(),
                entry.object_kind.clone(),
                entry.object.clone(),
                cell(entry.before.as_ref()),
                cell(entry.after.as_ref()),
                entry.reason.clone(),
                cell(entry.address.as_ref()),
                cell(entry.request_id.as_ref()),
            ]
        };
        self.items.iter().map(row).collect()
    }
}
