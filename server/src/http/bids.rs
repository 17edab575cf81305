//! A team's bids in the REST API.

use axum::Json;
use axum::extract::State;
use axum::http::{HeaderMap, HeaderName, HeaderValue, StatusCode, header};
use axum::response::{IntoResponse, Response};
use common::api::{
    BidChange, BidDetail, BidFilter, BidPreview, BidTerms, BidView, BidsChanged, BidsQuery, BidsView,
    ChangeBids, MoveBids, PlaceBid, PreviewBid,
};
use common::ids::{BidId, TeamId};
use serde::Deserialize;
use utoipa::{IntoParams, ToSchema};
use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;

use super::AppState;
use super::answer::{Format, answer};
use super::api::{ChangedSince, Conflicts, Problems};
use super::etag::{self, Seen, with_version};
use super::extract::{Body, Query, Segment};
use crate::error::{AppError, ErrorKind};
use crate::policy::Viewer;
use crate::services::audit::Origin;

const IDEMPOTENCY_KEY: HeaderName = HeaderName::from_static("idempotency-key");

/// The routes, under `/api/v1`.
pub(super) fn routes() -> OpenApiRouter<AppState> {
    OpenApiRouter::new()
        .routes(routes!(list, place))
        .routes(routes!(preview))
        .routes(routes!(move_bids))
        .routes(routes!(change))
        .routes(routes!(open, amend))
}

#[derive(Debug, Deserialize, IntoParams)]
#[into_params(parameter_in = Query)]
#[serde(deny_unknown_fields)]
struct ListQuery {
    /// `open` for the queue in its order, `ended` for bids that are over, last ended first.
    #[serde(default)]
    #[param(inline, required = false)]
    show: BidFilter,
    /// `next_cursor` of the page before.
    cursor: Option<String>,
    /// `json`, or `csv` for the bids of the page.
    #[serde(default)]
    #[param(inline, required = false)]
    format: Format,
}

/// A team's bids, 200 to a page, with its money and the chip types it can bid for.
#[utoipa::path(
    get, path = "/teams/{team}/bids", tag = "bids",
    params(("team" = TeamId, Path, description = "The team"), ListQuery),
    responses(
        (status = 200, description = "One page of bids",
         content((BidsView = "application/json"), (String = "text/csv"))),
        Problems,
    )
)]
async fn list(
    State(state): State<AppState>,
    viewer: Viewer,
    origin: Origin,
    Segment(team): Segment<TeamId>,
    headers: HeaderMap,
    Query(query): Query<ListQuery>,
) -> Result<Response, AppError> {
    let ListQuery { show, cursor, format } = query;
    let query = BidsQuery { team: Some(team), show, cursor };
    let view = state.services().bids(&viewer, &origin, query).await?;
    answer(&headers, format, &view)
}

/// A bid to place.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
struct NewBid {
    /// Made by the client, such as a UUID. Without it the header `Idempotency-Key` is the id.
    id: Option<BidId>,
    /// What it asks for.
    terms: BidTerms,
}

/// Places a bid at the end of the queue, from the next cycle on. The same request again changes nothing and answers the
/// same; another bid with the same id is refused: 409, or 422 where the id came as `Idempotency-Key`.
#[utoipa::path(
    post, path = "/teams/{team}/bids", tag = "bids",
    params(
        ("team" = TeamId, Path, description = "The team"),
        ("Idempotency-Key" = Option<BidId>, Header, description = "The bid's id, where the body has none"),
    ),
    request_body = NewBid,
    responses((status = 201, description = "The bid; `ETag` is its version", body = BidView), Conflicts, Problems)
)]
async fn place(
    State(state): State<AppState>,
    viewer: Viewer,
    Segment(team): Segment<TeamId>,
    headers: HeaderMap,
    Body(bid): Body<NewBid>,
) -> Result<Response, AppError> {
    let (id, by_key) = id_of(&headers, bid.id)?;
    let placed = state.services().place_bid(&viewer, PlaceBid { id, team, terms: bid.terms }).await;
    let view = placed.map_err(|error| match error.kind() {
        ErrorKind::Conflict if by_key => AppError::invalid("Idempotency-Key", error.message()),
        _ => error,
    })?;
    let location = HeaderValue::try_from(format!("/api/v1/bids/{}", view.id)).map_err(AppError::internal)?;
    Ok((StatusCode::CREATED, [(header::LOCATION, location)], with_version(&view.version, &view)?)
        .into_response())
}

/// The id of a new bid, and whether only the header has it.
fn id_of(headers: &HeaderMap, id: Option<BidId>) -> Result<(BidId, bool), AppError> {
    let key = match headers.get(IDEMPOTENCY_KEY) {
        None => None,
        Some(value) => {
            let key = value.to_str().unwrap_or_default().trim_matches('"').parse::<BidId>();
            Some(key.map_err(|error| AppError::invalid("Idempotency-Key", error.to_string()))?)
        }
    };
    match (id, key) {
        (Some(id), Some(key)) if id != key => Err(AppError::invalid(
            "Idempotency-Key",
            format!("is {key}, but the bid's id is {id}; send the same in both, or one of them"),
        )),
        (Some(id), _) => Ok((id, false)),
        (None, Some(key)) => Ok((key, true)),
        (None, None) => Err(AppError::invalid(
            "id",
            "is missing; make one, such as a UUID, and keep it to repeat the request",
        )),
    }
}

#[derive(Debug, Deserialize, IntoParams)]
#[into_params(parameter_in = Query)]
#[serde(deny_unknown_fields)]
struct BidQuery {
    /// `next_cursor` of the page of history before.
    cursor: Option<String>,
    /// `json`, or `csv` for the history.
    #[serde(default)]
    #[param(inline, required = false)]
    format: Format,
}

/// One bid: its terms, what it got and why, what it would take to fill it, and its history, 50 stretches to a page.
#[utoipa::path(
    get, path = "/bids/{id}", tag = "bids",
    params(("id" = BidId, Path, description = "The bid"), BidQuery),
    responses(
        (status = 200, description = "The bid; `ETag` is its version",
         content((BidDetail = "application/json"), (String = "text/csv"))),
        Problems,
    )
)]
async fn open(
    State(state): State<AppState>,
    viewer: Viewer,
    origin: Origin,
    Segment(id): Segment<BidId>,
    headers: HeaderMap,
    Query(query): Query<BidQuery>,
) -> Result<Response, AppError> {
    let detail = state.services().bid(&viewer, &origin, &id, query.cursor.as_deref()).await?;
    match query.format {
        Format::Json => with_version(&detail.bid.version, &detail),
        Format::Csv => answer(&headers, Format::Csv, &detail),
    }
}

/// What a bid is to ask for.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
struct ChangedBid {
    /// The version that the change was made from; may be left out where `If-Match` says it.
    version: Option<u64>,
    /// What it asks for from the next cycle on.
    terms: BidTerms,
}

/// Replaces what a bid asks for, from the next cycle on. The version that the change was made from is sent as `If-Match`
/// or `version`; `If-Match: *` takes any.
#[utoipa::path(
    put, path = "/bids/{id}", tag = "bids",
    params(
        ("id" = BidId, Path, description = "The bid"),
        ("If-Match" = Option<String>, Header, description = "`ETag` of the bid as it was read"),
    ),
    request_body = ChangedBid,
    responses(
        (status = 200, description = "The bid; `ETag` is its version", body = BidView),
        Conflicts, ChangedSince, Problems,
    )
)]
async fn amend(
    State(state): State<AppState>,
    viewer: Viewer,
    Segment(id): Segment<BidId>,
    headers: HeaderMap,
    Body(change): Body<ChangedBid>,
) -> Result<Response, AppError> {
    let seen = version_of(&headers, change.version)?;
    let view = state.services().amend(&viewer, &id, seen, change.terms).await?;
    with_version(&view.version, &view)
}

/// The version that a change was made from; none where any will do.
fn version_of(headers: &HeaderMap, version: Option<u64>) -> Result<Option<u64>, AppError> {
    match etag::if_match(headers)? {
        None => version.map(Some).ok_or_else(etag::missing),
        Some(Seen::Any) => Ok(None),
        Some(Seen::Version(tag)) => tag.parse().map(Some).map_err(|_| etag::no_tag(&tag)),
    }
}

/// A bid to look at before it is sent.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
struct BidToPreview {
    /// The bid it would replace; absent: a new one at the end of the queue.
    replaces: Option<BidId>,
    /// What it would ask for.
    terms: BidTerms,
}

/// What a bid would do in the cycle in force, all else equal. Changes nothing.
#[utoipa::path(
    post, path = "/teams/{team}/bids/preview", tag = "bids",
    params(("team" = TeamId, Path, description = "The team")),
    request_body = BidToPreview,
    responses((status = 200, description = "What it would get, cost and displace", body = BidPreview), Problems)
)]
async fn preview(
    State(state): State<AppState>,
    viewer: Viewer,
    Segment(team): Segment<TeamId>,
    Body(bid): Body<BidToPreview>,
) -> Result<Json<BidPreview>, AppError> {
    let bid = PreviewBid { team, replaces: bid.replaces, terms: bid.terms };
    state.services().preview_bid(&viewer, bid).await.map(Json)
}

/// Bids to put elsewhere in the queue.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
struct Move {
    /// The bids that move, 1 to 500; they stand together, in this order.
    bids: Vec<BidId>,
    /// The bid they go before; absent: to the end.
    before: Option<BidId>,
}

/// Puts bids elsewhere in the queue, from the next cycle on. Repeated, it changes nothing.
#[utoipa::path(
    post, path = "/teams/{team}/bids/moves", tag = "bids",
    params(("team" = TeamId, Path, description = "The team")),
    request_body = Move,
    responses((status = 200, description = "From which cycle it holds", body = BidsChanged), Conflicts, Problems)
)]
async fn move_bids(
    State(state): State<AppState>,
    viewer: Viewer,
    Segment(team): Segment<TeamId>,
    Body(change): Body<Move>,
) -> Result<Json<BidsChanged>, AppError> {
    let change = MoveBids { team, bids: change.bids, before: change.before };
    state.services().move_bids(&viewer, change).await.map(Json)
}

/// What is done to chosen bids.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
struct Change {
    /// The bids, 1 to 500.
    bids: Vec<BidId>,
    /// What is done to them.
    change: BidChange,
}

/// Pauses, resumes or ends bids, all or none, from the next cycle on. Repeated, it changes nothing.
#[utoipa::path(
    post, path = "/teams/{team}/bids/changes", tag = "bids",
    params(("team" = TeamId, Path, description = "The team")),
    request_body = Change,
    responses((status = 200, description = "From which cycle it holds", body = BidsChanged), Conflicts, Problems)
)]
async fn change(
    State(state): State<AppState>,
    viewer: Viewer,
    Segment(team): Segment<TeamId>,
    Body(change): Body<Change>,
) -> Result<Json<BidsChanged>, AppError> {
    let change = ChangeBids { team, bids: change.bids, change: change.change };
    state.services().change_bids(&viewer, change).await.map(Json)
}
