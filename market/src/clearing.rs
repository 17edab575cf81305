//! Clears a [`Market`]: the bidder, then each chip type on its own, then jobs.

use common::chips::Chips;
use common::money::{MicroCredits, Price};

use crate::bidder::bid;
use crate::demand::Demand;
use crate::error::SnapshotError;
use crate::invariants;
use crate::jobs::{Granted, JobResult, serve_jobs};
use crate::market::{Market, NO_ALTERNATIVE};
use crate::outcome::{BidOutcome, ChipTypeOutcome, Outcome, PoolOutcome, TeamMarket, TeamOutcome};
use crate::parallel;
use crate::pool::{Shares, Tie, pool_price};
use crate::reference::clear_reference;
use crate::snapshot::Snapshot;

/// Clears a snapshot. A pure function: equal snapshots give byte-identical outcomes, whatever the order of their
/// lists.
///
/// # Errors
/// The snapshot has a field outside its limits.
pub fn run_auction(snapshot: &Snapshot) -> Result<Outcome, SnapshotError> {
    let market = Market::build(snapshot)?;
    Ok(market.clear().outcome(&market))
}

/// What a clearing decided, by the market's own numbering: canonical order of ids.
#[derive(Debug)]
pub struct Clearing {
    pub(crate) chip_types: Vec<ChipTypeResult>,
    /// By row of the demand.
    pub(crate) quotas: Vec<u64>,
    /// Chips of the quotas that bids use; by team, then chip type.
    pub(crate) used: Vec<u64>,
    pub(crate) demand: Demand,
    pub(crate) jobs: Vec<JobResult>,
}

#[derive(Debug)]
pub(crate) struct ChipTypeResult {
    /// Global ticks.
    pub(crate) reference: Option<u64>,
    /// `Z`.
    pub(crate) shared: u64,
    /// Chips of the quotas that bids use.
    pub(crate) used: u64,
    pub(crate) pools: Vec<PoolResult>,
    /// Of all pools, in their order.
    prices: Vec<Option<u64>>,
}

#[derive(Clone, Copy, Debug)]
pub(crate) struct PoolResult {
    pub(crate) pool: u32,
    /// Global ticks.
    pub(crate) price: Option<u64>,
    pub(crate) owned: u64,
    pub(crate) lent: u64,
    pub(crate) bought: u64,
    pub(crate) asked: u64,
    pub(crate) granted: u64,
}

impl ChipTypeResult {
    /// The price in a pool, in global ticks.
    pub(crate) fn price_in(&self, pool: u32) -> Option<u64> {
        self.prices[pool as usize]
    }
}

impl Market {
    /// Clears the market.
    ///
    /// # Panics
    /// The outcome breaks an invariant of the mechanism: a fault of the engine, never of the input. The caller keeps
    /// the last valid quotas in force.
    #[must_use]
    pub fn clear(&self) -> Clearing {
        let demand = bid(self);
        let threads = parallel::threads(self.bids.len());
        let types: Vec<usize> = (0..self.chip_types.len()).collect();
        let results = parallel::run(&types, threads, |chip_type| self.clear_type(*chip_type, &demand));
        let mut quotas = Vec::with_capacity(demand.rates.len());
        let mut chip_types = Vec::with_capacity(types.len());
        for (result, shares) in results {
            quotas.extend(shares);
            chip_types.push(result);
        }
        let granted = Granted { market: self, demand: &demand, quotas: &quotas, chip_types: &chip_types };
        let (jobs, used) = serve_jobs(granted);
        for (row, chips) in demand.asked.rows_by_team().iter().zip(&used) {
            chip_types[row.chip_type as usize].used += chips;
        }
        Clearing { chip_types, quotas, used, demand, jobs }
    }

    /// Clears one chip type (4.0 to 4.3). Also returns its teams' quotas, in the order of the rows.
    fn clear_type(&self, chip_type: usize, demand: &Demand) -> (ChipTypeResult, Vec<u64>) {
        let pools = demand.pools_of(self, chip_type);
        let row = &self.chip_types[chip_type];
        let (cycle, name) = (self.cycle, row.id.as_str());
        let pools_tie = Tie { cycle, chip_type: name, id: |pool: u32| self.pools[pool as usize].id.as_str() };
        let teams_tie = Tie { cycle, chip_type: name, id: |team: u32| self.teams[team as usize].id.as_str() };
        let mut cleared = clear_reference(demand, &pools, row.shared, row.reserve, &pools_tie);
        invariants::check_chip_type(&pools, &cleared);
        let mut results = Vec::with_capacity(pools.len());
        let mut quotas = Vec::with_capacity(demand.asked.rows_of_type(chip_type).len());
        let mut prices = vec![None; self.pools.len()];
        for (nth, (pool, &bought)) in pools.iter().zip(&cleared.bought).enumerate() {
            let total = pool.owned + bought;
            let shares = match &mut cleared.near {
                Some(near) if pool.owned == 0 => {
                    let quotas = pool.quotas(demand, total, &near.without, &teams_tie);
                    Shares { own_price: 0, quotas }
                }
                near => {
                    let near = near.as_mut().and_then(|near| near.blending[nth].take());
                    pool.share(demand, total, near, &teams_tie)
                }
            };
            let price = if cleared.asked == 0 {
                None
            } else {
                pool_price(pool, cleared.price, bought, shares.own_price)
            };
            prices[pool.pool as usize] = price;
            invariants::check_pool(demand, pool, cleared.price, bought, price, &shares.quotas);
            results.push(PoolResult {
                pool: pool.pool,
                price,
                owned: pool.owned,
                lent: pool.lent,
                bought,
                asked: pool.asked,
                granted: shares.quotas.iter().sum(),
            });
            quotas.extend(shares.quotas);
        }
        let (reference, shared) = (cleared.price, cleared.shared);
        (ChipTypeResult { reference, shared, used: 0, pools: results, prices }, quotas)
    }
}

impl Clearing {
    /// The outcome in the form that is stored, hashed and exchanged.
    #[must_use]
    pub fn outcome(&self, market: &Market) -> Outcome {
        Outcome {
            cycle: market.cycle,
            time: market.time,
            chip_types: self.chip_type_outcomes(market),
            teams: self.team_outcomes(market),
            bids: self.bid_outcomes(market),
        }
    }

    fn chip_type_outcomes(&self, market: &Market) -> Vec<ChipTypeOutcome> {
        let outcomes = self.chip_types.iter().zip(&market.chip_types);
        outcomes
            .map(|(result, row)| ChipTypeOutcome {
                id: row.id.clone(),
                reference_price: result.reference.map(Price),
                supply: Chips(row.shared + result.pools.iter().map(|pool| pool.owned).sum::<u64>()),
                shared: Chips(result.shared),
                asked: Chips(result.pools.iter().map(|pool| pool.asked).sum()),
                granted: Chips(result.pools.iter().map(|pool| pool.granted).sum()),
                used: Chips(result.used),
                pools: result.pools.iter().map(|pool| pool_outcome(market, pool)).collect(),
            })
            .collect()
    }

    fn team_outcomes(&self, market: &Market) -> Vec<TeamOutcome> {
        let mut outcomes: Vec<TeamOutcome> = market
            .teams
            .iter()
            .map(|team| TeamOutcome { id: team.id.clone(), cap: money(team.cap), markets: Vec::new() })
            .collect();
        let asked = &self.demand.asked;
        for (team, outcome) in outcomes.iter_mut().enumerate() {
            for (each, used) in asked.rows_of_team(team).iter().zip(&self.used[asked.places_of(team)]) {
                let row = each.row as usize;
                outcome.markets.push(TeamMarket {
                    chip_type: market.chip_types[each.chip_type as usize].id.clone(),
                    rate: money(self.demand.rates[row]),
                    asked: Chips(asked.asked(row)),
                    quota: Chips(self.quotas[row]),
                    used: Chips(*used),
                });
            }
        }
        outcomes
    }

    fn bid_outcomes(&self, market: &Market) -> Vec<BidOutcome> {
        let results = market.names.iter().zip(&self.jobs).enumerate();
        results
            .map(|(bid, (row, job))| {
                let choice = self.demand.asked.choices[bid];
                let chip_type = (choice != NO_ALTERNATIVE).then(|| {
                    let chosen = market.alternatives_of(bid)[usize::from(choice)];
                    market.chip_types[chosen.chip_type as usize].id.clone()
                });
                BidOutcome {
                    id: row.id.clone(),
                    chip_type,
                    chips: Chips(u64::from(job.chips)),
                    reason: job.reason,
                }
            })
            .collect()
    }
}

fn pool_outcome(market: &Market, result: &PoolResult) -> PoolOutcome {
    let row = &market.pools[result.pool as usize];
    PoolOutcome {
        id: row.id.clone(),
        price: result.price.map(Price),
        local_price: result.price.and_then(|price| row.local_price(price)).map(Price),
        owned: Chips(result.owned),
        lent: Chips(result.lent),
        bought: Chips(result.bought),
        asked: Chips(result.asked),
        granted: Chips(result.granted),
    }
}

/// Ticks as an amount; the builder keeps them below 2^53.
fn money(ticks: u64) -> MicroCredits {
    MicroCredits(i64::try_from(ticks).unwrap_or(i64::MAX))
}
