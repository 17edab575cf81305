//! What is not used any more: chip types are retired, teams and pools archived. Nothing of it is deleted, for its history
//! and its money stand in the books; it takes nothing new, and leaves the market after its last use.

use common::chips::Chips;
use common::ids::{BidId, ChipTypeId, PoolId, TeamId, UserId};
use serde::Serialize;

use super::Services;
use super::audit::{Deed, Doer, check_reason, record};
use super::bids;
use super::changes::{pool_in, team_in};
use super::organisation::newest_setup;
use super::version::check_version;
use crate::error::{AppError, ErrorKind};
use crate::policy::{Action, Object, Viewer};
use crate::store::entities::{self, ChipType, Pool, Setup, Team};
use crate::store::results::{last_cycle, quotas_in};
use crate::store::{accounts, queue};

/// Teams named at most in one message.
const MOST_NAMES: usize = 5;

/// What still uses a chip type.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ChipTypeUse {
    /// Open bids that name it, paused ones among them.
    pub open_bids: u64,
    /// Chips of it that bids use in the cycle in force, paid or for free.
    pub in_use: Chips,
}

/// What a team leaves with, for the audit log.
#[derive(Serialize)]
struct Archived<'a> {
    team: &'a Team,
    ended_bids: Vec<BidId>,
    removed_members: Vec<UserId>,
}

impl Services {
    /// What still uses a chip type: as long as a live bid names it, it stays on the market when it is retired.
    ///
    /// # Errors
    /// `NotFound`: there is no such chip type. `Forbidden`: the viewer may not read the organisation.
    pub async fn chip_type_use(&self, viewer: &Viewer, id: &ChipTypeId) -> Result<ChipTypeUse, AppError> {
        viewer.may(Action::ReadOrganisation, Object::Organisation)?;
        let mut tx = self.store.read().await?;
        chip_type_in(&newest_setup(&mut tx).await?, id)?;
        let cycle = last_cycle(&mut tx).await?.map_or(0, |last| last.number);
        let quotas = quotas_in(&mut tx, cycle).await?;
        let used = quotas.iter().filter(|quota| quota.chip_type == *id);
        let in_use = Chips(used.map(|quota| quota.used.0 + quota.opportunistic.0).sum());
        Ok(ChipTypeUse { open_bids: queue::count_naming(&mut tx, id).await?, in_use })
    }

    /// Retires a chip type from the next cycle on, or takes it back. A retired type takes no new bids; those that name it
    /// already run on, compete for its chips and are charged as before, until each has ended.
    ///
    /// # Errors
    /// `Forbidden`: the doer may not set the supply. `NotFound`: there is no such chip type. `Invalid`: there is no reason.
    /// `PreconditionFailed`: it was changed since `known`.
    pub async fn retire_chip_type(
        &self,
        doer: Doer<'_>,
        id: &ChipTypeId,
        retired: bool,
        known: Option<&str>,
    ) -> Result<(), AppError> {
        doer.viewer.may(Action::SetSupply, Object::Organisation)?;
        check_reason(doer.reason)?;
        let (now, mut tx) = (self.now(), self.store.write().await?);
        let present = chip_type_in(&newest_setup(&mut tx).await?, id)?;
        check_version(known, &present)?;
        if present.retired == retired {
            return Ok(());
        }
        let chip_type = ChipType { retired, ..present.clone() };
        entities::write(&mut tx, now, &chip_type).await?;
        let action = if retired { "chip_type.retired" } else { "chip_type.taken_back" };
        let deed = Deed::new(action, "chip_type", id).before(&present)?.after(&chip_type)?;
        record(&mut tx, now, doer, deed).await?;
        tx.commit().await
    }

    /// Archives a team, or restores it. With the next cycle an archived team's open bids end, it has no members and its
    /// income is 0; what it used until then is charged to it, and its balance stays. A restored one begins with an income
    /// of 0 and without members.
    ///
    /// # Errors
    /// `Forbidden`: the doer does not administer the team's pool. `NotFound`: there is no such team. `Invalid`: there is no
    /// reason. `Conflict`: it is restored into an archived pool. `PreconditionFailed`: it was changed since `known`.
    pub async fn archive_team(
        &self,
        doer: Doer<'_>,
        id: &TeamId,
        archived: bool,
        known: Option<&str>,
    ) -> Result<(), AppError> {
        let (now, mut tx) = (self.now(), self.store.write().await?);
        let setup = newest_setup(&mut tx).await?;
        let present = team_in(&setup, id)?;
        doer.viewer.may(Action::SetIncome, Object::Team { team: id, pool: &present.pool })?;
        check_reason(doer.reason)?;
        check_version(known, &present)?;
        if present.archived == archived {
            return Ok(());
        }
        let pool = pool_in(&setup, &present.pool)?;
        if pool.archived {
            let message = format!("its pool {} is archived; restore the pool first", pool.name);
            return Err(AppError::new(ErrorKind::Conflict, message));
        }
        let team = Team { archived, income: common::money::MicroCredits::ZERO, ..present.clone() };
        let mut deed = Archived { team: &team, ended_bids: Vec::new(), removed_members: Vec::new() };
        if archived {
            for (bid, _) in queue::names(&mut tx, id).await? {
                bids::cancel(&mut tx, now, &bid).await?;
                deed.ended_bids.push(bid);
            }
            for member in accounts::members(&mut tx, id).await? {
                accounts::remove_member(&mut tx, &member.user, id).await?;
                deed.removed_members.push(member.user);
            }
        }
        entities::write(&mut tx, now, &team).await?;
        let action = if archived { "team.archived" } else { "team.restored" };
        record(&mut tx, now, doer, Deed::new(action, "team", id).before(&present)?.after(&deed)?).await?;
        tx.commit().await
    }

    /// Archives a pool, or restores it. It must have no team in use and own no chips.
    ///
    /// # Errors
    /// `Forbidden`: the doer is no admin. `NotFound`: there is no such pool. `Conflict`: it is in use; the message says by
    /// what. `Invalid`: there is no reason. `PreconditionFailed`: it was changed since `known`.
    pub async fn archive_pool(
        &self,
        doer: Doer<'_>,
        id: &PoolId,
        archived: bool,
        known: Option<&str>,
    ) -> Result<(), AppError> {
        doer.viewer.may(Action::SetOrganisation, Object::Organisation)?;
        check_reason(doer.reason)?;
        let (now, mut tx) = (self.now(), self.store.write().await?);
        let setup = newest_setup(&mut tx).await?;
        let present = pool_in(&setup, id)?;
        check_version(known, &present)?;
        if present.archived == archived {
            return Ok(());
        }
        if archived {
            refuse_pool_in_use(&setup, &present)?;
        }
        let pool = Pool { archived, ..present.clone() };
        entities::write(&mut tx, now, &pool).await?;
        let action = if archived { "pool.archived" } else { "pool.restored" };
        record(&mut tx, now, doer, Deed::new(action, "pool", id).before(&present)?.after(&pool)?).await?;
        tx.commit().await
    }
}

fn chip_type_in(setup: &Setup, id: &ChipTypeId) -> Result<ChipType, AppError> {
    let found = setup.chip_types.iter().find(|chip_type| chip_type.id == *id);
    found.cloned().ok_or_else(|| AppError::not_found("chip type", id))
}

/// Says what a pool is used for: its teams, and the chips it owns.
fn refuse_pool_in_use(setup: &Setup, pool: &Pool) -> Result<(), AppError> {
    let teams: Vec<&str> = setup
        .teams
        .iter()
        .filter(|team| team.pool == pool.id && !team.archived)
        .map(|team| team.name.as_str())
        .collect();
    let owned: Vec<String> = setup
        .owned
        .iter()
        .filter(|owned| owned.pool == pool.id && owned.chips.0 > 0)
        .map(|owned| format!("{} {}", owned.chips, owned.chip_type))
        .collect();
    let mut parts = Vec::new();
    if !teams.is_empty() {
        let more = if teams.len() > MOST_NAMES { " and others" } else { "" };
        let names = teams.iter().take(MOST_NAMES).copied().collect::<Vec<_>>().join(", ");
        parts.push(format!("has teams in use ({names}{more}); archive them first"));
    }
    if !owned.is_empty() {
        parts.push(format!("owns chips ({}); set them to 0 first", owned.join(", ")));
    }
    if parts.is_empty() {
        return Ok(());
    }
    let message = format!("the pool {} {}", pool.name, parts.join(", and "));
    Err(AppError::new(ErrorKind::Conflict, message))
}

/// Refuses to change a team that is archived.
pub(super) fn refuse_archived(team: &Team) -> Result<(), AppError> {
    if team.archived {
        let message = format!("the team {} is archived; restore it first", team.name);
        return Err(AppError::new(ErrorKind::Conflict, message));
    }
    Ok(())
}
