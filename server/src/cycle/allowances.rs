//! Allowances in a cycle: what teams with one have spent in the month, the alerts that are due, and who may not bid.
//!
//! What was spent is what accounting steps booked in the month; a step counts where the time ends that it covers. It is
//! kept from cycle to cycle and read again from the ledger whenever an allowance or the time zone changes.

use std::collections::BTreeMap;

use common::ids::TeamId;
use common::instant::Instant;
use common::money::MicroCredits;

use super::state::MarketState;
use crate::error::AppError;
use crate::services::periods::{Calendar, Period, PeriodKind};
use crate::store::Tx;
use crate::store::allowances::{self, ALERT_PERCENTS, Alert, Allowance};
use crate::store::entities::{self, Organisation};

/// Allowances that are in force, and the month that is counted.
#[derive(Clone, Debug, Default)]
pub(crate) struct Allowances {
    /// By team; teams without an allowance are not in it.
    pub(crate) teams: BTreeMap<TeamId, Used>,
    /// Start of the month that `spent` counts.
    month_starts_at: Instant,
}

/// An allowance and what is used of it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Used {
    pub(crate) amount: MicroCredits,
    pub(crate) hard: bool,
    /// Booked in the month.
    pub(crate) spent: MicroCredits,
    /// The highest share that was told of this allowance in this month, as far as this process knows.
    told_percent: u32,
}

impl Used {
    fn percent_reached(&self, percent: u32) -> bool {
        i128::from(self.spent.0) * 100 >= i128::from(self.amount.0) * i128::from(percent)
    }

    /// Nothing more may be bid in this month.
    pub(crate) fn is_over(&self) -> bool {
        self.hard && self.spent >= self.amount
    }
}

/// The allowances that hold in `cycle` and what was spent up to the end of cycle `spent_to`, in the month in which a
/// step that is booked at `at` counts.
pub(crate) async fn load(
    tx: &mut Tx,
    organisation: &Organisation,
    cycle: u64,
    spent_to: u64,
    at: Instant,
) -> Result<Allowances, AppError> {
    let month = Calendar::new(&organisation.time_zone)?.month_booked(at)?;
    let mut teams = BTreeMap::new();
    for Allowance { team, amount, hard } in entities::in_cycle(tx, cycle).await? {
        if let Some(amount) = amount {
            let spent = allowances::charged(tx, &team, (month.starts_at, month.ends_at), spent_to).await?;
            teams.insert(team, Used { amount, hard, spent, told_percent: 0 });
        }
    }
    Ok(Allowances { teams, month_starts_at: month.starts_at })
}

impl MarketState {
    /// Turns to the month in which a step that is booked at `at` counts, before it is booked.
    pub(super) fn turn_to_month_booked(&mut self, at: Instant) -> Result<(), AppError> {
        let month = self.calendar()?.month_booked(at)?;
        self.allowances.turn_to(&month);
        Ok(())
    }

    /// The alerts that are due once a cycle's step is booked; afterwards the month that contains `at` is counted.
    pub(super) fn close_allowances(&mut self, cycle: u64, at: Instant) -> Result<Vec<Alert>, AppError> {
        let alerts = self.allowances.due(cycle, at);
        let month = self.calendar()?.period(PeriodKind::Month, at)?;
        self.allowances.turn_to(&month);
        Ok(alerts)
    }

    fn calendar(&self) -> Result<Calendar, AppError> {
        Calendar::new(&self.organisation.time_zone)
    }
}

impl Allowances {
    /// Counts what an accounting step charged a team.
    pub(super) fn count_charge(&mut self, team: &TeamId, amount: i64) {
        if let Some(used) = self.teams.get_mut(team) {
            used.spent.0 = used.spent.0.saturating_add(amount);
        }
    }

    fn turn_to(&mut self, month: &Period) {
        if self.month_starts_at != month.starts_at {
            self.month_starts_at = month.starts_at;
            for used in self.teams.values_mut() {
                (used.spent, used.told_percent) = (MicroCredits::ZERO, 0);
            }
        }
    }

    fn due(&mut self, cycle: u64, at: Instant) -> Vec<Alert> {
        let month_starts_at = self.month_starts_at;
        let mut alerts = Vec::new();
        for (team, used) in &mut self.teams {
            for percent in ALERT_PERCENTS {
                if percent > used.told_percent && used.percent_reached(percent) {
                    used.told_percent = percent;
                    let (amount, spent) = (used.amount, used.spent);
                    let team = team.clone();
                    alerts.push(Alert { team, month_starts_at, amount, percent, spent, cycle, fired_at: at });
                }
            }
        }
        alerts
    }
}
