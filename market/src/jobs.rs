//! Hands each team's quota down its queue (market.md 4.5) and says why a bid got what it got (7).

use std::ops::Range;

use common::api::Reason;

use crate::bidder::chosen;
use crate::clearing::ChipTypeResult;
use crate::demand::Demand;
use crate::market::{AlternativeRow, BidRow, Market};
use crate::parallel;

/// What a bid got, and why.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct JobResult {
    pub(crate) chips: u32,
    pub(crate) reason: Reason,
}

/// A team's place in one market while its queue is served.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Till {
    /// Global ticks; absent where the pool can get no chips of the type.
    pub(crate) price: Option<u64>,
    pub(crate) quota: u64,
    /// Chips of the quota that bids so far have left.
    pub(crate) left: u64,
    /// The row of the demand.
    row: usize,
}

impl Till {
    /// The team's spending rate for the chip type, in global ticks per hour.
    pub(crate) fn rate(&self, demand: &Demand) -> u64 {
        demand.rows[self.row].rate
    }

    /// Chips the rate pays for at the price; absent where that is any number.
    pub(crate) fn affordable(&self, demand: &Demand) -> Option<u64> {
        self.rate(demand).checked_div(self.price?)
    }

    /// Why a bid that would pay the price found fewer chips left than its minimum. It is `marginal` when its limit is
    /// the price.
    fn why_not(&self, demand: &Demand, least: u64, marginal: bool) -> Reason {
        if self.left > 0 {
            return Reason::GangDoesNotFit;
        }
        // With all the team asks for at the price, would it have fitted? Asked only where it matters: most bids that
        // find nothing left stand behind others.
        let at_price = || demand.curve(self.row).quantity(self.price.unwrap_or(0));
        if (marginal || self.quota < least) && at_price().saturating_sub(self.quota) >= least {
            Reason::LostTie
        } else if self.affordable(demand).is_some_and(|chips| chips < least) {
            Reason::TeamSpendingCap
        } else {
            Reason::BehindInQueue
        }
    }
}

/// Serves teams' queues. Keeps its scratch space from team to team.
pub(crate) struct Counter<'a> {
    market: &'a Market,
    demand: &'a Demand,
    quotas: &'a [u64],
    chip_types: &'a [ChipTypeResult],
    /// The tills of the team at hand, by chip type.
    tills: Vec<Option<Till>>,
}

impl<'a> Counter<'a> {
    pub(crate) fn new(
        market: &'a Market,
        demand: &'a Demand,
        quotas: &'a [u64],
        chip_types: &'a [ChipTypeResult],
    ) -> Self {
        Self { market, demand, quotas, chip_types, tills: vec![None; market.chip_types.len()] }
    }

    pub(crate) fn demand(&self) -> &'a Demand {
        self.demand
    }

    /// Serves one team's bids in the order of its queue and tells of each, with the till it came to as it was before
    /// it. `closed` hears how many chips of each row's quota were used.
    pub(crate) fn team(
        &mut self,
        team: usize,
        mut served: impl FnMut(usize, JobResult, Option<&Till>),
        mut closed: impl FnMut(usize, u64),
    ) {
        let pool = self.market.teams[team].pool;
        for nth in self.demand.rows_of(team) {
            let row = &self.demand.rows[nth];
            let price = self.chip_types[row.chip_type as usize].price_in(pool);
            let quota = self.quotas[nth];
            self.tills[row.chip_type as usize] = Some(Till { price, quota, left: quota, row: nth });
        }
        for bid in self.market.bids_of(team) {
            let wanted = chosen(self.market, bid, self.demand.choices[bid]);
            let till = wanted.and_then(|wanted| self.tills[wanted.chip_type as usize].as_mut());
            let job = serve(self.demand, &self.market.bids[bid], wanted, till.as_deref());
            served(bid, job, till.as_deref());
            if let Some(till) = till {
                till.left -= u64::from(job.chips);
            }
        }
        for nth in self.demand.rows_of(team) {
            if let Some(till) = self.tills[self.demand.rows[nth].chip_type as usize].take() {
                closed(nth, till.quota - till.left);
            }
        }
    }
}

/// Serves all bids. Also returns the chips used, per row of the demand.
pub(crate) fn serve_jobs(
    market: &Market,
    demand: &Demand,
    quotas: &[u64],
    chip_types: &[ChipTypeResult],
) -> (Vec<JobResult>, Vec<u64>) {
    let threads = parallel::threads(market.bids.len());
    let parts = parallel::parts(market.teams.len(), threads, |team| market.bids_before(team));
    let serve = |teams: &Range<usize>| {
        // The first part takes the others in.
        let room = if teams.start == 0 { market.bids.len() } else { market.bids_in(teams).len() };
        let mut jobs = Vec::with_capacity(room);
        let mut used = Vec::new();
        let mut counter = Counter::new(market, demand, quotas, chip_types);
        for team in teams.clone() {
            counter.team(team, |_, job, _| jobs.push(job), |_, chips| used.push(chips));
        }
        (jobs, used)
    };
    let mut results = parallel::run(&parts, threads, serve).into_iter();
    let (mut jobs, mut used) = results.next().unwrap_or_default();
    for (more_jobs, more_used) in results {
        jobs.extend(more_jobs);
        used.extend(more_used);
    }
    (jobs, used)
}

fn serve(demand: &Demand, row: &BidRow, wanted: Option<AlternativeRow>, till: Option<&Till>) -> JobResult {
    let not_served = |reason| JobResult { chips: 0, reason };
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
        return not_served(till.why_not(demand, least, row.limit == price));
    }
    // At most the bid's chips.
    let chips = u32::try_from(till.left).unwrap_or(u32::MAX).min(wanted.chips);
    JobResult { chips, reason: if chips == wanted.chips { Reason::Filled } else { Reason::PartlyFilled } }
}
