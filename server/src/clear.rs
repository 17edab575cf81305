//! `clear`: one clearing by hand. Anyone can check a cycle: a snapshot in, the outcome out.

use std::io::Read;
use std::path::PathBuf;

use clap::Args;
use market::{Outcome, Snapshot};

use crate::cli::print;
use crate::error::{AppError, ErrorKind};

/// What `clear` reads.
#[derive(Debug, Args)]
pub struct ClearArgs {
    /// File with a snapshot in JSON, or - for standard input
    #[arg(value_name = "FILE|-")]
    file: PathBuf,
}

/// Reads the snapshot, clears it, prints the outcome.
///
/// # Errors
/// A file that can't be read; JSON that is no snapshot, with the path of the field; amounts beyond the engine's
/// limits.
pub fn run(args: &ClearArgs) -> Result<(), AppError> {
    let (name, text) = read(&args.file)?;
    let outcome = clear(&name, &text)?;
    let mut json = serde_json::to_string_pretty(&outcome).map_err(AppError::internal)?;
    json.push('\n');
    print(&json)
}

fn read(file: &std::path::Path) -> Result<(String, Vec<u8>), AppError> {
    if file.as_os_str() == "-" {
        let mut text = Vec::new();
        std::io::stdin().lock().read_to_end(&mut text).map_err(|error| {
            AppError::new(ErrorKind::Io, format!("standard input can't be read: {error}"))
        })?;
        return Ok(("standard input".to_owned(), text));
    }
    let name = file.display().to_string();
    let text = std::fs::read(file).map_err(|error| match error.kind() {
        std::io::ErrorKind::NotFound => AppError::not_found("file", &name),
        _ => AppError::new(ErrorKind::Io, format!("{name} can't be read: {error}")),
    })?;
    Ok((name, text))
}

fn clear(name: &str, text: &[u8]) -> Result<Outcome, AppError> {
    let snapshot: Snapshot = crate::json::parse(text)
        .map_err(|fault| AppError::malformed(format!("{name} is not a snapshot: {fault}")))?;
    market::run_auction(&snapshot)
        .map_err(|error| AppError::malformed(format!("{name} can't be cleared: {error}")).with_context(error))
}
