//! The clearing loop as it runs under `serve`: on the grid, over gaps, in several processes, through trouble.
#![expect(clippy::unwrap_used, reason = "helpers of tests: what fails here fails the test")]

use std::sync::Arc;
use std::time::Duration;

use common::api::MarketClock;
use common::instant::Instant;
use server::clock::{Clock, SettableClock, SystemClock};
use server::cycle::{self, verify::verify};
use server::services::live::{Live, LiveState};
use server::services::organisation;
use server::store::entities::Organisation;
use server::store::{Place, Store, results};
use tokio::sync::watch;
use tokio_util::sync::CancellationToken;

use crate::fixture::{self, START, create};

/// Longest wait for something that must happen.
const PATIENCE: Duration = Duration::from_secs(30);

/// A loop that runs in the background.
struct Running {
    state: watch::Receiver<LiveState>,
    stop: CancellationToken,
    task: tokio::task::JoinHandle<()>,
}

impl Running {
    fn start(store: &Store, clock: Arc<dyn Clock>) -> Self {
        let at = clock.now();
        let first = MarketClock { cycle: 0, cleared_at: at, next_at: at, cycle_seconds: 60, stale: None };
        let live = Arc::new(Live::new(first, None));
        let (state, stop) = (live.subscribe(), CancellationToken::new());
        let (store, token) = (store.clone(), stop.clone());
        let task = tokio::spawn(async move { cycle::run(store, &live, clock.as_ref(), token).await });
        Self { state, stop, task }
    }

    /// Waits until what is published is as it must be.
    async fn until(&mut self, what: &str, is_so: impl Fn(&LiveState) -> bool) -> LiveState {
        let waited = tokio::time::timeout(PATIENCE, self.state.wait_for(|state| is_so(state))).await;
        waited.unwrap_or_else(|_| panic!("waited in vain: {what}")).expect("the loop lives").clone()
    }

    async fn end(self) {
        self.stop.cancel();
        tokio::time::timeout(PATIENCE, self.task)
            .await
            .expect("it stops when told")
            .expect("it does not panic");
    }
}

/// Sets the length of cycles and accounting intervals.
async fn set_seconds(store: &Store, cycle_seconds: u32, accounting_seconds: u32) {
    let settings = Organisation { cycle_seconds, accounting_seconds, ..fixture::setup().organisation };
    let mut tx = store.write().await.unwrap();
    organisation::change_settings(&mut tx, START, &settings).await.unwrap();
    tx.commit().await.unwrap();
}

#[tokio::test(flavor = "multi_thread")]
async fn cycles_lie_on_the_grid_and_after_a_gap_only_the_newest_clears() {
    for test in fixture::both().await {
        create(&test.store).await;
        let clock = SettableClock::new(START.plus_seconds(25));
        let mut running = Running::start(&test.store, Arc::new(clock.clone()));
        let first = running.until("the first cycle", |state| state.clock.cycle == 1).await.clock;
        assert_eq!((first.cleared_at, first.next_at), (START, START.plus_seconds(60)), "{}", test.name);
        clock.advance_seconds(60);
        let second = running.until("the second cycle", |state| state.clock.cycle == 2).await.clock;
        assert_eq!(second.cleared_at, START.plus_seconds(60));
        clock.advance_seconds(3_600);
        let third = running.until("the cycle after the gap", |state| state.clock.cycle == 3).await;
        assert_eq!(third.clock.cleared_at, START.plus_seconds(3_660));
        assert_eq!(third.cleared.unwrap().snapshot.time, third.clock.cleared_at);
        running.end().await;
        // A restart goes on where the store ends, without clearing anything twice.
        let mut running = Running::start(&test.store, Arc::new(clock.clone()));
        running.until("the last cycle again", |state| state.clock.cycle == 3).await;
        clock.advance_seconds(60);
        running.until("the fourth cycle", |state| state.clock.cycle == 4).await;
        running.end().await;
        assert!(verify(&test.store, None, None, |_, _| {}).await.unwrap().is_clean());
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn t028_two_processes_on_one_postgres_clear_each_cycle_once() {
    let Some(test) = fixture::postgres().await else { return };
    create(&test.store).await;
    set_seconds(&test.store, 1, 1).await;
    let other = Store::open(&test.place).await.unwrap();
    let mut one = Running::start(&test.store, Arc::new(SystemClock));
    let mut two = Running::start(&other, Arc::new(SystemClock));
    let seen = one.until("five cycles", |state| state.clock.cycle >= 5).await.clock;
    let followed =
        two.until("the same cycle in the other process", |state| state.clock.cycle >= seen.cycle).await;
    assert!(followed.cleared.is_some() && followed.clock.stale.is_none());
    one.end().await;
    two.end().await;
    let mut tx = test.store.read().await.unwrap();
    let cycles = results::cycles_from(&mut tx, 1, 100).await.unwrap();
    assert!(cycles.windows(2).all(|pair| pair[0].starts_at < pair[1].starts_at));
    drop(tx);
    let report = verify(&test.store, None, None, |_, _| {}).await.unwrap();
    assert!(report.is_clean() && report.transfers > 5, "{report}");
    other.close().await;
}

/// Lets nobody into the database, and throws out who is in it; or lets everybody in again.
async fn allow_connections(url: &str, allowed: bool) {
    let (base, rest) = url.rsplit_once('/').unwrap();
    let (name, query) = rest.split_once('?').unwrap();
    let pool = sqlx::PgPool::connect(&format!("{base}/postgres?{query}")).await.unwrap();
    let allow = format!("ALTER DATABASE {name} ALLOW_CONNECTIONS {allowed}");
    sqlx::query(sqlx::AssertSqlSafe(allow)).execute(&pool).await.unwrap();
    if !allowed {
        const THROW_OUT: &str = "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = $1";
        sqlx::query(THROW_OUT).bind(name).execute(&pool).await.unwrap();
    }
    pool.close().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_database_that_goes_away_is_waited_for_and_caught_up_with() {
    let Some(test) = fixture::postgres().await else { return };
    let Place::Postgres { url, .. } = &test.place else { unreachable!("it is PostgreSQL") };
    create(&test.store).await;
    let clock = SettableClock::new(START);
    let mut running = Running::start(&test.store, Arc::new(clock.clone()));
    running.until("the first cycle", |state| state.clock.cycle == 1).await;
    allow_connections(url, false).await;
    clock.advance_seconds(600);
    let stale = running.until("that quotas are stale", |state| state.clock.stale.is_some()).await;
    assert_eq!(stale.clock.cycle, 1, "the last quotas stay in force");
    assert_eq!(stale.clock.stale.unwrap().since, Instant(START.0 + 60_000_000));
    assert!(stale.cleared.is_some());
    allow_connections(url, true).await;
    let after = running.until("the newest cycle", |state| state.clock.cycle == 2).await;
    assert_eq!((after.clock.cleared_at, after.clock.stale), (START.plus_seconds(600), None));
    running.end().await;
    assert!(verify(&test.store, None, None, |_, _| {}).await.unwrap().is_clean());
}

#[tokio::test(flavor = "multi_thread")]
async fn a_database_whose_connections_are_all_in_use_is_not_taken_for_a_lost_one() {
    let Some(test) = fixture::postgres().await else { return };
    let Place::Postgres { url, .. } = &test.place else { unreachable!("it is PostgreSQL") };
    let store = Store::open(&Place::Postgres { url: url.clone(), connections: 2 }).await.unwrap();
    let busy = (store.read().await.unwrap(), store.read().await.unwrap());
    // Long enough for each to ask whether the server is there.
    let waiting: Vec<_> = (0..10)
        .map(|_| {
            tokio::spawn({
                let store = store.clone();
                async move { store.read().await.map(drop) }
            })
        })
        .collect();
    let early = tokio::time::timeout(Duration::from_millis(1_500), store.read()).await;
    assert!(early.is_err(), "it waits: {:?}", early.map(|begun| begun.map(drop)));
    drop(busy);
    for transaction in waiting {
        transaction.await.unwrap().unwrap();
    }
    store.close().await;
}

#[tokio::test]
async fn a_database_of_a_newer_program_is_refused() {
    for test in fixture::both().await {
        const NEWER: &str = "INSERT INTO _sqlx_migrations (version, description, installed_on, success, checksum, \
            execution_time) SELECT 9999, 'later', installed_on, success, checksum, 1 FROM _sqlx_migrations WHERE version = 1";
        match &test.place {
            Place::Sqlite { path, .. } => {
                let pool = sqlx::SqlitePool::connect(&format!("sqlite:{}", path.display())).await.unwrap();
                sqlx::query(NEWER).execute(&pool).await.unwrap();
            }
            Place::Postgres { url, .. } => {
                let pool = sqlx::PgPool::connect(url).await.unwrap();
                sqlx::query(NEWER).execute(&pool).await.unwrap();
            }
        }
        let error = Store::open(&test.place).await.unwrap_err();
        assert_eq!(error.kind(), server::error::ErrorKind::WrongVersion, "{}: {error:?}", test.name);
        assert!(error.message().contains("newer version"), "{error}");
    }
}

#[tokio::test]
async fn a_place_that_cannot_be_opened_is_named() {
    let folder = tempfile::tempdir().unwrap();
    let missing = folder.path().join("no such folder").join("market.sqlite");
    let error = Store::open(&Place::parse(&format!("sqlite:{}", missing.display()))).await.unwrap_err();
    assert_eq!(error.kind(), server::error::ErrorKind::Unavailable);
    assert!(error.message().contains("no such folder"), "{error}");
    let not_a_database = folder.path().join("text.sqlite");
    std::fs::write(&not_a_database, "this is not a database, but a text that is longer than its header")
        .unwrap();
    let error = Store::open(&Place::parse(&not_a_database.display().to_string())).await.unwrap_err();
    assert!(error.message().contains("text.sqlite"), "{error}");
    let error = Store::open(&Place::parse("postgres://nobody@127.0.0.1:1/nothing")).await.unwrap_err();
    assert_eq!(error.kind(), server::error::ErrorKind::Unavailable);
    assert!(error.message().contains("nothing on 127.0.0.1:1"), "{error}");
}
