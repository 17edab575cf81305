//! Who may do what: one table, asked where objects are loaded.
//!
//! A [`Viewer`] is read from the store on each request: its roles, teams and pools are those of this moment, whatever a
//! cookie or token says. [`Viewer::may`] looks an [`Action`] up in the table and compares what the viewer is to the
//! object; a program's token must also carry the action's scope.

use std::collections::{BTreeMap, BTreeSet};

use common::api::Role;
use common::ids::{PoolId, SessionId, TeamId, TokenId, UserId};

use crate::error::AppError;

/// Who asks, and what that person is to the organisation at this moment.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Viewer {
    /// The account.
    pub user: UserId,
    /// Display name.
    pub name: String,
    /// Roles in the organisation.
    pub roles: BTreeSet<Role>,
    /// Teams the person is a member of.
    pub teams: BTreeMap<TeamId, Membership>,
    /// Pools the person administers.
    pub pools: BTreeSet<PoolId>,
    /// How the person was recognised.
    pub via: Via,
}

/// What a member is to a team.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Membership {
    /// The team's pool.
    pub pool: PoolId,
    /// Sets its leverage and its members.
    pub leads: bool,
}

/// How a viewer was recognised.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Via {
    /// By a session of a browser.
    Session(SessionId),
    /// By a token for programs, which may do no more than its scopes say.
    Token {
        /// The token.
        id: TokenId,
        /// What it may do, where its owner may.
        scopes: BTreeSet<Scope>,
    },
}

/// What a token may be used for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Scope {
    /// Reads what its owner may read.
    Read,
    /// Places and changes bids, and plans of training jobs.
    Bids,
    /// Reports losses of training jobs to their plans, and nothing else.
    Losses,
    /// Books money: corrections, grants, period close.
    Money,
    /// Changes supply, weights, teams, members and settings.
    Admin,
}

impl Scope {
    /// All scopes.
    pub const ALL: [Self; 5] = [Self::Read, Self::Bids, Self::Losses, Self::Money, Self::Admin];

    /// The scope as it is stored and shown.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Read => "read",
            Self::Bids => "bids",
            Self::Losses => "losses",
            Self::Money => "money",
            Self::Admin => "admin",
        }
    }
}

impl std::str::FromStr for Scope {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        Self::ALL
            .into_iter()
            .find(|scope| scope.as_str() == text)
            .ok_or_else(|| format!("{text:?} is not a scope; use read, bids, losses, money or admin"))
    }
}

/// What may be done.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Action {
    /// Prices, aggregate depth, allocations, cycles without single bids.
    ReadMarket,
    /// A team's queue, its bids in full, its history; its plans of training jobs.
    ReadBids,
    /// Places, changes, moves and ends a team's bids; makes and changes its plans.
    ChangeBids,
    /// Reports losses of a training job to a plan of its team.
    ReportLosses,
    /// Single bids of all teams; each look is audited.
    ReadSealedBids,
    /// A team's balance, spend and ledger.
    ReadBudget,
    /// A team's leverage.
    SetLeverage,
    /// Who is in a team.
    SetMembers,
    /// Incomes of a pool's teams; teams of the pool.
    SetIncome,
    /// The organisation's screens: pools, teams, incomes, members' names, settings.
    ReadOrganisation,
    /// Weights, pools, market settings, who administers a pool.
    SetOrganisation,
    /// The supply screen: what is planned, what a change does to whom.
    ReadSupply,
    /// Supply, reserve prices, lending.
    SetSupply,
    /// The lab: comparisons of policies and their figures, which show every team's demand.
    ReadLab,
    /// Starts and cancels comparisons, uploads traces for them. Nothing in the market changes by it.
    RunLab,
    /// Accounts, roles, their sessions and tokens.
    ManageUsers,
    /// All money: every ledger, reconciliation.
    ReadMoney,
    /// Books corrections, closes periods.
    BookMoney,
    /// Approves or refuses what somebody else wants to book.
    ApproveMoney,
    /// The audit log.
    ReadAudit,
}

/// What an action is done to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Object<'a> {
    /// The organisation as a whole.
    Organisation,
    /// A pool.
    Pool(&'a PoolId),
    /// A team of a pool.
    Team {
        /// The team.
        team: &'a TeamId,
        /// Its pool.
        pool: &'a PoolId,
    },
}

/// What a viewer can be to an object.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Relation {
    /// Anybody who is signed in.
    SignedIn,
    /// A member of the team.
    Member,
    /// A lead of the team.
    Lead,
    /// An administrator of the pool, or of the team's pool.
    PoolAdmin,
    /// Has the role.
    Has(Role),
}

/// What is answered to those who may not.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Refusal {
    /// That it does not exist: they may not know that it does.
    Hidden,
    /// That they may not.
    Forbidden,
}

/// A line of the table.
struct Rule {
    action: Action,
    scope: Scope,
    to: &'static [Relation],
    otherwise: Refusal,
}

const ADMIN: Relation = Relation::Has(Role::Admin);
const FINANCE: Relation = Relation::Has(Role::Finance);
const AUDITOR: Relation = Relation::Has(Role::Auditor);

const fn rule(action: Action, scope: Scope, to: &'static [Relation], otherwise: Refusal) -> Rule {
    Rule { action, scope, to, otherwise }
}

/// The table: product.md's roles, an action a line.
#[rustfmt::skip]
const TABLE: &[Rule] = {
    use Action::*;
    use Refusal::{Forbidden, Hidden};
    use Relation::{Lead, Member, PoolAdmin, SignedIn};
    &[
        rule(ReadMarket,       Scope::Read,  &[SignedIn],                              Forbidden),
        rule(ReadBids,         Scope::Read,  &[Member, ADMIN, AUDITOR],                Hidden),
        rule(ChangeBids,       Scope::Bids,  &[Member],                                Forbidden),
        rule(ReportLosses,     Scope::Losses, &[Member],                               Forbidden),
        rule(ReadSealedBids,   Scope::Read,  &[ADMIN, AUDITOR],                        Hidden),
        rule(ReadBudget,       Scope::Read,  &[Member, PoolAdmin, FINANCE, ADMIN, AUDITOR], Hidden),
        rule(SetLeverage,      Scope::Admin, &[Lead, PoolAdmin, ADMIN],                Forbidden),
        rule(SetMembers,       Scope::Admin, &[Lead, PoolAdmin, ADMIN],                Forbidden),
        rule(SetIncome,        Scope::Admin, &[PoolAdmin, ADMIN],                      Forbidden),
        rule(ReadOrganisation, Scope::Read,  &[SignedIn],                              Forbidden),
        rule(SetOrganisation,  Scope::Admin, &[ADMIN],                                 Forbidden),
        rule(ReadSupply,       Scope::Read,  &[ADMIN, AUDITOR],                        Hidden),
        rule(SetSupply,        Scope::Admin, &[ADMIN],                                 Forbidden),
        rule(ReadLab,          Scope::Read,  &[ADMIN, AUDITOR],                        Hidden),
        rule(RunLab,           Scope::Admin, &[ADMIN, AUDITOR],                        Hidden),
        rule(ManageUsers,      Scope::Admin, &[ADMIN],                                 Hidden),
        rule(ReadMoney,        Scope::Read,  &[FINANCE, ADMIN, AUDITOR],               Hidden),
        rule(BookMoney,        Scope::Money, &[FINANCE],                               Forbidden),
        rule(ApproveMoney,     Scope::Money, &[FINANCE, ADMIN],                        Forbidden),
        rule(ReadAudit,        Scope::Read,  &[ADMIN, AUDITOR, FINANCE],               Hidden),
    ]
};

impl Viewer {
    /// Whether the viewer may do `action` to `object`.
    ///
    /// # Errors
    /// `NotFound` where the viewer may not even know that it exists, else `Forbidden`.
    pub fn may(&self, action: Action, object: Object<'_>) -> Result<(), AppError> {
        let Some(rule) = rule_of(action) else {
            return Err(AppError::internal(format!("{action:?} has no rule")));
        };
        if !self.stands_in(rule, object) {
            return Err(refusal(rule.otherwise, object));
        }
        if self.scoped(rule) {
            return Ok(());
        }
        Err(AppError::forbidden(format!(
            "this token does not have the scope {}; make one that has it",
            rule.scope.as_str()
        )))
    }

    /// Whether [`Viewer::may`] allows it: to show or leave out what leads there. It is asked of all teams in a row, so it
    /// makes no words of refusal.
    #[must_use]
    pub fn can(&self, action: Action, object: Object<'_>) -> bool {
        rule_of(action).is_some_and(|rule| self.stands_in(rule, object) && self.scoped(rule))
    }

    fn stands_in(&self, rule: &Rule, object: Object<'_>) -> bool {
        rule.to.iter().any(|relation| self.is(*relation, object))
    }

    /// Whether what the viewer was recognised by allows it: a session does, a token in its scopes.
    fn scoped(&self, rule: &Rule) -> bool {
        match &self.via {
            Via::Session(_) => true,
            Via::Token { scopes, .. } => scopes.contains(&rule.scope),
        }
    }

    /// The session of a person at a browser. What a token must never do, such as make another one, asks for it.
    ///
    /// # Errors
    /// `Forbidden`: a token asks.
    pub fn at_browser(&self) -> Result<&SessionId, AppError> {
        match &self.via {
            Via::Session(session) => Ok(session),
            Via::Token { .. } => {
                Err(AppError::forbidden("a token can't do this; sign in with a browser and do it there"))
            }
        }
    }

    fn is(&self, relation: Relation, object: Object<'_>) -> bool {
        let membership = match object {
            Object::Team { team, .. } => self.teams.get(team),
            Object::Organisation | Object::Pool(_) => None,
        };
        match relation {
            Relation::SignedIn => true,
            Relation::Member => membership.is_some(),
            Relation::Lead => membership.is_some_and(|membership| membership.leads),
            Relation::PoolAdmin => match object {
                Object::Pool(pool) | Object::Team { pool, .. } => self.pools.contains(pool),
                Object::Organisation => false,
            },
            Relation::Has(role) => self.roles.contains(&role),
        }
    }
}

fn rule_of(action: Action) -> Option<&'static Rule> {
    TABLE.iter().find(|rule| rule.action == action)
}

fn refusal(otherwise: Refusal, object: Object<'_>) -> AppError {
    match (otherwise, object) {
        (Refusal::Hidden, Object::Team { team, .. }) => AppError::not_found("team", team),
        (Refusal::Hidden, Object::Pool(pool)) => AppError::not_found("pool", pool),
        (Refusal::Hidden, Object::Organisation) => AppError::no_such_page(),
        (Refusal::Forbidden, _) => {
            AppError::forbidden("your roles do not allow this; an admin of the organisation can change them")
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::error::ErrorKind;

    fn viewer(roles: &[Role], via: Via) -> Viewer {
        let membership = Membership { pool: PoolId::new("p").expect("an id"), leads: false };
        Viewer {
            user: UserId::new("u").expect("an id"),
            name: "U".to_owned(),
            roles: roles.iter().copied().collect(),
            teams: [(TeamId::new("mine").expect("an id"), membership)].into(),
            pools: BTreeSet::new(),
            via,
        }
    }

    fn session() -> Via {
        Via::Session(SessionId::new("s").expect("an id"))
    }

    #[test]
    fn every_action_has_one_rule() {
        for rule in TABLE {
            assert_eq!(
                TABLE.iter().filter(|other| other.action == rule.action).count(),
                1,
                "{:?}",
                rule.action
            );
        }
        // `ReadAudit` is the last action.
        assert_eq!(TABLE.len(), Action::ReadAudit as usize + 1);
    }

    #[test]
    fn other_teams_bids_are_hidden_and_an_admin_reads_but_does_not_bid() {
        let pool = PoolId::new("p").expect("an id");
        let (mine, other) = (TeamId::new("mine").expect("an id"), TeamId::new("other").expect("an id"));
        let (mine, other) =
            (Object::Team { team: &mine, pool: &pool }, Object::Team { team: &other, pool: &pool });
        let engineer = viewer(&[], session());
        assert!(engineer.can(Action::ChangeBids, mine));
        let refused = engineer.may(Action::ReadBids, other).expect_err("hidden");
        assert_eq!(refused.kind(), ErrorKind::NotFound);
        let admin = viewer(&[Role::Admin], session());
        assert!(admin.can(Action::ReadBids, other));
        assert_eq!(admin.may(Action::ChangeBids, other).expect_err("refused").kind(), ErrorKind::Forbidden);
    }

    #[test]
    fn a_token_does_no_more_than_its_scopes_and_its_owner() {
        let pool = PoolId::new("p").expect("an id");
        let (mine, other) = (TeamId::new("mine").expect("an id"), TeamId::new("other").expect("an id"));
        let token = |scopes: &[Scope]| {
            let via = Via::Token {
                id: TokenId::new("t").expect("an id"),
                scopes: scopes.iter().copied().collect(),
            };
            viewer(&[], via)
        };
        let mine = Object::Team { team: &mine, pool: &pool };
        assert!(token(&[Scope::Bids]).can(Action::ChangeBids, mine));
        assert!(!token(&[Scope::Read]).can(Action::ChangeBids, mine));
        assert!(!token(&Scope::ALL).can(Action::ChangeBids, Object::Team { team: &other, pool: &pool }));
        assert!(!token(&Scope::ALL).can(Action::SetSupply, Object::Organisation));
    }
}
