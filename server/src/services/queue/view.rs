//! Bids as they are shown: what is stored and what the cycle in force says of them, put together.

use std::collections::BTreeMap;

use common::api::{BidNow, BidStatus, BidView, PriceToWinView};
use common::chips::Chips;
use common::ids::BidId;
use common::instant::Instant;
use common::words::counted;
use market::{Explanation, Preview, PriceToWin};

use super::super::read::latest::Latest;
use super::terms;
use crate::store::bids::BidState;
use crate::store::queue::ListedBid;

/// What views of one team's bids are made with.
pub(super) struct Views<'a> {
    /// What the cycle in force says of the team's bids; absent before the first.
    explained: BTreeMap<&'a BidId, &'a Explanation>,
    latest: &'a Latest,
    /// The cycle in force, as the store knows it.
    next_cycle: u64,
    now: Instant,
}

impl<'a> Views<'a> {
    pub(super) fn new(latest: &'a Latest, queue: Option<&'a Preview>, next_cycle: u64, now: Instant) -> Self {
        let bids = queue.map_or(&[][..], |queue| &queue.bids);
        Self { explained: bids.iter().map(|bid| (&bid.bid, bid)).collect(), latest, next_cycle, now }
    }

    /// A bid at a place of the open queue, from 1; without one, a bid that is over.
    pub(super) fn view(&self, bid: ListedBid, place: Option<u64>) -> BidView {
        let done_chip_seconds = bid.done_chip_seconds(self.now);
        let ended = bid.version.state.is_end();
        let in_use = bid.in_use().0;
        let work = bid.version.terms.work_chip_seconds;
        let left = work.map(|work| work.saturating_sub(done_chip_seconds));
        let pending = bid.effective_cycle.is_none();
        let now = self.now_of(&bid).filter(|_| !ended);
        let names = bid.version.terms.alternatives.iter().map(|one| &one.chip_type);
        let retired = names.filter(|id| !ended && self.latest.is_retired(id)).cloned().collect();
        BidView {
            version: bid.version.version,
            pending,
            effective_cycle: bid.effective_cycle.unwrap_or(self.next_cycle),
            place: place.filter(|_| !ended),
            status: status_of(bid.version.state),
            now,
            cost: bid.cost,
            done_chip_seconds,
            left_seconds: left.filter(|_| !ended).and_then(|left| left.checked_div(in_use)),
            placed_at: bid.placed_at,
            placed_by: bid.placed_by,
            ended_at: ended.then_some(bid.written_at),
            retired,
            id: bid.version.id,
            terms: terms::shown(bid.version.terms),
        }
    }

    fn now_of(&self, bid: &ListedBid) -> Option<BidNow> {
        let explanation = self.explained.get(&bid.version.id)?;
        let free = bid.opportunistic().map_or(Chips(0), |(_, chips)| *chips);
        let mut now = now_of(explanation, free);
        if let Some(over) = bid.over_quota() {
            now.explanation.push_str(&format!(
                "; it runs on over quota with {} of {} at {} each in an hour until it is drained",
                counted(over.chips.0, "chip"),
                over.chip_type,
                over.price
            ));
        }
        Some(now)
    }
}

/// What an explanation says of a bid.
pub(super) fn now_of(explanation: &Explanation, opportunistic_chips: Chips) -> BidNow {
    BidNow {
        chip_type: explanation.chip_type.clone(),
        chips: explanation.chips,
        opportunistic_chips,
        local_price: explanation.price,
        reason: explanation.reason,
        explanation: explanation.text.clone(),
    }
}

/// Where a bid is in its life, as it is shown.
pub(in crate::services) const fn status_of(state: BidState) -> BidStatus {
    match state {
        BidState::Live => BidStatus::Live,
        BidState::Paused => BidStatus::Paused,
        BidState::Cancelled => BidStatus::Cancelled,
        BidState::Served => BidStatus::Served,
        BidState::Expired => BidStatus::Expired,
    }
}

/// What it takes to fill a bid.
pub(super) fn price_to_win(found: PriceToWin) -> PriceToWinView {
    match found {
        PriceToWin::Limit(limit) => PriceToWinView::Limit { limit },
        PriceToWin::MoreCredits(extra_per_hour) => PriceToWinView::Credits { extra_per_hour },
        PriceToWin::OutOfReach => PriceToWinView::Never,
    }
}
