//! The server's integration tests: everything that needs a database, on SQLite and on PostgreSQL.

mod clearing;
mod fixture;
mod play;
mod postgres;
mod verify;
