//! Configuration: a file in TOML, then environment variables, then flags; each overrides what came before.
//!
//! Every setting is one [`Key`] in a table of its section. The default file, the names of the environment variables
//! and the messages about bad values all come from these tables, so that they can't disagree.

mod auth;
mod database;
mod key;
mod log;
mod oidc;
mod secret;
mod server;

use std::path::Path;

pub use auth::AuthConfig;
pub use database::DatabaseConfig;
pub use key::{Key, Origin};
pub use log::{LogConfig, LogFormat};
pub use oidc::OidcConfig;
pub use secret::Secret;
pub use server::ServerConfig;

use crate::error::AppError;
use crate::oidc::Registration;

/// What every environment variable of this program begins with.
pub const ENVIRONMENT_PREFIX: &str = "QUOTA_MARKETPLACE_";

/// The file that is read when none is named and it exists.
pub const DEFAULT_FILE: &str = "quota-marketplace.toml";

/// All settings of a process. What the market itself needs (cycle length, supply, weights) is in the database.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Config {
    /// Where and how the server listens.
    pub server: ServerConfig,
    /// How people are recognised.
    pub auth: AuthConfig,
    /// Where the history is.
    pub database: DatabaseConfig,
    /// What is logged and how.
    pub log: LogConfig,
    /// Sign-in by an identity provider.
    pub oidc: OidcConfig,
}

impl Default for Config {
    fn default() -> Self {
        let mut config = Self {
            server: ServerConfig::unset(),
            auth: AuthConfig::default(),
            database: DatabaseConfig::unset(),
            log: LogConfig::unset(),
            oidc: OidcConfig::unset(),
        };
        for key in keys() {
            // The defaults stand in the tables as texts; a test shows that each is a value its key takes.
            let _set = (key.set)(&mut config, key.default);
        }
        config
    }
}

/// All keys in the order of the default file.
pub fn keys() -> impl Iterator<Item = &'static Key> {
    server::KEYS.iter().chain(auth::KEYS).chain(database::KEYS).chain(log::KEYS).chain(oidc::KEYS)
}

/// Where settings come from.
#[derive(Clone, Debug, Default)]
pub struct Sources<'a> {
    /// The file named on the command line; without one, [`DEFAULT_FILE`] where it exists.
    pub file: Option<&'a Path>,
    /// The process's environment, names and values.
    pub environment: Vec<(String, String)>,
    /// `section.key` and value from flags, with the flag's name.
    pub flags: Vec<(&'a str, String, String)>,
}

impl Config {
    /// Reads all sources.
    ///
    /// # Errors
    /// An unknown key or a value that its key does not take, with the key, the value, the allowed values and the
    /// source; or a file that can't be read.
    pub fn load(sources: &Sources<'_>) -> Result<Self, AppError> {
        let mut config = Self::default();
        if let Some(path) = sources.file {
            config.apply_file(path)?;
        } else if Path::new(DEFAULT_FILE).exists() {
            config.apply_file(Path::new(DEFAULT_FILE))?;
        }
        config.apply_environment(&sources.environment)?;
        for (flag, name, value) in &sources.flags {
            config.apply(name, value, &Origin::Flag((*flag).to_owned()))?;
        }
        Ok(config)
    }

    /// What this server is to an identity provider; none without one.
    ///
    /// # Errors
    /// `Config`: settings of single sign-on are missing or contradict each other, or nobody could sign in.
    pub fn provider(&self) -> Result<Option<Registration>, AppError> {
        let provider = self.oidc.registration(&self.server.public_url)?;
        if provider.is_none() && !self.auth.passwords {
            return Err(AppError::config(
                "auth.passwords is false and oidc.issuer is not set: nobody could sign in",
            ));
        }
        Ok(provider)
    }

    fn apply(&mut self, name: &str, value: &str, origin: &Origin) -> Result<(), AppError> {
        let key = keys().find(|key| key.name == name).ok_or_else(|| key::unknown(name, origin))?;
        (key.set)(self, value).map_err(|()| key.refuse(value, origin))
    }

    fn apply_file(&mut self, path: &Path) -> Result<(), AppError> {
        let shown = path.display().to_string();
        let text = std::fs::read_to_string(path).map_err(|error| {
            AppError::config(format!("configuration file {shown} can't be read: {error}")).with_context(error)
        })?;
        let table: toml::Table = text.parse().map_err(|error: toml::de::Error| {
            AppError::config(format!("configuration file {shown} is not TOML: {error}"))
        })?;
        let origin = Origin::File(shown);
        for (section, value) in table {
            let toml::Value::Table(settings) = value else {
                return Err(key::unknown(&section, &origin));
            };
            for (name, value) in settings {
                let name = format!("{section}.{name}");
                let text =
                    key::scalar_text(&value).ok_or_else(|| key::not_a_scalar(&name, &value, &origin))?;
                self.apply(&name, &text, &origin)?;
            }
        }
        Ok(())
    }

    fn apply_environment(&mut self, environment: &[(String, String)]) -> Result<(), AppError> {
        for (variable, value) in environment {
            if !variable.starts_with(ENVIRONMENT_PREFIX) || variable == key::FILE_VARIABLE {
                continue;
            }
            let origin = Origin::Environment(variable.clone());
            let key = keys()
                .find(|key| key.environment_variable() == *variable)
                .ok_or_else(|| key::unknown(variable, &origin))?;
            (key.set)(self, value).map_err(|()| key.refuse(value, &origin))?;
        }
        Ok(())
    }
}

/// The default configuration file: every key with what it means, what it takes and its default.
#[must_use]
pub fn default_file() -> String {
    let mut text = String::from(
        "# Quota Marketplace: configuration.\n\
         #\n\
         # Every key stands here with its default, commented out. A key can also be given by its environment\n\
         # variable or by a flag (`--set section.key=value`); a flag overrides the environment, the environment\n\
         # overrides this file.\n",
    );
    let mut section = "";
    for key in keys() {
        if key.section() != section {
            section = key.section();
            text.push_str(&format!("\n[{section}]\n"));
        }
        text.push_str(&key.commented());
    }
    text
}

#[cfg(test)]
mod tests;
