//! What a pool's local credit is worth in global credits, cycle by cycle.
//!
//! A local credit of a pool is worth its weight over the total income of its teams, `W / C`; nothing where one of them is
//! 0. Both are versions, so the worth is a step function of the cycle.

use std::collections::BTreeMap;

use common::ids::{PoolId, TeamId};
use common::money::MicroCredits;

use crate::error::AppError;
use crate::store::db::{Tx, values};

/// Weight and total income of a pool from a cycle on, both in micro-credits per hour.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Rate {
    weight: i64,
    income: i64,
}

impl Rate {
    /// The rate of a pool's weight and the total income of its teams.
    pub(crate) const fn new(weight: MicroCredits, income: MicroCredits) -> Self {
        Self { weight: weight.0, income: income.0 }
    }

    /// A local credit has a worth.
    pub(crate) const fn is_defined(self) -> bool {
        self.weight > 0 && self.income > 0
    }

    /// Local credits in global ones, `amount · W / C`, rounded half up; 0 where a local credit has no worth.
    pub(crate) fn to_global(self, amount: i64) -> i64 {
        if !self.is_defined() {
            return 0;
        }
        rounded(i128::from(amount) * i128::from(self.weight), i128::from(self.income))
    }

    /// Global credits in local ones, `amount · C / W`, rounded half up; 0 where a local credit has no worth.
    pub(crate) fn to_local(self, amount: i64) -> i64 {
        if !self.is_defined() {
            return 0;
        }
        rounded(i128::from(amount) * i128::from(self.income), i128::from(self.weight))
    }
}

/// A fraction rounded half up, at the ends of the range where it is beyond them. The divisor is positive.
pub(crate) fn rounded(dividend: i128, divisor: i128) -> i64 {
    let whole = (dividend * 2 + divisor).div_euclid(divisor * 2);
    i64::try_from(whole).unwrap_or(if whole < 0 { i64::MIN } else { i64::MAX })
}

/// The rates of all pools, by the cycles from which they hold.
#[derive(Clone, Debug, Default)]
pub(crate) struct Rates(BTreeMap<PoolId, Vec<(u64, Rate)>>);

impl Rates {
    /// The rates up to `cycle`.
    pub(crate) async fn load(tx: &mut Tx, cycle: u64) -> Result<Self, AppError> {
        const POOLS: &str = "SELECT effective_cycle, id, weight FROM pool_version WHERE effective_cycle <= $1 \
            ORDER BY effective_cycle, version";
        const TEAMS: &str = "SELECT effective_cycle, pool, id, income FROM team_version WHERE effective_cycle <= $1 \
            ORDER BY effective_cycle, version";
        let mut changes: BTreeMap<u64, Vec<Change>> = BTreeMap::new();
        for mut row in tx.rows(POOLS, values![cycle]).await? {
            let (from, pool) = (row.unsigned()?, row.id()?);
            changes.entry(from).or_default().push(Change::Weight(pool, row.int()?));
        }
        for mut row in tx.rows(TEAMS, values![cycle]).await? {
            let (from, pool, team) = (row.unsigned()?, row.id()?, row.id()?);
            changes.entry(from).or_default().push(Change::Income(pool, team, row.int()?));
        }
        let mut rates: BTreeMap<PoolId, Vec<(u64, Rate)>> = BTreeMap::new();
        let mut incomes: BTreeMap<TeamId, i64> = BTreeMap::new();
        for (from, changes) in changes {
            for change in changes {
                let (pool, weight, income) = match change {
                    Change::Weight(pool, weight) => (pool, Some(weight), 0),
                    Change::Income(pool, team, income) => {
                        (pool, None, income - incomes.insert(team, income).unwrap_or(0))
                    }
                };
                let of_pool = rates.entry(pool).or_default();
                let mut rate = of_pool.last().map(|(_, rate)| *rate).unwrap_or_default();
                rate.weight = weight.unwrap_or(rate.weight);
                rate.income = rate.income.saturating_add(income);
                match of_pool.last_mut() {
                    Some(last) if last.0 == from => last.1 = rate,
                    _ => of_pool.push((from, rate)),
                }
            }
        }
        Ok(Self(rates))
    }

    /// The rate in which a charge is that was booked in `cycle`: that of the cycle before it, since a charge is for the time
    /// before it, and a change of incomes books a step before balances follow it.
    pub(crate) fn of_charge(&self, pool: &PoolId, cycle: u64) -> Rate {
        let rates = self.0.get(pool).map_or(&[][..], Vec::as_slice);
        let before = rates.partition_point(|(from, _)| *from < cycle);
        before.checked_sub(1).and_then(|place| rates.get(place)).map(|(_, rate)| *rate).unwrap_or_default()
    }
}

/// A version that changes a rate.
enum Change {
    Weight(PoolId, i64),
    Income(PoolId, TeamId, i64),
}

#[cfg(test)]
mod tests {
    use super::*;

    fn credits(credits: i64) -> MicroCredits {
        MicroCredits(credits * 1_000_000)
    }

    #[test]
    fn a_local_credit_is_worth_its_pools_weight_over_its_income() {
        let rate = Rate::new(credits(60), credits(61));
        assert_eq!(rate.to_global(61_000_000), 60_000_000);
        // 1 · 60 / 61 is nearer to 1 than to 0.
        assert_eq!((rate.to_global(1), rate.to_global(-1)), (1, -1));
        assert_eq!(rate.to_local(60_000_000), 61_000_000);
        for nothing in [Rate::new(credits(0), credits(61)), Rate::new(credits(60), credits(0))] {
            assert_eq!((nothing.to_global(5), nothing.to_local(5), nothing.is_defined()), (0, 0, false));
        }
    }

    #[test]
    fn halves_are_rounded_up() {
        assert_eq!([rounded(1, 2), rounded(3, 2), rounded(-1, 2), rounded(-3, 2)], [1, 2, 0, -1]);
        assert_eq!(rounded(i128::from(i64::MAX) * 4, 2), i64::MAX);
    }

    #[test]
    fn a_charge_is_in_the_credits_of_the_cycle_before_it() {
        let pool: PoolId = "p".parse().unwrap();
        let (old, new) = (Rate::new(credits(1), credits(1)), Rate::new(credits(1), credits(2)));
        let rates = Rates([(pool.clone(), vec![(1, old), (7, new)])].into());
        assert_eq!(rates.of_charge(&pool, 7), old);
        assert_eq!(rates.of_charge(&pool, 8), new);
        assert_eq!(rates.of_charge(&pool, 1), Rate::default());
        assert_eq!(rates.of_charge(&"q".parse().unwrap(), 9), Rate::default());
    }
}
