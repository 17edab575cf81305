//! What the pages ask of the server. The server implements it with its services, for the viewer of a request, and puts
//! an `Arc<dyn Backend>` into the extensions of every request of a page.

use async_trait::async_trait;
use common::api::{
    AllocationsQuery, AllocationsView, AmendBid, BidDetail, BidPreview, BidView, BidsQuery, BidsView,
    BookView, ChangeBids, CycleSummary, CycleView, MarketView, MoveBids, Page, PlaceBid, PreviewBid,
    PriceHistory, ShellView, Span,
};
use common::ids::{BidId, ChipTypeId, PoolId, TeamId};
use common::money::Price;
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

    /// A team's bids.
    async fn bids(&self, query: BidsQuery) -> Result<BidsView, Problem>;

    /// Names and limits of a team's live bids for a chip type that have a limit, in local credits per chip-hour.
    async fn limits(&self, team: TeamId, chip_type: ChipTypeId) -> Result<Vec<(String, Price)>, Problem>;

    /// One bid, with its history from `cursor` on.
    async fn bid(&self, bid: BidId, cursor: Option<String>) -> Result<BidDetail, Problem>;

    /// What a bid would do, before it is sent. Changes nothing.
    async fn preview_bid(&self, bid: PreviewBid) -> Result<BidPreview, Problem>;

    /// A new id for a bid, which its form keeps until it is answered: sent twice, it places once.
    fn new_id(&self) -> String;

    /// Places a bid; the same request again changes nothing and answers the same.
    async fn place_bid(&self, bid: PlaceBid) -> Result<BidView, Problem>;

    /// Changes what a bid asks for.
    async fn amend_bid(&self, bid: BidId, change: AmendBid) -> Result<BidView, Problem>;

    /// Puts bids elsewhere in their team's queue.
    async fn move_bids(&self, change: MoveBids) -> Result<(), Problem>;

    /// Pauses, resumes or ends bids, all or none.
    async fn change_bids(&self, change: ChangeBids) -> Result<(), Problem>;
}
