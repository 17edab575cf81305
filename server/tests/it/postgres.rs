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
    let server = Server::make(&needed_binaries());
    server.start("-c listen_addresses=''");
    let socket = server.folder.display().to_string().replace('/', "%2F");
    Some(format!("postgres://postgres@{socket}/postgres"))
}

fn needed_binaries() -> PathBuf {
    binaries().unwrap_or_else(|| {
        panic!(
            "no PostgreSQL server here: install it (apt-get install postgresql), name a running one in {URL}, or set \
             {SKIP}=1 to leave its tests out"
        )
    })
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

/// A server of the test's own, on a port of this machine, that may be stopped and started.
pub(crate) struct OwnServer {
    port: u16,
    server: Server,
}

impl OwnServer {
    /// Makes one that does not run yet; none where PostgreSQL is left out on purpose, or is on another machine.
    pub(crate) fn stopped() -> Option<Self> {
        let is_elsewhere = std::env::var_os(URL).is_some() && binaries().is_none();
        if std::env::var_os(SKIP).is_some() || is_elsewhere {
            return None;
        }
        let free = std::net::TcpListener::bind("127.0.0.1:0").and_then(|listener| listener.local_addr());
        Some(Self { port: free.expect("a free port").port(), server: Server::make(&needed_binaries()) })
    }

    /// A database of it, `postgres` being there from the beginning.
    pub(crate) fn url(&self, user: &str, database: &str) -> String {
        format!("postgres://{user}@127.0.0.1:{}/{database}", self.port)
    }

    pub(crate) fn start(&self) {
        self.server.start(&format!("-c listen_addresses=127.0.0.1 -c port={}", self.port));
    }

    /// Ends all its connections and stops.
    pub(crate) fn stop(&self) {
        let mut stop = self.server.as_user("pg_ctl");
        stop.args(["-w", "-m", "fast", "-D"]).arg(&self.server.data);
        let stopped = stop.arg("stop").stdout(Stdio::null()).status().expect("pg_ctl runs");
        assert!(stopped.success(), "PostgreSQL did not stop: {stopped}");
    }
}

/// The files of a server, and who may run it.
struct Server {
    binaries: PathBuf,
    folder: PathBuf,
    data: PathBuf,
    /// The server refuses to run as root; then it runs as the user `postgres`.
    is_root: bool,
}

impl Server {
    /// Makes a server that stops when this process ends.
    fn make(binaries: &Path) -> Self {
        let folder = tempfile::Builder::new().prefix("qm-postgres-").tempdir();
        let folder = folder.expect("a temporary folder").keep();
        let is_root = Command::new("id").arg("-u").output().is_ok_and(|output| output.stdout == b"0\n");
        // The user `postgres` needs it.
        std::fs::set_permissions(&folder, std::fs::Permissions::from_mode(0o777))
            .expect("permissions can be set");
        let server = Self { binaries: binaries.to_owned(), data: folder.join("data"), folder, is_root };
        let mut initdb = server.as_user("initdb");
        initdb
            .args(["--auth=trust", "--username=postgres", "--encoding=UTF8", "--locale=C", "--no-sync", "-D"])
            .arg(&server.data);
        let initialised = initdb.stdout(Stdio::null()).status().expect("initdb runs");
        assert!(initialised.success(), "initdb failed: {initialised}");
        server.stop_with_this_process();
        server
    }

    /// One of its programs, as the user that may run it.
    fn as_user(&self, program: &str) -> Command {
        let program = self.binaries.join(program);
        if !self.is_root {
            return Command::new(program);
        }
        let mut command = Command::new("runuser");
        command.args(["-u", "postgres", "--"]).arg(program);
        command
    }

    /// Starts it and waits until it answers.
    fn start(&self, listening: &str) {
        let log = self.folder.join("log");
        let mut start = self.as_user("pg_ctl");
        start.args(["-w", "-t", "60", "-D"]).arg(&self.data).arg("-l").arg(&log).arg("-o");
        start.arg(format!("-k {} {listening} -c max_connections=200 -c fsync=off", self.folder.display()));
        let started = start.arg("start").stdout(Stdio::null()).status().expect("pg_ctl runs");
        assert!(
            started.success(),
            "PostgreSQL did not start: {}",
            std::fs::read_to_string(&log).unwrap_or_default()
        );
    }

    /// Leaves a shell behind that waits for this process to end, stops the server and removes its folder: a test
    /// binary has no moment of its own after its last test, and may be killed.
    fn stop_with_this_process(&self) {
        let run_as = if self.is_root { "runuser -u postgres --" } else { "" };
        let script = format!(
            "(while kill -0 {} 2>/dev/null; do sleep 0.2; done; {run_as} '{}' -m immediate -D '{}' stop; rm -rf '{}') &",
            std::process::id(),
            self.binaries.join("pg_ctl").display(),
            self.data.display(),
            self.folder.display()
        );
        let mut shell = Command::new("sh");
        shell.args(["-c", &script]).stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
        let left_behind = shell.status().expect("a shell runs");
        assert!(left_behind.success(), "nothing will stop PostgreSQL: {left_behind}");
    }
}
