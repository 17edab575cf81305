//! The bidder (market.md 3): turns each team's queue into a demand curve and a spending rate per chip type.

use std::ops::Range;

use crate::asks::Asks;
use crate::choice::Chooser;
use crate::demand::Demand;
use crate::last::LastMarkets;
use crate::market::{AlternativeRow, Market, NO_ALTERNATIVE};
use crate::parallel;

/// Runs the bidder for every team.
pub(crate) fn bid(market: &Market) -> Demand {
    let last_demand = market.needs_last_demand.then(|| LastMarkets::demand(market));
    let curves = last_demand.as_ref().map(|demand| LastMarkets::curves(market, demand));
    let last = curves.as_ref().map(|curves| LastMarkets::new(market, curves));
    over_teams(market, |teams| {
        let chooser = Chooser::new(market, last.as_ref());
        // The first part takes the others in.
        let room = if teams.start == 0 { market.bids.len() } else { market.bids_in(&teams).len() };
        let mut demand = Demand::with_capacity(room);
        let mut walk = Walk::new(market.chip_types.len());
        let first = market.bids_in(&teams).start;
        for team in teams {
            for bid in market.bids_of(team) {
                demand.choices.push(chooser.choose(team, bid));
            }
            walk.team(market, team, first, &mut demand);
        }
        demand
    })
}

/// Makes the demand of ranges of teams, on as many threads as pay, and joins it.
pub(crate) fn over_teams(market: &Market, make: impl Fn(Range<usize>) -> Demand + Sync) -> Demand {
    let threads = parallel::threads(market.bids.len());
    let parts = parallel::parts(market.teams.len(), threads, |team| market.bids_before(team));
    let mut parts = parallel::run(&parts, threads, |teams| make(teams.clone())).into_iter();
    let mut demand = parts.next().unwrap_or_default();
    for part in parts {
        demand.append(part);
    }
    demand
}

/// Scratch space for walking queues: what the team at hand asks for and has reserved.
struct Walk {
    /// By chip type.
    reserved: Vec<u64>,
    asks: Asks,
    shares: Vec<(u128, u32, u64)>,
}

impl Walk {
    fn new(chip_types: usize) -> Self {
        Self { reserved: vec![0; chip_types], asks: Asks::new(chip_types), shares: Vec::new() }
    }

    /// Reserves the team's spending cap from the head of its queue (3.3), splits what is left (3.4) and adds its
    /// curves (3.5). The demand's choices begin with those of the bid `first`.
    fn team(&mut self, market: &Market, team: usize, first: usize, demand: &mut Demand) {
        let row = &market.teams[team];
        let mut left = row.cap;
        for bid in market.bids_of(team) {
            let Some(wanted) = chosen(market, bid, demand.choices[bid - first]) else { continue };
            let limit = market.bids[bid].limit;
            let chip_type = wanted.chip_type as usize;
            // The one tick keeps a rich team from bidding nothing for what was free.
            let price = market.last_price(row.pool as usize, chip_type).max(1).min(limit);
            let cost = u64::from(wanted.chips).saturating_mul(price).min(left);
            self.reserved[chip_type] += cost;
            left -= cost;
            self.asks.add(wanted.chip_type, limit, wanted.chips);
        }
        self.split(left);
        let team = u32::try_from(team).unwrap_or(u32::MAX);
        let reserved = &mut self.reserved;
        demand.push_team(team, &mut self.asks, |chip_type| std::mem::take(&mut reserved[chip_type as usize]));
    }

    /// Splits what is left of the cap in proportion to the reserved cost, to chips where all cost is zero, by
    /// largest remainder; equal remainders go by chip type id.
    fn split(&mut self, left: u64) {
        let chip_types = self.asks.chip_types.as_slice();
        if let ([only], true) = (chip_types, left > 0) {
            self.reserved[*only as usize] += left;
            return;
        }
        let by_chips = chip_types.iter().all(|chip_type| self.reserved[*chip_type as usize] == 0);
        let weights = if by_chips { &self.asks.chips } else { &self.reserved };
        let total: u128 = chip_types.iter().map(|chip_type| u128::from(weights[*chip_type as usize])).sum();
        if left == 0 || total == 0 {
            return;
        }
        let mut given = 0;
        self.shares.clear();
        for &chip_type in chip_types {
            let (share, rest) = proportion(left, weights[chip_type as usize], total);
            given += share;
            self.shares.push((rest, chip_type, share));
        }
        self.shares.sort_unstable_by(|a, b| (b.0, a.1).cmp(&(a.0, b.1)));
        for (nth, (_, chip_type, share)) in (0..).zip(&self.shares) {
            self.reserved[*chip_type as usize] += share + u64::from(nth < left - given);
        }
    }
}

/// `left · weight / total` and the remainder; `weight` is at most `total`.
fn proportion(left: u64, weight: u64, total: u128) -> (u64, u128) {
    // Amounts of everyday size fit 64 bits, where a division costs a fraction.
    if let (Some(product), Ok(total)) = (left.checked_mul(weight), u64::try_from(total)) {
        return (product / total, u128::from(product % total));
    }
    let product = u128::from(left) * u128::from(weight);
    (u64::try_from(product / total).unwrap_or(left), product % total)
}

/// The alternative a bid chose.
pub(crate) fn chosen(market: &Market, bid: usize, choice: u8) -> Option<AlternativeRow> {
    (choice != NO_ALTERNATIVE).then(|| market.alternatives_of(bid)[usize::from(choice)])
}
