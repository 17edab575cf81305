//! `serve`: opens the store, runs the clearing loop and the server, and ends both in order. A PostgreSQL that is away at
//! the start is waited for.
//!
//! At SIGTERM or SIGINT event streams end, requests in flight finish, the loop finishes its transaction, then the
//! store closes. What takes longer than the limit is cut off; nothing is lost by that, since a cycle is one
//! transaction.

use std::net::SocketAddr;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use axum::serve::ListenerExt;
use common::api::MarketClock;
use common::instant::Instant;
use tokio::net::TcpListener;
use tokio::task::JoinHandle;
use tokio_util::sync::CancellationToken;

use crate::auth::{self, Auth};
use crate::cli::print;
use crate::clock::{Clock, IdSource, SystemClock};
use crate::config::{Config, DatabaseConfig, ServerConfig};
use crate::cycle::{self, ClearedCycle, wait_after};
use crate::demo::{self, Demo, DemoArgs};
use crate::error::{AppError, ErrorKind};
use crate::http::{self, Gate, Parts};
use crate::lab::{shadow, worker};
use crate::services::Services;
use crate::services::jobs::Worker;
use crate::services::live::Live;
use crate::services::read::MarketReader;
use crate::store::entities::Organisation;
use crate::store::{Place, Store, accounts};

/// `serve`: runs the market until a signal ends it.
///
/// # Errors
/// `Unavailable`: the port is taken or the file of the database can't be used; a PostgreSQL that can't be reached is
/// waited for. `Config`: it refuses the login or has no such database. `WrongVersion`: it is a newer program's.
pub async fn run(config: &Config) -> Result<(), AppError> {
    start(config, None).await
}

/// `demo`: sets a market up from a trace, or goes on with it, and plays the trace into it while it is served.
///
/// # Errors
/// As [`run`], but nothing is waited for; `Config`: it would be reachable from other machines, with passwords that
/// everybody knows. `Conflict`: the database holds another organisation. `NotFound`: there is no such trace.
pub async fn run_demo(config: &Config, args: &DemoArgs) -> Result<(), AppError> {
    let address = config.server.listen;
    if !address.ip().is_loopback() {
        return Err(AppError::config(format!(
            "everybody knows the passwords of the demo, so it listens on this machine only; {} is open to others, use 127.0.0.1:{}",
            address.ip(),
            address.port()
        )));
    }
    start(config, Some(args)).await
}

async fn start(config: &Config, demo: Option<&DemoArgs>) -> Result<(), AppError> {
    // Half of the settings of single sign-on is refused before anything is done.
    config.provider()?;
    let listener = bind(config.server.listen).await?;
    let address = listener.local_addr().map_err(AppError::internal)?;
    let clock: Arc<dyn Clock> = Arc::new(SystemClock);
    let shutdown = CancellationToken::new();
    let signals = tokio::spawn(cancel_on_signal(shutdown.clone()));
    let gate = Gate::closed(clock_before_first(clock.now()), "it is being set up");
    let server = listen(listener, &gate, &shutdown);
    let result = async {
        let opened = match demo {
            Some(_) => Some(open_and_resume(config, clock.as_ref()).await?),
            None => open_patiently(config, clock.as_ref(), &gate, &shutdown).await?,
        };
        let Some((store, live)) = opened else { return Ok(()) };
        let served = async {
            let (demo, live) = match demo {
                // Setting up takes a while. It may be cut off at any point: it goes on from there the next time.
                Some(args) => tokio::select! {
                    prepared = demo::prepare(&store, clock.as_ref(), args) => {
                        (Some(prepared?), resume(&store, clock.as_ref()).await?)
                    }
                    () = shutdown.cancelled() => return Ok(()),
                },
                None => {
                    offer_first_account(&store, clock.as_ref(), &config.server, address).await?;
                    (None, live)
                }
            };
            let accounts = if demo.is_some() { demo::ACCOUNTS.as_slice() } else { &[] };
            let market = Market { store: store.clone(), clock, live: Arc::new(live), demo };
            let running = market.run(config, &gate, &shutdown).await?;
            tracing::info!("the market is at {}", config.server.shown_url(address));
            for (name, password, who) in accounts {
                tracing::info!("sign in as {name}, password {password}: {who}");
            }
            running.end(server, &shutdown, config.server.shutdown_timeout).await
        }
        .await;
        store.close().await;
        served
    }
    .await;
    signals.abort();
    result
}

/// Prints a link that makes the first admin's account, where the database has no account yet.
async fn offer_first_account(
    store: &Store,
    clock: &dyn Clock,
    config: &ServerConfig,
    address: SocketAddr,
) -> Result<(), AppError> {
    if accounts::any(&mut store.read().await?).await? {
        return Ok(());
    }
    let link = auth::make_admin_link(store, clock.now()).await?;
    print(&format!(
        "There is no account yet. Make the first admin's within a day, at\n  {}/link/{link}\n",
        config.shown_url(address)
    ))
}

/// Takes the port, before anything else is done.
async fn bind(address: SocketAddr) -> Result<TcpListener, AppError> {
    TcpListener::bind(address).await.map_err(|error| {
        let (port, way_out) = (address.port(), "choose another with --listen or server.listen");
        let message = match error.kind() {
            std::io::ErrorKind::AddrInUse => {
                format!(
                    "port {port} of {} is taken by another program; stop that one, or {way_out}",
                    address.ip()
                )
            }
            std::io::ErrorKind::PermissionDenied => {
                format!("port {port} may not be used by this user; {way_out}")
            }
            _ => format!("{address} can't be listened on; {way_out}"),
        };
        AppError::unavailable(message).with_context(error)
    })
}

/// Opens the database that the configuration names.
pub(crate) async fn open(config: &DatabaseConfig) -> Result<Store, AppError> {
    let store = Store::open(&config.place()).await?;
    tracing::info!(database = config.shown_url(), "store open");
    Ok(store)
}

/// Opens the database, and waits for a PostgreSQL that is away, for as long as it takes; none where a signal ends the
/// wait. What does not mend itself is an error as ever: a wrong login, a newer schema, a file that can't be opened.
async fn open_patiently(
    config: &Config,
    clock: &dyn Clock,
    gate: &Gate,
    shutdown: &CancellationToken,
) -> Result<Option<(Store, Live)>, AppError> {
    for failures in 1.. {
        let error = match open_and_resume(config, clock).await {
            Ok(opened) => return Ok(Some(opened)),
            Err(error) => error,
        };
        let may_come_up = matches!(config.database.place(), Place::Postgres { .. });
        if !may_come_up || error.kind() != ErrorKind::Unavailable {
            return Err(error);
        }
        gate.wait_for(
            "its database can't be used now, and is tried again and again; the server's log says why",
        );
        let wait = wait_after(failures);
        let (context, next_try_ms) = (error.private_context(), wait.as_millis());
        tracing::warn!(failures, context, next_try_ms, "waiting for the database: {error}");
        tokio::select! {
            () = tokio::time::sleep(wait) => {}
            () = shutdown.cancelled() => break,
        }
    }
    Ok(None)
}

async fn open_and_resume(config: &Config, clock: &dyn Clock) -> Result<(Store, Live), AppError> {
    let store = open(&config.database).await?;
    let live = resume(&store, clock).await?;
    Ok((store, live))
}

/// Answers from now on, at first only through the closed gate.
fn listen(
    listener: TcpListener,
    gate: &Gate,
    shutdown: &CancellationToken,
) -> JoinHandle<std::io::Result<()>> {
    let listener = listener.tap_io(|stream| {
        // Small answers must not wait for the ones before them to be acknowledged.
        if let Err(error) = stream.set_nodelay(true) {
            tracing::debug!("no TCP_NODELAY: {error}");
        }
    });
    let ended = shutdown.clone().cancelled_owned();
    let service = gate.router().into_make_service_with_connect_info::<SocketAddr>();
    tokio::spawn(axum::serve(listener, service).with_graceful_shutdown(ended).into_future())
}

/// A market whose store is open.
struct Market {
    store: Store,
    clock: Arc<dyn Clock>,
    live: Arc<Live>,
    demo: Option<Demo>,
}

/// What runs beside the server.
struct Running {
    playing: JoinHandle<std::io::Result<()>>,
    clearing: JoinHandle<std::io::Result<()>>,
    watching: JoinHandle<std::io::Result<()>>,
    working: JoinHandle<std::io::Result<()>>,
    comparing: JoinHandle<std::io::Result<()>>,
}

impl Market {
    /// Starts the loop and the player, and opens the gate.
    ///
    /// # Errors
    /// `Unavailable`: the database does not answer.
    async fn run(
        self,
        config: &Config,
        gate: &Gate,
        shutdown: &CancellationToken,
    ) -> Result<Running, AppError> {
        let Self { store, clock, live, demo } = self;
        let market = Arc::new(MarketReader::new(store.clone(), Arc::clone(&clock), live.subscribe()));
        tokio::spawn({
            let market = Arc::clone(&market);
            async move { market.keep_ready().await }
        });
        let services = Services::new(store.clone(), Arc::clone(&clock), IdSource::random(), market);
        let services = Arc::new(services);
        let auth = Arc::new(Auth::open(Arc::clone(&services), &config.auth, config.provider()?).await?);
        let comparing = tokio::spawn({
            let (services, stop) = (Arc::clone(&services), shutdown.clone());
            let live = live.subscribe();
            async move {
                let shadows = shadow::follow(Arc::clone(&services), live, stop.clone());
                tokio::join!(worker::work(services, stop), shadows);
                Ok(())
            }
        });
        let demo_accounts = if demo.is_some() { demo::ACCOUNTS.to_vec() } else { Vec::new() };
        let worker = Worker::new(Arc::clone(&services), config.database.export_folder());
        let planning = Arc::clone(&services);
        gate.open(http::router(Parts {
            config: config.server.clone(),
            services,
            auth: Arc::clone(&auth),
            demo_accounts,
            site: http::embedded_site(),
            shutdown: shutdown.clone(),
        }));
        let playing = tokio::spawn({
            let (store, clock, stop) = (store.clone(), Arc::clone(&clock), shutdown.clone());
            let live = live.subscribe();
            async move {
                if let Some(demo) = demo {
                    demo.plan(&planning).await;
                    demo.play(&store, clock.as_ref(), live, &stop).await;
                }
                Ok(())
            }
        });
        let stop = shutdown.clone();
        let clearing = tokio::spawn(async move {
            cycle::run(store, &live, clock.as_ref(), stop).await;
            Ok(())
        });
        let stop = shutdown.clone();
        let watching = tokio::spawn(async move {
            auth.watch_ends(&stop).await;
            Ok(())
        });
        let stop = shutdown.clone();
        let working = tokio::spawn(async move {
            worker.run(&stop).await;
            Ok(())
        });
        Ok(Running { playing, clearing, watching, working, comparing })
    }
}

impl Running {
    /// Waits for the shutdown, then for everything to end, each within `limit`.
    async fn end(
        self,
        server: JoinHandle<std::io::Result<()>>,
        shutdown: &CancellationToken,
        limit: Duration,
    ) -> Result<(), AppError> {
        shutdown.cancelled().await;
        tracing::info!("shutting down");
        let (server, playing, clearing, watching, working, comparing) = tokio::join!(
            finish("server", server, limit),
            finish("player", self.playing, limit),
            finish("loop", self.clearing, limit),
            finish("watch over sessions", self.watching, limit),
            finish("worker", self.working, limit),
            finish("lab", self.comparing, limit)
        );
        server.and(playing).and(clearing).and(watching).and(working).and(comparing)
    }
}

/// Begins where the store ends.
async fn resume(store: &Store, clock: &dyn Clock) -> Result<Live, AppError> {
    Ok(match cycle::newest_cycle(store).await? {
        Some(ClearedCycle { clock, cleared, .. }) => Live::new(clock, Some(cleared)),
        None => Live::new(clock_before_first(clock.now()), None),
    })
}

/// The clock of a market that has cleared nothing yet.
fn clock_before_first(now: Instant) -> MarketClock {
    let cycle_seconds = Organisation::default().cycle_seconds;
    MarketClock { cycle: 0, cleared_at: now, next_at: now, cycle_seconds, stale: None }
}

/// Waits for a task to end by itself, then cuts it off.
async fn finish(
    name: &str,
    mut task: JoinHandle<std::io::Result<()>>,
    limit: Duration,
) -> Result<(), AppError> {
    match tokio::time::timeout(limit, &mut task).await {
        Ok(ended) => ended
            .map_err(AppError::internal)?
            .map_err(|error| AppError::new(ErrorKind::Io, format!("the {name} failed: {error}"))),
        Err(_) => {
            tracing::warn!(name, "did not end within {} s and was cut off", limit.as_secs());
            task.abort();
            Ok(())
        }
    }
}

/// Cancels at the first SIGTERM or SIGINT. A second one ends the process at once, as by default.
async fn cancel_on_signal(shutdown: CancellationToken) {
    let interrupted = tokio::signal::ctrl_c();
    #[cfg(unix)]
    let terminated = async {
        match tokio::signal::unix::signal(tokio::signal::unix::SignalKind::terminate()) {
            Ok(mut signal) => {
                signal.recv().await;
            }
            Err(error) => {
                tracing::error!("SIGTERM can't be waited for: {error}");
                std::future::pending::<()>().await;
            }
        }
    };
    #[cfg(not(unix))]
    let terminated = std::future::pending::<()>();
    tokio::select! {
        result = interrupted => if let Err(error) = result {
            tracing::error!("SIGINT can't be waited for: {error}");
        },
        () = terminated => {}
    }
    shutdown.cancel();
}

impl DatabaseConfig {
    /// The place that the configuration names.
    fn place(&self) -> Place {
        match Place::parse(&self.url) {
            Place::Postgres { url, .. } => Place::Postgres { url, connections: self.max_connections },
            sqlite @ Place::Sqlite { .. } => sqlite,
        }
    }

    /// Where exports made in the background are kept.
    fn export_folder(&self) -> PathBuf {
        match (self.export_folder.as_str(), self.place()) {
            ("", Place::Sqlite { path, .. }) => {
                let mut folder = path.into_os_string();
                folder.push("-exports");
                folder.into()
            }
            ("", Place::Postgres { .. }) => PathBuf::from("quota-marketplace-exports"),
            (folder, _) => PathBuf::from(folder),
        }
    }
}
