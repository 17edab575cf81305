//! The Market page: a row per chip type.

use common::api::MarketView;
use common::ids::PoolId;

use super::MarketReader;
use crate::error::AppError;

impl MarketReader {
    /// The market as of the cycle in force; with a pool, with its local prices.
    ///
    /// # Errors
    /// `NotFound`: there is no such pool. `Unavailable`: the database does not answer.
    pub async fn market(&self, pool: Option<PoolId>) -> Result<MarketView, AppError> {
        let latest = self.latest().await?;
        latest.check_pool(pool.as_ref())?;
        let organisation = &latest.setup.organisation;
        Ok(MarketView {
            organisation: organisation.name.clone(),
            data_note: organisation.data_note.clone(),
            clock: self.clock(),
            pools: latest.pool_names(),
            rows: latest.rows(pool.as_ref()),
            pool,
        })
    }
}
