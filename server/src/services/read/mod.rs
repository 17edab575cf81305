//! What is read: by the pages, the REST API and the server events alike.
//!
//! [`MarketReader`] is the one way to the figures of the market. What is dear to make (names, prices an hour ago,
//! the day's line) is made once per cycle and kept until the next one; history comes from the store each time.

mod allocations;
mod book;
mod cycles;
mod kept;
pub(in crate::services) mod latest;
mod market;
mod prices;
mod shares;

use std::sync::Arc;

use common::api::{
    AllocationsQuery, AllocationsView, BookView, MarketClock, PoolName, PriceHistory, ShellView, Span, Stale,
    ViewerTeam, ViewerView,
};
use common::ids::{ChipTypeId, PoolId, TeamId};
use common::instant::Instant;
use common::names::Names;
use tokio::sync::{Mutex, watch};

use self::cycles::CycleCache;
use self::kept::Kept;
pub(in crate::services) use self::latest::Latest;
pub use self::shares::SHARE_DAYS;
use super::live::LiveState;
use crate::clock::Clock;
use crate::error::AppError;
use crate::policy::{Membership, Viewer};
use crate::store::{Store, cuts, results};

/// Seconds past its time after which a cycle counts as overdue, at least.
const GRACE_SECONDS: i64 = 5;

/// Reads the market.
pub struct MarketReader {
    store: Store,
    clock: Arc<dyn Clock>,
    live: watch::Receiver<LiveState>,
    latest: Arc<Mutex<Option<Arc<Latest>>>>,
    opened: Arc<CycleCache>,
    books: Kept<ChipTypeId, BookView>,
    allocations: Kept<AllocationsQuery, AllocationsView>,
    histories: Kept<(ChipTypeId, Option<PoolId>, Span), PriceHistory>,
}

impl MarketReader {
    /// Reads from `store` and follows what the clearing loop publishes.
    #[must_use]
    pub fn new(store: Store, clock: Arc<dyn Clock>, live: watch::Receiver<LiveState>) -> Self {
        Self {
            store,
            clock,
            live,
            latest: Arc::default(),
            opened: Arc::default(),
            books: Kept::default(),
            allocations: Kept::default(),
            histories: Kept::default(),
        }
    }

    /// Makes what is dear of each new cycle as soon as it is in force, so that nobody's page waits for it. Ends when the
    /// clearing does.
    pub async fn keep_ready(&self) {
        let mut live = self.live.clone();
        loop {
            live.mark_unchanged();
            let ready = async { self.latest().await?.previewer().await.map(drop) };
            if let Err(error) = ready.await {
                // Whoever asks is told.
                tracing::debug!(cause = %error.private_context(), "a cycle is not ready to be shown: {error}");
            }
            if live.changed().await.is_err() {
                return;
            }
        }
    }

    /// The present instant on the market's clock.
    #[must_use]
    pub fn now(&self) -> Instant {
        self.clock.now()
    }

    /// What the loop publishes from now on.
    #[must_use]
    pub fn subscribe(&self) -> watch::Receiver<LiveState> {
        self.live.clone()
    }

    /// The last and the next cycle, and whether the quotas in force are fresh.
    #[must_use]
    pub fn clock(&self) -> MarketClock {
        let mut clock = self.live.borrow().clock.clone();
        let grace = i64::from(clock.cycle_seconds).max(GRACE_SECONDS);
        if clock.stale.is_none() && self.now() > clock.next_at.plus_seconds(grace) {
            clock.stale = Some(Stale {
                since: clock.next_at,
                reason: "a cycle is due and has not cleared yet; the last quotas and prices stay in force"
                    .to_owned(),
            });
        }
        clock
    }

    /// Whether the database answers.
    ///
    /// # Errors
    /// `Unavailable`: it does not.
    pub async fn ping(&self) -> Result<(), AppError> {
        let mut tx = self.store.read().await?;
        results::last_cycle(&mut tx).await?;
        Ok(())
    }

    /// Since when use is not charged for: the start of the first cycle after the last accounting step.
    ///
    /// # Errors
    /// `Unavailable`: the database does not answer.
    pub async fn unsettled_since(&self) -> Result<Option<Instant>, AppError> {
        let mut tx = self.store.read().await?;
        results::unsettled_since(&mut tx).await
    }

    /// Chips of jobs that cuts of supply stopped within the last hour.
    ///
    /// # Errors
    /// `Unavailable`: the database does not answer.
    pub async fn reclaimed_last_hour(&self) -> Result<u64, AppError> {
        let since = self.now().plus_seconds(-3_600);
        cuts::reclaimed_since(&mut self.store.read().await?, since).await
    }

    /// The clocks of the cycles between two, both excluded, oldest first.
    ///
    /// # Errors
    /// `Unavailable`: the database does not answer.
    pub async fn clocks_between(&self, after: u64, before: u64) -> Result<Vec<MarketClock>, AppError> {
        let count = u32::try_from(before.saturating_sub(after)).unwrap_or(u32::MAX);
        let mut tx = self.store.read().await?;
        let cycles = results::cycles_from(&mut tx, after + 1, count).await?;
        let mut clocks = Vec::new();
        for pair in cycles.windows(2).filter(|pair| pair[0].number < before) {
            let seconds = (pair[1].starts_at.0 - pair[0].starts_at.0) / common::instant::MICROS_PER_SECOND;
            clocks.push(MarketClock {
                cycle: pair[0].number,
                cleared_at: pair[0].starts_at,
                next_at: pair[1].starts_at,
                cycle_seconds: u32::try_from(seconds).unwrap_or(u32::MAX),
                stale: None,
            });
        }
        Ok(clocks)
    }

    /// What every page shows around its content.
    ///
    /// # Errors
    /// `Unavailable`: the database does not answer.
    pub async fn shell(&self, viewer: Option<&Viewer>) -> Result<ShellView, AppError> {
        let latest = self.latest().await?;
        let organisation = &latest.setup.organisation;
        Ok(ShellView {
            organisation: organisation.name.clone(),
            data_note: organisation.data_note.clone(),
            clock: self.clock(),
            pools: latest.pool_names(),
            viewer: viewer.map(|viewer| latest.viewer(viewer)),
        })
    }

    /// What pages call pools, teams and chip types; nothing has a name where they can't be read.
    pub async fn names(&self) -> Arc<Names> {
        self.latest().await.map_or_else(|_| Arc::default(), |latest| Arc::clone(&latest.names))
    }

    /// A viewer with the names of the teams; before there is an organisation, with their ids.
    pub async fn viewer(&self, viewer: &Viewer) -> ViewerView {
        match self.latest().await {
            Ok(latest) => latest.viewer(viewer),
            Err(_) => viewer_view(viewer, ToString::to_string),
        }
    }

    /// The instants between which a span up to now lies.
    fn stretch(&self, span: Span) -> (Instant, Instant) {
        let to = self.now().max(self.clock().cleared_at.plus_seconds(1));
        (to.plus_seconds(-span.seconds()), to)
    }

    /// Everything about the cycle in force, made once per cycle.
    pub(in crate::services) async fn latest(&self) -> Result<Arc<Latest>, AppError> {
        let state = self.live.borrow().clone();
        // Nearly always it is there; a task of its own would only let other work come between.
        if let Ok(kept) = self.latest.try_lock()
            && let Some(latest) = kept.as_ref().filter(|latest| latest.is_of(&state))
        {
            return Ok(Arc::clone(latest));
        }
        let (kept, store) = (Arc::clone(&self.latest), self.store.clone());
        driven(async move {
            let mut kept = kept.lock().await;
            if let Some(latest) = kept.as_ref().filter(|latest| latest.is_of(&state)) {
                return Ok(Arc::clone(latest));
            }
            let mut tx = store.read().await?;
            let latest = Arc::new(Latest::load(&mut tx, &state).await?);
            *kept = Some(Arc::clone(&latest));
            Ok(latest)
        })
        .await
    }
}

/// Runs work that holds a lock on a task of its own: a request that is given up, or a page that is not polled while it
/// waits for something else, must not keep the lock from the others.
async fn driven<T: Send + 'static>(
    work: impl Future<Output = Result<T, AppError>> + Send + 'static,
) -> Result<T, AppError> {
    tokio::spawn(work).await.map_err(AppError::internal)?
}

impl Latest {
    fn pool_names(&self) -> Vec<PoolName> {
        self.setup
            .pools
            .iter()
            .map(|pool| PoolName { id: pool.id.clone(), name: pool.name.clone() })
            .collect()
    }

    fn viewer(&self, viewer: &Viewer) -> ViewerView {
        viewer_view(viewer, |team| self.team_name(team))
    }

    /// A team's display name; its id where it is not in the market yet.
    pub(in crate::services) fn team_name(&self, id: &TeamId) -> String {
        self.team(id).map_or_else(|| id.to_string(), |team| team.name.clone())
    }
}

/// A viewer as it is shown; `name` is what a team is called.
fn viewer_view(viewer: &Viewer, name: impl Fn(&TeamId) -> String) -> ViewerView {
    let team = |(id, membership): (&TeamId, &Membership)| ViewerTeam {
        id: id.clone(),
        name: name(id),
        pool: membership.pool.clone(),
        leads: membership.leads,
    };
    ViewerView {
        user: viewer.user.clone(),
        name: viewer.name.clone(),
        roles: viewer.roles.iter().copied().collect(),
        teams: viewer.teams.iter().map(team).collect(),
        pools: viewer.pools.iter().cloned().collect(),
    }
}
