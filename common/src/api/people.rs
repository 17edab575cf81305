//! People: who they are to the organisation, and what the pages say about the one who looks.

use serde::{Deserialize, Serialize};

use crate::ids::{PoolId, TeamId, UserId};

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
