//! One pool in one chip type's market (market.md 4.0, 4.1 and 4.3): what it lends, what it holds at a reference
//! price, and how its teams share that.

use crate::curve::TeamCurve;
use crate::search::{Excess, Guess, lowest_tick};
use crate::ties::{Claim, Level, divide};
use crate::window::Window;

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
    /// Its price in the last cycle: where searches start.
    pub(crate) last_price: u64,
    /// `Σ b_i`: above this reference price the pool buys nothing.
    pub(crate) rates: u64,
    /// The lowest tick at which certainly nobody asks for a chip.
    pub(crate) ceiling: u64,
}

/// What a pool's teams got.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Shares {
    /// The price at which the pool's own teams clear what it holds.
    pub(crate) own_price: u64,
    /// Quota per team, in the order of the teams.
    pub(crate) quotas: Vec<u64>,
}

/// Prices between which a pool's own price lies, and demand at both.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Bracket {
    pub(crate) lo: u64,
    pub(crate) hi: u64,
    pub(crate) at_lo: u64,
    pub(crate) at_hi: u64,
}

impl<'a> PoolDemand<'a> {
    pub(crate) fn new(
        pool: u32,
        owned: u64,
        may_lend: u64,
        last_price: u64,
        teams: &'a [TeamCurve<'a>],
    ) -> Self {
        let (mut asked, mut rates, mut highest) = (0, 0, 0);
        for team in teams {
            asked += team.asked();
            rates += team.rate;
            highest = team.rate.max(highest);
        }
        let ceiling = highest + 1;
        let lent = owned.saturating_sub(asked).min(may_lend);
        Self { pool, owned, lent, teams, asked, last_price, rates, ceiling }
    }

    /// `D_k(p)`.
    pub(crate) fn demand(&self, price: u64) -> u64 {
        if price == 0 { self.asked } else { self.teams.iter().map(|team| team.quantity(price)).sum() }
    }

    /// Whether the pool's own chips are too few for what its teams ask at price 0, and it has some: then what it holds
    /// blends its own chips with bought ones.
    pub(crate) fn blends(&self) -> bool {
        self.owned > 0 && self.asked > self.owned
    }

    /// All prices.
    pub(crate) fn whole_bracket(&self) -> Bracket {
        Bracket { lo: 0, hi: self.ceiling, at_lo: self.asked, at_hi: 0 }
    }

    /// All prices, with a bid added to one team.
    pub(crate) fn whole_bracket_with(&self, added: &Added<'_>) -> Bracket {
        let hi = self.ceiling.max(added.curve.rate + 1);
        Bracket { lo: 0, hi, at_lo: self.asked + added.chips, at_hi: 0 }
    }

    /// The price at which the pool's own chips meet its demand with a bid added, where it can buy none.
    pub(crate) fn price_alone(&self, added: &Added<'_>) -> u64 {
        let window = Window::new(self.teams.iter());
        let guess = Guess { price: self.last_price, step: self.last_price >> 5 };
        let mut unmet = Unmet { total: self.owned, window, added: Some(added) };
        lowest_tick(0, self.whole_bracket_with(added).hi, guess, &mut unmet) - 1
    }

    /// `z_k(p*)`: shared chips the pool buys at reference price `reference`.
    pub(crate) fn buys(&self, reference: u64) -> u64 {
        self.purchase(reference).0
    }

    /// What the pool buys, and the bracket of its own tick where it blends; of all prices where it does not.
    pub(crate) fn purchase(&self, reference: u64) -> (u64, Bracket) {
        let whole = self.whole_bracket();
        if self.asked <= self.owned || reference == 0 {
            return (self.asked.saturating_sub(self.owned), whole);
        }
        if self.owned == 0 {
            return (self.demand(reference), whole);
        }
        let mut window = Window::new(self.teams.iter());
        let guess = Guess { price: self.last_price, step: self.last_price >> 5 };
        let tick = self.tick(reference, whole, guess, &mut window, None);
        (self.bought(reference, tick), tick)
    }

    /// The lowest tick at which demand is met by the pool's own chips, or pays at reference price `reference` for
    /// what it takes beyond them (`p_f` of 4.1): the upper end of the answer, one tick above its lower end.
    pub(crate) fn tick(
        &self,
        reference: u64,
        bracket: Bracket,
        guess: Guess,
        window: &mut Window<'_>,
        added: Option<&Added<'_>>,
    ) -> Bracket {
        let mut unpaid = Unpaid { owned: self.owned, reference, window, added, bracket, last: (0, 0) };
        lowest_tick(bracket.lo, bracket.hi, guess, &mut unpaid);
        unpaid.bracket
    }

    /// What the pool buys where `tick` is the bracket of that one tick.
    pub(crate) fn bought(&self, reference: u64, tick: Bracket) -> u64 {
        // The marginal demand may be met in part, up to what the price one tick lower still pays for. The tick is at
        // most the reference price, so the difference is at least 1.
        let paid_for = u128::from(self.owned) * u128::from(reference) / u128::from(reference - tick.lo);
        let partly = u64::try_from(paid_for).unwrap_or(u64::MAX).min(tick.at_lo);
        tick.at_hi.max(partly).saturating_sub(self.owned)
    }

    /// Divides `total` chips among the pool's teams (4.3). `near` is a price to start from.
    pub(crate) fn share<'id>(
        &self,
        total: u64,
        near: u64,
        cycle: u64,
        chip_type: &str,
        team_id: impl Fn(u32) -> &'id str,
    ) -> Shares {
        if self.asked <= total {
            return Shares { own_price: 0, quotas: self.teams.iter().map(TeamCurve::asked).collect() };
        }
        // `near` is mostly the tick itself for a pool that owns nothing. Its own price is of no account then: at any
        // price at which demand is the total, each team gets what it asks for.
        let reference = near.saturating_sub(1);
        if self.owned == 0 && reference > 0 && self.demand(reference) == total {
            let quotas = self.teams.iter().map(|team| team.quantity(reference)).collect();
            return Shares { own_price: reference, quotas };
        }
        // Where rates bind, demand falls by one chip in about so many ticks.
        let guess = Guess { price: near, step: near / (total + 1) + 1 };
        let window = Window::new(self.teams.iter());
        let found = lowest_tick(0, self.ceiling, guess, &mut Unmet { total, window, added: None });
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

/// A bid that is not part of the demand, and the curve of its team without it.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Added<'a> {
    pub(crate) curve: TeamCurve<'a>,
    pub(crate) limit: u64,
    pub(crate) chips: u64,
}

impl Added<'_> {
    /// How many chips more the team asks for at a price of at least 1.
    pub(crate) fn at(&self, price: u64) -> u64 {
        if self.limit < price {
            return 0;
        }
        let (wanted, affordable) = (self.curve.wanted(price), self.curve.rate / price);
        (wanted + self.chips).min(affordable) - wanted.min(affordable)
    }
}

/// Demand beyond what the pool has (4.3).
struct Unmet<'w, 'a> {
    total: u64,
    window: Window<'a>,
    added: Option<&'w Added<'w>>,
}

impl Excess for Unmet<'_, '_> {
    fn at(&mut self, price: u64) -> i128 {
        let added = self.added.map_or(0, |added| added.at(price));
        i128::from(self.window.demand(price) + added) - i128::from(self.total)
    }

    fn narrow(&mut self, above: bool) {
        self.window.narrow(above);
    }
}

/// What is owed at the reference price for chips beyond the pool's own, less what its teams pay (4.1).
struct Unpaid<'w, 'a> {
    owned: u64,
    reference: u64,
    window: &'w mut Window<'a>,
    added: Option<&'w Added<'w>>,
    bracket: Bracket,
    /// The price last asked about and demand at it.
    last: (u64, u64),
}

impl Excess for Unpaid<'_, '_> {
    fn at(&mut self, price: u64) -> i128 {
        let demand = self.window.demand(price) + self.added.map_or(0, |added| added.at(price));
        self.last = (price, demand);
        // Both products stay below 2^110. Demand within the pool's own chips is no excess either way.
        i128::from(self.reference) * (i128::from(demand) - i128::from(self.owned))
            - i128::from(price) * i128::from(demand)
    }

    fn narrow(&mut self, above: bool) {
        self.window.narrow(above);
        if above {
            (self.bracket.lo, self.bracket.at_lo) = self.last;
        } else {
            (self.bracket.hi, self.bracket.at_hi) = self.last;
        }
    }
}
