//! What the clearing loop tells the rest of the process: the cycle in force, and trouble.
//!
//! One writer (the loop), many readers (pages, API, server events, readiness). A reader that was away sees the
//! newest state at once; what it missed it reads from the store.

use std::sync::Arc;

use common::api::{MarketClock, Stale};
use market::{Outcome, Snapshot};
use tokio::sync::watch;

/// A cleared cycle with what it was computed from.
#[derive(Clone, Debug)]
pub struct Cleared {
    /// The inputs.
    pub snapshot: Snapshot,
    /// What was decided.
    pub outcome: Outcome,
}

/// The state of the market in this process.
#[derive(Clone, Debug)]
pub struct LiveState {
    /// The last and the next cycle; `stale` is set while the loop is in trouble.
    pub clock: MarketClock,
    /// The cycle in force; absent before the first.
    pub cleared: Option<Arc<Cleared>>,
}

/// The loop's end of the line.
#[derive(Debug)]
pub struct Live {
    state: watch::Sender<LiveState>,
}

impl Live {
    /// Begins with what the store knows: the last cleared cycle, or a clock at cycle 0.
    #[must_use]
    pub fn new(clock: MarketClock, cleared: Option<Cleared>) -> Self {
        Self { state: watch::Sender::new(LiveState { clock, cleared: cleared.map(Arc::new) }) }
    }

    /// A cycle cleared and is stored. `clock.stale` is absent.
    pub fn cleared(&self, clock: MarketClock, cleared: Cleared) {
        self.state.send_replace(LiveState { clock, cleared: Some(Arc::new(cleared)) });
    }

    /// A cycle is due and could not be cleared; the quotas in force stay.
    pub fn in_trouble(&self, stale: Stale) {
        self.state.send_if_modified(|state| {
            let changed = state.clock.stale.as_ref() != Some(&stale);
            state.clock.stale = Some(stale);
            changed
        });
    }

    /// A reader's end.
    #[must_use]
    pub fn subscribe(&self) -> watch::Receiver<LiveState> {
        self.state.subscribe()
    }
}
