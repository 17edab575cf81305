//! What becomes of jobs that a cut leaves without quota, in the REST API.

use axum::extract::State;
use axum::http::{HeaderMap, StatusCode};
use axum::response::Response;
use common::api::{CutsView, NewCutPolicy, ReclaimView};
use common::problem::Problem;
use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;

use super::AppState;
use super::answer::{Table, answer, cell};
use super::extract::{Body, FormatQuery, Query};
use super::supply::{Problems, known};
use crate::error::AppError;
use crate::policy::Viewer;
use crate::services::audit::{Doer, Origin};
use crate::store::cuts::CutPolicy;

/// The routes, under `/api/v1`.
pub(super) fn routes() -> OpenApiRouter<AppState> {
    OpenApiRouter::new().routes(routes!(cuts)).routes(routes!(set_policy))
}

/// The policy on a cut, the jobs over quota now, and the last ones that were stopped: who, why, and the prices.
#[utoipa::path(
    get, path = "/supply/cuts", tag = "supply", params(FormatQuery),
    responses(
        (status = 200, description = "Policy, jobs over quota, reclaims",
         content((CutsView = "application/json"), (String = "text/csv"))),
        Problems,
    )
)]
async fn cuts(
    State(state): State<AppState>,
    viewer: Viewer,
    headers: HeaderMap,
    Query(query): Query<FormatQuery>,
) -> Result<Response, AppError> {
    let view = state.services().cuts(&viewer).await?;
    answer(&headers, query.format, &view)
}

/// Sets what becomes of jobs that a cut leaves without quota, from the next cycle on.
#[utoipa::path(
    put, path = "/supply/cuts/policy", tag = "supply",
    params(("If-Match" = Option<String>, Header, description = "`version` of the policy as it was read")),
    request_body = NewCutPolicy,
    responses(
        (status = 204, description = "It is set"),
        (status = 412, description = "It was changed since", body = Problem, content_type = "application/problem+json"),
        Problems,
    )
)]
async fn set_policy(
    State(state): State<AppState>,
    viewer: Viewer,
    origin: Origin,
    headers: HeaderMap,
    Body(new): Body<NewCutPolicy>,
) -> Result<StatusCode, AppError> {
    let doer = Doer { viewer: &viewer, origin: &origin, reason: &new.reason };
    let policy = CutPolicy { kind: new.policy, churn_chips: new.churn_chips };
    state.services().set_cut_policy(doer, policy, known(&headers)).await?;
    Ok(StatusCode::NO_CONTENT)
}

impl Table for CutsView {
    fn file_name(&self) -> String {
        "reclaims".to_owned()
    }

    fn columns(&self) -> Vec<&'static str> {
        vec![
            "cycle",
            "starts_at",
            "bid",
            "team",
            "chip_type",
            "chips",
            "why",
            "price_then_credits_per_chip_hour",
            "price_now_credits_per_chip_hour",
        ]
    }

    fn rows(&self) -> Vec<Vec<String>> {
        let row = |row: &ReclaimView| {
            vec![
                row.cycle.to_string(),
                row.at.to_string(),
                row.bid.to_string(),
                row.team.to_string(),
                row.chip_type.to_string(),
                row.chips.to_string(),
                row.why.as_str().to_owned(),
                cell(row.price_then),
                cell(row.price_now),
            ]
        };
        self.reclaims.iter().map(row).collect()
    }
}
