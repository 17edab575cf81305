//! Placing a bid, and changing what it asks for.

use std::sync::Arc;

use common::api::{AmendBid, BidTerms, BidView, PlaceBid, TeamName};
use common::ids::{BidId, UserId};
use common::instant::Instant;

use super::super::Services;
use super::super::bids::{self, NewBid};
use super::super::checks::Checks;
use super::super::read::latest::Latest;
use super::limits::Estimate;
use super::terms;
use crate::error::{AppError, ErrorKind};
use crate::policy::{Action, Viewer};
use crate::store::Tx;

/// What a person asks for, checked against the cycle in force; the rest is checked in the transaction that writes it.
pub(in crate::services) struct Asked {
    estimate: Estimate,
    checks: Checks,
    terms: crate::store::bids::BidTerms,
}

impl Asked {
    /// Terms of a bid of a team, as they are asked for at an instant.
    pub(in crate::services) fn new(
        latest: &Arc<Latest>,
        team: &TeamName,
        id: BidId,
        now: Instant,
        terms: BidTerms,
    ) -> Self {
        let checks = terms::check(latest, &team.pool, now, &terms);
        let estimate = Estimate::new(Arc::clone(latest), team, id, now);
        Self { estimate, checks, terms: terms::stored(terms) }
    }

    /// Places them as a new bid.
    ///
    /// # Errors
    /// `Invalid`: a field is wrong. `Conflict`: the id is taken by another bid.
    pub(in crate::services) async fn place(self, tx: &mut Tx, by: &UserId) -> Result<(), AppError> {
        let Self { estimate, mut checks, terms } = self;
        estimate.check(tx, &mut checks, &terms).await?;
        let new = NewBid { id: estimate.bid, team: estimate.team, terms };
        bids::place_for(tx, estimate.now, by, new, checks).await
    }

    /// Puts them in the place of what the bid says.
    ///
    /// # Errors
    /// `NotFound`, `Conflict`: there is no such bid, or it is over. `PreconditionFailed`: it says something else than in
    /// the version `seen`. `Invalid`: a field is wrong.
    pub(in crate::services) async fn amend(self, tx: &mut Tx, seen: Option<u64>) -> Result<(), AppError> {
        let Self { estimate, mut checks, terms } = self;
        estimate.check(tx, &mut checks, &terms).await?;
        bids::amend_for(tx, estimate.now, &estimate.bid, seen, terms, checks).await
    }
}

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
        let (user, id) = (viewer.user.clone(), bid.id.clone());
        let asked = Asked::new(&latest, &team, bid.id, self.now(), bid.terms);
        self.writes.run(move |tx| Box::pin(async move { asked.place(tx, &user).await })).await?;
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
        let asked = Asked::new(&latest, &team, id.clone(), self.now(), terms);
        match self.writes.run(move |tx| Box::pin(async move { asked.amend(tx, seen).await })).await {
            Err(error) if error.kind() == ErrorKind::PreconditionFailed => {
                Err(error.with_newest(self.bid_now(&team, id).await?))
            }
            Err(error) => Err(error),
            Ok(()) => self.bid_now(&team, id).await,
        }
    }
}
