//! Jobs over quota: what becomes of those that a cut of supply leaves without one (market.md 6).
//!
//! A cut takes effect at once in quota. The chips that are cut stay where a job runs on them until it ends: so many chips
//! more than the supply may be in use. Who lost all chips in the cycle of a cut may run on within that room, by the
//! organisation's policy, at the price in force but never above the bid's limit. Nobody comes to be over quota without a
//! cut: in the ordinary course of the market whoever loses makes room for who wins.

use std::collections::{BTreeMap, BTreeSet};

use common::api::{CutPolicyKind, Reason, ReclaimWhy};
use common::chips::Chips;
use common::ids::{BidId, ChipTypeId};
use common::money::Price;
use market::Outcome;
use market::outcome::ChipTypeOutcome;
use market::placement::Opportunistic;

use super::state::{InUse, MarketState, Standing};
use crate::store::cuts::{CutPolicy, Reclaim};
use crate::store::results::OverQuota;

/// What was decided about jobs without quota.
#[derive(Debug, Default)]
pub(super) struct Decided {
    /// Those that run on, by the numbers of their bids.
    pub(super) kept: BTreeMap<u64, OverQuota>,
    /// Those that were stopped.
    pub(super) reclaims: Vec<Reclaim>,
}

/// A job that has no quota any more.
#[derive(Clone, Debug)]
struct Candidate {
    bid: u64,
    id: BidId,
    chips: Chips,
    /// The bid's limit in global credits; the most there is without one.
    worth: u64,
    /// The bid's limit as it is.
    limit: Option<Price>,
}

impl MarketState {
    /// Decides what becomes of jobs that lose their quota in the cycle of `outcome`, which is not in force yet. `numbers`
    /// are those of the outcome's bids.
    pub(super) fn decide_over_quota(
        &self,
        outcome: &Outcome,
        numbers: &[u64],
        free: &[Opportunistic],
    ) -> Decided {
        let mut decided = Decided::default();
        let supply_before =
            |market: &ChipTypeOutcome| self.supplies.get(&market.id).copied().unwrap_or(market.supply.0);
        let is_cut = |market: &ChipTypeOutcome| market.supply.0 < supply_before(market);
        // Most cycles cut nothing and have nobody over quota: they pay for no more than this look.
        if !outcome.chip_types.iter().any(is_cut) && !self.bids.values().any(Standing::is_over_quota) {
            return decided;
        }
        for market in &outcome.chip_types {
            let candidates = self.candidates(outcome, numbers, free, (&market.id, is_cut(market)));
            if candidates.is_empty() {
                continue;
            }
            let room = self.room(market, supply_before(market), free);
            let (kept, stopped) = divide(candidates, self.cut_policy, room);
            for job in kept {
                let price = self.price_over_quota(market, &job);
                let over = OverQuota { chip_type: market.id.clone(), chips: job.chips, price };
                decided.kept.insert(job.bid, over);
            }
            for (job, why) in stopped {
                decided.reclaims.extend(self.reclaim(outcome.cycle, market, &job, why));
            }
        }
        decided.reclaims.sort_by_key(|row| row.bid);
        decided
    }

    /// Bids that used chips of a type and are granted none: where the type is cut, and where they run over quota already.
    fn candidates(
        &self,
        outcome: &Outcome,
        numbers: &[u64],
        free: &[Opportunistic],
        (chip_type, is_cut): (&ChipTypeId, bool),
    ) -> Vec<Candidate> {
        let placed: BTreeSet<&BidId> = free.iter().map(|placed| &placed.bid).collect();
        let mut candidates = Vec::new();
        for (bid, number) in outcome.bids.iter().zip(numbers) {
            if bid.chips.0 > 0 || bid.reason == Reason::NotInWindow || placed.contains(&bid.id) {
                continue;
            }
            let Some(standing) = self.bids.get(number) else { continue };
            let chips = match standing.in_use() {
                Some(InUse::Paid(used, chips)) if used == chip_type && is_cut => chips,
                Some(InUse::Over(over)) if over.chip_type == *chip_type => over.chips,
                _ => continue,
            };
            let (worth, limit) = (self.worth(standing), standing.version.terms.limit);
            candidates.push(Candidate { bid: *number, id: bid.id.clone(), chips, worth, limit });
        }
        candidates
    }

    /// A bid's limit in global credits.
    fn worth(&self, standing: &Standing) -> u64 {
        let Some(limit) = standing.version.terms.limit else { return u64::MAX };
        let pool = self.teams.get(&standing.version.team).and_then(|team| self.pools.get(&team.team.pool));
        let Some(pool) = pool else { return 0 };
        let incomes = u128::from(self.total_income(&pool.pool.id).0.unsigned_abs()).max(1);
        let worth = u128::from(limit.0) * u128::from(pool.pool.weight.0.unsigned_abs()) / incomes;
        u64::try_from(worth).unwrap_or(u64::MAX)
    }

    /// The room of a type: chips that are there or still run on, less those that bids won and those used for free.
    fn room(&self, market: &ChipTypeOutcome, supply_before: u64, free: &[Opportunistic]) -> Room {
        let free = free.iter().filter(|placed| placed.chip_type == market.id);
        let used = market.used.0 + free.map(|placed| placed.chips.0).sum::<u64>();
        let draining = self.draining(&market.id, supply_before);
        let there = market.supply.0.max(supply_before + draining);
        Room { all: there.saturating_sub(used), within_supply: market.supply.0.saturating_sub(used) }
    }

    /// Chips in use beyond the supply of the cycle in force.
    fn draining(&self, chip_type: &ChipTypeId, supply: u64) -> u64 {
        let used = self.bids.values().map(|standing| match standing.in_use() {
            Some(InUse::Paid(used, chips) | InUse::Free(used, chips)) if used == chip_type => chips.0,
            Some(InUse::Over(over)) if over.chip_type == *chip_type => over.chips.0,
            _ => 0,
        });
        used.sum::<u64>().saturating_sub(supply)
    }

    /// What a chip over quota costs in an hour: the local price in force, but never more than the bid's limit.
    fn price_over_quota(&self, market: &ChipTypeOutcome, job: &Candidate) -> Price {
        let price = self.price_in(market, job.bid).unwrap_or_default();
        job.limit.map_or(price, |limit| limit.min(price))
    }

    /// The local price of a bid's team in an outcome.
    fn price_in(&self, market: &ChipTypeOutcome, bid: u64) -> Option<Price> {
        let team = self.teams.get(&self.bids.get(&bid)?.version.team)?;
        market.pools.iter().find(|pool| pool.id == team.team.pool)?.local_price
    }

    fn reclaim(
        &self,
        cycle: u64,
        market: &ChipTypeOutcome,
        job: &Candidate,
        why: ReclaimWhy,
    ) -> Option<Reclaim> {
        let team = self.bids.get(&job.bid)?.version.team.clone();
        let pool = self.teams.get(&team)?.team.pool.clone();
        let before = self.prices.get(&(pool, market.id.clone()));
        Some(Reclaim {
            cycle,
            bid: job.bid,
            team,
            chip_type: market.id.clone(),
            chips: job.chips,
            why,
            price_then: before.and_then(|price| price.local_price),
            price_now: self.price_in(market, job.bid),
        })
    }
}

/// Chips for jobs over quota.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Room {
    /// All that are there, those that are cut and still run on included.
    all: u64,
    /// Those within the supply that nobody else uses.
    within_supply: u64,
}

/// Who runs on and who is stopped, and why. Lowest price first, ties by id; as soon as what is needed is free nobody else
/// is stopped, so what is taken exceeds the need by less than the last job's gang.
fn divide(
    mut candidates: Vec<Candidate>,
    policy: CutPolicy,
    room: Room,
) -> (Vec<Candidate>, Vec<(Candidate, ReclaimWhy)>) {
    if policy.kind == CutPolicyKind::AtOnce {
        return (Vec::new(), candidates.into_iter().map(|job| (job, ReclaimWhy::AtOnce)).collect());
    }
    candidates.sort_by(|one, other| (other.worth, &other.id).cmp(&(one.worth, &one.id)));
    let mut stopped = Vec::new();
    let running = |jobs: &[Candidate]| jobs.iter().map(|job| job.chips.0).sum::<u64>();
    // Others won the chips that these ran on.
    let need = running(&candidates).saturating_sub(room.all);
    take(&mut candidates, need, ReclaimWhy::Room, &mut stopped);
    if policy.kind == CutPolicyKind::Reclaim {
        let need = running(&candidates).saturating_sub(room.within_supply);
        let need = policy.churn_chips.map_or(need, |most| need.min(most.0));
        take(&mut candidates, need, ReclaimWhy::Policy, &mut stopped);
    }
    (candidates, stopped)
}

/// Stops jobs from the end of the list until so many chips are free.
fn take(
    candidates: &mut Vec<Candidate>,
    need: u64,
    why: ReclaimWhy,
    stopped: &mut Vec<(Candidate, ReclaimWhy)>,
) {
    let mut taken = 0;
    while taken < need
        && let Some(job) = candidates.pop()
    {
        taken += job.chips.0;
        stopped.push((job, why));
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn jobs(sizes: &[(u64, u64)]) -> Vec<Candidate> {
        let job = |(nth, (chips, worth)): (usize, &(u64, u64))| Candidate {
            bid: nth as u64,
            id: format!("b{nth}").parse().unwrap(),
            chips: Chips(*chips),
            worth: *worth,
            limit: None,
        };
        sizes.iter().enumerate().map(job).collect()
    }

    fn sum(jobs: impl IntoIterator<Item = Candidate>) -> u64 {
        jobs.into_iter().map(|job| job.chips.0).sum()
    }

    #[test]
    fn the_lowest_price_goes_first_and_only_as_much_as_is_needed() {
        let policy = CutPolicy { kind: CutPolicyKind::Reclaim, churn_chips: None };
        let room = Room { all: 100, within_supply: 40 };
        let (kept, stopped) = divide(jobs(&[(30, 5), (20, 1), (30, 9), (10, 1)]), policy, room);
        let kept: Vec<u64> = kept.into_iter().map(|job| job.bid).collect();
        let stopped: Vec<(u64, ReclaimWhy)> = stopped.into_iter().map(|(job, why)| (job.bid, why)).collect();
        assert_eq!(kept, [2], "90 run and 40 fit");
        assert_eq!(stopped, [1, 3, 0].map(|bid| (bid, ReclaimWhy::Policy)));
        let (kept, stopped) = divide(jobs(&[(30, 5), (20, 1)]), CutPolicy::default(), room);
        assert_eq!((kept.len(), stopped.len()), (0, 2), "as long as nothing is set they stop at once");
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(2_000))]

        /// T088: 48 chips are wanted, and never as much as 48 and the largest gang together is taken.
        #[test]
        fn t088_no_more_is_reclaimed_than_needed_but_for_one_gang(
            sizes in prop::collection::vec((1_u64..400, 0_u64..9), 0..30),
            within in 0_u64..2_000,
            draining in 0_u64..2_000,
            churn in prop::option::of(1_u64..500),
        ) {
            let all = jobs(&sizes);
            let largest = all.iter().map(|job| job.chips.0).max().unwrap_or(0);
            let total = sum(all.clone());
            let room = Room { all: within + draining, within_supply: within };
            for kind in [CutPolicyKind::Keep, CutPolicyKind::Reclaim] {
                let policy = CutPolicy { kind, churn_chips: churn.map(Chips) };
                let (kept, stopped) = divide(all.clone(), policy, room);
                let of = |why| sum(stopped.iter().filter(|row| row.1 == why).map(|row| row.0.clone()));
                let (for_room, by_policy) = (of(ReclaimWhy::Room), of(ReclaimWhy::Policy));
                prop_assert_eq!(sum(kept.clone()) + for_room + by_policy, total);
                prop_assert!(sum(kept.clone()) <= room.all, "nobody runs on chips that are not there");
                let need = total.saturating_sub(room.all);
                prop_assert!(for_room == 0 || for_room < need + largest);
                let need = (total - for_room).saturating_sub(within);
                let need = churn.map_or(need, |most| need.min(most));
                prop_assert!(by_policy == 0 || by_policy < need + largest);
                prop_assert!(kind == CutPolicyKind::Reclaim || by_policy == 0);
                if let (Some(lowest), Some(highest)) = (
                    kept.iter().map(|job| job.worth).min(),
                    stopped.iter().map(|row| row.0.worth).max(),
                ) {
                    prop_assert!(highest <= lowest, "lowest price first");
                }
            }
        }
    }
}
