//! Accounts, and what people are to the organisation, to teams and to pools. Rows of ordinary tables: they change, and
//! the audit log tells how.

use std::collections::{BTreeMap, BTreeSet};

use common::api::Role;
use common::ids::{PoolId, TeamId, UserId};
use common::instant::Instant;

use super::db::{Row, Tx, Value, values};
use crate::error::AppError;
use crate::policy::Membership;

/// An account.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Account {
    /// Its id.
    pub id: UserId,
    /// Name or e-mail to sign in with, in lower case; none for those who come from a provider only.
    pub login: Option<String>,
    /// Display name.
    pub name: String,
    /// It has a password.
    pub has_password: bool,
    /// Who the person is to an OpenID provider: issuer and subject.
    pub provider: Option<(String, String)>,
    /// When it was made.
    pub made_at: Instant,
    /// Since when nobody can use it.
    pub disabled_at: Option<Instant>,
}

/// What a person is to the organisation at this moment.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Standing {
    /// Roles in the organisation.
    pub roles: BTreeSet<Role>,
    /// Teams the person is a member of.
    pub teams: BTreeMap<TeamId, Membership>,
    /// Pools the person administers.
    pub pools: BTreeSet<PoolId>,
}

/// A new account.
#[derive(Clone, Debug)]
pub struct NewAccount {
    /// Its id.
    pub id: UserId,
    /// As [`Account::login`].
    pub login: Option<String>,
    /// Display name.
    pub name: String,
    /// The password's hash, as a PHC string.
    pub password_hash: Option<String>,
    /// As [`Account::provider`].
    pub provider: Option<(String, String)>,
}

/// A member of a team.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Member {
    /// The account.
    pub user: UserId,
    /// Display name.
    pub name: String,
    /// Sets the team's leverage and members.
    pub leads: bool,
}

/// Selects the columns of [`account`], followed by what is given.
macro_rules! accounts {
    ($rest:literal) => {
        concat!(
            "SELECT id, login, name, CAST(CASE WHEN password_hash IS NULL THEN 0 ELSE 1 END AS BIGINT), issuer, subject, made_at, disabled_at FROM user_account ",
            $rest
        )
    };
}

fn account(row: &mut Row) -> Result<Account, AppError> {
    Ok(Account {
        id: row.id()?,
        login: row.optional_text()?,
        name: row.text()?,
        has_password: row.flag()?,
        provider: row.optional_text()?.zip(row.optional_text()?),
        made_at: Instant(row.int()?),
        disabled_at: row.optional_int()?.map(Instant),
    })
}

/// Adds an account.
///
/// # Errors
/// `Conflict`: its login or its provider's subject is taken.
pub async fn insert(tx: &mut Tx, now: Instant, new: &NewAccount) -> Result<(), AppError> {
    const SQL: &str = "INSERT INTO user_account (id, login, name, password_hash, issuer, subject, made_at) \
                       VALUES ($1, $2, $3, $4, $5, $6, $7)";
    let (issuer, subject) = new.provider.clone().unzip();
    let values = values![
        new.id.as_str(),
        new.login.as_deref(),
        new.name.as_str(),
        new.password_hash.as_deref(),
        issuer.as_deref(),
        subject.as_deref(),
        now.0
    ];
    tx.execute(SQL, values).await?;
    Ok(())
}

/// The account of an id.
///
/// # Errors
/// The database can't be read.
pub async fn find(tx: &mut Tx, user: &UserId) -> Result<Option<Account>, AppError> {
    const SQL: &str = accounts!("WHERE id = $1");
    tx.row(SQL, values![user.as_str()]).await?.as_mut().map(account).transpose()
}

/// The account of a person at a provider.
///
/// # Errors
/// The database can't be read.
pub async fn find_at_provider(tx: &mut Tx, issuer: &str, subject: &str) -> Result<Option<Account>, AppError> {
    const SQL: &str = accounts!("WHERE issuer = $1 AND subject = $2");
    tx.row(SQL, values![issuer, subject]).await?.as_mut().map(account).transpose()
}

/// The account of a login, with its password's hash.
///
/// # Errors
/// The database can't be read.
pub async fn find_login(tx: &mut Tx, login: &str) -> Result<Option<(Account, Option<String>)>, AppError> {
    const SQL: &str = accounts!("WHERE login = $1");
    let Some(mut row) = tx.row(SQL, values![login]).await? else { return Ok(None) };
    let account = account(&mut row)?;
    let hash = password_hash(tx, &account.id).await?;
    Ok(Some((account, hash)))
}

/// The hash of an account's password.
///
/// # Errors
/// The database can't be read.
pub async fn password_hash(tx: &mut Tx, user: &UserId) -> Result<Option<String>, AppError> {
    const SQL: &str = "SELECT password_hash FROM user_account WHERE id = $1";
    match tx.row(SQL, values![user.as_str()]).await? {
        Some(mut row) => row.optional_text(),
        None => Ok(None),
    }
}

/// At most `limit` accounts in order of their names, behind one of them; from the first on without.
///
/// # Errors
/// The database can't be read.
pub async fn after(tx: &mut Tx, after: Option<&UserId>, limit: u32) -> Result<Vec<Account>, AppError> {
    const FIRST: &str = accounts!("ORDER BY name, id LIMIT $1");
    const NEXT: &str = accounts!(
        "WHERE (name, id) > (SELECT name, id FROM user_account WHERE id = $1) ORDER BY name, id LIMIT $2"
    );
    let mut rows = match after {
        None => tx.rows(FIRST, values![limit]).await?,
        Some(after) => tx.rows(NEXT, values![after.as_str(), limit]).await?,
    };
    rows.iter_mut().map(account).collect()
}

/// Whether there is any account.
///
/// # Errors
/// The database can't be read.
pub async fn any(tx: &mut Tx) -> Result<bool, AppError> {
    Ok(tx.row("SELECT 1 FROM user_account LIMIT 1", []).await?.is_some())
}

/// Sets an account's password.
///
/// # Errors
/// The database can't be written.
pub async fn set_password(tx: &mut Tx, user: &UserId, hash: &str) -> Result<(), AppError> {
    const SQL: &str = "UPDATE user_account SET password_hash = $2 WHERE id = $1";
    tx.execute(SQL, values![user.as_str(), hash]).await?;
    Ok(())
}

/// Sets an account's display name.
///
/// # Errors
/// The database can't be written.
pub async fn set_name(tx: &mut Tx, user: &UserId, name: &str) -> Result<(), AppError> {
    const SQL: &str = "UPDATE user_account SET name = $2 WHERE id = $1";
    tx.execute(SQL, values![user.as_str(), name]).await?;
    Ok(())
}

/// Says from when on nobody can use an account, or that it can be used again.
///
/// # Errors
/// The database can't be written.
pub async fn set_disabled(tx: &mut Tx, user: &UserId, since: Option<Instant>) -> Result<(), AppError> {
    const SQL: &str = "UPDATE user_account SET disabled_at = $2 WHERE id = $1";
    tx.execute(SQL, values![user.as_str(), since.map(|since| since.0)]).await?;
    Ok(())
}

/// Sets the roles of a person in the organisation to exactly these.
///
/// # Errors
/// The database can't be written.
pub async fn set_roles(tx: &mut Tx, user: &UserId, roles: &BTreeSet<Role>) -> Result<(), AppError> {
    tx.execute("DELETE FROM user_role WHERE user_id = $1", values![user.as_str()]).await?;
    let rows = roles.iter().map(|role| values![user.as_str(), role.as_str()]).collect();
    tx.insert("INSERT INTO user_role (user_id, role)", rows).await
}

/// Sets the pools that a person administers to exactly these.
///
/// # Errors
/// The database can't be written.
pub async fn set_pools(tx: &mut Tx, user: &UserId, pools: &BTreeSet<PoolId>) -> Result<(), AppError> {
    tx.execute("DELETE FROM pool_admin WHERE user_id = $1", values![user.as_str()]).await?;
    let rows = pools.iter().map(|pool| values![user.as_str(), pool.as_str()]).collect();
    tx.insert("INSERT INTO pool_admin (user_id, pool)", rows).await
}

/// Puts a person into a team, or changes whether a member leads it.
///
/// # Errors
/// The database can't be written.
pub async fn put_member(tx: &mut Tx, user: &UserId, team: &TeamId, leads: bool) -> Result<(), AppError> {
    const SQL: &str = "INSERT INTO team_member (user_id, team, leads) VALUES ($1, $2, $3) \
                       ON CONFLICT (user_id, team) DO UPDATE SET leads = excluded.leads";
    tx.execute(SQL, values![user.as_str(), team.as_str(), leads]).await?;
    Ok(())
}

/// Takes a person out of a team; false where the person was no member.
///
/// # Errors
/// The database can't be written.
pub async fn remove_member(tx: &mut Tx, user: &UserId, team: &TeamId) -> Result<bool, AppError> {
    const SQL: &str = "DELETE FROM team_member WHERE user_id = $1 AND team = $2";
    Ok(tx.execute(SQL, values![user.as_str(), team.as_str()]).await? > 0)
}

/// The members of a team, in order of their names.
///
/// # Errors
/// The database can't be read.
pub async fn members(tx: &mut Tx, team: &TeamId) -> Result<Vec<Member>, AppError> {
    const SQL: &str = "SELECT id, name, leads FROM team_member JOIN user_account ON id = user_id \
                       WHERE team = $1 ORDER BY name, id";
    let member = |row: &mut Row| Ok(Member { user: row.id()?, name: row.text()?, leads: row.flag()? });
    tx.rows(SQL, values![team.as_str()]).await?.iter_mut().map(member).collect()
}

/// Who administers pools: accounts by pool, in order of their names.
///
/// # Errors
/// The database can't be read.
pub async fn pool_admins(tx: &mut Tx) -> Result<BTreeMap<PoolId, Vec<Account>>, AppError> {
    const SQL: &str =
        "SELECT pool, user_id FROM pool_admin JOIN user_account ON id = user_id ORDER BY pool, name, id";
    let mut pools: BTreeMap<PoolId, Vec<Account>> = BTreeMap::new();
    for row in &mut tx.rows(SQL, []).await? {
        let (pool, user) = (row.id()?, row.id()?);
        pools.entry(pool).or_default().extend(find(tx, &user).await?);
    }
    Ok(pools)
}

/// How many accounts that can be used have a role.
///
/// # Errors
/// The database can't be read.
pub async fn count_with_role(tx: &mut Tx, role: Role) -> Result<u64, AppError> {
    const SQL: &str = "SELECT COUNT(*) FROM user_role JOIN user_account ON id = user_id \
                       WHERE role = $1 AND disabled_at IS NULL";
    match tx.row(SQL, values![role.as_str()]).await? {
        Some(mut row) => row.unsigned(),
        None => Ok(0),
    }
}

/// A secret that the server keeps for itself; the first one written stays.
///
/// # Errors
/// The database can't be written.
pub async fn server_secret(tx: &mut Tx, name: &str, fresh: Vec<u8>) -> Result<Vec<u8>, AppError> {
    const INSERT: &str =
        "INSERT INTO server_secret (name, value) VALUES ($1, $2) ON CONFLICT (name) DO NOTHING";
    tx.execute(INSERT, [Value::from(name), Value::from(fresh)]).await?;
    let row = tx.row("SELECT value FROM server_secret WHERE name = $1", values![name]).await?;
    row.ok_or_else(|| AppError::internal("a secret that was just written is not there"))?.bytes()
}
