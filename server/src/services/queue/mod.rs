//! A team's bids for the people of the team: the queue, each bid with its history, and what can be done to them.
//!
//! Reads combine what is stored with the cycle in force; all amounts are in local credits of the team's pool. Changes
//! hold from the next cycle on and say from which.

mod change;
mod detail;
mod limits;
mod list;
mod place;
mod preview;
mod sealed;
mod terms;
mod view;

pub(in crate::services) use self::list::funds;
pub(in crate::services) use self::place::{Asked, Placed, place_together};
pub(in crate::services) use self::sealed::Looks;
pub(in crate::services) use self::view::status_of;

use std::sync::Arc;

use common::api::TeamName;
use common::ids::TeamId;

use super::Services;
use super::read::latest::Latest;
use crate::error::AppError;
use crate::policy::{Action, Object, Viewer};

impl Services {
    /// The team, loaded for a viewer who may do `action` to it.
    pub(super) fn team_for(
        latest: &Latest,
        viewer: &Viewer,
        action: Action,
        team: &TeamId,
    ) -> Result<TeamName, AppError> {
        let known = latest.team(team).map(|team| (team.name.clone(), team.pool.clone()));
        // A team that is not in the market yet is known to its members.
        let joined = || viewer.teams.get(team).map(|membership| (team.to_string(), membership.pool.clone()));
        let (name, pool) = known.or_else(joined).ok_or_else(|| AppError::not_found("team", team))?;
        viewer.may(Action::ReadBids, Object::Team { team, pool: &pool })?;
        viewer.may(action, Object::Team { team, pool: &pool })?;
        Ok(TeamName { id: team.clone(), name, pool })
    }

    pub(super) async fn latest(&self) -> Result<Arc<Latest>, AppError> {
        self.market().latest().await
    }
}
