//! Sessions of browsers: begun by a sign-in, kept alive by refresh tokens that are used once, ended by a sign-out.

use common::ids::{SessionId, UserId};
use common::instant::{Instant, MICROS_PER_SECOND};

use tokio_util::sync::CancellationToken;

use super::{Auth, Client, Issued, secret};
use crate::error::{AppError, ErrorKind};
use crate::services::audit::Doer;
use crate::store::Tx;
use crate::store::accounts as stored;
use crate::store::sessions::{self, Session};

/// Seconds after its last use when a session ends by itself.
pub const IDLE_SECONDS: i64 = 14 * 86_400;

/// Seconds after its sign-in when a session ends however much it is used.
const MOST_SECONDS: i64 = 90 * 86_400;

/// Seconds for which the mark of a known device is good.
pub const DEVICE_SECONDS: i64 = 400 * 86_400;

/// Seconds in which a replaced refresh token is still taken: another tab sent it before the new one reached the browser.
const GRACE_SECONDS: i64 = 30;

/// How often it is looked for what other processes ended.
const WATCH_EVERY: std::time::Duration = std::time::Duration::from_secs(10);

/// Seconds after which a session that is over is forgotten.
const KEPT_SECONDS: i64 = 30 * 86_400;

impl Auth {
    /// Signs somebody in by password.
    ///
    /// # Errors
    /// `Invalid`: no account has this login and this password; it does not say which of the two is wrong, and takes as
    /// long in either case. `TooManyRequests`: too many attempts. `Forbidden`: nobody signs in by a password here.
    pub async fn sign_in(&self, login: &str, password: &str, client: &Client) -> Result<Issued, AppError> {
        if !self.takes_passwords() {
            return Err(AppError::forbidden(
                "signing in by a password is turned off; use the identity provider",
            ));
        }
        self.limits.address(client.address)?;
        let login = login.trim().to_lowercase();
        let found = stored::find_login(&mut self.services.store.read().await?, &login).await?;
        let known = match (&found, &client.device) {
            (Some((account, _)), Some(mark)) => self.keys.is_device_of(mark, &account.id, self.now()),
            _ => false,
        };
        self.limits.account(&login, client.address, known)?;
        let (account, hash) = found.unzip();
        let right = self.passwords.verify(password, hash.flatten()).await?;
        match account.filter(|account| right && account.disabled_at.is_none()) {
            Some(account) => self.begin_session(&account.id, client).await,
            None => Err(AppError::new(
                ErrorKind::Invalid,
                "no account has this name and this password; check both. After ten attempts you have to wait",
            )),
        }
    }

    /// Begins a session for somebody who was recognised, by a password or by a provider.
    ///
    /// # Errors
    /// `Unavailable`: the database does not answer.
    pub async fn begin_session(&self, user: &UserId, client: &Client) -> Result<Issued, AppError> {
        let mut tx = self.services.store.write().await?;
        let issued = self.begin_session_in(&mut tx, user, client).await?;
        tx.commit().await?;
        Ok(issued)
    }

    pub(super) async fn begin_session_in(
        &self,
        tx: &mut Tx,
        user: &UserId,
        client: &Client,
    ) -> Result<Issued, AppError> {
        let now = self.now();
        let id = SessionId::new(self.services.ids.new_id(now)).map_err(AppError::internal)?;
        let session = Session {
            id: id.clone(),
            user: user.clone(),
            made_at: now,
            last_used_at: now,
            ends_at: now.plus_seconds(IDLE_SECONDS),
            ended_at: None,
            user_agent: browser(&client.user_agent),
            address: client.address.to_string(),
        };
        let refresh = secret::text();
        sessions::remove_before(tx, now.plus_seconds(-KEPT_SECONDS)).await?;
        sessions::insert(tx, &session).await?;
        sessions::insert_refresh(tx, secret::hash(&refresh), &id, now).await?;
        Ok(Issued {
            access: self.keys.access(user, &id, now)?,
            device: Some(self.keys.device(user, now)?),
            refresh: Some(refresh),
            user: user.clone(),
            session: id,
        })
    }

    /// Renews a session by its refresh token, which is replaced. None where the token is not known or the session is
    /// over. A token that was replaced longer ago than two tabs can explain was stolen, from this browser or by it: the
    /// session ends, for both.
    ///
    /// # Errors
    /// `Unavailable`: the database does not answer.
    pub async fn renew(&self, refresh: &str) -> Result<Option<Issued>, AppError> {
        let old = secret::hash(refresh);
        // What is not known must not take the one place of a writer.
        if sessions::find_refresh(&mut self.services.store.read().await?, old).await?.is_none() {
            return Ok(None);
        }
        let now = self.now();
        let mut tx = self.services.store.write().await?;
        let Some(found) = sessions::find_refresh(&mut tx, old).await? else { return Ok(None) };
        let Session { id, user, made_at, .. } = &found.session;
        if !found.session.holds(now) {
            return Ok(None);
        }
        let new = match found.replaced_at {
            None => {
                let new = secret::text();
                let ends_at = now.plus_seconds(IDLE_SECONDS).min(made_at.plus_seconds(MOST_SECONDS));
                sessions::replace_refresh(&mut tx, old, secret::hash(&new), id, now, ends_at).await?;
                Some(new)
            }
            Some(replaced_at) if now <= replaced_at.plus_seconds(GRACE_SECONDS) => None,
            Some(replaced_at) => {
                sessions::end(&mut tx, id, now).await?;
                tx.commit().await?;
                self.streams.end(id.as_str());
                let seconds = (now.0 - replaced_at.0) / MICROS_PER_SECOND;
                tracing::warn!(%user, session = %id, seconds, "a refresh token came again after it was replaced; the session is ended");
                return Ok(None);
            }
        };
        tx.commit().await?;
        let access = self.keys.access(user, id, now)?;
        Ok(Some(Issued { user: user.clone(), session: id.clone(), access, refresh: new, device: None }))
    }

    /// The sessions of a person that hold, the one used last first.
    ///
    /// # Errors
    /// `Unavailable`: the database does not answer.
    pub async fn sessions(&self, user: &UserId) -> Result<Vec<Session>, AppError> {
        sessions::of_user(&mut self.services.store.read().await?, user, self.now()).await
    }

    /// Ends a session of a person: signs out there.
    ///
    /// # Errors
    /// `NotFound`: the person has no such session, or it has ended.
    pub async fn end_session(&self, user: &UserId, id: &SessionId) -> Result<(), AppError> {
        let mut tx = self.services.store.write().await?;
        let found = sessions::find(&mut tx, id).await?.filter(|session| session.user == *user);
        if found.is_none() || !sessions::end(&mut tx, id, self.now()).await? {
            return Err(AppError::not_found("session", id));
        }
        tx.commit().await?;
        self.streams.end(id.as_str());
        Ok(())
    }

    /// Ends all sessions of a person but one.
    ///
    /// # Errors
    /// `Unavailable`: the database does not answer.
    pub async fn end_other_sessions(&self, user: &UserId, kept: Option<&SessionId>) -> Result<(), AppError> {
        let now = self.now();
        let mut tx = self.services.store.write().await?;
        let held = sessions::of_user(&mut tx, user, now).await?;
        sessions::end_all_but(&mut tx, user, kept, now).await?;
        tx.commit().await?;
        for session in held.iter().filter(|session| Some(&session.id) != kept) {
            self.streams.end(session.id.as_str());
        }
        Ok(())
    }

    /// Locks an account, which ends its sessions, tokens and streams, or opens it again.
    ///
    /// # Errors
    /// `NotFound`: there is no such account, or the doer does not manage users. `Invalid`: nobody would be an admin, or
    /// there is no reason. `PreconditionFailed`: the account was changed since `known`.
    pub async fn set_locked(
        &self,
        doer: Doer<'_>,
        user: &UserId,
        locked: bool,
        known: Option<&str>,
    ) -> Result<(), AppError> {
        let ended = self.services.set_locked(doer, user, locked, known).await?;
        ended.iter().for_each(|id| self.streams.end(id));
        Ok(())
    }

    /// Sets a new password of somebody who is signed in and knows the old one; ends the other sessions.
    ///
    /// # Errors
    /// `Invalid`: the old one is wrong (`old_password`), or the new one is too short or too long (`password`).
    /// `TooManyRequests`: too many attempts.
    pub async fn change_password(
        &self,
        user: &UserId,
        session: &SessionId,
        old: &str,
        new: &str,
        client: &Client,
    ) -> Result<(), AppError> {
        self.limits.account(user.as_str(), client.address, true)?;
        let hash = stored::password_hash(&mut self.services.store.read().await?, user).await?;
        if !self.passwords.verify(old, hash).await? {
            return Err(AppError::invalid("old_password", "is not the password of your account"));
        }
        let hash = self.passwords.hash(new).await?;
        let mut tx = self.services.store.write().await?;
        stored::set_password(&mut tx, user, &hash).await?;
        tx.commit().await?;
        self.end_other_sessions(user, Some(session)).await
    }

    /// Ends the streams of what other processes on the same database, or the command line, ended: looks every few seconds
    /// until the server stops. What this process ends itself ends its streams at once.
    pub async fn watch_ends(&self, stop: &CancellationToken) {
        let mut since = self.now();
        loop {
            tokio::select! {
                () = tokio::time::sleep(WATCH_EVERY) => {}
                () = stop.cancelled() => return,
            }
            let now = self.now();
            match self.ended_since(since).await {
                Ok(ended) => {
                    ended.iter().for_each(|id| self.streams.end(id));
                    since = now;
                }
                Err(error) => {
                    tracing::debug!(cause = %error.private_context(), "ended sessions unknown: {error}")
                }
            }
        }
    }

    async fn ended_since(&self, since: Instant) -> Result<Vec<String>, AppError> {
        sessions::ended_since(&mut self.services.store.read().await?, since).await
    }
}

/// A browser in a few words, from its `User-Agent`: "Firefox on Linux".
fn browser(user_agent: &str) -> String {
    const BROWSERS: [(&str, &str); 5] = [
        ("Edg/", "Edge"),
        ("OPR/", "Opera"),
        ("Firefox/", "Firefox"),
        ("Chrome/", "Chrome"),
        ("Safari/", "Safari"),
    ];
    const SYSTEMS: [(&str, &str); 6] = [
        ("Android", "Android"),
        ("iPhone", "iPhone"),
        ("iPad", "iPad"),
        ("Windows", "Windows"),
        ("Mac OS", "macOS"),
        ("Linux", "Linux"),
    ];
    let first = |names: &[(&str, &'static str)]| {
        names.iter().find(|(mark, _)| user_agent.contains(mark)).map(|(_, name)| *name)
    };
    match (first(&BROWSERS), first(&SYSTEMS)) {
        (Some(browser), Some(system)) => format!("{browser} on {system}"),
        (Some(browser), None) => browser.to_owned(),
        _ if user_agent.is_empty() => "unknown".to_owned(),
        _ => user_agent.chars().filter(|character| !character.is_control()).take(60).collect(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_browser_is_told_in_a_few_words() {
        let chrome = "Mozilla/5.0 (X11; Linux x86_64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/120.0 Safari/537.36";
        assert_eq!(browser(chrome), "Chrome on Linux");
        assert_eq!(browser("curl/8.5.0"), "curl/8.5.0");
        assert_eq!(browser(""), "unknown");
        assert_eq!(browser(&"x".repeat(200)).len(), 60);
    }
}
