//! The page behind a one-time link.

use leptos::prelude::*;

use super::form::{Field, FormState, field, form};

/// What the page shows.
#[derive(Clone, Debug)]
pub struct LinkPage {
    /// Whose password is chosen; none makes an admin's account.
    pub account: Option<String>,
    /// The form as it was sent, or empty.
    pub form: FormState,
}

/// The main part of the page. The form is posted to the address of the link itself.
pub fn link(page: LinkPage) -> AnyView {
    let LinkPage { account, form: state } = page;
    let mut fields = Vec::new();
    let intro = match &account {
        Some(name) => format!("Choose a password for the account of {name}. It signs out everywhere else."),
        None => "This account can change everything: supply, weights, users, settings.".to_owned(),
    };
    if account.is_none() {
        let login =
            Field { autocomplete: "username", ..Field::text("login", "Name or e-mail to sign in with") };
        fields.push(field(&state, &login));
        fields.push(field(&state, &Field::text("name", "Your name").with_hint("As others see it.")));
    }
    let password = Field::password("password", "Password", "new-password")
        .with_hint("At least 10 characters. A few words with spaces are fine.");
    fields.push(field(&state, &password));
    fields.push(field(&state, &Field::password("again", "Password again", "new-password")));
    view! {
        <section class="panel" aria-label="Password">
            <div class="body">
                <p>{intro}</p>
                {form(&state, "", fields, "Set the password and sign in")}
            </div>
        </section>
    }
    .into_any()
}
