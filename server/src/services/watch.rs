//! Teams to look after: those that use more than they are granted, those that bid and get nothing, those that have an
//! income and bid for nothing.

use std::collections::BTreeMap;

use common::api::{WatchListView, WatchedTeam};
use common::ids::TeamId;

use super::Services;
use crate::error::AppError;
use crate::policy::{Action, Object, Viewer};
use crate::store::entities::Team;
use crate::store::results::{TeamQuota, quotas_in};
use crate::store::{Tx, budget, cuts};

impl Services {
    /// The teams to look after in the cycle in force.
    ///
    /// # Errors
    /// `NotFound`: the viewer may not see how single teams fare.
    pub async fn watch_list(&self, viewer: &Viewer) -> Result<WatchListView, AppError> {
        viewer.may(Action::ReadSealedBids, Object::Organisation)?;
        let latest = self.market().latest().await?;
        let mut tx = self.store.read().await?;
        let quotas = quotas_in(&mut tx, latest.number).await?;
        let mut over_quota: BTreeMap<TeamId, u64> = BTreeMap::new();
        for (_, _, team, over) in cuts::over_quota(&mut tx).await? {
            *over_quota.entry(team).or_default() += over.chips.0;
        }
        let mut list = sorted(latest.number, &latest.setup.teams, &quotas, &over_quota);
        for watched in &mut list.starved {
            watched.starved_cycles = starved_cycles(&mut tx, &watched.team, latest.number).await?;
        }
        list.starved.sort_by_key(|watched| std::cmp::Reverse(watched.starved_cycles));
        Ok(list)
    }
}

async fn starved_cycles(tx: &mut Tx, team: &TeamId, cycle: u64) -> Result<Option<u64>, AppError> {
    Ok(budget::starved_since(tx, team, cycle).await?.map(|since| cycle + 1 - since))
}

/// Puts teams on the lists they belong to.
fn sorted(
    cycle: u64,
    teams: &[Team],
    quotas: &[TeamQuota],
    over_quota: &BTreeMap<TeamId, u64>,
) -> WatchListView {
    let mut sums: BTreeMap<&TeamId, (u64, u64, u64)> = BTreeMap::new();
    for quota in quotas {
        let sum = sums.entry(&quota.team).or_default();
        sum.0 += quota.asked.0;
        sum.1 += quota.quota.0;
        sum.2 += quota.used.0 + quota.opportunistic.0;
    }
    let mut list = WatchListView { cycle, over_grant: Vec::new(), starved: Vec::new(), idle: Vec::new() };
    for team in teams {
        let (asked, granted, used) = sums.get(&team.id).copied().unwrap_or_default();
        let in_use = used + over_quota.get(&team.id).copied().unwrap_or_default();
        let watched = WatchedTeam {
            team: team.id.clone(),
            name: team.name.clone(),
            income: team.income,
            asked,
            granted,
            in_use,
            starved_cycles: None,
        };
        if asked > 0 && granted == 0 {
            list.starved.push(watched.clone());
        }
        if in_use > granted {
            list.over_grant.push(watched);
        } else if asked == 0 && team.income.0 > 0 {
            list.idle.push(watched);
        }
    }
    list.over_grant.sort_by_key(|watched| std::cmp::Reverse(watched.in_use - watched.granted));
    list.idle.sort_by_key(|watched| std::cmp::Reverse(watched.income));
    list
}

#[cfg(test)]
mod tests {
    use common::chips::Chips;
    use common::money::MicroCredits;

    use super::*;

    #[test]
    fn t046_t115_teams_over_grant_starved_and_idle() {
        let team = |id: &str| Team {
            id: id.parse().unwrap(),
            pool: "p".parse().unwrap(),
            name: id.to_owned(),
            income: MicroCredits(1),
            leverage_thousandths: 2_000,
            archived: false,
        };
        let quota = |team: &str, asked, quota, used, opportunistic| TeamQuota {
            cycle: 1,
            team: team.parse().unwrap(),
            chip_type: "A100".parse().unwrap(),
            asked: Chips(asked),
            quota: Chips(quota),
            used: Chips(used),
            opportunistic: Chips(opportunistic),
        };
        let teams = [team("cut"), team("fed"), team("free"), team("hungry"), team("quiet")];
        let quotas = [
            quota("cut", 52, 2, 2, 0),
            quota("fed", 8, 8, 8, 0),
            quota("free", 4, 2, 2, 2),
            quota("hungry", 4, 0, 0, 0),
        ];
        let over_quota = [("cut".parse().unwrap(), 50)].into();
        let list = sorted(1, &teams, &quotas, &over_quota);
        let ids = |list: &[WatchedTeam]| -> Vec<String> {
            list.iter().map(|watched| watched.team.to_string()).collect()
        };
        assert_eq!(ids(&list.over_grant), ["cut", "free"], "52 chips on a grant of 2 come first");
        assert_eq!(ids(&list.starved), ["hungry"]);
        assert_eq!(ids(&list.idle), ["quiet"]);
    }
}
