//! Random markets, reproducible from a printed seed.

use common::chips::Chips;
use common::ids::{BidId, ChipTypeId, PoolId, TeamId};
use common::money::{MicroCredits, Price};
use market::snapshot::{Alternative, Bid, ChipType, LastPrice, Lending, OwnedChips, Pool, Snapshot, Team};
use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;

use crate::support::empty;

/// How large amounts are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Scale {
    /// Rates of a few ticks: every rounding shows, and all ticks can be enumerated.
    Ticks,
    /// Rates of whole credits: prices of thousands of ticks and more.
    Credits,
    /// Rates from one tick to beyond what the border lets pass, side by side.
    Any,
}

/// Says which market failed.
struct OnPanic(u64);

impl Drop for OnPanic {
    fn drop(&mut self) {
        if std::thread::panicking() {
            eprintln!("random market with seed {}; run it first with MARKET_SEED={}", self.0, self.0);
        }
    }
}

/// Runs a check on `count` random markets. The first seed is printed with a failure and can be set by the
/// environment variable `MARKET_SEED`.
pub(crate) fn each_market(count: u64, scale: Scale, mut check: impl FnMut(&mut ChaCha8Rng, Snapshot)) {
    let first = std::env::var("MARKET_SEED").ok().and_then(|seed| seed.parse().ok()).unwrap_or(1_u64);
    for seed in first..first + count {
        let on_panic = OnPanic(seed);
        let mut rng = ChaCha8Rng::seed_from_u64(seed);
        let snapshot = market(&mut rng, scale);
        check(&mut rng, snapshot);
        drop(on_panic);
    }
}

/// A market of up to 3 chip types, 4 pools and 4 teams in each.
pub(crate) fn market(rng: &mut ChaCha8Rng, scale: Scale) -> Snapshot {
    let mut snapshot = empty(rng.random_range(0..1_000));
    snapshot.sustain_minutes = [1, 60, 120, 1_440][rng.random_range(0..4)];
    let chip_types = rng.random_range(1..=3);
    for r in 0..chip_types {
        let shared = if rng.random_ratio(1, 5) { 0 } else { rng.random_range(0..24) };
        let reserve = if rng.random_ratio(1, 6) { amount(rng, scale) / 4 } else { 0 };
        snapshot.chip_types.push(ChipType {
            id: ChipTypeId::new(format!("r{r}")).unwrap(),
            shared: Chips(shared),
            reserve_price: Price(reserve),
        });
    }
    for k in 0..rng.random_range(1..=4) {
        snapshot.pools.push(pool(rng, scale, k, chip_types));
        for i in 0..rng.random_range(0..=4) {
            let team = TeamId::new(format!("k{k}-t{i}")).unwrap();
            snapshot.teams.push(Team {
                id: team.clone(),
                pool: PoolId::new(format!("k{k}")).unwrap(),
                income: MicroCredits(if rng.random_ratio(1, 12) { 0 } else { signed(amount(rng, scale)) }),
                balance: MicroCredits(signed(amount(rng, scale)) * rng.random_range(-2..=6)),
                leverage_thousandths: [0, 500, 1_000, 2_000, 2_000, 10_000][rng.random_range(0..6)],
            });
            for b in 0..rng.random_range(0..=4) {
                let id = BidId::new(format!("k{k}-t{i}-b{b}")).unwrap();
                snapshot.bids.push(bid(rng, scale, id, team.clone(), chip_types));
            }
        }
    }
    snapshot
}

/// Adds so many bids to each team.
pub(crate) fn more_bids(rng: &mut ChaCha8Rng, snapshot: &mut Snapshot, scale: Scale, count: u32) {
    let chip_types = u32::try_from(snapshot.chip_types.len()).unwrap();
    for team in &snapshot.teams {
        for b in 0..count {
            let id = BidId::new(format!("{}-more-{b}", team.id)).unwrap();
            snapshot.bids.push(bid(rng, scale, id, team.id.clone(), chip_types));
        }
    }
}

fn pool(rng: &mut ChaCha8Rng, scale: Scale, k: u32, chip_types: u32) -> Pool {
    let mut owned = Vec::new();
    let mut last_prices = Vec::new();
    for r in 0..chip_types {
        let chip_type = ChipTypeId::new(format!("r{r}")).unwrap();
        if rng.random_ratio(1, 2) {
            owned.push(OwnedChips { chip_type: chip_type.clone(), chips: Chips(rng.random_range(0..16)) });
        }
        if rng.random_ratio(1, 2) {
            last_prices.push(LastPrice { chip_type, price: Price(amount(rng, scale) / 5) });
        }
    }
    Pool {
        id: PoolId::new(format!("k{k}")).unwrap(),
        weight: MicroCredits(if rng.random_ratio(1, 12) { 0 } else { signed(amount(rng, scale)) }),
        lending: match rng.random_range(0..4) {
            0 => Lending::None,
            1 => Lending::AtMost(Chips(rng.random_range(0..8))),
            _ => Lending::All,
        },
        owned,
        last_prices,
    }
}

fn bid(rng: &mut ChaCha8Rng, scale: Scale, id: BidId, team: TeamId, chip_types: u32) -> Bid {
    let first = rng.random_range(0..chip_types);
    let several = if rng.random_ratio(1, 3) { chip_types } else { 1 };
    let alternatives: Vec<Alternative> = (0..several)
        .map(|nth| {
            let chips = rng.random_range(1..=12);
            Alternative {
                chip_type: ChipTypeId::new(format!("r{}", (first + nth) % chip_types)).unwrap(),
                chips: Chips(chips),
                min_chips: Chips(rng.random_range(1..=chips)),
            }
        })
        .collect();
    let held = rng
        .random_ratio(2, 3)
        .then(|| alternatives[rng.random_range(0..alternatives.len())].chip_type.clone());
    let time = empty(0).time;
    Bid {
        id,
        team,
        position: rng.random_range(0..3),
        alternatives,
        limit: rng.random_ratio(1, 2).then(|| Price(amount(rng, scale) / 3)),
        not_before: rng.random_ratio(1, 12).then(|| time.plus_seconds(rng.random_range(-1..=1))),
        not_after: rng.random_ratio(1, 12).then(|| time.plus_seconds(rng.random_range(-1..=1))),
        held,
    }
}

fn amount(rng: &mut ChaCha8Rng, scale: Scale) -> u64 {
    match scale {
        Scale::Ticks => rng.random_range(1..=40),
        Scale::Credits => rng.random_range(1_000_000..=100_000_000),
        Scale::Any => {
            let bits = rng.random_range(0..=49);
            rng.random_range(1..=1_u64 << bits)
        }
    }
}

fn signed(amount: u64) -> i64 {
    i64::try_from(amount).unwrap()
}
