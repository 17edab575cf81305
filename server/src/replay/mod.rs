//! Runs months of a trace through the engine in memory, without a server or a store, and the same demand on static
//! pools of the same supply, so that both can be read side by side.

pub mod books;
pub mod demand;
pub mod figures;
pub mod market_figures;
pub mod market_run;
mod report;
pub mod static_pools;

use std::path::PathBuf;
use std::thread;

use clap::Args;
use common::instant::Instant;
use indicatif::{ProgressBar, ProgressStyle};

use crate::error::{AppError, ErrorKind};
use crate::trace::Trace;
use crate::trace::organisation::{self, Organisation};
use demand::{Grid, GridJob};
use market_figures::MarketResult;
pub use report::Report;
use static_pools::{StaticResult, Variant};

/// Seconds between accounting steps, where the cycle fits into them.
const ACCOUNTING_SECONDS: u32 = 300;

/// Cycles between two signs of life of a replay that writes to no terminal: a week of minutes.
const CYCLES_PER_NOTE: u32 = 10_080;

/// What `replay` is asked.
#[derive(Clone, Debug, Args)]
pub struct ReplayArgs {
    /// Trace to replay: `philly`, or the name of one that was imported into the database
    #[arg(long, value_name = "NAME", default_value = crate::trace::philly::NAME)]
    pub trace: String,
    /// First instant, such as 2017-10-01 or 2017-10-01T12:00:00Z; jobs submitted before it are left out
    /// [default: the trace's first midnight]
    #[arg(long, value_name = "TIME", value_parser = parse_time)]
    pub from: Option<Instant>,
    /// End, not included [default: the trace's last submission]
    #[arg(long, value_name = "TIME", value_parser = parse_time)]
    pub to: Option<Instant>,
    /// Time between two clearings, such as 60s or 10m, up to an hour
    #[arg(long, value_name = "DURATION", default_value = "60s", value_parser = parse_cycle)]
    pub cycle: u32,
    /// Chips of all types together [default: a tenth above the average demand of the busiest eight weeks]
    #[arg(long, value_name = "CHIPS", value_parser = clap::value_parser!(u64).range(20..=1_000_000))]
    pub chips: Option<u64>,
    /// Write all figures as JSON to a file
    #[arg(long, value_name = "FILE")]
    pub json: Option<PathBuf>,
    /// Write a line to standard error for each week done, also where that is not a terminal
    #[arg(long)]
    pub progress: bool,
}

/// A date at midnight UTC, or an instant.
fn parse_time(text: &str) -> Result<Instant, String> {
    let midnight = || format!("{text}T00:00:00Z").parse::<Instant>().ok();
    let instant = text.parse::<Instant>().ok().or_else(midnight);
    instant.ok_or_else(|| "is not a time; write it like 2017-10-01 or 2017-10-01T12:00:00Z".to_owned())
}

/// Seconds as `60s`, `10m`, `1h` or a bare number.
fn parse_cycle(text: &str) -> Result<u32, String> {
    let (digits, unit) = match text.char_indices().find(|(_, letter)| !letter.is_ascii_digit()) {
        Some((at, _)) => text.split_at(at),
        None => (text, "s"),
    };
    let factor = match unit {
        "s" => Some(1),
        "m" | "min" => Some(60),
        "h" => Some(3_600),
        _ => None,
    };
    let seconds =
        digits.parse::<u32>().ok().zip(factor).and_then(|(number, factor)| number.checked_mul(factor));
    match seconds {
        Some(seconds) if (1..=3_600).contains(&seconds) => Ok(seconds),
        Some(seconds) => Err(format!("is {seconds} seconds; a cycle lasts 1 second to 1 hour")),
        None => Err("is not a duration; write it like 60s or 10m".to_owned()),
    }
}

/// Replays a trace, showing how far it is on standard error; writes the JSON file where one was asked for.
///
/// # Errors
/// As [`replay`]; `Io`: the JSON file can't be written.
pub fn run(trace: &Trace, args: &ReplayArgs) -> Result<Report, AppError> {
    let grid = grid(trace, args)?;
    let style = ProgressStyle::with_template("{bar:40} {pos}/{len} cycles, {eta} left");
    let bar = ProgressBar::new(grid.cycles.into()).with_style(style.map_err(AppError::internal)?);
    let report = replay(trace, args, |cycle| {
        let done = cycle + 1;
        if done.is_multiple_of(64) {
            bar.set_position(done.into());
        }
        if args.progress && done.is_multiple_of(CYCLES_PER_NOTE) {
            bar.suspend(|| eprintln!("{} {done} of {} cycles", grid.starts_at(done), grid.cycles));
        }
    })?;
    bar.finish_and_clear();
    if let Some(path) = &args.json {
        std::fs::write(path, report.json()).map_err(|error| {
            AppError::new(ErrorKind::Io, format!("{} can't be written: {error}", path.display()))
        })?;
    }
    Ok(report)
}

/// Runs the market and all kinds of static pools on a trace. `progress` hears of each cycle of the market.
///
/// # Errors
/// `Invalid`: nothing lies between `from` and `to`. `Internal`: the engine refuses what the replay made.
pub fn replay(trace: &Trace, args: &ReplayArgs, progress: impl FnMut(u32)) -> Result<Report, AppError> {
    let grid = grid(trace, args)?;
    let organisation =
        Organisation::of(trace, args.chips.unwrap_or_else(|| organisation::fitting_chips(trace)));
    let jobs = demand::on_grid(trace, &organisation, grid);
    let (market, static_pools) = both(&organisation, &jobs, grid, progress)?;
    Ok(Report::new(trace, &organisation, grid, market, static_pools))
}

/// The cycles that were asked for.
///
/// # Errors
/// `Invalid`: the end is not after the beginning, or more than [`u32::MAX`] cycles lie between them.
pub fn grid(trace: &Trace, args: &ReplayArgs) -> Result<Grid, AppError> {
    const DAY: i64 = 86_400_000_000;
    let midnight = Instant(trace.begins_at().0.div_euclid(DAY) * DAY);
    let (from, to) = (args.from.unwrap_or(midnight), args.to.unwrap_or_else(|| trace.ends_at()));
    if to <= from {
        let message = format!(
            "--to {to} is not after --from {from}; the trace goes from {} to {}",
            trace.begins_at(),
            trace.ends_at()
        );
        return Err(AppError::new(ErrorKind::Invalid, message));
    }
    let grid = Grid::new(from, to, args.cycle);
    if grid.cycles > 10_000_000 {
        let message = format!("--from {from} --to {to} are {} cycles; the most is 10000000", grid.cycles);
        return Err(AppError::new(ErrorKind::Invalid, message));
    }
    Ok(grid)
}

/// The market on this thread, the static pools on another: neither knows of the other.
fn both(
    organisation: &Organisation,
    jobs: &[GridJob],
    grid: Grid,
    progress: impl FnMut(u32),
) -> Result<(MarketResult, Vec<StaticResult>), AppError> {
    // A step holds whole cycles.
    let accounting = if ACCOUNTING_SECONDS.is_multiple_of(grid.cycle_seconds) {
        ACCOUNTING_SECONDS
    } else {
        grid.cycle_seconds
    };
    thread::scope(|scope| {
        let pools = scope.spawn(|| {
            Variant::ALL
                .map(|variant| static_pools::run(organisation, jobs, grid, variant))
                .into_iter()
                .collect()
        });
        let market = market_run::run(organisation, jobs, grid, accounting, progress)?;
        let pools =
            pools.join().map_err(|_| AppError::internal("the simulation of static pools panicked"))?;
        Ok((market, pools))
    })
}

#[cfg(test)]
mod tests;
