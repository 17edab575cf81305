//! An address that leads nowhere.

use leptos::prelude::*;
use leptos_meta::Title;

/// Says so, and where to go.
#[component]
pub fn NotFound() -> impl IntoView {
    #[cfg(feature = "ssr")]
    crate::response::set_status(404);
    view! {
        <Title text="Not found" />
        <section class="panel notice">
            <h2>"There is no page at this address"</h2>
            <p>"It may have moved, or the address has a typing error."</p>
            <a class="button" href="/">"Go to the market"</a>
        </section>
    }
}
