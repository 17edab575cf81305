//! The root: routes, and what all pages share.

use leptos::prelude::*;
use leptos_meta::{Title, provide_meta_context};
use leptos_router::components::{Outlet, ParentRoute, Route, Router, Routes};
use leptos_router::{ParamSegment, SsrMode, StaticSegment, WildcardSegment};

use crate::components::shell::Shell;
use crate::live::Live;
use crate::pages::{AllocationsPage, BidsPages, BookPage, CyclePage, CyclesPage, MarketPage, NotFound};

/// All pages. The server renders it inside [`document`](crate::document), the browser hydrates it.
#[component]
pub fn App() -> impl IntoView {
    provide_meta_context();
    provide_context(Live::new());
    view! {
        <Title formatter=|page| format!("{page} · Quota Marketplace") />
        <Router>
            <Routes fallback=NotFound>
                <ParentRoute path=StaticSegment("") view=Frame ssr=SsrMode::Async>
                    <Route path=StaticSegment("") view=MarketPage ssr=SsrMode::Async />
                    <Route path=StaticSegment("bids") view=BidsPages ssr=SsrMode::Async />
                    <Route
                        path=(StaticSegment("bids"), StaticSegment("new"))
                        view=BidsPages
                        ssr=SsrMode::Async
                    />
                    <Route
                        path=(StaticSegment("bids"), ParamSegment("bid"))
                        view=BidsPages
                        ssr=SsrMode::Async
                    />
                    <Route path=StaticSegment("book") view=BookPage ssr=SsrMode::Async />
                    <Route path=StaticSegment("allocations") view=AllocationsPage ssr=SsrMode::Async />
                    <Route path=StaticSegment("cycles") view=CyclesPage ssr=SsrMode::Async />
                    <Route
                        path=(StaticSegment("cycles"), ParamSegment("cycle"))
                        view=CyclePage
                        ssr=SsrMode::Async
                    />
                    <Route path=WildcardSegment("any") view=NotFound ssr=SsrMode::Async />
                </ParentRoute>
            </Routes>
        </Router>
    }
}

/// The shell around the page of the address.
#[component]
fn Frame() -> impl IntoView {
    #[cfg(feature = "hydrate")]
    {
        let live = Live::from_context();
        // After the first paint with the data that came with the page: hydration must see what the server saw.
        Effect::new(move |_| {
            request_animation_frame(move || {
                live.start();
                if let Some(root) = document().document_element() {
                    drop(root.set_attribute("data-hydrated", ""));
                }
            });
        });
    }
    view! {
        <Shell>
            <Outlet />
        </Shell>
    }
}
