//! Allowances in a cycle: what teams and pools with one have spent in its period, the alerts that are due, and who may not
//! bid.
//!
//! What was spent is what accounting steps booked in the period; a step counts where the time ends that it covers. It is kept
//! from cycle to cycle, with what was carried over, and read again from the ledger whenever an allowance or the time zone
//! changes: both ways are the same arithmetic (`services::usable`).

use std::collections::BTreeMap;

use common::ids::{PoolId, TeamId};
use common::instant::Instant;

use super::state::MarketState;
use crate::error::AppError;
use crate::services::periods::Calendar;
use crate::services::usable::Usable;
use crate::store::Tx;
use crate::store::allowances::{self, ALERT_PERCENTS, Alert, Owner};
use crate::store::entities::Organisation;

/// Allowances that are in force. Who has none is not in them.
#[derive(Clone, Debug, Default)]
pub(crate) struct Allowances {
    teams: BTreeMap<TeamId, Told>,
    pools: BTreeMap<PoolId, Told>,
}

/// An allowance and what was told of it.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Told {
    usable: Usable,
    /// The highest share that was told of it in its period, as far as this process knows.
    percent: u32,
}

impl Told {
    fn has_reached(&self, percent: u32) -> bool {
        let (spent, limit) = (i128::from(self.usable.spent.0), i128::from(self.usable.limit().0));
        spent * 100 >= limit * i128::from(percent)
    }

    /// The shares that are reached and were not told yet; they are now.
    fn tell(&mut self) -> Vec<u32> {
        let reached = |percent: &u32| *percent > self.percent && self.has_reached(*percent);
        let due: Vec<u32> = ALERT_PERCENTS.into_iter().filter(reached).collect();
        self.percent = due.last().copied().unwrap_or(self.percent);
        due
    }
}

/// The allowances that hold in `cycle` and what was spent up to the end of cycle `spent_to`, in the periods in which a step
/// that is booked at `at` counts.
pub(crate) async fn load(
    tx: &mut Tx,
    organisation: &Organisation,
    cycle: u64,
    spent_to: u64,
    at: Instant,
) -> Result<Allowances, AppError> {
    let calendar = Calendar::new(&organisation.time_zone)?;
    let mut allowances = Allowances::default();
    for (owner, rule) in allowances::rules(tx, cycle, at).await? {
        let usable = Usable::load(tx, &calendar, (&owner, rule), booked(at), spent_to).await?;
        let told = Told { usable, percent: 0 };
        match owner {
            Owner::Team(team) => allowances.teams.insert(team, told),
            Owner::Pool(pool) => allowances.pools.insert(pool, told),
        };
    }
    Ok(allowances)
}

/// When what a step books at an instant counts: just before it.
const fn booked(at: Instant) -> Instant {
    Instant(at.0 - 1)
}

impl MarketState {
    /// Turns to the periods in which a step that is booked at `at` counts, before it is booked.
    pub(super) fn turn_to_periods_booked(&mut self, at: Instant) -> Result<(), AppError> {
        let calendar = Calendar::new(&self.organisation.time_zone)?;
        self.allowances.turn_to(&calendar, booked(at))
    }

    /// The alerts that are due once a cycle's step is booked; afterwards the periods that contain `at` are counted.
    pub(super) fn close_allowances(&mut self, cycle: u64, at: Instant) -> Result<Vec<Alert>, AppError> {
        let alerts = self.allowances.due(cycle, at);
        let calendar = Calendar::new(&self.organisation.time_zone)?;
        self.allowances.turn_to(&calendar, at)?;
        Ok(alerts)
    }
}

impl Allowances {
    /// Counts what an accounting step charged a team.
    pub(super) fn count_charge(&mut self, team: &TeamId, pool: &PoolId, amount: i64) {
        for told in self.teams.get_mut(team).into_iter().chain(self.pools.get_mut(pool)) {
            let spent = &mut told.usable.spent;
            spent.0 = spent.0.saturating_add(amount);
        }
    }

    /// Nothing more may be bid by a team: its own hard allowance or its pool's is used up.
    pub(super) fn is_over(&self, team: &TeamId, pool: &PoolId) -> bool {
        self.teams.get(team).into_iter().chain(self.pools.get(pool)).any(|told| told.usable.is_over())
    }

    fn turn_to(&mut self, calendar: &Calendar, at: Instant) -> Result<(), AppError> {
        for told in self.teams.values_mut().chain(self.pools.values_mut()) {
            if told.usable.turn_to(calendar, at)? {
                told.percent = 0;
            }
        }
        Ok(())
    }

    fn due(&mut self, cycle: u64, at: Instant) -> Vec<Alert> {
        let teams = self.teams.iter_mut().map(|(team, told)| (Owner::Team(team.clone()), told));
        let pools = self.pools.iter_mut().map(|(pool, told)| (Owner::Pool(pool.clone()), told));
        let mut alerts = Vec::new();
        for (owner, told) in teams.chain(pools) {
            for percent in told.tell() {
                let (amount, spent) = (told.usable.limit(), told.usable.spent);
                let period_starts_at = told.usable.period.starts_at;
                let owner = owner.clone();
                alerts.push(Alert { owner, period_starts_at, amount, percent, spent, cycle, fired_at: at });
            }
        }
        alerts
    }
}
