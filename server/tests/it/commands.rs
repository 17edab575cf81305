//! The program as it is started: exit codes and messages for bad input, and a clean end.

use std::io::Write;
use std::path::Path;
use std::process::{Child, Command, Output, Stdio};
use std::time::{Duration, Instant};

use crate::fixture;

/// The program, in a folder of its own and with nothing of the tester's environment.
pub(crate) fn program(folder: &Path) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_quota-marketplace"));
    command.current_dir(folder);
    for (name, _) in std::env::vars().filter(|(name, _)| name.starts_with("QUOTA_MARKETPLACE_")) {
        command.env_remove(name);
    }
    command
}

pub(crate) fn run(folder: &Path, arguments: &[&str]) -> (i32, String, String) {
    said(&program(folder).args(arguments).output().expect("the program starts"))
}

fn said(output: &Output) -> (i32, String, String) {
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    (output.status.code().unwrap_or(-1), text(&output.stdout), text(&output.stderr))
}

fn clear(folder: &Path, json: &str) -> (i32, String, String) {
    let mut child = program(folder)
        .args(["clear", "-"])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .expect("the program starts");
    child.stdin.take().expect("a pipe").write_all(json.as_bytes()).expect("written");
    said(&child.wait_with_output().expect("an end"))
}

/// Every text must stand in what was said.
pub(crate) fn assert_says(said: &str, texts: &[&str]) {
    for text in texts {
        assert!(said.contains(text), "{text:?} is not in:\n{said}");
    }
}

const SNAPSHOT: &str = r#"{"cycle":1,"time":"2026-11-30T14:03:00Z","chip_types":[{"id":"H100","shared":10}],
    "pools":[{"id":"a","weight":"100.00"}],
    "teams":[{"id":"t","pool":"a","income":"100.00","balance":"1000.00"}],
    "bids":[{"id":"b","team":"t","position":1,"alternatives":[{"chip_type":"H100","chips":20,"min_chips":1}]}]}"#;

#[test]
fn help_and_version() {
    let folder = tempfile::tempdir().unwrap();
    let (code, out, _) = run(folder.path(), &["--help"]);
    assert_eq!(code, 0);
    assert_says(
        &out,
        &["serve", "clear", "verify", "replay", "import", "migrate", "openapi", "config", "Examples:"],
    );
    assert_eq!(run(folder.path(), &["--version"]).0, 0);
}

#[test]
fn an_unknown_flag_or_command_is_named() {
    let folder = tempfile::tempdir().unwrap();
    let (code, _, err) = run(folder.path(), &["serve", "--lisen", "127.0.0.1:1"]);
    assert_eq!(code, 2);
    assert_says(&err, &["--lisen", "--listen"]);
    let (code, _, err) = run(folder.path(), &["serv"]);
    assert_eq!(code, 2);
    assert_says(&err, &["serv", "serve"]);
}

#[test]
fn a_broken_setting_is_named_with_what_is_allowed_wherever_it_comes_from() {
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("quota-marketplace.toml"), "[log]\nformat = \"xml\"\n").unwrap();
    let (code, _, err) = run(folder.path(), &["serve"]);
    assert_eq!(code, 78);
    assert_says(&err, &["log.format", "\"xml\"", "text or json", "quota-marketplace.toml"]);
    std::fs::write(folder.path().join("quota-marketplace.toml"), "[log]\nformt = \"text\"\n").unwrap();
    let (code, _, err) = run(folder.path(), &["serve"]);
    assert_eq!(code, 78);
    assert_says(&err, &["log.formt", "did you mean log.format?"]);
    std::fs::remove_file(folder.path().join("quota-marketplace.toml")).unwrap();
    let output =
        program(folder.path()).arg("serve").env("QUOTA_MARKETPLACE_SERVER_LISTEN", "nowhere").output();
    let (code, _, err) = said(&output.unwrap());
    assert_eq!(code, 78);
    assert_says(
        &err,
        &["server.listen", "\"nowhere\"", "an address and a port", "QUOTA_MARKETPLACE_SERVER_LISTEN"],
    );
    let (code, _, err) = run(folder.path(), &["serve", "--config", "missing.toml"]);
    assert_eq!(code, 78);
    assert_says(&err, &["missing.toml"]);
    let (code, out, _) = run(folder.path(), &["config"]);
    assert_eq!(code, 0);
    assert_says(&out, &["# listen = \"127.0.0.1:7878\"", "Allowed:"]);
}

#[test]
fn malformed_json_to_clear_names_the_path_of_the_field() {
    let folder = tempfile::tempdir().unwrap();
    for (json, texts) in [
        (SNAPSHOT.replace("\"shared\":10", "\"shared\":1.5"), vec!["chip_types[0].shared", "1.5"]),
        (SNAPSHOT.replace("\"100.00\"}]", "\"1,000\"}]"), vec!["pools[0].weight", "1,000", "decimal number"]),
        (SNAPSHOT.replace("\"position\"", "\"place\""), vec!["bids[0].place", "unknown field"]),
        (
            SNAPSHOT.replace("\"min_chips\":1", "\"min_chips\":21"),
            vec!["bids[0].alternatives[0].min_chips", "21"],
        ),
        (SNAPSHOT.replace("\"team\":\"t\"", "\"team\":\"u\""), vec!["bids[0].team", "\"u\""]),
        (SNAPSHOT[..60].to_owned(), vec!["EOF", "line 1"]),
        (format!("{SNAPSHOT} x"), vec!["trailing characters"]),
    ] {
        let (code, out, err) = clear(folder.path(), &json);
        assert_eq!((code, out.as_str()), (65, ""), "{json}\n{err}");
        assert_says(&err, &texts);
    }
    let (code, _, err) = run(folder.path(), &["clear", "nothing.json"]);
    assert_eq!(code, 66);
    assert_says(&err, &["nothing.json"]);
}

#[test]
fn clear_prints_the_outcome() {
    let folder = tempfile::tempdir().unwrap();
    let (code, out, err) = clear(folder.path(), SNAPSHOT);
    assert_eq!((code, err.as_str()), (0, ""));
    let outcome: market::Outcome = serde_json::from_str(&out).unwrap();
    let snapshot: market::Snapshot = serde_json::from_str(SNAPSHOT).unwrap();
    assert_eq!(outcome, market::run_auction(&snapshot).unwrap());
    std::fs::write(folder.path().join("market.json"), SNAPSHOT).unwrap();
    assert_eq!(run(folder.path(), &["clear", "market.json"]).1, out, "from a file as from a pipe");
}

#[test]
fn a_taken_port_is_named() {
    let folder = tempfile::tempdir().unwrap();
    let taken = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let address = taken.local_addr().unwrap();
    let (code, _, err) = run(folder.path(), &["serve", "--listen", &address.to_string()]);
    assert_eq!(code, 69);
    assert_says(&err, &[&address.port().to_string(), "taken", "--listen"]);
    assert!(!folder.path().join("quota-marketplace.sqlite").exists(), "nothing was made");
}

#[test]
fn the_demo_is_not_opened_to_other_machines() {
    let folder = tempfile::tempdir().unwrap();
    let (code, _, err) = run(folder.path(), &["demo", "--listen", "0.0.0.0:7878"]);
    assert_eq!(code, 78);
    assert_says(&err, &["0.0.0.0", "use 127.0.0.1:7878"]);
    assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 0, "no database was made");
}

#[test]
fn an_unreachable_postgresql_is_named_without_its_password() {
    let folder = tempfile::tempdir().unwrap();
    let free = std::net::TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port();
    let url = format!("postgres://me:secret@127.0.0.1:{free}/quota");
    for command in [&["migrate"][..], &["demo", "--listen", "127.0.0.1:0"]] {
        let started = Instant::now();
        let (code, _, err) = run(folder.path(), &[&["--database", &url][..], command].concat());
        assert_eq!(code, 69, "{err}");
        assert_says(&err, &["127.0.0.1", &free.to_string()]);
        assert!(!err.contains("secret"), "{err}");
        assert!(started.elapsed() < Duration::from_secs(8), "it waits for nothing: {:?}", started.elapsed());
    }
}

#[tokio::test]
async fn a_newer_database_is_left_alone() {
    let test = fixture::sqlite().await;
    let server::store::Place::Sqlite { path, .. } = &test.place else { unreachable!("it is SQLite") };
    test.store.close().await;
    let newer = "INSERT INTO _sqlx_migrations (version, description, success, checksum, execution_time) \
                 VALUES (999, 'later', TRUE, x'00', 0)";
    execute(path, newer).await;
    let folder = tempfile::tempdir().unwrap();
    let (code, _, err) = run(folder.path(), &["--database", path.to_str().unwrap(), "migrate"]);
    assert_eq!(code, 76);
    assert_says(&err, &["newer version", "999"]);
}

async fn execute(path: &Path, sql: &'static str) {
    use sqlx::{Connection, Executor};
    let options = sqlx::sqlite::SqliteConnectOptions::new().filename(path);
    let mut connection = sqlx::sqlite::SqliteConnection::connect_with(&options).await.expect("a connection");
    connection.execute(sql).await.expect("the statement runs");
    connection.close().await.expect("closed");
}

#[test]
fn a_file_that_is_no_database_or_can_not_be_made_is_named() {
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(
        folder.path().join("text.sqlite"),
        "this is a text, and a long one, but no database at all",
    )
    .unwrap();
    let (code, _, err) = run(folder.path(), &["--database", "text.sqlite", "migrate"]);
    assert_ne!(code, 0);
    assert_says(&err, &["text.sqlite"]);
    let (code, _, err) = run(folder.path(), &["--database", "no/such/folder/x.sqlite", "migrate"]);
    assert_eq!(code, 69);
    assert_says(&err, &["no/such/folder/x.sqlite"]);
}

#[cfg(unix)]
#[test]
fn serve_ends_cleanly_at_sigterm() {
    let folder = tempfile::tempdir().unwrap();
    let child = program(folder.path())
        .args(["serve", "--listen", "127.0.0.1:0", "--log-format", "json"])
        .stderr(Stdio::piped())
        .spawn()
        .expect("the program starts");
    let (line, took) = serve_and_end(child);
    let event: serde_json::Value = serde_json::from_str(&line).expect("a JSON object per line");
    assert_eq!(event["level"], "INFO");
    assert!(took < Duration::from_secs(10));
}

/// Waits until the program, with its standard error piped, serves; then has it end, in order. The line that says where
/// it serves, and how long the end took.
#[cfg(unix)]
pub(crate) fn serve_and_end(child: Child) -> (String, Duration) {
    let mut child = Ending(child);
    let mut log = std::io::BufReader::new(child.0.stderr.take().expect("a pipe"));
    let mut line = String::new();
    while !line.contains("the market is at http://") {
        line.clear();
        assert!(std::io::BufRead::read_line(&mut log, &mut line).expect("a line") > 0, "the log ended");
    }
    (line, child.end())
}

/// Ends the program with the test, whatever happens in between.
pub(crate) struct Ending(pub(crate) Child);

#[cfg(unix)]
impl Ending {
    /// Has the program end in order; how long that took.
    pub(crate) fn end(&mut self) -> Duration {
        let id = self.0.id().to_string();
        assert!(Command::new("kill").args(["-TERM", &id]).status().expect("kill runs").success());
        let started = Instant::now();
        let status = self.0.wait().expect("an end");
        assert_eq!(status.code(), Some(0));
        started.elapsed()
    }
}

impl Drop for Ending {
    fn drop(&mut self) {
        // An error says that it has ended already.
        let _ended = self.0.kill();
    }
}

#[tokio::test]
async fn a_read_only_database_is_named() {
    let Some(url) = crate::postgres::new_database().await else { return };
    let separator = if url.contains('?') { '&' } else { '?' };
    let url = format!("{url}{separator}options[default_transaction_read_only]=on");
    let folder = tempfile::tempdir().unwrap();
    let (code, _, err) = run(folder.path(), &["--database", &url, "migrate"]);
    assert_eq!(code, 69, "{err}");
    assert_says(&err, &["read-only"]);
}
