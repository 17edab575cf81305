//! The traces by name: the built-in one, and those that an organisation imported into its database.
//!
//! An imported trace is what `demo --trace NAME` and `replay --trace NAME` run on: an organisation sees the market on its
//! own history before it trusts it with anything.

use std::fmt::Write as _;
use std::path::PathBuf;

use clap::{Args, Subcommand};
use common::instant::Instant;
use indicatif::{ProgressBar, ProgressStyle};
use sha2::{Digest, Sha256};

use super::parse::{self, Incomplete, MAX_FILE_BYTES, Report};
use super::{Trace, philly};
use crate::error::{AppError, ErrorKind};
use crate::store::{Store, traces};

/// What `import` is asked.
#[derive(Clone, Debug, Args)]
pub struct ImportArgs {
    #[command(subcommand)]
    form: ImportForm,
}

/// The form of a file to import.
#[derive(Clone, Debug, Subcommand)]
enum ImportForm {
    /// Import jobs in the form of the Philly trace, for `replay --trace NAME` and `demo --trace NAME`
    ///
    /// One job a line under the header `timestamp,duration,num_gpus,gpu_time,cluster`. The file is taken whole or not at
    /// all; each line at fault is named with its number and the reason.
    Philly(PhillyArgs),
}

#[derive(Clone, Debug, Args)]
struct PhillyArgs {
    /// The file
    file: PathBuf,
    /// What the trace is called from now on [default: the file's name without its ending]
    #[arg(long, value_name = "NAME", value_parser = parse_name)]
    name: Option<String>,
    /// Leave out lines that have no cluster or no GPU time, instead of refusing the file
    #[arg(long)]
    skip_incomplete: bool,
}

/// A trace's name is part of bid ids.
fn parse_name(text: &str) -> Result<String, String> {
    let letters = text.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"-_.".contains(&byte));
    if text.is_empty() || text.len() > 40 || !letters {
        return Err(format!("{text:?} is not a name; use up to 40 letters, digits and - _ ."));
    }
    if text == philly::NAME {
        return Err(format!("{text:?} is the built-in trace; choose another name"));
    }
    Ok(text.to_owned())
}

/// Imports a file; the answer is what there is to say about it.
///
/// # Errors
/// `Io`: the file can't be read. `MalformedInput`: lines are at fault. `Conflict`: another trace has the name. Nothing
/// is imported then.
pub async fn import(store: &Store, now: Instant, args: &ImportArgs) -> Result<String, AppError> {
    let ImportForm::Philly(args) = &args.form;
    let unreadable =
        |error| AppError::new(ErrorKind::Io, format!("{} can't be read: {error}", args.file.display()));
    let length = std::fs::metadata(&args.file).map_err(unreadable)?.len();
    if length > MAX_FILE_BYTES as u64 {
        let error = parse::TraceError::TooLarge(usize::try_from(length).unwrap_or(usize::MAX));
        return Err(AppError::malformed(format!("{}: {error}", args.file.display())));
    }
    let name = match &args.name {
        Some(name) => name.clone(),
        None => {
            let stem = args.file.file_stem().unwrap_or_default().to_string_lossy();
            parse_name(&stem).map_err(|reason| AppError::config(format!("{reason}, with --name NAME")))?
        }
    };
    let bytes = std::fs::read(&args.file).map_err(unreadable)?;
    let style =
        ProgressStyle::with_template("{bar:40} {bytes} of {total_bytes}").map_err(AppError::internal)?;
    let bar = ProgressBar::new(bytes.len() as u64).with_style(style);
    let incomplete = if args.skip_incomplete { Incomplete::Skip } else { Incomplete::Refuse };
    let read = parse::read(&name, &bytes, incomplete, |done| bar.set_position(done));
    bar.finish_and_clear();
    let (trace, report) =
        read.map_err(|error| AppError::malformed(format!("{}: {error}", args.file.display())))?;
    let is_new = keep(store, now, &trace, &bytes).await?;
    Ok(in_words(&trace, &report, is_new))
}

/// Stores the file under the trace's name; whether it was new.
async fn keep(store: &Store, now: Instant, trace: &Trace, bytes: &[u8]) -> Result<bool, AppError> {
    let sha256: [u8; 32] = Sha256::digest(bytes).into();
    let mut tx = store.write().await?;
    if let Some(present) = traces::find(&mut tx, &trace.name).await? {
        if present.sha256 == sha256 && present.jobs == trace.jobs.len() as u64 {
            return Ok(false);
        }
        return Err(AppError::conflict(format!(
            "another trace is called {:?}; traces are never replaced, choose another name with --name",
            trace.name
        )));
    }
    // Level 9: a second for the largest files, and within a tenth of the best there is.
    let content = zstd::encode_all(bytes, 9).map_err(AppError::internal)?;
    let stored =
        traces::StoredTrace { name: trace.name.clone(), sha256, jobs: trace.jobs.len() as u64, content };
    traces::insert(&mut tx, now, stored).await?;
    tx.commit().await?;
    Ok(true)
}

/// What was imported, with everything that a careful reader would want to be told.
fn in_words(trace: &Trace, report: &Report, is_new: bool) -> String {
    let mut text = String::new();
    let verb = if is_new { "imported" } else { "already there" };
    // Writing to a string can't fail.
    let _ = writeln!(
        text,
        "{}: {verb}, {} jobs of {} clusters, submitted from {} to {}",
        trace.name,
        report.jobs,
        trace.clusters.len(),
        trace.begins_at(),
        trace.ends_at()
    );
    for fault in &report.skipped {
        let _ = writeln!(text, "left out: {fault}");
    }
    for line in &report.empty_lines {
        let _ = writeln!(text, "line {line} is empty and holds no job");
    }
    if report.repeated > 0 {
        let _ =
            writeln!(text, "{} jobs equal an earlier one in every column; they are kept", report.repeated);
    }
    if report.out_of_order > 0 {
        let _ = writeln!(
            text,
            "{} lines were submitted before the line above them; jobs are sorted by time",
            report.out_of_order
        );
    }
    let _ =
        writeln!(text, "see it with: quota-marketplace replay --trace {0}, or demo --trace {0}", trace.name);
    text
}

/// The trace of a name. `store` is only asked for one that is not built in.
///
/// # Errors
/// `NotFound`: there is no such trace. `Inconsistent`: it is not what was imported.
pub async fn find(store: &Store, name: &str) -> Result<Trace, AppError> {
    if name == philly::NAME {
        return Ok(philly::load().0);
    }
    let mut tx = store.read().await?;
    let Some(stored) = traces::find(&mut tx, name).await? else {
        let mut names = traces::names(&mut tx).await?;
        names.insert(0, philly::NAME.to_owned());
        return Err(AppError::new(
            ErrorKind::NotFound,
            format!(
                "there is no trace {name:?}; there is {}; `import philly FILE --name {name}` adds one",
                names.join(", ")
            ),
        ));
    };
    let damaged = |context: String| {
        let message =
            format!("the stored trace {name:?} is not what was imported; import its file under another name");
        AppError::new(ErrorKind::Inconsistent, message).with_context(context)
    };
    let bytes = zstd::decode_all(stored.content.as_slice()).map_err(|error| damaged(error.to_string()))?;
    if <[u8; 32]>::from(Sha256::digest(&bytes)) != stored.sha256 {
        return Err(damaged("the hash differs".to_owned()));
    }
    // Lines that were left out when it was imported are left out again; a file with others was never stored.
    let (trace, _) =
        parse::read(name, &bytes, Incomplete::Skip, |_| ()).map_err(|error| damaged(error.to_string()))?;
    Ok(trace)
}

#[cfg(test)]
#[path = "library_tests.rs"]
mod tests;
