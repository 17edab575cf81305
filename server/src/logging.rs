//! The log: structured events on standard error, so that standard output stays free for a command's result.

use std::io::IsTerminal;

use tracing_subscriber::EnvFilter;
use tracing_subscriber::fmt::time::FormatTime;

use crate::config::{LogConfig, LogFormat};
use crate::error::AppError;

/// Starts the log. Later calls in the same process (tests) change nothing.
///
/// # Errors
/// A filter that can't be read; [`crate::config`] refuses those already.
pub fn start(config: &LogConfig) -> Result<(), AppError> {
    let filter = EnvFilter::builder()
        .parse(&config.filter)
        .map_err(|error| AppError::config(format!("log.filter: {error}")).with_context(error))?;
    let builder = tracing_subscriber::fmt()
        .with_env_filter(filter)
        .with_writer(std::io::stderr)
        .with_ansi(std::io::stderr().is_terminal())
        .with_timer(Utc);
    // An error only says that a log was started before.
    let _started = match config.format {
        LogFormat::Text => builder.compact().try_init(),
        LogFormat::Json => builder.json().flatten_event(true).try_init(),
    };
    Ok(())
}

/// Log lines carry the machine's own time in UTC, whatever clock the market runs on.
struct Utc;

impl FormatTime for Utc {
    fn format_time(&self, writer: &mut tracing_subscriber::fmt::format::Writer<'_>) -> std::fmt::Result {
        tracing_subscriber::fmt::time::SystemTime.format_time(writer)
    }
}
