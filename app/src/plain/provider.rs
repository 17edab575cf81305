//! Pages around the organisation's identity provider: what went wrong with a sign-in, and the ways there and out.

use leptos::prelude::*;

/// A sign-in by the provider that did not come to its end: why, and how to begin again.
pub fn failed(why: &str) -> AnyView {
    let mut letters = why.chars();
    let first = letters.next().map(|letter| letter.to_uppercase().to_string()).unwrap_or_default();
    let why = format!("{first}{}.", letters.as_str());
    view! {
        <section class="panel notice" role="alert">
            <h2>"You are not signed in"</h2>
            <p>{why}</p>
            <a class="button" href="/sign-in">
                "Back to the sign-in"
            </a>
        </section>
    }
    .into_any()
}

/// Somebody signed out here and is still signed in at the provider.
pub fn signed_out(provider: &str, address: String) -> AnyView {
    view! {
        <section class="panel notice">
            <h2>"You are signed out of this market"</h2>
            <p role="status">
                {format!("You may still be signed in at {provider}, for other applications too.")}
            </p>
            <a class="button" href=address>
                {format!("Sign out of {provider} as well")}
            </a>
            <a class="quiet-link" href="/sign-in">
                "Back to the sign-in"
            </a>
        </section>
    }
    .into_any()
}

/// The way to the provider after a form was sent, which browsers do not let lead to another site by itself.
pub fn departing(heading: &str, words: &'static str, provider: &str, address: String) -> AnyView {
    view! {
        <section class="panel notice">
            <h2>{heading.to_owned()}</h2>
            <p>{words}</p>
            <a class="button" href=address>
                {format!("Continue to {provider}")}
            </a>
        </section>
    }
    .into_any()
}
