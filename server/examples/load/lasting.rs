//! What the disk does for bare commits, and whether placed bids are lasting.

use std::path::Path;
use std::time::{Duration, Instant};

use server::store::{Place, Store};
use sqlx::sqlite::{SqliteConnectOptions, SqliteJournalMode, SqliteSynchronous};
use sqlx::{ConnectOptions as _, Connection as _};

use crate::Fault;

/// Commits rows one by one, each on the disk before the next.
pub(crate) async fn bare(file: &Path, seconds: u64) -> Result<(), Fault> {
    let options = SqliteConnectOptions::new()
        .filename(file)
        .create_if_missing(true)
        .journal_mode(SqliteJournalMode::Wal)
        .synchronous(SqliteSynchronous::Full);
    let mut connection = options.connect().await?;
    sqlx::query("CREATE TABLE IF NOT EXISTS bare (number INTEGER PRIMARY KEY, text TEXT NOT NULL) STRICT")
        .execute(&mut connection)
        .await?;
    let mut taken: Vec<Duration> = Vec::new();
    let started = Instant::now();
    while started.elapsed() < Duration::from_secs(seconds) {
        let one = Instant::now();
        sqlx::query("INSERT INTO bare (text) VALUES ($1)")
            .bind("a row of some forty characters, as it were")
            .execute(&mut connection)
            .await?;
        taken.push(one.elapsed());
    }
    let a_second = taken.len() as u128 * 1_000 / started.elapsed().as_millis().max(1);
    taken.sort_unstable();
    let of_100 = |hundredth: usize| {
        taken.get(taken.len().saturating_sub(1) * hundredth / 100).copied().unwrap_or_default().as_micros()
    };
    println!(
        "{a_second} bare commits a second, p50 {} µs, p99 {} µs, longest {} µs",
        of_100(50),
        of_100(99),
        of_100(100)
    );
    connection.close().await?;
    Ok(())
}

/// Counts the acknowledged bids that the database does not have.
pub(crate) async fn check(database: &str, acknowledged: &Path) -> Result<(), Fault> {
    let store = Store::open(&Place::parse(database)).await?;
    let (mut known, mut lost) = (0_u64, Vec::new());
    let mut tx = store.read().await?;
    for id in std::fs::read_to_string(acknowledged)?.lines() {
        if server::store::bids::newest(&mut tx, &id.parse()?).await?.is_some() {
            known += 1
        } else {
            lost.push(id.to_owned())
        }
    }
    println!("{known} acknowledged bids are there, {} are lost", lost.len());
    if lost.is_empty() { Ok(()) } else { Err(format!("lost: {}", lost.join(", ")).into()) }
}
