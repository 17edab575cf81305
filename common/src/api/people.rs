//! People: who they are to the organisation, and what the pages say about the one who looks.

use serde::{Deserialize, Serialize};

use crate::ids::{PoolId, SessionId, TeamId, TokenId, UserId};
use crate::instant::Instant;

/// What a person is to the whole organisation. What somebody is to a team or a pool is a membership, not a role.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(rename_all = "snake_case")]
pub enum Role {
    /// Adjusts supply, weights, users and settings.
    Admin,
    /// Reads all money; books corrections, closes periods.
    Finance,
    /// Reads everything, changes nothing.
    Auditor,
}

impl Role {
    /// All roles.
    pub const ALL: [Self; 3] = [Self::Admin, Self::Finance, Self::Auditor];

    /// The role as it stands in JSON and in the store.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Admin => "admin",
            Self::Finance => "finance",
            Self::Auditor => "auditor",
        }
    }
}

impl std::str::FromStr for Role {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        Self::ALL
            .into_iter()
            .find(|role| role.as_str() == text)
            .ok_or_else(|| format!("{text:?} is not a role; use admin, finance or auditor"))
    }
}

/// Who is signed in, for the frame around every page.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct ViewerView {
    /// The account.
    pub user: UserId,
    /// Display name.
    pub name: String,
    /// Roles in the organisation, in order.
    pub roles: Vec<Role>,
    /// Teams the person is a member of, in order of their ids.
    pub teams: Vec<ViewerTeam>,
    /// Pools the person administers, in order of their ids.
    pub pools: Vec<PoolId>,
}

/// A team of the viewer.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct ViewerTeam {
    /// The team.
    pub id: TeamId,
    /// Its display name.
    pub name: String,
    /// Its pool.
    pub pool: PoolId,
    /// The viewer leads it: sets its leverage and its members.
    pub leads: bool,
}

/// Who asks, for programs.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct IdentityView {
    /// The person, as of this moment.
    pub viewer: ViewerView,
    /// What the token that asks may do, where the person may; absent for a session of a browser, which has no limit of
    /// its own.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub scopes: Option<Vec<String>>,
}

/// A sign-in on one device.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct SessionView {
    /// Its id.
    pub id: SessionId,
    /// The browser, in a few words.
    pub browser: String,
    /// Where it began.
    pub address: String,
    /// When it began.
    pub made_at: Instant,
    /// When it was last renewed; a session in use is renewed every 15 minutes.
    pub last_used_at: Instant,
    /// When it ends, unless it is used before.
    pub ends_at: Instant,
    /// It is the one that asks.
    pub current: bool,
}

/// A token for programs.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct TokenView {
    /// Its id; the secret is another text.
    pub id: TokenId,
    /// What it is for.
    pub name: String,
    /// What it may do, where its owner may: `read`, `bids`, `money`, `admin`.
    pub scopes: Vec<String>,
    /// When it was made.
    pub made_at: Instant,
    /// When it ends.
    pub ends_at: Instant,
    /// When it was last used, to five minutes.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub last_used_at: Option<Instant>,
}

/// A token to be made.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(deny_unknown_fields)]
pub struct MakeToken {
    /// What it is for.
    pub name: String,
    /// What it may do, where its owner may: `read`, `bids`, `money`, `admin`.
    pub scopes: Vec<String>,
    /// Days until it ends, 1 to 366.
    pub days: u32,
}

/// A token that was just made.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct MadeToken {
    /// What it is.
    pub token: TokenView,
    /// The text to send as `Authorization: Bearer …`; shown this once and kept nowhere.
    pub secret: String,
}
