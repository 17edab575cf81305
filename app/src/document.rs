//! The HTML document around the pages: head, theme without a flash, scripts, security policy.

use std::collections::BTreeMap;

use std::sync::Arc;

use axum::extract::Request;
use axum::middleware::Next;
use axum::response::Response;
use leptos::nonce::use_nonce;
use leptos::prelude::*;
use leptos_meta::MetaTags;

use crate::App;
use crate::backend::Backend;
use crate::data::ReadShell;
use crate::response;

/// Addresses of the built site's files by their plain name: `chart.js` → `/pkg/3f2a9c/chart.js`.
///
/// Names the pages use: `main.css`, `quota-marketplace.{js,wasm}`, `uPlot.{css,js}`, `favicon.svg`,
/// `shell.js`, `chart.js`, `bids.js`, `draft.js`, `forms.js`, `morph.js`, `queue.js`, `tables.js`,
/// `times.js`. Shared, as each request to a page clones it several times.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct SiteFiles(Arc<BTreeMap<String, String>>);

impl SiteFiles {
    /// From the files' plain names and their addresses.
    #[must_use]
    pub fn new(files: BTreeMap<String, String>) -> Self {
        Self(Arc::new(files))
    }

    /// The address of a file; `/pkg/{name}` when the build did not name it.
    #[must_use]
    pub fn url(&self, name: &str) -> String {
        self.0.get(name).cloned().unwrap_or_else(|| format!("/pkg/{name}"))
    }
}

/// Reads what every page shows around its content before the page is rendered: a layer of the routes of the pages.
/// Inside the layer that puts the `Arc<dyn Backend>` into the request.
pub async fn read_shell(mut request: Request, next: Next) -> Response {
    if let Some(backend) = request.extensions().get::<Arc<dyn Backend>>().cloned() {
        request.extensions_mut().insert(ReadShell::of(&*backend).await);
    }
    next.run(request).await
}

/// Scripts that are loaded when a page needs them, by the names under which they import each other.
const OWN_SCRIPTS: [&str; 8] = ["chart", "bids", "draft", "forms", "morph", "queue", "tables", "times"];

/// Sets the chosen theme before anything is painted.
pub(crate) const THEME_SCRIPT: &str = "try{const t=localStorage.getItem('theme');\
    if(t==='light'||t==='dark')document.documentElement.dataset.theme=t}catch{}";

/// Where scripts find each other, as JSON. `<` cannot appear in these addresses, so it needs no escaping in a script.
pub(crate) fn import_map(site: &SiteFiles) -> String {
    format!(
        r#"{{"imports":{{"uplot":"{}",{}}}}}"#,
        site.url("uPlot.js"),
        OWN_SCRIPTS.map(|name| format!(r#""qm-{name}":"{}""#, site.url(&format!("{name}.js")))).join(","),
    )
}

/// The document of every page; hand it to `leptos_axum` as the application function.
pub fn document(site: &SiteFiles) -> AnyView {
    let nonce = use_nonce();
    if let Some(nonce) = &nonce {
        response::set_security_policy(nonce);
    }
    let import_map = import_map(site);
    let (js, wasm) = (site.url("quota-marketplace.js"), site.url("quota-marketplace.wasm"));
    let start =
        format!("import start,{{hydrate}} from '{js}';await start({{module_or_path:'{wasm}'}});hydrate();");
    view! {
        <!DOCTYPE html>
        <html lang="en">
            <head>
                <meta charset="utf-8" />
                <meta name="viewport" content="width=device-width, initial-scale=1" />
                <meta name="color-scheme" content="light dark" />
                <script nonce=nonce.clone()>{THEME_SCRIPT}</script>
                <link rel="icon" type="image/svg+xml" href=site.url("favicon.svg") />
                <link rel="stylesheet" href=site.url("uPlot.css") />
                <link rel="stylesheet" href=site.url("main.css") />
                <script type="importmap" nonce=nonce.clone()>{import_map}</script>
                <script type="module" nonce=nonce.clone() src=site.url("shell.js")></script>
                <link rel="preload" r#as="fetch" r#type="application/wasm" crossorigin="anonymous" href=wasm />
                <script type="module" nonce=nonce>{start}</script>
                <MetaTags />
            </head>
            <body>
                <App />
            </body>
        </html>
    }
    .into_any()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn known_files_have_their_hashed_address_and_others_the_plain_one() {
        let site = SiteFiles::new([("chart.js".to_owned(), "/pkg/1a2b/chart.js".to_owned())].into());
        assert_eq!(site.url("chart.js"), "/pkg/1a2b/chart.js");
        assert_eq!(site.url("shell.js"), "/pkg/shell.js");
    }
}
