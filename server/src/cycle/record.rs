//! What a cycle decided, as rows: only what changed since the cycle before, except prices.

use std::collections::BTreeMap;

use common::api::Reason;
use common::chips::Chips;
use common::ids::{BidId, ChipTypeId, PoolId, TeamId};
use market::Outcome;
use market::placement::Opportunistic;

use super::over_quota::Decided;
use super::state::{MarketState, Standing};
use crate::error::AppError;
use crate::store::bids::BidState;
use crate::store::results::{BidResult, ChipTypePrice, OverQuota, PoolPrice, Rows, TeamQuota};

impl MarketState {
    /// Puts an outcome in force; the answer is the rows to store. `numbers` are those of the outcome's bids.
    pub(super) fn record(
        &mut self,
        outcome: &Outcome,
        numbers: &[u64],
        free: &[Opportunistic],
    ) -> Result<Rows, AppError> {
        // Before anything of the outcome is in force: it is compared with what is.
        let Decided { kept, reclaims } = self.decide_over_quota(outcome, numbers, free);
        self.supplies =
            outcome.chip_types.iter().map(|market| (market.id.clone(), market.supply.0)).collect();
        let teams_of_bids: BTreeMap<&BidId, &TeamId> =
            self.bids.values().map(|standing| (&standing.version.id, &standing.version.team)).collect();
        let mut free_by_team: BTreeMap<(TeamId, ChipTypeId), u64> = BTreeMap::new();
        let mut free_by_type: BTreeMap<&ChipTypeId, u64> = BTreeMap::new();
        for placed in free {
            *free_by_type.entry(&placed.chip_type).or_default() += placed.chips.0;
            if let Some(team) = teams_of_bids.get(&placed.bid) {
                *free_by_team.entry(((*team).clone(), placed.chip_type.clone())).or_default() +=
                    placed.chips.0;
            }
        }
        Ok(Rows {
            prices: prices(outcome, &free_by_type),
            pool_prices: self.record_pool_prices(outcome),
            quotas: self.record_quotas(outcome, free_by_team),
            bids: self.record_bids(outcome, numbers, free, kept)?,
            reclaims,
        })
    }

    fn record_pool_prices(&mut self, outcome: &Outcome) -> Vec<PoolPrice> {
        let mut now: BTreeMap<(PoolId, ChipTypeId), PoolPrice> = BTreeMap::new();
        for market in &outcome.chip_types {
            for pool in &market.pools {
                let row = PoolPrice {
                    cycle: outcome.cycle,
                    pool: pool.id.clone(),
                    chip_type: market.id.clone(),
                    price: pool.price,
                    local_price: pool.local_price,
                };
                now.insert((pool.id.clone(), market.id.clone()), row);
            }
        }
        for (key, before) in &self.prices {
            // A pool that neither owns nor asks for the type any more has no price.
            let gone =
                || PoolPrice { cycle: outcome.cycle, price: None, local_price: None, ..before.clone() };
            now.entry(key.clone()).or_insert_with(gone);
        }
        changed(&mut self.prices, now, |row, before| {
            (row.price, row.local_price)
                != before.map_or((None, None), |before| (before.price, before.local_price))
        })
    }

    fn record_quotas(
        &mut self,
        outcome: &Outcome,
        mut free: BTreeMap<(TeamId, ChipTypeId), u64>,
    ) -> Vec<TeamQuota> {
        let nothing = |(team, chip_type): &(TeamId, ChipTypeId)| TeamQuota {
            cycle: outcome.cycle,
            team: team.clone(),
            chip_type: chip_type.clone(),
            asked: Chips(0),
            quota: Chips(0),
            used: Chips(0),
            opportunistic: Chips(0),
        };
        let mut now: BTreeMap<(TeamId, ChipTypeId), TeamQuota> = BTreeMap::new();
        for team in &outcome.teams {
            for market in &team.markets {
                let key = (team.id.clone(), market.chip_type.clone());
                let opportunistic = Chips(free.remove(&key).unwrap_or(0));
                let (asked, quota, used) = (market.asked, market.quota, market.used);
                let row = TeamQuota { asked, quota, used, opportunistic, ..nothing(&key) };
                now.insert(key, row);
            }
        }
        for (key, chips) in free {
            let row = TeamQuota { opportunistic: Chips(chips), ..nothing(&key) };
            now.insert(key, row);
        }
        for key in self.quotas.keys() {
            now.entry(key.clone()).or_insert_with(|| nothing(key));
        }
        let figures = |row: &TeamQuota| (row.asked, row.quota, row.used, row.opportunistic);
        changed(&mut self.quotas, now, |row, before| {
            figures(row) != before.map_or((Chips(0), Chips(0), Chips(0), Chips(0)), figures)
        })
    }

    fn record_bids(
        &mut self,
        outcome: &Outcome,
        numbers: &[u64],
        free: &[Opportunistic],
        mut kept: BTreeMap<u64, OverQuota>,
    ) -> Result<Vec<BidResult>, AppError> {
        let free: BTreeMap<&BidId, &Opportunistic> =
            free.iter().map(|placed| (&placed.bid, placed)).collect();
        let mut rows = Vec::new();
        for (bid, number) in outcome.bids.iter().zip(numbers) {
            let standing = self.bids.get_mut(number).filter(|standing| standing.version.id == bid.id);
            let standing =
                standing.ok_or_else(|| AppError::internal("the outcome's bids are not the snapshot's"))?;
            let free = free.get(&bid.id).map(|placed| (placed.chip_type.clone(), placed.chips));
            let over = kept.remove(number);
            let chips = (bid.chip_type.clone(), bid.chips);
            rows.extend(standing.record(outcome, chips, free, over, bid.reason));
        }
        for standing in self.bids.values_mut().filter(|standing| standing.version.state == BidState::Paused) {
            // A paused bid has nothing and chose nothing; it begins anew when it is resumed.
            if standing.result.is_some() {
                rows.extend(standing.record(outcome, (None, Chips(0)), None, None, Reason::Paused));
            }
        }
        rows.sort_by_key(|row| row.bid);
        Ok(rows)
    }
}

impl Standing {
    /// Takes over a result; the answer is the row to store when it is another one, or when the work done is not what
    /// follows from the row before (a job that ended within a gap and was given more work).
    fn record(
        &mut self,
        outcome: &Outcome,
        (chip_type, chips): (Option<ChipTypeId>, Chips),
        opportunistic: Option<(ChipTypeId, Chips)>,
        over: Option<OverQuota>,
        reason: Reason,
    ) -> Option<BidResult> {
        let same = self.result.as_ref().is_some_and(|(before, _)| {
            (&before.chip_type, before.chips, &before.opportunistic, &before.over, before.reason)
                == (&chip_type, chips, &opportunistic, &over, reason)
        });
        if same && self.done_by_result(outcome.time) == self.done_chip_seconds {
            return None;
        }
        let row = BidResult {
            cycle: outcome.cycle,
            bid: self.version.number,
            chip_type,
            chips,
            opportunistic,
            over,
            reason,
            done_chip_seconds: self.done_chip_seconds,
        };
        self.result = Some((row.clone(), outcome.time));
        Some(row)
    }
}

/// Takes over the rows that differ from those in force; the answer is those.
fn changed<K: Ord + Clone, R: Clone>(
    in_force: &mut BTreeMap<K, R>,
    now: BTreeMap<K, R>,
    differs: impl Fn(&R, Option<&R>) -> bool,
) -> Vec<R> {
    let mut rows = Vec::new();
    for (key, row) in now {
        if differs(&row, in_force.get(&key)) {
            in_force.insert(key, row.clone());
            rows.push(row);
        }
    }
    rows
}

fn prices(outcome: &Outcome, free: &BTreeMap<&ChipTypeId, u64>) -> Vec<ChipTypePrice> {
    let price = |market: &market::outcome::ChipTypeOutcome| ChipTypePrice {
        cycle: outcome.cycle,
        chip_type: market.id.clone(),
        reference_price: market.reference_price,
        supply: market.supply,
        shared: market.shared,
        asked: market.asked,
        granted: market.granted,
        paid: market.used,
        opportunistic: Chips(free.get(&market.id).copied().unwrap_or(0)),
    };
    outcome.chip_types.iter().map(price).collect()
}
