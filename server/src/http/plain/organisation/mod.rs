//! The organisation's pages: what is set, and forms that change it, each with a reason.

mod allowances;
mod directory;
mod income;
mod limits;
mod log;
mod members;
mod people;
mod pools;
mod retire;
mod settings;
mod shares;
mod teams;

use app::format::thousands;
use app::plain::organisation::{ChangePage, Link, Shows, change};
use axum::Router;
use axum::response::Response;

use super::{AppState, Plain, Posted};
use crate::error::{AppError, ErrorKind};
use crate::policy::{Action, Object, Viewer};
use crate::services::audit::{Doer, Origin};
use crate::store::entities::Setup;

/// The routes.
pub(super) fn routes() -> Router<AppState> {
    Router::new()
        .merge(directory::routes())
        .merge(settings::routes())
        .merge(pools::routes())
        .merge(allowances::routes())
        .merge(teams::routes())
        .merge(people::routes())
        .merge(retire::routes())
        .merge(shares::routes())
        .merge(log::routes())
}

/// The pages that the viewer finds in the navigation.
fn shows(viewer: &Viewer) -> Shows {
    let can = |action| viewer.can(action, Object::Organisation);
    Shows {
        people: can(Action::ManageUsers),
        audit: can(Action::ReadAudit),
        watch: can(Action::ReadSealedBids),
    }
}

/// Who does what a form asks for.
fn doer<'a>(viewer: &'a Viewer, origin: &'a Origin, posted: &'a Posted) -> Doer<'a> {
    Doer { viewer, origin, reason: posted.get("reason") }
}

/// The version that a form was made from.
fn known(posted: &Posted) -> Option<&str> {
    Some(posted.get("version")).filter(|version| !version.is_empty())
}

fn link(href: impl Into<String>, text: impl Into<String>) -> Link {
    Link { href: href.into(), text: text.into() }
}

/// When a change takes effect.
fn effective(cycle: u64) -> String {
    format!(
        "It takes effect in cycle {}, the next one, and stands in the audit log with your name and reason.",
        thousands(cycle)
    )
}

/// Answers with a form.
fn show(plain: Plain, title: &str, page: Result<ChangePage, AppError>) -> Response {
    match page {
        Ok(page) => plain.ok(title, || change(page)),
        Err(error) => plain.problem(&error),
    }
}

/// Answers a form that was refused: with the form again where something can be typed better, else with a page that says
/// why. Who may not see the form reads that, and not what is wrong with what was sent.
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
            let page = ChangePage { state: posted.refused(error), ..page };
            plain.refused(error, title, || change(page))
        }
        Err(not_allowed) if by_typing => plain.problem(&not_allowed),
        _ => plain.problem(error),
    }
}

fn pool_name(setup: &Setup, id: &common::ids::PoolId) -> String {
    let pool = setup.pools.iter().find(|pool| pool.id == *id);
    pool.map_or_else(|| id.to_string(), |pool| pool.name.clone())
}

fn team_name(setup: &Setup, id: &common::ids::TeamId) -> String {
    let team = setup.teams.iter().find(|team| team.id == *id);
    team.map_or_else(|| id.to_string(), |team| team.name.clone())
}

/// Thousandths as a factor: 2000 → "2", 1250 → "1.25".
fn factor(thousandths: u32) -> String {
    let text = format!("{}.{:03}", thousandths / 1_000, thousandths % 1_000);
    text.trim_end_matches('0').trim_end_matches('.').to_owned()
}
