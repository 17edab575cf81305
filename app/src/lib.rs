//! Pages and components of the quota marketplace, rendered on the server and hydrated in the browser.
//!
//! Logic that needs no browser (texts, paths, chart data) lives in plain functions with tests; the views only lay
//! it out. The server hands in an `Arc<dyn Backend>` with each request and a [`document::SiteFiles`] through the Leptos context.

#[cfg(not(any(erase_components, doc, doctest)))]
compile_error!(
    "pages and server must agree on their markup: compile with `--cfg erase_components`, see .cargo/config.toml"
);

pub mod app;
#[cfg(feature = "ssr")]
pub mod backend;
mod chart;
pub mod components;
mod data;
#[cfg(feature = "ssr")]
pub mod document;
#[cfg(feature = "ssr")]
mod fields;
pub mod format;
mod live;
#[cfg(feature = "ssr")]
pub mod local_time;
#[cfg(feature = "ssr")]
mod own;
pub mod pages;
#[cfg(feature = "ssr")]
pub mod plain;
#[cfg(feature = "ssr")]
pub mod posted;
#[cfg(feature = "ssr")]
mod response;
mod svg;
mod words;

pub use app::App;
