//! Accounts: who there is, what each may do, and the ways in and out.

use std::collections::BTreeSet;

use app::plain::form::{Field, FormState};
use app::plain::organisation::{Cell, ChangePage, Input, Listing, OverviewPage, overview, shown_once};
use axum::Router;
use axum::response::Response;
use axum::routing::get;
use common::api::Role;
use common::ids::UserId;

use super::super::{AppState, Plain, Posted};
use super::{doer, link, refuse, show, shows};
use crate::error::AppError;
use crate::http::extract::Segment;
use crate::policy::{Action, Object, Viewer};
use crate::services::audit::Origin;
use crate::services::people::Person;

const PATH: &str = "/organisation/people";

pub(super) fn routes() -> Router<AppState> {
    Router::new()
        .route(PATH, get(page))
        .route("/organisation/people/new", get(new_page).post(add))
        .route("/organisation/people/{id}", get(person_page))
        .route("/organisation/people/{id}/roles", get(roles_page).post(set_roles))
        .route("/organisation/people/{id}/lock", get(lock_page).post(set_locked))
        .route("/organisation/people/{id}/link", get(link_page).post(make_link))
        .route("/organisation/people/{id}/sessions", get(sessions_page).post(end_sessions))
}

fn at(id: &UserId, rest: &str) -> String {
    format!("{PATH}/{id}{rest}")
}

fn roles_words(roles: &BTreeSet<Role>) -> String {
    if roles.is_empty() {
        return "engineer".to_owned();
    }
    roles.iter().map(|role| role.as_str()).collect::<Vec<_>>().join(", ")
}

fn state_words(person: &Person) -> &'static str {
    match (person.account.disabled_at, person.account.has_password, &person.account.provider) {
        (Some(_), ..) => "locked",
        (None, false, None) => "waits for a password",
        (None, ..) => "open",
    }
}

async fn page(plain: Plain, viewer: Viewer) -> Response {
    let people = match plain.state().services().people(&viewer).await {
        Ok(people) => people,
        Err(error) => return plain.problem(&error),
    };
    let rows = people.iter().map(|person| {
        let teams: Vec<&str> = person.standing.teams.keys().map(common::ids::TeamId::as_str).collect();
        vec![
            Cell::Links(vec![link(at(&person.account.id, ""), person.account.name.clone())]),
            Cell::Text(person.account.login.clone().unwrap_or_else(|| "by a provider".to_owned())),
            Cell::Text(roles_words(&person.standing.roles)),
            Cell::Text(teams.join(", ")),
            Cell::Text(state_words(person).to_owned()),
        ]
    });
    let listing = Listing {
        caption: "Accounts".to_owned(),
        columns: vec![
            ("Name", "", false),
            ("Login", "", false),
            ("Roles", "", false),
            ("Teams", "", false),
            ("State", "", false),
        ],
        rows: rows.collect(),
        empty: "There is no account.",
    };
    let page = OverviewPage {
        path: PATH.to_owned(),
        shows: shows(&viewer),
        actions: vec![link("/organisation/people/new", "Add a person")],
        listings: vec![listing],
        ..OverviewPage::default()
    };
    plain.ok("People", || overview(page))
}

async fn person_page(plain: Plain, viewer: Viewer, Segment(id): Segment<UserId>) -> Response {
    let person = match plain.state().services().person(&viewer, &id).await {
        Ok(person) => person,
        Err(error) => return plain.problem(&error),
    };
    let teams = person.standing.teams.iter().map(|(team, membership)| {
        let place = if membership.leads { "leads the team" } else { "member" };
        vec![
            Cell::Links(vec![link(format!("/organisation/teams/{team}"), team.to_string())]),
            Cell::Text(place.to_owned()),
        ]
    });
    let pools: Vec<&str> = person.standing.pools.iter().map(common::ids::PoolId::as_str).collect();
    let pools = if pools.is_empty() { "none".to_owned() } else { pools.join(", ") };
    let locks = if person.account.disabled_at.is_some() { "Open the account" } else { "Lock the account" };
    let page = OverviewPage {
        path: at(&id, ""),
        shows: shows(&viewer),
        facts: vec![
            ("Login", "", person.account.login.clone().unwrap_or_else(|| "by a provider".to_owned())),
            ("Roles", "", roles_words(&person.standing.roles)),
            ("Administers pools", "", pools),
            ("State", "", state_words(&person).to_owned()),
        ],
        actions: vec![
            link(at(&id, "/roles"), "Set roles"),
            link(at(&id, "/link"), "Make a link for a password"),
            link(at(&id, "/sessions"), "End all sessions"),
            link(at(&id, "/lock"), locks),
        ],
        listings: vec![Listing {
            caption: "Teams".to_owned(),
            columns: vec![("Team", "", false), ("Place", "", false)],
            rows: teams.collect(),
            empty: "In no team. A team's page adds members.",
        }],
        notes: vec![format!("Account id {id}, as it stands in the audit log.")],
    };
    plain.ok(&person.account.name, || overview(page))
}

fn role_boxes() -> Input {
    let options = [
        (Role::Admin, "Admin: supply, weights, users, settings"),
        (Role::Finance, "Finance: reads all money, books corrections"),
        (Role::Auditor, "Auditor: reads everything"),
    ];
    Input::Boxes {
        name: "roles",
        legend: "Roles; none is an engineer",
        options: options.map(|(role, text)| (role.as_str().to_owned(), text.to_owned())).into(),
    }
}

fn chosen_roles(posted: &Posted) -> Result<BTreeSet<Role>, AppError> {
    posted
        .all("roles")
        .map(|role| role.parse().map_err(|error: String| AppError::invalid("roles", error)))
        .collect()
}

async fn new_page(plain: Plain, viewer: Viewer) -> Response {
    show(plain, "New person", new_form(&viewer))
}

fn new_form(viewer: &Viewer) -> Result<ChangePage, AppError> {
    viewer.may(Action::ManageUsers, Object::Organisation)?;
    Ok(ChangePage {
        heading: "Add a person",
        action: "/organisation/people/new".to_owned(),
        state: FormState::default(),
        version: String::new(),
        inputs: vec![
            Input::Line(Field::text("login", "Login").with_hint("A name or an e-mail to sign in with, no spaces")),
            Input::Line(Field::text("name", "Name").with_hint("Shown to others; 1 to 200 characters")),
            role_boxes(),
        ],
        button: "Add the person",
        now: Vec::new(),
        effects: vec![
            "The account has no password. A link is shown once: give it to the person, who chooses a password with it."
                .to_owned(),
            "It stands in the audit log with your name and reason.".to_owned(),
        ],
        listing: None,
        back: link(PATH, "People"),
    })
}

async fn add(plain: Plain, viewer: Viewer, origin: Origin, posted: Posted) -> Response {
    let added = async {
        let roles = chosen_roles(&posted)?;
        let doer = doer(&viewer, &origin, &posted);
        let services = plain.state().services();
        let id = services.add_person(doer, posted.get("login"), posted.get("name"), &roles).await?;
        let secret = plain.state().auth().make_link(Some(&id)).await?;
        Ok((id, secret))
    };
    match added.await {
        Ok((id, secret)) => show_link(plain, &id, &secret),
        Err(error) => refuse(plain, "New person", posted, &error, new_form(&viewer)),
    }
}

fn show_link(plain: Plain, id: &UserId, secret: &str) -> Response {
    let path = format!("/link/{secret}");
    let what = "Whoever opens this address on this site chooses the password of the account:".to_owned();
    let back = link(at(id, ""), "The account");
    plain.ok("A link that is shown once", || shown_once(&path, what, back))
}

/// A form about one account without fields of its own but the reason.
async fn form_of(
    plain: &Plain,
    viewer: &Viewer,
    id: &UserId,
    make: impl FnOnce(&Person) -> ChangePage,
) -> Result<ChangePage, AppError> {
    let person = plain.state().services().person(viewer, id).await?;
    Ok(make(&person))
}

fn blank(person: &Person, rest: &str, heading: &'static str, effects: Vec<String>) -> ChangePage {
    let id = &person.account.id;
    ChangePage {
        heading,
        action: at(id, rest),
        state: FormState::default(),
        version: String::new(),
        inputs: Vec::new(),
        button: heading,
        now: vec![("Account", person.account.name.clone()), ("State", state_words(person).to_owned())],
        effects,
        listing: None,
        back: link(at(id, ""), person.account.name.clone()),
    }
}

fn roles_form(person: &Person) -> ChangePage {
    let effects = vec![
        "They hold from the person's next request on, also for tokens that were made before.".to_owned(),
        "At least one open account must be an admin.".to_owned(),
    ];
    let roles: Vec<(&str, &str)> =
        person.standing.roles.iter().map(|role| ("roles", role.as_str())).collect();
    ChangePage {
        state: FormState::filled(&roles),
        inputs: vec![role_boxes()],
        now: vec![("Account", person.account.name.clone()), ("Roles", roles_words(&person.standing.roles))],
        ..blank(person, "/roles", "Set the roles", effects)
    }
}

fn lock_form(person: &Person) -> ChangePage {
    let locks = person.account.disabled_at.is_none();
    let (heading, effect) = if locks {
        ("Lock the account", "Nobody can sign in with it, and its sessions and tokens end now.")
    } else {
        (
            "Open the account",
            "It can be used again with its password. Sessions and tokens that ended stay ended.",
        )
    };
    ChangePage {
        inputs: vec![Input::Hidden("lock", if locks { "yes" } else { "no" }.to_owned())],
        ..blank(person, "/lock", heading, vec![effect.to_owned()])
    }
}

fn link_form(person: &Person) -> ChangePage {
    let effect = "A link is shown once. Whoever opens it chooses a new password, which ends all sessions of the account. \
                  Links made before can't be used any more once it is used.";
    blank(person, "/link", "Make a link", vec![effect.to_owned()])
}

fn sessions_form(person: &Person) -> ChangePage {
    let effect = "The person is signed out on all devices and can sign in again. Tokens for programs stay.";
    blank(person, "/sessions", "End all sessions", vec![effect.to_owned()])
}

async fn roles_page(plain: Plain, viewer: Viewer, Segment(id): Segment<UserId>) -> Response {
    let page = form_of(&plain, &viewer, &id, roles_form).await;
    show(plain, "Roles", page)
}

async fn set_roles(
    plain: Plain,
    viewer: Viewer,
    origin: Origin,
    Segment(id): Segment<UserId>,
    posted: Posted,
) -> Response {
    let set = async {
        let roles = chosen_roles(&posted)?;
        plain.state().services().set_roles(doer(&viewer, &origin, &posted), &id, &roles).await
    };
    match set.await {
        Ok(()) => plain.done(&at(&id, ""), "The roles are set."),
        Err(error) => {
            let page = form_of(&plain, &viewer, &id, roles_form).await;
            refuse(plain, "Roles", posted, &error, page)
        }
    }
}

async fn lock_page(plain: Plain, viewer: Viewer, Segment(id): Segment<UserId>) -> Response {
    let page = form_of(&plain, &viewer, &id, lock_form).await;
    show(plain, "Lock or open", page)
}

async fn set_locked(
    plain: Plain,
    viewer: Viewer,
    origin: Origin,
    Segment(id): Segment<UserId>,
    posted: Posted,
) -> Response {
    let locked = posted.get("lock") == "yes";
    let set = async {
        let state = plain.state();
        state.services().set_locked(doer(&viewer, &origin, &posted), &id, locked).await?;
        if locked { state.auth().end_other_sessions(&id, None).await } else { Ok(()) }
    };
    match set.await {
        Ok(()) if locked => plain.done(&at(&id, ""), "The account is locked."),
        Ok(()) => plain.done(&at(&id, ""), "The account is open."),
        Err(error) => {
            let page = form_of(&plain, &viewer, &id, lock_form).await;
            refuse(plain, "Lock or open", posted, &error, page)
        }
    }
}

async fn link_page(plain: Plain, viewer: Viewer, Segment(id): Segment<UserId>) -> Response {
    let page = form_of(&plain, &viewer, &id, link_form).await;
    show(plain, "Link for a password", page)
}

async fn make_link(
    plain: Plain,
    viewer: Viewer,
    origin: Origin,
    Segment(id): Segment<UserId>,
    posted: Posted,
) -> Response {
    let made = async {
        let state = plain.state();
        state.services().note_link(doer(&viewer, &origin, &posted), &id).await?;
        state.auth().make_link(Some(&id)).await
    };
    match made.await {
        Ok(secret) => show_link(plain, &id, &secret),
        Err(error) => {
            let page = form_of(&plain, &viewer, &id, link_form).await;
            refuse(plain, "Link for a password", posted, &error, page)
        }
    }
}

async fn sessions_page(plain: Plain, viewer: Viewer, Segment(id): Segment<UserId>) -> Response {
    let page = form_of(&plain, &viewer, &id, sessions_form).await;
    show(plain, "Sessions", page)
}

async fn end_sessions(
    plain: Plain,
    viewer: Viewer,
    origin: Origin,
    Segment(id): Segment<UserId>,
    posted: Posted,
) -> Response {
    let ended = async {
        let state = plain.state();
        state.services().note_sessions_ended(doer(&viewer, &origin, &posted), &id).await?;
        state.auth().end_other_sessions(&id, None).await
    };
    match ended.await {
        Ok(()) => plain.done(&at(&id, ""), "All sessions of the account have ended."),
        Err(error) => {
            let page = form_of(&plain, &viewer, &id, sessions_form).await;
            refuse(plain, "Sessions", posted, &error, page)
        }
    }
}
