//! The organisation: its settings, pools, teams, people and chip types, as programs read and change them.
//!
//! What is read is as it is set, what waits for the next cycle included. A change holds from `effective_cycle` on, gives
//! a reason, and stands in the audit log.

use serde::{Deserialize, Serialize};

use super::Role;
use crate::chips::Chips;
use crate::ids::{ChipTypeId, PoolId, TeamId, UserId};
use crate::instant::Instant;
use crate::money::{MicroCredits, Price};

/// The organisation's name and the settings of its market.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct SettingsView {
    /// Display name, 1 to 200 characters.
    pub name: String,
    /// The IANA time zone in which days and months are counted, such as `Europe/Berlin`.
    pub time_zone: String,
    /// Seconds between two clearings, 1 to 3600.
    pub cycle_seconds: u32,
    /// Seconds between two accounting steps, a multiple of `cycle_seconds`, at most 3600.
    pub accounting_seconds: u32,
    /// Minutes for which a team must be able to sustain what it bids, 1 to 100000.
    pub sustain_minutes: u32,
    /// Balances of a pool keep their global value when its teams' total income changes.
    pub rebase_balances: bool,
    /// Days after which rows of single cycles go, 2 to 36500.
    pub raw_retention_days: u32,
    /// Hours of income that a balance holds, 1 to 100000; absent: any amount.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub balance_cap_hours: Option<u32>,
    /// Hours that a bid may be for at most, by its window or its work on the chips it asks for, 1 to 100000; absent: any.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub most_bid_hours: Option<u32>,
}

/// New settings; all of them are said.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(deny_unknown_fields)]
pub struct ChangeSettings {
    /// Display name, 1 to 200 characters.
    pub name: String,
    /// The IANA time zone in which days and months are counted, such as `Europe/Berlin`.
    pub time_zone: String,
    /// Seconds between two clearings, 1 to 3600.
    pub cycle_seconds: u32,
    /// Seconds between two accounting steps, a multiple of `cycle_seconds`, at most 3600.
    pub accounting_seconds: u32,
    /// Minutes for which a team must be able to sustain what it bids, 1 to 100000.
    pub sustain_minutes: u32,
    /// Balances of a pool keep their global value when its teams' total income changes.
    pub rebase_balances: bool,
    /// Days after which rows of single cycles go, 2 to 36500.
    pub raw_retention_days: u32,
    /// Hours of income that a balance holds, 1 to 100000; absent: any amount.
    #[serde(default)]
    pub balance_cap_hours: Option<u32>,
    /// Hours that a bid may be for at most, by its window or its work on the chips it asks for, 1 to 100000; absent: any.
    #[serde(default)]
    pub most_bid_hours: Option<u32>,
    /// Why; 1 to 500 characters.
    pub reason: String,
}

/// From when on a change holds.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct Changed<T> {
    /// What it is now.
    pub now: T,
    /// The first cycle that counts it.
    pub effective_cycle: u64,
}

/// A pool.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct PoolView {
    /// The pool.
    pub id: PoolId,
    /// Display name.
    pub name: String,
    /// Its purchasing power in global credits per hour.
    pub weight: MicroCredits,
    /// Chips of each type that it lends at most when they are idle; absent: all of them, 0: none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub lends_at_most: Option<Chips>,
    /// What its teams earn together, in local credits per hour.
    pub income: MicroCredits,
    /// How many teams it has.
    pub teams: u64,
    /// It has no teams in use and takes none; it stays for its history.
    pub archived: bool,
    /// Who administers it besides the organisation's admins, in order of their names.
    pub admins: Vec<PersonName>,
}

/// A pool to be added.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(deny_unknown_fields)]
pub struct NewPool {
    /// Its id, for good: ids are never used again.
    pub id: PoolId,
    /// Display name, 1 to 200 characters.
    pub name: String,
    /// Global credits per hour.
    pub weight: MicroCredits,
    /// As in [`PoolView`].
    #[serde(default)]
    pub lends_at_most: Option<Chips>,
    /// Why; 1 to 500 characters.
    pub reason: String,
}

/// What a pool is to be.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(deny_unknown_fields)]
pub struct ChangePool {
    /// Display name, 1 to 200 characters.
    pub name: String,
    /// Global credits per hour.
    pub weight: MicroCredits,
    /// As in [`PoolView`]; left out, all idle chips are lent.
    #[serde(default)]
    pub lends_at_most: Option<Chips>,
    /// Why; 1 to 500 characters.
    pub reason: String,
}

/// Somebody who is to administer a pool, or not any more.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(deny_unknown_fields)]
pub struct ChangePoolAdmin {
    /// The name or e-mail that the person signs in with.
    pub login: String,
    /// Whether the person administers the pool.
    pub administers: bool,
    /// Why; 1 to 500 characters.
    pub reason: String,
}

/// A team as it is set.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct TeamView {
    /// The team.
    pub id: TeamId,
    /// Its pool, for good.
    pub pool: PoolId,
    /// Display name.
    pub name: String,
    /// What it earns, in local credits per hour.
    pub income: MicroCredits,
    /// Thousandths of its income that its bids may cost per hour.
    pub leverage_thousandths: u32,
    /// It has no members and takes no bids; it stays for its history.
    pub archived: bool,
}

/// A team to be added. It begins with a balance of 0 and without members.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(deny_unknown_fields)]
pub struct NewTeam {
    /// Its id, for good: ids are never used again.
    pub id: TeamId,
    /// Its pool, for good: the team's money is of it.
    pub pool: PoolId,
    /// Display name, 1 to 200 characters.
    pub name: String,
    /// Local credits per hour.
    pub income: MicroCredits,
    /// Thousandths of its income, 0 to 1000000; 2000 is usual.
    pub leverage_thousandths: u32,
    /// Why; 1 to 500 characters.
    pub reason: String,
}

/// A team's new name and income.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(deny_unknown_fields)]
pub struct ChangeTeam {
    /// Display name, 1 to 200 characters.
    pub name: String,
    /// Local credits per hour. What another one does to the balances of the pool can be asked for before it is set.
    pub income: MicroCredits,
    /// Why; 1 to 500 characters.
    pub reason: String,
}

/// A team's new leverage.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(deny_unknown_fields)]
pub struct ChangeLeverage {
    /// Thousandths of its income that its bids may cost per hour, 0 to 1000000.
    pub leverage_thousandths: u32,
    /// Why; 1 to 500 characters.
    pub reason: String,
}

/// What another income of a team would do to the money of its pool.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct IncomeEffectView {
    /// Income of all teams of the pool now, in local credits per hour.
    pub total_before: MicroCredits,
    /// And with the change.
    pub total_after: MicroCredits,
    /// Balances follow, so that their global value stays: each is multiplied by `total_after` ÷ `total_before`.
    pub rebases: bool,
    /// The balances that change; none where they stay.
    pub balances: Vec<BalanceEffect>,
    /// The cycle in which it would happen.
    pub effective_cycle: u64,
}

/// A balance before and after.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct BalanceEffect {
    /// The team.
    pub team: TeamId,
    /// Local credits now.
    pub before: MicroCredits,
    /// Local credits with the change.
    pub after: MicroCredits,
}

/// A member of a team.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct MemberView {
    /// The account.
    pub user: UserId,
    /// Display name.
    pub name: String,
    /// Sets the team's leverage and members.
    pub leads: bool,
}

/// Somebody who is to be a member of a team.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(deny_unknown_fields)]
pub struct PutMember {
    /// The name or e-mail that the person signs in with.
    pub login: String,
    /// Whether the person leads the team.
    pub leads: bool,
    /// Why; 1 to 500 characters.
    pub reason: String,
}

/// Somebody who is to leave a team.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(deny_unknown_fields)]
pub struct RemoveMember {
    /// The account.
    pub user: UserId,
    /// Why; 1 to 500 characters.
    pub reason: String,
}

/// An account with its name.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct PersonName {
    /// The account.
    pub user: UserId,
    /// Display name.
    pub name: String,
}

/// An account, with what its owner is to the organisation.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct PersonView {
    /// The account.
    pub user: UserId,
    /// Display name.
    pub name: String,
    /// The name or e-mail to sign in with; absent for those who come by a provider only.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub login: Option<String>,
    /// Roles in the organisation, in order.
    pub roles: Vec<Role>,
    /// The teams of the person, in order of their ids.
    pub teams: Vec<PersonTeam>,
    /// The pools that the person administers, in order of their ids.
    pub pools: Vec<PoolId>,
    /// There is a password.
    pub has_password: bool,
    /// It is linked to the identity provider.
    pub linked: bool,
    /// When it was made.
    pub made_at: Instant,
    /// Since when nobody can use it; absent while it is open.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub locked_at: Option<Instant>,
}

/// A team of a person.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct PersonTeam {
    /// The team.
    pub id: TeamId,
    /// The person sets its leverage and members.
    pub leads: bool,
}

/// An account to be made. It has no password: an admin at a browser makes the link with which its owner chooses one.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(deny_unknown_fields)]
pub struct NewPerson {
    /// A name or an e-mail to sign in with: 1 to 200 visible characters.
    pub login: String,
    /// Display name, 1 to 200 characters.
    pub name: String,
    /// Roles in the organisation; none is an engineer.
    pub roles: Vec<Role>,
    /// Why; 1 to 500 characters.
    pub reason: String,
}

/// A person's new roles.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(deny_unknown_fields)]
pub struct ChangeRoles {
    /// Exactly these; none is an engineer. They hold from the person's next request on.
    pub roles: Vec<Role>,
    /// Why; 1 to 500 characters.
    pub reason: String,
}

/// Whether an account is to be locked.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(deny_unknown_fields)]
pub struct ChangeLock {
    /// Locked, nobody can use it, and its sessions and tokens end.
    pub locked: bool,
    /// Why; 1 to 500 characters.
    pub reason: String,
}

/// A chip type and whose its chips are.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct ChipTypeView {
    /// The chip type.
    pub id: ChipTypeId,
    /// Display name.
    pub name: String,
    /// Chips that belong to nobody in particular.
    pub shared: Chips,
    /// Chips that pools own, in order of the pools' ids: those of the viewer's pools, all for those who may read the supply.
    pub owned: Vec<OwnedView>,
    /// The least reference price in global credits per chip-hour.
    pub reserve_price: Price,
    /// It takes no new bids.
    pub retired: bool,
}

/// Chips of one type that a pool owns.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct OwnedView {
    /// The pool.
    pub pool: PoolId,
    /// How many.
    pub chips: Chips,
}

/// Teams to look after in the cycle in force.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct WatchListView {
    /// The cycle.
    pub cycle: u64,
    /// Use more chips than they are granted, most first.
    pub over_grant: Vec<WatchedTeam>,
    /// Bid and are granted nothing, longest first.
    pub starved: Vec<WatchedTeam>,
    /// Have an income and bid for nothing, highest income first.
    pub idle: Vec<WatchedTeam>,
}

/// A team on the watch list.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct WatchedTeam {
    /// The team.
    pub team: TeamId,
    /// Its display name.
    pub name: String,
    /// Local credits per hour.
    pub income: MicroCredits,
    /// Chips it asks for, over all chip types.
    pub asked: u64,
    /// Chips it is granted.
    pub granted: u64,
    /// Chips it uses: within its quota, over it after a cut, and for free.
    pub in_use: u64,
    /// Of a starved team: for how many cycles it has bid and was granted nothing, this one included.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub starved_cycles: Option<u64>,
}
