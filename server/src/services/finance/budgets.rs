//! The month's budgets: what each team may spend, has spent and will have spent, and how good such forecasts were.

use std::collections::BTreeMap;

use common::api::{BudgetRow, BudgetsView, ForecastTest};
use common::ids::TeamId;
use common::instant::Instant;
use common::money::MicroCredits;
use jiff::ToSpan as _;

use super::Count;
use super::range::Range;
use super::spend::totals;
use crate::error::AppError;
use crate::policy::{Action, Object, Viewer};
use crate::services::Services;
use crate::services::budget::{FORECAST_DAYS, forecast, forecast_since};
use crate::services::periods::PeriodKind;
use crate::services::usable::Usable;
use crate::store::allowances::{Owner, rules};
use crate::store::entities::Team;
use crate::store::finance::rates::rounded;
use crate::store::finance::spend::{self, Stretch};
use crate::store::history::seconds_between;
use crate::store::{Tx, results};

/// Past months that forecasts are tested on, at most.
const TESTED_MONTHS: usize = 6;

/// The day of a month at whose beginning a tested forecast is made, counted from 0.
const TESTED_DAY: i8 = 15;

impl Services {
    /// All budgets of a month or a quarter, with forecasts. An allowance stands in periods of its own kind.
    ///
    /// # Errors
    /// `NotFound`: the viewer may not read all money. `Invalid`: the period is no month and no quarter.
    pub async fn budgets(&self, viewer: &Viewer, period: Option<&str>) -> Result<BudgetsView, AppError> {
        viewer.may(Action::ReadMoney, Object::Organisation)?;
        let latest = self.market().latest().await?;
        let clock = self.market().clock();
        let mut tx = self.store.read().await?;
        let zone = &latest.setup.organisation.time_zone;
        let count = Count::load(&mut tx, zone, (clock.cycle, clock.cleared_at)).await?;
        let month = count.month_or_quarter(period)?;
        let rows = rows(&mut tx, &count, &month, &latest.setup.teams).await?;
        let tests = tests(&mut tx, &count, &month).await?;
        let basis_days = FORECAST_DAYS.unsigned_abs().into();
        Ok(BudgetsView { period: count.view(&month)?, rows, basis_days, tests })
    }
}

async fn rows(
    tx: &mut Tx,
    count: &Count,
    period: &Range,
    teams: &[Team],
) -> Result<Vec<BudgetRow>, AppError> {
    let mut spent = by_team(totals(tx, count, period).await?);
    let mut allowances = allowances(tx, count, period).await?;
    let basis = basis(tx, count, period).await?;
    let mut rows = Vec::new();
    for team in teams {
        let spent = MicroCredits(spent.remove(&team.id).unwrap_or(0));
        let allowance = allowances.remove(&team.id);
        if spent.0 == 0 && allowance.is_none() {
            continue;
        }
        let forecast = match &basis {
            None => spent,
            Some(basis) => {
                let before = MicroCredits(basis.spent.get(&team.id).copied().unwrap_or(0));
                forecast(period.ends_at, count.now, spent, before, basis.seconds).amount
            }
        };
        let allowance = allowance.map(|usable| Usable { spent, ..usable }.view());
        rows.push(BudgetRow {
            team: team.id.clone(),
            name: team.name.clone(),
            pool: team.pool.clone(),
            spent,
            forecast,
            allowance: allowance.map(|allowance| allowance.limit),
            hard: allowance.is_some_and(|allowance| allowance.hard),
            used_percent: allowance.map(|allowance| allowance.used_percent),
            forecast_over: allowance
                .map(|allowance| MicroCredits(forecast.0.saturating_sub(allowance.limit.0)))
                .filter(|over| over.0 > 0),
        });
    }
    rows.sort_by(|one, other| {
        let key = |row: &BudgetRow| (std::cmp::Reverse(row.used_percent), std::cmp::Reverse(row.spent));
        key(one).cmp(&key(other)).then_with(|| one.team.cmp(&other.team))
    });
    Ok(rows)
}

/// The allowances of teams whose periods are of this kind, without what is spent of them.
async fn allowances(tx: &mut Tx, count: &Count, range: &Range) -> Result<BTreeMap<TeamId, Usable>, AppError> {
    let cycle = last_cycle_of(tx, count, range).await?;
    let mut found = BTreeMap::new();
    for (owner, rule) in rules(tx, cycle, range.ends_at).await? {
        let Owner::Team(team) = &owner else { continue };
        if !range.is(rule.kind()) {
            continue;
        }
        let period = count.calendar.period(rule.kind(), range.starts_at)?;
        let carried = Usable::carried_into(tx, &count.calendar, (&owner, rule), &period, count.cycle).await?;
        let usable = Usable { rule, period, carried, spent: MicroCredits::ZERO };
        found.insert(team.clone(), usable);
    }
    Ok(found)
}

/// What each team was charged in local credits.
fn by_team(spend: spend::ByTeam) -> BTreeMap<TeamId, i64> {
    let mut teams: BTreeMap<TeamId, i64> = BTreeMap::new();
    for ((team, _), spend) in spend {
        let sum = teams.entry(team).or_default();
        *sum = sum.saturating_add(spend.cost);
    }
    teams
}

/// The last cycle that began in a month; the last one of all where the month goes on.
async fn last_cycle_of(tx: &mut Tx, count: &Count, month: &Range) -> Result<u64, AppError> {
    if month.ends_at > count.now {
        return Ok(count.cycle);
    }
    let cycle = results::cycle_at(tx, Instant(month.ends_at.0 - 1)).await?;
    Ok(cycle.map_or(0, |cycle| cycle.number))
}

/// What the forecast of a month that goes on is made from.
struct Basis {
    spent: BTreeMap<TeamId, i64>,
    seconds: i64,
}

async fn basis(tx: &mut Tx, count: &Count, month: &Range) -> Result<Option<Basis>, AppError> {
    if !(month.starts_at <= count.now && count.now < month.ends_at) {
        return Ok(None);
    }
    let from = forecast_since(&count.calendar, count.now)?;
    let to = count.calendar.period(PeriodKind::Day, count.now)?.ends_at;
    let days = [Stretch { from, to, is_month: false, minus: false }];
    let spent = by_team(spend::totals(tx, &count.time_zone, (from, to), &days).await?);
    Ok(Some(Basis { spent, seconds: seconds_between(from.max(count.first_at), count.now) }))
}

/// What the forecast would have said in the middle of each of the last months that are over, of all teams together.
async fn tests(tx: &mut Tx, count: &Count, month: &Range) -> Result<Vec<ForecastTest>, AppError> {
    let first = count.first_at;
    let mut tested = Vec::new();
    let last = Range::around(&count.calendar, PeriodKind::Month, Instant(month.ends_at.0 - 1))?;
    let mut past = if count.view(&last)?.over { last } else { last.before(&count.calendar)? };
    while tested.len() < TESTED_MONTHS && past.ends_at > first {
        if count.view(&past)?.over {
            tested.extend(test(tx, count, &past, first).await?);
        }
        past = past.before(&count.calendar)?;
    }
    Ok(tested)
}

async fn test(
    tx: &mut Tx,
    count: &Count,
    month: &Range,
    first: Instant,
) -> Result<Option<ForecastTest>, AppError> {
    let first_day = count.calendar.local(month.starts_at)?.date();
    let day = |days: i8| {
        let day = first_day.checked_add(days.days()).map_err(AppError::internal)?;
        count.calendar.start_of(day)
    };
    let made_at = day(TESTED_DAY)?;
    let since = day(TESTED_DAY - FORECAST_DAYS)?.max(first);
    if since >= made_at {
        return Ok(None);
    }
    let days = spend::pool_days(tx, &count.time_zone, month.starts_at, month.ends_at).await?;
    let sum = |from: Instant, to: Instant| {
        let spend = days.range(from..to).flat_map(|(_, day)| day.values());
        MicroCredits(spend.fold(0, |sum, spend| sum.saturating_add(spend.global_cost)))
    };
    let (spent, actual) = (sum(month.starts_at, made_at), sum(month.starts_at, month.ends_at));
    let basis = sum(day(TESTED_DAY - FORECAST_DAYS)?, made_at);
    let forecast = forecast(month.ends_at, made_at, spent, basis, seconds_between(since, made_at)).amount;
    let off = i128::from(forecast.0) - i128::from(actual.0);
    let off_permille = (actual.0 > 0).then(|| rounded(off * 1_000, i128::from(actual.0)));
    Ok(Some(ForecastTest { period: count.view(month)?, made_at, forecast, actual, off_permille }))
}
