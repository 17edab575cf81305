//! Spend over a period by pool, team or chip type, compared with the period before it.

use std::collections::BTreeMap;

use common::api::{SpendDay, SpendGroup, SpendRow, SpendSeries, SpendView, UseView};
use common::ids::{ChipTypeId, PoolId, TeamId};
use common::instant::Instant;
use common::money::MicroCredits;

use super::Count;
use super::range::Range;
use super::variance::{Variance, is_unusual};
use crate::error::AppError;
use crate::policy::{Action, Object, Viewer};
use crate::services::Services;
use crate::services::periods::Period;
use crate::services::read::Latest;
use crate::store::Tx;
use crate::store::finance::spend::{self, ByTeam, Spend};

/// Series with a line of their own in the chart; what is left is one more.
const SERIES: usize = 7;

/// What is asked for: the period by its name, the rows, and what to leave out.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct SpendQuery {
    /// As in an address; none is the month in force.
    pub period: Option<String>,
    /// What the rows stand for.
    pub group: SpendGroup,
    /// Only this pool.
    pub pool: Option<PoolId>,
    /// Only this team.
    pub team: Option<TeamId>,
    /// Only this chip type.
    pub chip_type: Option<ChipTypeId>,
}

/// A row of the ledger's charges: whose, for what.
type Key = (TeamId, ChipTypeId);

/// What names and pools are looked up in.
struct Names {
    pools: BTreeMap<PoolId, String>,
    teams: BTreeMap<TeamId, (PoolId, String)>,
    chip_types: BTreeMap<ChipTypeId, String>,
}

impl Names {
    fn new(latest: &Latest) -> Self {
        let setup = &latest.setup;
        Self {
            pools: setup.pools.iter().map(|pool| (pool.id.clone(), pool.name.clone())).collect(),
            teams: setup
                .teams
                .iter()
                .map(|team| (team.id.clone(), (team.pool.clone(), team.name.clone())))
                .collect(),
            chip_types: setup.chip_types.iter().map(|kind| (kind.id.clone(), kind.name.clone())).collect(),
        }
    }

    fn pool_of(&self, team: &TeamId) -> Option<&PoolId> {
        self.teams.get(team).map(|(pool, _)| pool)
    }

    /// The id and name of the row that a charge belongs to.
    fn row(&self, group: SpendGroup, (team, chip_type): &Key) -> (String, String) {
        let named =
            |id: &str, name: Option<&String>| (id.to_owned(), name.map_or(id, String::as_str).to_owned());
        match group {
            SpendGroup::Pool => match self.pool_of(team) {
                Some(pool) => named(pool.as_str(), self.pools.get(pool)),
                None => named("", None),
            },
            SpendGroup::Team => named(team.as_str(), self.teams.get(team).map(|(_, name)| name)),
            SpendGroup::ChipType => named(chip_type.as_str(), self.chip_types.get(chip_type)),
        }
    }
}

/// A row while it is summed.
#[derive(Default)]
struct Sum {
    name: String,
    /// The pool of all that is in it; none inside where there are several.
    pool: Option<Option<PoolId>>,
    now: Spend,
    before: i64,
    variance: Variance,
}

impl Sum {
    fn join_pool(&mut self, pool: Option<&PoolId>) {
        self.pool = match self.pool.take() {
            None => Some(pool.cloned()),
            Some(known) => Some(known.filter(|known| Some(known) == pool)),
        };
    }

    fn row(self, id: String, all: i64) -> SpendRow {
        let pool = self.pool.flatten();
        let change = self.variance.price.saturating_add(self.variance.quantity);
        SpendRow {
            id,
            name: self.name,
            cost: pool.is_some().then_some(MicroCredits(self.now.cost)),
            pool,
            global_cost: MicroCredits(self.now.global_cost),
            global_cost_before: MicroCredits(self.before),
            change: MicroCredits(change),
            price_effect: MicroCredits(self.variance.price),
            quantity_effect: MicroCredits(self.variance.quantity),
            unusual: is_unusual(self.before, self.now.global_cost, all),
            usage: use_view(&self.now),
        }
    }
}

pub(super) fn use_view(spend: &Spend) -> UseView {
    UseView {
        granted_chip_seconds: spend.granted,
        used_chip_seconds: spend.used,
        opportunistic_chip_seconds: spend.opportunistic,
        idle_chip_seconds: spend.idle,
        over_chip_seconds: spend.over,
        charged_chip_seconds: spend.charged,
    }
}

impl Services {
    /// Spend over a period, as the ledger's charges say it.
    ///
    /// # Errors
    /// `NotFound`: the viewer may not read all money, or a filter names what does not exist. `Invalid`: there is no such
    /// period.
    pub async fn spend(&self, viewer: &Viewer, query: &SpendQuery) -> Result<SpendView, AppError> {
        viewer.may(Action::ReadMoney, Object::Organisation)?;
        let latest = self.market().latest().await?;
        let names = Names::new(&latest);
        check_filters(&names, query)?;
        let clock = self.market().clock();
        let mut tx = self.store.read().await?;
        let zone = &latest.setup.organisation.time_zone;
        let count = Count::load(&mut tx, zone, (clock.cycle, clock.cleared_at)).await?;
        let range = count.range(query.period.as_deref())?;
        let compared = range.compared(&count.calendar, count.now)?;
        let now = filtered(&names, query, totals(&mut tx, &count, &range).await?);
        let before = filtered(&names, query, totals(&mut tx, &count, &compared).await?);
        let (mut rows, mut total) = rows(&names, query.group, &now, &before);
        if compared.ends_at <= count.first_at {
            // Nothing can be unusual beside a time when there was no market.
            rows.iter_mut().chain([&mut total]).for_each(|row| row.unusual = false);
        }
        let days = range.days_before(&count.calendar, count.now)?;
        let (days, series) = daily(&mut tx, &count, (&names, query), &rows, &days).await?;
        Ok(SpendView {
            period: count.view(&range)?,
            compared: count.view(&compared)?,
            group: query.group,
            pool: query.pool.clone(),
            team: query.team.clone(),
            chip_type: query.chip_type.clone(),
            rows,
            total,
            days,
            series,
        })
    }
}

/// A filter by what does not exist is a mistake, not an empty page.
fn check_filters(names: &Names, query: &SpendQuery) -> Result<(), AppError> {
    if let Some(pool) = query.pool.as_ref().filter(|pool| !names.pools.contains_key(*pool)) {
        return Err(AppError::not_found("pool", pool));
    }
    if let Some(team) = query.team.as_ref().filter(|team| !names.teams.contains_key(*team)) {
        return Err(AppError::not_found("team", team));
    }
    match query.chip_type.as_ref().filter(|kind| !names.chip_types.contains_key(*kind)) {
        Some(kind) => Err(AppError::not_found("chip type", kind)),
        None => Ok(()),
    }
}

/// The sums of a period, by team and chip type.
pub(super) async fn totals(tx: &mut Tx, count: &Count, range: &Range) -> Result<ByTeam, AppError> {
    let stretches = range.stretches(&count.calendar)?;
    spend::totals(tx, &count.time_zone, (range.starts_at, range.ends_at), &stretches).await
}

fn is_asked_for(names: &Names, query: &SpendQuery, (team, chip_type): &Key) -> bool {
    query.team.as_ref().is_none_or(|asked| asked == team)
        && query.chip_type.as_ref().is_none_or(|asked| asked == chip_type)
        && query.pool.as_ref().is_none_or(|asked| names.pool_of(team) == Some(asked))
}

fn filtered(names: &Names, query: &SpendQuery, mut spend: ByTeam) -> ByTeam {
    spend.retain(|key, _| is_asked_for(names, query, key));
    spend
}

/// The rows, the dearest first, and their sum.
fn rows(names: &Names, group: SpendGroup, now: &ByTeam, before: &ByTeam) -> (Vec<SpendRow>, SpendRow) {
    let mut sums: BTreeMap<String, Sum> = BTreeMap::new();
    let mut total = Sum { name: "All".to_owned(), ..Sum::default() };
    let nothing = Spend::default();
    let gone = before.keys().filter(|key| !now.contains_key(*key));
    for key in now.keys().chain(gone) {
        let (now, before) = (now.get(key).unwrap_or(&nothing), before.get(key).unwrap_or(&nothing));
        let variance = Variance::between(before, now);
        let (id, name) = names.row(group, key);
        let of_row = sums.entry(id).or_insert_with(|| Sum { name, ..Sum::default() });
        for sum in [of_row, &mut total] {
            sum.join_pool(names.pool_of(&key.0));
            sum.now.add(now);
            sum.before = sum.before.saturating_add(before.global_cost);
            sum.variance.add(variance);
        }
    }
    let all = total.now.global_cost.saturating_add(total.before);
    let mut rows: Vec<SpendRow> = sums.into_iter().map(|(id, sum)| sum.row(id, all)).collect();
    rows.sort_by(|one, other| other.global_cost.cmp(&one.global_cost).then_with(|| one.id.cmp(&other.id)));
    (rows, total.row(String::new(), all))
}

/// What one day cost: all of it, and by row.
#[derive(Default)]
struct Day {
    sum: Sum,
    rows: BTreeMap<String, i64>,
}

impl Day {
    fn add(&mut self, pool: Option<&PoolId>, spend: &Spend) {
        self.sum.join_pool(pool);
        self.sum.now.add(spend);
    }

    fn add_to_row(&mut self, id: String, spend: &Spend) {
        let of_row = self.rows.entry(id).or_default();
        *of_row = of_row.saturating_add(spend.global_cost);
    }
}

/// The days of the view, and the lines of its chart.
async fn daily(
    tx: &mut Tx,
    count: &Count,
    (names, query): (&Names, &SpendQuery),
    rows: &[SpendRow],
    periods: &[Period],
) -> Result<(Vec<SpendDay>, Vec<SpendSeries>), AppError> {
    let (Some(first), Some(last)) = (periods.first(), periods.last()) else {
        return Ok((Vec::new(), Vec::new()));
    };
    let (from, to) = (first.starts_at, last.ends_at);
    let mut days: BTreeMap<Instant, Day> = BTreeMap::new();
    if query.team.is_none() {
        for (at, spend) in spend::pool_days(tx, &count.time_zone, from, to).await? {
            let day = days.entry(at).or_default();
            for ((pool, chip_type), spend) in spend {
                let is_asked_for = query.pool.as_ref().is_none_or(|asked| *asked == pool)
                    && query.chip_type.as_ref().is_none_or(|asked| *asked == chip_type);
                if !is_asked_for {
                    continue;
                }
                day.add(Some(&pool), &spend);
                match query.group {
                    SpendGroup::Pool => day.add_to_row(pool.to_string(), &spend),
                    SpendGroup::ChipType => day.add_to_row(chip_type.to_string(), &spend),
                    // Teams are read below; the roll-up of pools only sums them.
                    SpendGroup::Team => {}
                }
            }
        }
    }
    let teams: Vec<TeamId> = match (&query.team, query.group) {
        (Some(team), _) => vec![team.clone()],
        (None, SpendGroup::Team) => {
            rows.iter().take(SERIES + 1).filter_map(|row| row.id.parse().ok()).collect()
        }
        (None, _) => Vec::new(),
    };
    if !teams.is_empty() {
        for (at, spend) in spend::team_days(tx, &count.time_zone, (from, to), &teams).await? {
            let day = days.entry(at).or_default();
            for (key, spend) in spend.iter().filter(|(key, _)| is_asked_for(names, query, key)) {
                if query.team.is_some() {
                    day.add(names.pool_of(&key.0), spend);
                }
                day.add_to_row(names.row(query.group, key).0, spend);
            }
        }
    }
    let series = series(rows, periods, &days);
    let view = |period: &Period| {
        let sum = days.get(&period.starts_at).map(|day| &day.sum);
        let spend = sum.map(|sum| sum.now).unwrap_or_default();
        let in_one_pool = sum.is_some_and(|sum| sum.pool.as_ref().is_some_and(Option::is_some));
        SpendDay {
            day: period.first_day.to_string(),
            starts_at: period.starts_at,
            ends_at: period.ends_at,
            cost: in_one_pool.then_some(MicroCredits(spend.cost)),
            global_cost: MicroCredits(spend.global_cost),
            usage: use_view(&spend),
        }
    };
    Ok((periods.iter().map(view).collect(), series))
}

/// The dearest rows as lines over the days, and the rest of each day together.
fn series(rows: &[SpendRow], periods: &[Period], days: &BTreeMap<Instant, Day>) -> Vec<SpendSeries> {
    // "Others" stands for two at least.
    let own = if rows.len() <= SERIES + 1 { rows.len() } else { SERIES };
    let of = |day: &Period, id: &str| {
        days.get(&day.starts_at).and_then(|day| day.rows.get(id)).copied().unwrap_or(0)
    };
    let line = |row: &SpendRow| SpendSeries {
        name: row.name.clone(),
        global_cost: periods.iter().map(|day| MicroCredits(of(day, &row.id))).collect(),
    };
    let mut series: Vec<SpendSeries> = rows[..own].iter().map(line).collect();
    if own < rows.len() {
        let rest = |day: &Period| {
            let all = days.get(&day.starts_at).map_or(0, |day| day.sum.now.global_cost);
            let shown = rows[..own].iter().map(|row| of(day, &row.id)).fold(0, i64::saturating_add);
            MicroCredits(all.saturating_sub(shown))
        };
        series
            .push(SpendSeries { name: "Others".to_owned(), global_cost: periods.iter().map(rest).collect() });
    }
    series
}
