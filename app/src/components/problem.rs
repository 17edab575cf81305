//! What a page shows instead of its data: a problem in words with the way out, or an empty state.

use leptos::either::Either;
use leptos::prelude::*;

use crate::data::PageError;
use crate::live::Live;

/// A problem in words; sets the status of the page.
pub(crate) fn problem(error: PageError) -> impl IntoView {
    #[cfg(feature = "ssr")]
    crate::response::set_status(error.status());
    notice(error)
}

/// A problem in a part of a page whose rest is fine.
pub(crate) fn notice(error: PageError) -> impl IntoView {
    let live = Live::from_context();
    // A thing that does not exist does not appear by asking again.
    let way_out = if error.status() == 404 {
        Either::Left(view! { <a class="button" href="/">"Go to the market"</a> })
    } else {
        let retry = move |_| live.retry();
        Either::Right(view! { <button class="button" type="button" on:click=retry>"Try again"</button> })
    };
    view! {
        <section class="panel notice" role="alert">
            <h2>{error.0.title}</h2>
            <p>{error.0.detail}</p>
            {way_out}
        </section>
    }
}

/// Nothing to show yet: why, and what to do.
pub(crate) fn empty(title: &'static str, what_to_do: &'static str) -> impl IntoView {
    view! {
        <div class="empty">
            <p class="strong">{title}</p>
            <p>{what_to_do}</p>
        </div>
    }
}
