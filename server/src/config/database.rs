//! `[database]`: where the history is.

use super::Key;
use super::key::number;

/// Where the history is.
#[derive(Clone, PartialEq, Eq)]
pub struct DatabaseConfig {
    /// A path, `sqlite:PATH` or `postgres://…`; may hold a password, so it is never shown.
    pub url: String,
    /// Most connections to PostgreSQL.
    pub max_connections: u32,
    /// Where exports made in the background are kept; empty for the default.
    pub export_folder: String,
}

impl DatabaseConfig {
    pub(super) const fn unset() -> Self {
        Self { url: String::new(), max_connections: 0, export_folder: String::new() }
    }

    /// The address without a password, for logs and messages.
    #[must_use]
    pub fn shown_url(&self) -> String {
        let Some((scheme, rest)) = self.url.split_once("://") else {
            return self.url.clone();
        };
        match rest.rsplit_once('@') {
            Some((login, host)) => {
                let user = login.split_once(':').map_or(login, |(user, _)| user);
                format!("{scheme}://{user}@{}", without_query(host))
            }
            None => format!("{scheme}://{}", without_query(rest)),
        }
    }
}

/// A query may hold a password as well.
fn without_query(text: &str) -> &str {
    text.split_once('?').map_or(text, |(before, _)| before)
}

impl std::fmt::Debug for DatabaseConfig {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("DatabaseConfig")
            .field("url", &self.shown_url())
            .field("max_connections", &self.max_connections)
            .field("export_folder", &self.export_folder)
            .finish()
    }
}

pub(super) const KEYS: &[Key] = &[
    Key {
        name: "database.url",
        default: "sqlite:quota-marketplace.sqlite",
        allowed: "a file's path, sqlite:PATH or postgres://USER:PASSWORD@HOST:PORT/DATABASE",
        meaning: "Where the history is. A SQLite file is made when it does not exist; a PostgreSQL database must \
                  exist, its tables are made. A password in it is never logged.",
        set: |config, text| {
            let scheme = text.split_once("://").map(|(scheme, _)| scheme);
            if text.is_empty()
                || scheme.is_some_and(|scheme| !["sqlite", "postgres", "postgresql"].contains(&scheme))
            {
                return Err(());
            }
            text.clone_into(&mut config.database.url);
            Ok(())
        },
    },
    Key {
        name: "database.max_connections",
        default: "8",
        allowed: "a whole number from 2 to 200",
        meaning: "Most connections to a PostgreSQL database. SQLite has one to write with and four to read with.",
        set: |config, text| {
            let value = number(text, 2, 200)?;
            config.database.max_connections = u32::try_from(value).map_err(|_| ())?;
            Ok(())
        },
    },
    Key {
        name: "database.export_folder",
        default: "",
        allowed: "the path of a folder, which is made when it is needed; or nothing",
        meaning: "Where exports made in the background are kept, for seven days. Nothing is a folder beside the SQLite \
                  file, named like it with -exports at its end, or quota-marketplace-exports in the working directory \
                  with PostgreSQL. Several servers on one database need one folder that all of them reach.",
        set: |config, text| {
            text.clone_into(&mut config.database.export_folder);
            Ok(())
        },
    },
];
