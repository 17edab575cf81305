//! The Bid book: aggregate demand for one chip type. Single bids stay sealed.

use std::sync::Arc;

use common::api::{BookView, MarketClock, PoolDemand, PoolName};
use common::chips::Chips;
use common::ids::ChipTypeId;
use market::Previewer;
use market::outcome::{ChipTypeOutcome, PoolOutcome};

use super::latest::Latest;
use super::{MarketReader, driven};
use crate::error::{AppError, ErrorKind};
use crate::services::live::Cleared;
use crate::store::entities::{Pool, Setup};

/// Most levels of a depth table.
const MAX_LEVELS: usize = 200;

/// Clears a snapshot again on a thread of its own, so that pages go on meanwhile: with the engine's own tables, from which
/// depth, explanations and previews are made.
pub(super) async fn cleared_again(cleared: Arc<Cleared>) -> Result<Previewer, AppError> {
    let clear = move || Previewer::new(&cleared.snapshot).map_err(AppError::internal);
    tokio::task::spawn_blocking(clear).await.map_err(AppError::internal)?
}

impl MarketReader {
    /// Demand for one chip type at each price in the cycle in force; without one, for the first.
    ///
    /// # Errors
    /// `NotFound`: there is no such chip type, or none at all. `Unavailable`: the database does not answer.
    pub async fn book(&self, chip_type: Option<ChipTypeId>) -> Result<BookView, AppError> {
        let latest = self.latest().await?;
        let first = || latest.rows(None).into_iter().next().map(|row| row.chip_type);
        let chip_type = chip_type.or_else(first).ok_or_else(no_chip_types)?;
        latest.check_chip_type(&chip_type)?;
        let clock = self.clock();
        let make = latest.book(clock.clone(), chip_type.clone());
        let book = self.books.get(&clock, self.now(), chip_type, make).await?;
        Ok(BookView { clock, ..BookView::clone(&book) })
    }
}

impl Latest {
    /// The book of one chip type.
    async fn book(self: Arc<Self>, clock: MarketClock, chip_type: ChipTypeId) -> Result<BookView, AppError> {
        let row = self.setup.chip_types.iter().find(|row| row.id == chip_type);
        let cleared = self
            .cleared
            .as_ref()
            .and_then(|cleared| cleared.outcome.chip_types.iter().find(|outcome| outcome.id == chip_type));
        let levels = match self.previewer().await? {
            Some(previewer) => {
                let (market, clearing) = previewer.cleared();
                clearing.depth(market, &chip_type, MAX_LEVELS)
            }
            None => Vec::new(),
        };
        Ok(BookView {
            clock,
            chip_types: self.rows(None),
            pools: self.pool_names(),
            supply: cleared.map_or(Chips(0), |outcome| outcome.supply),
            reference_price: cleared.and_then(|outcome| outcome.reference_price),
            reserve_price: row.map(|row| row.reserve_price).unwrap_or_default(),
            levels,
            by_pool: cleared.map_or_else(Vec::new, |outcome| pool_demands(outcome, &self.setup)),
            chip_type,
        })
    }

    /// The cycle in force, cleared again once; absent before the first cycle.
    pub(in crate::services) async fn previewer(self: &Arc<Self>) -> Result<Option<Arc<Previewer>>, AppError> {
        let Some(cleared) = self.cleared.clone() else { return Ok(None) };
        if let Some(previewer) = self.previewer.get() {
            return Ok(Some(Arc::clone(previewer)));
        }
        let latest = Arc::clone(self);
        let previewer = driven(async move {
            let make = || async { cleared_again(cleared).await.map(Arc::new) };
            latest.previewer.get_or_try_init(make).await.cloned()
        });
        previewer.await.map(Some)
    }
}

fn no_chip_types() -> AppError {
    AppError::new(
        ErrorKind::NotFound,
        "there are no chip types yet; `quota-marketplace demo` sets up a market",
    )
}

/// What each pool wants and got.
pub(super) fn pool_demands(outcome: &ChipTypeOutcome, setup: &Setup) -> Vec<PoolDemand> {
    outcome.pools.iter().map(|pool| pool_demand(pool, &setup.pools)).collect()
}

fn pool_demand(outcome: &PoolOutcome, pools: &[Pool]) -> PoolDemand {
    let name = pools.iter().find(|pool| pool.id == outcome.id).map_or(outcome.id.as_str(), |pool| &pool.name);
    PoolDemand {
        pool: PoolName { id: outcome.id.clone(), name: name.to_owned() },
        owned: outcome.owned,
        lent: outcome.lent,
        bought: outcome.bought,
        asked: outcome.asked,
        granted: outcome.granted,
        price: outcome.price,
        local_price: outcome.local_price,
    }
}
