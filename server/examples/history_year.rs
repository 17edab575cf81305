//! Measures history at scale: writes a year of one-minute cycles of a large organisation into a SQLite file, in the form in
//! which the roll-ups leave it, and says how large each table is, how long finance waits for the views of a month, and how
//! fast a month leaves as a file.
//!
//! `cargo run --release -p server --example history_year -- --days 365 --teams 1000 --chip-types 10`
//!
//! What is simulated: rows are made by arithmetic in the database and not by clearing, so their hashes prove nothing and
//! amounts repeat. Each team uses two chip types. Rows that the retention removes, and the quotas and results of single
//! cycles within it, are left out; `history_size` measures those. The sizes of the rows are those of real ones.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Instant as Stopwatch;

use clap::Parser;
use common::api::{MarketClock, Role, SpendGroup};
use common::chips::Chips;
use common::instant::Instant;
use common::money::{MicroCredits, Price};
use market::snapshot::Lending;
use server::clock::{IdSource, SettableClock};
use server::cycle::maintain;
use server::error::AppError;
use server::policy::{Via, Viewer};
use server::services::Services;
use server::services::exports::{ExportName, ExportRequest, FileFormat};
use server::services::finance::SpendQuery;
use server::services::live::Live;
use server::services::organisation::{self, NewOrganisation};
use server::services::read::MarketReader;
use server::store::entities::{ChipType, Organisation, Pool, Setup, Team};
use server::store::{Place, Store};

/// 2026-01-01T00:00:00Z.
const START: Instant = Instant(1_767_225_600_000_000);

/// The month that is looked at.
const MONTH: &str = "2026-01";

/// Pools; teams are spread over them.
const POOLS: u64 = 5;

/// Measures a year of history.
#[derive(Debug, Parser)]
struct Args {
    /// Days of history
    #[arg(long, default_value_t = 365)]
    days: i64,
    /// Teams, a multiple of 5
    #[arg(long, default_value_t = 1_000)]
    teams: u64,
    /// Chip types
    #[arg(long, default_value_t = 10)]
    chip_types: u64,
    /// Minutes between two accounting steps, a divisor of 60
    #[arg(long, default_value_t = 60)]
    accounting_minutes: i64,
    /// File to write, or one written before [default: a temporary one]
    #[arg(long)]
    file: Option<PathBuf>,
}

#[tokio::main]
async fn main() -> Result<(), AppError> {
    let args = Args::parse();
    let path = args.file.clone().unwrap_or_else(|| std::env::temp_dir().join("history-year.sqlite"));
    let is_new = !path.exists();
    let store = Store::open(&Place::Sqlite { path: path.clone(), durable: false }).await?;
    if is_new {
        let new = NewOrganisation { setup: setup(&args), grants: Vec::new() };
        let mut tx = store.write().await?;
        organisation::create(&mut tx, START, &new).await?;
        tx.commit().await?;
        let writing = Stopwatch::now();
        fill(&path, &args).await?;
        println!("written in {} s", writing.elapsed().as_secs());
    }
    let rolling = Stopwatch::now();
    // Spend by days and months, as the loop of a market does it behind the clearings; the hours are there.
    while maintain(&store, START, 1).await? {}
    println!("spend rolled up in {} s", rolling.elapsed().as_secs());
    sizes(&path, &args).await?;
    let (services, viewer) = services(&store, &args)?;
    views(&services, &viewer).await?;
    exports(&services, &viewer).await?;
    store.close().await;
    Ok(())
}

fn setup(args: &Args) -> Setup {
    let id = |kind: &str, number: u64| format!("{kind}-{number}");
    Setup {
        organisation: Organisation { accounting_seconds: seconds(args), ..Organisation::default() },
        chip_types: (0..args.chip_types)
            .map(|number| ChipType {
                id: id("chip", number).parse().expect("an id"),
                name: id("Chip", number),
                shared: Chips(10_000),
                reserve_price: Price(0),
                list_price: None,
                retired: false,
            })
            .collect(),
        pools: (0..POOLS)
            .map(|number| Pool {
                id: id("pool", number).parse().expect("an id"),
                name: id("Pool", number),
                weight: MicroCredits(1_000_000_000),
                lending: Lending::All,
                archived: false,
            })
            .collect(),
        owned: Vec::new(),
        teams: (0..args.teams)
            .map(|number| Team {
                id: id("team", number).parse().expect("an id"),
                pool: id("pool", number % POOLS).parse().expect("an id"),
                name: id("Team", number),
                income: MicroCredits(10_000_000),
                leverage_thousandths: 2_000,
                archived: false,
            })
            .collect(),
    }
}

fn seconds(args: &Args) -> u32 {
    u32::try_from(args.accounting_minutes * 60).unwrap_or(3_600)
}

/// The statements that make the history. `days`, `teams`, `types` and `step_minutes` are put into them as numbers; an
/// income is what the two charges of a team take, so that balances come back to zero with each step.
const STATEMENTS: &[&str] = &[
    "UPDATE organisation_version SET effective_cycle = 1",
    "UPDATE chip_type_version SET effective_cycle = 1",
    "UPDATE pool_version SET effective_cycle = 1",
    "UPDATE team_version SET effective_cycle = 1",
    "CREATE TEMP TABLE minute AS WITH RECURSIVE n(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM n WHERE n < {days} * 1440) \
     SELECT n FROM n",
    "CREATE TEMP TABLE step AS SELECT n AS cycle, (n - 1) / {step_minutes} + 1 AS step, \
     {start} + (n - 1) * 60000000 AS at FROM minute WHERE (n - 1) % {step_minutes} = 0",
    "CREATE TEMP TABLE hour AS SELECT {start} + (n - 1) * 60000000 AS at, n + 59 AS cycle FROM minute WHERE n % 60 = 1",
    "CREATE TEMP TABLE team AS SELECT n - 1 AS team, (n - 1) % 5 AS pool, 100 + n AS account FROM minute WHERE n <= {teams}",
    "CREATE TEMP TABLE pair AS SELECT team, pool, account, team % {types} AS type, 0 AS second FROM team \
     UNION ALL SELECT team, pool, account, (team + 3) % {types}, 1 FROM team",
    "INSERT INTO cycle SELECT n, {start} + (n - 1) * 60000000, CASE WHEN (n - 1) % {step_minutes} = 0 \
     THEN (n - 1) / {step_minutes} + 1 END, 5000, 9000, randomblob(32), randomblob(32) FROM minute",
    "INSERT INTO ledger_account SELECT 3 * (n - 1) + k, CASE k WHEN 1 THEN 'issuance' WHEN 2 THEN 'treasury' ELSE 'revenue' END, \
     'pool-' || (n - 1), 'pool-' || (n - 1) FROM minute, (SELECT 1 AS k UNION SELECT 2 UNION SELECT 3) WHERE n <= 5",
    "INSERT INTO ledger_account SELECT account, 'team', 'pool-' || pool, 'team-' || team FROM team",
    "INSERT INTO ledger_transfer SELECT ((step - 1) * 5 + p.n - 1) * 3 + k, \
     CASE k WHEN 1 THEN 'mint' WHEN 2 THEN 'income' ELSE 'charge' END, cycle, step, 'pool-' || (p.n - 1), \
     'chips used since the last accounting step', CASE k WHEN 1 THEN 'mint' WHEN 2 THEN 'income' ELSE 'charge' END || \
     ':pool-' || (p.n - 1) || ':step ' || step, at, randomblob(32) \
     FROM step, minute AS p, (SELECT 1 AS k UNION SELECT 2 UNION SELECT 3) WHERE p.n <= 5",
    "INSERT INTO ledger_entry SELECT ((step - 1) * 5 + p.n - 1) * 3 + 1, k, 3 * (p.n - 1) + k, cycle, \
     (CASE k WHEN 1 THEN -1 ELSE 1 END) * {teams} / 5 * 10000000, \
     CASE k WHEN 1 THEN -step ELSE 1 END * {teams} / 5 * 10000000, NULL, NULL, NULL \
     FROM step, minute AS p, (SELECT 1 AS k UNION SELECT 2) WHERE p.n <= 5",
    "INSERT INTO ledger_entry SELECT ((step - 1) * 5 + p.n - 1) * 3 + 2, 1, 3 * (p.n - 1) + 2, cycle, \
     -{teams} / 5 * 10000000, 0, NULL, NULL, NULL FROM step, minute AS p WHERE p.n <= 5",
    "INSERT INTO ledger_entry SELECT ((step - 1) * 5 + pool) * 3 + 2, 2 + team / 5, account, cycle, 10000000, 10000000, NULL, \
     NULL, 1200 FROM step, team",
    "INSERT INTO ledger_entry SELECT ((step - 1) * 5 + pool) * 3 + 3, 1 + team / 5 * 2 + second, account, cycle, \
     CASE second WHEN 0 THEN -7654321 ELSE -2345679 END, CASE second WHEN 0 THEN 2345679 ELSE 0 END, 'chip-' || type, \
     1234567, 2400 FROM step, pair",
    "INSERT INTO ledger_entry SELECT ((step - 1) * 5 + p.n - 1) * 3 + 3, 1000000, 3 * (p.n - 1) + 3, cycle, \
     {teams} / 5 * 10000000, step * ({teams} / 5 * 10000000), NULL, NULL, NULL FROM step, minute AS p WHERE p.n <= 5",
    "INSERT INTO usage_hour SELECT at, 'team-' || team, 'chip-' || type, 1300000, 1234567, 60000, \
     CASE second WHEN 0 THEN 7654321 ELSE 2345679 END FROM hour, pair",
    "INSERT INTO usage_day SELECT at, 'team-' || team, 'chip-' || type, 31200000, 29629608, 1440000, \
     CASE second WHEN 0 THEN 183703704 ELSE 56296296 END FROM hour, pair WHERE (at - {start}) % 86400000000 = 0",
    "INSERT INTO price_hour SELECT at, 'chip-' || (t.n - 1), cycle, 3600, 3600, 2102882, 1902882, 2302882, 36000000, 40000000, \
     34000000, 1000000 FROM hour, minute AS t WHERE t.n <= {types}",
    "INSERT INTO price_day SELECT at, 'chip-' || (t.n - 1), cycle + 1380, 86400, 86400, 2102882, 1902882, 2302882, 864000000, \
     960000000, 816000000, 24000000 FROM hour, minute AS t WHERE t.n <= {types} AND (at - {start}) % 86400000000 = 0",
    "INSERT INTO pool_price_hour SELECT at, 'pool-' || (p.n - 1), 'chip-' || (t.n - 1), 3600, 2102882 \
     FROM hour, minute AS p, minute AS t WHERE p.n <= 5 AND t.n <= {types}",
];

async fn fill(path: &Path, args: &Args) -> Result<(), AppError> {
    let options = sqlx::sqlite::SqliteConnectOptions::new()
        .filename(path)
        .synchronous(sqlx::sqlite::SqliteSynchronous::Off)
        .pragma("temp_store", "memory")
        .pragma("cache_size", "-400000");
    let pool = sqlx::sqlite::SqlitePoolOptions::new().max_connections(1).connect_with(options).await?;
    for statement in STATEMENTS {
        let sql = statement
            .replace("{days}", &args.days.to_string())
            .replace("{teams}", &args.teams.to_string())
            .replace("{types}", &args.chip_types.to_string())
            .replace("{step_minutes}", &args.accounting_minutes.to_string())
            .replace("{start}", &START.0.to_string());
        sqlx::query(sqlx::AssertSqlSafe(sql)).execute(&pool).await?;
    }
    pool.close().await;
    Ok(())
}

/// Says how large each table is, its indexes included.
async fn sizes(path: &Path, args: &Args) -> Result<(), AppError> {
    const TABLES: &str = "SELECT m.tbl_name, SUM(s.pgsize) FROM dbstat s JOIN sqlite_schema m ON m.name = s.name \
        GROUP BY m.tbl_name HAVING SUM(s.pgsize) > 1000000 ORDER BY 2 DESC";
    let pool = sqlx::SqlitePool::connect(&format!("sqlite:{}", path.display())).await?;
    let tables: Vec<(String, i64)> = sqlx::query_as(TABLES).fetch_all(&pool).await?;
    pool.close().await;
    println!("{:<20} {:>10} {:>14}", "table", "MB", "bytes a day");
    for (table, bytes) in tables {
        println!("{table:<20} {:>10} {:>14}", bytes / 1_000_000, bytes / args.days.max(1));
    }
    Ok(())
}

/// The services at the end of the history, and somebody of finance.
fn services(store: &Store, args: &Args) -> Result<(Services, Viewer), AppError> {
    let end = START.plus_seconds(args.days * 86_400);
    let clock = Arc::new(SettableClock::new(end));
    let cycle = u64::try_from(args.days * 1_440).map_err(AppError::internal)?;
    let cleared_at = end.plus_seconds(-60);
    let shown = MarketClock { cycle, cleared_at, next_at: end, cycle_seconds: 60, stale: None };
    let live = Live::new(shown, None);
    let market = Arc::new(MarketReader::new(store.clone(), clock.clone(), live.subscribe()));
    let services = Services::new(store.clone(), clock, IdSource::seeded(1), market);
    let viewer = Viewer {
        user: "measure".parse().map_err(AppError::internal)?,
        name: "Measure".to_owned(),
        roles: [Role::Finance].into(),
        teams: Default::default(),
        pools: Default::default(),
        via: Via::Session("measure".parse().map_err(AppError::internal)?),
    };
    Ok((services, viewer))
}

/// How long the views of a month take, each read three times: the pages of finance wait for them.
async fn views(services: &Services, viewer: &Viewer) -> Result<(), AppError> {
    println!("{:<28} {:>10} {:>10} {:>10}", "view of January", "first ms", "second", "third");
    for group in SpendGroup::ALL {
        let query = SpendQuery { group, ..of_month() };
        let name = format!("spend by {}", group.as_str());
        timed(&name, async || services.spend(viewer, &query).await.map(drop)).await?;
    }
    let team = SpendQuery { team: Some("team-0".parse().map_err(AppError::internal)?), ..of_month() };
    timed("spend of a team", async || services.spend(viewer, &team).await.map(drop)).await?;
    timed("budgets", async || services.budgets(viewer, Some(MONTH)).await.map(drop)).await?;
    timed("statements", async || services.statements(viewer, Some(MONTH)).await.map(drop)).await?;
    timed("months", async || services.months(viewer).await.map(drop)).await?;
    timed("month to close", async || services.month(viewer, MONTH).await.map(drop)).await
}

fn of_month() -> SpendQuery {
    SpendQuery { period: Some(MONTH.to_owned()), ..SpendQuery::default() }
}

async fn timed(name: &str, read: impl AsyncFn() -> Result<(), AppError>) -> Result<(), AppError> {
    let mut times = [0; 3];
    for time in &mut times {
        let watch = Stopwatch::now();
        read().await?;
        *time = watch.elapsed().as_millis();
    }
    let [first, second, third] = times;
    println!("{name:<28} {first:>10} {second:>10} {third:>10}");
    Ok(())
}

/// Exports the first month and says how fast, and how much memory the process took at most up to then.
async fn exports(services: &Services, viewer: &Viewer) -> Result<(), AppError> {
    println!(
        "{:<12} {:<8} {:>12} {:>12} {:>8} {:>10} {:>8} {:>14}",
        "export", "file", "rows", "expected", "s", "rows/s", "MB/s", "peak memory MB"
    );
    for name in [ExportName::Prices, ExportName::Allocations, ExportName::Ledger] {
        for format in FileFormat::ALL {
            let request = ExportRequest {
                name,
                format,
                period: Some(MONTH.to_owned()),
                from: None,
                to: None,
                columns: Vec::new(),
                filter: Default::default(),
            };
            let watch = Stopwatch::now();
            let mut export = services.export(viewer, &request).await?;
            let mut bytes = 0;
            while let Some(piece) = export.next_piece().await? {
                bytes += piece.len();
            }
            let micros = watch.elapsed().as_micros().max(1);
            let per_second = |count: u128| count * 1_000_000 / micros;
            println!(
                "{:<12} {:<8} {:>12} {:>12} {:>8} {:>10} {:>8} {:>14}",
                name.as_str(),
                format.as_str(),
                export.rows(),
                export.expected_rows(),
                micros / 1_000_000,
                per_second(u128::from(export.rows())),
                per_second(bytes as u128) / 1_000_000,
                peak_megabytes()
            );
        }
    }
    Ok(())
}

/// The most memory that the process had at once, as Linux tells it; 0 elsewhere.
fn peak_megabytes() -> u64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"));
    let kilobytes = line.and_then(|line| line.trim().trim_end_matches(" kB").trim().parse::<u64>().ok());
    kilobytes.unwrap_or(0) / 1_024
}
