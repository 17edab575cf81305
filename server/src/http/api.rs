//! `/api/v1`: the same values that the pages show. A route and its description stand in one place.

use axum::extract::{Request, State};
use axum::http::HeaderMap;
use axum::middleware::{Next, from_fn};
use axum::response::Response;
use common::api::{
    AllocationsQuery, AllocationsView, BookView, CycleSummary, CycleView, GroupBy, MarketView, Page,
    PriceHistory, Span,
};
use common::ids::{ChipTypeId, PoolId, TeamId};
use common::problem::Problem;
use serde::Deserialize;
use utoipa::{IntoParams, IntoResponses};
use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;

use super::AppState;
use super::answer::{Format, answer};
use super::extract::{FormatQuery, ListQuery, Query, Segment};
use crate::error::AppError;
use crate::policy::{Action, Object, Viewer};
use crate::services::audit::Origin;

/// The routes, under `/api/v1`.
pub(super) fn routes() -> OpenApiRouter<AppState> {
    OpenApiRouter::new()
        .routes(routes!(market))
        .routes(routes!(prices))
        .routes(routes!(book))
        .routes(routes!(allocations))
        .routes(routes!(cycles))
        .routes(routes!(cycle))
        .route_layer(from_fn(may_read_market))
}

/// Refuses a token that may not read.
async fn may_read_market(viewer: Viewer, request: Request, next: Next) -> Result<Response, AppError> {
    viewer.may(Action::ReadMarket, Object::Organisation)?;
    Ok(next.run(request).await)
}

/// What any route may answer instead.
#[derive(IntoResponses)]
#[expect(dead_code, reason = "describes answers; faults are made by AppError")]
pub(super) enum Problems {
    /// Nobody is signed in, or the session or token is over
    #[response(status = 401, content_type = "application/problem+json")]
    Unauthenticated(Problem),
    /// The viewer, or the token, may not do this
    #[response(status = 403, content_type = "application/problem+json")]
    Forbidden(Problem),
    /// It does not exist, or the viewer may not know that it does
    #[response(status = 404, content_type = "application/problem+json")]
    NotFound(Problem),
    /// A parameter or field is refused; `errors` names each
    #[response(status = 422, content_type = "application/problem+json")]
    Invalid(Problem),
    /// The database does not answer
    #[response(status = 503, content_type = "application/problem+json")]
    Unavailable(Problem),
}

/// What a route that places or ends something may answer as well.
#[derive(IntoResponses)]
#[expect(dead_code, reason = "describes answers; faults are made by AppError")]
pub(super) enum Conflicts {
    /// The id is taken by another one, or it is over
    #[response(status = 409, content_type = "application/problem+json")]
    Conflict(Problem),
}

/// What a route that changes something that was read before may answer as well.
#[derive(IntoResponses)]
#[expect(dead_code, reason = "describes answers; faults are made by AppError")]
pub(super) enum ChangedSince {
    /// It was changed since it was read: read it again. Of a bid, `newest` is what it is now
    #[response(status = 412, content_type = "application/problem+json")]
    PreconditionFailed(Problem),
}

#[derive(Debug, Deserialize, IntoParams)]
#[into_params(parameter_in = Query)]
#[serde(deny_unknown_fields)]
struct MarketQuery {
    /// The pool whose local prices the rows show.
    pool: Option<PoolId>,
    /// `json` or `csv`.
    #[serde(default)]
    #[param(inline, required = false)]
    format: Format,
}

/// The market now: a row per chip type.
#[utoipa::path(
    get, path = "/market", tag = "market", params(MarketQuery),
    responses(
        (status = 200, description = "The market as of the last cycle",
         content((MarketView = "application/json"), (String = "text/csv"))),
        Problems,
    )
)]
async fn market(
    State(state): State<AppState>,
    headers: HeaderMap,
    Query(query): Query<MarketQuery>,
) -> Result<Response, AppError> {
    let view = state.market().market(query.pool).await?;
    answer(&headers, query.format, &view)
}

#[derive(Debug, Deserialize, IntoParams)]
#[into_params(parameter_in = Query)]
#[serde(deny_unknown_fields)]
struct PricesQuery {
    /// How far back: `1h`, `24h`, `7d` or `90d`.
    #[serde(default)]
    #[param(inline, required = false)]
    span: Span,
    /// The pool whose local prices the points show.
    pool: Option<PoolId>,
    /// `json` or `csv`.
    #[serde(default)]
    #[param(inline, required = false)]
    format: Format,
}

/// The price of one chip type over time. A span of `1h` has a point for each cycle, a longer one time-weighted steps.
#[utoipa::path(
    get, path = "/chip-types/{id}/prices", tag = "market",
    params(("id" = ChipTypeId, Path, description = "The chip type"), PricesQuery),
    responses(
        (status = 200, description = "Points, oldest first",
         content((PriceHistory = "application/json"), (String = "text/csv"))),
        Problems,
    )
)]
async fn prices(
    State(state): State<AppState>,
    Segment(id): Segment<ChipTypeId>,
    headers: HeaderMap,
    Query(query): Query<PricesQuery>,
) -> Result<Response, AppError> {
    let history = state.market().price_history(id, query.pool, query.span).await?;
    answer(&headers, query.format, &history)
}

/// Aggregate demand for one chip type at each price. Single bids do not appear in it.
#[utoipa::path(
    get, path = "/chip-types/{id}/book", tag = "market",
    params(("id" = ChipTypeId, Path, description = "The chip type"), FormatQuery),
    responses(
        (status = 200, description = "Depth as of the last cycle, highest price first",
         content((BookView = "application/json"), (String = "text/csv"))),
        Problems,
    )
)]
async fn book(
    State(state): State<AppState>,
    Segment(id): Segment<ChipTypeId>,
    headers: HeaderMap,
    Query(query): Query<FormatQuery>,
) -> Result<Response, AppError> {
    let view = state.market().book(Some(id)).await?;
    answer(&headers, query.format, &view)
}

#[derive(Debug, Deserialize, IntoParams)]
#[into_params(parameter_in = Query)]
#[serde(deny_unknown_fields)]
struct AllocationsParameters {
    /// How far back: `1h`, `24h`, `7d` or `90d`.
    #[serde(default)]
    #[param(inline, required = false)]
    span: Span,
    /// What the series stand for.
    #[serde(default)]
    #[param(inline, required = false)]
    group_by: GroupBy,
    /// Only this chip type.
    chip_type: Option<ChipTypeId>,
    /// Only this pool.
    pool: Option<PoolId>,
    /// Only this team.
    team: Option<TeamId>,
    /// So many of the largest series by themselves, and the others joined; all by themselves without it.
    most: Option<u32>,
    /// `json` or `csv`.
    #[serde(default)]
    #[param(inline, required = false)]
    format: Format,
}

/// Chips over time by pool, team or chip type: granted, used, and what they cost.
#[utoipa::path(
    get, path = "/allocations", tag = "market", params(AllocationsParameters),
    responses(
        (status = 200, description = "Series, largest first",
         content((AllocationsView = "application/json"), (String = "text/csv"))),
        Problems,
    )
)]
async fn allocations(
    State(state): State<AppState>,
    headers: HeaderMap,
    Query(query): Query<AllocationsParameters>,
) -> Result<Response, AppError> {
    let AllocationsParameters { span, group_by, chip_type, pool, team, most, format } = query;
    let query = AllocationsQuery { span, group_by, chip_type, pool, team, most };
    let view = state.market().allocations(query).await?;
    answer(&headers, format, &view)
}

/// Cycles, newest first.
#[utoipa::path(
    get, path = "/cycles", tag = "market", params(ListQuery),
    responses(
        (status = 200, description = "One page of cycles",
         content((Page<CycleSummary> = "application/json"), (String = "text/csv"))),
        Problems,
    )
)]
async fn cycles(
    State(state): State<AppState>,
    headers: HeaderMap,
    Query(query): Query<ListQuery>,
) -> Result<Response, AppError> {
    let page = state.market().cycles(query.cursor.as_deref(), query.limit).await?;
    answer(&headers, query.format, &page)
}

#[derive(Debug, Deserialize, IntoParams)]
#[into_params(parameter_in = Query)]
#[serde(deny_unknown_fields)]
struct CycleQuery {
    /// Only this team's bids; everything else stays whole.
    team: Option<TeamId>,
    /// `json`, or `csv` for the bids.
    #[serde(default)]
    #[param(inline, required = false)]
    format: Format,
}

/// One cycle, computed again from its stored inputs, with the proof that it is what was computed at the time. Single bids
/// are those of the viewer's teams; admins and auditors read all.
#[utoipa::path(
    get, path = "/cycles/{number}", tag = "market",
    params(("number" = u64, Path, description = "Number of the cycle, from 1"), CycleQuery),
    responses(
        (status = 200, description = "Inputs, outcome and the reason of every bid",
         content((CycleView = "application/json"), (String = "text/csv"))),
        Problems,
    )
)]
async fn cycle(
    State(state): State<AppState>,
    viewer: Viewer,
    origin: Origin,
    Segment(number): Segment<u64>,
    headers: HeaderMap,
    Query(query): Query<CycleQuery>,
) -> Result<Response, AppError> {
    let view = state.services().cycle(Some(&viewer), &origin, number, query.team).await?;
    answer(&headers, query.format, &view)
}
