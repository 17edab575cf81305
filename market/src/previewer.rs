//! Answers questions about one team's queue on a snapshot that is cleared once.

use std::collections::HashSet;

use common::chips::Chips;
use common::ids::{BidId, TeamId};
use common::money::MicroCredits;

use crate::bidder::chosen;
use crate::clearing::Clearing;
use crate::error::SnapshotError;
use crate::market::Market;
use crate::preview::{Loser, Preview};
use crate::price_to_win::{PriceToWin, price_to_win};
use crate::queue::{Change, Queue};
use crate::snapshot::Snapshot;

/// A cleared snapshot, kept to answer questions of the kind "what would this bid get". Built once per cycle, then
/// asked from many threads.
#[derive(Debug)]
pub struct Previewer {
    market: Market,
    clearing: Clearing,
    means: Vec<Means>,
}

/// What a team has, in its pool's local credits. In the market's order of teams.
#[derive(Clone, Copy, Debug)]
struct Means {
    balance: MicroCredits,
    income: MicroCredits,
}

impl Previewer {
    /// Checks and clears a snapshot.
    ///
    /// # Errors
    /// The snapshot has a field outside its limits.
    pub fn new(snapshot: &Snapshot) -> Result<Self, SnapshotError> {
        let market = Market::build(snapshot)?;
        let clearing = market.clear();
        let mut means =
            vec![Means { balance: MicroCredits::ZERO, income: MicroCredits::ZERO }; market.teams.len()];
        for (team, place) in snapshot.teams.iter().zip(&market.ranks.teams) {
            means[*place as usize] = Means { balance: team.balance, income: team.income };
        }
        Ok(Self { market, clearing, means })
    }

    /// The market and how it cleared: what depth and explanations are made from.
    #[must_use]
    pub const fn cleared(&self) -> (&Market, &Clearing) {
        (&self.market, &self.clearing)
    }

    /// A team's queue as it is, without clearing anything again; absent where the snapshot has no such team.
    #[must_use]
    pub fn queue(&self, team: &TeamId) -> Option<Preview> {
        let team = self.market.teams.binary_search_by(|row| row.id.cmp(team)).ok()?;
        let bids = self.clearing.explanations_of(&self.market, team);
        let Means { balance, income } = self.means[team];
        Some(Preview::new(bids, Vec::new(), balance, income))
    }

    /// Where a bid stands by its limit in global credits among all bids that chose its chip type: how many would pay
    /// more, and how many there are. Absent where the snapshot has no such bid or it chose no chip type.
    #[must_use]
    pub fn standing(&self, bid: &BidId) -> Option<(u64, u64)> {
        let (market, choices) = (&self.market, &self.clearing.demand.asked.choices);
        let bid = market.bid_of(bid)?;
        let chip_type = chosen(market, &market.bids[bid], choices[bid])?.chip_type;
        let limit = market.bids[bid].limit;
        let (mut higher, mut all) = (0, 0);
        for (other, choice) in market.bids.iter().zip(choices) {
            if chosen(market, other, *choice).is_some_and(|chosen| chosen.chip_type == chip_type) {
                all += 1;
                higher += u64::from(other.limit > limit);
            }
        }
        Some((higher, all))
    }

    /// A team's queue with changes, made in their order; with none, the queue as it is.
    ///
    /// # Errors
    /// The snapshot has no such team, or a change names what the queue does not have or has a field outside its limits:
    /// `changes[1].alternatives[0].chips`.
    pub fn edit(&self, team: &TeamId, changes: &[Change]) -> Result<EditedQueue<'_>, SnapshotError> {
        let place = self.market.teams.binary_search_by(|row| row.id.cmp(team));
        let team = place.map_err(|_| SnapshotError::unknown("team", team, "team"))?;
        let mut queue = Queue::of(&self.market, team);
        queue.change(&self.market, team, changes)?;
        let amended = changes.iter().filter_map(|change| match change {
            Change::Put(draft) => Some(draft.id.clone()),
            Change::Remove(_) | Change::Order(_) => None,
        });
        let market = self.market.with_queue(team, &queue);
        let clearing = market.clear();
        Ok(EditedQueue { previewer: self, team, amended: amended.collect(), market, clearing })
    }
}

/// A team's queue with changes, in the market of a [`Previewer`].
#[derive(Debug)]
pub struct EditedQueue<'a> {
    previewer: &'a Previewer,
    team: usize,
    amended: HashSet<BidId>,
    market: Market,
    clearing: Clearing,
}

impl EditedQueue<'_> {
    /// What each bid of the queue gets, what they cost, and which of the team's bids lose by the changes.
    #[must_use]
    pub fn preview(&self) -> Preview {
        let bids = self.clearing.explanations_of(&self.market, self.team);
        let before = |id: &BidId| {
            let Previewer { market, clearing, .. } = self.previewer;
            let mut bids = market.bids_of(self.team);
            bids.find(|bid| market.names[*bid].id == *id)
                .map(|bid| Chips(u64::from(clearing.jobs[bid].chips)))
        };
        let losers = bids.iter().filter(|bid| !self.amended.contains(&bid.bid)).filter_map(|bid| {
            let before = before(&bid.bid)?;
            (bid.chips < before).then(|| Loser { bid: bid.bid.clone(), before, after: bid.chips })
        });
        let losers = losers.collect();
        let means = self.previewer.means[self.team];
        Preview::new(bids, losers, means.balance, means.income)
    }

    /// What it takes to fill a bid of the queue, all other bids as they are; absent where it has no such bid.
    #[must_use]
    pub fn price_to_win(&self, bid: &BidId) -> Option<PriceToWin> {
        let nth = self.market.bids_of(self.team).find(|nth| self.market.names[*nth].id == *bid)?;
        Some(price_to_win(&self.market, nth, &self.clearing))
    }
}
