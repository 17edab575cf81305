//! The server's integration tests: everything that needs a database, on SQLite and on PostgreSQL.

mod access;
mod allowances;
mod api;
mod app;
mod audit;
mod bids;
mod budget;
mod clearing;
mod client;
mod commands;
mod contract;
mod crash;
mod cuts;
mod demo;
mod directory;
#[cfg(target_os = "linux")]
mod disk;
mod events;
mod examples;
mod exports;
mod finance;
mod fixture;
mod inventory;
mod lab;
mod leaks;
#[cfg(unix)]
mod organisation;
mod outage;
mod planner;
mod play;
mod postgres;
mod reconcile;
mod retirement;
mod running;
mod settlement;
mod sign_in;
mod single_sign_on;
mod supply;
mod time;
mod verify;
mod what_if;
