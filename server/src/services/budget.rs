//! A team's budget: what it has, earns, spends and may spend, with the figures that each number is made of.

use common::api::{
    AllowanceLevel, AllowanceView, BudgetHistory, BudgetPoint, BudgetView, Burn, CapLimit, Forecast,
    MarketClock, MonthBudget, Runway, RunwayWarning, Span, SpendingCap,
};
use common::ids::TeamId;
use common::instant::Instant;
use common::money::MicroCredits;
use jiff::ToSpan as _;

use super::Services;
use super::allowances::alerts;
use super::finance::range::Range;
use super::organisation::newest_setup;
use super::periods::{Calendar, PeriodKind};
use super::read::Latest;
use super::usable::Usable;
use crate::error::AppError;
use crate::policy::{Action, Object, Viewer};
use crate::store::allowances::{Owner, charged, rules};
use crate::store::entities::{Organisation, Team};
use crate::store::history::{seconds_between, step_start};
use crate::store::ledger::TransferKind;
use crate::store::{Tx, budget, warnings as stored_warnings};

/// A forecast goes on at the rate of so many days before today, and of today up to now.
pub(super) const FORECAST_DAYS: i8 = 7;

/// Warnings are shown for so many seconds.
const WARNINGS_SECONDS: i64 = 7 * 86_400;

impl Services {
    /// A team's budget now, with its history over a span.
    ///
    /// # Errors
    /// `NotFound`: there is no such team, or the viewer may not know of its money.
    pub async fn budget(&self, viewer: &Viewer, team: &TeamId, span: Span) -> Result<BudgetView, AppError> {
        let latest = self.market().latest().await?;
        let mut tx = self.store.read().await?;
        let team = team_of(&mut tx, &latest, team).await?;
        viewer.may(Action::ReadBudget, Object::Team { team: &team.id, pool: &team.pool })?;
        let clock = self.market().clock();
        let organisation = &latest.setup.organisation;
        let balance = budget::balance(&mut tx, &team.id, clock.cycle).await?;
        let burns = burns(&mut tx, &latest, &team).await?;
        let burn = sum(burns.iter().map(|burn| burn.cost));
        let available = MicroCredits(balance.0.max(0));
        let month = month(&mut tx, organisation, &team, &clock).await?;
        let stops = |allowance: Option<AllowanceView>| {
            allowance.is_some_and(|allowance| allowance.hard && allowance.left.0 == 0)
        };
        let over = match (stops(month.allowance), stops(month.pool_allowance)) {
            (true, _) => Some(CapLimit::Allowance),
            (false, true) => Some(CapLimit::PoolAllowance),
            (false, false) => None,
        };
        Ok(BudgetView {
            balance,
            available,
            owed: MicroCredits(balance.0.min(0).saturating_neg()),
            booked_at: budget::last_step(&mut tx, clock.cycle).await?.map(|(_, at)| at),
            income: team.income,
            burn,
            burns,
            runway: runway(available, burn, team.income),
            cap: spending_cap(&team, balance, organisation.sustain_minutes, over),
            month,
            warnings: warnings(&mut tx, organisation, &team.id, clock.cleared_at).await?,
            history: history(&mut tx, &team.id, &clock, balance, span).await?,
            clock,
            team: team.id,
            name: team.name,
            pool: team.pool,
        })
    }

    /// The teams whose budgets a viewer may read: id and name, in order of their names.
    ///
    /// # Errors
    /// `Unavailable`: the database does not answer.
    pub async fn budget_teams(&self, viewer: &Viewer) -> Result<Vec<(TeamId, String)>, AppError> {
        let latest = self.market().latest().await?;
        let may_read =
            |team: &&Team| viewer.can(Action::ReadBudget, Object::Team { team: &team.id, pool: &team.pool });
        let teams = latest.setup.teams.iter().filter(may_read);
        let name = |team: &Team| format!("{}{}", team.name, if team.archived { " (archived)" } else { "" });
        let mut teams: Vec<_> = teams.map(|team| (team.id.clone(), name(team))).collect();
        teams.sort_by(|one, other| one.1.cmp(&other.1).then_with(|| one.0.cmp(&other.0)));
        Ok(teams)
    }
}

/// A team as it is in force; one that waits for the next cycle, as it will be.
pub(super) async fn team_of(tx: &mut Tx, latest: &Latest, team: &TeamId) -> Result<Team, AppError> {
    if let Some(team) = latest.setup.teams.iter().find(|known| known.id == *team) {
        return Ok(team.clone());
    }
    let waiting = newest_setup(tx).await?.teams.into_iter().find(|known| known.id == *team);
    waiting.ok_or_else(|| AppError::not_found("team", team))
}

/// What the team's chips cost now.
pub(super) async fn burns(tx: &mut Tx, latest: &Latest, team: &Team) -> Result<Vec<Burn>, AppError> {
    let used = budget::used_chips(tx, &team.id, latest.number).await?;
    let burn = |(chip_type, chips): (_, common::chips::Chips)| {
        let local_price = latest.pool_price(&team.pool, &chip_type).and_then(|price| price.local_price);
        let cost = local_price.map_or(0, |price| u128::from(chips.0) * u128::from(price.0));
        let cost = MicroCredits(i64::try_from(cost).unwrap_or(i64::MAX));
        Burn { chip_type, chips, local_price, cost }
    };
    Ok(used.into_iter().map(burn).collect())
}

fn sum(amounts: impl Iterator<Item = MicroCredits>) -> MicroCredits {
    MicroCredits(amounts.fold(0, |sum, amount| sum.saturating_add(amount.0)))
}

/// How long `available` credits last at a rate of spending against an income, both per hour.
pub(crate) fn runway(available: MicroCredits, burn: MicroCredits, income: MicroCredits) -> Runway {
    let net = burn.0.saturating_sub(income.0);
    match (burn.0, net) {
        (..=0, _) => Runway::NotSpending,
        (_, ..=0) => Runway::Covered,
        _ if available.0 <= 0 => Runway::UsedUp,
        (_, net) => {
            let seconds = i128::from(available.0) * 3_600 / i128::from(net);
            Runway::Lasts { seconds: u64::try_from(seconds).unwrap_or(u64::MAX) }
        }
    }
}

/// What a team's bids may cost per hour: the engine's rule (CLEARING.md), in the credits of its pool.
fn spending_cap(
    team: &Team,
    balance: MicroCredits,
    sustain_minutes: u32,
    over: Option<CapLimit>,
) -> SpendingCap {
    let income = i128::from(team.income.0);
    let by_leverage = income * i128::from(team.leverage_thousandths) / 1_000;
    let by_sustain = income + (i128::from(balance.0) * 60).div_euclid(i128::from(sustain_minutes.max(1)));
    let (least, binds) = match (over, by_sustain < by_leverage) {
        (Some(allowance), _) => (0, allowance),
        (None, true) if balance.0 <= 0 => (by_sustain, CapLimit::Balance),
        (None, true) => (by_sustain, CapLimit::Sustain),
        (None, false) => (by_leverage, CapLimit::Leverage),
    };
    SpendingCap {
        cap: credits(least.max(0)),
        binds,
        leverage_thousandths: team.leverage_thousandths,
        by_leverage: credits(by_leverage),
        sustain_minutes,
        by_sustain: credits(by_sustain),
    }
}

fn credits(micros: i128) -> MicroCredits {
    MicroCredits(i64::try_from(micros).unwrap_or(if micros < 0 { i64::MIN } else { i64::MAX }))
}

/// The period in force of the team's allowance, the month without one, against it and against its pool's.
async fn month(
    tx: &mut Tx,
    organisation: &Organisation,
    team: &Team,
    clock: &MarketClock,
) -> Result<MonthBudget, AppError> {
    let now = clock.cleared_at;
    let calendar = Calendar::new(&organisation.time_zone)?;
    let (own, of_pool) = usable_of(tx, &calendar, team, (clock.cycle, now)).await?;
    let kind = own.as_ref().map_or(PeriodKind::Month, |own| own.rule.kind());
    let period = Range::around(&calendar, kind, now)?;
    let bounds = (period.starts_at, period.ends_at);
    let spent = charged(tx, &team.id, bounds, clock.cycle).await?;
    let told = alerts(tx, &Owner::Team(team.id.clone()), period.starts_at).await?;
    let told_of_pool = match &of_pool {
        Some(above) => alerts(tx, &Owner::Pool(team.pool.clone()), above.period.starts_at).await?,
        None => Vec::new(),
    };
    let first = budget::first_cycle_at(tx).await?.unwrap_or(now);
    let since = forecast_since(&calendar, now)?.max(first);
    let basis_spent = charged(tx, &team.id, (since, now), clock.cycle).await?;
    let allowance = own.map(|own| own.view());
    let pool_allowance = of_pool.map(|of_pool| of_pool.view());
    let least = least_left(allowance.as_ref(), pool_allowance.as_ref());
    Ok(MonthBudget {
        name: period.title(),
        time_zone: organisation.time_zone.clone(),
        starts_at: period.starts_at,
        ends_at: period.ends_at,
        spent,
        forecast: forecast(period.ends_at, now, spent, basis_spent, seconds_between(since, now)),
        allowance,
        pool_allowance,
        usable: least.map(|(left, _)| left),
        binds: least.map(|(_, level)| level),
        alerts: told,
        pool_alerts: told_of_pool,
    })
}

/// The allowances over a team that are in force in `cycle`, its own and its pool's, as they are `now`.
pub(super) async fn usable_of(
    tx: &mut Tx,
    calendar: &Calendar,
    team: &Team,
    (cycle, now): (u64, Instant),
) -> Result<(Option<Usable>, Option<Usable>), AppError> {
    let (mut own, mut of_pool) = (None, None);
    for (owner, rule) in rules(tx, cycle, now).await? {
        let place = match &owner {
            Owner::Team(id) if *id == team.id => &mut own,
            Owner::Pool(id) if *id == team.pool => &mut of_pool,
            Owner::Team(_) | Owner::Pool(_) => continue,
        };
        *place = Some(Usable::load(tx, calendar, (&owner, rule), now, cycle).await?);
    }
    Ok((own, of_pool))
}

/// What is left to a team: the least of its own allowance and its pool's, and which of them that is.
fn least_left(
    own: Option<&AllowanceView>,
    of_pool: Option<&AllowanceView>,
) -> Option<(MicroCredits, AllowanceLevel)> {
    match (own, of_pool) {
        (None, None) => None,
        (Some(own), Some(of_pool)) if of_pool.left < own.left => Some((of_pool.left, AllowanceLevel::Pool)),
        (Some(own), _) => Some((own.left, AllowanceLevel::Team)),
        (None, Some(of_pool)) => Some((of_pool.left, AllowanceLevel::Pool)),
    }
}

/// The midnight since which a forecast that is made at `now` takes its rate.
pub(super) fn forecast_since(calendar: &Calendar, now: Instant) -> Result<Instant, AppError> {
    let today = calendar.local(now)?.date();
    calendar.start_of(today.checked_sub(FORECAST_DAYS.days()).map_err(AppError::internal)?)
}

/// The warnings of the last seven days, the oldest first.
async fn warnings(
    tx: &mut Tx,
    organisation: &Organisation,
    team: &TeamId,
    now: Instant,
) -> Result<Vec<RunwayWarning>, AppError> {
    let since = now.plus_seconds(-WARNINGS_SECONDS);
    let first_day = Calendar::new(&organisation.time_zone)?.period(PeriodKind::Day, since)?;
    let warnings = stored_warnings::since(tx, team, first_day.starts_at).await?.into_iter();
    let view = |warning: stored_warnings::RunwayWarning| RunwayWarning {
        hours: warning.hours,
        balance: warning.balance,
        burn: warning.burn,
        income: warning.income,
        cycle: warning.cycle,
        at: warning.fired_at,
    };
    Ok(warnings.map(view).collect())
}

/// What is spent, and for the rest of the month the rate of the seconds before now.
pub(super) fn forecast(
    month_ends_at: Instant,
    now: Instant,
    spent: MicroCredits,
    basis_spent: MicroCredits,
    basis_seconds: i64,
) -> Forecast {
    let left = i128::from(seconds_between(now, month_ends_at).max(0));
    let rest =
        if basis_seconds > 0 { i128::from(basis_spent.0) * left / i128::from(basis_seconds) } else { 0 };
    Forecast {
        amount: credits(i128::from(spent.0) + rest),
        basis_seconds: basis_seconds.unsigned_abs(),
        basis_spent,
    }
}

/// Seconds between the points of a span.
const fn step_seconds(span: Span) -> u32 {
    match span {
        Span::Hour => 300,
        Span::Day => 3_600,
        Span::Week => 6 * 3_600,
        Span::Quarter => 86_400,
    }
}

/// The steps of a span up to now; the balance at the end of each follows from the present one and what was booked since.
async fn history(
    tx: &mut Tx,
    team: &TeamId,
    clock: &MarketClock,
    balance: MicroCredits,
    span: Span,
) -> Result<BudgetHistory, AppError> {
    let step_seconds = step_seconds(span);
    let step = i64::from(step_seconds);
    let now = clock.cleared_at;
    let first = budget::first_cycle_at(tx).await?.unwrap_or(now);
    let from = step_start(now.plus_seconds(-span.seconds()).max(first), step);
    let sums = budget::sums_since(tx, team, from, clock.cycle, step_seconds).await?;
    let mut points = Vec::new();
    let (mut at, mut balance) = (step_start(now, step), balance);
    while at >= from {
        let mut point = BudgetPoint {
            at,
            income: MicroCredits::ZERO,
            spent: MicroCredits::ZERO,
            other: MicroCredits::ZERO,
            balance,
        };
        for ((_, kind), amount) in sums.range((at, TransferKind::Mint)..=(at, TransferKind::Lapse)) {
            match kind {
                TransferKind::Income => point.income.0 += amount.0,
                TransferKind::Charge => point.spent.0 -= amount.0,
                TransferKind::Mint
                | TransferKind::Rebase
                | TransferKind::Correction
                | TransferKind::Lapse => point.other.0 += amount.0,
            }
            balance.0 -= amount.0;
        }
        points.push(point);
        at = at.plus_seconds(-step);
    }
    points.reverse();
    Ok(BudgetHistory { span, step_seconds, points })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn whole(credits: i64) -> MicroCredits {
        MicroCredits(credits * 1_000_000)
    }

    #[test]
    fn t059_how_long_a_balance_lasts() {
        let lasts = runway(whole(25), whole(10), whole(0));
        assert_eq!(
            (lasts, lasts.to_string().as_str()),
            (Runway::Lasts { seconds: 9_000 }, "lasts 2 h 30 min")
        );
        assert_eq!(runway(whole(25), whole(0), whole(0)).to_string(), "not spending");
        assert_eq!(runway(whole(25), whole(10), whole(10)), Runway::Covered);
        assert_eq!(runway(whole(0), whole(10), whole(5)), Runway::UsedUp);
        // Only what exceeds the income is taken from the balance.
        assert_eq!(runway(whole(25), whole(10), whole(5)), Runway::Lasts { seconds: 18_000 });
    }

    fn team(income: i64, leverage_thousandths: u32) -> Team {
        Team {
            id: "t".parse().unwrap(),
            pool: "p".parse().unwrap(),
            name: String::new(),
            income: whole(income),
            leverage_thousandths,
            archived: false,
        }
    }

    #[test]
    fn the_cap_is_the_least_of_leverage_and_what_can_be_sustained() {
        let cap = |income, leverage, balance, over: bool| {
            let over = over.then_some(CapLimit::Allowance);
            let cap = spending_cap(&team(income, leverage), whole(balance), 120, over);
            (cap.cap, cap.binds)
        };
        assert_eq!(cap(100, 2_000, 1_000, false), (whole(200), CapLimit::Leverage));
        assert_eq!(cap(100, 2_000, 50, false), (whole(125), CapLimit::Sustain));
        assert_eq!(cap(100, 2_000, 0, false), (whole(100), CapLimit::Balance));
        assert_eq!(cap(100, 2_000, -500, false), (whole(0), CapLimit::Balance));
        assert_eq!(cap(100, 2_000, 1_000, true), (whole(0), CapLimit::Allowance));
    }

    #[test]
    fn t062_t097_what_is_left_is_the_least_and_says_which_allowance_it_is() {
        let left = |credits: i64| AllowanceView {
            amount: whole(100),
            period: common::api::AllowancePeriod::Month,
            carry: common::api::Carry::None,
            carried: whole(0),
            limit: whole(100),
            spent: whole(100 - credits),
            hard: true,
            used_percent: 0,
            left: whole(credits),
            over: whole(0),
        };
        let (sixty, hundred) = (left(60), left(100));
        assert_eq!(least_left(Some(&hundred), Some(&sixty)), Some((whole(60), AllowanceLevel::Pool)));
        assert_eq!(least_left(Some(&sixty), Some(&hundred)), Some((whole(60), AllowanceLevel::Team)));
        assert_eq!(least_left(None, Some(&sixty)), Some((whole(60), AllowanceLevel::Pool)));
        assert_eq!(least_left(None, None), None);
    }

    #[test]
    fn a_forecast_goes_on_at_the_rate_of_the_last_days() {
        let calendar = Calendar::new("UTC").unwrap();
        let now: Instant = "2026-11-21T00:00:00Z".parse().unwrap();
        let month = calendar.period(PeriodKind::Month, now).unwrap();
        // Ten days are left; the last seven cost 70.
        let since = forecast_since(&calendar, now.plus_seconds(40_000)).unwrap();
        assert_eq!(since.to_string(), "2026-11-14T00:00:00Z");
        let forecast = forecast(month.ends_at, now, whole(150), whole(70), seconds_between(since, now));
        assert_eq!(forecast.amount, whole(250));
    }
}
