//! One pool in one chip type's market (market.md 4.0, 4.1 and 4.3): what it lends, what it holds at a reference
//! price, and how its teams share that.

use crate::curve::{TeamCurve, lowest_tick};
use crate::ties::{Claim, Level, divide};

/// A pool's side of one market.
#[derive(Clone, Debug)]
pub(crate) struct PoolDemand<'a> {
    /// The pool, as its index in the market.
    pub(crate) pool: u32,
    /// Chips it owns (`s_k`).
    pub(crate) owned: u64,
    /// Chips it lends (4.0).
    pub(crate) lent: u64,
    /// Its teams that ask for the type, in order of their ids.
    pub(crate) teams: &'a [TeamCurve<'a>],
    /// `D_k(0)`.
    pub(crate) asked: u64,
    /// The lowest tick at which certainly nobody asks for a chip.
    ceiling: u64,
    /// `Σ b_i + 1`: at this reference price the pool buys nothing.
    rates_and_one: u64,
}

/// What a pool's teams got.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Shares {
    /// The price at which the pool's own teams clear what it holds.
    pub(crate) own_price: u64,
    /// Quota per team, in the order of the teams.
    pub(crate) quotas: Vec<u64>,
}

impl<'a> PoolDemand<'a> {
    pub(crate) fn new(pool: u32, owned: u64, may_lend: u64, teams: &'a [TeamCurve<'a>]) -> Self {
        let asked: u64 = teams.iter().map(TeamCurve::asked).sum();
        let rates: u64 = teams.iter().map(|team| team.rate).sum();
        let ceiling = teams.iter().map(|team| team.rate).max().unwrap_or(0) + 1;
        let lent = owned.saturating_sub(asked).min(may_lend);
        Self { pool, owned, lent, teams, asked, ceiling, rates_and_one: rates + 1 }
    }

    /// `D_k(p)`.
    pub(crate) fn demand(&self, price: u64) -> u64 {
        if price == 0 { self.asked } else { self.teams.iter().map(|team| team.quantity(price)).sum() }
    }

    /// A reference price at which the pool certainly buys nothing.
    pub(crate) fn certainly_none(&self) -> u64 {
        self.rates_and_one
    }

    /// What the pool holds at reference price `reference` (4.1).
    pub(crate) fn holds(&self, reference: u64) -> u64 {
        if self.asked <= self.owned || reference == 0 {
            return self.asked;
        }
        if self.owned == 0 {
            return self.demand(reference);
        }
        // The lowest tick at which demand is met, or pays for what it takes beyond the pool's own chips.
        let found = lowest_tick(0, reference, |price| {
            let demand = self.demand(price);
            demand <= self.owned
                || u128::from(price) * u128::from(demand)
                    >= u128::from(reference) * u128::from(demand - self.owned)
        });
        let below = found - 1;
        let paid_for = u128::from(self.owned) * u128::from(reference) / u128::from(reference - below);
        let at_below = self.demand(below);
        let partly = u64::try_from(paid_for).unwrap_or(u64::MAX).min(at_below);
        self.demand(found).max(partly)
    }

    /// `z_k(p*)`: shared chips the pool buys at reference price `reference`.
    pub(crate) fn buys(&self, reference: u64) -> u64 {
        self.holds(reference).saturating_sub(self.owned)
    }

    /// Divides `total` chips among the pool's teams (4.3).
    pub(crate) fn share<'id>(
        &self,
        total: u64,
        cycle: u64,
        chip_type: &str,
        team_id: impl Fn(u32) -> &'id str,
    ) -> Shares {
        if self.asked <= total {
            return Shares { own_price: 0, quotas: self.teams.iter().map(TeamCurve::asked).collect() };
        }
        let found = lowest_tick(0, self.ceiling, |price| self.demand(price) <= total);
        let own_price = found - 1;
        let mut quotas: Vec<u64> = self.teams.iter().map(|team| team.quantity(found)).collect();
        let left = total - quotas.iter().sum::<u64>();
        if left > 0 {
            let marginal: Vec<(usize, Claim<'_>)> = self
                .teams
                .iter()
                .enumerate()
                .map(|(i, team)| (i, team.quantity(own_price) - quotas[i], team.team))
                .filter(|(_, chips, _)| *chips > 0)
                .map(|(i, chips, team)| (i, Claim { id: team_id(team), chips }))
                .collect();
            let claims: Vec<Claim<'_>> = marginal.iter().map(|(_, claim)| *claim).collect();
            let shares = divide(cycle, chip_type, Level::Team, &claims, left);
            for ((i, _), share) in marginal.iter().zip(shares) {
                quotas[*i] += share;
            }
        }
        Shares { own_price, quotas }
    }
}
