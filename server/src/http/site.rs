//! The pages, rendered here and brought to life in the browser, and the files they need.
//!
//! The browser part is built by `cargo xtask site` into a folder that is embedded into the program (a debug build
//! reads it from the disk): `pkg-dir` names a folder with a hash in its name, in which each file has a brotli and a
//! gzip copy.

use std::borrow::Cow;
use std::sync::LazyLock;

use app::document::{SiteFiles, document, read_shell};
use app::posted::{PostedForm, act_on_posted};
use axum::Router;
use axum::body::Body;
use axum::extract::{Path, Request, State};
use axum::http::request::Parts;
use axum::http::{HeaderMap, HeaderValue, Method, StatusCode, header};
use axum::middleware::{from_fn, from_fn_with_state};
use axum::response::{Html, IntoResponse, Response};
use axum::routing::{get, post};
use leptos::config::LeptosOptions;
use leptos::context::provide_context;
use leptos_axum::{AxumRouteListing, LeptosRoutes, generate_route_list};
use rust_embed::{EmbeddedFile, RustEmbed};
use tower::ServiceExt;
use utoipa_swagger_ui::SwaggerUi;

use super::AppState;
use super::backend::for_pages;
use super::problem::no_such_address;

#[derive(RustEmbed)]
#[folder = "../target/site"]
struct Built;

/// Listed once, before any page is rendered: while routes are listed, no page of the process gets its data.
static ROUTES: LazyLock<Vec<AxumRouteListing>> =
    LazyLock::new(|| generate_route_list(|| document(&SiteFiles::default())));

/// The addresses of the browser part's files by their plain names; none when it was not built.
#[must_use]
pub fn embedded_site() -> Option<SiteFiles> {
    let folder = Built::get("pkg-dir")?;
    let folder = std::str::from_utf8(&folder.data).ok()?.trim();
    let files = Built::iter().filter_map(|path| {
        let name = path.strip_prefix(folder)?.strip_prefix('/')?;
        Some((name.to_owned(), format!("/{path}")))
    });
    Some(SiteFiles::new(files.collect()))
}

/// The page that shows and tries the API, from files in this program.
pub(super) fn api_page(document: utoipa::openapi::OpenApi) -> Router<AppState> {
    const POLICY: HeaderValue = HeaderValue::from_static(
        "default-src 'self'; style-src 'self' 'unsafe-inline'; img-src 'self' data:; frame-ancestors 'none'",
    );
    let page: Router<AppState> = SwaggerUi::new("/api/docs").url("/api/v1/openapi.json", document).into();
    page.layer(axum::middleware::map_response(|mut response: Response| async move {
        response.headers_mut().insert(header::CONTENT_SECURITY_POLICY, POLICY);
        response
    }))
}

/// Adds the pages and their files.
pub(super) fn pages(routes: Router<AppState>, state: &AppState, site: Option<SiteFiles>) -> Router<AppState> {
    let routes = routes.route("/pkg/{*file}", get(built_file));
    let Some(site) = site else { return routes.fallback(not_built) };
    let context = {
        let site = site.clone();
        move || provide_context(site.clone())
    };
    let page = move || document(&site);
    // Only pages rendered at build time read these, and there are none.
    let options = LeptosOptions::builder().output_name("quota-marketplace").build();
    let pages: Router = Router::new()
        .leptos_routes_with_context(&options, ROUTES.clone(), context, page)
        .layer(from_fn(act_on_posted))
        .layer(from_fn(read_shell))
        .layer(from_fn_with_state(state.clone(), for_pages))
        .with_state(options);
    // The router of the pages has one for every other address: it says that there is no such page.
    routes.merge(forms(pages.clone())).merge(pages.with_state(()))
}

/// Forms that a browser without scripts posts to a page: the page itself answers.
fn forms<S: Clone + Send + Sync + 'static>(pages: Router) -> Router<S> {
    const WITH_FORMS: [&str; 3] = ["/bids", "/bids/new", "/bids/{bid}"];
    WITH_FORMS
        .into_iter()
        .fold(Router::new(), |routes, path| routes.route(path, post(posted)))
        .with_state(pages)
}

async fn posted(State(pages): State<Router>, mut parts: Parts, body: String) -> Response {
    parts.method = Method::GET;
    parts.extensions.insert(PostedForm(body));
    match pages.oneshot(Request::from_parts(parts, Body::empty())).await {
        Ok(response) => response,
        Err(never) => match never {},
    }
}

async fn not_built() -> Response {
    let text = "<!DOCTYPE html><html lang=\"en\"><head><meta charset=\"utf-8\"><title>Browser part not built</title></head>\
                <body><h1>The browser part is not built</h1><p>This program was compiled without its pages. \
                Run <code>./run</code>, which builds both, or <code>cargo xtask site</code> and then compile the \
                server again.</p><p>The REST API works: <a href=\"/api/docs/\">/api/docs</a>.</p></body></html>";
    (StatusCode::SERVICE_UNAVAILABLE, Html(text)).into_response()
}

/// A file of the browser part, in the smallest form that the client takes.
async fn built_file(Path(file): Path<String>, headers: HeaderMap, uri: axum::http::Uri) -> Response {
    let path = format!("pkg/{file}");
    if path.ends_with(".br") || path.ends_with(".gz") {
        return no_such_address(uri).await.into_response();
    }
    let accepted =
        headers.get(header::ACCEPT_ENCODING).and_then(|value| value.to_str().ok()).unwrap_or_default();
    let copies = [("br", ".br"), ("gzip", ".gz")];
    let compressed = copies
        .iter()
        .filter(|(encoding, _)| accepts(accepted, encoding))
        .find_map(|(encoding, ending)| Some((*encoding, Built::get(&format!("{path}{ending}"))?)));
    let (encoding, file) = match compressed {
        Some((encoding, file)) => (Some(encoding), file),
        None => match Built::get(&path) {
            Some(file) => (None, file),
            None => return no_such_address(uri).await.into_response(),
        },
    };
    let mut response = Response::new(body(file));
    let set = response.headers_mut();
    set.insert(header::CONTENT_TYPE, HeaderValue::from_static(content_type(&path)));
    // The folder's name holds a hash of the content: what stands there never changes.
    set.insert(header::CACHE_CONTROL, HeaderValue::from_static("public, max-age=31536000, immutable"));
    set.insert(header::VARY, HeaderValue::from_static("accept-encoding"));
    if let Some(encoding) = encoding {
        set.insert(header::CONTENT_ENCODING, HeaderValue::from_static(encoding));
    }
    response
}

fn body(file: EmbeddedFile) -> Body {
    match file.data {
        Cow::Borrowed(bytes) => Body::from(bytes),
        Cow::Owned(bytes) => Body::from(bytes),
    }
}

/// Whether a list such as `gzip, br;q=0.5` takes an encoding.
fn accepts(list: &str, encoding: &str) -> bool {
    list.split(',').any(|item| {
        let mut parts = item.split(';').map(str::trim);
        let named = parts.next().is_some_and(|name| name.eq_ignore_ascii_case(encoding));
        let refused = parts.any(|part| {
            part.strip_prefix("q=").is_some_and(|weight| weight.trim_end_matches(['0', '.']).is_empty())
        });
        named && !refused
    })
}

fn content_type(path: &str) -> &'static str {
    match path.rsplit_once('.').map_or("", |(_, ending)| ending) {
        "css" => "text/css; charset=utf-8",
        "js" | "mjs" => "text/javascript; charset=utf-8",
        "wasm" => "application/wasm",
        "svg" => "image/svg+xml",
        "json" => "application/json",
        "png" => "image/png",
        "woff2" => "font/woff2",
        _ => "application/octet-stream",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn encodings_are_taken_as_listed() {
        assert!(accepts("gzip, deflate, br", "br"));
        assert!(accepts("br;q=0.5", "br"));
        assert!(!accepts("br;q=0", "br"));
        assert!(!accepts("br;q=0.0, gzip", "br"));
        assert!(!accepts("gzip", "br"));
    }
}
