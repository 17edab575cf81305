//! One-time links: the way in for who has no password yet, or lost it.

use common::ids::UserId;

use super::{Auth, Client, Issued, secret};
use crate::error::{AppError, ErrorKind};
use crate::services::accounts::{self, NewAdmin};
use crate::services::checks::Checks;
use crate::store::accounts::{self as stored, Account};
use crate::store::sessions::{self, Link};
use crate::store::{Store, Tx};

/// Seconds for which a link is good.
const LINK_SECONDS: i64 = 86_400;

/// What a link that can be used is for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum LinkFor {
    /// A new account, an admin's.
    NewAdmin,
    /// A new password of an account.
    Password(Account),
}

impl Auth {
    /// Makes a link; the answer is its secret part, which is not kept. `user` is whose password it sets; without one it
    /// makes an admin's account.
    ///
    /// # Errors
    /// `Unavailable`: the database does not answer.
    pub async fn make_link(&self, user: Option<&UserId>) -> Result<String, AppError> {
        let mut tx = self.services.store.write().await?;
        let text = make_link_in(&mut tx, user, self.now()).await?;
        tx.commit().await?;
        Ok(text)
    }

    /// What a link is for.
    ///
    /// # Errors
    /// `NotFound`: there is no such link, it was used, or its time is over.
    pub async fn link(&self, text: &str) -> Result<LinkFor, AppError> {
        self.link_in(&mut self.services.store.read().await?, text).await
    }

    async fn link_in(&self, tx: &mut Tx, text: &str) -> Result<LinkFor, AppError> {
        let holds = |link: &Link| link.used_at.is_none() && self.now() < link.ends_at;
        let link = sessions::find_link(tx, secret::hash(text)).await?.filter(holds).ok_or_else(over)?;
        match link.user {
            None => Ok(LinkFor::NewAdmin),
            Some(user) => Ok(LinkFor::Password(stored::find(tx, &user).await?.ok_or_else(over)?)),
        }
    }

    /// Uses a link: sets the password it was made for, or makes the admin's account, and begins a session. All other
    /// sessions of the account end.
    ///
    /// # Errors
    /// `NotFound`: the link can't be used, or somebody used it a moment before. `Invalid`: `login`, `name` or `password`
    /// is refused; the link can be used again.
    pub async fn use_link(
        &self,
        text: &str,
        admin: &NewAdmin,
        password: &str,
        client: &Client,
    ) -> Result<Issued, AppError> {
        self.limits.address(client.address)?;
        if self.link(text).await? == LinkFor::NewAdmin {
            let mut checks = Checks::default();
            accounts::check_login(&mut checks, "login", &admin.login);
            checks.name("name", &admin.name);
            checks.finish()?;
        }
        let hash = self.passwords.hash(password).await?;
        let now = self.now();
        let mut tx = self.services.store.write().await?;
        let user = match self.link_in(&mut tx, text).await? {
            LinkFor::NewAdmin => {
                let id = accounts::make_admin(&mut tx, &self.services, admin, hash).await?;
                sessions::use_links(&mut tx, None, now).await?;
                id
            }
            LinkFor::Password(account) => {
                stored::set_password(&mut tx, &account.id, &hash).await?;
                sessions::use_links(&mut tx, Some(&account.id), now).await?;
                account.id
            }
        };
        let held = sessions::of_user(&mut tx, &user, now).await?;
        sessions::end_all_but(&mut tx, &user, None, now).await?;
        let issued = self.begin_session_in(&mut tx, &user, client).await?;
        tx.commit().await?;
        for session in held {
            self.streams.end(session.id.as_str());
        }
        Ok(issued)
    }
}

/// The link is not there, was used, or is too old: which of these is nobody's business.
fn over() -> AppError {
    AppError::new(
        ErrorKind::NotFound,
        "this link was used already, is older than a day, or never was; ask an admin for a new one",
    )
}

/// Makes a link in a transaction; see [`Auth::make_link`].
async fn make_link_in(
    tx: &mut Tx,
    user: Option<&UserId>,
    now: common::instant::Instant,
) -> Result<String, AppError> {
    let text = secret::text();
    sessions::insert_link(tx, secret::hash(&text), user, now, now.plus_seconds(LINK_SECONDS)).await?;
    Ok(text)
}

/// Makes a link for an admin's account without a server: for the command line.
///
/// # Errors
/// `Unavailable`: the database does not answer.
pub async fn make_admin_link(store: &Store, now: common::instant::Instant) -> Result<String, AppError> {
    let mut tx = store.write().await?;
    let text = make_link_in(&mut tx, None, now).await?;
    tx.commit().await?;
    Ok(text)
}
