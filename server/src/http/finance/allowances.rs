//! Sets allowances. What is in force is in a team's budget.

use axum::extract::State;
use axum::http::StatusCode;
use common::api::{AllowancePeriod, Carry};
use common::ids::{PoolId, TeamId};
use common::money::MicroCredits;
use serde::Deserialize;
use utoipa::ToSchema;
use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;

use super::super::AppState;
use super::super::api::Problems;
use super::super::extract::{Body, Segment};
use crate::error::AppError;
use crate::policy::Viewer;
use crate::services::audit::{Doer, Origin};
use crate::store::allowances::{Allowance, PoolAllowance};

/// The routes, under `/api/v1`.
pub(super) fn routes() -> OpenApiRouter<AppState> {
    OpenApiRouter::new().routes(routes!(set_of_team)).routes(routes!(set_of_pool))
}

/// What a team may spend.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
struct AllowanceBody {
    /// Local credits per period; `null` for no allowance.
    amount: Option<MicroCredits>,
    /// Once it is used up, bids get only chips that cost nothing until the period is over; a soft one only alerts.
    hard: bool,
    /// How long its period is; a month without it.
    #[serde(default)]
    period: AllowancePeriod,
    /// What becomes of what is left; nothing is carried over without it.
    #[serde(default)]
    carry: Carry,
    /// 1 to 500 characters; the audit log keeps it.
    reason: String,
}

/// Sets or takes away a team's allowance, from the next cycle on: for administrators of its pool.
#[utoipa::path(
    put, path = "/teams/{team}/allowance", tag = "finance",
    params(("team" = TeamId, Path, description = "The team")),
    request_body = AllowanceBody,
    responses((status = 204, description = "It is set"), Problems)
)]
async fn set_of_team(
    State(state): State<AppState>,
    viewer: Viewer,
    origin: Origin,
    Segment(team): Segment<TeamId>,
    Body(body): Body<AllowanceBody>,
) -> Result<StatusCode, AppError> {
    let AllowanceBody { amount, hard, period, carry, reason } = body;
    let doer = Doer { viewer: &viewer, origin: &origin, reason: &reason };
    let allowance = Allowance { team, amount, hard, period, carry };
    state.services().set_allowance(doer, &allowance, None).await?;
    Ok(StatusCode::NO_CONTENT)
}

/// What the teams of a pool together may spend.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
struct PoolAllowanceBody {
    /// Local credits per period; `null` for no allowance.
    amount: Option<MicroCredits>,
    /// Once it is used up, the bids of all its teams get only chips that cost nothing until the period is over.
    hard: bool,
    /// How long its period is; a month without it.
    #[serde(default)]
    period: AllowancePeriod,
    /// What becomes of what is left; nothing is carried over without it.
    #[serde(default)]
    carry: Carry,
    /// The allowances of its teams may sum to more than it.
    #[serde(default)]
    overcommit: bool,
    /// 1 to 500 characters; the audit log keeps it.
    reason: String,
}

/// Sets or takes away what the teams of a pool together may spend, from the next cycle on: for admins.
#[utoipa::path(
    put, path = "/pools/{pool}/allowance", tag = "finance",
    params(("pool" = PoolId, Path, description = "The pool")),
    request_body = PoolAllowanceBody,
    responses((status = 204, description = "It is set"), Problems)
)]
async fn set_of_pool(
    State(state): State<AppState>,
    viewer: Viewer,
    origin: Origin,
    Segment(pool): Segment<PoolId>,
    Body(body): Body<PoolAllowanceBody>,
) -> Result<StatusCode, AppError> {
    let PoolAllowanceBody { amount, hard, period, carry, overcommit, reason } = body;
    let doer = Doer { viewer: &viewer, origin: &origin, reason: &reason };
    let allowance = PoolAllowance { pool, amount, hard, period, carry, overcommit };
    state.services().set_pool_allowance(doer, &allowance, None).await?;
    Ok(StatusCode::NO_CONTENT)
}
