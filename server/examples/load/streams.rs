//! Thousands of event streams, and when each of them hears of a cycle.

use std::net::SocketAddr;
use std::time::{Duration, Instant};

use server::clock::{Clock as _, SystemClock};
use tokio::io::{BufReader, Lines};
use tokio::net::TcpStream;
use tokio::sync::mpsc;

use crate::client;
use crate::{Fault, Member};

/// How long a stream is waited for.
const PATIENCE: Duration = Duration::from_secs(200);

/// A stream heard of a cycle.
struct Heard {
    cycle: u64,
    at: Instant,
    wall: common::instant::Instant,
}

/// Opens `count` streams, waits for some cycles on all of them, and says how far apart the first and the last heard.
pub(crate) async fn run(
    server: SocketAddr,
    members: &[Member],
    count: usize,
    cycles: usize,
) -> Result<(), Fault> {
    let (sender, mut heard) = mpsc::unbounded_channel();
    let opening = Instant::now();
    for nth in 0..count {
        let lines = client::events(server, &members[nth % members.len()].token).await?;
        tokio::spawn(follow(lines, sender.clone()));
    }
    drop(sender);
    println!("{count} streams opened in {} ms", opening.elapsed().as_millis());
    // The first event of a stream is the cycle in force when it opened.
    let mut of_cycle: std::collections::BTreeMap<u64, Vec<Heard>> = std::collections::BTreeMap::new();
    let mut whole = 0;
    while whole < cycles + 1 {
        let next = tokio::time::timeout(PATIENCE, heard.recv()).await?;
        let Some(next) = next else { return Err("all streams ended".into()) };
        let all = of_cycle.entry(next.cycle).or_default();
        all.push(next);
        if all.len() == count {
            whole += 1;
            report(all);
        }
    }
    Ok(())
}

fn report(all: &[Heard]) {
    let (Some(first), Some(last)) =
        (all.iter().min_by_key(|heard| heard.at), all.iter().max_by_key(|heard| heard.at))
    else {
        return;
    };
    let since_minute = |heard: &Heard| heard.wall.0.rem_euclid(60_000_000) / 1_000;
    println!(
        "cycle {}: {} streams; the first heard {} ms after the minute, the last {} ms after the first",
        first.cycle,
        all.len(),
        since_minute(first),
        (last.at - first.at).as_millis()
    );
}

async fn follow(mut lines: Lines<BufReader<TcpStream>>, heard: mpsc::UnboundedSender<Heard>) {
    while let Ok(Some(line)) = lines.next_line().await {
        let Some(cycle) = line.strip_prefix("id: ").and_then(|id| id.trim().parse().ok()) else { continue };
        let now = Heard { cycle, at: Instant::now(), wall: SystemClock.now() };
        if heard.send(now).is_err() {
            return;
        }
    }
}
