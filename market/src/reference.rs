//! The reference price of one chip type and what each pool buys at it (market.md 4.2, 4.6 and 4.7).

use crate::demand::Demand;
use crate::pool::PoolDemand;
use crate::purchases::{Marginal, lowest_price};
use crate::ties::{Claim, Level, divide};

/// One chip type's global clearing.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Reference {
    /// `p*` in global ticks; absent when nobody asks or nothing is shared.
    pub(crate) price: Option<u64>,
    /// `Z`: shared chips and those lent.
    pub(crate) shared: u64,
    /// `D(0)` over all pools.
    pub(crate) asked: u64,
    /// `z_k`, in the order of the pools.
    pub(crate) bought: Vec<u64>,
    /// The floor took the place of a lower price.
    pub(crate) reserve_binds: bool,
    /// A price of at least 1 near each pool's own, in the order of the pools.
    pub(crate) near: Vec<u64>,
}

/// Finds `p*`, the lowest reference price at which pools buy no more than is shared, and divides the shared chips.
pub(crate) fn clear_reference<'id>(
    demand: &Demand,
    pools: &[PoolDemand],
    shared: u64,
    reserve: u64,
    cycle: u64,
    chip_type: &str,
    pool_id: impl Fn(u32) -> &'id str,
) -> Reference {
    let shared = shared + pools.iter().map(|pool| pool.lent).sum::<u64>();
    let asked: u64 = pools.iter().map(|pool| pool.asked).sum();
    let at = |price: u64| -> Vec<u64> { pools.iter().map(|pool| pool.buys(demand, price)).collect() };
    let near = || pools.iter().map(|pool| pool.last_price.max(1)).collect();
    let bought = vec![0; pools.len()];
    let none = |price| Reference { price, shared, asked, bought, reserve_binds: false, near: near() };
    if asked == 0 || shared == 0 {
        return none(None);
    }
    let marginal = lowest_price(demand, pools, shared);
    let price = marginal.as_ref().map_or(0, |marginal| marginal.found - 1);
    if price < reserve {
        return Reference { bought: at(reserve), reserve_binds: true, ..none(Some(reserve)) };
    }
    let Some(Marginal { mut bought, more, near, .. }) = marginal else {
        return Reference { bought: at(0), ..none(Some(0)) };
    };
    let left = shared - bought.iter().sum::<u64>();
    if left > 0 {
        let claims: Vec<Claim<'_>> =
            pools.iter().zip(more).map(|(pool, chips)| Claim { id: pool_id(pool.pool), chips }).collect();
        for (sure, share) in bought.iter_mut().zip(divide(cycle, chip_type, Level::Pool, &claims, left)) {
            *sure += share;
        }
    }
    Reference { bought, near, ..none(Some(price)) }
}

/// The pool price `p_k` (4.3) from what the pool's own clearing and its purchase say; absent where the pool can get
/// nothing.
pub(crate) fn pool_price(
    pool: &PoolDemand,
    reference: Option<u64>,
    bought: u64,
    own_price: u64,
) -> Option<u64> {
    if pool.owned == 0 {
        return reference;
    }
    if pool.asked <= pool.owned {
        return Some(0);
    }
    let total = pool.owned + bought;
    let blended = reference.map_or(0, |reference| {
        let ceil = (u128::from(reference) * u128::from(bought)).div_ceil(u128::from(total));
        // At most the reference price, because `bought` is at most `total`.
        u64::try_from(ceil).unwrap_or(reference)
    });
    Some(own_price.max(blended))
}
