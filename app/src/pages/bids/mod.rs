//! The pages of bids: a team's queue, one bid, and the form that places or changes one.
//!
//! The server writes them whole and reads their forms, with scripts and without: the browser part only asks for the page
//! at an address and hands it to the element `<qm-bids>` (`assets/bids.js`), which keeps rows, focus and what is typed
//! where they are while the rest changes. So these pages add almost nothing to the WebAssembly.

#[cfg(feature = "ssr")]
pub(crate) mod act;
#[cfg(feature = "ssr")]
mod alter;
mod data;
#[cfg(feature = "ssr")]
mod field;
#[cfg(feature = "ssr")]
mod form;
#[cfg(feature = "ssr")]
mod funds;
#[cfg(feature = "ssr")]
mod list;
#[cfg(feature = "ssr")]
mod look;
#[cfg(feature = "ssr")]
mod opened;
#[cfg(feature = "ssr")]
mod outcome;
#[cfg(feature = "ssr")]
pub(crate) mod read;
#[cfg(feature = "ssr")]
pub(crate) mod reply;
#[cfg(feature = "ssr")]
mod rows;
#[cfg(feature = "ssr")]
mod said;
#[cfg(feature = "ssr")]
mod terms;
#[cfg(feature = "ssr")]
mod wanted;
#[cfg(feature = "ssr")]
mod words;

use leptos::prelude::*;
use leptos_meta::Title;
use leptos_router::hooks::use_location;

use self::data::{BidsPage, read_bids};
use crate::components::page::page;
use crate::live::Live;

/// The page at an address of bids. Lists and bids are live; a page with an open form stays as it is.
#[component]
pub fn BidsPages() -> impl IntoView {
    let live = Live::from_context();
    let location = use_location();
    let address = Memo::new(move |_| {
        let search = location.search.get();
        let search = search.trim_start_matches('?');
        let path = location.pathname.get();
        if search.is_empty() { path } else { format!("{path}?{search}") }
    });
    let shown = Resource::new(
        move || {
            let address = address.get();
            let version = if has_form(&address) { live.retries() } else { live.version() };
            (address, version)
        },
        |(address, _)| read_bids(address),
    );
    view! {
        <Title text="Bids" />
        {page(shown, bids)}
    }
}

/// Whether a page holds a form that new cycles must leave alone.
fn has_form(address: &str) -> bool {
    address.starts_with("/bids/new") || address.contains("edit=")
}

/// The page as the server wrote it. In the browser the element takes it as a property: it changes what is other, instead
/// of everything.
fn bids(shown: BidsPage) -> impl IntoView {
    let BidsPage { html } = shown;
    #[cfg(feature = "ssr")]
    return leptos::html::custom("qm-bids").inner_html(html);
    #[cfg(not(feature = "ssr"))]
    {
        let live = Live::from_context();
        // The preview of an open form is computed again with each cycle.
        let version = move || live.version().to_string();
        view! { <qm-bids prop:html=html data-version=version></qm-bids> }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn t101_a_page_with_a_form_does_not_change_with_each_cycle() {
        assert!(has_form("/bids/new?team=a") && has_form("/bids/0193-1?edit=yes"));
        assert!(!has_form("/bids?team=a") && !has_form("/bids/0193-1"));
    }
}
