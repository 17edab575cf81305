//! Connections to PostgreSQL: the first one, and those of transactions, which notice soon when the server is gone.

use std::sync::Arc;
use std::time::Duration;

use sqlx::postgres::{PgConnectOptions, PgConnection, PgPool, PgPoolOptions};
use sqlx::{ConnectOptions as _, Connection as _};
use tokio::sync::Mutex;

use super::{PATIENCE, PREPARED, Place, Pools, Store, Tx, migrate};
use crate::error::{AppError, ErrorKind};

/// The lock that each writing transaction takes; its key is "quotamkt" in ASCII.
pub(super) const TAKE_WRITER_LOCK: &str = "SELECT pg_advisory_xact_lock(8175010186113149812)";

/// How long a transaction waits for a connection before it asks whether the server is there at all.
const DOUBT: Duration = Duration::from_secs(1);

/// The connections to a server.
#[derive(Clone, Debug)]
pub(super) struct Server {
    pool: PgPool,
    /// Held by the one transaction that asks whether the server is there, so that many waiting ones make one connection.
    doubt: Arc<Mutex<()>>,
}

/// Opens a database and brings its schema up to date.
///
/// The first connection is made without a pool: a pool takes a refused one for a server that starts up, and goes on
/// trying for all its patience.
pub(super) async fn open(place: &Place, url: &str, connections: u32) -> Result<Store, AppError> {
    let options = url
        .parse::<PgConnectOptions>()
        .map_err(|error| AppError::config(format!("the database URL can't be read: {error}")))?
        .statement_cache_capacity(PREPARED);
    let connected = tokio::time::timeout(PATIENCE, options.connect()).await;
    let mut connection: PgConnection = connected
        .map_err(|_| sqlx::Error::PoolTimedOut)
        .and_then(|connected| connected)
        .map_err(|error| unreachable(place, error))?;
    let migrated = migrate::postgres().run(&mut connection).await;
    migrated.map_err(|error| migrate::failure(error, &place.to_string()))?;
    // A connection that can't say farewell is gone all the same.
    let _closed = connection.close().await;
    let pool = PgPoolOptions::new().max_connections(connections).acquire_timeout(PATIENCE);
    let server = Server { pool: pool.connect_lazy_with(options), doubt: Arc::default() };
    Ok(Store(Pools::Postgres(server)))
}

impl Server {
    /// Begins a transaction with `statement`.
    pub(super) async fn begin(&self, statement: &'static str) -> Result<Tx, AppError> {
        self.unless_lost(self.pool.begin_with(statement)).await
    }

    /// A connection without a transaction.
    pub(super) async fn look(&self) -> Result<Tx, AppError> {
        self.unless_lost(self.pool.acquire()).await
    }

    async fn unless_lost<T: Into<Tx>>(
        &self,
        held: impl Future<Output = Result<T, sqlx::Error>>,
    ) -> Result<Tx, AppError> {
        tokio::select! {
            held = held => Ok(held?.into()),
            error = self.lost() => Err(error.into()),
        }
    }

    /// Ends when the server turns out to be gone, with what it says; never where all connections are merely in use.
    async fn lost(&self) -> sqlx::Error {
        tokio::time::sleep(DOUBT).await;
        let asking = self.doubt.lock().await;
        match self.pool.connect_options().connect().await {
            Err(error @ (sqlx::Error::Io(_) | sqlx::Error::Tls(_))) => return error,
            Err(sqlx::Error::Database(fault)) if fault.code().is_some_and(|code| code.starts_with("57")) => {
                return sqlx::Error::Database(fault);
            }
            Err(_) => {}
            Ok(connection) => {
                let _closed = connection.close().await;
            }
        }
        drop(asking);
        std::future::pending().await
    }

    /// Closes all connections once their transactions are done.
    pub(super) async fn close(&self) {
        self.pool.close().await;
    }
}

/// Says which server can't be reached, and whether that is for good: a login that is refused, or a database that does
/// not exist, does not come up by itself.
fn unreachable(place: &Place, error: sqlx::Error) -> AppError {
    let code = error.as_database_error().and_then(|fault| fault.code()).unwrap_or_default();
    let is_refused = ["28", "3D"].iter().any(|class| code.starts_with(class));
    let error = AppError::from(error);
    let kind = if is_refused { ErrorKind::Config } else { error.kind() };
    let message = format!("the database {place} can't be reached: {}", error.message());
    AppError::new(kind, message).with_context(error)
}
