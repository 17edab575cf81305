//! `[log]`: what is logged and how.

use super::Key;

/// What is logged and how.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LogConfig {
    /// Form of a line.
    pub format: LogFormat,
    /// Which events: a level, or levels per module.
    pub filter: String,
}

/// Form of a log line.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LogFormat {
    /// For people.
    Text,
    /// One JSON object per line.
    Json,
}

impl LogConfig {
    pub(super) const fn unset() -> Self {
        Self { format: LogFormat::Text, filter: String::new() }
    }
}

pub(super) const KEYS: &[Key] = &[
    Key {
        name: "log.format",
        default: "text",
        allowed: "text or json",
        meaning: "Form of the log on standard error: text for people, or one JSON object per line.",
        set: |config, text| {
            config.log.format = match text {
                "text" => LogFormat::Text,
                "json" => LogFormat::Json,
                _ => return Err(()),
            };
            Ok(())
        },
    },
    Key {
        name: "log.filter",
        default: "info",
        allowed: "error, warn, info, debug, trace, or levels per module such as info,server::cycle=debug",
        meaning: "Which events are logged.",
        set: |config, text| {
            tracing_subscriber::EnvFilter::builder().parse(text).map_err(|_| ())?;
            text.clone_into(&mut config.log.filter);
            Ok(())
        },
    },
];
