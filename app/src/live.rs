//! The live market: one stream of server events for all pages.
//!
//! The server greets each new stream with the present clock and then sends one `cycle` event per cleared cycle, and
//! `stale` when none clears or the market has recovered. A newer cycle raises `version`, which the pages' resources
//! depend on: they read again and swap the result in. The browser resumes a dropped stream by itself with
//! `Last-Event-ID`; a stream that the server refused is opened anew after the last known cycle. After `reset`
//! everything is read again.
//!
//! A list in which each cycle moves the rows (`data-held`) holds still while a pointer is over it or the focus is in it:
//! the pages then read again as soon as both have left.

use common::api::MarketClock;
use leptos::prelude::*;

/// State of the stream of server events.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(not(feature = "hydrate"), expect(dead_code, reason = "only a browser opens the stream"))]
pub(crate) enum Connection {
    /// Not opened yet: also what the server renders.
    Connecting,
    /// Open.
    Live,
    /// Dropped; being opened again.
    Reconnecting,
}

/// What the pages know of the market's clock. A copyable handle to signals.
#[derive(Clone, Copy)]
pub(crate) struct Live {
    clock: RwSignal<Option<MarketClock>>,
    connection: RwSignal<Connection>,
    version: RwSignal<u64>,
    retries: RwSignal<u64>,
    now_seconds: RwSignal<Option<i64>>,
}

impl Live {
    /// A market of which nothing is known yet.
    pub(crate) fn new() -> Self {
        Self {
            clock: RwSignal::new(None),
            connection: RwSignal::new(Connection::Connecting),
            version: RwSignal::new(0),
            retries: RwSignal::new(0),
            now_seconds: RwSignal::new(None),
        }
    }

    /// The handle of the app.
    pub(crate) fn from_context() -> Self {
        expect_context()
    }

    /// The newest clock received, if any came by the stream.
    pub(crate) fn clock(self) -> Option<MarketClock> {
        self.clock.get()
    }

    /// State of the stream.
    pub(crate) fn connection(self) -> Connection {
        self.connection.get()
    }

    /// Rises whenever the data of a live page is out of date, and with each retry.
    pub(crate) fn version(self) -> u64 {
        self.version.get() + self.retries.get()
    }

    /// Rises with each retry: what a page that never changes depends on.
    pub(crate) fn retries(self) -> u64 {
        self.retries.get()
    }

    /// The viewer asks again after a problem.
    pub(crate) fn retry(self) {
        self.retries.update(|retries| *retries += 1);
    }

    /// The browser's time in seconds since 1970; unknown on the server and while hydrating.
    pub(crate) fn now_seconds(self) -> Option<i64> {
        self.now_seconds.get()
    }

    /// Takes the clock of the rendered page as known, so that the greeting of the stream does not read it again.
    pub(crate) fn start_from(self, rendered: &MarketClock) {
        self.clock.update(|known| {
            if known.as_ref().is_none_or(|known| known.cycle < rendered.cycle) {
                *known = Some(rendered.clone());
            }
        });
    }
}

#[cfg(feature = "hydrate")]
mod browser {
    use std::cell::{Cell, RefCell};
    use std::time::Duration;

    use common::api::MarketClock;
    use leptos::prelude::*;
    use leptos::wasm_bindgen::JsCast;
    use leptos::wasm_bindgen::closure::Closure;
    use leptos::web_sys::{Event, EventSource, MessageEvent};

    use super::{Connection, Live};

    const EVENTS_URL: &str = "/api/v1/events";
    /// Pause before a stream that the server refused is opened again.
    const RETRY: Duration = Duration::from_secs(3);

    /// Rows under a pointer or with the focus that would move.
    const HELD: &str = "[data-held]:hover, [data-held]:focus-within";

    thread_local! {
        /// The pages' data is out of date, and is read again once no rows are held.
        static IS_DUE: Cell<bool> = const { Cell::new(false) };
        /// The one open stream; replacing it frees the old one with its listeners.
        static STREAM: RefCell<Option<Stream>> = const { RefCell::new(None) };
    }

    struct Stream {
        source: EventSource,
        _listeners: [Closure<dyn FnMut(MessageEvent)>; 3],
        _states: [Closure<dyn FnMut(Event)>; 2],
    }

    impl Drop for Stream {
        fn drop(&mut self) {
            self.source.set_onopen(None);
            self.source.set_onerror(None);
            self.source.close();
        }
    }

    impl Live {
        /// Opens the stream and starts the clock that counts down to the next cycle.
        pub(crate) fn start(self) {
            let tick = move || {
                self.now_seconds.set(Some(seconds_since_1970()));
                self.catch_up();
            };
            tick();
            set_interval(tick, Duration::from_secs(1));
            self.open(EVENTS_URL);
        }

        /// Makes the live pages read again, at once or when no rows are held any more.
        fn read_again(self) {
            IS_DUE.set(true);
            self.catch_up();
        }

        fn catch_up(self) {
            let is_held = || document().query_selector(HELD).is_ok_and(|rows| rows.is_some());
            if IS_DUE.get() && !is_held() {
                IS_DUE.set(false);
                self.version.update(|version| *version += 1);
            }
        }

        /// Takes a clock sent by the stream; a cycle not seen before makes the pages read again.
        fn receive(self, clock: MarketClock) {
            let known = self.clock.with_untracked(|known| known.as_ref().map(|known| known.cycle));
            if known != Some(clock.cycle) {
                self.read_again();
            }
            self.clock.set(Some(clock));
        }

        /// Opens the stream again from where it was.
        fn reopen(self) {
            let known = self.clock.with_untracked(|known| known.as_ref().map(|known| known.cycle));
            match known {
                Some(cycle) => self.open(&format!("{EVENTS_URL}?after={cycle}")),
                None => self.open(EVENTS_URL),
            }
        }

        fn open(self, address: &str) {
            let Ok(source) = EventSource::new(address) else {
                self.connection.set(Connection::Reconnecting);
                return;
            };
            let on_cycle = Closure::new(move |event: MessageEvent| match clock_of(&event) {
                Some(clock) => self.receive(clock),
                // A newer server with another form of the event: what the page reads again is right in any case.
                None => self.read_again(),
            });
            let on_reset = Closure::new(move |event: MessageEvent| {
                if let Some(clock) = clock_of(&event) {
                    self.clock.set(Some(clock));
                }
                self.read_again();
            });
            let on_stale = Closure::new(move |event: MessageEvent| {
                if let Some(clock) = clock_of(&event) {
                    self.receive(clock);
                }
            });
            let on_open = Closure::new(move |_: Event| self.connection.set(Connection::Live));
            let on_error = Closure::new(move |event: Event| {
                self.connection.set(Connection::Reconnecting);
                let source = event.target().and_then(|target| target.dyn_into::<EventSource>().ok());
                if source.is_some_and(|source| source.ready_state() == EventSource::CLOSED) {
                    set_timeout(move || self.reopen(), RETRY);
                }
            });
            for (name, listener) in [("cycle", &on_cycle), ("reset", &on_reset), ("stale", &on_stale)] {
                // Registering a listener on a new source cannot fail.
                drop(source.add_event_listener_with_callback(name, listener.as_ref().unchecked_ref()));
            }
            source.set_onopen(Some(on_open.as_ref().unchecked_ref()));
            source.set_onerror(Some(on_error.as_ref().unchecked_ref()));
            let listeners = [on_cycle, on_reset, on_stale];
            let stream = Stream { source, _listeners: listeners, _states: [on_open, on_error] };
            STREAM.with_borrow_mut(|open| *open = Some(stream));
        }
    }

    fn clock_of(event: &MessageEvent) -> Option<MarketClock> {
        leptos::serde_json::from_str(&event.data().as_string()?).ok()
    }

    fn seconds_since_1970() -> i64 {
        js_sys::Date::now() as i64 / 1_000
    }
}
