//! The quota marketplace: what the binary `quota-marketplace` is made of.
//!
//! Dependencies point inwards: command line and HTTP → services → store → common; services → market, policies. The engine
//! knows nothing of servers.

pub mod auth;
pub mod clear;
pub mod cli;
pub mod clock;
pub mod commands;
pub mod config;
pub mod cycle;
pub mod demo;
pub mod error;
pub mod http;
pub mod json;
pub mod lab;
pub mod logging;
pub mod oidc;
pub mod policy;
pub mod replay;
pub mod serve;
pub mod services;
mod spreadsheet;
pub mod store;
mod telemetry;
pub mod trace;

pub use error::AppError;
