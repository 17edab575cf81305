//! The bidder (market.md 3): turns each team's queue into a demand curve and a spending rate per chip type.

use std::sync::Arc;

use crate::asks::Asks;
use crate::choice::Chooser;
use crate::demand::{Asked, Demand};
use crate::last::LastMarkets;
use crate::market::{AlternativeRow, BidRow, Market, NO_ALTERNATIVE};
use crate::team_asks::{TeamAsks, over_teams};

/// Runs the bidder for every team.
pub(crate) fn bid(market: &Market) -> Demand {
    let asked = market.settled.clone().unwrap_or_else(|| {
        let last = market.needs_last_demand.then(|| LastMarkets::new(market));
        Arc::new(ask(market, last.as_ref()))
    });
    let rates = rates(market, &asked);
    Demand { asked, rates }
}

/// What each bid chooses (3.2) and the curves that this makes (3.5).
pub(crate) fn ask(market: &Market, last: Option<&LastMarkets>) -> Asked {
    let parts = over_teams(market, |teams| {
        let chooser = Chooser::new(market, last);
        // The first part takes the others' choices in.
        let room = if teams.start == 0 { market.bids.len() } else { market.bids_in(&teams).len() };
        let mut part = TeamAsks::with_capacity(room);
        let mut asks = Asks::new(market.chip_types.len());
        for team in teams {
            for bid in market.bids_of(team) {
                let row = &market.bids[bid];
                let choice = chooser.choose(team, row, &market.names[bid], market.alternatives_of(bid));
                part.choices.push(choice);
                if let Some(wanted) = chosen(market, row, choice) {
                    asks.add(wanted.chip_type, row.limit, wanted.chips);
                }
            }
            part.push_team(u32::try_from(team).unwrap_or(u32::MAX), &mut asks);
        }
        part
    });
    Asked::new(market, parts)
}

/// What each team may spend on each chip type (3.3 and 3.4), by row.
fn rates(market: &Market, asked: &Asked) -> Vec<u64> {
    let parts = over_teams(market, |teams| {
        let mut walk = Walk::new(market.chip_types.len());
        let mut rates = Vec::with_capacity(teams.clone().map(|team| asked.rows_of_team(team).len()).sum());
        for team in teams {
            let bids = market.bids_of(team);
            let bids = market.bids[bids.clone()].iter().zip(&asked.choices[bids]);
            let bids = bids.filter_map(|(row, choice)| {
                Some(Wish { limit: row.limit, wanted: chosen(market, row, *choice)? })
            });
            let pool = market.teams[team].pool as usize;
            let left =
                walk.reserve(market.teams[team].cap, bids, |chip_type| market.last_price(pool, chip_type));
            let rows = asked.rows_of_team(team).iter();
            let types = rows.map(|row| (row.chip_type, asked.asked(row.row as usize)));
            walk.split(left, types.clone());
            rates.extend(types.map(|(chip_type, _)| walk.take(chip_type)));
        }
        rates
    });
    let mut rates = vec![0; asked.teams.len()];
    for (row, rate) in asked.rows_by_team().iter().zip(parts.into_iter().flatten()) {
        rates[row.row as usize] = rate;
    }
    rates
}

/// What a bid chose, and the most it pays in global ticks.
pub(crate) struct Wish {
    pub(crate) limit: u64,
    pub(crate) wanted: AlternativeRow,
}

/// Scratch space for walking queues: what the team at hand has reserved.
pub(crate) struct Walk {
    /// By chip type.
    reserved: Vec<u64>,
    shares: Vec<(u128, u32, u64)>,
}

impl Walk {
    pub(crate) fn new(chip_types: usize) -> Self {
        Self { reserved: vec![0; chip_types], shares: Vec::new() }
    }

    /// Reserves a team's spending cap from the head of its queue (3.3), and says what is left of it.
    pub(crate) fn reserve(
        &mut self,
        cap: u64,
        bids: impl Iterator<Item = Wish>,
        last_price: impl Fn(usize) -> u64,
    ) -> u64 {
        let mut left = cap;
        for Wish { limit, wanted } in bids {
            if left == 0 {
                break;
            }
            let chip_type = wanted.chip_type as usize;
            // The one tick keeps a rich team from bidding nothing for what was free.
            let price = last_price(chip_type).max(1).min(limit);
            let cost = u64::from(wanted.chips).saturating_mul(price).min(left);
            self.reserved[chip_type] += cost;
            left -= cost;
        }
        left
    }

    /// Splits what is left of the cap in proportion to the reserved cost, to chips where all cost is zero, by
    /// largest remainder; equal remainders go by chip type id (3.4). `types` are the chip types that the team's bids
    /// chose, with the chips they ask for.
    pub(crate) fn split(&mut self, left: u64, types: impl Iterator<Item = (u32, u64)> + Clone) {
        if left == 0 {
            return;
        }
        let by_chips = types.clone().all(|(chip_type, _)| self.reserved[chip_type as usize] == 0);
        let weight = |(chip_type, chips): (u32, u64), reserved: &[u64]| {
            if by_chips { chips } else { reserved[chip_type as usize] }
        };
        let total: u128 = types.clone().map(|each| u128::from(weight(each, &self.reserved))).sum();
        if total == 0 {
            return;
        }
        let mut given = 0;
        self.shares.clear();
        for each in types {
            let (share, rest) = proportion(left, weight(each, &self.reserved), total);
            given += share;
            self.shares.push((rest, each.0, share));
        }
        let rest = usize::try_from(left - given).unwrap_or(usize::MAX);
        if (1..self.shares.len()).contains(&rest) {
            // The largest remainders to the front; in what order is of no account.
            self.shares.select_nth_unstable_by(rest, |a, b| (b.0, a.1).cmp(&(a.0, b.1)));
        }
        for (nth, (_, chip_type, share)) in self.shares.iter().enumerate() {
            self.reserved[*chip_type as usize] += share + u64::from(nth < rest);
        }
    }

    /// What is reserved for a chip type; then nothing is.
    pub(crate) fn take(&mut self, chip_type: u32) -> u64 {
        std::mem::take(&mut self.reserved[chip_type as usize])
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
pub(crate) fn chosen(market: &Market, bid: &BidRow, choice: u8) -> Option<AlternativeRow> {
    (choice != NO_ALTERNATIVE)
        .then(|| market.alternatives[bid.first_alternative as usize + usize::from(choice)])
}
