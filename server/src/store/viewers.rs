//! Who asks, and what that person is to the organisation, to teams and to pools: read with each request, so in one statement
//! together with the session or token that says who it is.

use std::collections::BTreeSet;

use common::ids::{SessionId, TokenId, UserId};
use common::instant::Instant;

use super::accounts::Standing;
use super::db::{Row, Tx, Value, values};
use super::sessions::SecretHash;
use crate::error::AppError;
use crate::policy::{Membership, Scope, Via, Viewer};

/// Selects what a person is to the organisation, given the person's id as an expression: rows of a kind, two texts and a
/// number, as [`Found::add`] reads them. One statement, as this is read with each request. A team stays in its pool, so any
/// of its versions names it.
macro_rules! standing {
    ($user:literal, $rest:literal) => {
        concat!(
            "SELECT CAST(0 AS BIGINT) AS kind, role AS first, NULL AS second, 0 AS number FROM user_role WHERE user_id = ",
            $user,
            " UNION ALL SELECT 1, team, (SELECT pool FROM team_version WHERE id = team AND version = \
             (SELECT MAX(version) FROM team_version WHERE id = team)), leads FROM team_member WHERE user_id = ",
            $user,
            " UNION ALL SELECT 2, pool, NULL, 0 FROM pool_admin WHERE user_id = ",
            $user,
            " UNION ALL SELECT 3, id, name, 0 FROM user_account WHERE disabled_at IS NULL AND id = ",
            $user,
            $rest
        )
    };
}

/// A person as rows of [`standing`] tell.
#[derive(Default)]
struct Found {
    /// Id and display name; none where there is no such account or nobody can use it.
    account: Option<(UserId, String)>,
    standing: Standing,
    /// Id, scopes and last use of the token by which the person was looked up.
    token: Option<(TokenId, BTreeSet<Scope>, Option<Instant>)>,
}

impl Found {
    async fn load<const VALUES: usize>(
        tx: &mut Tx,
        sql: &'static str,
        values: [Value; VALUES],
    ) -> Result<Self, AppError> {
        let mut found = Self::default();
        for row in &mut tx.rows(sql, values).await? {
            found.add(row)?;
        }
        Ok(found)
    }

    fn add(&mut self, row: &mut Row) -> Result<(), AppError> {
        let (kind, first, second) = (row.int()?, row.text()?, row.optional_text()?);
        let number = row.optional_int()?;
        match (kind, second) {
            (0, _) => {
                self.standing.roles.insert(first.parse().map_err(|error: String| AppError::internal(error))?);
            }
            (1, Some(pool)) => {
                let member = Membership { pool: id(&pool)?, leads: number != Some(0) };
                self.standing.teams.insert(id(&first)?, member);
            }
            // A member of a team that never was has nothing by that.
            (1, None) => {}
            (2, _) => {
                self.standing.pools.insert(id(&first)?);
            }
            (3, name) => self.account = Some((id(&first)?, name.unwrap_or_default())),
            (_, scopes) => {
                let scopes = scopes.unwrap_or_default();
                let scopes = scopes.split_whitespace().map(str::parse).collect::<Result<_, String>>();
                self.token = Some((id(&first)?, scopes.map_err(AppError::internal)?, number.map(Instant)));
            }
        }
        Ok(())
    }

    fn viewer(self, via: Via) -> Option<Viewer> {
        let Standing { roles, teams, pools } = self.standing;
        self.account.map(|(user, name)| Viewer { user, name, roles, teams, pools, via })
    }
}

fn id<T: std::str::FromStr<Err = common::ids::IdError>>(text: &str) -> Result<T, AppError> {
    text.parse().map_err(AppError::internal)
}

/// What a person is to the organisation.
///
/// # Errors
/// The database can't be read.
pub async fn standing(tx: &mut Tx, user: &UserId) -> Result<Standing, AppError> {
    const SQL: &str = standing!("$1", "");
    Ok(Found::load(tx, SQL, values![user.as_str()]).await?.standing)
}

/// Who an account is at this moment; none where it does not exist or can't be used.
///
/// # Errors
/// The database can't be read.
pub async fn viewer(tx: &mut Tx, user: &UserId, via: Via) -> Result<Option<Viewer>, AppError> {
    const SQL: &str = standing!("$1", "");
    Ok(Found::load(tx, SQL, values![user.as_str()]).await?.viewer(via))
}

/// Who the owner of a session is at an instant; none where the session is over or the account can't be used.
///
/// # Errors
/// The database can't be read.
pub async fn viewer_of_session(
    tx: &mut Tx,
    user: &UserId,
    session: SessionId,
    now: Instant,
) -> Result<Option<Viewer>, AppError> {
    const SQL: &str = standing!(
        "$1",
        " AND EXISTS (SELECT 1 FROM session WHERE id = $2 AND user_id = $1 AND ended_at IS NULL AND ends_at > $3)"
    );
    let found = Found::load(tx, SQL, values![user.as_str(), session.as_str(), now.0]).await?;
    Ok(found.viewer(Via::Session(session)))
}

/// Who made a token, with the token's scopes, and when it was last used, to a few minutes; none where it is over at an instant
/// or the account can't be used.
///
/// # Errors
/// The database can't be read.
pub async fn viewer_of_token(
    tx: &mut Tx,
    token: SecretHash,
    now: Instant,
) -> Result<Option<(Viewer, Option<Instant>)>, AppError> {
    const SQL: &str = standing!(
        "(SELECT user_id FROM api_token WHERE sha256 = $1)",
        " UNION ALL SELECT 4, id, scopes, last_used_at FROM api_token \
         WHERE sha256 = $1 AND revoked_at IS NULL AND ends_at > $2"
    );
    let mut found = Found::load(tx, SQL, values![token, now.0]).await?;
    let Some((id, scopes, last_used_at)) = found.token.take() else { return Ok(None) };
    Ok(found.viewer(Via::Token { id, scopes }).map(|viewer| (viewer, last_used_at)))
}
