//! `serve`: opens the store, runs the clearing loop and the server, and ends both in order.
//!
//! At SIGTERM or SIGINT event streams end, requests in flight finish, the loop finishes its transaction, then the
//! store closes. What takes longer than the limit is cut off; nothing is lost by that, since a cycle is one
//! transaction.

use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use axum::serve::ListenerExt;
use common::api::MarketClock;
use tokio::net::TcpListener;
use tokio::task::JoinHandle;
use tokio_util::sync::CancellationToken;

use crate::clock::{Clock, IdSource, SystemClock};
use crate::config::{Config, DatabaseConfig};
use crate::cycle::{self, ClearedCycle};
use crate::demo::{self, Demo, DemoArgs};
use crate::error::{AppError, ErrorKind};
use crate::http::{self, Parts};
use crate::services::Services;
use crate::services::live::Live;
use crate::services::read::MarketReader;
use crate::store::entities::Organisation;
use crate::store::{Place, Store};

/// `serve`: runs the market until a signal ends it.
///
/// # Errors
/// `Unavailable`: the port is taken or the database can't be reached. `WrongVersion`: the database is a newer
/// program's.
pub async fn run(config: &Config) -> Result<(), AppError> {
    start(config, None).await
}

/// `demo`: sets a market up from a trace, or goes on with it, and plays the trace into it while it is served.
///
/// # Errors
/// As [`run`]; `Config`: it would be reachable from other machines, without a sign-in. `Conflict`: the database holds
/// another organisation. `NotFound`: there is no such trace.
pub async fn run_demo(config: &Config, args: &DemoArgs) -> Result<(), AppError> {
    let address = config.server.listen;
    if !address.ip().is_loopback() {
        return Err(AppError::config(format!(
            "the demo has no sign-in, so it listens on this machine only; {} is open to others, use 127.0.0.1:{}",
            address.ip(),
            address.port()
        )));
    }
    start(config, Some(args)).await
}

async fn start(config: &Config, demo: Option<&DemoArgs>) -> Result<(), AppError> {
    let listener = bind(config.server.listen).await?;
    let store = open(&config.database).await?;
    let clock: Arc<dyn Clock> = Arc::new(SystemClock);
    let shutdown = CancellationToken::new();
    let signals = tokio::spawn(cancel_on_signal(shutdown.clone()));
    let result = async {
        let demo = match demo {
            // Setting up takes a while. It may be cut off at any point: it goes on from there the next time.
            Some(args) => tokio::select! {
                prepared = demo::prepare(&store, clock.as_ref(), args) => Some(prepared?),
                () = shutdown.cancelled() => return Ok(()),
            },
            None => None,
        };
        serve(config, listener, store.clone(), clock, demo, shutdown).await
    }
    .await;
    signals.abort();
    store.close().await;
    result
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

async fn serve(
    config: &Config,
    listener: TcpListener,
    store: Store,
    clock: Arc<dyn Clock>,
    demo: Option<Demo>,
    shutdown: CancellationToken,
) -> Result<(), AppError> {
    let live = Arc::new(resume(&store, clock.as_ref()).await?);
    let market = Arc::new(MarketReader::new(store.clone(), Arc::clone(&clock), live.subscribe()));
    let services = Services::new(store.clone(), Arc::clone(&clock), IdSource::random(), market);
    let parts = Parts {
        config: config.server.clone(),
        services: Arc::new(services),
        site: http::embedded_site(),
        shutdown: shutdown.clone(),
    };
    let app = http::router(parts);
    let address = listener.local_addr().map_err(AppError::internal)?;
    let listener = listener.tap_io(|stream| {
        // Small answers must not wait for the ones before them to be acknowledged.
        if let Err(error) = stream.set_nodelay(true) {
            tracing::debug!("no TCP_NODELAY: {error}");
        }
    });
    let playing = tokio::spawn({
        let (store, clock, stop) = (store.clone(), Arc::clone(&clock), shutdown.clone());
        let live = live.subscribe();
        async move {
            if let Some(demo) = demo {
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
    let ended = shutdown.clone().cancelled_owned();
    let server = tokio::spawn(axum::serve(listener, app).with_graceful_shutdown(ended).into_future());
    tracing::info!("the market is at http://{address}");
    shutdown.cancelled().await;
    tracing::info!("shutting down");
    let limit = config.server.shutdown_timeout;
    let (server, playing, clearing) = tokio::join!(
        finish("server", server, limit),
        finish("player", playing, limit),
        finish("loop", clearing, limit)
    );
    server.and(playing).and(clearing)
}

/// Begins where the store ends.
async fn resume(store: &Store, clock: &dyn Clock) -> Result<Live, AppError> {
    let now = clock.now();
    Ok(match cycle::newest_cycle(store).await? {
        Some(ClearedCycle { clock, cleared }) => Live::new(clock, Some(cleared)),
        None => {
            let cycle_seconds = Organisation::default().cycle_seconds;
            let clock = MarketClock { cycle: 0, cleared_at: now, next_at: now, cycle_seconds, stale: None };
            Live::new(clock, None)
        }
    })
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
}
