//! Plain pages: rendered on the server only, with ordinary forms and links. They work without scripts and add nothing
//! to the browser part.
//!
//! A page is a function from what it shows to a view; [`render`] puts the shell and the document around it. A form that
//! is refused is rendered again with what was typed and the faults beside their fields ([`form`]); one that is accepted
//! is answered with a redirect, and the page after it shows a notice.

pub mod account;
pub mod audit;
pub mod budget;
pub mod exports;
pub mod finance;
pub mod form;
pub mod lab;
pub mod ledger;
pub mod link;
pub(crate) mod names;
pub mod organisation;
mod parts;
pub mod planner;
pub mod provider;
pub mod reconciliation;
mod runway;
pub mod sign_in;
pub mod supply;
mod table;

use std::sync::Arc;

use common::api::ShellView;
use common::names::Names;
use common::problem::Problem;
use leptos::nonce::{provide_nonce, use_nonce};
use leptos::prelude::*;

use crate::components::shell::plain_shell;
use crate::document::{SiteFiles, THEME_SCRIPT, import_map};
use crate::fields::escaped;
use crate::response;

/// What stands around a plain page.
#[derive(Clone, Debug)]
pub struct Frame<'a> {
    /// The files of the site.
    pub site: &'a SiteFiles,
    /// What every page shows; none where it can't be read, as before there is an organisation.
    pub shell: Option<ShellView>,
    /// What pools, teams and chip types are called on it.
    pub names: Arc<Names>,
    /// The page's address without its query: marks the place in the navigation.
    pub path: &'a str,
    /// Its heading.
    pub title: String,
    /// What was just done, shown once.
    pub notice: Option<String>,
}

/// A page as it is sent.
#[derive(Clone, Debug)]
pub struct PlainPage {
    /// The whole document.
    pub html: String,
    /// Its `Content-Security-Policy`.
    pub policy: String,
}

/// Renders a page. `main` is called where reactive values may be made, and its view becomes the main element.
pub fn render(frame: Frame<'_>, main: impl FnOnce() -> AnyView) -> PlainPage {
    Owner::new_root(None).with(|| {
        provide_nonce();
        let nonce = use_nonce();
        let policy = nonce.as_ref().map(|nonce| response::security_policy(nonce)).unwrap_or_default();
        let Frame { site, shell, names, path, title, notice } = frame;
        provide_context(names);
        let body = plain_shell(shell.as_ref(), path, title.clone(), notice, main());
        let page = view! {
            <!DOCTYPE html>
            <html lang="en" data-plain>
                <head>
                    <meta charset="utf-8" />
                    <meta name="viewport" content="width=device-width, initial-scale=1" />
                    <meta name="color-scheme" content="light dark" />
                    <script nonce=nonce.clone()>{THEME_SCRIPT}</script>
                    <link rel="icon" type="image/svg+xml" href=site.url("favicon.svg") />
                    <link rel="stylesheet" href=site.url("uPlot.css") />
                    <link rel="stylesheet" href=site.url("main.css") />
                    <script type="importmap" nonce=nonce.clone()>{import_map(site)}</script>
                    <script type="module" src=site.url("shell.js")></script>
                    // As HTML of its own: Leptos would put a mark for hydration behind a text, which a title shows.
                    <title inner_html=escaped(&format!("{title} · Quota Marketplace"))></title>
                </head>
                <body>{body}</body>
            </html>
        };
        PlainPage { html: page.to_html(), policy }
    })
}

/// The main part of a page that can't be shown: why, in words, and a way out.
pub fn problem(problem: Problem) -> AnyView {
    // What somebody may not see is as if it were not there; both are said, so neither tells anything.
    let why = (problem.status == 404).then(|| {
        view! { <p class="quiet">"It is not there, or not for your account; an admin can say which."</p> }
    });
    view! {
        <section class="panel notice" role="alert">
            <h2>{problem.title}</h2>
            <p>{form::as_sentence(&problem.detail)}</p>
            {why}
            <a class="button" href="/">
                "Go to the market"
            </a>
        </section>
    }
    .into_any()
}
