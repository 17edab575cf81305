//! The commands that open the store, do one thing and end.

use clap::Args;
use indicatif::{ProgressBar, ProgressStyle};

use crate::auth;
use crate::cli::print;
use crate::clock::{Clock, SystemClock};
use crate::config::Config;
use crate::cycle::verify;
use crate::error::{AppError, ErrorKind};
use crate::replay::{self, ReplayArgs};
use crate::serve::open;
use crate::trace::library::{self, ImportArgs};
use crate::trace::philly;

/// What `verify` is asked.
#[derive(Debug, Args)]
pub struct VerifyArgs {
    /// First cycle to clear again [default: the first one]
    #[arg(long, value_name = "CYCLE")]
    from: Option<u64>,
    /// Last cycle to clear again [default: the last one]
    #[arg(long, value_name = "CYCLE")]
    to: Option<u64>,
}

/// `migrate`: opening a database brings its tables up to date.
///
/// # Errors
/// `Unavailable`: the database can't be reached or written. `WrongVersion`: it is a newer program's.
pub async fn migrate(config: &Config) -> Result<(), AppError> {
    open(&config.database).await?.close().await;
    print("the database has the tables of this version\n")
}

/// `admin-link`: prints a link that makes an admin's account, for when no admin can sign in.
///
/// # Errors
/// `Unavailable`: the database can't be reached or written.
pub async fn admin_link(config: &Config) -> Result<(), AppError> {
    let store = open(&config.database).await?;
    let link = auth::make_admin_link(&store, SystemClock.now()).await;
    store.close().await;
    print(&format!("{}/link/{}\n", config.server.shown_url(config.server.listen), link?))
}

/// `verify`: prints what was checked and the first difference of each check.
///
/// # Errors
/// `Inconsistent`: something differs. `Invalid`: the range names cycles that do not exist. `Unavailable`: the database
/// does not answer.
pub async fn verify(config: &Config, args: &VerifyArgs) -> Result<(), AppError> {
    let store = open(&config.database).await?;
    let style = ProgressStyle::with_template("{bar:40} {percent} %, {eta} left");
    let bar = ProgressBar::new(0).with_style(style.map_err(AppError::internal)?);
    let report = verify::verify(&store, args.from, args.to, |done, all| {
        bar.set_length(all);
        bar.set_position(done);
    })
    .await;
    bar.finish_and_clear();
    store.close().await;
    let report = report?;
    print(&format!("{}\n", report.to_string().trim_end()))?;
    if report.is_clean() {
        return Ok(());
    }
    Err(AppError::new(
        ErrorKind::Inconsistent,
        "the stored history is not what was computed; the report says where",
    ))
}

/// `import`: takes a job history into the database, whole or not at all.
///
/// # Errors
/// `MalformedInput`: lines are at fault, each named. `Conflict`: another trace has the name. `Unavailable`: the database
/// does not answer.
pub async fn import(config: &Config, args: &ImportArgs) -> Result<(), AppError> {
    let store = open(&config.database).await?;
    let said = library::import(&store, SystemClock.now(), args).await;
    store.close().await;
    print(&format!("{}\n", said?.trim_end()))
}

/// `replay`: runs a trace through the market in memory and prints the figures. Only an imported trace needs the
/// database.
///
/// # Errors
/// `NotFound`: there is no such trace. `Invalid`: nothing lies between `--from` and `--to`.
pub async fn replay(config: &Config, args: &ReplayArgs) -> Result<(), AppError> {
    let trace = if args.trace == philly::NAME {
        philly::load().0
    } else {
        let store = open(&config.database).await?;
        let found = library::find(&store, &args.trace).await;
        store.close().await;
        found?
    };
    let report = tokio::task::block_in_place(|| replay::run(&trace, args))?;
    print(&format!("{}\n", report.to_string().trim_end()))
}
