//! One pool in one chip type's market (market.md 4.0, 4.1 and 4.3): what it lends, what it holds at a reference
//! price, and how its teams share that.

use std::ops::Range;

use crate::curve::{Divisor, TeamCurve};
use crate::demand::Demand;
use crate::ties::{Claim, Level, divide};
use crate::window::{Bracket, Window};

/// A pool's side of one market.
#[derive(Clone, Debug)]
pub(crate) struct PoolDemand {
    /// The pool, as its index in the market.
    pub(crate) pool: u32,
    /// Chips it owns (`s_k`).
    pub(crate) owned: u64,
    /// Chips it lends (4.0).
    pub(crate) lent: u64,
    /// Its teams that ask for the type: rows of the demand.
    pub(crate) rows: Range<usize>,
    /// `D_k(0)`.
    pub(crate) asked: u64,
    /// Its price in the last cycle: where searches start.
    pub(crate) last_price: u64,
    /// `Σ b_i`: above this reference price the pool buys nothing.
    pub(crate) rates: u64,
}

/// What a pool's teams got.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Shares {
    /// The price at which the pool's own teams clear what it holds; of no account where it owns nothing.
    pub(crate) own_price: u64,
    /// Quota per team, in the order of the teams.
    pub(crate) quotas: Vec<u64>,
}

impl PoolDemand {
    pub(crate) fn new(
        demand: &Demand,
        pool: usize,
        owned: u64,
        may_lend: u64,
        last_price: u64,
        rows: Range<usize>,
    ) -> Self {
        let (mut asked, mut rates) = (0, 0);
        for curve in demand.curves(rows.clone()) {
            asked += curve.asked();
            rates += curve.rate;
        }
        let pool = u32::try_from(pool).unwrap_or(u32::MAX);
        let lent = owned.saturating_sub(asked).min(may_lend);
        Self { pool, owned, lent, rows, asked, last_price, rates }
    }

    /// `D_k(p)`.
    pub(crate) fn demand(&self, demand: &Demand, price: u64) -> u64 {
        self.each_at(demand, price).sum()
    }

    /// What each team asks for.
    fn each_at(&self, demand: &Demand, price: u64) -> impl Iterator<Item = u64> {
        let by_price = Divisor::new(price.max(1));
        let quantity =
            move |curve: TeamCurve<'_>| if price == 0 { curve.asked() } else { curve.quantity_at(by_price) };
        demand.curves(self.rows.clone()).map(quantity)
    }

    /// `z_k(0)`: what it would buy for nothing.
    pub(crate) fn wanted(&self) -> u64 {
        self.asked.saturating_sub(self.owned)
    }

    /// Whether the pool's own chips are too few for what its teams ask at price 0, and it has some: then what it holds
    /// blends its own chips with bought ones.
    pub(crate) fn blends(&self) -> bool {
        self.owned > 0 && self.asked > self.owned
    }

    /// Its teams' demand near the price at which it should clear: the last one, or what its rates would pay for its own
    /// chips.
    pub(crate) fn window(&self, demand: &Demand) -> Window {
        let price = if self.last_price > 0 { self.last_price } else { self.rates / self.owned.max(1) };
        Window::around(demand, vec![self.rows.clone()], price)
    }

    /// The price at which the pool's own chips meet its demand with a bid added, where it can buy none.
    pub(crate) fn price_alone(&self, demand: &Demand, added: &Added<'_>) -> u64 {
        self.window(demand).tick(demand, Some(added), unmet(self.owned)).lo
    }

    /// `z_k(p*)`: shared chips the pool buys at reference price `reference`.
    pub(crate) fn buys(&self, demand: &Demand, reference: u64) -> u64 {
        self.purchase(demand, reference).0
    }

    /// What the pool buys, and the bracket of its own tick where it blends.
    pub(crate) fn purchase(&self, demand: &Demand, reference: u64) -> (u64, Option<Bracket>) {
        if self.asked <= self.owned || reference == 0 {
            return (self.asked.saturating_sub(self.owned), None);
        }
        if self.owned == 0 {
            return (self.demand(demand, reference), None);
        }
        let tick = self.window(demand).tick(demand, None, self.unpaid(reference));
        (self.bought(reference, tick), Some(tick))
    }

    /// What is owed at reference price `reference` for chips beyond the pool's own, less what its teams pay (4.1), at a
    /// price of its own and the demand there. The lowest tick without excess is `p_f`: demand is met by the pool's own
    /// chips, or pays for what it takes beyond them.
    pub(crate) fn unpaid(&self, reference: u64) -> impl Fn(u64, u64) -> i128 + use<> {
        let owned = i128::from(self.owned);
        // Both products stay below 2^110. Demand within the pool's own chips is no excess either way.
        move |price, demand| {
            let demand = i128::from(demand);
            i128::from(reference) * (demand - owned) - i128::from(price) * demand
        }
    }

    /// What the pool buys where `tick` is the bracket of that one tick.
    pub(crate) fn bought(&self, reference: u64, tick: Bracket) -> u64 {
        // The marginal demand may be met in part, up to what the price one tick lower still pays for. The tick is at
        // most the reference price, so the difference is at least 1.
        let paid_for = u128::from(self.owned) * u128::from(reference) / u128::from(reference - tick.lo);
        let partly = u64::try_from(paid_for).unwrap_or(u64::MAX).min(tick.at_lo);
        tick.at_hi.max(partly).saturating_sub(self.owned)
    }

    /// Divides `total` chips among the pool's teams (4.3). `near` is their demand around the price at which it should be
    /// met, where that is known.
    pub(crate) fn share<'id>(
        &self,
        demand: &Demand,
        total: u64,
        near: Option<Window>,
        tie: &Tie<'id, impl Fn(u32) -> &'id str>,
    ) -> Shares {
        if self.asked <= total {
            return Shares { own_price: 0, quotas: self.each_at(demand, 0).collect() };
        }
        if total == 0 {
            return Shares { own_price: 0, quotas: vec![0; self.rows.len()] };
        }
        let mut window = near.unwrap_or_else(|| self.window(demand));
        let own_price = window.tick(demand, None, unmet(total)).lo;
        Shares { own_price, quotas: self.quotas(demand, total, &window, tie) }
    }

    /// Quotas where the window's bracket is one tick, at whose upper end the teams ask for no more than `total`, and at
    /// whose lower end for no less. It may be of other pools as well.
    pub(crate) fn quotas<'id>(
        &self,
        demand: &Demand,
        total: u64,
        window: &Window,
        tie: &Tie<'id, impl Fn(u32) -> &'id str>,
    ) -> Vec<u64> {
        let mut quotas = window.quantities(&self.rows);
        let left = total - quotas.iter().sum::<u64>();
        if left > 0 {
            let marginal = window.marginal(&self.rows);
            let claim = |(row, chips)| (row, Claim { id: (tie.id)(demand.asked.teams[row]), chips });
            let (rows, claims): (Vec<usize>, Vec<Claim<'_>>) = marginal.map(claim).unzip();
            for (row, share) in
                rows.into_iter().zip(divide(tie.cycle, tie.chip_type, Level::Team, &claims, left))
            {
                quotas[row - self.rows.start] += share;
            }
        }
        quotas
    }
}

/// What decides ties within a market.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Tie<'id, F> {
    pub(crate) cycle: u64,
    pub(crate) chip_type: &'id str,
    /// The id of a pool or team.
    pub(crate) id: F,
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

/// Demand beyond `total` chips (4.3), from a price and the demand there.
fn unmet(total: u64) -> impl Fn(u64, u64) -> i128 {
    move |_, demand| i128::from(demand) - i128::from(total)
}

/// A bid that is not part of the demand, and the curve of its team without it.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Added<'a> {
    pub(crate) curve: TeamCurve<'a>,
    pub(crate) limit: u64,
    pub(crate) chips: u64,
}

impl Added<'_> {
    /// How many chips more the team asks for.
    pub(crate) fn at(&self, price: u64) -> u64 {
        if self.limit < price {
            return 0;
        }
        let wanted = self.curve.wanted(price);
        match self.curve.rate.checked_div(price) {
            Some(affordable) => (wanted + self.chips).min(affordable) - wanted.min(affordable),
            None => self.chips,
        }
    }
}
