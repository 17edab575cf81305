//! Whose rows a reader gets: the same that the reader may see on the pages.

use std::collections::BTreeSet;

use common::ids::TeamId;
use serde::{Deserialize, Serialize};

use crate::policy::{Action, Object, Viewer};
use crate::store::entities::Team;

/// The teams whose money a reader may see.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Scope {
    /// All, and the accounts of pools.
    Everything,
    /// These.
    Teams(BTreeSet<TeamId>),
}

impl Scope {
    /// What a viewer may see of all teams.
    pub(super) fn of(viewer: &Viewer, teams: &[Team]) -> Self {
        if viewer.can(Action::ReadMoney, Object::Organisation) {
            return Self::Everything;
        }
        let may_read =
            |team: &&Team| viewer.can(Action::ReadBudget, Object::Team { team: &team.id, pool: &team.pool });
        Self::Teams(teams.iter().filter(may_read).map(|team| team.id.clone()).collect())
    }

    /// Whether it has the money of a team.
    pub(super) fn has(&self, team: &TeamId) -> bool {
        match self {
            Self::Everything => true,
            Self::Teams(teams) => teams.contains(team),
        }
    }

    /// Whether it has all that another one has.
    pub(in crate::services) fn covers(&self, other: &Self) -> bool {
        match (self, other) {
            (Self::Everything, _) => true,
            (Self::Teams(_), Self::Everything) => false,
            (Self::Teams(mine), Self::Teams(others)) => others.is_subset(mine),
        }
    }
}
