//! Accounts: who there is, what each may do, and the ways in and out.

use std::collections::BTreeSet;

use app::plain::account::roles_words;
use app::plain::form::{Field, FormState};
use app::plain::organisation::{Cell, ChangePage, Input, Listing, OverviewPage, overview, shown_once};
use axum::Router;
use axum::response::Response;
use axum::routing::get;
use common::api::{Page, Role};
use common::ids::UserId;
use serde::Deserialize;

use super::super::{AppState, Plain, Posted};
use super::{doer, known, link, pool_name, refuse, show, shows, team_name};
use crate::error::AppError;
use crate::http::extract::{Query, Segment, Segments};
use crate::policy::{Action, Object, Viewer};
use crate::services::audit::{Doer, Origin};
use crate::services::people::Person;
use crate::store::entities::Setup;

const PATH: &str = "/organisation/people";

pub(super) fn routes() -> Router<AppState> {
    Router::new()
        .route(PATH, get(page))
        .route("/organisation/people/new", get(new_page).post(add))
        .route("/organisation/people/{id}", get(person_page))
        .route("/organisation/people/{id}/{act}", get(act_page).post(act))
}

fn at(id: &UserId, rest: &str) -> String {
    format!("{PATH}/{id}{rest}")
}

fn state_words(person: &Person) -> &'static str {
    match (person.account.disabled_at, person.account.has_password, &person.account.provider) {
        (Some(_), ..) => "locked",
        (None, false, None) => "waits for a password",
        (None, ..) => "open",
    }
}

/// People in one page of the list.
const PEOPLE: u32 = 100;

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct PeopleQuery {
    cursor: Option<String>,
}

async fn page(plain: Plain, viewer: Viewer, query: Result<Query<PeopleQuery>, AppError>) -> Response {
    let read = async {
        let Query(PeopleQuery { cursor }) = query?;
        let services = plain.state().services();
        let people = services.people(&viewer, cursor.as_deref(), PEOPLE).await?;
        Ok((services.setup(&viewer).await?.0, people))
    };
    match read.await {
        Ok((setup, people)) => plain.ok("People", || overview(people_page(&viewer, &setup, people))),
        Err(error) => plain.problem(&error),
    }
}

fn people_page(viewer: &Viewer, setup: &Setup, people: Page<Person>) -> OverviewPage {
    let rows = people.items.iter().map(|person| {
        let teams: Vec<String> = person.standing.teams.keys().map(|team| team_name(setup, team)).collect();
        vec![
            Cell::Links(vec![link(at(&person.account.id, ""), person.account.name.clone())]),
            Cell::Text(person.account.login.clone().unwrap_or_else(|| "by a provider".to_owned())),
            Cell::Text(roles_words(person.standing.roles.iter().copied())),
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
    OverviewPage {
        path: PATH.to_owned(),
        shows: shows(viewer),
        actions: vec![
            link("/organisation/people/new", "Add a person"),
            link("/api/v1/users?limit=500&format=csv", "CSV"),
        ],
        listings: vec![listing],
        next: people.next_cursor.map(|cursor| link(format!("{PATH}?cursor={cursor}"), "Next people")),
        ..OverviewPage::default()
    }
}

async fn person_page(plain: Plain, viewer: Viewer, Segment(id): Segment<UserId>) -> Response {
    let services = plain.state().services();
    let read = async { Ok((services.person(&viewer, &id).await?, services.setup(&viewer).await?.0)) };
    let (person, setup) = match read.await {
        Ok(read) => read,
        Err(error) => return plain.problem(&error),
    };
    let teams = person.standing.teams.iter().map(|(team, membership)| {
        let place = if membership.leads { "leads the team" } else { "member" };
        vec![
            Cell::Links(vec![link(format!("/organisation/teams/{team}"), team_name(&setup, team))]),
            Cell::Text(place.to_owned()),
        ]
    });
    let pools: Vec<String> = person.standing.pools.iter().map(|pool| pool_name(&setup, pool)).collect();
    let pools = if pools.is_empty() { "none".to_owned() } else { pools.join(", ") };
    let locks = if person.account.disabled_at.is_some() { "Open the account" } else { "Lock the account" };
    let page = OverviewPage {
        path: at(&id, ""),
        shows: shows(&viewer),
        facts: vec![
            ("Login", "", person.account.login.clone().unwrap_or_else(|| "by a provider".to_owned())),
            ("Roles", "", roles_words(person.standing.roles.iter().copied())),
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
            columns: vec![("Team", "", false), ("Role in the team", "", false)],
            rows: teams.collect(),
            empty: "In no team. A team's page adds members.",
        }],
        notes: vec![format!("Account id {id}, as it stands in the audit log.")],
        next: None,
        search: None,
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
    // Whole, where the server knows its address: it is given to somebody who has none of this site.
    let address = format!("{}/link/{secret}", plain.state().config().public_url);
    let what = "Whoever opens this address on this site chooses the password of the account:".to_owned();
    let back = link(at(id, ""), "The account");
    plain.ok("A link that is shown once", || shown_once(&address, what, back))
}

/// What an admin does to an account, each on a page of its own.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Act {
    Roles,
    Lock,
    Link,
    Sessions,
}

impl std::str::FromStr for Act {
    type Err = ();

    fn from_str(text: &str) -> Result<Self, ()> {
        [Self::Roles, Self::Lock, Self::Link, Self::Sessions]
            .into_iter()
            .find(|act| act.segment() == text)
            .ok_or(())
    }
}

impl Act {
    /// The last part of the page's address.
    const fn segment(self) -> &'static str {
        match self {
            Self::Roles => "roles",
            Self::Lock => "lock",
            Self::Link => "link",
            Self::Sessions => "sessions",
        }
    }

    const fn title(self) -> &'static str {
        match self {
            Self::Roles => "Roles",
            Self::Lock => "Lock or open",
            Self::Link => "Link for a password",
            Self::Sessions => "Sessions",
        }
    }

    const fn heading(self, person: &Person) -> &'static str {
        match self {
            Self::Roles => "Set the roles",
            Self::Lock if person.account.disabled_at.is_some() => "Open the account",
            Self::Lock => "Lock the account",
            Self::Link => "Make a link",
            Self::Sessions => "End all sessions",
        }
    }

    /// What it does, in words.
    fn effects(self, person: &Person) -> Vec<String> {
        let effects: &[&str] = match self {
            Self::Roles => &[
                "They hold from the person's next request on, also for tokens that were made before.",
                "At least one open account must be an admin.",
            ],
            Self::Lock if person.account.disabled_at.is_some() => {
                &["It can be used again with its password. Sessions and tokens that ended stay ended."]
            }
            Self::Lock => &["Nobody can sign in with it, and its sessions and tokens end now."],
            Self::Link => &[
                "A link is shown once. Whoever opens it chooses a new password, which ends all sessions of the account. \
                 Links made before can't be used any more once it is used.",
            ],
            Self::Sessions => {
                &["The person is signed out on all devices and can sign in again. Tokens for programs stay."]
            }
        };
        effects.iter().map(|effect| (*effect).to_owned()).collect()
    }

    fn inputs(self, person: &Person) -> Vec<Input> {
        match self {
            Self::Roles => vec![role_boxes()],
            Self::Lock => {
                let lock = if person.account.disabled_at.is_none() { "yes" } else { "no" };
                vec![Input::Hidden("lock", lock.to_owned())]
            }
            Self::Link | Self::Sessions => Vec::new(),
        }
    }

    fn form(self, person: &Person) -> Result<ChangePage, AppError> {
        let (id, name, heading) = (&person.account.id, &person.account.name, self.heading(person));
        let roles: Vec<(&str, &str)> =
            person.standing.roles.iter().map(|role| ("roles", role.as_str())).collect();
        Ok(ChangePage {
            heading,
            action: at(id, &format!("/{}", self.segment())),
            state: FormState::filled(&roles),
            version: person.version()?,
            inputs: self.inputs(person),
            button: heading,
            now: vec![
                ("Account", name.clone()),
                ("Roles", roles_words(person.standing.roles.iter().copied())),
                ("State", state_words(person).to_owned()),
            ],
            effects: self.effects(person),
            listing: None,
            back: link(at(id, ""), name.clone()),
        })
    }
}

async fn form_of(plain: &Plain, viewer: &Viewer, id: &UserId, act: Act) -> Result<ChangePage, AppError> {
    act.form(&plain.state().services().person(viewer, id).await?)
}

async fn act_page(plain: Plain, viewer: Viewer, Segments(id, act): Segments<UserId, Act>) -> Response {
    let page = form_of(&plain, &viewer, &id, act).await;
    show(plain, act.title(), page)
}

/// What an act ends with.
enum Done {
    /// A notice on the account's page.
    Notice(&'static str),
    /// A secret that is shown once.
    Secret(String),
}

async fn act(
    plain: Plain,
    viewer: Viewer,
    origin: Origin,
    Segments(id, act): Segments<UserId, Act>,
    posted: Posted,
) -> Response {
    match do_it(&plain, doer(&viewer, &origin, &posted), &id, act, &posted).await {
        Ok(Done::Notice(notice)) => plain.done(&at(&id, ""), notice),
        Ok(Done::Secret(secret)) => show_link(plain, &id, &secret),
        Err(error) => {
            let page = form_of(&plain, &viewer, &id, act).await;
            refuse(plain, act.title(), posted, &error, page)
        }
    }
}

async fn do_it(
    plain: &Plain,
    doer: Doer<'_>,
    id: &UserId,
    act: Act,
    posted: &Posted,
) -> Result<Done, AppError> {
    let (services, auth) = (plain.state().services(), plain.state().auth());
    match act {
        Act::Roles => {
            services.set_roles(doer, id, &chosen_roles(posted)?, known(posted)).await?;
            Ok(Done::Notice("The roles are set."))
        }
        Act::Lock => {
            let locked = posted.get("lock") == "yes";
            auth.set_locked(doer, id, locked, known(posted)).await?;
            Ok(Done::Notice(if locked { "The account is locked." } else { "The account is open." }))
        }
        Act::Link => {
            services.note_link(doer, id).await?;
            Ok(Done::Secret(auth.make_link(Some(id)).await?))
        }
        Act::Sessions => {
            services.note_sessions_ended(doer, id).await?;
            auth.end_other_sessions(id, None).await?;
            Ok(Done::Notice("All sessions of the account have ended."))
        }
    }
}
