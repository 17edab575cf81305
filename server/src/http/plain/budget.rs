//! The pages of a team's budget and ledger.

use app::plain::budget::{BudgetPage, budget as budget_view, no_team};
use app::plain::ledger::{LedgerPage, ledger as ledger_view, transfer as transfer_view};
use axum::Router;
use axum::extract::RawQuery;
use axum::response::Response;
use axum::routing::get;
use common::api::Span;
use common::ids::TeamId;
use serde::Deserialize;

use super::fields::{Fields, filters_of};
use super::{AppState, Plain};
use crate::error::{AppError, ErrorKind};
use crate::http::budget::transfer_kind;
use crate::http::extract::{Query, Segment};
use crate::policy::{Action, Object, Viewer};
use crate::store::budget::EntryFilter;

/// Entries in one page of the ledger.
const ENTRIES: u32 = 100;

/// The routes.
pub(super) fn routes() -> Router<AppState> {
    Router::new()
        .route("/budget", get(budget))
        .route("/budget/ledger", get(ledger))
        .route("/budget/ledger/{transfer}", get(transfer))
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct BudgetQuery {
    team: Option<TeamId>,
    #[serde(default)]
    span: Span,
}

async fn budget(plain: Plain, viewer: Viewer, query: Result<Query<BudgetQuery>, AppError>) -> Response {
    let page = async {
        let Query(BudgetQuery { team, span }) = query?;
        read_budget(plain.state(), &viewer, team, span).await
    };
    match page.await {
        Ok(Some(page)) => plain.ok(&format!("Budget of {}", page.budget.name), || budget_view(&page)),
        Ok(None) => plain.ok("Budget", no_team),
        Err(error) => plain.problem(&error),
    }
}

/// The budget of a team, or of the viewer's first one; none where there is no team to show.
async fn read_budget(
    state: &AppState,
    viewer: &Viewer,
    team: Option<TeamId>,
    span: Span,
) -> Result<Option<BudgetPage>, AppError> {
    let services = state.services();
    let teams = services.budget_teams(viewer).await?;
    let Some(team) = team.or_else(|| first_team(viewer, &teams)) else { return Ok(None) };
    let budget = services.budget(viewer, &team, span).await?;
    let object = Object::Team { team: &budget.team, pool: &budget.pool };
    let sets_allowance = viewer.can(Action::SetIncome, object);
    Ok(Some(BudgetPage { teams, budget, sets_allowance }))
}

/// The viewer's first team, or else the first whose budget the viewer may read.
fn first_team(viewer: &Viewer, readable: &[(TeamId, String)]) -> Option<TeamId> {
    let own = viewer.teams.keys().next();
    own.or_else(|| readable.first().map(|(id, _)| id)).cloned()
}

async fn ledger(plain: Plain, viewer: Viewer, RawQuery(query): RawQuery) -> Response {
    let fields: Vec<(String, String)> =
        form_urlencoded::parse(query.unwrap_or_default().as_bytes()).into_owned().collect();
    match read_ledger(plain.state(), &viewer, fields).await {
        Ok((page, None)) => plain.ok(&format!("Ledger of {}", page.name), || ledger_view(page)),
        Ok((page, Some(error))) => plain.refused(&error, "Ledger", || ledger_view(page)),
        Err(error) => plain.problem(&error),
    }
}

/// The page of entries, and why a filter of it is refused.
async fn read_ledger(
    state: &AppState,
    viewer: &Viewer,
    fields: Vec<(String, String)>,
) -> Result<(LedgerPage, Option<AppError>), AppError> {
    let services = state.services();
    let value = |name: &str| {
        let found = fields.iter().find(|(known, _)| known == name).map(|(_, value)| value.as_str());
        found.filter(|value| !value.is_empty())
    };
    let asked =
        value("team").map(|team| team.parse::<TeamId>().map_err(|_| AppError::not_found("team", team)));
    let team = match asked.transpose()? {
        Some(team) => team,
        None => {
            first_team(viewer, &services.budget_teams(viewer).await?).ok_or_else(AppError::no_such_page)?
        }
    };
    let budget = services.budget(viewer, &team, Span::Hour).await?;
    let (setup, _) = services.setup(viewer).await?;
    let filter = read_filter(&fields);
    let entries = match &filter {
        Ok(filter) => services.ledger_entries(viewer, &team, filter, value("cursor"), ENTRIES).await,
        Err(_) => Err(AppError::internal("a refused filter reads nothing")),
    };
    let stretch = filter.as_ref().map(|filter| (filter.from, filter.to)).unwrap_or_default();
    let (entries, refused) = match (entries, filter) {
        (Ok(entries), _) => (Some(entries), None),
        (Err(_), Err(refused)) => (None, Some(refused)),
        (Err(error), Ok(_)) if error.kind() == ErrorKind::Invalid => (None, Some(error)),
        (Err(error), Ok(_)) => return Err(error),
    };
    let filters = filters_of(fields, stretch, refused.as_ref());
    let chip_types = setup.chip_types.iter().map(|chip_type| chip_type.id.clone()).collect();
    Ok((LedgerPage { team, name: budget.name, chip_types, filters, entries }, refused))
}

fn read_filter(fields: &[(String, String)]) -> Result<EntryFilter, AppError> {
    let mut fields = Fields::new(fields);
    let kind = match fields.text("kind") {
        "" => None,
        kind => transfer_kind(kind).map(Some).unwrap_or_else(|error| fields.refuse_with(&error)),
    };
    let chip_type = fields.optional("chip_type");
    let (from, to) = (fields.optional_instant("from"), fields.optional_end("to"));
    fields.finish()?;
    Ok(EntryFilter { kind, chip_type, from, to })
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct TransferQuery {
    team: TeamId,
}

async fn transfer(
    plain: Plain,
    viewer: Viewer,
    Segment(number): Segment<u64>,
    query: Result<Query<TransferQuery>, AppError>,
) -> Response {
    let read = async {
        let Query(TransferQuery { team }) = query?;
        let transfer = plain.state().services().transfer(&viewer, &team, number).await?;
        Ok::<_, AppError>((team, transfer))
    };
    match read.await {
        Ok((team, transfer)) => {
            let may_correct = viewer.can(Action::BookMoney, Object::Organisation);
            plain.ok(&format!("Transfer {number}"), || transfer_view(&team, &transfer, may_correct))
        }
        Err(error) => plain.problem(&error),
    }
}
