//! Supply in the REST API: what there is, what is planned, what a change does, and the changes themselves.

use axum::Json;
use axum::extract::State;
use axum::http::{HeaderMap, HeaderName, StatusCode, header};
use axum::response::{IntoResponse, Response};
use common::api::{
    Comparison, Holding, ImportInventory, Inventory, InventoryView, NewMaintenance, NewSupplyChange,
    SuppliedType, SupplyChanged, SupplyEdit, SupplyHistory, SupplyLevel, SupplyView,
};
use common::ids::ChipTypeId;
use common::problem::Problem;
use serde::Deserialize;
use utoipa::{IntoResponses, ToSchema};
use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;

use super::AppState;
use super::answer::{Table, answer, cell};
use super::extract::{Body, FormatQuery, Query, Segment};
use crate::error::AppError;
use crate::policy::Viewer;
use crate::services::audit::{Doer, Origin};

const IDEMPOTENCY_KEY: HeaderName = HeaderName::from_static("idempotency-key");

/// The routes, under `/api/v1`.
pub(super) fn routes() -> OpenApiRouter<AppState> {
    OpenApiRouter::new()
        .routes(routes!(supply))
        .routes(routes!(history))
        .routes(routes!(preview))
        .routes(routes!(change))
        .routes(routes!(maintenance))
        .routes(routes!(cancel))
        .routes(routes!(read_inventory))
        .routes(routes!(import_inventory))
}

/// What a route of supply may answer instead.
#[derive(IntoResponses)]
#[expect(dead_code, reason = "describes answers; faults are made by AppError")]
pub(super) enum Problems {
    /// Nobody is signed in
    #[response(status = 401, content_type = "application/problem+json")]
    Unauthenticated(Problem),
    /// The viewer may read this, but not change it
    #[response(status = 403, content_type = "application/problem+json")]
    Forbidden(Problem),
    /// It does not exist, or the viewer may not know that it does
    #[response(status = 404, content_type = "application/problem+json")]
    NotFound(Problem),
    /// It is over, or its id is that of another one
    #[response(status = 409, content_type = "application/problem+json")]
    Conflict(Problem),
    /// A field is refused; `errors` names each
    #[response(status = 422, content_type = "application/problem+json")]
    Invalid(Problem),
    /// The database does not answer
    #[response(status = 503, content_type = "application/problem+json")]
    Unavailable(Problem),
}

/// The supply as it is set, what waits for the next cycle included, and what is planned. For admins and auditors.
#[utoipa::path(
    get, path = "/supply", tag = "supply", params(FormatQuery),
    responses(
        (status = 200, description = "Chips per type and owner, reserve prices, lending, plans",
         content((SupplyView = "application/json"), (String = "text/csv"))),
        Problems,
    )
)]
async fn supply(
    State(state): State<AppState>,
    viewer: Viewer,
    headers: HeaderMap,
    Query(query): Query<FormatQuery>,
) -> Result<Response, AppError> {
    let view = state.services().supply(&viewer).await?;
    answer(&headers, query.format, &view)
}

/// How the supply of a chip type went, from the first cycle on.
#[utoipa::path(
    get, path = "/supply/{chip_type}/history", tag = "supply",
    params(("chip_type" = ChipTypeId, Path, description = "The chip type"), FormatQuery),
    responses(
        (status = 200, description = "What took effect, oldest first",
         content((SupplyHistory = "application/json"), (String = "text/csv"))),
        Problems,
    )
)]
async fn history(
    State(state): State<AppState>,
    viewer: Viewer,
    Segment(chip_type): Segment<ChipTypeId>,
    headers: HeaderMap,
    Query(query): Query<FormatQuery>,
) -> Result<Response, AppError> {
    let history = state.services().supply_history(&viewer, Some(&chip_type)).await?;
    answer(&headers, query.format, &history)
}

/// Changes to look at before they are made.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
struct ToPreview {
    /// They apply in their order.
    edits: Vec<SupplyEdit>,
}

/// What changes of supply would do to the cycle in force, all else equal: prices, quotas, spend, and which bids lose
/// chips. Changes nothing; the look at single bids is noted in the audit log.
#[utoipa::path(
    post, path = "/supply/preview", tag = "supply", request_body = ToPreview,
    responses((status = 200, description = "The market without and with them", body = Comparison), Problems)
)]
async fn preview(
    State(state): State<AppState>,
    viewer: Viewer,
    origin: Origin,
    Body(body): Body<ToPreview>,
) -> Result<Json<Comparison>, AppError> {
    state.services().supply_effect(&viewer, &origin, &body.edits).await.map(Json)
}

/// The id that a client gave its request, or a new one.
fn id_of(state: &AppState, headers: &HeaderMap) -> String {
    let key = headers.get(IDEMPOTENCY_KEY).and_then(|value| value.to_str().ok());
    key.map_or_else(|| state.new_request_id(), |key| key.trim_matches('"').to_owned())
}

/// The version that a change was made from; none where any will do.
pub(super) fn known(headers: &HeaderMap) -> Option<&str> {
    let value = headers.get(header::IF_MATCH)?.to_str().ok()?.trim();
    (value != "*").then(|| value.trim_matches('"'))
}

/// Sets chips, a reserve price, a list price or lending: from the next cycle on, or with `at` at a time to come. `If-Match` takes the
/// version of what is set, as `GET /supply` says it; without it whatever is there is changed.
#[utoipa::path(
    post, path = "/supply/changes", tag = "supply",
    params(
        ("If-Match" = Option<String>, Header, description = "Version of what is set, as it was read"),
        ("Idempotency-Key" = Option<String>, Header, description = "Of a change at a time to come: repeated, it is planned once"),
    ),
    request_body = NewSupplyChange,
    responses(
        (status = 201, description = "From which cycle it holds, or the plan's number", body = SupplyChanged),
        (status = 412, description = "It was changed since; the text says by whom and to what", body = Problem,
         content_type = "application/problem+json"),
        Problems,
    )
)]
async fn change(
    State(state): State<AppState>,
    viewer: Viewer,
    origin: Origin,
    headers: HeaderMap,
    Body(change): Body<NewSupplyChange>,
) -> Result<Response, AppError> {
    let doer = Doer { viewer: &viewer, origin: &origin, reason: &change.reason };
    let id = id_of(&state, &headers);
    let changed =
        state.services().change_supply(doer, &change.edit, (change.at, &id), known(&headers)).await?;
    Ok((StatusCode::CREATED, Json(changed)).into_response())
}

/// Plans a window of maintenance: chips that are down from the first cycle at or after its start until the first at or
/// after its end.
#[utoipa::path(
    post, path = "/supply/maintenance", tag = "supply",
    params(("Idempotency-Key" = Option<String>, Header, description = "Repeated, it is planned once")),
    request_body = NewMaintenance,
    responses((status = 201, description = "The plan's number", body = SupplyChanged), Problems)
)]
async fn maintenance(
    State(state): State<AppState>,
    viewer: Viewer,
    origin: Origin,
    headers: HeaderMap,
    Body(window): Body<NewMaintenance>,
) -> Result<Response, AppError> {
    let doer = Doer { viewer: &viewer, origin: &origin, reason: &window.reason };
    let id = id_of(&state, &headers);
    let planned = state.services().plan_maintenance(doer, &window, &id).await?;
    Ok((StatusCode::CREATED, Json(planned)).into_response())
}

/// Why a plan is taken back.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
struct Cancel {
    /// 1 to 500 characters.
    reason: String,
}

/// Takes back a planned change that waits, or ends maintenance that runs.
#[utoipa::path(
    post, path = "/supply/planned/{plan}/cancel", tag = "supply",
    params(("plan" = u64, Path, description = "Number of the planned change")),
    request_body = Cancel,
    responses((status = 204, description = "It is taken back"), Problems)
)]
async fn cancel(
    State(state): State<AppState>,
    viewer: Viewer,
    origin: Origin,
    Segment(plan): Segment<u64>,
    Body(cancel): Body<Cancel>,
) -> Result<StatusCode, AppError> {
    let doer = Doer { viewer: &viewer, origin: &origin, reason: &cancel.reason };
    state.services().cancel_plan(doer, plan).await?;
    Ok(StatusCode::NO_CONTENT)
}

/// What an inventory file says and what importing it would change. Changes nothing; what is wrong with the file is in the
/// answer, each fault with its line.
#[utoipa::path(
    post, path = "/supply/import/preview", tag = "supply", request_body = Inventory,
    responses((status = 200, description = "What it would change", body = InventoryView), Problems)
)]
async fn read_inventory(
    State(state): State<AppState>,
    viewer: Viewer,
    Body(inventory): Body<Inventory>,
) -> Result<Json<InventoryView>, AppError> {
    state.services().read_inventory(&viewer, &inventory).await.map(Json)
}

/// Imports an inventory file: all of it from the next cycle on, or nothing. Imported again it changes nothing.
#[utoipa::path(
    post, path = "/supply/import", tag = "supply",
    params(("If-Match" = Option<String>, Header, description = "`version` of the preview")),
    request_body = ImportInventory,
    responses(
        (status = 200, description = "What it changed", body = InventoryView),
        (status = 412, description = "What it would change was changed since", body = Problem,
         content_type = "application/problem+json"),
        Problems,
    )
)]
async fn import_inventory(
    State(state): State<AppState>,
    viewer: Viewer,
    origin: Origin,
    headers: HeaderMap,
    Body(import): Body<ImportInventory>,
) -> Result<Json<InventoryView>, AppError> {
    let doer = Doer { viewer: &viewer, origin: &origin, reason: &import.reason };
    state.services().import_inventory(doer, &import.inventory, known(&headers)).await.map(Json)
}

impl Table for SupplyView {
    fn file_name(&self) -> String {
        "supply".to_owned()
    }

    fn columns(&self) -> Vec<&'static str> {
        vec![
            "chip_type",
            "pool",
            "chips",
            "under_maintenance_chips",
            "in_force_chips",
            "reserve_price_credits_per_chip_hour",
            "list_price_credits_per_chip_hour",
        ]
    }

    fn rows(&self) -> Vec<Vec<String>> {
        let row = |chip_type: &SuppliedType, holding: &Holding| {
            vec![
                chip_type.chip_type.to_string(),
                cell(holding.pool.as_ref()),
                holding.chips.to_string(),
                holding.under_maintenance.to_string(),
                holding.in_force.to_string(),
                chip_type.reserve_price.to_string(),
                cell(chip_type.list_price),
            ]
        };
        let types = self.chip_types.iter();
        types
            .flat_map(|chip_type| chip_type.holdings.iter().map(move |holding| row(chip_type, holding)))
            .collect()
    }
}

impl Table for SupplyHistory {
    fn file_name(&self) -> String {
        format!("supply-{}", self.chip_type)
    }

    fn columns(&self) -> Vec<&'static str> {
        vec!["chip_type", "cycle", "starts_at", "pool", "before_chips", "after_chips"]
    }

    fn rows(&self) -> Vec<Vec<String>> {
        let row = |level: &SupplyLevel| {
            vec![
                self.chip_type.to_string(),
                level.cycle.to_string(),
                level.at.to_string(),
                cell(level.pool.as_ref()),
                level.before.to_string(),
                level.after.to_string(),
            ]
        };
        self.changes.iter().map(row).collect()
    }
}
