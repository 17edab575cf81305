//! Placing a bid, and changing what it asks for.

use std::sync::Arc;

use common::api::{AmendBid, BidTerms, BidView, PlaceBid, TeamName};
use common::ids::{BidId, UserId};
use common::instant::Instant;
use common::money::MicroCredits;

use super::super::Services;
use super::super::bids::{self, NewBid, TERMS};
use super::super::checks::Checks;
use super::super::placing::Placing;
use super::super::read::latest::Latest;
use super::limits::Estimate;
use super::terms;
use super::view::Views;
use crate::error::{AppError, ErrorKind};
use crate::policy::{Action, Viewer};
use crate::store::Tx;
use crate::store::bids::BidVersion;
use crate::store::queue::ListedBid;

/// What a person asks for, checked against the cycle in force; the rest is checked in the transaction that writes it.
pub(in crate::services) struct Asked {
    estimate: Estimate,
    checks: Checks,
    terms: crate::store::bids::BidTerms,
}

/// A bid that was placed.
pub(in crate::services) struct Placed {
    version: BidVersion,
    /// Its place in the queue, from 1.
    place: u64,
    next_cycle: u64,
}

impl Placed {
    /// As its queue lists it.
    fn listed(self, at: Instant, by: String) -> ListedBid {
        ListedBid {
            version: self.version,
            effective_cycle: None,
            written_at: at,
            placed_at: at,
            placed_by: Some(by),
            cost: MicroCredits::ZERO,
            result: None,
            over_at: None,
        }
    }
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

    /// Places them as a new bid; none where the same request placed it before.
    ///
    /// # Errors
    /// `Invalid`: a field is wrong. `Conflict`: the id is taken by another bid.
    pub(in crate::services) async fn place(
        self,
        tx: &mut Tx,
        by: &UserId,
    ) -> Result<Option<Placed>, AppError> {
        let mut results = place_together(tx, vec![(self, by.clone())]).await?;
        results.pop().unwrap_or(Ok(None))
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

/// Places people's bids, each as if alone after those before it; none where the same request placed it before, which
/// answers what it answered, also when its fields would be wrong by now.
///
/// # Errors
/// `Unavailable`: the database does not take them; none is placed then. Of each bid: as of [`Asked::place`].
pub(in crate::services) async fn place_together(
    tx: &mut Tx,
    asked: Vec<(Asked, UserId)>,
) -> Result<Vec<Result<Option<Placed>, AppError>>, AppError> {
    if asked.is_empty() {
        return Ok(Vec::new());
    }
    let split = |(Asked { estimate, checks, terms }, by)| {
        (NewBid { id: estimate.bid.clone(), team: estimate.team.clone(), terms }, (estimate, checks, by))
    };
    let (bids, askers): (Vec<NewBid>, Vec<(Estimate, Checks, UserId)>) = asked.into_iter().map(split).unzip();
    let mut placing = Placing::begin(tx, &bids).await?;
    let mut results = Vec::with_capacity(bids.len());
    for (bid, asker) in bids.into_iter().zip(askers) {
        results.push(place_one(tx, &mut placing, bid, asker).await);
    }
    placing.write(tx).await?;
    Ok(results)
}

async fn place_one(
    tx: &mut Tx,
    placing: &mut Placing,
    bid: NewBid,
    (estimate, mut checks, by): (Estimate, Checks, UserId),
) -> Result<Option<Placed>, AppError> {
    let Some(request) = placing.new_request(&bid)? else { return Ok(None) };
    if placing.has_hard_allowance(&bid.team) {
        // What is left of it depends on the team's bids before this one.
        placing.write(tx).await?;
        estimate.check(tx, &mut checks, &bid.terms).await?;
    }
    placing.known().check_team(&mut checks, "", &bid.team);
    placing.known().check_terms(&mut checks, TERMS, &bid.terms, &[]);
    checks.finish()?;
    let (version, place) = placing.add(bid, request, estimate.now, Some(by));
    Ok(Some(Placed { version, place, next_cycle: placing.next_cycle() }))
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
        let (id, now) = (bid.id.clone(), self.now());
        let asked = Asked::new(&latest, &team, bid.id, now, bid.terms);
        let Some(placed) = self.writes.place(asked, viewer.user.clone()).await? else {
            return self.bid_now(&team, &id).await;
        };
        // All that there is to say of a bid that no cycle has seen.
        let (views, place) = (Views::new(&latest, None, placed.next_cycle, now), placed.place);
        Ok(views.view(placed.listed(now, viewer.name.clone()), Some(place)))
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
