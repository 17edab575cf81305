//! The reference price of one chip type and what each pool buys at it (market.md 4.2, 4.6 and 4.7).

use crate::demand::Demand;
use crate::pool::{PoolDemand, Tie};
use crate::purchases::{Marginal, lowest_price};
use crate::ties::{Claim, Level, divide};
use crate::window::Window;

/// One chip type's global clearing.
#[derive(Debug)]
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
    /// Demand around the prices that were found; absent where the search found none.
    pub(crate) near: Option<Near>,
}

/// Demand of pools' teams around the prices at which they clear.
#[derive(Debug)]
pub(crate) struct Near {
    /// Of all pools that own nothing, just at the reference price.
    pub(crate) without: Window,
    /// Of each pool that blends, around its own price.
    pub(crate) blending: Vec<Option<Window>>,
}

/// Finds `p*`, the lowest reference price at which pools buy no more than is shared, and divides the shared chips.
pub(crate) fn clear_reference<'id>(
    demand: &Demand,
    pools: &[PoolDemand],
    shared: u64,
    reserve: u64,
    tie: &Tie<'id, impl Fn(u32) -> &'id str>,
) -> Reference {
    let shared = shared + pools.iter().map(|pool| pool.lent).sum::<u64>();
    let asked: u64 = pools.iter().map(|pool| pool.asked).sum();
    let at = |price: u64| -> Vec<u64> { pools.iter().map(|pool| pool.buys(demand, price)).collect() };
    let bought = vec![0; pools.len()];
    let none = |price| Reference { price, shared, asked, bought, reserve_binds: false, near: None };
    if asked == 0 || shared == 0 {
        return none(None);
    }
    let marginal = lowest_price(demand, pools, shared);
    let price = marginal.as_ref().map_or(0, |marginal| marginal.found - 1);
    if price < reserve {
        return Reference { bought: at(reserve), reserve_binds: true, ..none(Some(reserve)) };
    }
    let Some(Marginal { mut bought, more, without, blending, .. }) = marginal else {
        return Reference { bought: at(0), ..none(Some(0)) };
    };
    let left = shared - bought.iter().sum::<u64>();
    if left > 0 {
        let claims: Vec<Claim<'_>> =
            pools.iter().zip(more).map(|(pool, chips)| Claim { id: (tie.id)(pool.pool), chips }).collect();
        for (sure, share) in
            bought.iter_mut().zip(divide(tie.cycle, tie.chip_type, Level::Pool, &claims, left))
        {
            *sure += share;
        }
    }
    Reference { bought, near: Some(Near { without, blending }), ..none(Some(price)) }
}
