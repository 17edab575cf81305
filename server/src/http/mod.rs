//! HTTP: the REST API, server events, health, metrics and the pages. Thin: a handler extracts, calls one service
//! method and maps the answer.

mod answer;
mod api;
mod audit;
mod backend;
mod bids;
mod budget;
mod cookies;
mod cuts;
mod etag;
mod events;
mod exports;
mod extract;
mod finance;
mod gate;
mod health;
mod identity;
mod jobs;
mod lab;
mod layers;
mod metrics;
mod organisation;
mod plain;
mod planner;
mod problem;
mod reconciliation;
mod session;
mod site;
mod supply;
mod tables;
mod teams;
mod users;
mod what_if;

use std::sync::Arc;

use app::document::SiteFiles;
use axum::Router;
use metrics_exporter_prometheus::PrometheusHandle;
use tokio::sync::Semaphore;
use tokio_util::sync::CancellationToken;
use utoipa::openapi::security::{ApiKey, ApiKeyValue, HttpAuthScheme, HttpBuilder, SecurityScheme};
use utoipa::{Modify, OpenApi};
use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;

use crate::auth::Auth;
use crate::config::ServerConfig;
use crate::services::Services;
use crate::services::read::MarketReader;
use crate::telemetry;

pub use gate::Gate;
pub use site::embedded_site;

/// What the handlers share.
#[derive(Clone)]
pub(crate) struct AppState(Arc<Shared>);

struct Shared {
    config: ServerConfig,
    services: Arc<Services>,
    auth: Arc<Auth>,
    site: SiteFiles,
    demo_accounts: Vec<DemoAccount>,
    metrics: PrometheusHandle,
    shutdown: CancellationToken,
    streams: Arc<Semaphore>,
}

impl AppState {
    fn config(&self) -> &ServerConfig {
        &self.0.config
    }

    fn services(&self) -> &Arc<Services> {
        &self.0.services
    }

    fn auth(&self) -> &Arc<Auth> {
        &self.0.auth
    }

    /// The files of the site, by their plain names.
    fn site(&self) -> &SiteFiles {
        &self.0.site
    }

    /// Accounts that the page to sign in shows to everybody.
    fn demo_accounts(&self) -> &[DemoAccount] {
        &self.0.demo_accounts
    }

    fn market(&self) -> &Arc<MarketReader> {
        self.0.services.market()
    }

    fn metrics(&self) -> &PrometheusHandle {
        &self.0.metrics
    }

    fn new_request_id(&self) -> String {
        self.0.services.ids.new_id(self.0.services.now())
    }

    /// Cancelled when the server begins to shut down: streams end.
    fn shutdown(&self) -> &CancellationToken {
        &self.0.shutdown
    }

    fn streams(&self) -> &Arc<Semaphore> {
        &self.0.streams
    }
}

/// The title and the general part of the OpenAPI document; the routes add themselves.
#[derive(OpenApi)]
#[openapi(
    info(
        title = "Quota Marketplace",
        description = "Uniform-price clearing of internal quota for ML training chips. Prices and amounts are \
                       decimal strings in credits, chips are whole numbers, instants are RFC 3339 in UTC. Errors \
                       are problem documents (RFC 9457). Lists page by an opaque cursor.",
        license(name = "Apache-2.0", identifier = "Apache-2.0"),
    ),
    // Each route takes either, unless it says that it takes anybody.
    security(("session" = []), ("token" = [])),
    modifiers(&Recognised),
    tags(
        (name = "money", description = "Budgets and the ledger behind them"),
        (name = "exports", description = "Files of the ledger, of allocations, prices and the audit log"),
        (name = "finance", description = "Spend, closed months, bookings, statements"),
        (name = "identity", description = "Who asks, where one is signed in, tokens for programs"),
        (name = "organisation", description = "Who is who, what is set, and what was done with it"),
        (name = "bids", description = "A team's queue: placing, changing, ordering and previewing bids"),
        (name = "supply", description = "Chips, reserve prices, lending: now, planned, and what a change does"),
        (name = "lab", description = "Allocation policies compared on traces: runs in the background, and their figures"),
        (name = "planner", description = "Training jobs: what they still need, the bids that meet their deadlines, and losses they report"),
        (name = "market", description = "Prices, depth, allocations and cycles"),
        (name = "health", description = "For supervisors and monitoring"),
    )
)]
struct Document;

/// How a request is recognised.
struct Recognised;

impl Modify for Recognised {
    fn modify(&self, document: &mut utoipa::openapi::OpenApi) {
        let session = ApiKey::Cookie(ApiKeyValue::with_description(
            cookies::ACCESS,
            "A browser after the sign-in at /sign-in. What changes something must come from this site.",
        ));
        let token = HttpBuilder::new()
            .scheme(HttpAuthScheme::Bearer)
            .description(Some(
                "A token made on the account's page. It does no more than its scopes and its owner may.",
            ))
            .build();
        let components = document.components.get_or_insert_default();
        components.add_security_scheme("session", SecurityScheme::ApiKey(session));
        components.add_security_scheme("token", SecurityScheme::Http(token));
    }
}

/// All routes that the OpenAPI document describes, and the document.
fn described() -> (Router<AppState>, utoipa::openapi::OpenApi) {
    OpenApiRouter::with_openapi(Document::openapi())
        .nest(
            "/api/v1",
            api::routes()
                .routes(routes!(events::events))
                .merge(audit::routes())
                .merge(bids::routes())
                .merge(budget::routes())
                .merge(exports::routes())
                .merge(finance::routes())
                .merge(identity::routes())
                .merge(jobs::routes())
                .merge(reconciliation::routes())
                .merge(lab::routes())
                .merge(planner::routes())
                .merge(supply::routes())
                .merge(cuts::routes())
                .merge(what_if::routes())
                .merge(organisation::routes())
                .merge(teams::routes())
                .merge(users::routes()),
        )
        .routes(routes!(health::healthz))
        .routes(routes!(health::readyz))
        .routes(routes!(metrics::metrics))
        .split_for_parts()
}

/// The OpenAPI document as JSON, with a line end.
#[must_use]
pub fn openapi_json() -> String {
    let (_, document) = described();
    // The document holds only texts and numbers, which always have a JSON form.
    document.to_pretty_json().map(|json| json + "\n").unwrap_or_default()
}

/// An account of a demo: name, password, who it is.
pub type DemoAccount = (&'static str, &'static str, &'static str);

/// What a server is made of.
pub struct Parts {
    /// Limits.
    pub config: ServerConfig,
    /// What the answers come from.
    pub services: Arc<Services>,
    /// Recognises people and programs.
    pub auth: Arc<Auth>,
    /// Accounts that the page to sign in shows to everybody; none outside a demo.
    pub demo_accounts: Vec<DemoAccount>,
    /// The built browser part; without one the pages say how to build it.
    pub site: Option<SiteFiles>,
    /// Cancelled when the server begins to shut down.
    pub shutdown: CancellationToken,
}

/// The whole server as a service.
pub fn router(parts: Parts) -> Router {
    let state = AppState(Arc::new(Shared {
        streams: Arc::new(Semaphore::new(parts.config.max_streams)),
        config: parts.config,
        services: parts.services,
        auth: parts.auth,
        site: parts.site.clone().unwrap_or_default(),
        demo_accounts: parts.demo_accounts,
        metrics: telemetry::recorder(),
        shutdown: parts.shutdown,
    }));
    let (described, document) = described();
    let api = described
        .merge(site::api_page(document))
        .merge(plain::routes())
        .route("/api", axum::routing::any(problem::no_such_address))
        .route("/api/{*rest}", axum::routing::any(problem::no_such_address))
        .method_not_allowed_fallback(problem::no_such_method);
    let routes = site::pages(api, &state, parts.site);
    layers::around(routes, &state).with_state(state)
}
