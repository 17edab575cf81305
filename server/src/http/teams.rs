//! Teams of the REST API: what they earn, what their bids may cost, who is in them.

use axum::extract::State;
use axum::http::HeaderMap;
use axum::response::Response;
use axum::{Json, http::StatusCode};
use common::api::{
    BalanceEffect, ChangeLeverage, ChangeTeam, Changed, IncomeEffectView, MemberView, NewTeam, Page,
    PutMember, RemoveMember, TeamView,
};
use common::ids::{PoolId, TeamId};
use common::money::MicroCredits;
use serde::Deserialize;
use utoipa::IntoParams;
use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;

use super::AppState;
use super::answer::{Format, Table, answer};
use super::api::{ChangedSince, Problems};
use super::etag::{seen_version, with_version};
use super::extract::{Body, FormatQuery, Query, Segment, default_limit};
use super::organisation::{changed, made};
use crate::error::AppError;
use crate::policy::Viewer;
use crate::services::audit::{Doer, Origin};
use crate::services::directory::Opened;
use crate::store::entities::Team;

/// The routes, under `/api/v1`.
pub(super) fn routes() -> OpenApiRouter<AppState> {
    OpenApiRouter::new()
        .routes(routes!(teams, add_team))
        .routes(routes!(team, set_team))
        .routes(routes!(income_effect))
        .routes(routes!(set_leverage))
        .routes(routes!(members, put_member))
        .routes(routes!(remove_member))
}

#[derive(Debug, Deserialize, IntoParams)]
#[into_params(parameter_in = Query)]
#[serde(deny_unknown_fields)]
struct TeamsQuery {
    /// Only teams of this pool.
    pool: Option<PoolId>,
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

/// The teams as they are set, in order of their ids.
#[utoipa::path(
    get, path = "/teams", tag = "organisation", params(TeamsQuery),
    responses(
        (status = 200, description = "One page of teams",
         content((Page<TeamView> = "application/json"), (String = "text/csv"))),
        Problems,
    )
)]
async fn teams(
    State(state): State<AppState>,
    viewer: Viewer,
    headers: HeaderMap,
    Query(query): Query<TeamsQuery>,
) -> Result<Response, AppError> {
    let TeamsQuery { pool, cursor, limit, format } = query;
    let page = state.services().teams(&viewer, pool.as_ref(), cursor.as_deref(), limit).await?;
    answer(&headers, format, &page)
}

/// Adds a team to a pool, from the next cycle on: for the pool's administrators and admins.
#[utoipa::path(
    post, path = "/teams", tag = "organisation", request_body = NewTeam,
    responses((status = 201, description = "The team; `ETag` is its version", body = Changed<TeamView>), Problems)
)]
async fn add_team(
    State(state): State<AppState>,
    viewer: Viewer,
    origin: Origin,
    Body(new): Body<NewTeam>,
) -> Result<Response, AppError> {
    let doer = Doer { viewer: &viewer, origin: &origin, reason: &new.reason };
    let NewTeam { id, pool, name, income, leverage_thousandths, .. } = new.clone();
    let team = Team { id, pool, name, income, leverage_thousandths, archived: false };
    state.services().add_team(doer, &team).await?;
    let now = state.services().team(&viewer, &team.id).await?;
    made(&state, format!("/api/v1/teams/{}", team.id), now).await
}

/// One team as it is set.
#[utoipa::path(
    get, path = "/teams/{team}", tag = "organisation",
    params(("team" = TeamId, Path, description = "The team")),
    responses((status = 200, description = "As set; `ETag` is its version", body = TeamView), Problems)
)]
async fn team(
    State(state): State<AppState>,
    viewer: Viewer,
    Segment(id): Segment<TeamId>,
) -> Result<Response, AppError> {
    let Opened { view, version } = state.services().team(&viewer, &id).await?;
    with_version(&version, &view)
}

/// Changes a team's name and income, from the next cycle on: for the administrators of its pool and admins. Another
/// income moves balances of the pool; what it would do is asked for at `income-effect`.
#[utoipa::path(
    put, path = "/teams/{team}", tag = "organisation",
    params(
        ("team" = TeamId, Path, description = "The team"),
        ("If-Match" = String, Header, description = "`ETag` of the team as it was read, or `*`"),
    ),
    request_body = ChangeTeam,
    responses(
        (status = 200, description = "As set now; `ETag` is its version", body = Changed<TeamView>),
        ChangedSince, Problems,
    )
)]
async fn set_team(
    State(state): State<AppState>,
    viewer: Viewer,
    origin: Origin,
    Segment(id): Segment<TeamId>,
    headers: HeaderMap,
    Body(change): Body<ChangeTeam>,
) -> Result<Response, AppError> {
    let (seen, services) = (seen_version(&headers)?, state.services());
    let doer = Doer { viewer: &viewer, origin: &origin, reason: &change.reason };
    services.set_team(doer, &id, (&change.name, change.income), seen.as_deref()).await?;
    changed(&state, services.team(&viewer, &id).await?).await
}

#[derive(Debug, Deserialize, IntoParams)]
#[into_params(parameter_in = Query)]
#[serde(deny_unknown_fields)]
struct EffectQuery {
    /// The income that the team would have, in local credits per hour.
    income: MicroCredits,
}

/// What another income of a team would do to the balances of its pool. Changes nothing.
#[utoipa::path(
    get, path = "/teams/{team}/income-effect", tag = "organisation",
    params(("team" = TeamId, Path, description = "The team"), EffectQuery),
    responses((status = 200, description = "The effect", body = IncomeEffectView), Problems)
)]
async fn income_effect(
    State(state): State<AppState>,
    viewer: Viewer,
    Segment(id): Segment<TeamId>,
    Query(query): Query<EffectQuery>,
) -> Result<Json<IncomeEffectView>, AppError> {
    let effect = state.services().income_effect(&viewer, &id, query.income).await?;
    let balances = effect.balances.into_iter();
    Ok(Json(IncomeEffectView {
        total_before: effect.total_before,
        total_after: effect.total_after,
        rebases: effect.rebases,
        balances: balances.map(|(team, before, after)| BalanceEffect { team, before, after }).collect(),
        effective_cycle: effect.cycle,
    }))
}

/// Sets what a team's bids may cost, as a part of its income, from the next cycle on: also for leads of the team.
#[utoipa::path(
    put, path = "/teams/{team}/leverage", tag = "organisation",
    params(
        ("team" = TeamId, Path, description = "The team"),
        ("If-Match" = String, Header, description = "`ETag` of the team as it was read, or `*`"),
    ),
    request_body = ChangeLeverage,
    responses(
        (status = 200, description = "As set now; `ETag` is the team's version", body = Changed<TeamView>),
        ChangedSince, Problems,
    )
)]
async fn set_leverage(
    State(state): State<AppState>,
    viewer: Viewer,
    origin: Origin,
    Segment(id): Segment<TeamId>,
    headers: HeaderMap,
    Body(change): Body<ChangeLeverage>,
) -> Result<Response, AppError> {
    let (seen, services) = (seen_version(&headers)?, state.services());
    let doer = Doer { viewer: &viewer, origin: &origin, reason: &change.reason };
    services.set_leverage(doer, &id, change.leverage_thousandths, seen.as_deref()).await?;
    changed(&state, services.team(&viewer, &id).await?).await
}

/// Who is in a team, in order of their names: for those who may read its budget.
#[utoipa::path(
    get, path = "/teams/{team}/members", tag = "organisation",
    params(("team" = TeamId, Path, description = "The team"), FormatQuery),
    responses(
        (status = 200, description = "All of them",
         content((Page<MemberView> = "application/json"), (String = "text/csv"))),
        Problems,
    )
)]
async fn members(
    State(state): State<AppState>,
    viewer: Viewer,
    Segment(id): Segment<TeamId>,
    headers: HeaderMap,
    Query(query): Query<FormatQuery>,
) -> Result<Response, AppError> {
    answer(&headers, query.format, &state.services().member_list(&viewer, &id).await?)
}

/// Puts somebody into a team, or changes whether a member leads it: for leads, the pool's administrators and admins. It
/// holds from the person's next request on. Repeated, it changes nothing.
#[utoipa::path(
    post, path = "/teams/{team}/members", tag = "organisation",
    params(("team" = TeamId, Path, description = "The team")),
    request_body = PutMember,
    responses((status = 200, description = "The members", body = Page<MemberView>), Problems)
)]
async fn put_member(
    State(state): State<AppState>,
    viewer: Viewer,
    origin: Origin,
    Segment(id): Segment<TeamId>,
    Body(put): Body<PutMember>,
) -> Result<Json<Page<MemberView>>, AppError> {
    let doer = Doer { viewer: &viewer, origin: &origin, reason: &put.reason };
    state.services().put_member(doer, &id, &put.login, put.leads).await?;
    Ok(Json(state.services().member_list(&viewer, &id).await?))
}

/// Takes a member out of a team. The open bids that the member placed for it end with the next cycle.
#[utoipa::path(
    post, path = "/teams/{team}/members/removals", tag = "organisation",
    params(("team" = TeamId, Path, description = "The team")),
    request_body = RemoveMember,
    responses((status = 204, description = "The person is no member any more"), Problems)
)]
async fn remove_member(
    State(state): State<AppState>,
    viewer: Viewer,
    origin: Origin,
    Segment(id): Segment<TeamId>,
    Body(remove): Body<RemoveMember>,
) -> Result<StatusCode, AppError> {
    let doer = Doer { viewer: &viewer, origin: &origin, reason: &remove.reason };
    state.services().remove_member(doer, &id, &remove.user).await?;
    Ok(StatusCode::NO_CONTENT)
}

impl Table for Page<TeamView> {
    fn file_name(&self) -> String {
        "teams".to_owned()
    }

    fn columns(&self) -> Vec<&'static str> {
        vec!["team", "pool", "name", "income_credits_per_hour", "leverage_thousandths"]
    }

    fn rows(&self) -> Vec<Vec<String>> {
        let row = |team: &TeamView| {
            vec![
                team.id.to_string(),
                team.pool.to_string(),
                team.name.clone(),
                team.income.to_string(),
                team.leverage_thousandths.to_string(),
            ]
        };
        self.items.iter().map(row).collect()
    }
}

impl Table for Page<MemberView> {
    fn file_name(&self) -> String {
        "members".to_owned()
    }

    fn columns(&self) -> Vec<&'static str> {
        vec!["user", "name", "leads"]
    }

    fn rows(&self) -> Vec<Vec<String>> {
        let row = |member: &MemberView| {
            vec![member.user.to_string(), member.name.clone(), member.leads.to_string()]
        };
        self.items.iter().map(row).collect()
    }
}
