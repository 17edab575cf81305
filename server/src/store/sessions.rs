//! How people and programs are recognised: sessions with their refresh tokens, one-time links, tokens for programs.
//! Secrets come here as hashes only.

use std::collections::BTreeSet;

use common::ids::{SessionId, TokenId, UserId};
use common::instant::Instant;

use super::db::{Row, Tx, values};
use crate::error::AppError;
use crate::policy::Scope;

/// SHA-256 of a secret.
pub type SecretHash = [u8; 32];

/// A sign-in on one device.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Session {
    /// Its id.
    pub id: SessionId,
    /// Whose it is.
    pub user: UserId,
    /// When it began.
    pub made_at: Instant,
    /// When it was last renewed.
    pub last_used_at: Instant,
    /// When it ends by itself.
    pub ends_at: Instant,
    /// When it was ended.
    pub ended_at: Option<Instant>,
    /// The browser, in a few words.
    pub user_agent: String,
    /// Where it began.
    pub address: String,
}

impl Session {
    /// Whether it holds at an instant.
    #[must_use]
    pub fn holds(&self, now: Instant) -> bool {
        self.ended_at.is_none() && now < self.ends_at
    }
}

/// A refresh token with its session.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Refresh {
    /// Its session.
    pub session: Session,
    /// Since when another one stands in its place.
    pub replaced_at: Option<Instant>,
}

/// A link that lets whoever has it choose a password, once.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Link {
    /// Whose password; none makes an admin's account.
    pub user: Option<UserId>,
    /// Until when it can be used.
    pub ends_at: Instant,
    /// When it was used.
    pub used_at: Option<Instant>,
}

/// A token for programs.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Token {
    /// Its id.
    pub id: TokenId,
    /// Whose it is.
    pub user: UserId,
    /// What it is for.
    pub name: String,
    /// What it may do, where its owner may.
    pub scopes: BTreeSet<Scope>,
    /// When it was made.
    pub made_at: Instant,
    /// When it ends by itself.
    pub ends_at: Instant,
    /// When it was last used, to a few minutes.
    pub last_used_at: Option<Instant>,
    /// When it was revoked.
    pub revoked_at: Option<Instant>,
}

impl Token {
    /// Whether it holds at an instant.
    #[must_use]
    pub fn holds(&self, now: Instant) -> bool {
        self.revoked_at.is_none() && now < self.ends_at
    }
}

/// Selects the columns of [`session`] of `session AS s`, followed by what is given.
macro_rules! sessions {
    ($rest:literal) => {
        concat!(
            "SELECT s.id, s.user_id, s.made_at, s.last_used_at, s.ends_at, s.ended_at, s.user_agent, s.address ",
            $rest
        )
    };
}

fn session(row: &mut Row) -> Result<Session, AppError> {
    Ok(Session {
        id: row.id()?,
        user: row.id()?,
        made_at: Instant(row.int()?),
        last_used_at: Instant(row.int()?),
        ends_at: Instant(row.int()?),
        ended_at: row.optional_int()?.map(Instant),
        user_agent: row.text()?,
        address: row.text()?,
    })
}

/// Adds a session.
///
/// # Errors
/// The database can't be written.
pub async fn insert(tx: &mut Tx, session: &Session) -> Result<(), AppError> {
    const SQL: &str = "INSERT INTO session (id, user_id, made_at, last_used_at, ends_at, user_agent, address) \
                       VALUES ($1, $2, $3, $4, $5, $6, $7)";
    let values = values![
        session.id.as_str(),
        session.user.as_str(),
        session.made_at.0,
        session.last_used_at.0,
        session.ends_at.0,
        session.user_agent.as_str(),
        session.address.as_str()
    ];
    tx.execute(SQL, values).await?;
    Ok(())
}

/// The session of an id.
///
/// # Errors
/// The database can't be read.
pub async fn find(tx: &mut Tx, id: &SessionId) -> Result<Option<Session>, AppError> {
    const SQL: &str = sessions!("FROM session AS s WHERE s.id = $1");
    tx.row(SQL, values![id.as_str()]).await?.as_mut().map(session).transpose()
}

/// The sessions of a person that hold, the one used last first.
///
/// # Errors
/// The database can't be read.
pub async fn of_user(tx: &mut Tx, user: &UserId, now: Instant) -> Result<Vec<Session>, AppError> {
    const SQL: &str = sessions!(
        "FROM session AS s WHERE s.user_id = $1 AND s.ended_at IS NULL AND s.ends_at > $2 \
         ORDER BY s.last_used_at DESC, s.id"
    );
    tx.rows(SQL, values![user.as_str(), now.0]).await?.iter_mut().map(session).collect()
}

/// Ends a session; false where it had ended.
///
/// # Errors
/// The database can't be written.
pub async fn end(tx: &mut Tx, id: &SessionId, now: Instant) -> Result<bool, AppError> {
    const SQL: &str = "UPDATE session SET ended_at = $2 WHERE id = $1 AND ended_at IS NULL";
    Ok(tx.execute(SQL, values![id.as_str(), now.0]).await? > 0)
}

/// Ends all sessions of a person but one.
///
/// # Errors
/// The database can't be written.
pub async fn end_all_but(
    tx: &mut Tx,
    user: &UserId,
    kept: Option<&SessionId>,
    now: Instant,
) -> Result<(), AppError> {
    const SQL: &str = "UPDATE session SET ended_at = $3 WHERE user_id = $1 AND ended_at IS NULL AND id <> $2";
    tx.execute(SQL, values![user.as_str(), kept.map_or("", SessionId::as_str), now.0]).await?;
    Ok(())
}

/// The ids of sessions ended, and of tokens revoked, after an instant.
///
/// # Errors
/// The database can't be read.
pub async fn ended_since(tx: &mut Tx, since: Instant) -> Result<Vec<String>, AppError> {
    const SQL: &str =
        "SELECT id FROM session WHERE ended_at > $1 UNION ALL SELECT id FROM api_token WHERE revoked_at > $1";
    tx.rows(SQL, values![since.0]).await?.iter_mut().map(Row::text).collect()
}

/// Removes what is over for long: it can't be used and need not be shown.
///
/// # Errors
/// The database can't be written.
pub async fn remove_before(tx: &mut Tx, before: Instant) -> Result<(), AppError> {
    const TOKENS: &str = "DELETE FROM refresh_token WHERE session_id IN \
                          (SELECT id FROM session WHERE ends_at < $1 OR ended_at < $1)";
    const SESSIONS: &str = "DELETE FROM session WHERE ends_at < $1 OR ended_at < $1";
    const LINKS: &str = "DELETE FROM one_time_link WHERE ends_at < $1";
    for sql in [TOKENS, SESSIONS, LINKS] {
        tx.execute(sql, values![before.0]).await?;
    }
    Ok(())
}

/// Adds a refresh token.
///
/// # Errors
/// The database can't be written.
pub async fn insert_refresh(
    tx: &mut Tx,
    hash: SecretHash,
    session: &SessionId,
    now: Instant,
) -> Result<(), AppError> {
    const SQL: &str = "INSERT INTO refresh_token (sha256, session_id, made_at) VALUES ($1, $2, $3)";
    tx.execute(SQL, values![hash, session.as_str(), now.0]).await?;
    Ok(())
}

/// The refresh token of a hash.
///
/// # Errors
/// The database can't be read.
pub async fn find_refresh(tx: &mut Tx, hash: SecretHash) -> Result<Option<Refresh>, AppError> {
    const SQL: &str = sessions!(
        ", t.replaced_at FROM refresh_token AS t JOIN session AS s ON s.id = t.session_id WHERE t.sha256 = $1"
    );
    let Some(mut row) = tx.row(SQL, values![hash]).await? else { return Ok(None) };
    let session = session(&mut row)?;
    Ok(Some(Refresh { session, replaced_at: row.optional_int()?.map(Instant) }))
}

/// Puts another refresh token in the place of one, and lets the session hold until `ends_at`.
///
/// # Errors
/// The database can't be written.
pub async fn replace_refresh(
    tx: &mut Tx,
    old: SecretHash,
    new: SecretHash,
    session: &SessionId,
    now: Instant,
    ends_at: Instant,
) -> Result<(), AppError> {
    const REPLACED: &str = "UPDATE refresh_token SET replaced_at = $2 WHERE sha256 = $1";
    const USED: &str = "UPDATE session SET last_used_at = $2, ends_at = $3 WHERE id = $1";
    tx.execute(REPLACED, values![old, now.0]).await?;
    tx.execute(USED, values![session.as_str(), now.0, ends_at.0]).await?;
    insert_refresh(tx, new, session, now).await
}

/// Adds a one-time link.
///
/// # Errors
/// The database can't be written.
pub async fn insert_link(
    tx: &mut Tx,
    hash: SecretHash,
    user: Option<&UserId>,
    now: Instant,
    ends_at: Instant,
) -> Result<(), AppError> {
    const SQL: &str = "INSERT INTO one_time_link (sha256, user_id, made_at, ends_at) VALUES ($1, $2, $3, $4)";
    tx.execute(SQL, values![hash, user.map(UserId::as_str), now.0, ends_at.0]).await?;
    Ok(())
}

/// The one-time link of a hash.
///
/// # Errors
/// The database can't be read.
pub async fn find_link(tx: &mut Tx, hash: SecretHash) -> Result<Option<Link>, AppError> {
    const SQL: &str = "SELECT user_id, ends_at, used_at FROM one_time_link WHERE sha256 = $1";
    let Some(mut row) = tx.row(SQL, values![hash]).await? else { return Ok(None) };
    Ok(Some(Link {
        user: row.optional_id()?,
        ends_at: Instant(row.int()?),
        used_at: row.optional_int()?.map(Instant),
    }))
}

/// Marks the links that say the same as used: those of the account, or all that make an admin.
///
/// # Errors
/// The database can't be written.
pub async fn use_links(tx: &mut Tx, user: Option<&UserId>, now: Instant) -> Result<(), AppError> {
    const OF_USER: &str = "UPDATE one_time_link SET used_at = $2 WHERE user_id = $1 AND used_at IS NULL";
    const FOR_ADMIN: &str = "UPDATE one_time_link SET used_at = $1 WHERE user_id IS NULL AND used_at IS NULL";
    match user {
        Some(user) => tx.execute(OF_USER, values![user.as_str(), now.0]).await?,
        None => tx.execute(FOR_ADMIN, values![now.0]).await?,
    };
    Ok(())
}

/// Selects the columns of [`token`], followed by what is given.
macro_rules! tokens {
    ($rest:literal) => {
        concat!(
            "SELECT id, user_id, name, scopes, made_at, ends_at, last_used_at, revoked_at FROM api_token ",
            $rest
        )
    };
}

fn token(row: &mut Row) -> Result<Token, AppError> {
    Ok(Token {
        id: row.id()?,
        user: row.id()?,
        name: row.text()?,
        scopes: {
            let scopes = row.text()?;
            let scopes = scopes.split_whitespace().map(str::parse);
            scopes.collect::<Result<_, String>>().map_err(AppError::internal)?
        },
        made_at: Instant(row.int()?),
        ends_at: Instant(row.int()?),
        last_used_at: row.optional_int()?.map(Instant),
        revoked_at: row.optional_int()?.map(Instant),
    })
}

/// Adds a token for programs.
///
/// # Errors
/// The database can't be written.
pub async fn insert_token(tx: &mut Tx, hash: SecretHash, token: &Token) -> Result<(), AppError> {
    const SQL: &str = "INSERT INTO api_token (id, user_id, name, sha256, scopes, made_at, ends_at) \
                       VALUES ($1, $2, $3, $4, $5, $6, $7)";
    let scopes: Vec<&str> = token.scopes.iter().map(|scope| scope.as_str()).collect();
    let values = values![
        token.id.as_str(),
        token.user.as_str(),
        token.name.as_str(),
        hash,
        scopes.join(" "),
        token.made_at.0,
        token.ends_at.0
    ];
    tx.execute(SQL, values).await?;
    Ok(())
}

/// The tokens of a person that hold, the newest first.
///
/// # Errors
/// The database can't be read.
pub async fn tokens_of_user(tx: &mut Tx, user: &UserId, now: Instant) -> Result<Vec<Token>, AppError> {
    const SQL: &str =
        tokens!("WHERE user_id = $1 AND revoked_at IS NULL AND ends_at > $2 ORDER BY made_at DESC, id");
    tx.rows(SQL, values![user.as_str(), now.0]).await?.iter_mut().map(token).collect()
}

/// Notes that a token was used.
///
/// # Errors
/// The database can't be written.
pub async fn note_token_used(tx: &mut Tx, id: &TokenId, now: Instant) -> Result<(), AppError> {
    const SQL: &str = "UPDATE api_token SET last_used_at = $2 WHERE id = $1";
    tx.execute(SQL, values![id.as_str(), now.0]).await?;
    Ok(())
}

/// Revokes a token of a person; false where there is none that holds.
///
/// # Errors
/// The database can't be written.
pub async fn revoke_token(tx: &mut Tx, user: &UserId, id: &TokenId, now: Instant) -> Result<bool, AppError> {
    const SQL: &str =
        "UPDATE api_token SET revoked_at = $3 WHERE id = $1 AND user_id = $2 AND revoked_at IS NULL";
    Ok(tx.execute(SQL, values![id.as_str(), user.as_str(), now.0]).await? > 0)
}

/// Revokes all tokens of a person.
///
/// # Errors
/// The database can't be written.
pub async fn revoke_tokens(tx: &mut Tx, user: &UserId, now: Instant) -> Result<(), AppError> {
    const SQL: &str = "UPDATE api_token SET revoked_at = $2 WHERE user_id = $1 AND revoked_at IS NULL";
    tx.execute(SQL, values![user.as_str(), now.0]).await?;
    Ok(())
}
