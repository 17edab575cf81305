//! Who somebody is: passwords, sessions of browsers, tokens of programs, one-time links.
//!
//! What is here recognises people and gives a [`Viewer`]; what a viewer may do is [`crate::policy`]'s matter. A cookie
//! or token only ever says who somebody is. Roles, memberships and whether the session still holds are read from the
//! store with each request, so a demotion or a sign-out works at once.

mod access;
mod limits;
mod links;
mod password;
mod secret;
mod sessions;
mod single_sign_on;
mod streams;
mod tokens;

use std::collections::BTreeMap;
use std::net::IpAddr;
use std::sync::{Arc, Mutex};

use common::ids::{SessionId, TokenId, UserId};
use common::instant::Instant;

pub use self::access::ACCESS_SECONDS;
use self::access::Keys;
use self::limits::Limits;
pub use self::links::{LinkFor, make_admin_link};
pub use self::password::Passwords;
pub use self::sessions::{DEVICE_SECONDS, IDLE_SECONDS};
use self::single_sign_on::SingleSignOn;
pub use self::single_sign_on::{Arrival, Departure, Return};
pub use self::streams::{OpenStream, Streams};
pub use self::tokens::{MOST_DAYS, NewToken, TOKEN_PREFIX};
use crate::config::AuthConfig;
use crate::error::AppError;
use crate::oidc::Registration;
use crate::policy::Viewer;
use crate::services::Services;
use crate::store::{accounts as stored, viewers};

/// Recognises people and programs.
pub struct Auth {
    services: Arc<Services>,
    keys: Keys,
    passwords: Passwords,
    limits: Limits,
    streams: Streams,
    /// When the use of each token was last noted by this process.
    token_uses: Mutex<BTreeMap<TokenId, Instant>>,
    single_sign_on: Option<SingleSignOn>,
    takes_passwords: bool,
}

/// Where a request comes from.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Client {
    /// The address of the person's machine, as far as trusted proxies tell it.
    pub address: IpAddr,
    /// The `User-Agent` header.
    pub user_agent: String,
    /// The cookie that says for which account the browser signed in before.
    pub device: Option<String>,
}

/// What a browser gets to be recognised with.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Issued {
    /// Whose session it is.
    pub user: UserId,
    /// The session.
    pub session: SessionId,
    /// The access token; good for [`ACCESS_SECONDS`].
    pub access: String,
    /// The refresh token, where there is a new one; good for [`IDLE_SECONDS`].
    pub refresh: Option<String>,
    /// The mark of a device that signed in; good for [`DEVICE_SECONDS`].
    pub device: Option<String>,
}

impl Auth {
    /// Reads the key that signs access tokens, or makes it at the first start. `provider` is what this server is to an
    /// identity provider, where there is one.
    ///
    /// # Errors
    /// `Unavailable`: the database does not answer.
    pub async fn open(
        services: Arc<Services>,
        config: &AuthConfig,
        provider: Option<Registration>,
    ) -> Result<Self, AppError> {
        let key = match config.secret.reveal() {
            given if !given.is_empty() => given.as_bytes().to_vec(),
            _ => {
                let mut tx = services.store.write().await?;
                let kept = stored::server_secret(&mut tx, "access", secret::random().to_vec()).await?;
                tx.commit().await?;
                kept
            }
        };
        Ok(Self {
            keys: Keys::new(&key)?,
            single_sign_on: provider
                .map(|provider| SingleSignOn::new(provider, &key, Arc::clone(&services.clock)))
                .transpose()?,
            takes_passwords: config.passwords,
            passwords: Passwords::default(),
            limits: Limits::new(&services.clock),
            streams: Streams::default(),
            token_uses: Mutex::default(),
            services,
        })
    }

    /// The streams that are open, by what they were opened with.
    #[must_use]
    pub fn streams(&self) -> &Streams {
        &self.streams
    }

    /// Hashes and checks passwords.
    #[must_use]
    pub fn passwords(&self) -> &Passwords {
        &self.passwords
    }

    /// Whether people may sign in by a password.
    #[must_use]
    pub fn takes_passwords(&self) -> bool {
        self.takes_passwords
    }

    /// An account.
    ///
    /// # Errors
    /// `NotFound`: there is none of this id.
    pub async fn account(&self, user: &UserId) -> Result<stored::Account, AppError> {
        let found = stored::find(&mut self.services.store.read().await?, user).await?;
        found.ok_or_else(|| AppError::not_found("account", user))
    }

    fn now(&self) -> Instant {
        self.services.now()
    }

    /// The viewer whose session an access token is of; none where the token or the session is over.
    ///
    /// # Errors
    /// `Unavailable`: the database does not answer.
    pub async fn viewer(&self, access: &str) -> Result<Option<Viewer>, AppError> {
        let now = self.now();
        let Some((user, session)) = self.keys.read_access(access, now) else { return Ok(None) };
        let mut tx = self.services.store.look().await?;
        viewers::viewer_of_session(&mut tx, &user, session, now).await
    }
}
