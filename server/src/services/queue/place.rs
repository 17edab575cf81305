//! Placing a bid, and changing what it asks for.

use common::api::{AmendBid, BidTerms, BidView, PlaceBid};
use common::ids::BidId;

use super::super::Services;
use super::super::bids::{self, NewBid};
use super::super::checks::Checks;
use super::limits::Estimate;
use super::terms;
use crate::error::{AppError, ErrorKind};
use crate::policy::{Action, Viewer};

impl Services {
    /// Places a bid at the end of its team's queue, from the next cycle on. The same request again changes nothing and
    /// answers the same.
    ///
    /// # Errors
    /// `NotFound`, `Forbidden`: not for the viewer. `Invalid`: a field is wrong. `Conflict`: the id is taken by another
    /// bid. `Unavailable`: the database does not take the write.
    pub async fn place_bid(&self, viewer: &Viewer, bid: PlaceBid) -> Result<BidView, AppError> {
        let latest = self.latest().await?;
        let team = Self::team_for(&latest, viewer, Action::ChangeBids, &bid.team)?;
        let now = self.now();
        let mut checks = terms::check(&latest, &team.pool, now, &bid.terms);
        let (user, id) = (viewer.user.clone(), bid.id.clone());
        let estimate = Estimate::new(latest, &team, id.clone(), now);
        let new = NewBid { id: bid.id, team: bid.team, terms: terms::stored(bid.terms) };
        self.writes
            .run(move |tx| {
                Box::pin(async move {
                    estimate.check(tx, &mut checks, &new.terms).await?;
                    bids::place_for(tx, now, &user, new, checks).await
                })
            })
            .await?;
        self.bid_now(&team, &id).await
    }

    /// Changes what a bid asks for, from the next cycle on. A bid that asks for that already is left as it is. Without a
    /// version the change is made whatever the bid says now.
    ///
    /// # Errors
    /// `NotFound`, `Forbidden`: not for the viewer. `Conflict`: it is over. `PreconditionFailed`: it was changed since
    /// that version; the fault carries what it is now. `Invalid`: a field is wrong. `Unavailable`: the database does not
    /// take the write.
    pub async fn amend_bid(
        &self,
        viewer: &Viewer,
        id: &BidId,
        change: AmendBid,
    ) -> Result<BidView, AppError> {
        self.amend(viewer, id, Some(change.version), change.terms).await
    }

    pub(crate) async fn amend(
        &self,
        viewer: &Viewer,
        id: &BidId,
        seen: Option<u64>,
        terms: BidTerms,
    ) -> Result<BidView, AppError> {
        let latest = self.latest().await?;
        let mut tx = self.store.read().await?;
        let (_, team) = self.bid_for(&mut tx, &latest, viewer, Action::ChangeBids, id).await?;
        drop(tx);
        let now = self.now();
        let checks = terms::check(&latest, &team.pool, now, &terms);
        let estimate = Estimate::new(latest, &team, id.clone(), now);
        match self.write_terms(estimate, seen, terms, checks).await {
            Err(error) if error.kind() == ErrorKind::PreconditionFailed => {
                Err(error.with_newest(self.bid_now(&team, id).await?))
            }
            Err(error) => Err(error),
            Ok(()) => self.bid_now(&team, id).await,
        }
    }

    async fn write_terms(
        &self,
        estimate: Estimate,
        seen: Option<u64>,
        terms: BidTerms,
        mut checks: Checks,
    ) -> Result<(), AppError> {
        let terms = terms::stored(terms);
        self.writes
            .run(move |tx| {
                Box::pin(async move {
                    estimate.check(tx, &mut checks, &terms).await?;
                    bids::amend_for(tx, estimate.now, &estimate.bid, seen, terms, checks).await
                })
            })
            .await
    }
}
