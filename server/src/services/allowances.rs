//! Sets what a team may spend in a month.

use common::ids::TeamId;
use common::money::MicroCredits;

use super::Services;
use super::audit::{Deed, Doer, reason_into, record};
use super::budget::team_of;
use super::checks::Checks;
use super::periods::{Calendar, PeriodKind};
use super::version::check_version;
use crate::error::AppError;
use crate::policy::{Action, Object};
use crate::store::allowances::{Allowance, charged};
use crate::store::entities::{self, Team};
use crate::store::results::last_cycle;
use crate::store::{Tx, budget};

/// What the month has cost a team already, and what its chips may cost until that is booked.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct InUse {
    spent: MicroCredits,
    held: MicroCredits,
}

impl Services {
    /// A team's allowance as it is set, what waits for the next cycle included.
    ///
    /// # Errors
    /// `Unavailable`: the database does not answer.
    pub async fn allowance(&self, team: &TeamId) -> Result<Allowance, AppError> {
        newest_allowance(&mut self.store.read().await?, team).await
    }

    /// Sets or takes away a team's monthly allowance, from the next cycle on.
    ///
    /// # Errors
    /// `NotFound`: there is no such team. `Forbidden`: the doer does not administer the team's pool. `Invalid`: the amount
    /// is out of its range, a hard allowance lies below what is used and held, or there is no reason.
    /// `PreconditionFailed`: it was changed since `known`.
    pub async fn set_allowance(
        &self,
        doer: Doer<'_>,
        allowance: &Allowance,
        known: Option<&str>,
    ) -> Result<(), AppError> {
        let (now, latest) = (self.now(), self.market().latest().await?);
        let mut tx = self.store.write().await?;
        let team = team_of(&mut tx, &latest, &allowance.team).await?;
        doer.viewer.may(Action::SetIncome, Object::Team { team: &team.id, pool: &team.pool })?;
        let present = newest_allowance(&mut tx, &team.id).await?;
        check_version(known, &present)?;
        let mut checks = Checks::default();
        if let Some(amount) = allowance.amount {
            checks.amount("amount", amount);
            let burn = self.burn(&mut tx, &latest, &team).await?;
            let settings = &latest.setup.organisation;
            let month = Calendar::new(&settings.time_zone)?.period(PeriodKind::Month, now)?;
            let cycle = last_cycle(&mut tx).await?.map_or(0, |cycle| cycle.number);
            let spent = charged(&mut tx, &team.id, (month.starts_at, month.ends_at), cycle).await?;
            let held = i128::from(burn.0) * i128::from(settings.accounting_seconds) / 3_600;
            let held = MicroCredits(i64::try_from(held).unwrap_or(i64::MAX));
            if allowance.hard {
                check_least(&mut checks, amount, InUse { spent, held });
            }
        }
        reason_into(&mut checks, doer.reason);
        checks.finish()?;
        entities::write(&mut tx, now, allowance).await?;
        let deed = Deed::new("team.allowance_set", "team", &team.id).before(&present)?.after(allowance)?;
        record(&mut tx, now, doer, deed).await?;
        tx.commit().await
    }

    /// What a team's chips cost now per hour.
    async fn burn(
        &self,
        tx: &mut Tx,
        latest: &super::read::Latest,
        team: &Team,
    ) -> Result<MicroCredits, AppError> {
        let burns = super::budget::burns(tx, latest, team).await?;
        Ok(MicroCredits(burns.iter().fold(0, |sum, burn| sum.saturating_add(burn.cost.0))))
    }
}

/// A hard allowance must not lie below what is used of it and what the chips in use will be charged.
fn check_least(checks: &mut Checks, amount: MicroCredits, in_use: InUse) {
    let InUse { spent, held } = in_use;
    let least = MicroCredits(spent.0.saturating_add(held.0));
    if amount < least {
        checks.refuse(
            "amount",
            format!(
                "is {amount}; used this month {spent}, held for chips in use until they are booked {held}: the least is \
                 {least}. Make it soft to go below"
            ),
        );
    }
}

pub(super) async fn newest_allowance(tx: &mut Tx, team: &TeamId) -> Result<Allowance, AppError> {
    let none = Allowance { team: team.clone(), amount: None, hard: false };
    Ok(budget::newest_allowance(tx, team).await?.unwrap_or(none))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn t064_a_hard_allowance_below_use_is_refused_with_its_parts_and_the_least() {
        let whole = |credits: i64| MicroCredits(credits * 1_000_000);
        let in_use = InUse { spent: whole(60), held: MicroCredits(2_500_000) };
        let mut checks = Checks::default();
        check_least(&mut checks, whole(50), in_use);
        let refused = checks.finish().unwrap_err();
        assert_eq!(
            refused.fields()[0].detail,
            "is 50.00; used this month 60.00, held for chips in use until they are booked 2.50: the least is 62.50. \
             Make it soft to go below"
        );
        let mut checks = Checks::default();
        check_least(&mut checks, MicroCredits(62_500_000), in_use);
        assert!(checks.finish().is_ok());
    }
}
