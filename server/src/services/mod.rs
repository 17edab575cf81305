//! What the product does, one file per noun. The REST API, the pages and the commands call these.

pub mod accounts;
pub mod allowances;
pub mod audit;
mod bid_checks;
pub mod bids;
pub mod budget;
pub mod changes;
pub(crate) mod checks;
pub mod credit_value;
pub mod directory;
pub mod entries;
pub mod exports;
pub mod finance;
pub mod jobs;
pub mod lab;
pub mod ledger;
pub mod live;
pub mod organisation;
pub mod paging;
pub mod people;
pub mod periods;
mod placing;
pub mod planner;
mod queue;
pub mod read;
pub mod reconcile;
pub mod retirement;
pub mod shadow;
pub(crate) mod single_sign_on;
pub mod supply;
pub(crate) mod usable;
pub mod version;
pub mod watch;
pub mod what_if;
mod writes;

use std::sync::Arc;

use common::instant::Instant;

use tokio::sync::{Notify, Semaphore};

use self::read::MarketReader;
use self::writes::Writes;
use crate::clock::{Clock, IdSource};
use crate::store::Store;

/// Previews computed at once: each keeps a core busy, and pages and the clearing need some as well.
const PREVIEWS_AT_ONCE: usize = 2;

/// What the product does, for those who ask: handlers and pages call its methods, with the viewer first.
///
/// The methods stand in the files of their nouns; this is what they work with.
pub struct Services {
    pub(crate) store: Store,
    pub(crate) clock: Arc<dyn Clock>,
    pub(crate) ids: IdSource,
    market: Arc<MarketReader>,
    writes: Writes,
    /// How many previews are computed at once.
    previews: Arc<Semaphore>,
    /// Looks at sealed bids that are in the audit log.
    looks: queue::Looks,
    /// A run of the lab was started or cancelled.
    pub(crate) lab_wanted: Notify,
}

impl Services {
    /// Services on a store and the market that is read from it. Made within a Tokio runtime, which runs their writes.
    #[must_use]
    pub fn new(store: Store, clock: Arc<dyn Clock>, ids: IdSource, market: Arc<MarketReader>) -> Self {
        let writes = Writes::new(store.clone());
        let previews = Arc::new(Semaphore::new(PREVIEWS_AT_ONCE));
        let looks = queue::Looks::default();
        Self { store, clock, ids, market, writes, previews, looks, lab_wanted: Notify::new() }
    }

    /// The market as it is read by everybody who is signed in.
    #[must_use]
    pub fn market(&self) -> &Arc<MarketReader> {
        &self.market
    }

    /// The present instant on the market's clock.
    #[must_use]
    pub fn now(&self) -> Instant {
        self.clock.now()
    }
}
