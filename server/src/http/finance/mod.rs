//! Money as finance looks at it and books it, of the REST API.

mod allowances;
mod tables;

use axum::extract::State;
use axum::http::{HeaderMap, HeaderName, HeaderValue, StatusCode, header};
use axum::response::{IntoResponse, Response};
use common::api::{
    BookingKind, BookingView, BookingsView, BudgetsView, MonthView, MonthsView, SpendGroup, SpendView,
    StatementView, StatementsView,
};
use common::ids::{ChipTypeId, PoolId, TeamId};
use common::money::MicroCredits;
use serde::Deserialize;
use utoipa::{IntoParams, ToSchema};
use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;

use super::AppState;
use super::answer::{Format, answer};
use super::api::Problems;
use super::extract::{Body, Query, Segment};
use crate::error::{AppError, ErrorKind};
use crate::policy::Viewer;
use crate::services::audit::{Doer, Origin};
use crate::services::finance::{NewBooking, SpendQuery};

/// The header that names a booking, so that it can be asked for again.
const IDEMPOTENCY_KEY: HeaderName = HeaderName::from_static("idempotency-key");

/// The routes, under `/api/v1`.
pub(super) fn routes() -> OpenApiRouter<AppState> {
    OpenApiRouter::new()
        .routes(routes!(spend))
        .routes(routes!(budgets))
        .routes(routes!(months))
        .routes(routes!(month))
        .routes(routes!(close))
        .routes(routes!(bookings, book))
        .routes(routes!(booking))
        .routes(routes!(approve))
        .routes(routes!(refuse))
        .routes(routes!(set_approval))
        .routes(routes!(statements))
        .routes(routes!(statement))
        .merge(allowances::routes())
}

/// The filters of spend, as they stand in an address.
#[derive(Debug, Deserialize, IntoParams)]
#[into_params(parameter_in = Query)]
#[serde(deny_unknown_fields)]
struct SpendParameters {
    /// `2026-11`, `2026-Q4`, `2026-11-30` or `2026-11-01..2026-11-15`, both days included; the month in force without it.
    period: Option<String>,
    /// What the rows stand for.
    #[serde(default)]
    #[param(inline, required = false)]
    group: SpendGroup,
    /// Only this pool.
    pool: Option<PoolId>,
    /// Only this team.
    team: Option<TeamId>,
    /// Only this chip type.
    chip_type: Option<ChipTypeId>,
    /// `json`, or `csv` for the rows.
    #[serde(default)]
    #[param(inline, required = false)]
    format: Format,
}

/// Spend over a period by pool, team or chip type, compared with the period before it: what the ledger's charges say.
#[utoipa::path(
    get, path = "/finance/spend", tag = "finance", params(SpendParameters),
    responses(
        (status = 200, description = "The rows, their sum, and the days",
         content((SpendView = "application/json"), (String = "text/csv"))),
        Problems,
    )
)]
async fn spend(
    State(state): State<AppState>,
    viewer: Viewer,
    headers: HeaderMap,
    Query(query): Query<SpendParameters>,
) -> Result<Response, AppError> {
    let SpendParameters { period, group, pool, team, chip_type, format } = query;
    let query = SpendQuery { period, group, pool, team, chip_type };
    answer(&headers, format, &state.services().spend(&viewer, &query).await?)
}

#[derive(Debug, Deserialize, IntoParams)]
#[into_params(parameter_in = Query)]
#[serde(deny_unknown_fields)]
struct MonthParameters {
    /// A month like `2026-11`; the month in force without it.
    period: Option<String>,
    /// `json` or `csv`.
    #[serde(default)]
    #[param(inline, required = false)]
    format: Format,
}

/// The budgets of a month: allowance, actual and forecast of each team, and how far off such forecasts were.
#[utoipa::path(
    get, path = "/finance/budgets", tag = "finance", params(MonthParameters),
    responses(
        (status = 200, description = "The budgets",
         content((BudgetsView = "application/json"), (String = "text/csv"))),
        Problems,
    )
)]
async fn budgets(
    State(state): State<AppState>,
    viewer: Viewer,
    headers: HeaderMap,
    Query(query): Query<MonthParameters>,
) -> Result<Response, AppError> {
    let view = state.services().budgets(&viewer, query.period.as_deref()).await?;
    answer(&headers, query.format, &view)
}

#[derive(Debug, Deserialize, IntoParams)]
#[into_params(parameter_in = Query)]
#[serde(deny_unknown_fields)]
struct FormatParameters {
    /// `json` or `csv`.
    #[serde(default)]
    #[param(inline, required = false)]
    format: Format,
}

/// The months of the ledger: which are closed, and what the others wait for.
#[utoipa::path(
    get, path = "/finance/months", tag = "finance", params(FormatParameters),
    responses(
        (status = 200, description = "The months, newest first",
         content((MonthsView = "application/json"), (String = "text/csv"))),
        Problems,
    )
)]
async fn months(
    State(state): State<AppState>,
    viewer: Viewer,
    headers: HeaderMap,
    Query(query): Query<FormatParameters>,
) -> Result<Response, AppError> {
    answer(&headers, query.format, &state.services().months(&viewer).await?)
}

/// One month: what was booked in it by pool and kind, and whether a closed one still says what it said.
#[utoipa::path(
    get, path = "/finance/months/{period}", tag = "finance",
    params(("period" = String, Path, description = "A month like 2026-11"), FormatParameters),
    responses(
        (status = 200, description = "The month",
         content((MonthView = "application/json"), (String = "text/csv"))),
        Problems,
    )
)]
async fn month(
    State(state): State<AppState>,
    viewer: Viewer,
    Segment(period): Segment<String>,
    headers: HeaderMap,
    Query(query): Query<FormatParameters>,
) -> Result<Response, AppError> {
    answer(&headers, query.format, &state.services().month(&viewer, &period).await?)
}

/// Why something is done.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
struct Why {
    /// 1 to 500 characters; the audit log keeps it.
    reason: String,
}

/// Closes a month for good, and numbers its statements. Months are closed in order, after the accounting step at their end.
#[utoipa::path(
    post, path = "/finance/months/{period}/close", tag = "finance",
    params(("period" = String, Path, description = "A month like 2026-11")),
    request_body = Why,
    responses((status = 200, description = "The month, closed", body = MonthView), Problems)
)]
async fn close(
    State(state): State<AppState>,
    viewer: Viewer,
    origin: Origin,
    Segment(period): Segment<String>,
    Body(why): Body<Why>,
) -> Result<axum::Json<MonthView>, AppError> {
    let doer = Doer { viewer: &viewer, origin: &origin, reason: &why.reason };
    state.services().close_month(doer, &period).await?;
    Ok(axum::Json(state.services().month(&viewer, &period).await?))
}

#[derive(Debug, Deserialize, IntoParams)]
#[into_params(parameter_in = Query)]
#[serde(deny_unknown_fields)]
struct BookingsParameters {
    /// Only those that wait for a second person.
    #[serde(default)]
    #[param(required = false)]
    pending: bool,
    /// `json` or `csv`.
    #[serde(default)]
    #[param(inline, required = false)]
    format: Format,
}

/// The newest 200 corrections, grants and transfers, and what became of them.
#[utoipa::path(
    get, path = "/finance/bookings", tag = "finance", params(BookingsParameters),
    responses(
        (status = 200, description = "The bookings",
         content((BookingsView = "application/json"), (String = "text/csv"))),
        Problems,
    )
)]
async fn bookings(
    State(state): State<AppState>,
    viewer: Viewer,
    headers: HeaderMap,
    Query(query): Query<BookingsParameters>,
) -> Result<Response, AppError> {
    answer(&headers, query.format, &state.services().bookings(&viewer, query.pending).await?)
}

/// A correction, grant or transfer.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
struct BookingBody {
    /// What it is.
    kind: BookingKind,
    /// The team; of a transfer, the one that gives.
    team: TeamId,
    /// The team that gets a transfer.
    to_team: Option<TeamId>,
    /// Local credits of the team's pool; only a correction may be negative.
    amount: MicroCredits,
    /// The transfer of the ledger that a correction puts right.
    corrects: Option<u64>,
    /// 1 to 500 characters; the ledger and the audit log keep it.
    reason: String,
}

/// Books a correction, grant or transfer. A large one waits for a second person. The same request again books nothing and
/// answers the same; another one with the same key is refused.
#[utoipa::path(
    post, path = "/finance/bookings", tag = "finance",
    params(("Idempotency-Key" = String, Header, description = "Made by the client, such as a UUID, at most 200 characters")),
    request_body = BookingBody,
    responses((status = 201, description = "The booking; `state` says whether it waits", body = BookingView), Problems)
)]
async fn book(
    State(state): State<AppState>,
    viewer: Viewer,
    origin: Origin,
    headers: HeaderMap,
    Body(body): Body<BookingBody>,
) -> Result<Response, AppError> {
    let key = headers.get(IDEMPOTENCY_KEY).and_then(|key| key.to_str().ok()).unwrap_or_default();
    let id = key.trim_matches('"').to_owned();
    if id.is_empty() {
        let detail = "is missing; make one, such as a UUID, and keep it to repeat the request";
        return Err(AppError::invalid("Idempotency-Key", detail));
    }
    let BookingBody { kind, team, to_team, amount, corrects, reason } = body;
    let doer = Doer { viewer: &viewer, origin: &origin, reason: &reason };
    let new = NewBooking { id, kind, team, to_team, amount, corrects };
    let view = state.services().book(doer, &new).await.map_err(|error| match error.kind() {
        ErrorKind::Conflict => AppError::invalid("Idempotency-Key", error.message()),
        _ => error,
    })?;
    let location = format!("/api/v1/finance/bookings/{}", view.number);
    let location = HeaderValue::try_from(location).map_err(AppError::internal)?;
    Ok((StatusCode::CREATED, [(header::LOCATION, location)], axum::Json(view)).into_response())
}

/// One booking.
#[utoipa::path(
    get, path = "/finance/bookings/{booking}", tag = "finance",
    params(("booking" = u64, Path, description = "Its number")),
    responses((status = 200, description = "The booking", body = BookingView), Problems)
)]
async fn booking(
    State(state): State<AppState>,
    viewer: Viewer,
    Segment(number): Segment<u64>,
) -> Result<axum::Json<BookingView>, AppError> {
    Ok(axum::Json(state.services().booking(&viewer, number).await?))
}

/// Approves a booking that waits; whoever asked for it can't.
#[utoipa::path(
    post, path = "/finance/bookings/{booking}/approve", tag = "finance",
    params(("booking" = u64, Path, description = "Its number")),
    request_body = Why,
    responses((status = 200, description = "The booking, booked", body = BookingView), Problems)
)]
async fn approve(
    State(state): State<AppState>,
    viewer: Viewer,
    origin: Origin,
    Segment(number): Segment<u64>,
    Body(why): Body<Why>,
) -> Result<axum::Json<BookingView>, AppError> {
    let doer = Doer { viewer: &viewer, origin: &origin, reason: &why.reason };
    Ok(axum::Json(state.services().approve_booking(doer, number).await?))
}

/// Refuses a booking that waits; whoever asked for it takes it back this way.
#[utoipa::path(
    post, path = "/finance/bookings/{booking}/refuse", tag = "finance",
    params(("booking" = u64, Path, description = "Its number")),
    request_body = Why,
    responses((status = 200, description = "The booking, refused", body = BookingView), Problems)
)]
async fn refuse(
    State(state): State<AppState>,
    viewer: Viewer,
    origin: Origin,
    Segment(number): Segment<u64>,
    Body(why): Body<Why>,
) -> Result<axum::Json<BookingView>, AppError> {
    let doer = Doer { viewer: &viewer, origin: &origin, reason: &why.reason };
    Ok(axum::Json(state.services().refuse_booking(doer, number).await?))
}

/// Above what amount a booking needs a second person.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
struct ApprovalBody {
    /// Global credits; `null` where each booking needs one.
    approval_above: Option<MicroCredits>,
    /// 1 to 500 characters; the audit log keeps it.
    reason: String,
}

/// Sets above what amount a booking needs a second person, at once: for admins, so that who books does not set it.
#[utoipa::path(
    put, path = "/finance/approval", tag = "finance", request_body = ApprovalBody,
    responses((status = 204, description = "It is set"), Problems)
)]
async fn set_approval(
    State(state): State<AppState>,
    viewer: Viewer,
    origin: Origin,
    Body(body): Body<ApprovalBody>,
) -> Result<StatusCode, AppError> {
    let doer = Doer { viewer: &viewer, origin: &origin, reason: &body.reason };
    state.services().set_approval_above(doer, body.approval_above).await?;
    Ok(StatusCode::NO_CONTENT)
}

/// The statements of a month that the caller may read.
#[utoipa::path(
    get, path = "/finance/statements", tag = "finance", params(MonthParameters),
    responses(
        (status = 200, description = "The statements, in order of pools and teams",
         content((StatementsView = "application/json"), (String = "text/csv"))),
        Problems,
    )
)]
async fn statements(
    State(state): State<AppState>,
    viewer: Viewer,
    headers: HeaderMap,
    Query(query): Query<MonthParameters>,
) -> Result<Response, AppError> {
    let view = state.services().statements(&viewer, query.period.as_deref()).await?;
    answer(&headers, query.format, &view)
}

#[derive(Debug, Deserialize, IntoParams)]
#[into_params(parameter_in = Query)]
#[serde(deny_unknown_fields)]
struct PeriodParameters {
    /// As in spend; the month in force without it. Only a closed month's statement has a number.
    period: Option<String>,
    /// `json`, or `csv` for the lines.
    #[serde(default)]
    #[param(inline, required = false)]
    format: Format,
}

/// A team's statement of a period: what its account began with, what came and went, what it ended with.
#[utoipa::path(
    get, path = "/teams/{team}/statement", tag = "finance",
    params(("team" = TeamId, Path, description = "The team"), PeriodParameters),
    responses(
        (status = 200, description = "The statement",
         content((StatementView = "application/json"), (String = "text/csv"))),
        Problems,
    )
)]
async fn statement(
    State(state): State<AppState>,
    viewer: Viewer,
    Segment(team): Segment<TeamId>,
    headers: HeaderMap,
    Query(query): Query<PeriodParameters>,
) -> Result<Response, AppError> {
    let view = state.services().statement(&viewer, &team, query.period.as_deref()).await?;
    answer(&headers, query.format, &view)
}
