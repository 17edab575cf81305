//! Taking out of use: forms that retire a chip type, or archive a team or a pool, and that take it back.

use app::plain::form::FormState;
use app::plain::organisation::{Cell, ChangePage, Listing};
use axum::Router;
use axum::response::Response;
use axum::routing::get;
use common::chips::Chips;
use common::ids::{ChipTypeId, PoolId, TeamId};

use super::super::{AppState, Plain, Posted};
use super::teams::opened;
use super::{doer, effective, known, link, pool_name, refuse, show};
use crate::error::AppError;
use crate::http::extract::Segment;
use crate::policy::{Action, Object, Viewer};
use crate::services::audit::Origin;
use crate::services::version::version_of;
use crate::store::entities::{ChipType, Setup};

const CHIP_TYPE: &str = "Chip type";
const TEAM: &str = "Team";
const POOL: &str = "Pool";

pub(super) fn routes() -> Router<AppState> {
    Router::new()
        .route("/organisation/chip-types/{id}/retire", get(chip_type_page).post(set_chip_type))
        .route("/organisation/teams/{id}/archive", get(team_page).post(set_team))
        .route("/organisation/pools/{id}/archive", get(pool_page).post(set_pool))
}

/// The chip types with what can be done to them.
pub(super) fn chip_types(viewer: &Viewer, setup: &Setup) -> Listing {
    let may_set = viewer.can(Action::SetSupply, Object::Organisation);
    let mut columns = vec![
        ("Chip type", "", false),
        ("Shared", "chips", true),
        ("Owned by pools", "chips", true),
        ("Reserve price", "global credits per chip-hour", true),
        ("State", "", false),
    ];
    if may_set {
        columns.push(("Change", "", false));
    }
    let row = |chip_type: &ChipType| {
        let owned = setup.owned.iter().filter(|owned| owned.chip_type == chip_type.id);
        let owned = Chips(owned.map(|owned| owned.chips.0).sum());
        let mut row = vec![
            Cell::Text(chip_type.name.clone()),
            Cell::Number(chip_type.shared.to_string()),
            Cell::Number(owned.to_string()),
            Cell::Number(chip_type.reserve_price.to_string()),
            Cell::Text(if chip_type.retired { "retired" } else { "on the market" }.to_owned()),
        ];
        if may_set {
            let text = if chip_type.retired { "Take back" } else { "Retire" };
            row.push(Cell::Links(vec![link(
                format!("/organisation/chip-types/{}/retire", chip_type.id),
                text,
            )]));
        }
        row
    };
    Listing {
        caption: "Chip types".to_owned(),
        columns,
        rows: setup.chip_types.iter().map(row).collect(),
        empty: "There is no chip type yet.",
    }
}

/// Teams and pools that are archived; none where nothing is.
pub(super) fn archived(setup: &Setup) -> Option<Listing> {
    let pools = setup.pools.iter().filter(|pool| pool.archived).map(|pool| {
        vec![
            Cell::Links(vec![link(format!("/organisation/pools/{}", pool.id), pool.name.clone())]),
            Cell::Text("pool".to_owned()),
            Cell::Text(pool.name.clone()),
        ]
    });
    let teams = setup.teams.iter().filter(|team| team.archived).map(|team| {
        vec![
            Cell::Links(vec![link(format!("/organisation/teams/{}", team.id), team.name.clone())]),
            Cell::Text("team".to_owned()),
            Cell::Text(pool_name(setup, &team.pool)),
        ]
    });
    let rows: Vec<_> = pools.chain(teams).collect();
    (!rows.is_empty()).then(|| Listing {
        caption: "Archived".to_owned(),
        columns: vec![("Name", "", false), ("What", "", false), ("Pool", "", false)],
        rows,
        empty: "",
    })
}

/// A form without inputs but the reason.
fn form(
    heading: &'static str,
    action: String,
    version: String,
    button: &'static str,
    now: Vec<(&'static str, String)>,
) -> ChangePage {
    ChangePage {
        heading,
        action,
        state: FormState::default(),
        version,
        inputs: Vec::new(),
        button,
        now,
        effects: Vec::new(),
        listing: None,
        back: link("/organisation", "Pools and teams"),
    }
}

/// What a form asks for: to take out of use, or back into it. It says so itself, so that a stale page can't do the
/// opposite of what it said.
fn leaves(posted: &Posted) -> bool {
    posted.get("out") == "yes"
}

async fn chip_type_page(plain: Plain, viewer: Viewer, Segment(id): Segment<ChipTypeId>) -> Response {
    let page = chip_type_form(&plain, &viewer, &id).await;
    show(plain, CHIP_TYPE, page)
}

async fn chip_type_form(plain: &Plain, viewer: &Viewer, id: &ChipTypeId) -> Result<ChangePage, AppError> {
    viewer.may(Action::SetSupply, Object::Organisation)?;
    let services = plain.state().services();
    let (setup, cycle) = services.setup(viewer).await?;
    let chip_type = setup.chip_types.iter().find(|row| row.id == *id);
    let chip_type = chip_type.ok_or_else(|| AppError::not_found("chip type", id))?;
    let used = services.chip_type_use(viewer, id).await?;
    let now = vec![
        ("Chip type", chip_type.name.clone()),
        ("Open bids that name it", used.open_bids.to_string()),
        ("Chips in use", used.in_use.to_string()),
    ];
    let (action, version) = (format!("/organisation/chip-types/{id}/retire"), version_of(chip_type)?);
    if chip_type.retired {
        let page = form("Take the chip type back", action, version, "Take it back", now);
        let effects =
            vec![effective(cycle), "Bids may name it again. Its supply is what is set for it.".to_owned()];
        return Ok(ChangePage { effects, inputs: vec![out("no")], ..page });
    }
    let page = form("Retire the chip type", action, version, "Retire it", now);
    let effects = vec![
        effective(cycle),
        "It takes no new bids from then on, and nobody is offered it.".to_owned(),
        "Bids that name it already run on: they compete for its chips and are charged as before, until each has ended. \
         A paused one can't be resumed with it."
            .to_owned(),
        "With the last of them it leaves the market. Its prices, charges and bids stay in the history.".to_owned(),
        "To end it sooner, set its shared and owned chips to 0.".to_owned(),
    ];
    Ok(ChangePage { effects, inputs: vec![out("yes")], ..page })
}

fn out(value: &str) -> app::plain::organisation::Input {
    app::plain::organisation::Input::Hidden("out", value.to_owned())
}

async fn set_chip_type(
    plain: Plain,
    viewer: Viewer,
    origin: Origin,
    Segment(id): Segment<ChipTypeId>,
    posted: Posted,
) -> Response {
    let services = plain.state().services().clone();
    let doer = doer(&viewer, &origin, &posted);
    match services.retire_chip_type(doer, &id, leaves(&posted), known(&posted)).await {
        Ok(()) if leaves(&posted) => {
            plain.done("/organisation", "The chip type takes no new bids from the next cycle on.")
        }
        Ok(()) => plain.done("/organisation", "The chip type is back from the next cycle on."),
        Err(error) => {
            let page = chip_type_form(&plain, &viewer, &id).await;
            refuse(plain, CHIP_TYPE, posted, &error, page)
        }
    }
}

async fn team_page(plain: Plain, viewer: Viewer, Segment(id): Segment<TeamId>) -> Response {
    let page = team_form(&plain, &viewer, &id).await;
    show(plain, TEAM, page)
}

async fn team_form(plain: &Plain, viewer: &Viewer, id: &TeamId) -> Result<ChangePage, AppError> {
    let (team, cycle) = opened(plain, viewer, id, Action::SetIncome).await?;
    let now =
        vec![("Team", team.name.clone()), ("Income", format!("{} local credits per hour", team.income))];
    let (action, version) = (format!("/organisation/teams/{id}/archive"), version_of(&team)?);
    let back = link(format!("/organisation/teams/{id}"), team.name.clone());
    if team.archived {
        let page = form("Restore the team", action, version, "Restore it", now);
        let effects = vec![effective(cycle), "It begins with an income of 0 and without members.".to_owned()];
        return Ok(ChangePage { effects, inputs: vec![out("no")], back, ..page });
    }
    let page = form("Archive the team", action, version, "Archive it", now);
    let effects = vec![
        effective(cycle),
        "Its open bids end then, and its chips go back to the market. What it used until then is charged to it.".to_owned(),
        "Its members leave it at once, and it takes no bids any more.".to_owned(),
        "Its income becomes 0. Balances of the pool's other teams follow, so that their global value stays.".to_owned(),
        "Its balance, ledger and bids stay for the reports.".to_owned(),
    ];
    Ok(ChangePage { effects, inputs: vec![out("yes")], back, ..page })
}

async fn set_team(
    plain: Plain,
    viewer: Viewer,
    origin: Origin,
    Segment(id): Segment<TeamId>,
    posted: Posted,
) -> Response {
    let services = plain.state().services().clone();
    let doer = doer(&viewer, &origin, &posted);
    let to = format!("/organisation/teams/{id}");
    match services.archive_team(doer, &id, leaves(&posted), known(&posted)).await {
        Ok(()) if leaves(&posted) => {
            plain.done(&to, "The team is archived; its bids end with the next cycle.")
        }
        Ok(()) => plain.done(&to, "The team is restored."),
        Err(error) => {
            let page = team_form(&plain, &viewer, &id).await;
            refuse(plain, TEAM, posted, &error, page)
        }
    }
}

async fn pool_page(plain: Plain, viewer: Viewer, Segment(id): Segment<PoolId>) -> Response {
    let page = pool_form(&plain, &viewer, &id).await;
    show(plain, POOL, page)
}

async fn pool_form(plain: &Plain, viewer: &Viewer, id: &PoolId) -> Result<ChangePage, AppError> {
    viewer.may(Action::SetOrganisation, Object::Organisation)?;
    let (setup, cycle) = plain.state().services().setup(viewer).await?;
    let pool = setup.pools.iter().find(|pool| pool.id == *id);
    let pool = pool.ok_or_else(|| AppError::not_found("pool", id))?;
    let teams = setup.teams.iter().filter(|team| team.pool == *id && !team.archived).count();
    let owned = setup.owned.iter().filter(|owned| owned.pool == *id).map(|owned| owned.chips.0).sum::<u64>();
    let now = vec![
        ("Pool", pool.name.clone()),
        ("Teams in use", teams.to_string()),
        ("Own chips", owned.to_string()),
    ];
    let (action, version) = (format!("/organisation/pools/{id}/archive"), version_of(pool)?);
    let back = link(format!("/organisation/pools/{id}"), pool.name.clone());
    if pool.archived {
        let page = form("Restore the pool", action, version, "Restore it", now);
        let effects = vec![effective(cycle), "It takes teams and chips again.".to_owned()];
        return Ok(ChangePage { effects, inputs: vec![out("no")], back, ..page });
    }
    let page = form("Archive the pool", action, version, "Archive it", now);
    let effects = vec![
        effective(cycle),
        "It must have no team in use and own no chips; it takes none any more.".to_owned(),
        "Its money and its history stay.".to_owned(),
    ];
    Ok(ChangePage { effects, inputs: vec![out("yes")], back, ..page })
}

async fn set_pool(
    plain: Plain,
    viewer: Viewer,
    origin: Origin,
    Segment(id): Segment<PoolId>,
    posted: Posted,
) -> Response {
    let services = plain.state().services().clone();
    let doer = doer(&viewer, &origin, &posted);
    let to = format!("/organisation/pools/{id}");
    match services.archive_pool(doer, &id, leaves(&posted), known(&posted)).await {
        Ok(()) if leaves(&posted) => plain.done(&to, "The pool is archived."),
        Ok(()) => plain.done(&to, "The pool is restored."),
        Err(error) => {
            let page = pool_form(&plain, &viewer, &id).await;
            refuse(plain, POOL, posted, &error, page)
        }
    }
}
