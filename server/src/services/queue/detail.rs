//! One bid, opened: what it takes to win, where it stands, and what it got so far.

use common::api::{BidDetail, BidRank, BidStatus, BidStretch, BidView, PriceToWinView, Reason, TeamName};
use common::ids::BidId;
use common::instant::Instant;

use super::super::Services;
use super::super::audit::{Deed, Origin};
use super::super::changes::next_cycle;
use super::super::paging;
use super::super::read::latest::Latest;
use super::view::{Views, price_to_win};
use crate::error::AppError;
use crate::policy::{Action, Object, Viewer};
use crate::store::Tx;
use crate::store::queue::{self, ListedBid, Stretch};

/// Stretches in one page of a bid's history.
const PAGE: u32 = 50;

impl Services {
    /// One bid with its history from `cursor` on. A look at another team's is noted in the audit log.
    ///
    /// # Errors
    /// `NotFound`: there is no such bid, or the viewer may not know of it. `Invalid`: the cursor is none of this bid.
    /// `Unavailable`: the database does not answer.
    pub async fn bid(
        &self,
        viewer: &Viewer,
        origin: &Origin,
        id: &BidId,
        cursor: Option<&str>,
    ) -> Result<BidDetail, AppError> {
        let before = paging::read_before(cursor)?;
        let latest = self.latest().await?;
        let mut tx = self.store.read().await?;
        let (bid, team) = self.bid_for(&mut tx, &latest, viewer, Action::ReadBids, id).await?;
        self.note_team_look(viewer, origin, &team.id, || Deed::new("bid.read", "bid", id)).await?;
        let mut stretches =
            queue::stretches(&mut tx, bid.version.number, &team.pool, before, PAGE + 1).await?;
        let more = stretches.len() > PAGE as usize;
        stretches.truncate(PAGE as usize);
        let next_cursor =
            stretches.last().filter(|_| more).map(|last| format!("before-{}", last.result.cycle));
        let over_at = bid.over_at;
        let view = self.view_in(&mut tx, &latest, &team, bid).await?;
        drop(tx);
        // A page of older stretches ends where the page before it began.
        let ends_at = if cursor.is_some() { self.start_of(before).await? } else { over_at };
        Ok(BidDetail {
            clock: self.market().clock(),
            may_bid: viewer.can(Action::ChangeBids, Object::Team { team: &team.id, pool: &team.pool }),
            price_to_win: self.price_to_win(&latest, &team, &view).await?,
            rank: rank(&latest, id).await?.filter(|_| view.now.is_some()),
            history: history(stretches, ends_at),
            bid: view,
            team,
            next_cursor,
        })
    }

    /// A bid and its team, loaded for a viewer who may do `action` to it.
    pub(super) async fn bid_for(
        &self,
        tx: &mut Tx,
        latest: &Latest,
        viewer: &Viewer,
        action: Action,
        id: &BidId,
    ) -> Result<(ListedBid, TeamName), AppError> {
        let hidden = || AppError::not_found("bid", id);
        let bid = queue::bid(tx, id).await?.ok_or_else(hidden)?;
        // Whoever may not read the team's bids must not learn from the answer that there is one.
        let team =
            Self::team_for(latest, viewer, Action::ReadBids, &bid.version.team).map_err(|_| hidden())?;
        viewer.may(action, Object::Team { team: &team.id, pool: &team.pool })?;
        Ok((bid, team))
    }

    /// A stored bid as it is shown.
    pub(super) async fn view_in(
        &self,
        tx: &mut Tx,
        latest: &std::sync::Arc<Latest>,
        team: &TeamName,
        bid: ListedBid,
    ) -> Result<BidView, AppError> {
        let previewer = latest.previewer().await?;
        let now_queue = previewer.as_ref().and_then(|previewer| previewer.queue(&team.id));
        let place = queue::count_up_to(tx, &team.id, &bid.place()).await?;
        let views = Views::new(latest, now_queue.as_ref(), next_cycle(tx).await?, self.now());
        Ok(views.view(bid, Some(place)))
    }

    /// A bid after a change, as its viewer sees it.
    pub(super) async fn bid_now(&self, team: &TeamName, id: &BidId) -> Result<BidView, AppError> {
        let latest = self.latest().await?;
        let mut tx = self.store.read().await?;
        let bid = queue::bid(&mut tx, id).await?.ok_or_else(|| AppError::not_found("bid", id))?;
        self.view_in(&mut tx, &latest, team, bid).await
    }

    async fn start_of(&self, cycle: u64) -> Result<Option<Instant>, AppError> {
        let mut tx = self.store.read().await?;
        Ok(crate::store::results::cycle(&mut tx, cycle).await?.map(|cycle| cycle.starts_at))
    }

    /// What fills a live bid in the cycle in force; absent where it has no result there.
    async fn price_to_win(
        &self,
        latest: &std::sync::Arc<Latest>,
        team: &TeamName,
        bid: &BidView,
    ) -> Result<Option<PriceToWinView>, AppError> {
        let Some(now) = bid.now.as_ref().filter(|_| bid.status == BidStatus::Live) else { return Ok(None) };
        if now.reason == Reason::Filled {
            return Ok(Some(PriceToWinView::Filled));
        }
        let Some(previewer) = latest.previewer().await? else { return Ok(None) };
        let (team, id) = (team.id.clone(), bid.id.clone());
        let found = self
            .compute(move || Ok(previewer.edit(&team, &[]).map_err(AppError::internal)?.price_to_win(&id)))
            .await?;
        Ok(found.map(price_to_win))
    }
}

async fn rank(latest: &std::sync::Arc<Latest>, id: &BidId) -> Result<Option<BidRank>, AppError> {
    let previewer = latest.previewer().await?;
    let standing = previewer.and_then(|previewer| previewer.standing(id));
    Ok(standing.map(|(higher, of)| BidRank { rank: higher + 1, of }))
}

/// Stretches, newest first; the newest ends at `ends_at`, or goes on.
fn history(stretches: Vec<Stretch>, mut ends_at: Option<Instant>) -> Vec<BidStretch> {
    let mut history = Vec::with_capacity(stretches.len());
    for Stretch { starts_at, result, local_price } in stretches {
        let free = result.opportunistic;
        history.push(BidStretch {
            first_cycle: result.cycle,
            starts_at,
            ends_at,
            chip_type: result.chip_type.or_else(|| free.as_ref().map(|(chip_type, _)| chip_type.clone())),
            chips: result.chips,
            opportunistic_chips: free.map(|(_, chips)| chips).unwrap_or_default(),
            local_price,
            reason: result.reason,
        });
        ends_at = Some(starts_at);
    }
    history
}
