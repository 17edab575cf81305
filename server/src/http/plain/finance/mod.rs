//! The pages of finance.

mod bookings;
mod months;

use app::plain::finance::budgets::budgets as budgets_view;
use app::plain::finance::refused_period;
use app::plain::finance::spend::{SpendPage, spend as spend_view};
use app::plain::finance::statements::{statement as statement_view, statements as statements_view};
use axum::Router;
use axum::extract::RawQuery;
use axum::response::Response;
use axum::routing::get;
use common::api::SpendGroup;
use common::ids::{ChipTypeId, PoolId, TeamId};
use common::problem::Problem;
use serde::Deserialize;

use super::fields::Fields;
use super::{AppState, Plain};
use crate::error::AppError;
use crate::http::extract::Query;
use crate::policy::{Action, Object, Viewer};
use crate::services::finance::SpendQuery;

/// The routes.
pub(super) fn routes() -> Router<AppState> {
    Router::new()
        .route("/finance", get(spend))
        .route("/finance/budgets", get(budgets))
        .route("/finance/statements", get(statements))
        .route("/finance/statements/of", get(statement))
        .merge(months::routes())
        .merge(bookings::routes())
}

/// What the address says; an empty field is one that was left out.
fn spend_query(fields: &[(String, String)]) -> Result<(SpendQuery, usize), AppError> {
    const KNOWN: [&str; 6] = ["period", "group", "pool", "team", "chip_type", "first"];
    let mut read = Fields::new(fields);
    if let Some((unknown, _)) = fields.iter().find(|(name, _)| !KNOWN.contains(&name.as_str())) {
        read.refuse(unknown, "is no part of this address");
    }
    let group = match read.text("group") {
        "" => SpendGroup::default(),
        text => SpendGroup::ALL.into_iter().find(|group| group.as_str() == text).unwrap_or_else(|| {
            read.refuse("group", format!("is {text:?}; it must be pool, team or chip_type"));
            SpendGroup::default()
        }),
    };
    let pool = read.optional::<PoolId>("pool");
    let team = read.optional::<TeamId>("team");
    let chip_type = read.optional::<ChipTypeId>("chip_type");
    let first = read.optional::<usize>("first").unwrap_or(0);
    let period = Some(read.text("period").to_owned());
    read.finish()?;
    Ok((SpendQuery { period, group, pool, team, chip_type }, first))
}

async fn spend(plain: Plain, viewer: Viewer, RawQuery(query): RawQuery) -> Response {
    let fields: Vec<(String, String)> =
        form_urlencoded::parse(query.unwrap_or_default().as_bytes()).into_owned().collect();
    let read = async {
        let (query, first) = spend_query(&fields)?;
        Ok(SpendPage { spend: plain.state().services().spend(&viewer, &query).await?, first })
    };
    match read.await {
        Ok(page) => plain.ok("Spend", || spend_view(&page)),
        Err(error) => refused(plain, "Spend", fields, &error),
    }
}

/// Answers what can't be read: with the field of the period where that is at fault, else with a page that says why.
fn refused(plain: Plain, title: &str, fields: Vec<(String, String)>, error: &AppError) -> Response {
    if !error.fields().iter().any(|fault| fault.field == "period") {
        return plain.problem(error);
    }
    let path = plain.path.clone();
    plain.refused(error, title, || refused_period(&path, fields, &Problem::from(error)))
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct PeriodQuery {
    period: Option<String>,
}

fn as_field(period: Option<String>) -> Vec<(String, String)> {
    period.map(|period| ("period".to_owned(), period)).into_iter().collect()
}

async fn budgets(plain: Plain, viewer: Viewer, query: Result<Query<PeriodQuery>, AppError>) -> Response {
    let period = match query {
        Ok(Query(PeriodQuery { period })) => period,
        Err(error) => return plain.problem(&error),
    };
    match plain.state().services().budgets(&viewer, period.as_deref()).await {
        Ok(view) => plain.ok("Budgets", || budgets_view(&view)),
        Err(error) => refused(plain, "Budgets", as_field(period), &error),
    }
}

async fn statements(plain: Plain, viewer: Viewer, query: Result<Query<PeriodQuery>, AppError>) -> Response {
    let period = match query {
        Ok(Query(PeriodQuery { period })) => period,
        Err(error) => return plain.problem(&error),
    };
    let finance = viewer.can(Action::ReadMoney, Object::Organisation);
    match plain.state().services().statements(&viewer, period.as_deref()).await {
        Ok(view) => plain.ok("Statements", || statements_view(&view, finance)),
        Err(error) if finance => refused(plain, "Statements", as_field(period), &error),
        Err(error) => plain.problem(&error),
    }
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct StatementQuery {
    team: TeamId,
    period: Option<String>,
}

async fn statement(plain: Plain, viewer: Viewer, query: Result<Query<StatementQuery>, AppError>) -> Response {
    let read = async {
        let Query(StatementQuery { team, period }) = query?;
        plain.state().services().statement(&viewer, &team, period.as_deref()).await
    };
    match read.await {
        Ok(view) => {
            let title = format!("Statement of {}, {}", view.name, view.period.title);
            plain.ok(&title, || statement_view(&view))
        }
        Err(error) => plain.problem(&error),
    }
}
