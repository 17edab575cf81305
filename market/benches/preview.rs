//! How long a preview and the price to win take while somebody types: 100,000 live bids of 10,000 teams, 10 chip types.
//!
//! `cargo bench -p market --bench preview`.

use std::cell::OnceCell;
use std::hint::black_box;

use common::chips::Chips;
use common::ids::{BidId, ChipTypeId, PoolId, TeamId};
use common::instant::Instant;
use common::money::{MicroCredits, Price};
use criterion::{Criterion, criterion_group, criterion_main};
use market::snapshot::{Alternative, Bid, ChipType, LastPrice, Lending, OwnedChips, Pool, Snapshot, Team};
use market::{Change, Draft, Previewer, run_auction};
use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;

const BIDS: u64 = 100_000;
const TEAMS: u64 = 10_000;
const POOLS: u64 = 50;
const CHIP_TYPES: u64 = 10;
const CREDIT: u64 = 1_000_000;

fn chip_type(nth: u64) -> ChipTypeId {
    ChipTypeId::new(format!("r{nth:02}")).expect("an id")
}

fn team(nth: u64) -> TeamId {
    TeamId::new(format!("t{nth:05}")).expect("an id")
}

fn bid_id(nth: u64) -> BidId {
    BidId::new(format!("b{nth:06}")).expect("an id")
}

fn credits(ticks: u64) -> MicroCredits {
    MicroCredits(i64::try_from(ticks).expect("fits"))
}

/// One chip type, or two for one bid in `flexible`; 1 to 16 chips.
fn alternatives(rng: &mut ChaCha8Rng, flexible: bool) -> Vec<Alternative> {
    let (first, chips) = (rng.random_range(0..CHIP_TYPES), rng.random_range(1..=16));
    let types = if flexible { 2 } else { 1 };
    let alternative = |nth| Alternative {
        chip_type: chip_type((first + nth) % CHIP_TYPES),
        chips: Chips(chips),
        min_chips: Chips(1 + chips / 2),
    };
    (0..types).map(alternative).collect()
}

/// About half of what is asked for is there; every other pool owns some of it. The last prices are those at which the
/// same bids cleared.
fn snapshot(flexible_one_in: u64) -> Snapshot {
    let mut rng = ChaCha8Rng::seed_from_u64(21);
    let (supply, income) = (BIDS / CHIP_TYPES * 17 / 4, 3 * CREDIT * (BIDS / TEAMS) * 17 / 4);
    let pool = |nth: u64| PoolId::new(format!("k{nth:02}")).expect("an id");
    let owned = |chip_type| OwnedChips { chip_type, chips: Chips(supply / POOLS) };
    let mut snapshot = Snapshot { cycle: 1, time: Instant(0), sustain_minutes: 120, ..empty() };
    for nth in 0..CHIP_TYPES {
        let (id, shared) = (chip_type(nth), Chips(supply / 2));
        snapshot.chip_types.push(ChipType { id, shared, reserve_price: Price(0) });
    }
    for nth in 0..POOLS {
        let owned =
            if nth % 2 == 0 { (0..CHIP_TYPES).map(chip_type).map(owned).collect() } else { Vec::new() };
        let weight = credits(income * TEAMS / POOLS);
        snapshot.pools.push(Pool {
            id: pool(nth),
            weight,
            lending: Lending::All,
            owned,
            last_prices: Vec::new(),
        });
    }
    for nth in 0..TEAMS {
        let income = credits(rng.random_range(income / 2..=income * 3 / 2));
        let (pool, balance) = (pool(nth % POOLS), MicroCredits::ZERO);
        snapshot.teams.push(Team { id: team(nth), pool, income, balance, leverage_thousandths: 1_000 });
    }
    for nth in 0..BIDS {
        let alternatives = alternatives(&mut rng, flexible_one_in > 0 && nth % flexible_one_in == 0);
        let limit = rng.random_ratio(1, 2).then(|| Price(rng.random_range(CREDIT..5 * CREDIT)));
        let held = Some(alternatives[0].chip_type.clone());
        let (id, team, position) = (bid_id(nth), team(nth % TEAMS), nth);
        let (not_before, not_after) = (None, None);
        snapshot.bids.push(Bid { id, team, position, alternatives, limit, not_before, not_after, held });
    }
    for _ in 0..2 {
        let outcome = run_auction(&snapshot).expect("within the limits");
        for pool in &mut snapshot.pools {
            let price = |market: &market::outcome::ChipTypeOutcome| {
                let there = market.pools.iter().find(|there| there.id == pool.id)?;
                Some(LastPrice { chip_type: market.id.clone(), price: there.price? })
            };
            pool.last_prices = outcome.chip_types.iter().filter_map(price).collect();
        }
    }
    snapshot
}

fn empty() -> Snapshot {
    Snapshot {
        cycle: 0,
        time: Instant(0),
        sustain_minutes: 1,
        chip_types: Vec::new(),
        pools: Vec::new(),
        teams: Vec::new(),
        bids: Vec::new(),
    }
}

/// A bid as somebody types it: a new one, or the first of a team's.
fn draft(rng: &mut ChaCha8Rng, id: BidId, flexible: bool) -> Change {
    let limit = Some(Price(rng.random_range(CREDIT..5 * CREDIT)));
    Change::Put(Draft {
        id,
        alternatives: alternatives(rng, flexible),
        limit,
        not_before: None,
        not_after: None,
    })
}

fn preview(criterion: &mut Criterion) {
    let mut group = criterion.benchmark_group("preview");
    group.sample_size(20);
    for (flexible_one_in, name) in [(0, "no flexible bids"), (10, "1 bid in 10 flexible")] {
        let made = OnceCell::new();
        let previewer =
            || made.get_or_init(|| Previewer::new(&snapshot(flexible_one_in)).expect("within the limits"));
        for (what, new) in [("a new bid", true), ("an amended bid", false)] {
            let mut rng = ChaCha8Rng::seed_from_u64(22);
            group.bench_function(format!("{what}, {name}"), |bench| {
                bench.iter(|| {
                    let nth = rng.random_range(0..TEAMS);
                    let id = if new { bid_id(BIDS) } else { bid_id(nth) };
                    let change = draft(&mut rng, id.clone(), flexible_one_in > 0);
                    let edited = previewer().edit(&team(nth), &[change]).expect("a team");
                    black_box((edited.preview(), edited.price_to_win(&id)))
                });
            });
        }
    }
    group.finish();
}

criterion_group!(benches, preview);
criterion_main!(benches);
