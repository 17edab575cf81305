//! The organisation as programs read it: what is set, and of what can be changed the version that a change names.

use std::collections::BTreeMap;
use std::str::FromStr;

use common::api::{
    ChangeSettings, ChipTypeView, MemberView, OwnedView, Page, PersonName, PersonTeam, PersonView, PoolView,
    SettingsView, TeamView,
};
use common::chips::Chips;
use common::ids::{PoolId, TeamId, UserId};
use common::money::MicroCredits;
use market::snapshot::Lending;

use super::Services;
use super::audit::{Doer, Origin};
use super::changes::{pool_in, team_in};
use super::paging::{check_limit, no_cursor, page};
use super::people::Person;
use super::version::version_of;
use crate::error::AppError;
use crate::policy::{Action, Object, Viewer};
use crate::store::accounts::{self, Account};
use crate::store::entities::{Organisation, OwnedSupply, Pool, Setup, Team};

/// Something that can be changed, as it is set.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Opened<T> {
    /// What it is.
    pub view: T,
    /// Its version: what a change of it names.
    pub version: String,
}

/// In lists by id: what a cursor begins with; the id of the last row follows.
const AFTER: &str = "after-";

impl Services {
    /// The organisation's settings.
    ///
    /// # Errors
    /// `NotFound`: there is no organisation yet. `Forbidden`: the viewer may not read it.
    pub async fn settings(&self, viewer: &Viewer) -> Result<Opened<SettingsView>, AppError> {
        let (setup, _) = self.setup(viewer).await?;
        let version = version_of(&setup.organisation)?;
        Ok(Opened { view: settings_view(setup.organisation), version })
    }

    /// Changes the settings to what a program says; where the organisation's data comes from stays as it is.
    ///
    /// # Errors
    /// As [`Services::set_settings`].
    pub async fn put_settings(
        &self,
        viewer: &Viewer,
        origin: &Origin,
        change: ChangeSettings,
        known: Option<&str>,
    ) -> Result<(), AppError> {
        let (setup, _) = self.setup(viewer).await?;
        let settings = Organisation {
            name: change.name,
            data_note: setup.organisation.data_note,
            time_zone: change.time_zone,
            cycle_seconds: change.cycle_seconds,
            accounting_seconds: change.accounting_seconds,
            sustain_minutes: change.sustain_minutes,
            rebase_balances: change.rebase_balances,
            raw_retention_days: change.raw_retention_days,
            balance_cap_hours: change.balance_cap_hours,
            most_bid_hours: change.most_bid_hours,
        };
        self.set_settings(Doer { viewer, origin, reason: &change.reason }, &settings, known).await
    }

    /// One page of the pools, in order of their ids.
    ///
    /// # Errors
    /// `Invalid`: the cursor is none of this list, or the limit is out of its range. Else as [`Services::settings`].
    pub async fn pools(
        &self,
        viewer: &Viewer,
        cursor: Option<&str>,
        limit: u32,
    ) -> Result<Page<PoolView>, AppError> {
        let (setup, _) = self.setup(viewer).await?;
        let mut admins = self.pool_admins(viewer).await?;
        let Page { items, next_cursor } = by_id(&setup.pools, |pool| &pool.id, cursor, limit)?;
        let view = |pool: Pool| {
            let admins = admins.remove(&pool.id).unwrap_or_default();
            pool_view(&setup, pool, admins)
        };
        Ok(Page { items: items.into_iter().map(view).collect(), next_cursor })
    }

    /// One pool.
    ///
    /// # Errors
    /// `NotFound`: there is no such pool. Else as [`Services::settings`].
    pub async fn pool(&self, viewer: &Viewer, id: &PoolId) -> Result<Opened<PoolView>, AppError> {
        let (setup, _) = self.setup(viewer).await?;
        let pool = pool_in(&setup, id)?;
        let version = version_of(&pool)?;
        let admins = self.pool_admins(viewer).await?.remove(id).unwrap_or_default();
        Ok(Opened { view: pool_view(&setup, pool, admins), version })
    }

    /// One page of the teams, of one pool or of all, in order of their ids.
    ///
    /// # Errors
    /// As [`Services::pools`]; `NotFound`: there is no such pool.
    pub async fn teams(
        &self,
        viewer: &Viewer,
        pool: Option<&PoolId>,
        cursor: Option<&str>,
        limit: u32,
    ) -> Result<Page<TeamView>, AppError> {
        let (mut setup, _) = self.setup(viewer).await?;
        if let Some(pool) = pool {
            pool_in(&setup, pool)?;
            setup.teams.retain(|team| team.pool == *pool);
        }
        let Page { items, next_cursor } = by_id(&setup.teams, |team| &team.id, cursor, limit)?;
        Ok(Page { items: items.into_iter().map(team_view).collect(), next_cursor })
    }

    /// One team as it is set.
    ///
    /// # Errors
    /// `NotFound`: there is no such team. Else as [`Services::settings`].
    pub async fn team(&self, viewer: &Viewer, id: &TeamId) -> Result<Opened<TeamView>, AppError> {
        let (setup, _) = self.setup(viewer).await?;
        let team = team_in(&setup, id)?;
        let version = version_of(&team)?;
        Ok(Opened { view: team_view(team), version })
    }

    /// The members of a team, in order of their names.
    ///
    /// # Errors
    /// As [`Services::members`].
    pub async fn member_list(&self, viewer: &Viewer, team: &TeamId) -> Result<Page<MemberView>, AppError> {
        let members = self.members(viewer, team).await?;
        let view = |member: accounts::Member| MemberView {
            user: member.user,
            name: member.name,
            leads: member.leads,
        };
        Ok(Page { items: members.into_iter().map(view).collect(), next_cursor: None })
    }

    /// The chip types, in order of their ids. What a pool owns is shown to its people, and all of it to those who may read the
    /// supply.
    ///
    /// # Errors
    /// As [`Services::settings`].
    pub async fn chip_types(&self, viewer: &Viewer) -> Result<Page<ChipTypeView>, AppError> {
        let (setup, _) = self.setup(viewer).await?;
        let reads_all = viewer.can(Action::ReadSupply, Object::Organisation);
        let mut pools = viewer.pools.clone();
        pools.extend(viewer.teams.values().map(|membership| membership.pool.clone()));
        let is_shown =
            |supply: &OwnedSupply| supply.chips > Chips(0) && (reads_all || pools.contains(&supply.pool));
        let mut owned: BTreeMap<_, Vec<OwnedView>> = BTreeMap::new();
        for supply in setup.owned.into_iter().filter(is_shown) {
            let view = OwnedView { pool: supply.pool, chips: supply.chips };
            owned.entry(supply.chip_type).or_default().push(view);
        }
        let items = setup.chip_types.into_iter().map(|chip_type| ChipTypeView {
            owned: owned.remove(&chip_type.id).unwrap_or_default(),
            id: chip_type.id,
            name: chip_type.name,
            shared: chip_type.shared,
            reserve_price: chip_type.reserve_price,
            retired: chip_type.retired,
        });
        Ok(Page { items: items.collect(), next_cursor: None })
    }

    /// One page of the accounts, in order of their names.
    ///
    /// # Errors
    /// `NotFound`: the viewer does not manage users. `Invalid`: the cursor is none of this list, or the limit is out of
    /// its range.
    pub async fn person_list(
        &self,
        viewer: &Viewer,
        cursor: Option<&str>,
        limit: u32,
    ) -> Result<Page<PersonView>, AppError> {
        let Page { items, next_cursor } = self.people(viewer, cursor, limit).await?;
        Ok(Page { items: items.into_iter().map(person_view).collect(), next_cursor })
    }

    /// One account as programs read it.
    ///
    /// # Errors
    /// As [`Services::person`].
    pub async fn opened_person(
        &self,
        viewer: &Viewer,
        user: &UserId,
    ) -> Result<Opened<PersonView>, AppError> {
        let person = self.person(viewer, user).await?;
        Ok(Opened { version: person.version()?, view: person_view(person) })
    }
}

/// A page of a list that is in order of its ids, behind the row that a cursor names.
fn by_id<T: Clone, K: Ord + FromStr + ToString>(
    rows: &[T],
    id: impl Fn(&T) -> &K,
    cursor: Option<&str>,
    limit: u32,
) -> Result<Page<T>, AppError> {
    check_limit(limit)?;
    let after = cursor.map(|cursor| read_after::<K>(cursor)).transpose()?;
    let from = after.map_or(0, |after| rows.partition_point(|row| *id(row) <= after));
    let rows = rows[from..].iter().take(limit as usize + 1).cloned().collect();
    Ok(page(rows, limit, |last| after_row(id(last))))
}

/// The cursor of what comes after a row.
pub(super) fn after_row(id: &impl ToString) -> String {
    format!("{AFTER}{}", id.to_string())
}

/// The id of the row that a cursor names.
pub(super) fn read_after<K: FromStr>(cursor: &str) -> Result<K, AppError> {
    let id = cursor.strip_prefix(AFTER).and_then(|id| id.parse().ok());
    id.ok_or_else(|| no_cursor(cursor))
}

fn settings_view(settings: Organisation) -> SettingsView {
    SettingsView {
        name: settings.name,
        time_zone: settings.time_zone,
        cycle_seconds: settings.cycle_seconds,
        accounting_seconds: settings.accounting_seconds,
        sustain_minutes: settings.sustain_minutes,
        rebase_balances: settings.rebase_balances,
        raw_retention_days: settings.raw_retention_days,
        balance_cap_hours: settings.balance_cap_hours,
        most_bid_hours: settings.most_bid_hours,
    }
}

fn pool_view(setup: &Setup, pool: Pool, admins: Vec<Account>) -> PoolView {
    let teams = setup.teams.iter().filter(|team| team.pool == pool.id);
    let income = teams.clone().fold(0_i64, |sum, team| sum.saturating_add(team.income.0));
    PoolView {
        lends_at_most: match pool.lending {
            Lending::All => None,
            Lending::None => Some(Chips(0)),
            Lending::AtMost(chips) => Some(chips),
        },
        income: MicroCredits(income),
        teams: teams.count() as u64,
        archived: pool.archived,
        admins: admins.into_iter().map(|admin| PersonName { user: admin.id, name: admin.name }).collect(),
        id: pool.id,
        name: pool.name,
        weight: pool.weight,
    }
}

/// What a pool lends: nothing said is all of it, 0 is none.
#[must_use]
pub const fn lending_of(at_most: Option<Chips>) -> Lending {
    match at_most {
        None => Lending::All,
        Some(Chips(0)) => Lending::None,
        Some(chips) => Lending::AtMost(chips),
    }
}

fn team_view(team: Team) -> TeamView {
    TeamView {
        id: team.id,
        pool: team.pool,
        name: team.name,
        income: team.income,
        leverage_thousandths: team.leverage_thousandths,
        archived: team.archived,
    }
}

fn person_view(person: Person) -> PersonView {
    let Person { account, standing } = person;
    let teams = standing.teams.into_iter();
    PersonView {
        user: account.id,
        name: account.name,
        login: account.login,
        roles: standing.roles.into_iter().collect(),
        teams: teams.map(|(id, membership)| PersonTeam { id, leads: membership.leads }).collect(),
        pools: standing.pools.into_iter().collect(),
        has_password: account.has_password,
        linked: account.provider.is_some(),
        made_at: account.made_at,
        locked_at: account.disabled_at,
    }
}
