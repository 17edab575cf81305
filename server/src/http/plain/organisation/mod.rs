//! The organisation's pages: what is set, and forms that change it, each with a reason.

mod allowances;
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

use app::plain::organisation::{Cell, ChangePage, Link, Listing, OverviewPage, Shows, change, overview};
use axum::Router;
use axum::response::Response;
use axum::routing::get;
use common::money::MicroCredits;

use super::{AppState, Plain, Posted};
use crate::error::{AppError, ErrorKind};
use crate::policy::{Action, Object, Viewer};
use crate::services::audit::{Doer, Origin};
use crate::store::entities::Setup;

/// The routes.
pub(super) fn routes() -> Router<AppState> {
    Router::new()
        .route("/organisation", get(page))
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
        "It takes effect in cycle {cycle}, the next one, and stands in the audit log with your name and reason."
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

async fn page(plain: Plain, viewer: Viewer) -> Response {
    match plain.state().services().setup(&viewer).await {
        Ok((setup, cycle)) => {
            let page = all_pools_and_teams(&viewer, &setup, cycle);
            plain.ok("Organisation", || overview(page))
        }
        Err(error) => plain.problem(&error),
    }
}

fn all_pools_and_teams(viewer: &Viewer, setup: &Setup, cycle: u64) -> OverviewPage {
    let pool_rows = setup.pools.iter().filter(|pool| !pool.archived).map(|pool| {
        let teams = setup.teams.iter().filter(|team| team.pool == pool.id && !team.archived);
        let income = teams.clone().fold(0_i64, |sum, team| sum.saturating_add(team.income.0));
        vec![
            Cell::Links(vec![link(format!("/organisation/pools/{}", pool.id), pool.name.clone())]),
            Cell::Number(pool.weight.to_string()),
            Cell::Number(MicroCredits(income).to_string()),
            Cell::Number(teams.count().to_string()),
        ]
    });
    let team_rows = setup.teams.iter().filter(|team| !team.archived).map(|team| {
        vec![
            Cell::Links(vec![link(format!("/organisation/teams/{}", team.id), team.name.clone())]),
            Cell::Text(pool_name(setup, &team.pool)),
            Cell::Number(team.income.to_string()),
            Cell::Number(factor(team.leverage_thousandths)),
        ]
    });
    let mut actions = Vec::new();
    if viewer.can(Action::SetOrganisation, Object::Organisation) {
        actions.push(link("/organisation/pools/new", "Add a pool"));
    }
    if setup.pools.iter().any(|pool| !pool.archived && viewer.can(Action::SetIncome, Object::Pool(&pool.id)))
    {
        actions.push(link("/organisation/teams/new", "Add a team"));
    }
    let mut page = OverviewPage {
        path: "/organisation".to_owned(),
        shows: shows(viewer),
        actions,
        listings: vec![
            Listing {
                caption: "Pools".to_owned(),
                columns: vec![
                    ("Pool", "", false),
                    ("Weight", "global credits per hour", true),
                    ("Income of its teams", "local credits per hour", true),
                    ("Teams", "", true),
                ],
                rows: pool_rows.collect(),
                empty: "There is no pool yet.",
            },
            Listing {
                caption: "Teams".to_owned(),
                columns: vec![
                    ("Team", "", false),
                    ("Pool", "", false),
                    ("Income", "local credits per hour", true),
                    ("Leverage", "times income", true),
                ],
                rows: team_rows.collect(),
                empty: "There is no team yet. Add one to a pool.",
            },
            retire::chip_types(viewer, setup),
        ],
        notes: vec![
            format!("As set, what takes effect in cycle {cycle} included."),
            "Pools, teams and chip types stay, for their history and their money. What is not needed any more is archived \
             or retired."
                .to_owned(),
        ],
        ..OverviewPage::default()
    };
    page.listings.extend(retire::archived(setup));
    page
}

fn pool_name(setup: &Setup, id: &common::ids::PoolId) -> String {
    let pool = setup.pools.iter().find(|pool| pool.id == *id);
    pool.map_or_else(|| id.to_string(), |pool| pool.name.clone())
}

/// Thousandths as a factor: 2000 → "2", 1250 → "1.25".
fn factor(thousandths: u32) -> String {
    let text = format!("{}.{:03}", thousandths / 1_000, thousandths % 1_000);
    text.trim_end_matches('0').trim_end_matches('.').to_owned()
}
