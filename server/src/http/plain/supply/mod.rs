//! The supply pages: what there is, and forms that change it, each shown with its effect before it is confirmed.

mod change;
mod cuts;
mod import;
mod plans;
mod what_if;

use app::plain::form::FormState;
use app::plain::organisation::{ChangePage, Link};
use app::plain::supply::{SupplyPage, supply as supply_view};
use axum::Router;
use axum::extract::RawQuery;
use axum::response::Response;
use axum::routing::get;
use common::ids::{ChipTypeId, PoolId};

use super::fields::Fields;
use super::{AppState, Plain, Posted};
use crate::error::{AppError, ErrorKind};
use crate::policy::{Action, Object, Viewer};
use crate::services::audit::{Doer, Origin};

/// The routes.
pub(super) fn routes() -> Router<AppState> {
    Router::new()
        .route("/supply", get(page))
        .merge(change::routes())
        .merge(plans::routes())
        .merge(import::routes())
        .merge(cuts::routes())
        .merge(what_if::routes())
}

async fn page(plain: Plain, viewer: Viewer, RawQuery(query): RawQuery) -> Response {
    match read(plain.state(), &viewer, &fields_of(query)).await {
        Ok(page) => plain.ok("Supply", || supply_view(page)),
        Err(error) => plain.problem(&error),
    }
}

async fn read(
    state: &AppState,
    viewer: &Viewer,
    fields: &[(String, String)],
) -> Result<SupplyPage, AppError> {
    let mut fields = Fields::new(fields);
    let chip_type: Option<ChipTypeId> = fields.optional("chip");
    fields.finish()?;
    let services = state.services();
    Ok(SupplyPage {
        view: services.supply(viewer).await?,
        history: services.supply_history(viewer, chip_type.as_ref()).await?,
        may_change: viewer.can(Action::SetSupply, Object::Organisation),
    })
}

/// The fields of a query.
fn fields_of(query: Option<String>) -> Vec<(String, String)> {
    form_urlencoded::parse(query.unwrap_or_default().as_bytes()).into_owned().collect()
}

/// The chip type that a form or an address names.
fn chip_type_in(fields: &[(String, String)]) -> Result<ChipTypeId, AppError> {
    let text = Fields::new(fields).text("chip_type");
    text.parse().map_err(|_| AppError::not_found("chip type", format!("{text:?}")))
}

/// The pool that a form or an address names; none where it is left out or empty.
fn pool_in(fields: &[(String, String)]) -> Result<Option<PoolId>, AppError> {
    match Fields::new(fields).text("pool") {
        "" => Ok(None),
        text => text.parse().map(Some).map_err(|_| AppError::not_found("pool", format!("{text:?}"))),
    }
}

/// Who does what a form asks for.
fn doer<'a>(viewer: &'a Viewer, origin: &'a Origin, posted: &'a Posted) -> Doer<'a> {
    Doer { viewer, origin, reason: posted.get("reason") }
}

/// The way back to the supply.
fn back() -> Link {
    Link { href: "/supply".to_owned(), text: "Supply".to_owned() }
}

/// Answers with a form.
fn show(plain: Plain, title: &str, page: Result<ChangePage, AppError>) -> Response {
    match page {
        Ok(page) => plain.ok(title, || app::plain::organisation::change(page)),
        Err(error) => plain.problem(&error),
    }
}

/// Answers a form that was refused: with the form again, what was typed and what is in force now; else with a page that
/// says why.
fn refuse(
    plain: Plain,
    title: &str,
    posted: Posted,
    error: &AppError,
    page: Result<ChangePage, AppError>,
) -> Response {
    let by_typing = matches!(
        error.kind(),
        ErrorKind::Invalid | ErrorKind::MalformedInput | ErrorKind::Conflict | ErrorKind::PreconditionFailed
    );
    match page {
        Ok(page) if by_typing => {
            let state: FormState = posted.refused(error);
            let page = ChangePage { state, ..page };
            plain.refused(error, title, || app::plain::organisation::change(page))
        }
        _ => plain.problem(error),
    }
}
