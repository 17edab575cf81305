//! The services behind the pages, for the viewer of one request.

use std::sync::Arc;

use app::backend::Backend;
use async_trait::async_trait;
use axum::extract::{Request, State};
use axum::middleware::Next;
use axum::response::Response;
use common::api::{
    AllocationsQuery, AllocationsView, AmendBid, BidDetail, BidPreview, BidView, BidsQuery, BidsView,
    BookView, ChangeBids, CycleSummary, CycleView, MarketView, MoveBids, Page, PlaceBid, PreviewBid,
    PriceHistory, ShellView, Span,
};
use common::ids::{BidId, ChipTypeId, PoolId, TeamId};
use common::money::Price;
use common::problem::Problem;

use super::AppState;
use crate::error::AppError;
use crate::policy::Viewer;
use crate::services::Services;
use crate::services::audit::Origin;
use crate::services::read::MarketReader;

/// Hands the pages their services: a layer of the routes of the pages.
pub(super) async fn for_pages(State(state): State<AppState>, mut request: Request, next: Next) -> Response {
    let viewer = request.extensions().get::<Viewer>().cloned();
    let origin = request.extensions().get::<Origin>().cloned().unwrap_or_default();
    let backend: Arc<dyn Backend> =
        Arc::new(PageBackend { services: Arc::clone(state.services()), viewer, origin });
    request.extensions_mut().insert(backend);
    next.run(request).await
}

/// What one viewer gets from the services: the same values as by the REST API; a fault reaches the page as a problem
/// document.
struct PageBackend {
    services: Arc<Services>,
    viewer: Option<Viewer>,
    origin: Origin,
}

impl PageBackend {
    fn market(&self) -> &MarketReader {
        self.services.market()
    }

    fn viewer(&self) -> Result<&Viewer, Problem> {
        self.viewer.as_ref().ok_or_else(|| logged(AppError::unauthenticated()))
    }
}

#[async_trait]
impl Backend for PageBackend {
    async fn shell(&self) -> Result<ShellView, Problem> {
        self.market().shell(self.viewer.as_ref()).await.map_err(logged)
    }

    async fn market(&self, pool: Option<PoolId>) -> Result<MarketView, Problem> {
        self.market().market(pool).await.map_err(logged)
    }

    async fn price_history(
        &self,
        chip_type: ChipTypeId,
        pool: Option<PoolId>,
        span: Span,
    ) -> Result<PriceHistory, Problem> {
        self.market().price_history(chip_type, pool, span).await.map_err(logged)
    }

    async fn book(&self, chip_type: Option<ChipTypeId>) -> Result<BookView, Problem> {
        self.market().book(chip_type).await.map_err(logged)
    }

    async fn allocations(&self, query: AllocationsQuery) -> Result<AllocationsView, Problem> {
        self.market().allocations(query).await.map_err(logged)
    }

    async fn cycles(&self, cursor: Option<String>, limit: u32) -> Result<Page<CycleSummary>, Problem> {
        self.market().cycles(cursor.as_deref(), limit).await.map_err(logged)
    }

    async fn cycle(&self, cycle: u64, team: Option<TeamId>) -> Result<CycleView, Problem> {
        self.services.cycle(self.viewer.as_ref(), &self.origin, cycle, team).await.map_err(logged)
    }

    async fn bids(&self, query: BidsQuery) -> Result<BidsView, Problem> {
        self.services.bids(self.viewer()?, &self.origin, query).await.map_err(logged)
    }

    async fn limits(&self, team: TeamId, chip_type: ChipTypeId) -> Result<Vec<(String, Price)>, Problem> {
        self.services.limits(self.viewer()?, &team, &chip_type).await.map_err(logged)
    }

    async fn bid(&self, bid: BidId, cursor: Option<String>) -> Result<BidDetail, Problem> {
        self.services.bid(self.viewer()?, &self.origin, &bid, cursor.as_deref()).await.map_err(logged)
    }

    async fn preview_bid(&self, bid: PreviewBid) -> Result<BidPreview, Problem> {
        self.services.preview_bid(self.viewer()?, bid).await.map_err(logged)
    }

    fn new_id(&self) -> String {
        self.services.ids.new_id(self.services.now())
    }

    async fn place_bid(&self, bid: PlaceBid) -> Result<BidView, Problem> {
        self.services.place_bid(self.viewer()?, bid).await.map_err(logged)
    }

    async fn amend_bid(&self, bid: BidId, change: AmendBid) -> Result<BidView, Problem> {
        self.services.amend_bid(self.viewer()?, &bid, change).await.map_err(logged)
    }

    async fn move_bids(&self, change: MoveBids) -> Result<(), Problem> {
        self.services.move_bids(self.viewer()?, change).await.map(drop).map_err(logged)
    }

    async fn change_bids(&self, change: ChangeBids) -> Result<(), Problem> {
        self.services.change_bids(self.viewer()?, change).await.map(drop).map_err(logged)
    }
}

/// A page shows the public part; the private cause goes to the log here.
#[expect(clippy::needless_pass_by_value, reason = "ends the life of the fault")]
fn logged(error: AppError) -> Problem {
    let problem = Problem::from(&error);
    if problem.status >= 500 {
        tracing::error!(kind = problem.kind, cause = %error.private_context(), "{error}");
    }
    problem
}
