//! Sign-in by an identity provider: answers that were used, links between accounts and people at the provider, and what
//! tells the provider at the end who signs out.

use common::ids::{PoolId, SessionId, TeamId, UserId};
use common::instant::Instant;

use super::db::{Tx, values};
use super::sessions::SecretHash;
use crate::error::AppError;

/// Notes that a sign-in was finished; false where it was before. `ends_at` is when it would be over anyway.
///
/// # Errors
/// The database can't be written.
pub async fn spend(tx: &mut Tx, mark: SecretHash, ends_at: Instant, now: Instant) -> Result<bool, AppError> {
    const FORGET: &str = "DELETE FROM spent_sign_in WHERE ends_at <= $1";
    const SPEND: &str =
        "INSERT INTO spent_sign_in (mark, ends_at) VALUES ($1, $2) ON CONFLICT (mark) DO NOTHING";
    tx.execute(FORGET, values![now.0]).await?;
    Ok(tx.execute(SPEND, values![mark, ends_at.0]).await? > 0)
}

/// Keeps a form until its owner is back from the provider; what is too old goes.
///
/// # Errors
/// The database can't be written.
pub async fn keep_form(
    tx: &mut Tx,
    mark: SecretHash,
    ends_at: Instant,
    now: Instant,
    form: &str,
) -> Result<(), AppError> {
    const FORGET: &str = "DELETE FROM kept_form WHERE ends_at <= $1";
    const KEEP: &str = "INSERT INTO kept_form (mark, ends_at, form) VALUES ($1, $2, $3)";
    tx.execute(FORGET, values![now.0]).await?;
    tx.execute(KEEP, values![mark, ends_at.0, form]).await?;
    Ok(())
}

/// Takes a kept form out; none where none was kept.
///
/// # Errors
/// The database can't be written.
pub async fn take_form(tx: &mut Tx, mark: SecretHash) -> Result<Option<String>, AppError> {
    const SQL: &str = "DELETE FROM kept_form WHERE mark = $1 RETURNING form";
    tx.row(SQL, values![mark]).await?.map(|mut row| row.text()).transpose()
}

/// Says who an account's owner is to the provider; without, that it is nobody there.
///
/// # Errors
/// `Conflict`: another account is that person's.
pub async fn set_provider(tx: &mut Tx, user: &UserId, person: Option<(&str, &str)>) -> Result<(), AppError> {
    const SQL: &str = "UPDATE user_account SET issuer = $2, subject = $3 WHERE id = $1";
    let (issuer, subject) = person.unzip();
    tx.execute(SQL, values![user.as_str(), issuer, subject]).await?;
    Ok(())
}

/// Keeps the id token that a session began with.
///
/// # Errors
/// The database can't be written.
pub async fn keep_id_token(tx: &mut Tx, session: &SessionId, id_token: &str) -> Result<(), AppError> {
    const SQL: &str = "INSERT INTO provider_session (session_id, id_token) VALUES ($1, $2)";
    tx.execute(SQL, values![session.as_str(), id_token]).await?;
    Ok(())
}

/// The id token that a session began with; none where it began by a password.
///
/// # Errors
/// The database can't be read.
pub async fn id_token(tx: &mut Tx, session: &SessionId) -> Result<Option<String>, AppError> {
    const SQL: &str = "SELECT id_token FROM provider_session WHERE session_id = $1";
    tx.row(SQL, values![session.as_str()]).await?.map(|mut row| row.text()).transpose()
}

/// Whether there is a team of an id that is not archived.
///
/// # Errors
/// The database can't be read.
pub async fn has_team(tx: &mut Tx, team: &TeamId) -> Result<bool, AppError> {
    Ok(super::bids::is_team_archived(tx, team).await? == Some(false))
}

/// Whether there is, or ever was, a pool of an id.
///
/// # Errors
/// The database can't be read.
pub async fn has_pool(tx: &mut Tx, pool: &PoolId) -> Result<bool, AppError> {
    const SQL: &str = "SELECT 1 FROM pool_version WHERE id = $1 LIMIT 1";
    Ok(tx.row(SQL, values![pool.as_str()]).await?.is_some())
}
