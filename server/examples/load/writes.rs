//! Bids placed by many at once, beside what the same disk does for bare commits.

use std::io::Write as _;
use std::net::SocketAddr;
use std::path::Path;
use std::time::{Duration, Instant};

use server::clock::{Clock as _, IdSource, SystemClock};
use server::store::{Place, Store};
use sqlx::sqlite::{SqliteConnectOptions, SqliteJournalMode, SqliteSynchronous};
use sqlx::{ConnectOptions as _, Connection as _};

use crate::client::Client;
use crate::measure::Times;
use crate::{Fault, Member};

/// Places bids over `connections` for some seconds. Those that the server acknowledged are written down. A server that goes
/// away ends the run early: that is what a kill looks like.
pub(crate) fn run(
    server: SocketAddr,
    members: &[Member],
    connections: usize,
    seconds: u64,
    acknowledged: &Path,
) -> Result<(), Fault> {
    let ids = IdSource::random();
    let started = Instant::now();
    let end = started + Duration::from_secs(seconds);
    let step = (members.len() / connections.max(1)).max(1);
    let mut file = std::fs::OpenOptions::new().create(true).append(true).open(acknowledged)?;
    let mut times = Times::default();
    std::thread::scope(|scope| {
        let workers: Vec<_> = members
            .chunks(step)
            .take(connections)
            .map(|own| scope.spawn(|| place(server, own, &ids, end)))
            .collect();
        for worker in workers {
            let (its, placed) = worker.join().map_err(|_| "a worker ended early")?;
            times.join(its);
            for id in placed {
                writeln!(file, "{id}")?;
            }
        }
        Ok::<_, Fault>(())
    })?;
    println!("{}", times.line("bids placed", started.elapsed()));
    Ok(())
}

/// Bids of one member after the other, on one connection each.
fn place(server: SocketAddr, members: &[Member], ids: &IdSource, end: Instant) -> (Times, Vec<String>) {
    let (mut times, mut placed) = (Times::default(), Vec::new());
    let clients: Vec<_> =
        members.iter().filter_map(|member| Client::new(server, &member.token).ok()).collect();
    for (member, client) in members.iter().zip(&clients).cycle() {
        if Instant::now() >= end {
            break;
        }
        let id = ids.new_id(SystemClock.now());
        let body = serde_json::json!({ "id": id, "terms": {
            "name": format!("load {id}"),
            "alternatives": [{ "chip_type": "type-3", "chips": 8, "min_chips": 1 }],
            "limit": "1.25",
            "work_chip_seconds": 86_400,
        } });
        let started = Instant::now();
        let Ok(status) = client.post(&format!("/api/v1/teams/{}/bids", member.team), &body) else { break };
        times.add(status, started.elapsed());
        if status == 201 {
            placed.push(id);
        }
    }
    (times, placed)
}

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
    let mut times = Times::default();
    let started = Instant::now();
    while started.elapsed() < Duration::from_secs(seconds) {
        let one = Instant::now();
        sqlx::query("INSERT INTO bare (text) VALUES ($1)")
            .bind("a row of some forty characters, as it were")
            .execute(&mut connection)
            .await?;
        times.add(0, one.elapsed());
    }
    println!("{}", times.line("bare commits", started.elapsed()));
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
