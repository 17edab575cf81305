//! Changes of the organisation by people: settings, pools, teams, leverage. Each has a reason, is made from the newest
//! version, takes effect in the next cycle and stands in the audit log.

use common::ids::{PoolId, TeamId};
use common::money::MicroCredits;
use market::accounting::rebased;

use super::Services;
use super::audit::{Deed, Doer, check_reason, record};
use super::organisation::{change_settings, newest_setup, put_pool, put_team};
use super::retirement::refuse_archived;
use super::version::check_version;
use crate::error::AppError;
use crate::policy::{Action, Object, Viewer};
use crate::store::entities::{Organisation, Pool, Setup, Team};
use crate::store::results::last_cycle;
use crate::store::{Tx, budget};

/// What a new income does to the money of a pool, before anybody confirms it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct IncomeEffect {
    /// Income of all teams of the pool, now.
    pub total_before: MicroCredits,
    /// And with the change.
    pub total_after: MicroCredits,
    /// Balances follow; off by a setting of the organisation.
    pub rebases: bool,
    /// Each team of the pool with its balance and what it will be.
    pub balances: Vec<(TeamId, MicroCredits, MicroCredits)>,
    /// The cycle in which it happens.
    pub cycle: u64,
}

impl Services {
    /// The organisation as it is set, what waits for the next cycle included, and the number of that cycle.
    ///
    /// # Errors
    /// `NotFound`: there is no organisation yet. `Forbidden`: the viewer may not read it.
    pub async fn setup(&self, viewer: &Viewer) -> Result<(Setup, u64), AppError> {
        viewer.may(Action::ReadOrganisation, Object::Organisation)?;
        let mut tx = self.store.read().await?;
        let setup = newest_setup(&mut tx).await?;
        Ok((setup, next_cycle(&mut tx).await?))
    }

    /// The cycle in which what is written now takes effect.
    ///
    /// # Errors
    /// `Unavailable`: the database does not answer.
    pub async fn next_cycle(&self) -> Result<u64, AppError> {
        next_cycle(&mut self.store.read().await?).await
    }

    /// Changes the organisation's name and the market's settings.
    ///
    /// # Errors
    /// `Forbidden`: the doer is no admin. `Invalid`: a setting is out of its range, or there is no reason.
    /// `PreconditionFailed`: they were changed since `known`.
    pub async fn set_settings(
        &self,
        doer: Doer<'_>,
        settings: &Organisation,
        known: Option<&str>,
    ) -> Result<(), AppError> {
        doer.viewer.may(Action::SetOrganisation, Object::Organisation)?;
        check_reason(doer.reason)?;
        let (now, mut tx) = (self.now(), self.store.write().await?);
        let present = newest_setup(&mut tx).await?.organisation;
        check_version(known, &present)?;
        change_settings(&mut tx, now, settings).await?;
        let deed = Deed::new("settings.changed", "organisation", "organisation");
        record(&mut tx, now, doer, deed.before(&present)?.after(settings)?).await?;
        tx.commit().await
    }

    /// Adds a pool.
    ///
    /// # Errors
    /// `Forbidden`: the doer is no admin. `Invalid`: a field is out of its range, the id is taken, or there is no reason.
    pub async fn add_pool(&self, doer: Doer<'_>, pool: &Pool) -> Result<(), AppError> {
        doer.viewer.may(Action::SetOrganisation, Object::Organisation)?;
        check_reason(doer.reason)?;
        let (now, mut tx) = (self.now(), self.store.write().await?);
        if newest_setup(&mut tx).await?.pools.iter().any(|known| known.id == pool.id) {
            return Err(taken("pool", pool.id.as_str()));
        }
        put_pool(&mut tx, now, pool).await?;
        record(&mut tx, now, doer, Deed::new("pool.added", "pool", &pool.id).after(pool)?).await?;
        tx.commit().await
    }

    /// Changes a pool's name, weight or lending.
    ///
    /// # Errors
    /// `Forbidden`: the doer is no admin. `NotFound`: there is no such pool. `Invalid`: a field is out of its range, or
    /// there is no reason. `PreconditionFailed`: it was changed since `known`.
    pub async fn set_pool(&self, doer: Doer<'_>, pool: &Pool, known: Option<&str>) -> Result<(), AppError> {
        doer.viewer.may(Action::SetOrganisation, Object::Organisation)?;
        check_reason(doer.reason)?;
        let (now, mut tx) = (self.now(), self.store.write().await?);
        let present = pool_in(&newest_setup(&mut tx).await?, &pool.id)?;
        check_version(known, &present)?;
        let pool = &Pool { archived: present.archived, ..pool.clone() };
        put_pool(&mut tx, now, pool).await?;
        let deed = Deed::new("pool.changed", "pool", &pool.id).before(&present)?.after(pool)?;
        record(&mut tx, now, doer, deed).await?;
        tx.commit().await
    }

    /// Adds a team to a pool.
    ///
    /// # Errors
    /// `Forbidden`: the doer does not administer the pool. `NotFound`: there is no such pool. `Invalid`: a field is out of
    /// its range, the id is taken, or there is no reason.
    pub async fn add_team(&self, doer: Doer<'_>, team: &Team) -> Result<(), AppError> {
        doer.viewer.may(Action::SetIncome, Object::Pool(&team.pool))?;
        check_reason(doer.reason)?;
        let (now, mut tx) = (self.now(), self.store.write().await?);
        let setup = newest_setup(&mut tx).await?;
        if pool_in(&setup, &team.pool)?.archived {
            let detail = format!("the pool {} is archived; restore it, or choose another", team.pool);
            return Err(AppError::invalid("pool", detail));
        }
        if setup.teams.iter().any(|known| known.id == team.id) {
            return Err(taken("team", team.id.as_str()));
        }
        put_team(&mut tx, now, team).await?;
        record(&mut tx, now, doer, Deed::new("team.added", "team", &team.id).after(team)?).await?;
        tx.commit().await
    }

    /// Changes a team's name and income.
    ///
    /// # Errors
    /// `Forbidden`: the doer does not administer the team's pool. `NotFound`: there is no such team. `Invalid`: a field is
    /// out of its range, or there is no reason. `PreconditionFailed`: it was changed since `known`.
    pub async fn set_team(
        &self,
        doer: Doer<'_>,
        id: &TeamId,
        (name, income): (&str, MicroCredits),
        known: Option<&str>,
    ) -> Result<(), AppError> {
        self.change_team(doer, Action::SetIncome, "team.changed", id, known, |team| {
            (team.name, team.income) = (name.to_owned(), income);
        })
        .await
    }

    /// Sets a team's income leverage in thousandths.
    ///
    /// # Errors
    /// As [`Services::set_team`]; leads of the team may.
    pub async fn set_leverage(
        &self,
        doer: Doer<'_>,
        id: &TeamId,
        leverage_thousandths: u32,
        known: Option<&str>,
    ) -> Result<(), AppError> {
        self.change_team(doer, Action::SetLeverage, "team.leverage_set", id, known, |team| {
            team.leverage_thousandths = leverage_thousandths;
        })
        .await
    }

    async fn change_team(
        &self,
        doer: Doer<'_>,
        action: Action,
        deed: &'static str,
        id: &TeamId,
        known: Option<&str>,
        change: impl FnOnce(&mut Team) + Send,
    ) -> Result<(), AppError> {
        let (now, mut tx) = (self.now(), self.store.write().await?);
        let present = team_in(&newest_setup(&mut tx).await?, id)?;
        doer.viewer.may(action, Object::Team { team: id, pool: &present.pool })?;
        check_version(known, &present)?;
        check_reason(doer.reason)?;
        refuse_archived(&present)?;
        let mut team = present.clone();
        change(&mut team);
        put_team(&mut tx, now, &team).await?;
        record(&mut tx, now, doer, Deed::new(deed, "team", id).before(&present)?.after(&team)?).await?;
        tx.commit().await
    }

    /// What another income of a team would do to the balances of its pool.
    ///
    /// # Errors
    /// `NotFound`: there is no such team. `Forbidden`: the viewer does not administer its pool.
    pub async fn income_effect(
        &self,
        viewer: &Viewer,
        id: &TeamId,
        income: MicroCredits,
    ) -> Result<IncomeEffect, AppError> {
        let mut tx = self.store.read().await?;
        let setup = newest_setup(&mut tx).await?;
        let team = team_in(&setup, id)?;
        viewer.may(Action::SetIncome, Object::Team { team: id, pool: &team.pool })?;
        let teams: Vec<&Team> = setup.teams.iter().filter(|other| other.pool == team.pool).collect();
        let total_before = total(&teams, |team| team.income);
        let total_after = total(&teams, |team| if team.id == *id { income } else { team.income });
        let rebases = setup.organisation.rebase_balances
            && total_before.0 > 0
            && total_after.0 > 0
            && total_before != total_after;
        let cycle = next_cycle(&mut tx).await?;
        let mut balances = Vec::new();
        for team in teams.into_iter().filter(|_| rebases) {
            let before = budget::balance(&mut tx, &team.id, cycle).await?;
            let after = rebased(before, total_before, total_after).map_err(AppError::internal)?;
            balances.push((team.id.clone(), before, after));
        }
        Ok(IncomeEffect { total_before, total_after, rebases, balances, cycle })
    }
}

fn total(teams: &[&Team], income: impl Fn(&Team) -> MicroCredits) -> MicroCredits {
    MicroCredits(teams.iter().fold(0, |sum, team| sum.saturating_add(income(team).0)))
}

/// The cycle in which what is written now takes effect.
pub(super) async fn next_cycle(tx: &mut Tx) -> Result<u64, AppError> {
    Ok(last_cycle(tx).await?.map_or(1, |last| last.number + 1))
}

/// A pool of a setup.
pub(crate) fn pool_in(setup: &Setup, id: &PoolId) -> Result<Pool, AppError> {
    let found = setup.pools.iter().find(|pool| pool.id == *id);
    found.cloned().ok_or_else(|| AppError::not_found("pool", id))
}

/// A team of a setup.
pub(crate) fn team_in(setup: &Setup, id: &TeamId) -> Result<Team, AppError> {
    let found = setup.teams.iter().find(|team| team.id == *id);
    found.cloned().ok_or_else(|| AppError::not_found("team", id))
}

fn taken(what: &str, id: &str) -> AppError {
    AppError::invalid(
        "id",
        format!("{id:?} is the id of a {what} already; choose another, ids are never used again"),
    )
}
