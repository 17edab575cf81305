//! Large markets, for the benchmark and the memory example.

use common::chips::Chips;
use common::ids::{BidId, ChipTypeId, PoolId, TeamId};
use common::instant::Instant;
use common::money::{MicroCredits, Price};
use market::snapshot::Lending;
use market::{AlternativeInput, BidInput, ChipTypeIndex, Market, MarketBuilder, PoolIndex, SnapshotError};
use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;

/// How large a market is.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Size {
    /// Bids, spread evenly over the teams.
    pub(crate) bids: u32,
    /// Teams, spread evenly over the pools.
    pub(crate) teams: u32,
    /// Pools; every other one owns chips of each type.
    pub(crate) pools: u32,
    /// Chip types.
    pub(crate) chip_types: u32,
    /// One bid in so many has a second chip type to choose; 0 is none.
    pub(crate) flexible_one_in: u32,
}

impl Size {
    /// 50 pools, 100 bids per team, no flexible bids.
    pub(crate) fn of(bids: u32, chip_types: u32) -> Self {
        Self { bids, teams: bids / 100, pools: 50, chip_types, flexible_one_in: 0 }
    }
}

/// Ticks in a credit.
pub(crate) const CREDIT: u64 = 1_000_000;

/// A limit between 1 and 5 credits for half of the bids, and 1 to 16 chips for all.
pub(crate) fn wish(rng: &mut ChaCha8Rng) -> (Option<Price>, u64) {
    let limit = rng.random_ratio(1, 2).then(|| Price(rng.random_range(CREDIT..5 * CREDIT)));
    (limit, rng.random_range(1..=16))
}

/// A market with these last prices, by pool and chip type. Also returns its pools and chip types.
///
/// # Errors
/// None for sizes within the limits of a snapshot.
pub(crate) fn build(
    size: Size,
    last_prices: &[Vec<Price>],
) -> Result<(Market, Vec<PoolIndex>, Vec<ChipTypeIndex>), SnapshotError> {
    let mut rng = ChaCha8Rng::seed_from_u64(11);
    let mut builder = MarketBuilder::new(1, Instant(0), 120)?;
    // A team's cap buys about half of what it asks for at three credits.
    let income = 3 * CREDIT * u64::from(size.bids / size.teams.max(1)) * 17 / 2 / 2;
    let supply = u64::from(size.bids / size.chip_types) * 17 / 2 / 2;
    let id = |prefix: &str, nth: u32| format!("{prefix}{nth:07}");
    let mut chip_types = Vec::new();
    for r in 0..size.chip_types {
        let id = ChipTypeId::new(id("r", r)).expect("an id");
        chip_types.push(builder.chip_type(id, Chips(supply / 2), Price(0))?);
    }
    let mut pools = Vec::new();
    for k in 0..size.pools {
        let weight = income * u64::from(size.teams / size.pools);
        let weight = MicroCredits(i64::try_from(weight).expect("fits"));
        let pool = builder.pool(PoolId::new(id("k", k)).expect("an id"), weight, Lending::All)?;
        for (chip_type, price) in chip_types.iter().zip(&last_prices[k as usize]) {
            if k % 2 == 0 {
                builder.owned(pool, *chip_type, Chips(supply / u64::from(size.pools)))?;
            }
            builder.last_price(pool, *chip_type, *price)?;
        }
        pools.push(pool);
    }
    let mut teams = Vec::new();
    for i in 0..size.teams {
        let income =
            MicroCredits(i64::try_from(rng.random_range(income / 2..=income * 3 / 2)).expect("fits"));
        let pool = pools[(i % size.pools) as usize];
        let id = TeamId::new(id("t", i)).expect("an id");
        teams.push(builder.team(id, pool, income, MicroCredits(0), 1_000)?);
    }
    for b in 0..size.bids {
        let (limit, chips) = wish(&mut rng);
        let first = rng.random_range(0..chip_types.len());
        let flexible = size.flexible_one_in > 0 && b % size.flexible_one_in == 0;
        let alternatives = [first, (first + 1) % chip_types.len()].map(|r| AlternativeInput {
            chip_type: Some(chip_types[r]),
            chips: Chips(chips),
            min_chips: Chips(1 + chips / 2),
        });
        let bid = BidInput {
            id: BidId::new(id("b", b)).expect("an id"),
            team: teams[(b % size.teams) as usize],
            position: rng.random_range(0..1_000),
            limit,
            not_before: None,
            not_after: None,
            held: Some(0),
        };
        builder.bid(bid, &alternatives[..if flexible { 2 } else { 1 }])?;
    }
    Ok((builder.build()?, pools, chip_types))
}
