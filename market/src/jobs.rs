//! Hands each team's quota down its queue (market.md 4.5) and says why a bid got what it got (7).

use std::hint::select_unpredictable;

use common::api::Reason;

use crate::bidder::chosen;
use crate::clearing::ChipTypeResult;
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
    demand: &'a Demand,
    row: usize,
    /// Global ticks; absent where the pool can get no chips of the type.
    pub(crate) price: Option<u64>,
    pub(crate) quota: u64,
    /// Chips of the quota that bids so far have left.
    pub(crate) left: u64,
    /// Chips the team's rate pays for at the price; [`ANY_NUMBER`] where that is so.
    affordable: u64,
}

/// More chips than there are.
const ANY_NUMBER: u64 = u64::MAX;

impl<'a> Till<'a> {
    /// Of a row of the demand.
    pub(crate) fn new(demand: &'a Demand, row: usize, price: Option<u64>, quota: u64) -> Self {
        let affordable = price.and_then(|price| demand.rates[row].checked_div(price)).unwrap_or(ANY_NUMBER);
        Self { demand, row, price, quota, left: quota, affordable }
    }

    /// The team's spending rate for the chip type, in global ticks per hour.
    pub(crate) fn rate(&self) -> u64 {
        self.demand.rates[self.row]
    }

    /// Chips that rate pays for at the price; absent where that is any number.
    pub(crate) fn affordable(&self) -> Option<u64> {
        (self.affordable != ANY_NUMBER).then_some(self.affordable)
    }

    /// Serves the next bid of the queue, which has a price to pay. Half of all bids lie on either side of each
    /// condition, and no processor guesses which: they choose between numbers and not between ways to go.
    fn serve(&mut self, price: u64, limit: u64, wanted: AlternativeRow) -> JobResult {
        let least = u64::from(wanted.min_chips);
        let (pays, fits) = (limit >= price, self.left >= least);
        // At most the bid's chips.
        let most = u32::try_from(self.left).unwrap_or(u32::MAX).min(wanted.chips);
        let chips = select_unpredictable(pays & fits, most, 0);
        let served = select_unpredictable(chips == wanted.chips, Reason::Filled, Reason::PartlyFilled);
        let poor =
            select_unpredictable(self.affordable < least, Reason::TeamSpendingCap, Reason::BehindInQueue);
        let short = select_unpredictable(self.left > 0, Reason::GangDoesNotFit, poor);
        let reason = select_unpredictable(fits, served, short);
        let reason = select_unpredictable(pays, reason, Reason::PriceAboveLimit);
        if pays & !fits & (self.left == 0) && self.lost_tie(price, least, limit == price) {
            return JobResult { chips: 0, reason: Reason::LostTie };
        }
        self.left -= u64::from(chips);
        JobResult { chips, reason }
    }

    /// Whether a bid that found nothing left would have fitted into all that the team asks for at the price. It is
    /// `marginal` when its limit is the price. Most such bids stand behind others: the curve is looked at only where it
    /// matters.
    fn lost_tie(&self, price: u64, least: u64, marginal: bool) -> bool {
        let beyond = |chips: u64| chips.saturating_sub(self.quota) >= least;
        (marginal || self.quota < least)
            && beyond(self.affordable)
            && beyond(self.demand.curve(self.row).quantity(price))
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
        let till = wanted.and_then(|wanted| self.tills[wanted.chip_type as usize].as_mut());
        let (Some(wanted), Some(till)) = (wanted, till) else {
            let reason = if row.in_window { Reason::NoSupply } else { Reason::NotInWindow };
            return JobResult { chips: 0, reason };
        };
        match till.price {
            Some(price) => till.serve(price, row.limit, wanted),
            None => JobResult { chips: 0, reason: Reason::NoSupply },
        }
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
            counter.open(each.chip_type, Till::new(self.demand, row, price, self.quotas[row]));
        }
    }

    /// The bids of a team in the order of its queue, and what each chose.
    pub(crate) fn queue(
        &self,
        team: usize,
    ) -> impl Iterator<Item = (&'a BidRow, Option<AlternativeRow>)> + use<'a> {
        let (market, bids) = (self.market, self.market.bids_of(team));
        let choices = &self.demand.asked.choices[bids.clone()];
        market.bids[bids].iter().zip(choices).map(|(row, choice)| (row, chosen(market, row, *choice)))
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
            jobs.extend(granted.queue(team).map(|(row, wanted)| counter.serve(row, wanted)));
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
