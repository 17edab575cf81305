//! What the pages ask of the server. The server implements it with its services and puts an
//! `Arc<dyn Backend>` into the Leptos context of every request.

use async_trait::async_trait;
use common::api::{
    AllocationsQuery, AllocationsView, BookView, CycleSummary, CycleView, MarketView, Page, PriceHistory,
    ShellView, Span,
};
use common::ids::{ChipTypeId, PoolId, TeamId};
use common::problem::Problem;

/// The services behind the pages; the REST API answers with the same values.
#[async_trait]
pub trait Backend: Send + Sync {
    /// What every page shows around its content. Cheap: asked with every page.
    async fn shell(&self) -> Result<ShellView, Problem>;

    /// The market now; `pool` chooses whose local prices the rows show.
    async fn market(&self, pool: Option<PoolId>) -> Result<MarketView, Problem>;

    /// The price of one chip type over time.
    async fn price_history(
        &self,
        chip_type: ChipTypeId,
        pool: Option<PoolId>,
        span: Span,
    ) -> Result<PriceHistory, Problem>;

    /// Aggregate demand for one chip type; without one, for the first.
    async fn book(&self, chip_type: Option<ChipTypeId>) -> Result<BookView, Problem>;

    /// Chips over time.
    async fn allocations(&self, query: AllocationsQuery) -> Result<AllocationsView, Problem>;

    /// Cycles, newest first.
    async fn cycles(&self, cursor: Option<String>, limit: u32) -> Result<Page<CycleSummary>, Problem>;

    /// One cycle, computed again from its inputs; with `team`, only that team's bids (the rest stays whole).
    async fn cycle(&self, cycle: u64, team: Option<TeamId>) -> Result<CycleView, Problem>;
}
