//! Reading a [`Clearing`] by the builder's indices, for callers that clear many markets and make no
//! [`Outcome`](crate::Outcome) of each.

use common::api::Reason;
use common::chips::Chips;
use common::money::{MicroCredits, Price};

use crate::builder::{ChipTypeIndex, PoolIndex, TeamIndex};
use crate::clearing::Clearing;
use crate::market::{Market, NO_ALTERNATIVE};

/// Sums over one chip type's market.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ChipTypeTotals {
    /// `p*` in global credits per chip-hour; absent when nobody asked or nothing was shared.
    pub reference_price: Option<Price>,
    /// All chips, owned and shared.
    pub supply: Chips,
    /// Chips asked for at any price.
    pub asked: Chips,
    /// Chips in teams' quotas.
    pub granted: Chips,
    /// Chips of the quotas that bids use.
    pub used: Chips,
}

/// What a team has in one chip type's market.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct TeamTotals {
    /// Spending rate in global credits per hour.
    pub rate: MicroCredits,
    /// Chips asked for at any price.
    pub asked: Chips,
    /// Quota.
    pub quota: Chips,
    /// Chips of the quota that its bids use.
    pub used: Chips,
}

/// What a bid got.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct BidResult {
    /// Which bid: its place in the order in which bids were added.
    pub nth: usize,
    /// Which of its alternatives it chose, where it could choose.
    pub alternative: Option<usize>,
    /// Chips it got.
    pub chips: Chips,
    /// Why.
    pub reason: Reason,
}

impl Clearing {
    /// Sums over a chip type.
    #[must_use]
    pub fn chip_type(&self, market: &Market, chip_type: ChipTypeIndex) -> ChipTypeTotals {
        let nth = market.ranks.chip_type(chip_type);
        let result = &self.chip_types[nth];
        let pools = result.pools.iter();
        ChipTypeTotals {
            reference_price: result.reference.map(Price),
            supply: Chips(market.chip_types[nth].shared + pools.clone().map(|pool| pool.owned).sum::<u64>()),
            asked: Chips(pools.clone().map(|pool| pool.asked).sum()),
            granted: Chips(pools.map(|pool| pool.granted).sum()),
            used: Chips(result.used),
        }
    }

    /// A pool's price for a chip type, in global credits per chip-hour: the next snapshot's last price.
    #[must_use]
    pub fn pool_price(&self, market: &Market, pool: PoolIndex, chip_type: ChipTypeIndex) -> Option<Price> {
        let pool = market.ranks.pool(pool);
        self.chip_types[market.ranks.chip_type(chip_type)].price_in(pool).map(Price)
    }

    /// A pool's price for a chip type, in its local credits per chip-hour; absent where there is none or nobody in the
    /// pool could pay it.
    #[must_use]
    pub fn local_price(&self, market: &Market, pool: PoolIndex, chip_type: ChipTypeIndex) -> Option<Price> {
        let pool = market.ranks.pool(pool);
        let price = self.chip_types[market.ranks.chip_type(chip_type)].price_in(pool)?;
        market.pools[pool as usize].local_price(price).map(Price)
    }

    /// What a team has in a chip type's market; all zero where none of its bids chose the type.
    #[must_use]
    pub fn team(&self, market: &Market, team: TeamIndex, chip_type: ChipTypeIndex) -> TeamTotals {
        let chip_type = market.ranks.chip_type(chip_type);
        let asked = &self.demand.asked;
        let mut places = asked.places_of(market.ranks.team(team));
        let place = places.find(|place| asked.rows_by_team()[*place].chip_type as usize == chip_type);
        place.map_or_else(TeamTotals::default, |place| {
            let row = asked.rows_by_team()[place].row as usize;
            TeamTotals {
                rate: MicroCredits(i64::try_from(self.demand.rates[row]).unwrap_or(i64::MAX)),
                asked: Chips(asked.asked(row)),
                quota: Chips(self.quotas[row]),
                used: Chips(self.used[place]),
            }
        })
    }

    /// What each bid got, in canonical order: by team, position and id.
    pub fn bids<'a>(&'a self, market: &'a Market) -> impl Iterator<Item = BidResult> + 'a {
        market.names.iter().zip(&self.jobs).zip(&self.demand.asked.choices).map(|((row, job), &choice)| {
            BidResult {
                nth: row.nth as usize,
                alternative: (choice != NO_ALTERNATIVE).then_some(usize::from(choice)),
                chips: Chips(u64::from(job.chips)),
                reason: job.reason,
            }
        })
    }
}
