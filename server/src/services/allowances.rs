//! Sets what a team, or the teams of a pool together, may spend in a month or a quarter.
//!
//! A pool's allowance stands above those of its teams: what a team may spend is the least of both. The allowances of its teams
//! sum to no more than it, unless it says that they may.

use common::api::{AllowanceAlert, AllowancePeriod, Carry};
use common::ids::{PoolId, TeamId};
use common::instant::Instant;
use common::money::MicroCredits;

use super::Services;
use super::audit::{Deed, Doer, reason_into, record};
use super::budget::team_of;
use super::changes::pool_in;
use super::checks::Checks;
use super::organisation::newest_setup;
use super::periods::Calendar;
use super::read::Latest;
use super::usable::{Rule, Usable};
use super::version::check_version;
use crate::error::AppError;
use crate::policy::{Action, Object};
use crate::store::allowances::{Alert, Allowance, Owner, PoolAllowance, alerts_since, newest_of_pool, rules};
use crate::store::entities::{self, Team};
use crate::store::results::last_cycle;
use crate::store::{Tx, budget};

/// What the period has cost already, and what the chips in use may cost until that is booked.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct InUse {
    spent: MicroCredits,
    held: MicroCredits,
}

/// The part of an allowance that teams and pools have in common, where it has an amount.
#[derive(Clone, Copy, Debug)]
struct Asked {
    amount: MicroCredits,
    hard: bool,
    period: AllowancePeriod,
    carry: Carry,
}

impl Services {
    /// A team's allowance as it is set, what waits for the next cycle included.
    ///
    /// # Errors
    /// `Unavailable`: the database does not answer.
    pub async fn allowance(&self, team: &TeamId) -> Result<Allowance, AppError> {
        newest_allowance(&mut self.store.read().await?, team).await
    }

    /// A pool's allowance as it is set, what waits for the next cycle included.
    ///
    /// # Errors
    /// `Unavailable`: the database does not answer.
    pub async fn pool_allowance(&self, pool: &PoolId) -> Result<PoolAllowance, AppError> {
        newest_pool_allowance(&mut self.store.read().await?, pool).await
    }

    /// The shares of a pool's allowance that were reached in its period in force, oldest first.
    ///
    /// # Errors
    /// `Unavailable`: the database does not answer.
    pub async fn pool_alerts(&self, pool: &PoolId) -> Result<Vec<AllowanceAlert>, AppError> {
        let (settings, clock) = (self.market().latest().await?, self.market().clock());
        let calendar = Calendar::new(&settings.setup.organisation.time_zone)?;
        let owner = Owner::Pool(pool.clone());
        let mut tx = self.store.read().await?;
        let rules = rules(&mut tx, clock.cycle, clock.cleared_at).await?;
        let Some((_, rule)) = rules.into_iter().find(|(of, _)| *of == owner) else { return Ok(Vec::new()) };
        let period = calendar.period(rule.kind(), clock.cleared_at)?;
        alerts(&mut tx, &owner, period.starts_at).await
    }

    /// Sets or takes away a team's allowance, from the next cycle on. Nothing is carried into its first period.
    ///
    /// # Errors
    /// `NotFound`: there is no such team. `Forbidden`: the doer does not administer the team's pool. `Invalid`: an amount is
    /// out of its range, a hard allowance lies below what is used and held, the pool's allowance does not leave as much, or
    /// there is no reason. `PreconditionFailed`: it was changed since `known`.
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
        let Allowance { amount, hard, period, carry, .. } = *allowance;
        if let Some(amount) = amount {
            let asked = Asked { amount, hard, period, carry };
            let owner = Owner::Team(team.id.clone());
            self.check(&mut tx, &mut checks, &latest, (&owner, asked), std::slice::from_ref(&team)).await?;
            check_against_pool(&mut tx, &mut checks, &team, amount, period).await?;
        }
        reason_into(&mut checks, doer.reason);
        checks.finish()?;
        entities::write(&mut tx, now, allowance).await?;
        let deed = Deed::new("team.allowance_set", "team", &team.id).before(&present)?.after(allowance)?;
        record(&mut tx, now, doer, deed).await?;
        tx.commit().await
    }

    /// Sets or takes away what the teams of a pool together may spend, from the next cycle on.
    ///
    /// # Errors
    /// `NotFound`: there is no such pool. `Forbidden`: the doer is no admin. `Invalid`: an amount is out of its range, a hard
    /// allowance lies below what is used and held, the allowances of its teams sum to more, or there is no reason.
    /// `PreconditionFailed`: it was changed since `known`.
    pub async fn set_pool_allowance(
        &self,
        doer: Doer<'_>,
        allowance: &PoolAllowance,
        known: Option<&str>,
    ) -> Result<(), AppError> {
        doer.viewer.may(Action::SetOrganisation, Object::Organisation)?;
        let (now, latest) = (self.now(), self.market().latest().await?);
        let mut tx = self.store.write().await?;
        let setup = newest_setup(&mut tx).await?;
        pool_in(&setup, &allowance.pool)?;
        let present = newest_pool_allowance(&mut tx, &allowance.pool).await?;
        check_version(known, &present)?;
        let mut checks = Checks::default();
        let PoolAllowance { amount, hard, period, carry, overcommit, .. } = *allowance;
        if let Some(amount) = amount {
            let asked = Asked { amount, hard, period, carry };
            let teams: Vec<Team> =
                setup.teams.into_iter().filter(|team| team.pool == allowance.pool).collect();
            let owner = Owner::Pool(allowance.pool.clone());
            self.check(&mut tx, &mut checks, &latest, (&owner, asked), &teams).await?;
            let of_teams = sum_of_teams(&mut tx, &teams, period, None).await?;
            if of_teams > amount && !overcommit {
                checks.refuse(
                    "amount",
                    format!(
                        "is {amount}; the allowances of its teams per {} sum to {of_teams}: the least is that. Let it be \
                         overcommitted to go below",
                        period.as_str()
                    ),
                );
            }
        }
        reason_into(&mut checks, doer.reason);
        checks.finish()?;
        entities::write(&mut tx, now, allowance).await?;
        let deed = Deed::new("pool.allowance_set", "pool", &allowance.pool);
        record(&mut tx, now, doer, deed.before(&present)?.after(allowance)?).await?;
        tx.commit().await
    }

    /// Notes what is wrong with an amount by itself, and with a hard one against what `teams` use of it.
    async fn check(
        &self,
        tx: &mut Tx,
        checks: &mut Checks,
        latest: &Latest,
        (owner, asked): (&Owner, Asked),
        teams: &[Team],
    ) -> Result<(), AppError> {
        let Asked { amount, hard, period, carry } = asked;
        checks.amount("amount", amount);
        if let Carry::Capped(most) = carry {
            checks.amount("carry_cap", most);
        }
        if !hard {
            return Ok(());
        }
        let settings = &latest.setup.organisation;
        let mut burn = 0_i128;
        for team in teams {
            let burns = super::budget::burns(tx, latest, team).await?;
            burn += burns.iter().map(|burn| i128::from(burn.cost.0)).sum::<i128>();
        }
        let held = i64::try_from(burn * i128::from(settings.accounting_seconds) / 3_600);
        let now = self.now();
        let rule = Rule { amount, hard, period, carry, since: now };
        let calendar = Calendar::new(&settings.time_zone)?;
        let cycle = last_cycle(tx).await?.map_or(0, |cycle| cycle.number);
        let spent = Usable::load(tx, &calendar, (owner, rule), now, cycle).await?.spent;
        check_least(checks, asked, InUse { spent, held: MicroCredits(held.unwrap_or(i64::MAX)) });
        Ok(())
    }
}

/// The alerts of an allowance in its periods since an instant, as they are shown.
pub(super) async fn alerts(
    tx: &mut Tx,
    owner: &Owner,
    since: Instant,
) -> Result<Vec<AllowanceAlert>, AppError> {
    let view = |alert: Alert| AllowanceAlert {
        percent: alert.percent,
        amount: alert.amount,
        spent: alert.spent,
        cycle: alert.cycle,
        at: alert.fired_at,
    };
    Ok(alerts_since(tx, owner, since).await?.into_iter().map(view).collect())
}

/// A hard allowance must not lie below what is used of it and what the chips in use will be charged.
fn check_least(checks: &mut Checks, asked: Asked, in_use: InUse) {
    let (amount, InUse { spent, held }) = (asked.amount, in_use);
    let least = MicroCredits(spent.0.saturating_add(held.0));
    if amount < least {
        checks.refuse(
            "amount",
            format!(
                "is {amount}; used this {} {spent}, held for chips in use until they are booked {held}: the least is \
                 {least}. Make it soft to go below",
                asked.period.as_str()
            ),
        );
    }
}

/// A team's allowance and those of its siblings must fit its pool's, where that has the same period and is not overcommitted.
async fn check_against_pool(
    tx: &mut Tx,
    checks: &mut Checks,
    team: &Team,
    amount: MicroCredits,
    period: AllowancePeriod,
) -> Result<(), AppError> {
    let above = newest_pool_allowance(tx, &team.pool).await?;
    let Some(limit) = above.amount.filter(|_| !above.overcommit && above.period == period) else {
        return Ok(());
    };
    let teams = newest_setup(tx).await?.teams;
    let siblings: Vec<Team> = teams.into_iter().filter(|other| other.pool == team.pool).collect();
    let of_others = sum_of_teams(tx, &siblings, period, Some(&team.id)).await?;
    let most = MicroCredits(limit.0.saturating_sub(of_others.0).max(0));
    if amount > most {
        checks.refuse(
            "amount",
            format!(
                "is {amount}; the allowance of pool {} is {limit} per {}, its other teams have {of_others} of it: at most \
                 {most} is left. An admin can let the pool be overcommitted",
                team.pool,
                period.as_str()
            ),
        );
    }
    Ok(())
}

/// What the newest allowances of teams for a kind of period sum to, but for one team.
async fn sum_of_teams(
    tx: &mut Tx,
    teams: &[Team],
    period: AllowancePeriod,
    without: Option<&TeamId>,
) -> Result<MicroCredits, AppError> {
    let allowances: Vec<Allowance> = entities::newest(tx).await?;
    let counts = |allowance: &&Allowance| {
        allowance.period == period
            && Some(&allowance.team) != without
            && teams.iter().any(|team| team.id == allowance.team)
    };
    let amounts = allowances.iter().filter(counts).filter_map(|allowance| allowance.amount);
    Ok(MicroCredits(amounts.fold(0, |sum, amount| sum.saturating_add(amount.0))))
}

pub(super) async fn newest_pool_allowance(tx: &mut Tx, pool: &PoolId) -> Result<PoolAllowance, AppError> {
    let none = PoolAllowance {
        pool: pool.clone(),
        amount: None,
        hard: false,
        period: AllowancePeriod::Month,
        carry: Carry::None,
        overcommit: false,
    };
    Ok(newest_of_pool(tx, pool).await?.unwrap_or(none))
}

pub(super) async fn newest_allowance(tx: &mut Tx, team: &TeamId) -> Result<Allowance, AppError> {
    let none = Allowance::monthly(team.clone(), None, false);
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
        let asked = |amount| Asked { amount, hard: true, period: AllowancePeriod::Month, carry: Carry::None };
        check_least(&mut checks, asked(whole(50)), in_use);
        let refused = checks.finish().unwrap_err();
        assert_eq!(
            refused.fields()[0].detail,
            "is 50.00; used this month 60.00, held for chips in use until they are booked 2.50: the least is 62.50. \
             Make it soft to go below"
        );
        let mut checks = Checks::default();
        check_least(&mut checks, asked(MicroCredits(62_500_000)), in_use);
        assert!(checks.finish().is_ok());
    }
}
