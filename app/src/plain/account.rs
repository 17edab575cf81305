//! The page of one's own account: password, sessions, tokens.

use common::api::{Role, SessionView, TokenView, ViewerView};
use leptos::prelude::*;

use super::form::{Field, FormState, boxes, field, form, panel, select};
use super::table::{Content, DO, Table};
use crate::components::time::date_time;

/// What the page shows.
#[derive(Clone, Debug)]
pub struct AccountPage {
    /// Who it is.
    pub viewer: ViewerView,
    /// The password can be changed here: there is one.
    pub has_password: bool,
    /// The identity provider, and whether the account is linked to it; none without single sign-on.
    pub provider: Option<(String, bool)>,
    /// The sessions that hold, this one among them.
    pub sessions: Vec<SessionView>,
    /// The tokens that hold.
    pub tokens: Vec<TokenView>,
    /// The form to change the password.
    pub password: FormState,
    /// The form to make a token.
    pub token: FormState,
    /// The secret of a token that was just made.
    pub made: Option<String>,
}

/// What a token may be for, and what that means.
const SCOPES: [(&str, &str); 5] = [
    ("read", "read: what you may see"),
    ("bids", "bids: place and change the bids of your teams"),
    ("losses", "losses: report the losses of a training job to its plan, nothing else"),
    ("money", "money: book corrections, close periods"),
    ("admin", "admin: change supply, weights, teams, members, settings"),
];

/// How long a token may last.
const DAYS: [(&str, &str); 4] = [("7", "7 days"), ("30", "30 days"), ("90", "90 days"), ("366", "a year")];

/// The main part of the page.
pub fn account(page: AccountPage) -> AnyView {
    let AccountPage { viewer, has_password, provider, sessions, tokens, password, token, made } = page;
    view! {
        {made.map(fresh)}
        {who(&viewer)}
        {has_password.then(|| change_password(&password))}
        {provider.map(|(name, is_linked)| link_to(&name, is_linked, has_password))}
        {panel("sessions", "Where you are signed in", list_of_sessions(sessions))}
        {panel("tokens", "Tokens for programs", view! { {list_of_tokens(tokens)} {new_token(&token)} }.into_any())}
    }
    .into_any()
}

/// Signing in by the provider: that it is possible, or how it becomes so.
fn link_to(provider: &str, is_linked: bool, has_password: bool) -> AnyView {
    let body = if is_linked && has_password {
        view! {
            <form class="form" method="post" action="/account/provider/unlink">
                <p>{format!("You can sign in to this account with {provider}.")}</p>
                <p class="hint">
                    "Without the link you sign in with your password. It signs out everywhere else; your roles and teams stay."
                </p>
                <div class="actions">
                    <button class="button danger" type="submit">
                        {format!("Take the link to {provider} away")}
                    </button>
                </div>
            </form>
        }
        .into_any()
    } else if is_linked {
        view! { <p>{format!("You sign in to this account with {provider}. It has no password.")}</p> }
            .into_any()
    } else {
        view! {
            <form class="form" method="post" action="/account/provider">
                <p>{format!("Link this account to {provider} to sign in with it.")}</p>
                <div class="actions">
                    <button class="button" type="submit">
                        {format!("Link to {provider}")}
                    </button>
                </div>
            </form>
        }
        .into_any()
    };
    panel("provider", "Single sign-on", body)
}

/// The roles of a person in words; who has none is an engineer.
pub fn roles_words(roles: impl IntoIterator<Item = Role>) -> String {
    let names: Vec<&str> = roles.into_iter().map(Role::as_str).collect();
    if names.is_empty() { "engineer".to_owned() } else { names.join(", ") }
}

fn who(viewer: &ViewerView) -> AnyView {
    let teams: Vec<String> = viewer
        .teams
        .iter()
        .map(|team| format!("{}{}", team.name, if team.leads { " (lead)" } else { "" }))
        .collect();
    let teams = if teams.is_empty() { "none".to_owned() } else { teams.join(", ") };
    view! {
        <dl class="facts">
            <div>
                <dt>"Name"</dt>
                <dd class="text">{viewer.name.clone()}</dd>
            </div>
            <div>
                <dt>"Teams"</dt>
                <dd class="text">{teams}</dd>
            </div>
            <div>
                <dt>"Roles"</dt>
                <dd class="text">{roles_words(viewer.roles.iter().copied())}</dd>
            </div>
        </dl>
        <p class="quiet">
            "The theme is chosen at the foot of the navigation and times follow this browser's zone; both stay on this device."
        </p>
    }
    .into_any()
}

/// The only time that a token's secret is shown.
fn fresh(secret: String) -> AnyView {
    let body = view! {
        <p>"Copy it now: it is shown this once and kept nowhere."</p>
        <p class="once">{secret}</p>
        <p class="quiet">"Send it as " <code>"Authorization: Bearer …"</code> "."</p>
    };
    panel("made", "Your new token", body.into_any())
}

fn change_password(state: &FormState) -> AnyView {
    let fields = vec![
        field(state, &Field::password("old_password", "Current password", "current-password")),
        field(
            state,
            &Field::password("password", "New password", "new-password").with_hint(
                "At least 10 characters. A few words with spaces are fine. It signs out everywhere else.",
            ),
        ),
        field(state, &Field::password("again", "New password again", "new-password")),
    ];
    panel("password", "Password", form(state, "/account/password", fields, "Change the password"))
}

fn list_of_sessions(sessions: Vec<SessionView>) -> AnyView {
    let others = sessions.iter().any(|session| !session.current);
    let rows: Vec<Vec<Content>> = sessions
        .into_iter()
        .map(|session| {
            let action = format!("/account/sessions/{}/end", session.id);
            let label = format!("Sign out {} of {}", session.browser, session.address);
            let end = (!session.current).then(|| {
                view! {
                    <form method="post" action=action>
                        <button class="button" type="submit" aria-label=label>
                            "Sign out"
                        </button>
                    </form>
                }
            });
            let browser = view! {
                {session.browser}
                {session.current.then(|| view! { <small>"this one"</small> })}
            };
            vec![
                browser.into(),
                session.address.into(),
                date_time(session.made_at).into(),
                date_time(session.last_used_at).into(),
                end.into(),
            ]
        })
        .collect();
    let columns =
        [("Browser", "", false), ("Address", "", false), ("Since", "", false), ("Last used", "", false), DO];
    view! {
        {Table::new("Where you are signed in", &columns, rows).sortable("sessions").view()}
        {others
            .then(|| {
                view! {
                    <form class="form" method="post" action="/account/sessions/end-others">
                        <div class="actions">
                            <button class="button danger" type="submit">
                                "Sign out everywhere else"
                            </button>
                        </div>
                    </form>
                }
            })}
    }
    .into_any()
}

fn list_of_tokens(tokens: Vec<TokenView>) -> AnyView {
    let rows = tokens.into_iter().map(|token| -> Vec<Content> {
        let action = format!("/account/tokens/{}/revoke", token.id);
        let label = format!("Revoke {}", token.name);
        let used = token.last_used_at.map_or_else(|| "never".into_any(), |at| date_time(at).into_any());
        let revoke = view! {
            <form method="post" action=action>
                <button class="button danger" type="submit" aria-label=label>
                    "Revoke"
                </button>
            </form>
        };
        vec![
            token.name.into(),
            token.scopes.join(", ").into(),
            used.into(),
            date_time(token.ends_at).into(),
            revoke.into(),
        ]
    });
    let columns = [("For", "", false), ("May", "", false), ("Last used", "", false), ("Ends", "", false), DO];
    Table::new("Tokens for programs", &columns, rows.collect())
        .sortable("tokens")
        .view_or("You have none. A program that places bids or reports losses needs one.")
}

fn new_token(state: &FormState) -> AnyView {
    let owned = |(value, text): (&str, &str)| (value.to_owned(), text.to_owned());
    let fields = vec![
        field(state, &Field::text("name", "What it is for").with_hint("Such as: nightly training jobs.")),
        boxes(state, "scopes", "What it may do", SCOPES.map(owned).into()),
        select(
            state,
            "days",
            "How long",
            "It never does more than you may do yourself at the time.",
            DAYS.map(owned).into(),
        ),
    ];
    form(state, "/account/tokens", fields, "Make a token")
}
