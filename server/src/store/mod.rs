//! Where everything is kept: one SQLite file or a PostgreSQL database, behind one type.
//!
//! [`Store::read`] and [`Store::write`] begin transactions; the functions of the submodules run in them. There is one
//! writer at a time on either database: on SQLite by its one writing connection, on PostgreSQL by a lock that each
//! writing transaction takes first. So running balances, the chain of the ledger and the order of versions are the same
//! on both, and two processes on one PostgreSQL can't clear a cycle twice.

pub mod accounts;
pub mod allowances;
pub mod audit;
pub mod bids;
pub mod budget;
pub mod credit_value;
pub mod cuts;
pub(crate) mod db;
pub mod demo;
pub mod entities;
pub(crate) mod exports;
pub(crate) mod finance;
pub(crate) mod held;
pub mod history;
pub(crate) mod jobs;
pub mod lab;
pub mod ledger;
mod migrate;
pub(crate) mod planner;
mod postgres;
pub mod queue;
pub mod results;
pub mod rollup;
pub mod sessions;
pub mod shadow;
pub mod single_sign_on;
pub mod supply;
pub mod traces;
pub mod usage;
pub mod viewers;
pub mod warnings;
pub(crate) mod what_if;

use std::path::{Path, PathBuf};
use std::time::Duration;

use sqlx::postgres::PgConnectOptions;
use sqlx::sqlite::{
    SqliteConnectOptions, SqliteJournalMode, SqlitePool, SqlitePoolOptions, SqliteSynchronous,
};

use crate::error::AppError;
pub use db::Tx;

/// How long a transaction waits for a connection or for the database's write lock.
const PATIENCE: Duration = Duration::from_secs(10);

/// Statements that a connection keeps prepared: each text of the program, those of long inserts in all their lengths.
const PREPARED: usize = 1_024;

/// Bytes of a SQLite file, from its beginning, that are read where the system keeps them instead of being copied.
const MAPPED: &str = "1073741824";

/// Which database, and how it is opened.
#[derive(Clone, Debug)]
pub enum Place {
    /// A file of SQLite, made where it does not exist.
    Sqlite {
        /// The file.
        path: PathBuf,
        /// Each commit is on the disk before it is acknowledged. Without it the last commits before a power failure
        /// may be lost; the file stays whole and a killed process loses nothing.
        durable: bool,
    },
    /// A PostgreSQL database.
    Postgres {
        /// `postgres://user:password@host/database`.
        url: String,
        /// Connections at most.
        connections: u32,
    },
}

impl Place {
    /// The place that a text names: a PostgreSQL URL, or else the path of a file, with or without `sqlite:` before it.
    #[must_use]
    pub fn parse(text: &str) -> Self {
        if text.starts_with("postgres://") || text.starts_with("postgresql://") {
            return Self::Postgres { url: text.to_owned(), connections: 10 };
        }
        let path = text.strip_prefix("sqlite://").or_else(|| text.strip_prefix("sqlite:")).unwrap_or(text);
        Self::Sqlite { path: PathBuf::from(path), durable: true }
    }
}

impl std::fmt::Display for Place {
    /// The path, or the URL without its password.
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Sqlite { path, .. } => write!(f, "{}", path.display()),
            Self::Postgres { url, .. } => match url.parse::<PgConnectOptions>() {
                Ok(options) => {
                    let database = options.get_database().unwrap_or("postgres");
                    write!(f, "{database} on {}:{}", options.get_host(), options.get_port())
                }
                Err(_) => f.write_str("PostgreSQL"),
            },
        }
    }
}

/// An open database. Cheap to clone.
#[derive(Clone, Debug)]
pub struct Store(Pools);

#[derive(Clone, Debug)]
enum Pools {
    Sqlite { writer: SqlitePool, readers: SqlitePool },
    Postgres(postgres::Server),
}

impl Store {
    /// Opens a database and brings its schema up to date.
    ///
    /// # Errors
    /// `Unavailable`: it can't be reached, opened or written. `WrongVersion`: a newer program wrote it. `Config`: the URL
    /// can't be read.
    pub async fn open(place: &Place) -> Result<Self, AppError> {
        match place {
            Place::Sqlite { path, durable } => open_sqlite(path, *durable).await,
            Place::Postgres { url, connections } => postgres::open(place, url, *connections).await,
        }
    }

    /// Begins a transaction that reads one state of the database.
    ///
    /// # Errors
    /// `Unavailable`: the database does not answer.
    pub async fn read(&self) -> Result<Tx, AppError> {
        Ok(match &self.0 {
            Pools::Sqlite { readers, .. } => readers.begin().await?.into(),
            Pools::Postgres(server) => {
                server.begin("BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY").await?
            }
        })
    }

    /// As [`Store::read`] for who reads with one statement, or does not mind that the next one may see a later state: without a
    /// transaction to begin and to end.
    ///
    /// # Errors
    /// `Unavailable`: the database does not answer.
    pub async fn look(&self) -> Result<Tx, AppError> {
        Ok(match &self.0 {
            Pools::Sqlite { readers, .. } => readers.acquire().await?.into(),
            Pools::Postgres(server) => server.look().await?,
        })
    }

    /// Begins a transaction that writes; waits until the writer before it is done.
    ///
    /// # Errors
    /// `Unavailable`: the database does not answer, is read-only or busy for too long.
    pub async fn write(&self) -> Result<Tx, AppError> {
        match &self.0 {
            Pools::Sqlite { writer, .. } => Ok(writer.begin_with("BEGIN IMMEDIATE").await?.into()),
            Pools::Postgres(server) => {
                let mut tx = server.begin("BEGIN").await?;
                tx.execute(postgres::TAKE_WRITER_LOCK, []).await?;
                Ok(tx)
            }
        }
    }

    /// Closes all connections once their transactions are done.
    pub async fn close(&self) {
        match &self.0 {
            Pools::Sqlite { writer, readers } => {
                readers.close().await;
                writer.close().await;
            }
            Pools::Postgres(server) => server.close().await,
        }
    }
}

async fn open_sqlite(path: &Path, durable: bool) -> Result<Store, AppError> {
    let place = path.display().to_string();
    let options = SqliteConnectOptions::new()
        .filename(path)
        .foreign_keys(true)
        .busy_timeout(PATIENCE)
        .statement_cache_capacity(PREPARED)
        .pragma("mmap_size", MAPPED)
        .synchronous(if durable { SqliteSynchronous::Full } else { SqliteSynchronous::Normal });
    // A connection to a file is not lost while nobody looks.
    let pool = || SqlitePoolOptions::new().acquire_timeout(PATIENCE).test_before_acquire(false);
    let writer = pool()
        .max_connections(1)
        .connect_with(options.clone().create_if_missing(true).journal_mode(SqliteJournalMode::Wal))
        .await
        .map_err(|error| refused(&place, error))?;
    migrate::sqlite().run(&writer).await.map_err(|error| migrate::failure(error, &place))?;
    // The migrations only write where there is something to do: a file that can't be written is found here.
    let probe = async { writer.begin_with("BEGIN IMMEDIATE").await?.commit().await };
    probe.await.map_err(|error| refused(&place, error))?;
    let readers = pool()
        .max_connections(4)
        .connect_with(options.read_only(true))
        .await
        .map_err(|error| refused(&place, error))?;
    Ok(Store(Pools::Sqlite { writer, readers }))
}

/// Says which file can't be opened.
fn refused(place: &str, error: sqlx::Error) -> AppError {
    let error = AppError::from(error);
    let message = format!("the database {place} can't be opened: {}", error.message());
    AppError::new(error.kind(), message).with_context(error)
}
