//! Teams: one with its people, and the form that adds one.

use app::format::as_set;
use app::plain::form::{Field, FormState};
use app::plain::organisation::{Cell, ChangePage, Input, Listing, OverviewPage, overview};
use axum::Router;
use axum::response::Response;
use axum::routing::get;
use common::ids::{PoolId, TeamId};
use serde::Deserialize;

use super::super::fields::Fields;
use super::super::{AppState, Plain, Posted};
use super::allowances::words;
use super::limits::{LEVERAGE_HINT, leverage};
use super::{doer, effective, factor, link, pool_name, refuse, show, shows};
use crate::error::AppError;
use crate::http::extract::{Query, Segment};
use crate::policy::{Action, Object, Viewer};
use crate::services::audit::Origin;
use crate::services::changes::team_in;
use crate::store::allowances::Allowance;
use crate::store::entities::Team;

pub(super) fn routes() -> Router<AppState> {
    Router::new()
        .route("/organisation/teams/new", get(new_page).post(add))
        .route("/organisation/teams/{id}", get(page))
        .merge(super::income::routes())
        .merge(super::limits::routes())
        .merge(super::members::routes())
}

pub(super) fn object(team: &Team) -> Object<'_> {
    Object::Team { team: &team.id, pool: &team.pool }
}

pub(super) fn at(id: &TeamId, rest: &str) -> String {
    format!("/organisation/teams/{id}{rest}")
}

/// The team of a form, the next cycle, and whether the viewer may do what the form asks for.
pub(super) async fn opened(
    plain: &Plain,
    viewer: &Viewer,
    id: &TeamId,
    action: Action,
) -> Result<(Team, u64), AppError> {
    let (setup, cycle) = plain.state().services().setup(viewer).await?;
    let team = team_in(&setup, id)?;
    viewer.may(action, object(&team))?;
    Ok((team, cycle))
}

async fn page(plain: Plain, viewer: Viewer, Segment(id): Segment<TeamId>) -> Response {
    match read(&plain, &viewer, &id).await {
        Ok((name, page)) => plain.ok(&format!("Team {name}"), || overview(page)),
        Err(error) => plain.problem(&error),
    }
}

async fn read(plain: &Plain, viewer: &Viewer, id: &TeamId) -> Result<(String, OverviewPage), AppError> {
    let services = plain.state().services();
    let (setup, cycle) = services.setup(viewer).await?;
    let team = team_in(&setup, id)?;
    let can = |action| viewer.can(action, object(&team));
    let mut actions = Vec::new();
    let mut facts = vec![
        ("Pool", "", pool_name(&setup, &team.pool)),
        ("Income", "local credits per hour", team.income.to_string()),
        ("Leverage", "times income", factor(team.leverage_thousandths)),
    ];
    if team.archived {
        facts.push(("State", "", "archived".to_owned()));
    }
    let mut listings = Vec::new();
    if can(Action::ReadBudget) {
        let Allowance { amount, hard, period, carry, .. } = services.allowance(id).await?;
        facts.push(("Allowance", "", words(amount, hard, period, carry)));
        actions.push(link(format!("/budget?team={id}"), "Budget"));
        listings.push(members_listing(
            id,
            services.members(viewer, id).await?,
            can(Action::SetMembers) && !team.archived,
        ));
    }
    for (action, rest, text) in [
        (Action::SetIncome, "/change", "Change name and income"),
        (Action::SetLeverage, "/leverage", "Set the leverage"),
        (Action::SetIncome, "/allowance", "Set the allowance"),
        (Action::SetMembers, "/members", "Add a member"),
    ] {
        if can(action) && !team.archived {
            actions.push(link(at(id, rest), text));
        }
    }
    if can(Action::SetIncome) {
        let text = if team.archived { "Restore the team" } else { "Archive the team" };
        actions.push(link(at(id, "/archive"), text));
    }
    let page = OverviewPage {
        path: at(id, ""),
        shows: shows(viewer),
        facts,
        actions,
        listings,
        notes: vec![as_set(cycle)],
        next: None,
        search: None,
    };
    Ok((team.name, page))
}

fn members_listing(id: &TeamId, members: Vec<crate::store::accounts::Member>, may_set: bool) -> Listing {
    let mut columns = vec![("Member", "", false), ("Role in the team", "", false)];
    if may_set {
        columns.push(("Change", "", false));
    }
    let rows = members.into_iter().map(|member| {
        let place = if member.leads { "leads the team" } else { "member" };
        let mut row = vec![Cell::Text(member.name), Cell::Text(place.to_owned())];
        if may_set {
            row.push(Cell::Links(vec![link(at(id, &format!("/members/{}", member.user)), "Take out")]));
        }
        row
    });
    Listing {
        caption: "Members".to_owned(),
        columns,
        rows: rows.collect(),
        empty: "The team has no member, so nobody can bid for it. Add one.",
    }
}

pub(super) const INCOME_HINT: &str =
    "Local credits per hour, 0.00 to 9007199254.740991, with a point before the decimals";

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct NewQuery {
    pool: Option<PoolId>,
}

async fn new_page(plain: Plain, viewer: Viewer, query: Result<Query<NewQuery>, AppError>) -> Response {
    let page = async {
        let Query(NewQuery { pool }) = query?;
        new_form(&plain, &viewer, pool.as_ref()).await
    };
    let page = page.await;
    show(plain, "New team", page)
}

async fn new_form(plain: &Plain, viewer: &Viewer, pool: Option<&PoolId>) -> Result<ChangePage, AppError> {
    let (setup, cycle) = plain.state().services().setup(viewer).await?;
    let pools: Vec<(String, String)> = setup
        .pools
        .iter()
        .filter(|pool| !pool.archived && viewer.can(Action::SetIncome, Object::Pool(&pool.id)))
        .map(|pool| (pool.id.to_string(), pool.name.clone()))
        .collect();
    if pools.is_empty() {
        return Err(AppError::forbidden("you administer no pool, so you can't add a team to one"));
    }
    let id = "1 to 64 letters, digits and - _ . : for good, also in the ledger";
    Ok(ChangePage {
        heading: "Add a team",
        action: "/organisation/teams/new".to_owned(),
        state: FormState::filled(&[("pool", pool.map_or("", PoolId::as_str)), ("leverage", "2")]),
        version: String::new(),
        inputs: vec![
            Input::Line(Field::text("id", "Id").with_hint(id)),
            Input::Line(Field::text("name", "Name").with_hint("1 to 200 characters")),
            Input::Choice { name: "pool", label: "Pool", hint: "For good: the team's money is of its pool", options: pools },
            Input::Line(Field::text("income", "Income").with_hint(INCOME_HINT)),
            Input::Line(Field::text("leverage", "Leverage").with_hint(LEVERAGE_HINT)),
        ],
        button: "Add the team",
        now: Vec::new(),
        effects: vec![
            effective(cycle),
            "Another team's income in a pool makes each of its credits worth less: balances of the pool follow, so that \
             their global value stays."
                .to_owned(),
            "The team begins with a balance of 0 and without members.".to_owned(),
        ],
        listing: None,
        back: link("/organisation", "Pools and teams"),
    })
}

async fn add(plain: Plain, viewer: Viewer, origin: Origin, posted: Posted) -> Response {
    let added = async {
        let mut fields = Fields::new(posted.fields());
        let (id, pool, income) = (fields.value("id"), fields.value("pool"), fields.value("income"));
        let (name, leverage) = (fields.text("name").to_owned(), leverage(&mut fields));
        fields.finish()?;
        let (Some(id), Some(pool), Some(income), Some(leverage_thousandths)) = (id, pool, income, leverage)
        else {
            return Err(AppError::internal("a value without a fault"));
        };
        let team = Team { id, pool, name, income, leverage_thousandths, archived: false };
        plain.state().services().add_team(doer(&viewer, &origin, &posted), &team).await?;
        Ok(team.id)
    };
    match added.await {
        Ok(id) => plain.done(&at(&id, ""), "The team is there from the next cycle on."),
        Err(error) => {
            let page = new_form(&plain, &viewer, None).await;
            refuse(plain, "New team", posted, &error, page)
        }
    }
}
