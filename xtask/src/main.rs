//! `cargo xtask`: what the build needs beyond cargo. It builds the browser part (`site`), reads every
//! source file for leftovers (`check`) and loads pages until one is incomplete (`soak`).

mod check;
mod site;
mod soak;

use clap::{Parser, Subcommand};
use std::path::PathBuf;
use std::process::ExitCode;

/// Build steps of the quota marketplace that cargo alone cannot do.
#[derive(Parser)]
#[command(name = "cargo xtask", bin_name = "cargo xtask")]
struct Cli {
    #[command(subcommand)]
    command: Command,
}

#[derive(Subcommand)]
enum Command {
    /// Build the browser part into target/site and hold it to its size budget.
    Site(site::SiteArgs),
    /// Load pages of a running server, many at a time, and demand that each arrives complete.
    Soak(soak::SoakArgs),
    /// Look for files that grew too long and for leftovers in the sources.
    Check,
}

fn main() -> ExitCode {
    let done = match Cli::parse().command {
        Command::Site(args) => site::run(&args),
        Command::Soak(args) => soak::run(&args),
        Command::Check => check::run(),
    };
    match done {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("error: {error:#}");
            ExitCode::FAILURE
        }
    }
}

/// The workspace's root folder.
fn workspace_root() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).parent().map(PathBuf::from).unwrap_or_default()
}
