//! Each team's share of the chip-hours used against its share of the purchasing power, over weeks and months: where the two
//! stay apart, somebody bids for less than they could, or pays more for what they get.

use std::collections::BTreeMap;

use common::api::{SharesView, TeamShare};
use common::ids::{PoolId, TeamId};

use super::MarketReader;
use crate::error::AppError;
use crate::store::entities::Team;
use crate::store::{held, history, results, usage};

/// Days that can be asked for.
pub const SHARE_DAYS: [u32; 3] = [7, 30, 90];

/// Seconds in a day, in whose steps use is read.
const DAY: u32 = 86_400;

/// A whole, in millionths.
const WHOLE: u128 = 1_000_000;

impl MarketReader {
    /// The shares of all teams over the last days.
    ///
    /// # Errors
    /// `Invalid`: the number of days is none of [`SHARE_DAYS`]. `Unavailable`: the database does not answer.
    pub async fn shares(&self, days: u32) -> Result<SharesView, AppError> {
        if !SHARE_DAYS.contains(&days) {
            return Err(AppError::invalid("days", format!("is {days}; it must be 7, 30 or 90")));
        }
        let latest = self.latest().await?;
        let clock = self.clock();
        let to = clock.cleared_at;
        let mut tx = self.store.read().await?;
        let first = results::cycle(&mut tx, 1).await?.map_or(to, |first| first.starts_at);
        let midnight = history::step_start(to.plus_seconds(-i64::from(days * DAY)), i64::from(DAY));
        let from = midnight.max(first).min(to);
        let mut used: BTreeMap<TeamId, u128> = BTreeMap::new();
        // Days that began before `from` count in part; what there is of them is all after the first cycle.
        for row in usage::usage(&mut tx, midnight, to, DAY).await? {
            *used.entry(row.team).or_default() += u128::from(row.used_chip_seconds);
        }
        let incomes = held::incomes(&mut tx, from, to).await?;
        let weights = held::weights(&mut tx, from, to).await?;
        Ok(SharesView {
            clock,
            days,
            from,
            to,
            teams: shares(&latest.setup.teams, &used, &incomes, &weights),
        })
    }
}

fn part(of: u128, whole: u128) -> u64 {
    let share = (of * WHOLE).checked_div(whole).unwrap_or(0);
    u64::try_from(share).unwrap_or(u64::MAX)
}

fn shares(
    teams: &[Team],
    used: &BTreeMap<TeamId, u128>,
    incomes: &BTreeMap<TeamId, u128>,
    weights: &BTreeMap<PoolId, u128>,
) -> Vec<TeamShare> {
    let income = |team: &Team| incomes.get(&team.id).copied().unwrap_or(0);
    let mut pools: BTreeMap<&PoolId, u128> = BTreeMap::new();
    for team in teams {
        *pools.entry(&team.pool).or_default() += income(team);
    }
    // A pool without incomes has nothing to bid with, whatever its weight.
    let earning = pools.iter().filter(|(_, income)| **income > 0);
    let all_weights: u128 = earning.map(|(pool, _)| weights.get(*pool).copied().unwrap_or(0)).sum();
    let all_used: u128 = used.values().sum();
    let share = |team: &Team| {
        let of_team = used.get(&team.id).copied().unwrap_or(0);
        let in_pool = part(income(team), pools.get(&team.pool).copied().unwrap_or(0));
        let of_pool = part(weights.get(&team.pool).copied().unwrap_or(0), all_weights);
        TeamShare {
            team: team.id.clone(),
            name: team.name.clone(),
            pool: team.pool.clone(),
            used_milli_chip_hours: u64::try_from(of_team * 1_000 / 3_600).unwrap_or(u64::MAX),
            used_share_ppm: part(of_team, all_used),
            budget_share_ppm: part(u128::from(in_pool) * u128::from(of_pool), WHOLE * WHOLE),
        }
    };
    let mut shares: Vec<TeamShare> = teams
        .iter()
        .map(share)
        .filter(|share| share.used_milli_chip_hours > 0 || share.budget_share_ppm > 0)
        .collect();
    shares.sort_by(|one, other| {
        other.used_milli_chip_hours.cmp(&one.used_milli_chip_hours).then_with(|| one.team.cmp(&other.team))
    });
    shares
}

#[cfg(test)]
mod tests {
    use common::money::MicroCredits;

    use super::*;

    fn team(id: &str, pool: &str) -> Team {
        Team {
            id: id.parse().unwrap(),
            pool: pool.parse().unwrap(),
            name: id.to_owned(),
            income: MicroCredits(1),
            leverage_thousandths: 2_000,
            archived: false,
        }
    }

    #[test]
    fn t094_the_share_of_chip_hours_stands_against_the_share_of_budget() {
        let teams = [team("a", "p"), team("b", "p"), team("c", "q"), team("none", "r")];
        let used = [("a".parse().unwrap(), 3 * 3_600), ("c".parse().unwrap(), 3_600)].into();
        let incomes =
            [("a".parse().unwrap(), 30), ("b".parse().unwrap(), 10), ("c".parse().unwrap(), 1)].into();
        let weights =
            [("p".parse().unwrap(), 60), ("q".parse().unwrap(), 40), ("r".parse().unwrap(), 900)].into();
        let found = shares(&teams, &used, &incomes, &weights);
        let rows: Vec<_> = found
            .iter()
            .map(|row| {
                (row.team.as_str(), row.used_share_ppm, row.budget_share_ppm, row.used_milli_chip_hours)
            })
            .collect();
        assert_eq!(
            rows,
            [("a", 750_000, 450_000, 3_000), ("c", 250_000, 400_000, 1_000), ("b", 0, 150_000, 0)],
            "a pool without incomes bids with nothing"
        );
        assert!(shares(&teams, &BTreeMap::new(), &BTreeMap::new(), &BTreeMap::new()).is_empty());
    }
}
