//! A PostgreSQL server for the tests: the one that `TEST_DATABASE_URL_POSTGRES` names, or one started for this process
//! on a socket in a temporary folder and stopped with it.

use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::OnceLock;
use std::sync::atomic::{AtomicU32, Ordering};

/// Names a running server to use instead.
const URL: &str = "TEST_DATABASE_URL_POSTGRES";

/// Set to leave the tests on PostgreSQL out on a machine that has none.
const SKIP: &str = "QM_SKIP_POSTGRES";

static SERVER: OnceLock<Option<String>> = OnceLock::new();
static DATABASES: AtomicU32 = AtomicU32::new(0);

/// The URL of a new, empty database; none where PostgreSQL is left out on purpose.
///
/// # Panics
/// There is no PostgreSQL on this machine and nothing says to leave it out.
pub(crate) async fn new_database() -> Option<String> {
    let server = SERVER.get_or_init(|| std::env::var(URL).ok().or_else(start_unless_skipped)).clone()?;
    let name = format!("qm_{}_{}", std::process::id(), DATABASES.fetch_add(1, Ordering::Relaxed));
    let pool = sqlx::PgPool::connect(&server).await.expect("the PostgreSQL server answers");
    sqlx::query(sqlx::AssertSqlSafe(format!("CREATE DATABASE {name}")))
        .execute(&pool)
        .await
        .expect("a database can be created");
    pool.close().await;
    let (before, query) =
        server.split_once('?').map_or((server.as_str(), ""), |(before, query)| (before, query));
    let base = before.rsplit_once('/').map_or(before, |(base, _)| base);
    Some(format!("{base}/{name}?{query}"))
}

fn start_unless_skipped() -> Option<String> {
    if std::env::var_os(SKIP).is_some() {
        return None;
    }
    let binaries = binaries().unwrap_or_else(|| {
        panic!(
            "no PostgreSQL server here: install it (apt-get install postgresql), name a running one in {URL}, or set \
             {SKIP}=1 to leave its tests out"
        )
    });
    Some(start(&binaries))
}

/// The newest installed server's programs.
fn binaries() -> Option<PathBuf> {
    let mut found: Vec<PathBuf> = std::fs::read_dir("/usr/lib/postgresql")
        .ok()?
        .flatten()
        .map(|entry| entry.path().join("bin"))
        .filter(|folder| folder.join("initdb").exists())
        .collect();
    found.sort_by_key(|folder| {
        let version =
            folder.parent().and_then(Path::file_name).and_then(|name| name.to_str()?.parse::<u32>().ok());
        version.unwrap_or(0)
    });
    found.pop()
}

/// Starts a server that stops when this process ends.
fn start(binaries: &Path) -> String {
    let folder =
        tempfile::Builder::new().prefix("qm-postgres-").tempdir().expect("a temporary folder").keep();
    let data = folder.join("data");
    // The server refuses to run as root; then it runs as the user `postgres`, who needs the folder.
    let is_root = Command::new("id").arg("-u").output().is_ok_and(|output| output.stdout == b"0\n");
    std::fs::set_permissions(&folder, std::fs::Permissions::from_mode(0o777))
        .expect("permissions can be set");
    let as_user = |program: &str| {
        let program = binaries.join(program);
        if is_root {
            let mut command = Command::new("runuser");
            command.args(["-u", "postgres", "--"]).arg(program);
            command
        } else {
            Command::new(program)
        }
    };
    let mut initdb = as_user("initdb");
    initdb
        .args(["--auth=trust", "--username=postgres", "--encoding=UTF8", "--locale=C", "--no-sync", "-D"])
        .arg(&data);
    let initialised = initdb.stdout(Stdio::null()).status().expect("initdb runs");
    assert!(initialised.success(), "initdb failed: {initialised}");
    let log = folder.join("log");
    let mut start = as_user("pg_ctl");
    start.args(["-w", "-t", "60", "-D"]).arg(&data).arg("-l").arg(&log).arg("-o");
    start.arg(format!("-k {} -c listen_addresses='' -c max_connections=200 -c fsync=off", folder.display()));
    let started = start.arg("start").stdout(Stdio::null()).status().expect("pg_ctl runs");
    assert!(
        started.success(),
        "PostgreSQL did not start: {}",
        std::fs::read_to_string(&log).unwrap_or_default()
    );
    stop_with_this_process(&folder, &data, binaries, is_root);
    let socket = folder.display().to_string().replace('/', "%2F");
    format!("postgres://postgres@{socket}/postgres")
}

/// Leaves a shell behind that waits for this process to end, stops the server and removes its folder: a test binary
/// has no moment of its own after its last test, and may be killed.
fn stop_with_this_process(folder: &Path, data: &Path, binaries: &Path, is_root: bool) {
    let run_as = if is_root { "runuser -u postgres --" } else { "" };
    let script = format!(
        "(while kill -0 {} 2>/dev/null; do sleep 0.2; done; {run_as} '{}' -m immediate -D '{}' stop; rm -rf '{}') &",
        std::process::id(),
        binaries.join("pg_ctl").display(),
        data.display(),
        folder.display()
    );
    let mut shell = Command::new("sh");
    shell.args(["-c", &script]).stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
    let left_behind = shell.status().expect("a shell runs");
    assert!(left_behind.success(), "nothing will stop PostgreSQL: {left_behind}");
}
