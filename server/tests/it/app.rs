//! A whole server in the test's process: a temporary SQLite file, a clock that the test sets, cycles that clear when
//! the test says so.
#![expect(clippy::unwrap_used, reason = "helpers of tests: what fails here fails the test")]

use std::sync::Arc;

use app::document::SiteFiles;
use axum::Router;
use axum::body::Body;
use axum::http::{HeaderMap, Method, Request, StatusCode, header};
use common::api::MarketClock;
use common::chips::Chips;
use futures::StreamExt;
use server::auth::{self, Auth};
use server::clock::{Clock, IdSource, SettableClock};
use server::config::Config;
use server::cycle::{Clearing, clear_due};
use server::http::{self, Parts};
use server::policy::{Via, Viewer};
use server::services::live::Live;
use server::services::read::MarketReader;
use server::services::{Services, bids, supply};
use server::store::Store;
use tokio_util::sync::CancellationToken;
use tower::ServiceExt;

use crate::client::Client;
use crate::fixture::{self, START, TestStore, bid, create};

/// A server with one organisation.
pub(crate) struct TestApp {
    pub(crate) store: TestStore,
    pub(crate) clock: SettableClock,
    pub(crate) shutdown: CancellationToken,
    pub(crate) live: Arc<Live>,
    pub(crate) auth: Arc<Auth>,
    pub(crate) router: Router,
    admin: Client,
    pub(crate) services: Arc<Services>,
    clearing: Clearing,
}

fn services(store: &Store, clock: &SettableClock, market: Arc<MarketReader>) -> Arc<Services> {
    Arc::new(Services::new(store.clone(), Arc::new(clock.clone()), IdSource::seeded(1), market))
}

/// An answer, read to its end.
pub(crate) struct Answer {
    pub(crate) status: StatusCode,
    pub(crate) headers: HeaderMap,
    pub(crate) body: String,
}

impl Answer {
    /// The body as JSON, with what differs from run to run set to zero.
    pub(crate) fn json(&self) -> serde_json::Value {
        let mut value =
            serde_json::from_str(&self.body).unwrap_or_else(|error| panic!("{error}: {}", self.body));
        steady(&mut value);
        value
    }

    pub(crate) fn header(&self, name: header::HeaderName) -> &str {
        self.headers.get(name).map_or("", |value| value.to_str().unwrap())
    }
}

fn steady(value: &mut serde_json::Value) {
    match value {
        serde_json::Value::Object(fields) => {
            for (name, field) in fields {
                if name == "clear_micros" {
                    *field = 0.into();
                }
                steady(field);
            }
        }
        serde_json::Value::Array(items) => items.iter_mut().for_each(steady),
        _ => {}
    }
}

impl TestApp {
    /// An organisation and nothing cleared yet; the clock shows [`START`].
    pub(crate) async fn new() -> Self {
        let store = fixture::sqlite().await;
        create(&store.store).await;
        Self::on(store).await
    }

    /// A server on a store as it is, with the people of [`fixture::PEOPLE`] added.
    pub(crate) async fn on(store: TestStore) -> Self {
        Self::with_config(store, Config::default()).await
    }

    /// The same with other settings.
    pub(crate) async fn with_config(store: TestStore, config: Config) -> Self {
        fixture::add_people(&store.store).await;
        let clock = SettableClock::new(START);
        let now = clock.now();
        let live = Arc::new(Live::new(
            MarketClock { cycle: 0, cleared_at: now, next_at: now, cycle_seconds: 60, stale: None },
            None,
        ));
        let market =
            Arc::new(MarketReader::new(store.store.clone(), Arc::new(clock.clone()), live.subscribe()));
        let shutdown = CancellationToken::new();
        let site = Some(SiteFiles::default());
        let services = services(&store.store, &clock, market);
        let auth = Arc::new(Auth::open(Arc::clone(&services), &config.auth, None).await.unwrap());
        let router = http::router(Parts {
            config: config.server,
            services: Arc::clone(&services),
            auth: Arc::clone(&auth),
            demo_accounts: Vec::new(),
            site,
            shutdown: shutdown.clone(),
        });
        let admin = Client::signed_in(&auth, router.clone(), "admin").await;
        Self { store, clock, shutdown, live, auth, router, admin, services, clearing: Clearing::new() }
    }

    /// Clears from here on with what is stored alone, as after a restart.
    pub(crate) fn forget(&mut self) {
        self.clearing = Clearing::new();
    }

    /// Another server that comes up on the same database.
    pub(crate) async fn beside(&self) -> Router {
        let newest = server::cycle::newest_cycle(&self.store.store).await.unwrap().unwrap();
        let live = Live::new(newest.clock, Some(newest.cleared));
        let clock = Arc::new(self.clock.clone());
        let market = Arc::new(MarketReader::new(self.store.store.clone(), clock, live.subscribe()));
        let services = services(&self.store.store, &self.clock, market);
        let auth = Auth::open(Arc::clone(&services), &Config::default().auth, None).await.unwrap();
        http::router(Parts {
            config: Config::default().server,
            services,
            auth: Arc::new(auth),
            demo_accounts: Vec::new(),
            site: None,
            shutdown: CancellationToken::new(),
        })
    }

    /// Three bids on A100: more than there is, so that it has a price. Nobody asks for H100.
    pub(crate) async fn with_bids() -> Self {
        Self::with_bids_on(fixture::sqlite().await).await
    }

    /// The same on a store that is empty as yet.
    pub(crate) async fn with_bids_on(store: TestStore) -> Self {
        create(&store.store).await;
        let app = Self::on(store).await;
        let mut tx = app.store.store.write().await.unwrap();
        let mut limited = bid("c", "ads", "A100", 20);
        limited.terms.limit = Some("0.50".parse().unwrap());
        let new = vec![bid("a", "speech", "A100", 30), bid("b", "vision", "A100", 30), limited];
        bids::place_many(&mut tx, START, new).await.unwrap();
        tx.commit().await.unwrap();
        app
    }

    /// Moves the clock to the next minute and clears.
    pub(crate) async fn clear(&mut self) -> u64 {
        self.clock.advance_seconds(60);
        let cleared =
            clear_due(&self.store.store, &mut self.clearing, self.clock.now()).await.unwrap().unwrap();
        let cycle = cleared.clock.cycle;
        self.live.cleared(cleared.clock, cleared.cleared);
        cycle
    }

    /// Clears so many cycles.
    pub(crate) async fn clear_many(&mut self, count: u32) {
        for _ in 0..count {
            self.clear().await;
        }
    }

    /// Sets the shared chips of a type, from the next cycle on.
    pub(crate) async fn set_shared(&self, chip_type: &str, chips: u64) {
        let mut tx = self.store.store.write().await.unwrap();
        let id = chip_type.parse().unwrap();
        supply::set_shared(&mut tx, self.clock.now(), &id, Chips(chips)).await.unwrap();
        tx.commit().await.unwrap();
    }

    /// Asks as the admin does.
    pub(crate) async fn get(&self, path: &str) -> Answer {
        self.admin.get(path).await
    }

    /// What a viewer sees.
    pub(crate) async fn get_as(&self, viewer: &Viewer, path: &str) -> Answer {
        self.client_of(viewer).await.get(path).await
    }

    /// Sends a JSON body as a viewer.
    pub(crate) async fn send_as(
        &self,
        viewer: &Viewer,
        method: Method,
        path: &str,
        headers: &[(&str, &str)],
        body: impl Into<Body>,
    ) -> Answer {
        let mut request = Request::builder().method(method).uri(path);
        for (name, value) in headers {
            request = request.header(*name, *value);
        }
        self.client_of(viewer).await.send(request.body(body.into()).unwrap()).await
    }

    /// The services behind the routes.
    pub(crate) fn services(&self) -> &Arc<Services> {
        &self.services
    }

    /// Sends a request as the admin.
    pub(crate) async fn send(&self, request: Request<Body>) -> Answer {
        self.admin.send(request).await
    }

    /// The admin at a browser.
    pub(crate) fn admin(&self) -> &Client {
        &self.admin
    }

    /// One of [`fixture::PEOPLE`] at another browser.
    pub(crate) async fn client(&self, user: &str) -> Client {
        Client::signed_in(&self.auth, self.router.clone(), user).await
    }

    /// The engineer: leads speech, is a member of vision.
    pub(crate) async fn engineer(&self) -> Client {
        self.client("engineer").await
    }

    /// Finance.
    pub(crate) async fn finance(&self) -> Client {
        self.client("finance").await
    }

    /// The auditor.
    pub(crate) async fn auditor(&self) -> Client {
        self.client("auditor").await
    }

    /// A member of ads, who must know nothing of the other teams.
    pub(crate) async fn outsider(&self) -> Client {
        self.client("outsider").await
    }

    /// A browser of somebody who is not signed in.
    pub(crate) fn anonymous(&self) -> Client {
        Client::anonymous(self.router.clone())
    }

    /// Somebody who is exactly what a viewer says: at a browser, or a program with a token of the viewer's scopes.
    pub(crate) async fn client_of(&self, viewer: &Viewer) -> Client {
        fixture::add_person(&self.store.store, viewer).await;
        match &viewer.via {
            Via::Session(_) => self.client(viewer.user.as_str()).await,
            Via::Token { scopes, .. } => {
                let new = auth::NewToken { name: "test".to_owned(), scopes: scopes.clone(), days: 1 };
                let (_, secret) = self.auth.make_token(&viewer.user, new).await.unwrap();
                Client::program(self.router.clone(), &secret)
            }
        }
    }

    /// Opens the event stream; `last` is the last cycle that the client has.
    pub(crate) async fn events(&self, last: Option<u64>) -> Events {
        self.events_of(&self.admin, last).await
    }

    /// Opens the event stream of somebody.
    pub(crate) async fn events_of(&self, client: &Client, last: Option<u64>) -> Events {
        let mut request = Request::get("/api/v1/events");
        if let Some(last) = last {
            request = request.header("last-event-id", last.to_string());
        }
        // Renews the session where it needs it: what follows keeps no cookies.
        client.get("/healthz").await;
        let request = client.prepared(request.body(Body::empty()).unwrap());
        let response = self.router.clone().oneshot(request).await.unwrap();
        assert_eq!(response.status(), StatusCode::OK);
        assert_eq!(response.headers()["x-accel-buffering"], "no");
        assert_eq!(response.headers()[header::CONTENT_TYPE], "text/event-stream");
        Events { stream: response.into_body().into_data_stream(), text: String::new() }
    }
}

/// Sends a request to a server and reads the answer to its end.
pub(crate) async fn send(router: &Router, request: Request<Body>) -> Answer {
    let response = router.clone().oneshot(request).await.unwrap();
    let (parts, body) = response.into_parts();
    let bytes = axum::body::to_bytes(body, usize::MAX).await.unwrap();
    let body = String::from_utf8(bytes.to_vec()).unwrap();
    Answer { status: parts.status, headers: parts.headers, body }
}

/// A stream of server events.
pub(crate) struct Events {
    stream: axum::body::BodyDataStream,
    text: String,
}

/// One server event.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct ServerEvent {
    pub(crate) kind: String,
    pub(crate) id: Option<u64>,
    pub(crate) clock: MarketClock,
}

impl Events {
    /// The next event; none where the stream has ended. Waits at most five seconds.
    pub(crate) async fn next(&mut self) -> Option<ServerEvent> {
        loop {
            if let Some((event, rest)) = self.text.split_once("\n\n") {
                let (event, rest) = (event.to_owned(), rest.to_owned());
                self.text = rest;
                let field = |name: &str| {
                    event
                        .lines()
                        .find_map(|line| line.strip_prefix(name)?.strip_prefix(": ").map(str::to_owned))
                };
                return Some(ServerEvent {
                    kind: field("event").unwrap(),
                    id: field("id").map(|id| id.parse().unwrap()),
                    clock: serde_json::from_str(&field("data").unwrap()).unwrap(),
                });
            }
            let limit = std::time::Duration::from_secs(5);
            let chunk = tokio::time::timeout(limit, self.stream.next()).await.expect("an event in time")?;
            self.text.push_str(std::str::from_utf8(&chunk.unwrap()).unwrap());
        }
    }

    /// The numbers of the next `count` events, all of them cycles.
    pub(crate) async fn cycles(&mut self, count: usize) -> Vec<u64> {
        let mut numbers = Vec::new();
        for _ in 0..count {
            let event = self.next().await.expect("an event");
            assert_eq!(event.kind, "cycle");
            assert_eq!(event.id, Some(event.clock.cycle));
            numbers.push(event.clock.cycle);
        }
        numbers
    }
}
