//! Pools: one with its teams and administrators, and the forms that add and change them.

use app::format::as_set;
use app::plain::form::{Field, FormState};
use app::plain::organisation::{Cell, ChangePage, Input, Listing, OverviewPage, overview};
use axum::Router;
use axum::response::Response;
use axum::routing::get;
use common::api::AllowanceAlert;
use common::chips::{Chips, MAX_CHIPS};
use common::ids::PoolId;
use market::snapshot::Lending;

use super::super::fields::Fields;
use super::super::{AppState, Plain, Posted};
use super::allowances::words;
use super::{doer, effective, known, link, refuse, show, shows};
use crate::error::AppError;
use crate::http::extract::Segment;
use crate::policy::{Action, Object, Viewer};
use crate::services::audit::Origin;
use crate::services::changes::pool_in;
use crate::services::version::version_of;
use crate::store::allowances::PoolAllowance;
use crate::store::entities::Pool;

pub(super) fn routes() -> Router<AppState> {
    Router::new()
        .route("/organisation/pools/new", get(new_page).post(add))
        .route("/organisation/pools/{id}", get(page))
        .route("/organisation/pools/{id}/change", get(change_page).post(change))
        .route("/organisation/pools/{id}/admins", get(admins_page).post(set_admin))
}

const fn lending_name(lending: Lending) -> &'static str {
    match lending {
        Lending::All => "all",
        Lending::None => "none",
        Lending::AtMost(_) => "at_most",
    }
}

fn lending_words(lending: Lending) -> String {
    match lending {
        Lending::All => "all that are idle".to_owned(),
        Lending::None => "none".to_owned(),
        Lending::AtMost(chips) => format!("at most {chips} of each chip type"),
    }
}

fn facts(pool: &Pool) -> Vec<(&'static str, String)> {
    vec![
        ("Name", pool.name.clone()),
        ("Weight", format!("{} global credits per hour", pool.weight)),
        ("Lends of its own chips", lending_words(pool.lending)),
    ]
}

/// The shares of the pool's allowance that its teams together have reached.
fn alerts(alerts: Vec<AllowanceAlert>) -> Listing {
    let row = |alert: AllowanceAlert| {
        vec![
            Cell::Text(format!("{} %", alert.percent)),
            Cell::Time(Some(alert.at)),
            Cell::Links(vec![link(format!("/cycles/{}", alert.cycle), alert.cycle.to_string())]),
            Cell::Number(alert.spent.to_string()),
            Cell::Number(alert.amount.to_string()),
        ]
    };
    Listing {
        caption: "Alerts of the allowance in this period, each told once".to_owned(),
        columns: vec![
            ("Reached", "", false),
            ("At", "", false),
            ("Cycle", "", false),
            ("Spent", "local credits", true),
            ("Allowance", "local credits", true),
        ],
        rows: alerts.into_iter().map(row).collect(),
        empty: "Less than half of the allowance is spent.",
    }
}

async fn page(plain: Plain, viewer: Viewer, Segment(id): Segment<PoolId>) -> Response {
    match read(&plain, &viewer, &id).await {
        Ok((name, page)) => plain.ok(&format!("Pool {name}"), || overview(page)),
        Err(error) => plain.problem(&error),
    }
}

async fn read(plain: &Plain, viewer: &Viewer, id: &PoolId) -> Result<(String, OverviewPage), AppError> {
    let services = plain.state().services();
    let (setup, cycle) = services.setup(viewer).await?;
    let pool = pool_in(&setup, id)?;
    let admins = services.pool_admins(viewer).await?.remove(id).unwrap_or_default();
    let (mut actions, mut listings) = (Vec::new(), Vec::new());
    let mut facts: Vec<_> = facts(&pool).into_iter().map(|(name, value)| (name, "", value)).collect();
    if pool.archived {
        facts.push(("State", "", "archived".to_owned()));
    }
    if viewer.can(Action::SetIncome, Object::Pool(id)) || viewer.can(Action::ReadMoney, Object::Organisation)
    {
        let PoolAllowance { amount, hard, period, carry, .. } = services.pool_allowance(id).await?;
        facts.push(("Allowance", "", words(amount, hard, period, carry)));
        if amount.is_some() {
            listings.push(alerts(services.pool_alerts(id).await?));
        }
    }
    if viewer.can(Action::SetOrganisation, Object::Organisation) {
        actions.push(link(format!("/organisation/pools/{id}/change"), "Change the pool"));
        actions.push(link(format!("/organisation/pools/{id}/allowance"), "Set its allowance"));
        actions.push(link(format!("/organisation/pools/{id}/admins"), "Set its administrators"));
        let text = if pool.archived { "Restore the pool" } else { "Archive the pool" };
        actions.push(link(format!("/organisation/pools/{id}/archive"), text));
    }
    if !pool.archived && viewer.can(Action::SetIncome, Object::Pool(id)) {
        actions.push(link(format!("/organisation/teams/new?pool={id}"), "Add a team"));
    }
    let teams = setup.teams.iter().filter(|team| team.pool == *id).map(|team| {
        vec![
            Cell::Links(vec![link(format!("/organisation/teams/{}", team.id), team.name.clone())]),
            Cell::Number(team.income.to_string()),
            Cell::Text(if team.archived { "archived" } else { "in use" }.to_owned()),
        ]
    });
    listings.extend([
        Listing {
            caption: "Teams of the pool".to_owned(),
            columns: vec![
                ("Team", "", false),
                ("Income", "local credits per hour", true),
                ("State", "", false),
            ],
            rows: teams.collect(),
            empty: "The pool has no team yet. Add one.",
        },
        Listing {
            caption: "Administrators of the pool".to_owned(),
            columns: vec![("Name", "", false)],
            rows: admins.into_iter().map(|account| vec![Cell::Text(account.name)]).collect(),
            empty: "Nobody administers the pool but the admins of the organisation.",
        },
    ]);
    let page = OverviewPage {
        path: format!("/organisation/pools/{id}"),
        shows: shows(viewer),
        facts,
        actions,
        listings,
        notes: vec![as_set(cycle)],
        next: None,
        search: None,
    };
    Ok((pool.name, page))
}

fn inputs(is_new: bool) -> Vec<Input> {
    let mut inputs = Vec::new();
    if is_new {
        inputs.push(Input::Line(
            Field::text("id", "Id")
                .with_hint("1 to 64 letters, digits and - _ . : for good, also in the ledger"),
        ));
    }
    let lending = [("all", "All that are idle"), ("at_most", "At most so many"), ("none", "None")];
    inputs.extend([
        Input::Line(Field::text("name", "Name").with_hint("1 to 200 characters")),
        Input::Line(Field::text("weight", "Weight").with_hint(
            "Global credits per hour, 0.00 to 9007199254.740991, with a point before the decimals",
        )),
        Input::Choice {
            name: "lending",
            label: "Lends of its own chips",
            hint: "Idle chips of the pool go to the shared market and come back when its teams ask",
            options: lending.map(|(value, text)| (value.to_owned(), text.to_owned())).into(),
        },
        Input::Line(
            Field { required: false, ..Field::text("lends_at_most", "At most, of each chip type") }
                .with_hint("Chips; only where \"at most so many\" is chosen"),
        ),
    ]);
    inputs
}

fn filled(pool: &Pool) -> FormState {
    let at_most = match pool.lending {
        Lending::AtMost(chips) => chips.to_string(),
        Lending::All | Lending::None => String::new(),
    };
    FormState::filled(&[
        ("name", &pool.name),
        ("weight", &pool.weight.to_string()),
        ("lending", lending_name(pool.lending)),
        ("lends_at_most", &at_most),
    ])
}

/// Reads a pool from a form; `id` is that of a pool that is there.
fn parse(posted: &Posted, id: Option<PoolId>) -> Result<Pool, AppError> {
    let mut fields = Fields::new(posted.fields());
    let id = match id {
        Some(id) => Some(id),
        None => fields.value("id"),
    };
    let (name, weight) = (fields.text("name").to_owned(), fields.value("weight"));
    let lending = match fields.text("lending") {
        "all" => Lending::All,
        "at_most" => {
            let most = u32::try_from(MAX_CHIPS).unwrap_or(u32::MAX);
            let chips = fields.number("lends_at_most", 1, most);
            Lending::AtMost(Chips(chips.unwrap_or_default().into()))
        }
        _ => Lending::None,
    };
    fields.finish()?;
    let (Some(id), Some(weight)) = (id, weight) else {
        return Err(AppError::internal("a value without a fault"));
    };
    // Whether it is archived is no field of the form: the service keeps it.
    Ok(Pool { id, name, weight, lending, archived: false })
}

async fn new_page(plain: Plain, viewer: Viewer) -> Response {
    let page = new_form(&plain, &viewer).await;
    show(plain, "New pool", page)
}

async fn new_form(plain: &Plain, viewer: &Viewer) -> Result<ChangePage, AppError> {
    viewer.may(Action::SetOrganisation, Object::Organisation)?;
    let (_, cycle) = plain.state().services().setup(viewer).await?;
    Ok(ChangePage {
        heading: "Add a pool",
        action: "/organisation/pools/new".to_owned(),
        state: FormState::default(),
        version: String::new(),
        inputs: inputs(true),
        button: "Add the pool",
        now: Vec::new(),
        effects: vec![
            effective(cycle),
            "The weight is the pool's share of all purchasing power: more for it means less for the others."
                .to_owned(),
        ],
        listing: None,
        back: link("/organisation", "Pools and teams"),
    })
}

async fn add(plain: Plain, viewer: Viewer, origin: Origin, posted: Posted) -> Response {
    let added = async {
        let pool = parse(&posted, None)?;
        plain.state().services().add_pool(doer(&viewer, &origin, &posted), &pool).await?;
        Ok(pool.id)
    };
    match added.await {
        Ok(id) => {
            plain.done(&format!("/organisation/pools/{id}"), "The pool is there from the next cycle on.")
        }
        Err(error) => {
            let page = new_form(&plain, &viewer).await;
            refuse(plain, "New pool", posted, &error, page)
        }
    }
}

async fn change_page(plain: Plain, viewer: Viewer, Segment(id): Segment<PoolId>) -> Response {
    let page = change_form(&plain, &viewer, &id).await;
    show(plain, "Change a pool", page)
}

async fn change_form(plain: &Plain, viewer: &Viewer, id: &PoolId) -> Result<ChangePage, AppError> {
    viewer.may(Action::SetOrganisation, Object::Organisation)?;
    let (setup, cycle) = plain.state().services().setup(viewer).await?;
    let pool = pool_in(&setup, id)?;
    Ok(ChangePage {
        heading: "Change the pool",
        action: format!("/organisation/pools/{id}/change"),
        state: filled(&pool),
        version: version_of(&pool)?,
        inputs: inputs(false),
        button: "Change the pool",
        now: facts(&pool),
        effects: vec![
            effective(cycle),
            "Another weight changes what a credit of the pool is worth: one local credit is worth weight ÷ income of all \
             its teams. No balance changes."
                .to_owned(),
        ],
        listing: None,
        back: link(format!("/organisation/pools/{id}"), pool.name),
    })
}

async fn change(
    plain: Plain,
    viewer: Viewer,
    origin: Origin,
    Segment(id): Segment<PoolId>,
    posted: Posted,
) -> Response {
    let changed = async {
        let pool = parse(&posted, Some(id.clone()))?;
        plain.state().services().set_pool(doer(&viewer, &origin, &posted), &pool, known(&posted)).await
    };
    match changed.await {
        Ok(()) => {
            plain.done(&format!("/organisation/pools/{id}"), "The pool is changed from the next cycle on.")
        }
        Err(error) => {
            let page = change_form(&plain, &viewer, &id).await;
            refuse(plain, "Change a pool", posted, &error, page)
        }
    }
}

async fn admins_page(plain: Plain, viewer: Viewer, Segment(id): Segment<PoolId>) -> Response {
    let page = admins_form(&plain, &viewer, &id).await;
    show(plain, "Administrators of a pool", page)
}

async fn admins_form(plain: &Plain, viewer: &Viewer, id: &PoolId) -> Result<ChangePage, AppError> {
    viewer.may(Action::SetOrganisation, Object::Organisation)?;
    let services = plain.state().services();
    let (setup, _) = services.setup(viewer).await?;
    let pool = pool_in(&setup, id)?;
    let admins = services.pool_admins(viewer).await?.remove(id).unwrap_or_default();
    let names: Vec<String> =
        admins.into_iter().map(|account| account.login.unwrap_or(account.name)).collect();
    let names = if names.is_empty() { "nobody".to_owned() } else { names.join(", ") };
    let options = [("add", "administers the pool"), ("remove", "does not administer it any more")];
    Ok(ChangePage {
        heading: "Set who administers the pool",
        action: format!("/organisation/pools/{id}/admins"),
        state: FormState::filled(&[("place", "add")]),
        version: String::new(),
        inputs: vec![
            Input::Line(Field::text("login", "Login").with_hint("The name or e-mail that the person signs in with")),
            Input::Choice {
                name: "place",
                label: "The person",
                hint: "",
                options: options.map(|(value, text)| (value.to_owned(), text.to_owned())).into(),
            },
        ],
        button: "Set",
        now: vec![("Administrators", names)],
        effects: vec![
            "An administrator of a pool sets the incomes and allowances of its teams, adds teams and sets their members."
                .to_owned(),
            "It holds from the person's next request on.".to_owned(),
        ],
        listing: None,
        back: link(format!("/organisation/pools/{id}"), pool.name),
    })
}

async fn set_admin(
    plain: Plain,
    viewer: Viewer,
    origin: Origin,
    Segment(id): Segment<PoolId>,
    posted: Posted,
) -> Response {
    let (services, doer) = (plain.state().services().clone(), doer(&viewer, &origin, &posted));
    let is_admin = posted.get("place") != "remove";
    match services.set_pool_admin(doer, &id, posted.get("login"), is_admin).await {
        Ok(()) => plain.done(&format!("/organisation/pools/{id}"), "The administrators of the pool are set."),
        Err(error) => {
            let page = admins_form(&plain, &viewer, &id).await;
            refuse(plain, "Administrators of a pool", posted, &error, page)
        }
    }
}
