//! Accounts and what people are to the organisation: who looks, who belongs where.
//!
//! The functions that change something are called in a transaction by who checked that the viewer may, and who writes
//! the audit log in the same transaction.

use std::collections::BTreeSet;

use common::api::Role;
use common::ids::UserId;
use common::instant::Instant;

use super::Services;
use super::checks::Checks;
use crate::error::AppError;
use crate::store::Tx;
use crate::store::accounts::{self as stored, NewAccount};
use crate::store::sessions;

/// The account of a new admin.
#[derive(Clone, Debug)]
pub struct NewAdmin {
    /// Name or e-mail to sign in with.
    pub login: String,
    /// Display name.
    pub name: String,
}

/// Ends all sessions and tokens of an account; the answer is the ids of those that held, whose streams are to end too.
///
/// # Errors
/// `Unavailable`: the database does not answer.
pub(crate) async fn end_all(tx: &mut Tx, user: &UserId, now: Instant) -> Result<Vec<String>, AppError> {
    let held = sessions::of_user(tx, user, now).await?.into_iter().map(|session| session.id.to_string());
    let tokens = sessions::tokens_of_user(tx, user, now).await?.into_iter().map(|token| token.id.to_string());
    sessions::end_all_but(tx, user, None, now).await?;
    sessions::revoke_tokens(tx, user, now).await?;
    Ok(held.chain(tokens).collect())
}

/// Whether a text may be a login: a name or an e-mail address, 1 to 200 visible ASCII characters without spaces.
pub(crate) fn check_login(checks: &mut Checks, field: &str, login: &str) {
    let login = login.trim();
    if login.is_empty() || login.len() > 200 || !login.bytes().all(|byte| byte.is_ascii_graphic()) {
        checks.refuse(
            field,
            "must be a name or an e-mail address: 1 to 200 letters, digits and signs, no spaces",
        );
    }
}

/// Makes an account with the role admin.
///
/// # Errors
/// `Conflict`: the login is taken.
pub(crate) async fn make_admin(
    tx: &mut Tx,
    services: &Services,
    admin: &NewAdmin,
    password_hash: String,
) -> Result<UserId, AppError> {
    let now = services.now();
    let id = UserId::new(services.ids.new_id(now)).map_err(AppError::internal)?;
    let account = NewAccount {
        id: id.clone(),
        login: Some(admin.login.trim().to_lowercase()),
        name: admin.name.trim().to_owned(),
        password_hash: Some(password_hash),
        provider: None,
    };
    stored::insert(tx, now, &account).await?;
    stored::set_roles(tx, &id, &BTreeSet::from([Role::Admin])).await?;
    Ok(id)
}
