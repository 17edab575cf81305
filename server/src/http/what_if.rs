//! What-ifs in the REST API.

use axum::Json;
use axum::extract::State;
use axum::http::{HeaderMap, HeaderValue, StatusCode, header};
use axum::response::{IntoResponse, Response};
use common::api::{Sides, WhatIfQuestion, WhatIfState, WhatIfView};
use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;

use super::AppState;
use super::answer::{Table, answer, cell};
use super::extract::{Body, FormatQuery, Query, Segment};
use super::supply::Problems;
use crate::error::AppError;
use crate::policy::Viewer;

/// The routes, under `/api/v1`.
pub(super) fn routes() -> OpenApiRouter<AppState> {
    OpenApiRouter::new().routes(routes!(list, ask)).routes(routes!(open)).routes(routes!(cancel))
}

/// The last what-ifs, newest first. For admins and auditors.
#[utoipa::path(
    get, path = "/what-if", tag = "supply",
    responses((status = 200, description = "At most 50", body = Vec<WhatIfView>), Problems)
)]
async fn list(State(state): State<AppState>, viewer: Viewer) -> Result<Json<Vec<WhatIfView>>, AppError> {
    state.services().what_ifs(&viewer).await.map(Json)
}

/// Asks a what-if. On the cycle in force the answer comes at once; over a past day it is computed in the background, and
/// its address says how far it is. Bids stay as they were.
#[utoipa::path(
    post, path = "/what-if", tag = "supply", request_body = WhatIfQuestion,
    responses((status = 201, description = "The what-if; `Location` is its address", body = WhatIfView), Problems)
)]
async fn ask(
    State(state): State<AppState>,
    viewer: Viewer,
    Body(question): Body<WhatIfQuestion>,
) -> Result<Response, AppError> {
    let view = state.services().ask_what_if(&viewer, question).await?;
    let location =
        HeaderValue::try_from(format!("/api/v1/what-if/{}", view.id)).map_err(AppError::internal)?;
    Ok((StatusCode::CREATED, [(header::LOCATION, location)], Json(view)).into_response())
}

/// One what-if: what was asked, and the market without and with it.
#[utoipa::path(
    get, path = "/what-if/{what_if}", tag = "supply",
    params(("what_if" = String, Path, description = "Its id"), FormatQuery),
    responses(
        (status = 200, description = "Question and answer, or how far it is",
         content((WhatIfView = "application/json"), (String = "text/csv"))),
        Problems,
    )
)]
async fn open(
    State(state): State<AppState>,
    viewer: Viewer,
    Segment(id): Segment<String>,
    headers: HeaderMap,
    Query(query): Query<FormatQuery>,
) -> Result<Response, AppError> {
    let view = state.services().what_if(&viewer, &id).await?;
    answer(&headers, query.format, &view)
}

/// Ends a what-if that is computed; what is done of it is thrown away.
#[utoipa::path(
    post, path = "/what-if/{what_if}/cancel", tag = "supply",
    params(("what_if" = String, Path, description = "Its id")),
    responses((status = 204, description = "It ends"), Problems)
)]
async fn cancel(
    State(state): State<AppState>,
    viewer: Viewer,
    Segment(id): Segment<String>,
) -> Result<StatusCode, AppError> {
    state.services().cancel_what_if(&viewer, &id).await?;
    Ok(StatusCode::NO_CONTENT)
}

/// Thousandths with all three decimals, as a program reads them.
fn milli(thousandths: u64) -> String {
    format!("{}.{:03}", thousandths / 1_000, thousandths % 1_000)
}

impl Table for WhatIfView {
    fn file_name(&self) -> String {
        format!("what-if-{}", self.id)
    }

    fn columns(&self) -> Vec<&'static str> {
        vec!["of", "id", "pool", "figure", "before", "after"]
    }

    fn rows(&self) -> Vec<Vec<String>> {
        let WhatIfState::Done { comparison } = &self.progress else { return Vec::new() };
        let row = |of: [String; 3], figure: &str, sides: Sides<String>| {
            let mut cells = of.to_vec();
            cells.extend([figure.to_owned(), sides.before, sides.after]);
            cells
        };
        let mut rows = Vec::new();
        for compared in &comparison.chip_types {
            let of = || ["chip_type".to_owned(), compared.chip_type.to_string(), String::new()];
            rows.push(row(of(), "supply_chips", compared.supply_milli.map(milli)));
            rows.push(row(of(), "reference_price_credits_per_chip_hour", compared.reference_price.map(cell)));
            rows.push(row(of(), "asked_chips", compared.asked_milli.map(milli)));
            rows.push(row(of(), "granted_chips", compared.granted_milli.map(milli)));
        }
        for compared in &comparison.pools {
            let of = ["chip_type".to_owned(), compared.chip_type.to_string(), compared.pool.to_string()];
            rows.push(row(of, "local_price_credits_per_chip_hour", compared.local_price.map(cell)));
        }
        for compared in &comparison.teams {
            let of = || ["team".to_owned(), compared.team.to_string(), compared.pool.to_string()];
            rows.push(row(of(), "used_chips", compared.chips_milli.map(milli)));
            rows.push(row(of(), "spend_credits_per_hour", compared.spend.map(|spend| spend.to_string())));
        }
        rows
    }
}
