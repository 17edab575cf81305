//! Hands each team's quota down its queue (market.md 4.5) and says why a bid got what it got (7).

use common::api::Reason;

use crate::bidder::chosen;
use crate::clearing::ChipTypeResult;
use crate::curve::TeamCurve;
use crate::demand::Demand;
use crate::market::{AlternativeRow, BidRow, Market};
use crate::team_asks::over_teams;

/// What a bid got, and why.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct JobResult {
    pub(crate) chips: u32,
    pub(crate) reason: Reason,
}

/// A team's place in one market while its queue is served.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Till<'a> {
    /// What the team asked for.
    pub(crate) curve: TeamCurve<'a>,
    /// Global ticks; absent where the pool can get no chips of the type.
    pub(crate) price: Option<u64>,
    pub(crate) quota: u64,
    /// Chips of the quota that bids so far have left.
    pub(crate) left: u64,
    /// Chips the team's rate pays for at the price; absent where that is any number.
    pub(crate) affordable: Option<u64>,
}

impl<'a> Till<'a> {
    pub(crate) fn new(curve: TeamCurve<'a>, price: Option<u64>, quota: u64) -> Self {
        let affordable = price.and_then(|price| curve.rate.checked_div(price));
        Self { curve, price, quota, left: quota, affordable }
    }

    /// Why a bid that would pay the price found fewer chips left than its minimum. It is `marginal` when its limit is
    /// the price.
    fn why_not(&self, least: u64, marginal: bool) -> Reason {
        if self.left > 0 {
            return Reason::GangDoesNotFit;
        }
        // With all the team asks for at the price, would it have fitted? Most bids that find nothing left stand behind
        // others: the curve is looked at only where it matters.
        let beyond = |chips: u64| chips.saturating_sub(self.quota) >= least;
        let could = (marginal || self.quota < least) && self.affordable.is_none_or(beyond);
        if could && beyond(self.curve.quantity(self.price.unwrap_or(0))) {
            Reason::LostTie
        } else if self.affordable.is_some_and(|chips| chips < least) {
            Reason::TeamSpendingCap
        } else {
            Reason::BehindInQueue
        }
    }
}

/// Serves teams' queues, one bid after the other. Kept from team to team for its space.
#[derive(Debug)]
pub(crate) struct Counter<'a> {
    /// The tills of the team at hand, by chip type.
    tills: Vec<Option<Till<'a>>>,
}

impl<'a> Counter<'a> {
    pub(crate) fn new(chip_types: usize) -> Self {
        Self { tills: vec![None; chip_types] }
    }

    pub(crate) fn open(&mut self, chip_type: u32, till: Till<'a>) {
        self.tills[chip_type as usize] = Some(till);
    }

    /// The till that a bid comes to.
    pub(crate) fn till(&self, wanted: Option<AlternativeRow>) -> Option<&Till<'a>> {
        wanted.and_then(|wanted| self.tills[wanted.chip_type as usize].as_ref())
    }

    /// Serves the next bid of the queue.
    pub(crate) fn serve(&mut self, row: &BidRow, wanted: Option<AlternativeRow>) -> JobResult {
        let not_served = |reason| JobResult { chips: 0, reason };
        let till = wanted.and_then(|wanted| self.tills[wanted.chip_type as usize].as_mut());
        let (Some(wanted), Some(till)) = (wanted, till) else {
            return not_served(if row.in_window { Reason::NoSupply } else { Reason::NotInWindow });
        };
        let Some(price) = till.price else {
            return not_served(Reason::NoSupply);
        };
        if row.limit < price {
            return not_served(Reason::PriceAboveLimit);
        }
        let least = u64::from(wanted.min_chips);
        if till.left < least {
            return not_served(till.why_not(least, row.limit == price));
        }
        // At most the bid's chips.
        let chips = u32::try_from(till.left).unwrap_or(u32::MAX).min(wanted.chips);
        till.left -= u64::from(chips);
        JobResult { chips, reason: if chips == wanted.chips { Reason::Filled } else { Reason::PartlyFilled } }
    }

    /// Closes a till: how many chips of the quota were used.
    pub(crate) fn close(&mut self, chip_type: u32) -> u64 {
        self.tills[chip_type as usize].take().map_or(0, |till| till.quota - till.left)
    }
}

/// What a clearing decided before jobs are served.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Granted<'a> {
    pub(crate) market: &'a Market,
    pub(crate) demand: &'a Demand,
    /// By row.
    pub(crate) quotas: &'a [u64],
    pub(crate) chip_types: &'a [ChipTypeResult],
}

impl<'a> Granted<'a> {
    /// Opens the tills of a team.
    pub(crate) fn open(&self, counter: &mut Counter<'a>, team: usize) {
        let pool = self.market.teams[team].pool;
        for each in self.demand.asked.rows_of_team(team) {
            let row = each.row as usize;
            let price = self.chip_types[each.chip_type as usize].price_in(pool);
            counter.open(each.chip_type, Till::new(self.demand.curve(row), price, self.quotas[row]));
        }
    }

    pub(crate) fn chosen(&self, bid: usize) -> Option<AlternativeRow> {
        chosen(self.market, bid, self.demand.asked.choices[bid])
    }
}

/// Serves all bids. Also returns the chips used, by team and then chip type.
pub(crate) fn serve_jobs(granted: Granted<'_>) -> (Vec<JobResult>, Vec<u64>) {
    let Granted { market, demand, .. } = granted;
    let mut results = over_teams(market, |teams| {
        // The first part takes the others in.
        let room = if teams.start == 0 { market.bids.len() } else { market.bids_in(&teams).len() };
        let mut jobs = Vec::with_capacity(room);
        let mut used = Vec::new();
        let mut counter = Counter::new(market.chip_types.len());
        for team in teams {
            granted.open(&mut counter, team);
            for bid in market.bids_of(team) {
                jobs.push(counter.serve(&market.bids[bid], granted.chosen(bid)));
            }
            let rows = demand.asked.rows_of_team(team).iter();
            used.extend(rows.map(|row| counter.close(row.chip_type)));
        }
        (jobs, used)
    })
    .into_iter();
    let (mut jobs, mut used) = results.next().unwrap_or_default();
    for (more_jobs, more_used) in results {
        jobs.extend(more_jobs);
        used.extend(more_used);
    }
    (jobs, used)
}
