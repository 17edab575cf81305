//! What a group of the identity provider is here: roles, teams and pools, by the rules of the configuration.

use std::collections::{BTreeMap, BTreeSet};
use std::str::FromStr;

use common::api::Role;
use common::ids::{PoolId, TeamId};

/// What one rule gives to the members of a group.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Grant {
    /// A role in the organisation.
    Role(Role),
    /// Membership of a team.
    Member(TeamId),
    /// Membership of a team, whose leverage and members the person sets.
    Lead(TeamId),
    /// A pool that the person administers.
    Pool(PoolId),
}

impl FromStr for Grant {
    type Err = ();

    fn from_str(text: &str) -> Result<Self, ()> {
        let (kind, id) = text.split_once(':').ok_or(())?;
        match kind {
            "role" => id.parse().map(Self::Role).map_err(|_| ()),
            "team" => id.parse().map(Self::Member).map_err(|_| ()),
            "lead" => id.parse().map(Self::Lead).map_err(|_| ()),
            "pool" => id.parse().map(Self::Pool).map_err(|_| ()),
            _ => Err(()),
        }
    }
}

/// Everything that a person's groups give.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Grants {
    /// Roles in the organisation.
    pub roles: BTreeSet<Role>,
    /// Teams, and whether the person leads them.
    pub teams: BTreeMap<TeamId, bool>,
    /// Pools that the person administers.
    pub pools: BTreeSet<PoolId>,
}

impl Grants {
    /// Whether the groups give nothing at all.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.roles.is_empty() && self.teams.is_empty() && self.pools.is_empty()
    }

    fn add(&mut self, grant: &Grant) {
        match grant {
            Grant::Role(role) => {
                self.roles.insert(*role);
            }
            Grant::Member(team) => {
                self.teams.entry(team.clone()).or_insert(false);
            }
            Grant::Lead(team) => {
                self.teams.insert(team.clone(), true);
            }
            Grant::Pool(pool) => {
                self.pools.insert(pool.clone());
            }
        }
    }
}

/// The rules: which group gives what. A group may stand in several.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct GroupMap(Vec<(String, Grant)>);

impl GroupMap {
    /// Whether there is no rule: groups mean nothing here.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// What these groups give together. Groups without a rule give nothing.
    #[must_use]
    pub fn grants(&self, groups: &[String]) -> Grants {
        let mut grants = Grants::default();
        for (group, grant) in &self.0 {
            if groups.contains(group) {
                grants.add(grant);
            }
        }
        grants
    }
}

/// Rules in lines or between semicolons, each `group -> grant`. The last arrow counts: a group's name may have one.
impl FromStr for GroupMap {
    type Err = ();

    fn from_str(text: &str) -> Result<Self, ()> {
        let rules = text.split(['\n', ';']).map(str::trim).filter(|rule| !rule.is_empty());
        let rule = |rule: &str| {
            let (group, grant) = rule.rsplit_once("->").ok_or(())?;
            let group = group.trim();
            if group.is_empty() {
                return Err(());
            }
            Ok((group.to_owned(), grant.trim().parse()?))
        };
        rules.map(rule).collect::<Result<_, ()>>().map(Self)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn map(text: &str) -> GroupMap {
        text.parse().expect("rules")
    }

    fn groups(names: &[&str]) -> Vec<String> {
        names.iter().map(|name| (*name).to_owned()).collect()
    }

    #[test]
    fn a_person_gets_what_all_groups_give_together() {
        let map = map("admins -> role:admin; ml -> team:vision\nml -> role:auditor; leads -> lead:vision;\
                       cn=infra,ou=a->b -> pool:infra");
        let grants = map.grants(&groups(&["ml", "leads", "unknown", "cn=infra,ou=a->b"]));
        assert_eq!(grants.roles, BTreeSet::from([Role::Auditor]));
        assert_eq!(grants.teams, BTreeMap::from([("vision".parse().expect("an id"), true)]));
        assert_eq!(grants.pools, BTreeSet::from(["infra".parse().expect("an id")]));
    }

    #[test]
    fn leading_a_team_outweighs_being_in_it_in_any_order() {
        for rules in ["a -> lead:x; b -> team:x", "b -> team:x; a -> lead:x"] {
            let grants = map(rules).grants(&groups(&["a", "b"]));
            assert_eq!(grants.teams.values().collect::<Vec<_>>(), [&true], "{rules}");
        }
    }

    #[test]
    fn names_of_groups_are_compared_whole_and_with_their_case() {
        let map = map("admins -> role:admin");
        for other in ["Admins", "admins ", "admin", "admins -> role:admin", ""] {
            assert!(map.grants(&groups(&[other])).is_empty(), "{other:?}");
        }
    }

    #[test]
    fn a_rule_that_gives_nothing_known_is_refused() {
        for bad in
            ["admins", "admins -> admin", "admins -> role:root", "-> role:admin", "a -> team:", "a -> x:y"]
        {
            assert_eq!(bad.parse::<GroupMap>(), Err(()), "{bad}");
        }
        assert!(map(" ;\n; ").is_empty());
    }
}
