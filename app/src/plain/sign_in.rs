//! The page that asks who somebody is.

use leptos::prelude::*;

use super::form::{Field, FormState, field, form, hidden};

/// What the page shows.
#[derive(Clone, Debug, Default)]
pub struct SignInPage {
    /// The form as it was sent, or empty.
    pub form: FormState,
    /// Why somebody who was on another page is here.
    pub why: Option<&'static str>,
    /// Where to go afterwards: a path of this site.
    pub next: String,
    /// A form that was sent when nobody was signed in, kept until somebody is.
    pub kept_form: Option<String>,
    /// The form may also wait while its owner is away at the provider.
    pub form_waits: bool,
    /// Accounts that anybody may use, in a demo: name, password, who it is.
    pub demo_accounts: Vec<(&'static str, &'static str, &'static str)>,
    /// There is a way in by a password.
    pub passwords: bool,
    /// The identity provider: its name, and the address at which a sign-in by it begins.
    pub provider: Option<(String, String)>,
}

/// The main part of the page.
pub fn sign_in(page: SignInPage) -> AnyView {
    let SignInPage { form: state, why, next, kept_form, form_waits, demo_accounts, passwords, provider } =
        page;
    let provider = provider.map(|(name, address)| match kept_form.as_deref().filter(|_| form_waits) {
        Some(kept) => with_form(&name, &next, kept),
        None => with_link(&name, address),
    });
    let fields = vec![
        field(&state, &Field { autocomplete: "username", ..Field::text("login", "Name or e-mail") }),
        field(&state, &Field::password("password", "Password", "current-password")),
        hidden("next", &next),
        kept_form.map(|kept| hidden("kept_form", &kept)).into_any(),
    ];
    view! {
        <section class="panel" aria-label="Sign in">
            <div class="body">
                {why.map(|why| view! { <p role="status">{why}</p> })}
                {provider}
                {passwords.then(|| form(&state, "/sign-in", fields, "Sign in"))}
            </div>
        </section>
        {(!demo_accounts.is_empty()).then(|| demo(&demo_accounts))}
        <p class="quiet">
            "No account, or the password is lost? An admin of the organisation makes a link that lets you choose one."
        </p>
    }
    .into_any()
}

/// The way in by the provider.
fn with_link(provider: &str, address: String) -> AnyView {
    view! {
        <p>
            <a class="button" href=address>
                {format!("Sign in with {provider}")}
            </a>
        </p>
    }
    .into_any()
}

/// The same with a form that waits until its owner is back.
fn with_form(provider: &str, next: &str, kept_form: &str) -> AnyView {
    view! {
        <form class="form" method="post" action="/sign-in/oidc">
            {hidden("next", next)} {hidden("kept_form", kept_form)} <div class="actions">
                <button class="button" type="submit">
                    {format!("Sign in with {provider}")}
                </button>
            </div>
        </form>
    }
    .into_any()
}

/// The accounts of a demo.
fn demo(accounts: &[(&'static str, &'static str, &'static str)]) -> AnyView {
    let rows = accounts
        .iter()
        .map(|(login, password, who)| {
            view! {
                <tr>
                    <td>
                        <code>{*login}</code>
                    </td>
                    <td>
                        <code>{*password}</code>
                    </td>
                    <td>{*who}</td>
                </tr>
            }
        })
        .collect_view();
    view! {
        <section class="panel" aria-labelledby="demo-accounts">
            <header>
                <h2 id="demo-accounts">"Accounts of this demo"</h2>
            </header>
            <table>
                <thead>
                    <tr>
                        <th scope="col">"Name"</th>
                        <th scope="col">"Password"</th>
                        <th scope="col">"Who it is"</th>
                    </tr>
                </thead>
                <tbody>{rows}</tbody>
            </table>
        </section>
    }
    .into_any()
}

/// A form that was sent when nobody was signed in.
#[derive(Clone, Debug)]
pub struct KeptForm {
    /// Where it was sent: a path of this site.
    pub action: String,
    /// Its fields in order.
    pub fields: Vec<(String, String)>,
}

/// The page after a sign-in that was asked for in the middle of a form: sends it again, or leaves it.
pub fn kept(page: KeptForm) -> AnyView {
    let fields = page
        .fields
        .into_iter()
        .map(|(name, value)| view! { <input type="hidden" name=name value=value /> })
        .collect_view();
    view! {
        <section class="panel" aria-label="Your form">
            <div class="body">
                <p>"What you typed before is still here, and nothing of it was done yet."</p>
                <form class="form" method="post" action=page.action>
                    {fields}
                    <div class="actions">
                        <button class="button primary" type="submit">
                            "Send it now"
                        </button>
                        <a class="quiet-link" href="/">
                            "Leave it and go to the market"
                        </a>
                    </div>
                </form>
            </div>
        </section>
    }
    .into_any()
}
