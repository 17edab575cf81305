//! Asks for a page the way a browser does.

use std::sync::{Arc, LazyLock};

use app::backend::Backend;
use app::document::{SiteFiles, document, read_shell};
use app::posted::{PostedForm, act_on_posted};
use axum::body::{Body, to_bytes};
use axum::http::{HeaderMap, Request, StatusCode};
use axum::middleware::from_fn;
use axum::{Extension, Router};
use leptos::config::LeptosOptions;
use leptos_axum::{AxumRouteListing, LeptosRoutes, generate_route_list};
use tower::ServiceExt;

use crate::fixture::Fixture;

/// A page as it came.
pub(crate) struct Rendered {
    pub(crate) status: StatusCode,
    pub(crate) headers: HeaderMap,
    pub(crate) html: String,
}

/// Listed once, before any page is rendered: while routes are listed, no page of the process gets its data.
static ROUTES: LazyLock<Vec<AxumRouteListing>> = LazyLock::new(|| generate_route_list(page));

fn page() -> impl leptos::IntoView {
    document(&SiteFiles::default())
}

fn router(backend: Arc<dyn Backend>) -> Router {
    let options = LeptosOptions::builder().output_name("quota-marketplace").build();
    Router::new()
        .leptos_routes(&options, ROUTES.clone(), page)
        .layer(from_fn(act_on_posted))
        .layer(from_fn(read_shell))
        .layer(Extension(backend))
        .with_state(options)
}

/// The page at an address.
pub(crate) async fn render(fixture: Fixture, address: &str) -> Rendered {
    ask(fixture, Request::builder().uri(address).body(Body::empty()).unwrap()).await
}

/// The answer to a form that is posted to an address.
pub(crate) async fn post(fixture: Fixture, address: &str, body: &str) -> Rendered {
    let form = PostedForm(body.to_owned());
    ask(fixture, Request::builder().uri(address).extension(form).body(Body::empty()).unwrap()).await
}

async fn ask(fixture: Fixture, request: Request<Body>) -> Rendered {
    let response = router(Arc::new(fixture)).oneshot(request).await.unwrap();
    let (head, body) = response.into_parts();
    let bytes = to_bytes(body, 4 << 20).await.unwrap();
    Rendered { status: head.status, headers: head.headers, html: String::from_utf8(bytes.to_vec()).unwrap() }
}

impl Rendered {
    /// What stands between `<main …>` and `</main>`, one element per line, without the marks for hydration.
    pub(crate) fn main(&self) -> String {
        let start = self.html.find("<main").expect("a page has a main element");
        let end = self.html.find("</main>").expect("the main element ends");
        let main = self.html[start..end].replace("<!>", "").replace("<!--<() />-->", "");
        main.replace('>', ">\n").replace("</", "\n</").lines().filter(|line| !line.trim().is_empty()).fold(
            String::new(),
            |mut text, line| {
                text.push_str(line);
                text.push('\n');
                text
            },
        )
    }

    /// The text that a reader sees in the main element, tags left out.
    pub(crate) fn text(&self) -> String {
        let main = self.main();
        main.lines()
            .filter(|line| !line.starts_with('<'))
            .collect::<Vec<_>>()
            .join(" ")
            .replace('\u{a0}', " ")
    }
}
