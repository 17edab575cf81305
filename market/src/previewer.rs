//! Answers questions about one team's queue on a snapshot that is cleared once.

use std::collections::{HashMap, HashSet};

use common::api::Reason;
use common::chips::Chips;
use common::ids::{BidId, TeamId};
use common::money::{MAX_MICROS, MicroCredits};

use crate::bidder::chosen;
use crate::clearing::Clearing;
use crate::curve::NO_LIMIT;
use crate::error::SnapshotError;
use crate::explain::explanation;
use crate::market::{Market, PoolRow, global_limit};
use crate::preview::{Loser, Preview};
use crate::price_to_win::{Funded, PriceToWin, least_credits, lowest_limit};
use crate::queue::{Change, Queue};
use crate::snapshot::Snapshot;
use crate::trial::{Base, Tried};

/// A cleared snapshot, kept to answer questions of the kind "what would this bid get". Built once per cycle, then
/// asked from many threads. An answer clears only the chip types in which the team's demand changes.
#[derive(Debug)]
pub struct Previewer {
    base: Base,
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
        let none = Means { balance: MicroCredits::ZERO, income: MicroCredits::ZERO };
        let mut means = vec![none; market.teams.len()];
        for (team, place) in snapshot.teams.iter().zip(&market.ranks.teams) {
            means[*place as usize] = Means { balance: team.balance, income: team.income };
        }
        Ok(Self { base: Base::new(market), means })
    }

    /// The market and how it cleared: what depth and explanations are made from.
    #[must_use]
    pub const fn cleared(&self) -> (&Market, &Clearing) {
        (&self.base.market, &self.base.clearing)
    }

    /// A team's queue as it is; absent where the snapshot has no such team.
    #[must_use]
    pub fn queue(&self, team: &TeamId) -> Option<Preview> {
        self.edit(team, &[]).ok().map(|edited| edited.preview())
    }

    /// Where a bid stands by its limit in global credits among all bids that chose its chip type: how many would pay
    /// more, and how many there are. Absent where the snapshot has no such bid or it chose no chip type.
    #[must_use]
    pub fn standing(&self, bid: &BidId) -> Option<(u64, u64)> {
        let Base { market, clearing, .. } = &self.base;
        let choices = &clearing.demand.asked.choices;
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
        let market = &self.base.market;
        let place = market.teams.binary_search_by(|row| row.id.cmp(team));
        let team = place.map_err(|_| SnapshotError::unknown("team", team, "team"))?;
        let mut queue = Queue::of(market, team);
        queue.change(market, team, changes)?;
        let amended = changes.iter().filter_map(|change| match change {
            Change::Put(draft) => Some(draft.id.clone()),
            Change::Remove(_) | Change::Order(_) => None,
        });
        let mut tried = self.base.as_is(team);
        if !changes.is_empty() {
            tried = self.base.queue(team, &queue, &tried);
        }
        Ok(EditedQueue { previewer: self, team, amended: amended.collect(), queue, tried })
    }
}

/// A team's queue with changes, in the market of a [`Previewer`].
#[derive(Debug)]
pub struct EditedQueue<'a> {
    previewer: &'a Previewer,
    team: usize,
    amended: HashSet<BidId>,
    queue: Queue,
    tried: Tried,
}

impl EditedQueue<'_> {
    /// What each bid of the queue gets, what they cost, and which of the team's bids lose by the changes.
    #[must_use]
    pub fn preview(&self) -> Preview {
        let (market, pool) = (self.market(), self.pool());
        let served = self.tried.serve(market, &self.queue);
        let bids = self.queue.bids.iter().zip(&served).map(|(bid, (wanted, job, till))| {
            explanation(market, pool, &bid.name, *wanted, *job, till.as_ref())
        });
        let bids: Vec<_> = bids.collect();
        let jobs = &self.previewer.base.clearing.jobs;
        let old = market.bids_of(self.team);
        let before: HashMap<&BidId, Chips> =
            old.map(|bid| (&market.names[bid].id, Chips(u64::from(jobs[bid].chips)))).collect();
        let losers = bids.iter().filter(|bid| !self.amended.contains(&bid.bid)).filter_map(|bid| {
            let before = *before.get(&bid.bid)?;
            (bid.chips < before).then(|| Loser { bid: bid.bid.clone(), before, after: bid.chips })
        });
        let losers = losers.collect();
        let means = self.previewer.means[self.team];
        Preview::new(bids, losers, means.balance, means.income)
    }

    /// What it takes to fill a bid of the queue, all other bids as they are; absent where it has no such bid.
    #[must_use]
    pub fn price_to_win(&self, bid: &BidId) -> Option<PriceToWin> {
        let nth = self.queue.position(bid)?;
        let (_, job, _) = self.tried.serve(self.market(), &self.queue)[nth];
        if job.reason == Reason::NotInWindow {
            return Some(PriceToWin::OutOfReach);
        }
        let (base, cap) = (&self.previewer.base, self.market().teams[self.team].cap);
        let (mut queue, mut tried) = (self.queue.clone(), self.tried.clone());
        let pool = self.pool();
        let mut with_limit = |limit: u64| {
            queue.bids[nth].name.local_limit = limit;
            queue.bids[nth].row.limit = global_limit(limit, pool.weight, pool.incomes);
            tried = base.queue(self.team, &queue, &tried);
            self.filled_at(&queue, &tried, nth)
        };
        if let Some(price) = with_limit(NO_LIMIT) {
            return Some(lowest_limit(price, with_limit).map_or(PriceToWin::OutOfReach, PriceToWin::Limit));
        }
        let choices = tried.demand.asked.choices.clone();
        let short = self.funded(&queue, &tried, nth).short;
        let with_more = |more: u64| {
            tried = base.with_choices(self.team, &queue, choices.clone(), cap + more, &tried);
            self.funded(&queue, &tried, nth)
        };
        let more = least_credits(self.most_credits(), short, with_more);
        let more = more.and_then(|more| pool.local_price(more));
        let more = more.and_then(|local| i64::try_from(local).ok());
        Some(more.map_or(PriceToWin::OutOfReach, |more| PriceToWin::MoreCredits(MicroCredits(more))))
    }

    /// The local price at which a bid is filled; absent where it is not.
    fn filled_at(&self, queue: &Queue, tried: &Tried, nth: usize) -> Option<u64> {
        let (_, job, till) = &tried.serve(self.market(), queue)[nth];
        let price =
            till.as_ref().and_then(|till| till.price).and_then(|price| self.pool().local_price(price));
        (job.reason == Reason::Filled).then(|| price.unwrap_or(0))
    }

    /// Whether a bid is filled, and by how much the team's rate for its chip type falls short of what it and the bids
    /// before it cost there.
    fn funded(&self, queue: &Queue, tried: &Tried, nth: usize) -> Funded {
        let served = tried.serve(self.market(), queue);
        let (wanted, job, till) = &served[nth];
        let short = till.as_ref().zip(*wanted).map_or(0, |(till, wanted)| {
            let price = till.price.unwrap_or(0);
            let asked = queue.bids[..=nth].iter().zip(&served).filter_map(|(bid, (chosen, ..))| {
                let chosen = chosen.filter(|chosen| chosen.chip_type == wanted.chip_type)?;
                (bid.row.limit >= price).then_some(u64::from(chosen.chips))
            });
            i128::from(price) * i128::from(asked.sum::<u64>()) - i128::from(till.rate())
        });
        Funded { fills: job.reason == Reason::Filled, short }
    }

    /// What the builder lets the caps of the pool's teams grow by.
    fn most_credits(&self) -> u64 {
        let pool = self.market().teams[self.team].pool;
        let caps = self.market().teams.iter().filter(|team| team.pool == pool).map(|team| team.cap);
        MAX_MICROS.unsigned_abs() - caps.sum::<u64>()
    }

    fn market(&self) -> &Market {
        &self.previewer.base.market
    }

    fn pool(&self) -> &PoolRow {
        &self.market().pools[self.market().teams[self.team].pool as usize]
    }
}
