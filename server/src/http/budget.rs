//! Budgets and the ledger behind them, of the REST API.

use axum::extract::State;
use axum::http::HeaderMap;
use axum::response::Response;
use common::api::{BudgetPoint, BudgetView, LedgerEntry, Page, Span, TransferEntry, TransferView};
use common::ids::{ChipTypeId, TeamId};
use common::instant::Instant;
use serde::Deserialize;
use utoipa::IntoParams;
use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;

use super::AppState;
use super::answer::{Format, Table, answer, cell};
use super::api::Problems;
use super::extract::{FormatQuery, Query, Segment, Segments, default_limit};
use crate::error::AppError;
use crate::policy::Viewer;
use crate::store::budget::EntryFilter;
use crate::store::ledger::TransferKind;

/// The routes, under `/api/v1`.
pub(super) fn routes() -> OpenApiRouter<AppState> {
    OpenApiRouter::new().routes(routes!(budget)).routes(routes!(ledger)).routes(routes!(transfer))
}

#[derive(Debug, Deserialize, IntoParams)]
#[into_params(parameter_in = Query)]
#[serde(deny_unknown_fields)]
struct BudgetQuery {
    /// How far back the history goes: `1h`, `24h`, `7d` or `90d`.
    #[serde(default)]
    #[param(inline, required = false)]
    span: Span,
    /// `json`, or `csv` for the history.
    #[serde(default)]
    #[param(inline, required = false)]
    format: Format,
}

/// A team's money now: balance, income, burn rate, what it may spend, and the month against its allowance.
#[utoipa::path(
    get, path = "/teams/{team}/budget", tag = "money",
    params(("team" = TeamId, Path, description = "The team"), BudgetQuery),
    responses(
        (status = 200, description = "The budget as of the last cycle",
         content((BudgetView = "application/json"), (String = "text/csv"))),
        Problems,
    )
)]
async fn budget(
    State(state): State<AppState>,
    viewer: Viewer,
    Segment(team): Segment<TeamId>,
    headers: HeaderMap,
    Query(query): Query<BudgetQuery>,
) -> Result<Response, AppError> {
    let view = state.services().budget(&viewer, &team, query.span).await?;
    answer(&headers, query.format, &view)
}

/// The filters of the ledger, as they stand in an address.
#[derive(Debug, Deserialize, IntoParams)]
#[into_params(parameter_in = Query)]
#[serde(deny_unknown_fields)]
struct LedgerQuery {
    /// Only transfers of this kind: `mint`, `income`, `charge`, `rebase`, `correction` or `lapse`.
    kind: Option<String>,
    /// Only charges for this chip type.
    chip_type: Option<ChipTypeId>,
    /// What counts at or after this instant. An accounting step counts just before it is booked, in the time it covers.
    from: Option<Instant>,
    /// What counts before this instant.
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

/// A kind of transfer by its name.
pub(super) fn transfer_kind(text: &str) -> Result<TransferKind, AppError> {
    TransferKind::parse(text).map_err(|_| {
        let detail =
            format!("{text:?} is no kind of transfer; use mint, income, charge, rebase, correction or lapse");
        AppError::invalid("kind", detail)
    })
}

/// The entries of a team's account, newest first.
#[utoipa::path(
    get, path = "/teams/{team}/ledger", tag = "money",
    params(("team" = TeamId, Path, description = "The team"), LedgerQuery),
    responses(
        (status = 200, description = "One page of entries",
         content((Page<LedgerEntry> = "application/json"), (String = "text/csv"))),
        Problems,
    )
)]
async fn ledger(
    State(state): State<AppState>,
    viewer: Viewer,
    Segment(team): Segment<TeamId>,
    headers: HeaderMap,
    Query(query): Query<LedgerQuery>,
) -> Result<Response, AppError> {
    let LedgerQuery { kind, chip_type, from, to, cursor, limit, format } = query;
    let kind = kind.as_deref().map(transfer_kind).transpose()?;
    let filter = EntryFilter { kind, chip_type, from, to };
    let page = state.services().ledger_entries(&viewer, &team, &filter, cursor.as_deref(), limit).await?;
    answer(&headers, format, &page)
}

/// One transfer that touches the team's account, with both of its sides.
#[utoipa::path(
    get, path = "/teams/{team}/ledger/{transfer}", tag = "money",
    params(
        ("team" = TeamId, Path, description = "The team"),
        ("transfer" = u64, Path, description = "Number of the transfer, from 1"),
        FormatQuery,
    ),
    responses(
        (status = 200, description = "The transfer and its entries",
         content((TransferView = "application/json"), (String = "text/csv"))),
        Problems,
    )
)]
async fn transfer(
    State(state): State<AppState>,
    viewer: Viewer,
    Segments(team, number): Segments<TeamId, u64>,
    headers: HeaderMap,
    Query(query): Query<FormatQuery>,
) -> Result<Response, AppError> {
    let view = state.services().transfer(&viewer, &team, number).await?;
    answer(&headers, query.format, &view)
}

impl Table for BudgetView {
    fn file_name(&self) -> String {
        format!("budget-{}-{}", self.team, self.history.span.as_str())
    }

    fn columns(&self) -> Vec<&'static str> {
        vec!["team", "starts_at", "income_credits", "spent_credits", "other_credits", "balance_credits"]
    }

    fn rows(&self) -> Vec<Vec<String>> {
        let row = |point: &BudgetPoint| {
            vec![
                self.team.to_string(),
                point.at.to_string(),
                point.income.to_string(),
                point.spent.to_string(),
                point.other.to_string(),
                point.balance.to_string(),
            ]
        };
        self.history.points.iter().map(row).collect()
    }
}

impl Table for Page<LedgerEntry> {
    fn file_name(&self) -> String {
        "ledger".to_owned()
    }

    fn columns(&self) -> Vec<&'static str> {
        vec![
            "transfer",
            "booked_at",
            "kind",
            "cycle",
            "amount_credits",
            "balance_after_credits",
            "chip_type",
            "used_chip_seconds",
            "reason",
        ]
    }

    fn rows(&self) -> Vec<Vec<String>> {
        let row = |entry: &LedgerEntry| {
            vec![
                entry.transfer.to_string(),
                entry.at.to_string(),
                entry.kind.clone(),
                entry.cycle.to_string(),
                entry.amount.to_string(),
                entry.balance_after.to_string(),
                cell(entry.chip_type.as_ref()),
                cell(entry.chip_seconds),
                entry.reason.clone(),
            ]
        };
        self.items.iter().map(row).collect()
    }
}

impl Table for TransferView {
    fn file_name(&self) -> String {
        format!("transfer-{}", self.number)
    }

    fn columns(&self) -> Vec<&'static str> {
        vec![
            "transfer",
            "booked_at",
            "kind",
            "cycle",
            "account",
            "owner",
            "amount_credits",
            "chip_type",
            "used_chip_seconds",
        ]
    }

    fn rows(&self) -> Vec<Vec<String>> {
        let row = |entry: &TransferEntry| {
            vec![
                self.number.to_string(),
                self.at.to_string(),
                self.kind.clone(),
                self.cycle.to_string(),
                entry.account.clone(),
                cell(entry.owner.as_ref()),
                entry.amount.to_string(),
                cell(entry.chip_type.as_ref()),
                cell(entry.chip_seconds),
            ]
        };
        self.entries.iter().map(row).collect()
    }
}
