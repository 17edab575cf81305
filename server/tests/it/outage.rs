//! A PostgreSQL that is away: `serve` waits for it at the start, says so, and gets over losing it later.
#![expect(clippy::unwrap_used, reason = "helpers of tests: what fails here fails the test")]

use std::io::{Read as _, Write as _};
use std::net::TcpStream;
use std::process::Stdio;
use std::time::{Duration, Instant};

use server::cycle::verify::verify;
use server::services::organisation;
use server::store::entities::Organisation;
use server::store::{Place, Store};

use crate::commands::{Ending, assert_says, program, run};
use crate::fixture::{self, START, create};
use crate::postgres::OwnServer;

/// Longest wait for something that must happen.
const PATIENCE: Duration = Duration::from_secs(60);

/// Status and body of an answer over the network, headers included; none where nobody listens yet.
fn get(port: u16, path: &str) -> Option<(u16, String)> {
    let mut stream = TcpStream::connect(("127.0.0.1", port)).ok()?;
    stream.set_read_timeout(Some(PATIENCE)).ok()?;
    write!(stream, "GET {path} HTTP/1.1\r\nHost: here\r\nConnection: close\r\n\r\n").ok()?;
    let mut answer = String::new();
    stream.read_to_string(&mut answer).ok()?;
    let status = answer.split(' ').nth(1)?.parse().ok()?;
    Some((status, answer))
}

/// Asks again until the answer is as it must be.
async fn until(what: &str, port: u16, path: &str, is_so: impl Fn(u16, &str) -> bool) -> String {
    let started = Instant::now();
    let mut last = None;
    while started.elapsed() < PATIENCE {
        last = get(port, path);
        if let Some((status, answer)) = &last
            && is_so(*status, answer)
        {
            return answer.clone();
        }
        tokio::time::sleep(Duration::from_millis(50)).await;
    }
    panic!("waited in vain: {what}; the last answer was {last:?}")
}

/// The number of the cycle in force that readiness tells.
fn cycle(answer: &str) -> u64 {
    let (_, json) = answer.split_once("\r\n\r\n").unwrap();
    serde_json::from_str::<serde_json::Value>(json).unwrap()["clock"]["cycle"].as_u64().unwrap()
}

fn free_port() -> u16 {
    std::net::TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port()
}

/// An organisation that clears and accounts each second.
async fn create_quick(store: &Store) {
    create(store).await;
    let quick = Organisation { cycle_seconds: 1, accounting_seconds: 1, ..fixture::setup().organisation };
    let mut tx = store.write().await.unwrap();
    organisation::change_settings(&mut tx, START, &quick).await.unwrap();
    tx.commit().await.unwrap();
}

#[tokio::test(flavor = "multi_thread")]
async fn a_database_that_is_away_is_waited_for_at_the_start_and_later() {
    let Some(database) = OwnServer::stopped() else { return };
    let url = database.url("postgres", "postgres");
    let (folder, port) = (tempfile::tempdir().unwrap(), free_port());
    let listen = format!("127.0.0.1:{port}");
    let mut serve = program(folder.path());
    serve.args(["serve", "--database", &url, "--listen", &listen]);
    let log = std::fs::File::create(folder.path().join("log")).unwrap();
    let mut serve = Ending(serve.stderr(Stdio::from(log)).spawn().unwrap());

    // Away at the start: each kind of address says so.
    let readiness = until("that it waits", port, "/readyz", |status, answer| {
        status == 503 && answer.contains("tried again")
    });
    assert_says(&readiness.await, &["\"status\":\"waiting\"", "not ready yet"]);
    assert_eq!(get(port, "/healthz").unwrap().0, 200);
    let (status, answer) = get(port, "/api/v1/market").unwrap();
    assert_eq!(status, 503);
    assert_says(&answer, &["application/problem+json", "retry-after: ", "not ready yet", "nosniff"]);
    let (status, answer) = get(port, "/").unwrap();
    assert_eq!(status, 503);
    assert_says(&answer, &["text/html", "<h1>Not ready yet</h1>", "no-store", "default-src 'none'"]);
    let said = std::fs::read_to_string(folder.path().join("log")).unwrap();
    assert_says(&said, &["waiting for the database", &format!("postgres on 127.0.0.1:{}", url_port(&url))]);

    // It comes up: the server goes on by itself, and clears once there is an organisation.
    database.start();
    // Behind the gate it is asked who somebody is.
    until("that the gate opens", port, "/api/v1/market", |status, _| status == 401).await;
    let store = Store::open(&Place::parse(&url)).await.unwrap();
    create_quick(&store).await;
    let is_ready = |status, answer: &str| status == 200 && answer.contains("\"status\":\"ready\"");
    let before = cycle(&until("cycles", port, "/readyz", is_ready).await);
    store.close().await;

    // It goes away: quotas stay, marked stale, and readiness says why within seconds.
    database.stop();
    let stopped = Instant::now();
    let is_lost = |status, answer: &str| status == 503 && answer.contains("\"stale\":{");
    let lost = until("that it is missed", port, "/readyz", is_lost).await;
    assert!(stopped.elapsed() < Duration::from_secs(8), "noticed only after {:?}", stopped.elapsed());
    assert_says(&lost, &["\"status\":\"unreachable\"", "does not answer"]);
    assert!(cycle(&lost) >= before);

    // It comes back: the next cycle clears, and nothing is missing.
    database.start();
    let after = until("cycles again", port, "/readyz", is_ready).await;
    assert!(cycle(&after) > cycle(&lost));
    serve.end();
    let store = Store::open(&Place::parse(&url)).await.unwrap();
    let report = verify(&store, None, None, |_, _| {}).await.unwrap();
    assert!(report.is_clean(), "{report}");
    store.close().await;
}

fn url_port(url: &str) -> &str {
    url.rsplit_once(':').unwrap().1.split('/').next().unwrap()
}

#[tokio::test(flavor = "multi_thread")]
async fn what_does_not_mend_itself_ends_serve_at_once() {
    let Some(database) = OwnServer::stopped() else { return };
    database.start();
    let folder = tempfile::tempdir().unwrap();
    let serve = |url: &str| run(folder.path(), &["serve", "--database", url, "--listen", "127.0.0.1:0"]);
    let (code, _, said) = serve(&database.url("nobody", "postgres"));
    assert_eq!(code, 78, "{said}");
    assert_says(&said, &["refuses this login", "127.0.0.1"]);
    let (code, _, said) = serve(&database.url("postgres", "nothing"));
    assert_eq!(code, 78, "{said}");
    assert_says(&said, &["no such database"]);

    let url = database.url("postgres", "postgres");
    Store::open(&Place::parse(&url)).await.unwrap().close().await;
    let pool = sqlx::PgPool::connect(&url).await.unwrap();
    const NEWER: &str = "INSERT INTO _sqlx_migrations (version, description, success, checksum, execution_time) \
                         VALUES (999, 'later', TRUE, '', 0)";
    sqlx::query(NEWER).execute(&pool).await.unwrap();
    pool.close().await;
    let (code, _, said) = serve(&url);
    assert_eq!(code, 76, "{said}");
    assert_says(&said, &["newer version", "999"]);
}

#[test]
fn a_wait_for_the_database_ends_with_a_signal() {
    let (folder, port) = (tempfile::tempdir().unwrap(), free_port());
    let url = format!("postgres://nobody@127.0.0.1:{}/nothing", free_port());
    let mut serve = program(folder.path());
    serve.args(["serve", "--database", &url, "--listen", &format!("127.0.0.1:{port}")]);
    let mut serve = Ending(serve.stderr(Stdio::null()).spawn().unwrap());
    let started = Instant::now();
    while get(port, "/readyz").is_none() {
        assert!(started.elapsed() < PATIENCE, "nobody listens");
        std::thread::sleep(Duration::from_millis(50));
    }
    assert!(serve.end() < Duration::from_secs(5));
}
