//! What a bid would do before it is sent: the cycle in force cleared once more with the team's queue as it will be.

use std::sync::Arc;

use common::api::{BidPreview, BidTerms, PreviewBid, PreviewLoser, PriceToWinView, Reason, TeamName};
use common::chips::Chips;
use common::ids::BidId;
use common::money::MicroCredits;
use market::{Change, Draft, Explanation, Preview, Previewer, PriceToWin};

use super::super::Services;
use super::super::bid_checks::Known;
use super::super::bids::TERMS;
use super::super::checks::Checks;
use super::limits::Estimate;
use super::list::funds;
use super::terms;
use super::view::{now_of, price_to_win};
use crate::error::{AppError, ErrorKind};
use crate::policy::{Action, Viewer};
use crate::store::bids::{self, BidState, BidVersion};
use crate::store::{Tx, queue};

impl Services {
    /// What a bid would do in the cycle in force, all else equal: with what the team changed since and will hold from the
    /// next cycle on. Changes nothing.
    ///
    /// # Errors
    /// `NotFound`, `Forbidden`: not for the viewer. `Invalid`: a field is wrong. `Conflict`: the market has not cleared
    /// yet. `Unavailable`: the database does not answer, or too many previews wait.
    pub async fn preview_bid(&self, viewer: &Viewer, bid: PreviewBid) -> Result<BidPreview, AppError> {
        let latest = self.latest().await?;
        let team = Self::team_for(&latest, viewer, Action::ChangeBids, &bid.team)?;
        let checks = terms::check(&latest, &team.pool, self.now(), &bid.terms);
        let mut tx = self.store.read().await?;
        let work_chip_seconds = bid.terms.work_chip_seconds;
        let replaces = bid.replaces.clone();
        let id = match bid.replaces {
            Some(id) => id,
            None => BidId::new(self.ids.new_id(self.now())).map_err(AppError::internal)?,
        };
        let estimate = Estimate::new(Arc::clone(&latest), &team, id, self.now());
        let planned = plan(&mut tx, &estimate, bid.terms, checks).await?;
        if let Some(id) = replaces.filter(|id| !planned.open.iter().any(|(known, _)| known == id)) {
            return Err(AppError::not_found("open bid", id));
        }
        drop(tx);
        let (cycle, previewer) = match (latest.number, latest.previewer().await?) {
            (cycle, Some(previewer)) if previewer.queue(&team.id).is_some() => (cycle, previewer),
            _ => return Err(not_cleared()),
        };
        let id = planned.id.clone();
        let names = planned.open.clone();
        let said = self.compute(move || planned.said(&previewer, &team).map(|said| (said, team))).await?;
        let (Said { queue, losers, won }, team) = said;
        let explanation = queue.bid(&id).ok_or_else(|| AppError::internal("a preview without its bid"))?;
        let loser = |(bid, before, after): (BidId, Chips, Chips)| PreviewLoser {
            name: names.iter().find(|(id, _)| *id == bid).map(|(_, name)| name.clone()).unwrap_or_default(),
            bid,
            before,
            after,
        };
        Ok(BidPreview {
            cycle,
            now: now_of(explanation, Chips(0)),
            cost_per_hour: explanation.cost_per_hour(),
            cost_of_work: cost_of_work(explanation, work_chip_seconds),
            list_price: explanation.chip_type.as_ref().and_then(|kind| latest.list_price(&team.pool, kind)),
            funds: funds(&latest, &team.id, Some(&queue)),
            losers: losers.into_iter().map(loser).collect(),
            price_to_win: won,
        })
    }

    /// Runs the engine for somebody who waits, beside others but not beside too many.
    pub(in crate::services) async fn compute<T: Send + 'static>(
        &self,
        work: impl FnOnce() -> Result<T, AppError> + Send + 'static,
    ) -> Result<T, AppError> {
        let permit = Arc::clone(&self.previews).acquire_owned().await.map_err(AppError::internal)?;
        let work = move || {
            let result = work();
            drop(permit);
            result
        };
        tokio::task::spawn_blocking(work).await.map_err(AppError::internal)?
    }
}

/// Reads what the team changed since the cycle in force, and checks the bid.
async fn plan(
    tx: &mut Tx,
    estimate: &Estimate,
    terms: BidTerms,
    mut checks: Checks,
) -> Result<Plan, AppError> {
    let terms = terms::stored(terms);
    let kept = bids::newest(tx, &estimate.bid).await?.filter(|bid| bid.team == estimate.team);
    let kept = kept.map(|bid| bid.terms.alternatives).unwrap_or_default();
    Known::of_terms(tx, [&terms].into_iter()).await?.check_terms(&mut checks, TERMS, &terms, &kept);
    estimate.check(tx, &mut checks, &terms).await?;
    checks.finish()?;
    let waiting = queue::waiting(tx, &estimate.team).await?;
    let open = queue::names(tx, &estimate.team).await?;
    let id = estimate.bid.clone();
    Ok(Plan { draft: draft(id.clone(), terms), id, waiting, open })
}

fn not_cleared() -> AppError {
    AppError::new(
        ErrorKind::Conflict,
        "the team is in no cleared cycle yet, so there is nothing to compare with; the next cycle changes that",
    )
}

fn draft(id: BidId, terms: bids::BidTerms) -> Draft {
    Draft {
        id,
        alternatives: terms.alternatives,
        limit: terms.limit,
        not_before: terms.not_before,
        not_after: terms.not_after,
    }
}

/// The team's queue as it will be, and the bid that is looked at.
struct Plan {
    id: BidId,
    draft: Draft,
    /// The newest versions that wait for the next cycle.
    waiting: Vec<BidVersion>,
    /// All open bids of the team with their names in the order of its queue, paused ones among them.
    open: Vec<(BidId, String)>,
}

/// What comes of a plan.
struct Said {
    /// The queue with the bid.
    queue: Preview,
    /// Bids that get fewer chips than without it: chips without and with it.
    losers: Vec<(BidId, Chips, Chips)>,
    won: PriceToWinView,
}

impl Plan {
    fn said(&self, previewer: &Previewer, team: &TeamName) -> Result<Said, AppError> {
        let present = previewer.queue(&team.id).ok_or_else(not_cleared)?;
        let mut changes = self.upcoming(&present);
        let without = if changes.is_empty() {
            present
        } else {
            previewer.edit(&team.id, &changes).map_err(AppError::internal)?.preview()
        };
        changes.push(Change::Put(self.draft.clone()));
        if without.bid(&self.id).is_none() && self.open.iter().any(|(id, _)| *id == self.id) {
            // A paused bid comes back to its place in the queue.
            changes.push(self.in_order(|id| *id == self.id || without.bid(id).is_some()));
        }
        let edited = previewer.edit(&team.id, &changes).map_err(AppError::internal)?;
        let queue = edited.preview();
        let fewer = |with: &Explanation| {
            let before = without.bid(&with.bid).filter(|_| with.bid != self.id)?.chips;
            (with.chips < before).then(|| (with.bid.clone(), before, with.chips))
        };
        let losers = queue.bids.iter().filter_map(fewer).collect();
        let filled = queue.bid(&self.id).is_some_and(|bid| bid.reason == Reason::Filled);
        let won = if filled {
            PriceToWinView::Filled
        } else {
            price_to_win(edited.price_to_win(&self.id).unwrap_or(PriceToWin::OutOfReach))
        };
        Ok(Said { queue, losers, won })
    }

    /// What turns the queue of the cycle in force into the one of the next cycle.
    fn upcoming(&self, present: &Preview) -> Vec<Change> {
        let mut changes = Vec::new();
        let mut live: Vec<&BidId> = present.bids.iter().map(|bid| &bid.bid).collect();
        for version in &self.waiting {
            let known = live.contains(&&version.id);
            if version.state == BidState::Live {
                changes.push(Change::Put(draft(version.id.clone(), version.terms.clone())));
                if !known {
                    live.push(&version.id);
                }
            } else if known {
                changes.push(Change::Remove(version.id.clone()));
                live.retain(|id| **id != version.id);
            }
        }
        if !changes.is_empty() {
            changes.push(self.in_order(|id| live.contains(&id)));
        }
        changes
    }

    fn in_order(&self, live: impl Fn(&BidId) -> bool) -> Change {
        Change::Order(self.open.iter().map(|(id, _)| id).filter(|id| live(id)).cloned().collect())
    }
}

/// What all the work would cost at the price of the chip type it chose, rounded up to a micro-credit.
fn cost_of_work(explanation: &Explanation, work_chip_seconds: Option<u64>) -> Option<MicroCredits> {
    let (price, work) = (explanation.price?, work_chip_seconds?);
    let cost = (u128::from(price.0) * u128::from(work)).div_ceil(3_600);
    Some(MicroCredits(i64::try_from(cost).unwrap_or(i64::MAX)))
}

#[cfg(test)]
mod tests {
    use common::money::Price;

    use super::*;

    #[test]
    fn eight_chips_for_three_hours_cost_twenty_four_chip_hours() {
        let explanation = Explanation {
            bid: BidId::new("b").unwrap(),
            chip_type: None,
            reason: Reason::Filled,
            chips: Chips(8),
            asked: None,
            price: Some(Price(2_500_000)),
            limit: None,
            rate: None,
            affordable: None,
            quota: None,
            left: None,
            text: String::new(),
        };
        assert_eq!(cost_of_work(&explanation, Some(8 * 3 * 3_600)), Some(MicroCredits(60_000_000)));
        assert_eq!(
            cost_of_work(&explanation, Some(1)),
            Some(MicroCredits(695)),
            "a part of a micro-credit is one"
        );
        assert_eq!(cost_of_work(&explanation, None), None);
        assert_eq!(explanation.cost_per_hour(), MicroCredits(20_000_000));
    }
}
