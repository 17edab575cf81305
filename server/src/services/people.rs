//! Changes of people by people: who is in a team, who administers a pool, accounts and their roles. Each has a reason and
//! stands in the audit log; they hold from the next request on, since roles and memberships are read on each.

use std::collections::{BTreeMap, BTreeSet};

use common::api::{Page, Role};
use common::ids::{BidId, PoolId, TeamId, UserId};
use common::instant::Instant;
use serde::Serialize;

use super::Services;
use super::accounts::{check_login, end_all};
use super::audit::{Deed, Doer, check_reason, reason_into, record};
use super::bids;
use super::changes::{pool_in, team_in};
use super::checks::Checks;
use super::directory::{after_row, read_after};
use super::organisation::newest_setup;
use super::paging::{check_limit, page};
use super::retirement::refuse_archived;
use super::version::{check_version, version_of};
use crate::error::AppError;
use crate::policy::{Action, Object, Viewer};
use crate::store::accounts::{self, Account, Member, NewAccount, Standing};
use crate::store::{Tx, queue, viewers};

/// An account with what it is to the organisation.
#[derive(Clone, Debug)]
pub struct Person {
    /// The account.
    pub account: Account,
    /// Roles, teams and pools.
    pub standing: Standing,
}

impl Person {
    /// The version of what an admin changes of it: roles, and whether it is locked.
    ///
    /// # Errors
    /// `Internal`: it has no JSON form.
    pub fn version(&self) -> Result<String, AppError> {
        version_of(&self.changeable())
    }

    fn changeable(&self) -> (&BTreeSet<Role>, bool) {
        (&self.standing.roles, self.account.disabled_at.is_some())
    }
}

/// A person's place in a team, for the audit log.
#[derive(Serialize)]
struct Place<'a> {
    user: &'a UserId,
    leads: bool,
}

/// What a member leaves a team with, for the audit log.
#[derive(Serialize)]
struct Left<'a> {
    ended_bids: &'a [BidId],
}

impl Services {
    /// One page of the accounts, in order of their names, with what each is to the organisation.
    ///
    /// # Errors
    /// `NotFound`: the viewer does not manage users. `Invalid`: the cursor is none of this list, or the limit is out of
    /// its range.
    pub async fn people(
        &self,
        viewer: &Viewer,
        cursor: Option<&str>,
        limit: u32,
    ) -> Result<Page<Person>, AppError> {
        viewer.may(Action::ManageUsers, Object::Organisation)?;
        check_limit(limit)?;
        let after = cursor.map(read_after::<UserId>).transpose()?;
        let mut tx = self.store.read().await?;
        let accounts = accounts::after(&mut tx, after.as_ref(), limit + 1).await?;
        let Page { items, next_cursor } = page(accounts, limit, |last| after_row(&last.id));
        let mut people = Vec::with_capacity(items.len());
        for account in items {
            let standing = viewers::standing(&mut tx, &account.id).await?;
            people.push(Person { account, standing });
        }
        Ok(Page { items: people, next_cursor })
    }

    /// One account.
    ///
    /// # Errors
    /// `NotFound`: there is none, or the viewer does not manage users.
    pub async fn person(&self, viewer: &Viewer, user: &UserId) -> Result<Person, AppError> {
        viewer.may(Action::ManageUsers, Object::Organisation)?;
        person_in(&mut self.store.read().await?, user).await
    }

    /// Makes an account without a password; a one-time link lets its owner choose one.
    ///
    /// # Errors
    /// `NotFound`: the doer does not manage users. `Invalid`: the login or the name is refused, or there is no reason.
    /// `Conflict`: the login is taken.
    pub async fn add_person(
        &self,
        doer: Doer<'_>,
        login: &str,
        name: &str,
        roles: &BTreeSet<Role>,
    ) -> Result<UserId, AppError> {
        doer.viewer.may(Action::ManageUsers, Object::Organisation)?;
        let mut checks = Checks::default();
        check_login(&mut checks, "login", login);
        checks.name("name", name);
        reason_into(&mut checks, doer.reason);
        checks.finish()?;
        let (now, mut tx) = (self.now(), self.store.write().await?);
        let login = login.trim().to_lowercase();
        if accounts::find_login(&mut tx, &login).await?.is_some() {
            return Err(AppError::invalid(
                "login",
                "is the login of another account already; choose another one",
            ));
        }
        let id = UserId::new(self.ids.new_id(now)).map_err(AppError::internal)?;
        let account = NewAccount {
            id: id.clone(),
            login: Some(login.clone()),
            name: name.trim().to_owned(),
            password_hash: None,
            provider: None,
        };
        accounts::insert(&mut tx, now, &account).await?;
        accounts::set_roles(&mut tx, &id, roles).await?;
        let after = serde_json::json!({ "login": login, "name": account.name, "roles": roles });
        record(&mut tx, now, doer, Deed::new("user.added", "user", &id).after(&after)?).await?;
        tx.commit().await?;
        Ok(id)
    }

    /// Sets a person's roles in the organisation.
    ///
    /// # Errors
    /// `NotFound`: there is no such account, or the doer does not manage users. `Invalid`: nobody would be an admin, or
    /// there is no reason. `PreconditionFailed`: the account was changed since `known`.
    pub async fn set_roles(
        &self,
        doer: Doer<'_>,
        user: &UserId,
        roles: &BTreeSet<Role>,
        known: Option<&str>,
    ) -> Result<(), AppError> {
        doer.viewer.may(Action::ManageUsers, Object::Organisation)?;
        check_reason(doer.reason)?;
        let (now, mut tx) = (self.now(), self.store.write().await?);
        let present = person_in(&mut tx, user).await?;
        check_version(known, &present.changeable())?;
        let before = present.standing.roles;
        accounts::set_roles(&mut tx, user, roles).await?;
        keep_an_admin(&mut tx, "roles").await?;
        let deed = Deed::new("user.roles_set", "user", user).before(&before)?.after(roles)?;
        record(&mut tx, now, doer, deed).await?;
        tx.commit().await
    }

    /// Locks an account, which ends its sessions and tokens, or opens it again. The answer is the ids of what ended, for
    /// their streams: [`crate::auth::Auth::set_locked`] ends those as well.
    ///
    /// # Errors
    /// As [`Services::set_roles`].
    pub(crate) async fn set_locked(
        &self,
        doer: Doer<'_>,
        user: &UserId,
        locked: bool,
        known: Option<&str>,
    ) -> Result<Vec<String>, AppError> {
        doer.viewer.may(Action::ManageUsers, Object::Organisation)?;
        check_reason(doer.reason)?;
        let (now, mut tx) = (self.now(), self.store.write().await?);
        let present = person_in(&mut tx, user).await?;
        check_version(known, &present.changeable())?;
        let before = present.account.disabled_at.is_some();
        accounts::set_disabled(&mut tx, user, locked.then_some(now)).await?;
        let mut ended = Vec::new();
        if locked {
            keep_an_admin(&mut tx, "reason").await?;
            ended = end_all(&mut tx, user, now).await?;
        }
        let action = if locked { "user.locked" } else { "user.opened" };
        let deed = Deed::new(action, "user", user).before(&before)?.after(&locked)?;
        record(&mut tx, now, doer, deed).await?;
        tx.commit().await?;
        Ok(ended)
    }

    /// Notes that a one-time link is made for a person, before it is.
    ///
    /// # Errors
    /// As [`Services::set_roles`].
    pub async fn note_link(&self, doer: Doer<'_>, user: &UserId) -> Result<(), AppError> {
        self.note(doer, "user.link_made", user).await
    }

    /// Notes that all sessions of a person are ended, before they are.
    ///
    /// # Errors
    /// As [`Services::set_roles`].
    pub async fn note_sessions_ended(&self, doer: Doer<'_>, user: &UserId) -> Result<(), AppError> {
        self.note(doer, "user.sessions_ended", user).await
    }

    async fn note(&self, doer: Doer<'_>, action: &'static str, user: &UserId) -> Result<(), AppError> {
        doer.viewer.may(Action::ManageUsers, Object::Organisation)?;
        let (now, mut tx) = (self.now(), self.store.write().await?);
        person_in(&mut tx, user).await?;
        record(&mut tx, now, doer, Deed::new(action, "user", user)).await?;
        tx.commit().await
    }

    /// The members of a team, in order of their names.
    ///
    /// # Errors
    /// `NotFound`: there is no such team, or the viewer may not know of its money and people.
    pub async fn members(&self, viewer: &Viewer, team: &TeamId) -> Result<Vec<Member>, AppError> {
        let mut tx = self.store.read().await?;
        let known = team_in(&newest_setup(&mut tx).await?, team)?;
        viewer.may(Action::ReadBudget, Object::Team { team, pool: &known.pool })?;
        accounts::members(&mut tx, team).await
    }

    /// Puts the account of a login into a team, or changes whether a member leads it.
    ///
    /// # Errors
    /// `NotFound`: there is no such team. `Forbidden`: the doer neither leads the team nor administers its pool.
    /// `Invalid`: nobody has that login, or there is no reason.
    pub async fn put_member(
        &self,
        doer: Doer<'_>,
        team: &TeamId,
        login: &str,
        leads: bool,
    ) -> Result<(), AppError> {
        let (now, mut tx) = (self.now(), self.store.write().await?);
        may_set_members(&mut tx, doer.viewer, team).await?;
        check_reason(doer.reason)?;
        refuse_archived(&team_in(&newest_setup(&mut tx).await?, team)?)?;
        let user = account_of(&mut tx, login).await?;
        let before = accounts::members(&mut tx, team).await?.into_iter().find(|member| member.user == user);
        accounts::put_member(&mut tx, &user, team, leads).await?;
        let mut deed = Deed::new("team.member_set", "team", team).after(&Place { user: &user, leads })?;
        if let Some(before) = before {
            deed = deed.before(&Place { user: &user, leads: before.leads })?;
        }
        record(&mut tx, now, doer, deed).await?;
        tx.commit().await
    }

    /// The open bids of a team that a member placed, with their names: they end when the member leaves.
    ///
    /// # Errors
    /// `NotFound`: there is no such team. `Forbidden`: the viewer neither leads the team nor administers its pool.
    pub async fn bids_of_member(
        &self,
        viewer: &Viewer,
        team: &TeamId,
        user: &UserId,
    ) -> Result<Vec<(BidId, String)>, AppError> {
        let mut tx = self.store.read().await?;
        may_set_members(&mut tx, viewer, team).await?;
        queue::placed_by(&mut tx, team, user).await
    }

    /// Takes a member out of a team; the open bids that the member placed for it end with the next cycle.
    ///
    /// # Errors
    /// As [`Services::put_member`]; `NotFound`: the person is no member.
    pub async fn remove_member(&self, doer: Doer<'_>, team: &TeamId, user: &UserId) -> Result<(), AppError> {
        let (now, mut tx) = (self.now(), self.store.write().await?);
        may_set_members(&mut tx, doer.viewer, team).await?;
        check_reason(doer.reason)?;
        let before = accounts::members(&mut tx, team).await?.into_iter().find(|member| member.user == *user);
        let before = before.ok_or_else(|| AppError::not_found("member", user))?;
        let ended = leave_team(&mut tx, now, team, user).await?;
        let deed = Deed::new("team.member_removed", "team", team)
            .before(&Place { user, leads: before.leads })?
            .after(&Left { ended_bids: &ended })?;
        record(&mut tx, now, doer, deed).await?;
        tx.commit().await
    }

    /// Who administers each pool: accounts by pool.
    ///
    /// # Errors
    /// `Forbidden`: the viewer may not read the organisation.
    pub async fn pool_admins(&self, viewer: &Viewer) -> Result<BTreeMap<PoolId, Vec<Account>>, AppError> {
        viewer.may(Action::ReadOrganisation, Object::Organisation)?;
        accounts::pool_admins(&mut self.store.read().await?).await
    }

    /// Makes the account of a login an administrator of a pool, or takes that away.
    ///
    /// # Errors
    /// `Forbidden`: the doer is no admin. `NotFound`: there is no such pool. `Invalid`: nobody has that login, or there is
    /// no reason.
    pub async fn set_pool_admin(
        &self,
        doer: Doer<'_>,
        pool: &PoolId,
        login: &str,
        is_admin: bool,
    ) -> Result<(), AppError> {
        doer.viewer.may(Action::SetOrganisation, Object::Organisation)?;
        check_reason(doer.reason)?;
        let (now, mut tx) = (self.now(), self.store.write().await?);
        pool_in(&newest_setup(&mut tx).await?, pool)?;
        let user = account_of(&mut tx, login).await?;
        let before = viewers::standing(&mut tx, &user).await?.pools;
        let mut after = before.clone();
        if is_admin {
            after.insert(pool.clone())
        } else {
            after.remove(pool)
        };
        accounts::set_pools(&mut tx, &user, &after).await?;
        let deed = Deed::new("pool.admins_set", "user", &user).before(&before)?.after(&after)?;
        record(&mut tx, now, doer, deed).await?;
        tx.commit().await
    }
}

async fn person_in(tx: &mut Tx, user: &UserId) -> Result<Person, AppError> {
    let account = accounts::find(tx, user).await?.ok_or_else(|| AppError::not_found("user", user))?;
    Ok(Person { standing: viewers::standing(tx, user).await?, account })
}

/// Takes a person out of a team and ends the open bids that the person placed for it; the answer names them.
pub(super) async fn leave_team(
    tx: &mut Tx,
    now: Instant,
    team: &TeamId,
    user: &UserId,
) -> Result<Vec<BidId>, AppError> {
    accounts::remove_member(tx, user, team).await?;
    let mut ended = Vec::new();
    for (bid, _) in queue::placed_by(tx, team, user).await? {
        bids::cancel(tx, now, &bid).await?;
        ended.push(bid);
    }
    Ok(ended)
}

async fn may_set_members(tx: &mut Tx, viewer: &Viewer, team: &TeamId) -> Result<(), AppError> {
    let known = team_in(&newest_setup(tx).await?, team)?;
    viewer.may(Action::SetMembers, Object::Team { team, pool: &known.pool })
}

async fn account_of(tx: &mut Tx, login: &str) -> Result<UserId, AppError> {
    let found = accounts::find_login(tx, &login.trim().to_lowercase()).await?;
    found.map(|(account, _)| account.id).ok_or_else(|| {
        AppError::invalid(
            "login",
            format!("nobody signs in as {login:?}; an admin of the organisation can add them"),
        )
    })
}

/// Refuses what would leave nobody who can change the organisation.
async fn keep_an_admin(tx: &mut Tx, field: &str) -> Result<(), AppError> {
    if accounts::count_with_role(tx, Role::Admin).await? == 0 {
        let detail = "nobody would be an admin any more; make another account an admin first";
        return Err(AppError::invalid(field, detail));
    }
    Ok(())
}
