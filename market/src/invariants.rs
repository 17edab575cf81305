//! The invariants of the mechanism (market.md 9) that are cheap to check, asserted in release builds as well: a
//! clearing that broke one must not become anybody's quota.

use crate::demand::Demand;
use crate::pool::PoolDemand;
use crate::reference::Reference;

/// Invariants 1 (second half) to 4, for one pool.
pub(crate) fn check_pool(
    demand: &Demand,
    pool: &PoolDemand,
    reference: Option<u64>,
    bought: u64,
    price: Option<u64>,
    quotas: &[u64],
) {
    let total = pool.owned + bought;
    let granted: u64 = quotas.iter().sum();
    assert_eq!(granted, pool.asked.min(total), "a pool's teams share what it has or asks for");
    let Some(price) = price else {
        assert_eq!(granted, 0, "no chips without a price");
        return;
    };
    let mut paid = 0_u128;
    for (team, &quota) in demand.curves(pool.rows.clone()).zip(quotas) {
        assert!(quota <= team.wanted(price), "no team gets chips that its limits exclude");
        let cost = u128::from(price) * u128::from(quota);
        assert!(cost <= u128::from(team.rate), "no team spends more than its rate");
        paid += cost;
    }
    if let Some(reference) = reference {
        assert!(pool.asked <= pool.owned || price <= reference, "a pool pays at most the reference price");
        assert!(
            u128::from(reference) * u128::from(bought) <= paid,
            "a pool's teams pay what it owes the shared market"
        );
    }
}

/// The first half of invariant 1.
pub(crate) fn check_chip_type(pools: &[PoolDemand], cleared: &Reference) {
    let bought: u64 = cleared.bought.iter().sum();
    assert!(bought <= cleared.shared, "no more shared chips are sold than there are");
    if !cleared.reserve_binds {
        let wanted: u64 = pools.iter().map(|pool| pool.asked.saturating_sub(pool.owned)).sum();
        assert_eq!(bought, cleared.shared.min(wanted), "shared chips that someone wants are sold");
    }
}
