//! Warnings before a team's balance is used up: a day and an hour ahead, each told once a day. They are looked at with
//! each accounting step, by the chips in use and the prices in force until then.

use std::collections::{BTreeMap, BTreeSet};

use common::api::Runway;
use common::ids::TeamId;
use common::instant::Instant;
use common::money::MicroCredits;

use super::state::MarketState;
use crate::error::AppError;
use crate::services::budget::runway;
use crate::services::periods::{Calendar, PeriodKind};
use crate::store::warnings::{RunwayWarning, WARNING_HOURS};

/// What was told today, as far as this process knows; the store knows all of it.
#[derive(Clone, Debug, Default)]
pub(crate) struct Warned {
    day_starts_at: Instant,
    told: BTreeSet<(TeamId, u32)>,
}

impl MarketState {
    /// The warnings that are due when an accounting step was booked at `at` in a cycle.
    pub(super) fn due_warnings(&mut self, cycle: u64, at: Instant) -> Result<Vec<RunwayWarning>, AppError> {
        let burns = self.burns();
        let day_starts_at =
            Calendar::new(&self.organisation.time_zone)?.period(PeriodKind::Day, at)?.starts_at;
        if self.warned.day_starts_at != day_starts_at {
            self.warned = Warned { day_starts_at, told: BTreeSet::new() };
        }
        let mut due = Vec::new();
        for (team, burn) in burns {
            let Some(income) = self.teams.get(&team).map(|state| state.team.income) else { continue };
            let balance = MicroCredits(self.book.team_balance(team.as_str()));
            let seconds = match runway(balance, burn, income) {
                Runway::Lasts { seconds } => seconds,
                Runway::UsedUp => 0,
                Runway::NotSpending | Runway::Covered => continue,
            };
            for hours in WARNING_HOURS.into_iter().filter(|hours| seconds <= u64::from(*hours) * 3_600) {
                if self.warned.told.insert((team.clone(), hours)) {
                    let team = team.clone();
                    due.push(RunwayWarning {
                        team,
                        day_starts_at,
                        hours,
                        balance,
                        burn,
                        income,
                        cycle,
                        fired_at: at,
                    });
                }
            }
        }
        Ok(due)
    }

    /// What each team's paid chips cost per hour, in the local credits of its pool.
    fn burns(&self) -> BTreeMap<TeamId, MicroCredits> {
        let mut burns: BTreeMap<TeamId, MicroCredits> = BTreeMap::new();
        for quota in self.quotas.values().filter(|quota| quota.used.0 > 0) {
            let price = self.local_price(&quota.team, &quota.chip_type);
            let cost = u128::from(quota.used.0) * u128::from(price.0);
            let burn = burns.entry(quota.team.clone()).or_default();
            burn.0 = burn.0.saturating_add(i64::try_from(cost).unwrap_or(i64::MAX));
        }
        burns
    }
}
