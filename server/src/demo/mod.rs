//! A market that a newcomer can look at: an organisation made from a real trace, some weeks of history, and a player
//! that goes on placing the trace's jobs as bids.
//!
//! The demo is a user like any other: it writes through the services, and clears history through the same clearing as
//! `serve`, only with a clock that is set. It never touches a database that is not its own.

mod accounts;
pub mod course;
mod history;
mod plans;
mod player;

use clap::Args;
use common::instant::Instant;
use tokio::sync::watch;
use tokio_util::sync::CancellationToken;

use crate::clock::Clock;
use crate::error::AppError;
use crate::services::Services;
use crate::services::live::LiveState;
use crate::store::demo::{self as stored, Stretch};
use crate::store::entities::Setup;
use crate::store::{Store, results};
use crate::trace::{library, organisation};
pub use accounts::ACCOUNTS;
use course::Course;

/// What `demo` is asked.
#[derive(Clone, Debug, Args)]
pub struct DemoArgs {
    /// Trace to play: `philly`, or the name of one that was imported into the database
    #[arg(long, value_name = "NAME", default_value = crate::trace::philly::NAME)]
    pub trace: String,
    /// Seconds of the trace that pass in a second; jobs get shorter by as much
    #[arg(long, value_name = "FACTOR", default_value_t = 6, value_parser = clap::value_parser!(u32).range(1..=3_600))]
    pub speed: u32,
    /// Seconds between two clearings
    #[arg(long, value_name = "SECONDS", default_value_t = 10, value_parser = clap::value_parser!(u32).range(1..=300))]
    pub cycle: u32,
    /// History that a fresh demo starts with, such as 15d or 6h, up to 56d
    #[arg(long, value_name = "DURATION", default_value = "15d", value_parser = parse_history)]
    pub history: u32,
    /// Chips of all types together in a fresh demo [default: what fits the trace]
    #[arg(long, value_name = "CHIPS", value_parser = clap::value_parser!(u64).range(20..=1_000_000))]
    pub chips: Option<u64>,
}

/// Seconds of history, from hours or days.
fn parse_history(text: &str) -> Result<u32, String> {
    const DAY: u32 = 86_400;
    let number = |unit| text.strip_suffix(unit).and_then(|digits: &str| digits.parse::<u32>().ok());
    let seconds = match (number('d'), number('h')) {
        (Some(days), _) => days.checked_mul(DAY),
        (_, Some(hours)) => hours.checked_mul(3_600),
        _ => return Err("is not a duration; write it like 15d or 6h".to_owned()),
    };
    seconds.filter(|seconds| *seconds <= 56 * DAY).ok_or_else(|| "is too long; the most is 56d".to_owned())
}

impl Default for DemoArgs {
    fn default() -> Self {
        Self {
            trace: crate::trace::philly::NAME.to_owned(),
            speed: 6,
            cycle: 10,
            history: 15 * 86_400,
            chips: None,
        }
    }
}

/// A demo whose database is ready to be served.
#[derive(Debug)]
pub struct Demo {
    course: Course,
}

/// Sets a fresh database up and clears its history, or finds out where the demo in it was. Shows its progress on
/// standard error.
///
/// Killed at any point, it goes on from there when it is called again.
///
/// # Errors
/// `Conflict`: the database holds an organisation that is not the demo's, or a demo of another trace. `NotFound`: there is
/// no such trace. Otherwise the database can't be read or written.
pub async fn prepare(store: &Store, clock: &dyn Clock, args: &DemoArgs) -> Result<Demo, AppError> {
    let (setup, stretches) = {
        let mut tx = store.read().await?;
        (Setup::newest(&mut tx).await?, stored::stretches(&mut tx).await?)
    };
    refuse_foreign(setup.is_some(), &stretches, args)?;
    let trace = library::find(store, &args.trace).await?;
    let chips = stretches.first().map(|stretch| stretch.chips).or(args.chips);
    let chips = chips.unwrap_or_else(|| organisation::fitting_chips(&trace));
    let course = Course::new(trace, chips);
    if stretches.is_empty() {
        history::set_up(store, &course, clock.now(), args, chips).await?;
    }
    accounts::set_up(store, clock.now()).await?;
    history::catch_up(store, &course, clock, args).await?;
    // The loop may find a cycle due as soon as it starts: what that one plays must be there.
    if let Some((last, _)) = last_cycle(store).await? {
        player::place(&course, store, clock, last + 1).await?;
    }
    Ok(Demo { course })
}

/// The demo only goes on with what it began itself.
fn refuse_foreign(has_organisation: bool, stretches: &[Stretch], args: &DemoArgs) -> Result<(), AppError> {
    match stretches.first() {
        None if has_organisation => Err(AppError::conflict(
            "the database holds an organisation that is not a demo's, and is left as it is; name a fresh one with \
             --database, such as --database demo.sqlite",
        )),
        Some(first) if first.trace != args.trace => Err(AppError::conflict(format!(
            "the database holds a demo of the trace {:?}; for {:?} name a fresh one with --database",
            first.trace, args.trace
        ))),
        Some(first) if args.chips.is_some_and(|chips| chips != first.chips) => {
            Err(AppError::conflict(format!(
                "the database holds a demo of {} chips; for another number name a fresh one with --database",
                first.chips
            )))
        }
        _ => Ok(()),
    }
}

impl Demo {
    /// Makes the plans of training jobs that the planner shows. What goes wrong is logged: the market goes on without them.
    pub async fn plan(&self, services: &Services) {
        if let Err(error) = plans::make(services).await {
            tracing::warn!(context = error.private_context(), "the demo has no plans: {error}");
        }
    }

    /// Places the trace's jobs as bids, cycle after cycle, until it is told to stop. `live` is the clearing loop's.
    ///
    /// What goes wrong is logged and tried again: the market itself goes on without new bids.
    pub async fn play(
        &self,
        store: &Store,
        clock: &dyn Clock,
        live: watch::Receiver<LiveState>,
        stop: &CancellationToken,
    ) {
        player::play(&self.course, store, clock, live, stop).await;
    }
}

/// The newest cycle's number and start; none before the first.
async fn last_cycle(store: &Store) -> Result<Option<(u64, Instant)>, AppError> {
    let mut tx = store.read().await?;
    Ok(results::last_cycle(&mut tx).await?.map(|cycle| (cycle.number, cycle.starts_at)))
}

#[cfg(test)]
mod tests;
