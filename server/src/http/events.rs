//! Server events: each new cycle within a second, and after a dropped connection what was missed.
//!
//! A stream follows the cycle numbers. It sends the cycle in force when it opens; when it finds that more than one
//! cycle has passed since the last it sent (the connection was away, or the reader is slow) it reads the missed ones
//! from the store. After too many it sends `reset`, and the page reads everything again. So a client sees every
//! number once, or is told that it did not. A stream ends with the session or token that opened it.

use std::collections::VecDeque;
use std::convert::Infallible;
use std::sync::Arc;
use std::time::Duration;

use axum::extract::State;
use axum::http::{HeaderMap, HeaderName, HeaderValue, header};
use axum::response::sse::{Event, KeepAlive, Sse};
use axum::response::{IntoResponse, Response};
use common::api::MarketClock;
use futures::Stream;
use serde::Deserialize;
use tokio::sync::{OwnedSemaphorePermit, watch};
use tokio_util::sync::CancellationToken;

use super::AppState;
use super::extract::Query;
use crate::auth;
use crate::error::AppError;
use crate::policy::{Action, Object, Viewer};
use crate::services::live::LiveState;
use crate::services::read::MarketReader;
use crate::telemetry::{EVENTS, OPEN_STREAMS, RESUMED};

/// Most missed cycles that are sent one by one.
const MAX_REPLAYED: u64 = 120;

/// After how long a dropped client should come back, in milliseconds.
const RETRY: Duration = Duration::from_millis(2_000);

#[derive(Debug, Deserialize, utoipa::IntoParams)]
#[into_params(parameter_in = Query)]
#[serde(deny_unknown_fields)]
pub(super) struct EventsQuery {
    /// The cycle that the client has already; `Last-Event-ID` overrides it, so that an address with it can be
    /// connected to again.
    after: Option<u64>,
}

/// Server events, one for each cycle.
///
/// Event `cycle`: a cycle cleared; the id is its number, the data a `MarketClock`. Event `stale`: a cycle is overdue
/// or the market recovered; the data is a `MarketClock`, and there is no id. Event `reset`: more was missed than is
/// sent again; read everything anew. A client that comes back with `Last-Event-ID` gets what it missed.
#[utoipa::path(
    get, path = "/events", tag = "market",
    params(EventsQuery, ("Last-Event-ID" = Option<u64>, Header, description = "Number of the last cycle received")),
    responses(
        (status = 200, description = "A stream of events", body = MarketClock, content_type = "text/event-stream"),
        (status = 503, description = "Too many streams are open", body = common::problem::Problem,
         content_type = "application/problem+json"),
    )
)]
pub(super) async fn events(
    State(state): State<AppState>,
    viewer: Viewer,
    headers: HeaderMap,
    Query(query): Query<EventsQuery>,
) -> Result<Response, AppError> {
    viewer.may(Action::ReadMarket, Object::Organisation)?;
    let permit = Arc::clone(state.streams()).try_acquire_owned().map_err(|error| {
        let most = state.config().max_streams;
        AppError::unavailable(format!(
            "{most} event streams are open, the most that server.max_streams allows"
        ))
        .with_context(error)
    })?;
    let last = last_event_id(&headers)?.or(query.after);
    let open = OpenStream::new(permit, state.auth().streams().open(&viewer.via));
    let follower = Follower::new(Arc::clone(state.market()), state.shutdown().clone(), open, last);
    let stream =
        Sse::new(follower.into_stream()).keep_alive(KeepAlive::new().interval(Duration::from_secs(15)));
    let unbuffered = [
        (HeaderName::from_static("x-accel-buffering"), HeaderValue::from_static("no")),
        (header::CACHE_CONTROL, HeaderValue::from_static("no-store")),
    ];
    Ok((unbuffered, stream).into_response())
}

fn last_event_id(headers: &HeaderMap) -> Result<Option<u64>, AppError> {
    let Some(value) = headers.get("last-event-id") else { return Ok(None) };
    match value.to_str().ok().and_then(|text| text.parse().ok()) {
        Some(number) => Ok(Some(number)),
        None => Err(AppError::invalid("Last-Event-ID", "is not the number of a cycle")),
    }
}

/// One stream.
struct Follower {
    market: Arc<MarketReader>,
    live: watch::Receiver<LiveState>,
    shutdown: CancellationToken,
    /// The last cycle that the client has.
    last: Option<u64>,
    /// Whether the client was told that the market is stale.
    told_stale: bool,
    ready: VecDeque<(&'static str, MarketClock)>,
    opened: bool,
    open: OpenStream,
}

/// Counts the stream while it is open, and knows when its session or token ends.
struct OpenStream {
    by: auth::OpenStream,
    _permit: OwnedSemaphorePermit,
}

impl OpenStream {
    fn new(permit: OwnedSemaphorePermit, by: auth::OpenStream) -> Self {
        metrics::gauge!(OPEN_STREAMS).increment(1.0);
        Self { by, _permit: permit }
    }
}

impl Drop for OpenStream {
    fn drop(&mut self) {
        metrics::gauge!(OPEN_STREAMS).decrement(1.0);
    }
}

impl Follower {
    fn new(
        market: Arc<MarketReader>,
        shutdown: CancellationToken,
        open: OpenStream,
        last: Option<u64>,
    ) -> Self {
        let live = market.subscribe();
        Self { market, live, shutdown, last, told_stale: false, ready: VecDeque::new(), opened: false, open }
    }

    fn into_stream(self) -> impl Stream<Item = Result<Event, Infallible>> {
        futures::stream::unfold(self, |mut follower| async move {
            let event = follower.next().await?;
            Some((Ok(event), follower))
        })
    }

    /// The next event; `None` at shutdown and when the session ends.
    async fn next(&mut self) -> Option<Event> {
        let first = !self.opened;
        while self.ready.is_empty() {
            if self.opened {
                tokio::select! {
                    () = self.shutdown.cancelled() => return None,
                    () = self.open.by.ended().cancelled() => return None,
                    changed = self.live.changed() => changed.ok()?,
                }
            }
            self.opened = true;
            self.live.mark_unchanged();
            self.look().await;
        }
        let (kind, clock) = self.ready.pop_front()?;
        let mut event = Event::default().event(kind);
        if kind != "stale" {
            self.last = Some(clock.cycle);
            event = event.id(clock.cycle.to_string());
        }
        if first {
            event = event.retry(RETRY);
        }
        metrics::counter!(EVENTS, "event" => kind).increment(1);
        // A clock is numbers and texts, which always have a JSON form.
        event.json_data(&clock).ok()
    }

    /// Compares what the client has with the cycle in force.
    async fn look(&mut self) {
        let clock = self.market.clock();
        let stale = clock.stale.is_some();
        let last = self.last.unwrap_or_else(|| clock.cycle.saturating_sub(1));
        match clock.cycle.checked_sub(last) {
            Some(0) => {}
            Some(1) => self.ready.push_back(("cycle", clock.clone())),
            Some(missed) if missed <= MAX_REPLAYED => self.replay(last, &clock).await,
            // More than that, or a number from the future: the database is another one than before.
            Some(_) | None => {
                metrics::counter!(RESUMED).increment(1);
                self.ready.push_back(("reset", clock.clone()));
            }
        }
        if stale != self.told_stale {
            self.told_stale = stale;
            self.ready.push_back(("stale", clock));
        }
    }

    async fn replay(&mut self, last: u64, clock: &MarketClock) {
        metrics::counter!(RESUMED).increment(1);
        match self.market.clocks_between(last, clock.cycle).await {
            Ok(missed) if missed.len() as u64 == clock.cycle - last - 1 => {
                self.ready.extend(missed.into_iter().map(|missed| ("cycle", missed)));
                self.ready.push_back(("cycle", clock.clone()));
            }
            Ok(_) => self.ready.push_back(("reset", clock.clone())),
            Err(error) => {
                tracing::warn!(cause = %error.private_context(), "missed cycles can't be read: {error}");
                self.ready.push_back(("reset", clock.clone()));
            }
        }
    }
}
