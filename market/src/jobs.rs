//! Hands each team's quota down its queue (market.md 4.5) and says why a bid got what it got (7).

use common::api::Reason;

use crate::bidder::{Demand, chosen};
use crate::clearing::ChipTypeResult;
use crate::market::Market;

/// What a bid got, and why.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct JobResult {
    pub(crate) chips: u32,
    pub(crate) reason: Reason,
}

/// A team's place in one market while its queue is served.
#[derive(Clone, Copy, Debug)]
struct Till {
    /// Global ticks; absent where the pool can get no chips of the type.
    price: Option<u64>,
    /// Quota.
    quota: u64,
    left: u64,
    /// What the team asks for at the price.
    at_price: u64,
    /// Chips the team's rate pays for at the price.
    affordable: u64,
}

/// Serves all bids. Also returns the chips used, per row of the demand.
pub(crate) fn serve_jobs(
    market: &Market,
    demand: &Demand,
    quotas: &[u64],
    chip_types: &[ChipTypeResult],
) -> (Vec<JobResult>, Vec<u64>) {
    let mut jobs = Vec::with_capacity(market.bids.len());
    let mut used = vec![0; demand.rows.len()];
    // Where to find the row of a chip type for the team at hand.
    let mut tills: Vec<Option<Till>> = vec![None; market.chip_types.len()];
    let mut first = 0;
    for (team, row) in market.teams.iter().enumerate() {
        let rows = demand.rows[first..].partition_point(|row| row.team as usize == team);
        for nth in first..first + rows {
            let chip_type = demand.rows[nth].chip_type as usize;
            let price = chip_types[chip_type].price_in(row.pool);
            let curve = demand.curve(nth);
            tills[chip_type] = Some(Till {
                price,
                quota: quotas[nth],
                left: quotas[nth],
                at_price: price.map_or(0, |price| curve.quantity(price)),
                affordable: price.filter(|price| *price > 0).map_or(u64::MAX, |price| curve.rate / price),
            });
        }
        for bid in market.bids_of(team) {
            jobs.push(serve(market, bid, demand.choices[bid], &mut tills));
        }
        for nth in first..first + rows {
            if let Some(till) = tills[demand.rows[nth].chip_type as usize].take() {
                used[nth] = till.quota - till.left;
            }
        }
        first += rows;
    }
    (jobs, used)
}

fn serve(market: &Market, bid: usize, choice: u16, tills: &mut [Option<Till>]) -> JobResult {
    let row = &market.bids[bid];
    let Some(wanted) = chosen(market, bid, choice) else {
        return JobResult::not_served(if row.in_window { Reason::NoSupply } else { Reason::NotInWindow });
    };
    let Some(till) = &mut tills[wanted.chip_type as usize] else {
        return JobResult::not_served(Reason::NoSupply);
    };
    let Some(price) = till.price else {
        return JobResult::not_served(Reason::NoSupply);
    };
    if row.limit < price {
        return JobResult::not_served(Reason::PriceAboveLimit);
    }
    let least = u64::from(wanted.min_chips);
    if till.left < least {
        return JobResult::not_served(why_not(till, least));
    }
    // At most the bid's chips.
    let chips = u32::try_from(till.left).unwrap_or(u32::MAX).min(wanted.chips);
    till.left -= u64::from(chips);
    JobResult { chips, reason: if chips == wanted.chips { Reason::Filled } else { Reason::PartlyFilled } }
}

/// Why a bid that would pay the price found fewer chips left than its minimum.
fn why_not(till: &Till, least: u64) -> Reason {
    if till.left > 0 {
        Reason::GangDoesNotFit
    } else if till.left + till.at_price.saturating_sub(till.quota) >= least {
        // With all the team asks for at the price it would have fitted: the tie rule gave the chips to others.
        Reason::LostTie
    } else if till.affordable < least {
        Reason::TeamSpendingCap
    } else {
        Reason::BehindInQueue
    }
}
