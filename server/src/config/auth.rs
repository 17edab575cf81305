//! `[auth]`: how people are recognised.

use super::{Key, Secret};

/// How people are recognised.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct AuthConfig {
    /// The key that signs what browsers carry.
    pub secret: Secret,
    /// Whether people may sign in by a password.
    pub passwords: bool,
}

pub(super) const KEYS: &[Key] = &[
    Key {
        name: "auth.secret",
        default: "",
        allowed: "at least 32 characters, or nothing",
        meaning: "Signs what browsers carry after a sign-in. Without one the server makes one at its first start and keeps \
              it in the database, which is right for most. Another secret signs everybody out at their next request \
              after a restart, until their browsers renew themselves.",
        set: |config, text| {
            if !text.is_empty() && text.len() < 32 {
                return Err(());
            }
            config.auth.secret = Secret::new(text.to_owned());
            Ok(())
        },
    },
    Key {
        name: "auth.passwords",
        default: "true",
        allowed: "true or false; false needs oidc.issuer",
        meaning: "Whether people may sign in by a password. Without, they sign in by the identity provider alone; one-time \
              links that an admin makes still sign in, as a way in when the provider is away.",
        set: |config, text| text.parse().map(|allowed| config.auth.passwords = allowed).map_err(|_| ()),
    },
];
