//! Measures how large history gets and how long a cycle takes: writes some days of one-minute cycles of a busy
//! organisation into a SQLite file, rolls them up, and says what a year of it would take.
//!
//! `cargo run --release -p server --example history_size -- --days 7 --teams 50`

use std::path::PathBuf;
use std::time::Instant as Stopwatch;

use clap::Parser;
use common::chips::Chips;
use common::ids::BidId;
use common::instant::Instant;
use common::money::{MicroCredits, Price};
use market::snapshot::{Alternative, Lending};
use rand::{RngExt as _, SeedableRng as _};
use rand_chacha::ChaCha12Rng;
use server::clock::IdSource;
use server::cycle::{Clearing, maintain};
use server::error::AppError;
use server::services::bids::{self, NewBid};
use server::services::organisation::{self, NewOrganisation};
use server::store::bids::BidTerms;
use server::store::entities::{ChipType, Organisation, OwnedSupply, Pool, Setup, Team};
use server::store::{Place, Store};

/// 2026-11-30T00:00:00Z.
const START: Instant = Instant(1_795_996_800_000_000);

/// Minutes cleared in one transaction.
const BATCH: i64 = 60;

const CHIP_TYPES: [(&str, u64); 3] = [("A100", 2_000), ("H100", 800), ("V100", 1_200)];

/// Measures the size of history.
#[derive(Debug, Parser)]
struct Args {
    /// Days of history
    #[arg(long, default_value_t = 7)]
    days: i64,
    /// Teams, in five pools
    #[arg(long, default_value_t = 50)]
    teams: u64,
    /// New bids per hour
    #[arg(long, default_value_t = 120)]
    bids_per_hour: u64,
    /// File to write; it must not exist [default: a temporary one]
    #[arg(long)]
    file: Option<PathBuf>,
}

#[tokio::main]
async fn main() -> Result<(), AppError> {
    let args = Args::parse();
    let path = args.file.clone().unwrap_or_else(|| std::env::temp_dir().join("history-size.sqlite"));
    if path.exists() {
        return Err(AppError::conflict(format!("{} exists already; name another file", path.display())));
    }
    let store = Store::open(&Place::Sqlite { path: path.clone(), durable: true }).await?;
    let mut tx = store.write().await?;
    organisation::create(&mut tx, START, &NewOrganisation { setup: setup(args.teams), grants: Vec::new() })
        .await?;
    tx.commit().await?;
    fill(&store, &args).await?;
    let end = START.plus_seconds(args.days * 86_400);
    let rolling = Stopwatch::now();
    while maintain(&store, end, 24).await? {}
    println!(
        "roll-ups: {} ms per day",
        rolling.elapsed().as_millis() / u128::from(args.days.unsigned_abs().max(1))
    );
    store.close().await;
    report(&path, &args).await
}

/// Places bids, clears, and says how long a cycle takes, commits included.
async fn fill(store: &Store, args: &Args) -> Result<(), AppError> {
    let (mut random, ids) = (ChaCha12Rng::seed_from_u64(1), IdSource::seeded(1));
    let mut clearing = Clearing::new();
    let mut spent = 0;
    let mut live = 0;
    for batch in 0..args.days * 1_440 / BATCH {
        let at = START.plus_seconds(60 * BATCH * batch);
        let mut tx = store.write().await?;
        let new = (0..args.bids_per_hour).map(|_| new_bid(&mut random, &ids, at, args.teams)).collect();
        bids::place_many(&mut tx, at, new).await?;
        let started = Stopwatch::now();
        for minute in 1..=BATCH {
            live = clearing.clear(&mut tx, at.plus_seconds(60 * minute)).await?.cleared.snapshot.bids.len();
        }
        tx.commit().await?;
        spent += started.elapsed().as_micros();
    }
    let per_cycle = spent / u128::from((args.days * 1_440).unsigned_abs().max(1));
    println!("clearing: {per_cycle} µs per cycle ({BATCH} per commit), {live} live bids at the end");
    Ok(())
}

fn setup(teams: u64) -> Setup {
    let chip_type = |(id, shared): &(&str, u64)| ChipType {
        id: id.parse().expect("an id"),
        name: (*id).to_owned(),
        shared: Chips(*shared),
        reserve_price: Price(0),
        list_price: None,
        retired: false,
    };
    let pool = |number: u64| Pool {
        id: format!("pool-{number}").parse().expect("an id"),
        name: format!("Pool {number}"),
        weight: MicroCredits(1_000_000_000),
        lending: Lending::All,
        archived: false,
    };
    let owned = |number: u64| OwnedSupply {
        pool: format!("pool-{number}").parse().expect("an id"),
        chip_type: CHIP_TYPES[0].0.parse().expect("an id"),
        chips: Chips(100 * number),
    };
    let team = |number: u64| Team {
        id: format!("team-{number}").parse().expect("an id"),
        pool: format!("pool-{}", number % 5).parse().expect("an id"),
        name: format!("Team {number}"),
        income: MicroCredits(10_000_001 * (1 + number.cast_signed() % 7)),
        leverage_thousandths: 2_000,
        archived: false,
    };
    Setup {
        organisation: Organisation::default(),
        chip_types: CHIP_TYPES.iter().map(chip_type).collect(),
        pools: (0..5).map(pool).collect(),
        owned: (1..5).map(owned).collect(),
        teams: (0..teams).map(team).collect(),
    }
}

fn new_bid(random: &mut ChaCha12Rng, ids: &IdSource, at: Instant, teams: u64) -> NewBid {
    let chips = 1 << random.random_range(0..8);
    let hours = random.random_range(1..12);
    let alternative = |chip_type: &str| Alternative {
        chip_type: chip_type.parse().expect("an id"),
        chips: Chips(chips),
        min_chips: Chips(if chips > 8 { 1 } else { chips }),
    };
    let first = random.random_range(0..3);
    let mut alternatives = vec![alternative(CHIP_TYPES[first].0)];
    if random.random_bool(0.3) {
        alternatives.push(alternative(CHIP_TYPES[(first + 1) % 3].0));
    }
    NewBid {
        id: BidId::new(ids.new_id(at)).expect("an id"),
        team: format!("team-{}", random.random_range(0..teams)).parse().expect("an id"),
        terms: BidTerms {
            name: "training".to_owned(),
            note: String::new(),
            position: 0,
            alternatives,
            limit: random.random_bool(0.5).then(|| Price(random.random_range(100_000..4_000_000))),
            not_before: None,
            not_after: random.random_bool(0.2).then(|| at.plus_seconds(86_400)),
            work_chip_seconds: Some(chips * hours * 3_600),
        },
    }
}

/// Says what each table takes, and what a year would: rows of single cycles for the retention, the rest for good.
async fn report(path: &std::path::Path, args: &Args) -> Result<(), AppError> {
    const RAW: [&str; 5] = ["price", "pool_price", "team_quota", "bid_result", "usage"];
    const TABLES: &str = "SELECT m.tbl_name, SUM(s.pgsize) FROM dbstat s JOIN sqlite_schema m ON m.name = s.name \
        GROUP BY m.tbl_name HAVING SUM(s.pgsize) > 8192 ORDER BY 2 DESC";
    let pool = sqlx::SqlitePool::connect(&format!("sqlite:{}", path.display())).await?;
    let tables: Vec<(String, i64)> = sqlx::query_as(TABLES).fetch_all(&pool).await?;
    pool.close().await;
    let retention = i64::from(Organisation::default().raw_retention_days);
    let mut year = 0;
    println!("{:<20} {:>12} {:>12}", "table", "bytes a day", "MB a year");
    for (table, bytes) in tables {
        let days = if RAW.contains(&table.as_str()) { retention } else { 365 };
        let (a_day, in_a_year) = (bytes / args.days, bytes / args.days * days);
        year += in_a_year;
        println!("{table:<20} {a_day:>12} {:>12}", in_a_year / 1_000_000);
    }
    println!("a year, rows of single cycles kept {retention} days: {} MB", year / 1_000_000);
    Ok(())
}
