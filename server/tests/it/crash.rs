//! A process that clears and takes bids is killed (SIGKILL) at random moments, again and again: afterwards everything
//! verifies, and each write that was acknowledged is there.

use std::io::{BufRead as _, BufReader, Write as _};
use std::process::{Command, Stdio};
use std::time::Duration;

use common::ids::BidId;
use rand::{RngExt as _, SeedableRng as _};
use rand_chacha::ChaCha12Rng;
use server::cycle::verify::verify;
use server::cycle::{Clearing, maintain};
use server::services::bids;
use server::store::{Place, Store, results};

use crate::fixture::{self, START, TestStore, create};
use crate::play::Player;

/// Set in the child: the database it works on.
const PLACE: &str = "QM_CRASH_TEST_PLACE";

/// Set in the child: the seed of its bids.
const SEED: &str = "QM_CRASH_TEST_SEED";

/// How often a process is killed, on each kind of store.
const KILLS: u64 = 25;

/// The child's whole life; in an ordinary run of the tests there is nothing for it to do.
#[tokio::test(flavor = "multi_thread")]
async fn child_process() {
    let (Ok(place), Ok(seed)) = (std::env::var(PLACE), std::env::var(SEED)) else { return };
    let store = Store::open(&Place::parse(&place)).await.expect("the child opens the store");
    let seed = seed.parse().expect("a seed");
    tokio::join!(clear_for_ever(&store), bid_for_ever(&store, seed));
}

async fn clear_for_ever(store: &Store) {
    let mut clearing = Clearing::new();
    for cycle in 1_u64.. {
        let mut tx = store.write().await.expect("a transaction");
        let last = results::last_cycle(&mut tx).await.expect("the last cycle");
        let at = last.map_or(START, |last| last.starts_at).plus_seconds(60);
        clearing.clear(&mut tx, at).await.expect("the cycle clears");
        tx.commit().await.expect("a commit");
        if cycle.is_multiple_of(7) {
            maintain(store, at, 3).await.expect("roll-ups");
        }
    }
}

/// Places, changes and cancels bids; tells the parent of each bid once it is committed.
async fn bid_for_ever(store: &Store, seed: u64) {
    let mut player = Player::new(seed);
    for number in 0_u64.. {
        let bid = player.new_bid(START);
        let id = bid.id.clone();
        let mut tx = store.write().await.expect("a transaction");
        bids::place(&mut tx, START, bid).await.expect("a bid");
        if number.is_multiple_of(3) {
            bids::cancel(&mut tx, START, &id).await.expect("a cancellation");
        }
        tx.commit().await.expect("a commit");
        let mut out = std::io::stdout().lock();
        writeln!(out, "\nacknowledged {id}").and_then(|()| out.flush()).expect("the parent listens");
    }
}

/// Runs the child for a moment, kills it, and returns the bids that it said were placed.
fn run_and_kill(place: &str, seed: u64, life: Duration) -> Vec<BidId> {
    let mut child = Command::new(std::env::current_exe().expect("this program"))
        .args(["crash::child_process", "--exact", "--nocapture", "--test-threads=1"])
        .env(PLACE, place)
        .env(SEED, seed.to_string())
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()
        .expect("the child starts");
    let out = child.stdout.take().expect("its output");
    let reader = std::thread::spawn(move || {
        let lines = BufReader::new(out).lines().map_while(Result::ok);
        let ids = lines.filter_map(|line| line.strip_prefix("acknowledged ").map(BidId::new));
        ids.filter_map(Result::ok).collect::<Vec<_>>()
    });
    std::thread::sleep(life);
    assert!(child.try_wait().expect("its state").is_none(), "the child ended by itself");
    child.kill().expect("SIGKILL");
    child.wait().expect("its end");
    reader.join().expect("its lines")
}

async fn kill_again_and_again(test: TestStore) {
    create(&test.store).await;
    test.store.close().await;
    let place = match &test.place {
        Place::Sqlite { path, .. } => path.display().to_string(),
        Place::Postgres { url, .. } => url.clone(),
    };
    let mut random = ChaCha12Rng::seed_from_u64(2);
    let mut acknowledged = Vec::new();
    for seed in 0..KILLS {
        let life = Duration::from_millis(random.random_range(150..600));
        let place = place.clone();
        let ids = tokio::task::spawn_blocking(move || run_and_kill(&place, seed, life)).await.expect("a run");
        acknowledged.extend(ids);
    }

    let store = Store::open(&test.place).await.expect("the store opens after all that");
    let report = verify(&store, None, None, |_, _| {}).await.expect("verification runs");
    assert!(report.is_clean(), "{}: {report}", test.name);
    let cycles = report.cycles.expect("cycles").1;
    assert!(
        cycles > KILLS && acknowledged.len() as u64 > KILLS,
        "{}: too little happened: {report}",
        test.name
    );
    let mut tx = store.write().await.expect("a transaction");
    for id in &acknowledged {
        // A cancellation is the one request that an ended bid answers without a conflict only if it is there.
        let found = bids::cancel(&mut tx, START, id).await;
        let gone = found.is_err_and(|error| error.kind() == server::error::ErrorKind::NotFound);
        assert!(!gone, "{}: the acknowledged bid {id} is gone", test.name);
    }
    drop(tx);
    store.close().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn killed_again_and_again_on_sqlite_nothing_is_lost_or_booked_twice() {
    kill_again_and_again(fixture::sqlite().await).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn killed_again_and_again_on_postgres_nothing_is_lost_or_booked_twice() {
    if let Some(test) = fixture::postgres().await {
        kill_again_and_again(test).await;
    }
}
