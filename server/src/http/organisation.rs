//! The organisation of the REST API: settings, pools, chip types, teams to look after.

use axum::extract::State;
use axum::http::{HeaderMap, HeaderValue, StatusCode, header};
use axum::response::{IntoResponse, Response};
use common::api::{
    ChangePool, ChangePoolAdmin, ChangeSettings, Changed, ChipTypeView, NewPool, Page, PoolView,
    SettingsView, SharesView, TeamShare, WatchListView, WatchedTeam,
};
use common::ids::PoolId;
use serde::{Deserialize, Serialize};
use utoipa::IntoParams;
use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;

use super::AppState;
use super::answer::{Format, Table, answer, cell};
use super::api::{ChangedSince, Problems};
use super::etag::{seen_version, with_version};
use super::extract::{Body, FormatQuery, ListQuery, Query, Segment};
use super::tables::thousandths;
use crate::error::AppError;
use crate::policy::{Action, Object, Viewer};
use crate::services::audit::{Doer, Origin};
use crate::services::directory::{Opened, lending_of};
use crate::store::entities::Pool;

/// The routes, under `/api/v1`.
pub(super) fn routes() -> OpenApiRouter<AppState> {
    OpenApiRouter::new()
        .routes(routes!(settings, set_settings))
        .routes(routes!(watch_list))
        .routes(routes!(shares))
        .routes(routes!(chip_types))
        .routes(routes!(pools, add_pool))
        .routes(routes!(pool, set_pool))
        .routes(routes!(set_pool_admin))
}

/// Answers a change with what is set now and the cycle from which it holds.
pub(super) async fn changed<T: Serialize>(state: &AppState, now: Opened<T>) -> Result<Response, AppError> {
    let effective_cycle = state.services().next_cycle().await?;
    with_version(&now.version, &Changed { now: now.view, effective_cycle })
}

/// Answers the making of something: as [`changed`], with its address.
pub(super) async fn made<T: Serialize>(
    state: &AppState,
    address: String,
    now: Opened<T>,
) -> Result<Response, AppError> {
    let location = HeaderValue::try_from(address).map_err(AppError::internal)?;
    Ok((StatusCode::CREATED, [(header::LOCATION, location)], changed(state, now).await?).into_response())
}

/// The organisation's name and the settings of its market.
#[utoipa::path(
    get, path = "/organisation", tag = "organisation",
    responses((status = 200, description = "As set; `ETag` is the version", body = SettingsView), Problems)
)]
async fn settings(State(state): State<AppState>, viewer: Viewer) -> Result<Response, AppError> {
    let Opened { view, version } = state.services().settings(&viewer).await?;
    with_version(&version, &view)
}

/// Changes the settings, from the next cycle on: for admins.
#[utoipa::path(
    put, path = "/organisation", tag = "organisation",
    params(("If-Match" = String, Header, description = "`ETag` of the settings as they were read, or `*`")),
    request_body = ChangeSettings,
    responses(
        (status = 200, description = "As set now; `ETag` is the version", body = Changed<SettingsView>),
        ChangedSince, Problems,
    )
)]
async fn set_settings(
    State(state): State<AppState>,
    viewer: Viewer,
    origin: Origin,
    headers: HeaderMap,
    Body(change): Body<ChangeSettings>,
) -> Result<Response, AppError> {
    let (seen, services) = (seen_version(&headers)?, state.services());
    services.put_settings(&viewer, &origin, change, seen.as_deref()).await?;
    changed(&state, services.settings(&viewer).await?).await
}

/// The chip types and whose their chips are.
#[utoipa::path(
    get, path = "/chip-types", tag = "organisation", params(FormatQuery),
    responses(
        (status = 200, description = "All of them",
         content((Page<ChipTypeView> = "application/json"), (String = "text/csv"))),
        Problems,
    )
)]
async fn chip_types(
    State(state): State<AppState>,
    viewer: Viewer,
    headers: HeaderMap,
    Query(query): Query<FormatQuery>,
) -> Result<Response, AppError> {
    answer(&headers, query.format, &state.services().chip_types(&viewer).await?)
}

/// Teams over their grant, starved and idle in the cycle in force: for admins and auditors.
#[utoipa::path(
    get, path = "/organisation/watch-list", tag = "organisation", params(FormatQuery),
    responses(
        (status = 200, description = "The three lists",
         content((WatchListView = "application/json"), (String = "text/csv"))),
        Problems,
    )
)]
async fn watch_list(
    State(state): State<AppState>,
    viewer: Viewer,
    headers: HeaderMap,
    Query(query): Query<FormatQuery>,
) -> Result<Response, AppError> {
    answer(&headers, query.format, &state.services().watch_list(&viewer).await?)
}

#[derive(Debug, Deserialize, IntoParams)]
#[into_params(parameter_in = Query)]
#[serde(deny_unknown_fields)]
struct SharesQuery {
    /// How many days back: 7, 30 or 90.
    #[serde(default = "default_days")]
    #[param(default = 30, required = false)]
    days: u32,
    /// `json` or `csv`.
    #[serde(default)]
    #[param(inline, required = false)]
    format: Format,
}

const fn default_days() -> u32 {
    30
}

/// Each team's share of the chip-hours used against its share of the purchasing power.
#[utoipa::path(
    get, path = "/shares", tag = "organisation", params(SharesQuery),
    responses(
        (status = 200, description = "The teams, who used most first",
         content((SharesView = "application/json"), (String = "text/csv"))),
        Problems,
    )
)]
async fn shares(
    State(state): State<AppState>,
    viewer: Viewer,
    headers: HeaderMap,
    Query(query): Query<SharesQuery>,
) -> Result<Response, AppError> {
    viewer.may(Action::ReadMarket, Object::Organisation)?;
    answer(&headers, query.format, &state.market().shares(query.days).await?)
}

/// The pools, in order of their ids.
#[utoipa::path(
    get, path = "/pools", tag = "organisation", params(ListQuery),
    responses(
        (status = 200, description = "One page of pools",
         content((Page<PoolView> = "application/json"), (String = "text/csv"))),
        Problems,
    )
)]
async fn pools(
    State(state): State<AppState>,
    viewer: Viewer,
    headers: HeaderMap,
    Query(query): Query<ListQuery>,
) -> Result<Response, AppError> {
    let page = state.services().pools(&viewer, query.cursor.as_deref(), query.limit).await?;
    answer(&headers, query.format, &page)
}

/// Adds a pool, from the next cycle on: for admins.
#[utoipa::path(
    post, path = "/pools", tag = "organisation", request_body = NewPool,
    responses((status = 201, description = "The pool; `ETag` is its version", body = Changed<PoolView>), Problems)
)]
async fn add_pool(
    State(state): State<AppState>,
    viewer: Viewer,
    origin: Origin,
    Body(new): Body<NewPool>,
) -> Result<Response, AppError> {
    let doer = Doer { viewer: &viewer, origin: &origin, reason: &new.reason };
    let lending = lending_of(new.lends_at_most);
    let pool = Pool { id: new.id, name: new.name, weight: new.weight, lending, archived: false };
    state.services().add_pool(doer, &pool).await?;
    let now = state.services().pool(&viewer, &pool.id).await?;
    made(&state, format!("/api/v1/pools/{}", pool.id), now).await
}

/// One pool.
#[utoipa::path(
    get, path = "/pools/{pool}", tag = "organisation",
    params(("pool" = PoolId, Path, description = "The pool")),
    responses((status = 200, description = "As set; `ETag` is its version", body = PoolView), Problems)
)]
async fn pool(
    State(state): State<AppState>,
    viewer: Viewer,
    Segment(id): Segment<PoolId>,
) -> Result<Response, AppError> {
    let Opened { view, version } = state.services().pool(&viewer, &id).await?;
    with_version(&version, &view)
}

/// Changes a pool's name, weight and lending, from the next cycle on: for admins.
#[utoipa::path(
    put, path = "/pools/{pool}", tag = "organisation",
    params(
        ("pool" = PoolId, Path, description = "The pool"),
        ("If-Match" = String, Header, description = "`ETag` of the pool as it was read, or `*`"),
    ),
    request_body = ChangePool,
    responses(
        (status = 200, description = "As set now; `ETag` is its version", body = Changed<PoolView>),
        ChangedSince, Problems,
    )
)]
async fn set_pool(
    State(state): State<AppState>,
    viewer: Viewer,
    origin: Origin,
    Segment(id): Segment<PoolId>,
    headers: HeaderMap,
    Body(change): Body<ChangePool>,
) -> Result<Response, AppError> {
    let seen = seen_version(&headers)?;
    let doer = Doer { viewer: &viewer, origin: &origin, reason: &change.reason };
    let lending = lending_of(change.lends_at_most);
    let pool = Pool { id, name: change.name, weight: change.weight, lending, archived: false };
    state.services().set_pool(doer, &pool, seen.as_deref()).await?;
    changed(&state, state.services().pool(&viewer, &pool.id).await?).await
}

/// Makes somebody an administrator of a pool, or takes that away, from the person's next request on: for admins.
#[utoipa::path(
    put, path = "/pools/{pool}/admins", tag = "organisation",
    params(("pool" = PoolId, Path, description = "The pool")),
    request_body = ChangePoolAdmin,
    responses((status = 200, description = "The pool; `ETag` is its version", body = PoolView), Problems)
)]
async fn set_pool_admin(
    State(state): State<AppState>,
    viewer: Viewer,
    origin: Origin,
    Segment(id): Segment<PoolId>,
    Body(change): Body<ChangePoolAdmin>,
) -> Result<Response, AppError> {
    let doer = Doer { viewer: &viewer, origin: &origin, reason: &change.reason };
    state.services().set_pool_admin(doer, &id, &change.login, change.administers).await?;
    let Opened { view, version } = state.services().pool(&viewer, &id).await?;
    with_version(&version, &view)
}

impl Table for Page<ChipTypeView> {
    fn file_name(&self) -> String {
        "chip-types".to_owned()
    }

    fn columns(&self) -> Vec<&'static str> {
        vec!["chip_type", "name", "pool", "chips", "reserve_price_credits_per_chip_hour"]
    }

    fn rows(&self) -> Vec<Vec<String>> {
        let mut rows = Vec::new();
        for row in &self.items {
            // Shared chips are of no pool.
            let shared = (String::new(), row.shared);
            let owned = row.owned.iter().map(|owned| (owned.pool.to_string(), owned.chips));
            for (pool, chips) in std::iter::once(shared).chain(owned) {
                rows.push(vec![
                    row.id.to_string(),
                    row.name.clone(),
                    pool,
                    chips.to_string(),
                    row.reserve_price.to_string(),
                ]);
            }
        }
        rows
    }
}

impl Table for Page<PoolView> {
    fn file_name(&self) -> String {
        "pools".to_owned()
    }

    fn columns(&self) -> Vec<&'static str> {
        vec![
            "pool",
            "name",
            "weight_global_credits_per_hour",
            "lends_at_most_chips",
            "income_credits_per_hour",
            "teams",
            "admins",
        ]
    }

    fn rows(&self) -> Vec<Vec<String>> {
        let row = |pool: &PoolView| {
            let admins: Vec<&str> = pool.admins.iter().map(|admin| admin.user.as_str()).collect();
            vec![
                pool.id.to_string(),
                pool.name.clone(),
                pool.weight.to_string(),
                cell(pool.lends_at_most),
                pool.income.to_string(),
                pool.teams.to_string(),
                admins.join(" "),
            ]
        };
        self.items.iter().map(row).collect()
    }
}

impl Table for SharesView {
    fn file_name(&self) -> String {
        format!("shares-{}-days", self.days)
    }

    fn columns(&self) -> Vec<&'static str> {
        vec!["from", "to", "team", "name", "pool", "used_chip_hours", "used_share_ppm", "budget_share_ppm"]
    }

    fn rows(&self) -> Vec<Vec<String>> {
        let row = |share: &TeamShare| {
            vec![
                self.from.to_string(),
                self.to.to_string(),
                share.team.to_string(),
                share.name.clone(),
                share.pool.to_string(),
                thousandths(share.used_milli_chip_hours),
                share.used_share_ppm.to_string(),
                share.budget_share_ppm.to_string(),
            ]
        };
        self.teams.iter().map(row).collect()
    }
}

impl Table for WatchListView {
    fn file_name(&self) -> String {
        format!("watch-list-{}", self.cycle)
    }

    fn columns(&self) -> Vec<&'static str> {
        vec![
            "cycle",
            "list",
            "team",
            "name",
            "income_credits_per_hour",
            "asked_chips",
            "granted_chips",
            "in_use_chips",
            "starved_cycles",
        ]
    }

    fn rows(&self) -> Vec<Vec<String>> {
        let lists = [("over_grant", &self.over_grant), ("starved", &self.starved), ("idle", &self.idle)];
        let row = |list: &str, watched: &WatchedTeam| {
            vec![
                self.cycle.to_string(),
                list.to_owned(),
                watched.team.to_string(),
                watched.name.clone(),
                watched.income.to_string(),
                watched.asked.to_string(),
                watched.granted.to_string(),
                watched.in_use.to_string(),
                cell(watched.starved_cycles),
            ]
        };
        lists.iter().flat_map(|(list, teams)| teams.iter().map(move |team| row(list, team))).collect()
    }
}
