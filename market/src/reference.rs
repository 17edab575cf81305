//! The reference price of one chip type and what each pool buys at it (market.md 4.2, 4.6 and 4.7).

use crate::curve::lowest_tick;
use crate::pool::PoolDemand;
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
}

/// Finds `p*`, the lowest reference price at which pools buy no more than is shared, and divides the shared chips.
pub(crate) fn clear_reference<'id>(
    pools: &[PoolDemand<'_>],
    shared: u64,
    reserve: u64,
    cycle: u64,
    chip_type: &str,
    pool_id: impl Fn(u32) -> &'id str,
) -> Reference {
    let shared = shared + pools.iter().map(|pool| pool.lent).sum::<u64>();
    let asked: u64 = pools.iter().map(|pool| pool.asked).sum();
    let at = |price: u64| -> Vec<u64> { pools.iter().map(|pool| pool.buys(price)).collect() };
    let none = |price| Reference { price, shared, asked, bought: vec![0; pools.len()], reserve_binds: false };
    if asked == 0 || shared == 0 {
        return none(None);
    }
    let total = |price: u64| pools.iter().map(|pool| pool.buys(price)).sum::<u64>();
    let found = if total(0) <= shared {
        None
    } else {
        let ceiling = pools.iter().map(PoolDemand::certainly_none).max().unwrap_or(1);
        Some(lowest_tick(0, ceiling, |price| total(price) <= shared))
    };
    let price = found.map_or(0, |found| found - 1);
    if price < reserve {
        return Reference { bought: at(reserve), reserve_binds: true, ..none(Some(reserve)) };
    }
    let Some(found) = found else {
        return Reference { bought: at(0), ..none(Some(0)) };
    };
    let mut bought = at(found);
    let left = shared - bought.iter().sum::<u64>();
    if left > 0 {
        let claims: Vec<Claim<'_>> = pools
            .iter()
            .zip(&bought)
            .map(|(pool, sure)| Claim { id: pool_id(pool.pool), chips: pool.buys(price) - sure })
            .collect();
        for (sure, share) in bought.iter_mut().zip(divide(cycle, chip_type, Level::Pool, &claims, left)) {
            *sure += share;
        }
    }
    Reference { bought, ..none(Some(price)) }
}

/// The pool price `p_k` (4.3) from what the pool's own clearing and its purchase say; absent where the pool can get
/// nothing.
pub(crate) fn pool_price(
    pool: &PoolDemand<'_>,
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
