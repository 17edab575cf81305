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
mod sent;
#[cfg(feature = "ssr")]
mod terms;
#[cfg(feature = "ssr")]
mod wanted;
#[cfg(feature = "ssr")]
mod words;

use leptos::prelude::*;
use leptos_meta::Title;
use leptos_router::hooks::use_location;

use self::data::{Beside, BidsPage, read_bids};
use crate::components::page::page;
use crate::live::Live;

/// The page at an address of bids. With each cycle the element reads it again itself: made anew by the framework, it would
/// lose rows and focus.
#[component]
pub fn BidsPages() -> impl IntoView {
    let live = Live::from_context();
    let location = use_location();
    let own = kind_of(&location.pathname.get_untracked());
    let address = Memo::new(move |before: Option<&String>| {
        let path = location.pathname.get();
        // While another page takes its place this one is there a moment longer: it reads nothing for that one.
        if let Some(before) = before.filter(|_| kind_of(&path) != own) {
            return before.clone();
        }
        let search = location.search.get();
        let search = search.trim_start_matches('?');
        if search.is_empty() { path } else { format!("{path}?{search}") }
    });
    let source = move || (address.get(), live.retries());
    let shown: Resource<_, Beside> =
        Resource::new_with_options(source, |(address, _)| read_bids(address), false);
    view! {
        <Title text="Bids" />
        {page(shown, bids)}
    }
}

/// Which of the pages of bids is at a path: a queue, a new bid, one bid; none of them elsewhere.
fn kind_of(path: &str) -> Option<u8> {
    match path.strip_prefix("/bids")? {
        "" | "/" => Some(0),
        "/new" => Some(1),
        _ => Some(2),
    }
}

/// The page as the server wrote it. In the browser the element takes it as a property.
fn bids(shown: BidsPage) -> impl IntoView {
    let BidsPage { html } = shown;
    #[cfg(feature = "ssr")]
    return leptos::html::custom("qm-bids").inner_html(html);
    #[cfg(not(feature = "ssr"))]
    {
        let live = Live::from_context();
        // Tells the element of each cycle.
        let version = move || live.version().to_string();
        view! { <qm-bids prop:html=html data-version=version></qm-bids> }
    }
}
