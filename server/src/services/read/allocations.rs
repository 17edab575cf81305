//! The Allocations page: chips over time by pool, team or chip type.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use common::api::{
    AllocationSeries, AllocationsQuery, AllocationsView, GroupBy, MarketClock, Span, TeamName,
};
use common::chips::Chips;
use common::ids::{ChipTypeId, PoolId, TeamId};
use common::instant::{Instant, MICROS_PER_SECOND};
use common::money::MicroCredits;

use super::MarketReader;
use super::latest::Latest;
use crate::error::AppError;
use crate::store::entities::{Setup, Team};
use crate::store::usage::Usage;
use crate::store::{Store, Tx, history, results, usage};

/// Length of a step for each span in seconds.
const fn step_seconds(span: Span) -> u32 {
    match span {
        Span::Hour => 60,
        Span::Day => 900,
        Span::Week => 3_600,
        Span::Quarter => 6 * 3_600,
    }
}

impl MarketReader {
    /// Chips over time, in steps that begin at multiples of their length in UTC.
    ///
    /// # Errors
    /// `NotFound`: the filter names a chip type, pool or team that does not exist. `Unavailable`: the database does
    /// not answer.
    pub async fn allocations(&self, query: AllocationsQuery) -> Result<AllocationsView, AppError> {
        let latest = self.latest().await?;
        check(&latest, &query)?;
        let clock = self.clock();
        let stretch = self.stretch(query.span);
        let make = between(self.store.clone(), latest, clock.clone(), query.clone(), stretch);
        let view = self.allocations.get(&clock, self.now(), query, make).await?;
        Ok(AllocationsView { clock, ..AllocationsView::clone(&view) })
    }
}

/// The allocations between two instants, the first included.
async fn between(
    store: Store,
    latest: Arc<Latest>,
    clock: MarketClock,
    query: AllocationsQuery,
    (from, to): (Instant, Instant),
) -> Result<AllocationsView, AppError> {
    let step_seconds = step_seconds(query.span);
    // The first step is a whole one: of the pieces in which usage is kept, one that began before `from` would be left
    // out of a part of a step.
    let from = history::step_start(from, i64::from(step_seconds));
    let mut tx = store.read().await?;
    // Before the market began there was nothing to allocate.
    let from = results::cycle(&mut tx, 1).await?.map_or(from, |first| from.max(first.starts_at)).min(to);
    let used = usage::usage(&mut tx, from, to, step_seconds).await?;
    let supply = supply(&mut tx, &latest.setup, &query, from, to, step_seconds).await?;
    let now = results::quotas_in(&mut tx, latest.number).await?;
    drop(tx);
    let grid = Grid::new(from, to, step_seconds);
    let groups = Groups { setup: &latest.setup, query: &query, pool_of: pools_by_team(&latest.setup) };
    let mut sums = groups.sums(&used, &grid);
    for quota in &now {
        if let Some(id) = groups.group(&quota.team, &quota.chip_type)
            && let Some(sum) = sums.get_mut(id)
        {
            sum.now.0 += quota.quota.0;
        }
    }
    let mut series: Vec<AllocationSeries> =
        sums.into_iter().map(|(id, sum)| groups.series(id, &sum, &grid)).collect();
    series
        .sort_by(|a, b| b.used_milli_chip_hours.cmp(&a.used_milli_chip_hours).then_with(|| a.id.cmp(&b.id)));
    let joined = query.most.map_or(0, |most| join_smallest(&mut series, most as usize));
    Ok(AllocationsView {
        clock,
        chip_types: latest.setup.chip_types.iter().map(|chip_type| chip_type.id.clone()).collect(),
        pools: latest.pool_names(),
        teams: team_names(&latest.setup, query.pool.as_ref()),
        step_seconds,
        supply_milli: grid.averages(&supply),
        steps: grid.starts,
        series,
        joined,
        query,
    })
}

/// Leaves the first `most` series and joins what is behind them, where that is more than one; how many were joined.
fn join_smallest(series: &mut Vec<AllocationSeries>, most: usize) -> u32 {
    if series.len() <= most.saturating_add(1) {
        return 0;
    }
    let rest = series.split_off(most);
    let joined = u32::try_from(rest.len()).unwrap_or(u32::MAX);
    let add = |sums: &mut Vec<u64>, values: Vec<u64>| {
        for (sum, value) in sums.iter_mut().zip(values) {
            *sum = sum.saturating_add(value);
        }
    };
    let sum = rest.into_iter().reduce(|mut sum, one| {
        add(&mut sum.granted_milli, one.granted_milli);
        add(&mut sum.used_milli, one.used_milli);
        sum.granted_milli_chip_hours += one.granted_milli_chip_hours;
        sum.used_milli_chip_hours += one.used_milli_chip_hours;
        sum.now.0 += one.now.0;
        sum
    });
    // Teams of several pools pay in several currencies, so that the joined ones have no cost of their own.
    series.extend(sum.map(|sum| AllocationSeries {
        id: String::new(),
        name: format!("{joined} smaller ones"),
        cost: None,
        ..sum
    }));
    joined
}

fn check(latest: &Latest, query: &AllocationsQuery) -> Result<(), AppError> {
    latest.check_pool(query.pool.as_ref())?;
    if let Some(chip_type) = &query.chip_type {
        latest.check_chip_type(chip_type)?;
    }
    match &query.team {
        Some(id) if !latest.setup.teams.iter().any(|team| team.id == *id) => {
            Err(AppError::not_found("team", id))
        }
        _ => Ok(()),
    }
}

/// Teams that a list to choose from holds at most.
const MOST_TEAMS: usize = 500;

fn team_names(setup: &Setup, pool: Option<&PoolId>) -> Vec<TeamName> {
    let teams = setup.teams.iter().filter(|team| pool.is_none_or(|pool| team.pool == *pool));
    let name =
        |team: &Team| TeamName { id: team.id.clone(), name: team.name.clone(), pool: team.pool.clone() };
    if teams.clone().count() > MOST_TEAMS { Vec::new() } else { teams.map(name).collect() }
}

fn pools_by_team(setup: &Setup) -> BTreeMap<&TeamId, &PoolId> {
    setup.teams.iter().map(|team| (&team.id, &team.pool)).collect()
}

/// Chip-seconds supplied in each step, of the chip types asked for.
async fn supply(
    tx: &mut Tx,
    setup: &Setup,
    query: &AllocationsQuery,
    from: Instant,
    to: Instant,
    step_seconds: u32,
) -> Result<BTreeMap<Instant, u128>, AppError> {
    let mut supply = BTreeMap::new();
    for chip_type in
        setup.chip_types.iter().filter(|row| query.chip_type.as_ref().is_none_or(|id| *id == row.id))
    {
        for (at, chip_seconds) in history::supplied(tx, &chip_type.id, from, to, step_seconds).await? {
            *supply.entry(at).or_default() += u128::from(chip_seconds);
        }
    }
    Ok(supply)
}

/// The even steps of a chart.
struct Grid {
    starts: Vec<Instant>,
    /// Seconds of each step that lie between the chart's ends.
    seconds: Vec<u64>,
}

impl Grid {
    fn new(from: Instant, to: Instant, step_seconds: u32) -> Self {
        let length = i64::from(step_seconds) * MICROS_PER_SECOND;
        let (mut starts, mut seconds) = (Vec::new(), Vec::new());
        let mut at = Instant(from.0.div_euclid(length) * length);
        while at < to {
            let inside = (at.0 + length).min(to.0) - at.0.max(from.0);
            starts.push(at);
            seconds.push((inside / MICROS_PER_SECOND).unsigned_abs());
            at = Instant(at.0 + length);
        }
        Self { starts, seconds }
    }

    /// Chip-seconds of each step as the average of its chips, in thousandths, rounded half up.
    fn averages(&self, chip_seconds: &BTreeMap<Instant, u128>) -> Vec<u64> {
        let average = |(at, seconds): (&Instant, &u64)| {
            let (sum, seconds) = (chip_seconds.get(at).copied().unwrap_or(0), u128::from((*seconds).max(1)));
            u64::try_from((sum * 1_000 + seconds / 2) / seconds).unwrap_or(u64::MAX)
        };
        self.starts.iter().zip(&self.seconds).map(average).collect()
    }
}

/// Which series a team's chips count for.
struct Groups<'a> {
    setup: &'a Setup,
    query: &'a AllocationsQuery,
    pool_of: BTreeMap<&'a TeamId, &'a PoolId>,
}

/// One series before it is averaged.
#[derive(Default)]
struct Sum {
    granted: BTreeMap<Instant, u128>,
    used: BTreeMap<Instant, u128>,
    cost: i64,
    /// The pools whose currencies the cost is in.
    pools: BTreeSet<PoolId>,
    now: Chips,
}

impl<'a> Groups<'a> {
    /// The id of the series; none where a filter leaves the chips out.
    fn group<'b>(&self, team: &'b TeamId, chip_type: &'b ChipTypeId) -> Option<&'b str>
    where
        'a: 'b,
    {
        let pool: &'a PoolId = self.pool_of.get(team)?;
        let query = self.query;
        let wanted = query.pool.as_ref().is_none_or(|id| id == pool)
            && query.team.as_ref().is_none_or(|id| id == team)
            && query.chip_type.as_ref().is_none_or(|id| id == chip_type);
        wanted.then_some(match query.group_by {
            GroupBy::Pool => pool.as_str(),
            GroupBy::Team => team.as_str(),
            GroupBy::ChipType => chip_type.as_str(),
        })
    }

    fn sums(&self, used: &[Usage], grid: &Grid) -> BTreeMap<String, Sum> {
        let first = grid.starts.first().copied().unwrap_or_default();
        let mut sums: BTreeMap<String, Sum> = BTreeMap::new();
        for usage in used {
            let Some(id) = self.group(&usage.team, &usage.chip_type) else { continue };
            if !sums.contains_key(id) {
                sums.insert(id.to_owned(), Sum::default());
            }
            let Some(sum) = sums.get_mut(id) else { continue };
            let at = usage.starts_at.max(first);
            *sum.granted.entry(at).or_default() += u128::from(usage.granted_chip_seconds);
            *sum.used.entry(at).or_default() += u128::from(usage.used_chip_seconds);
            sum.cost = sum.cost.saturating_add(usage.cost.0);
            sum.pools.extend(self.pool_of.get(&usage.team).map(|pool| (*pool).clone()));
        }
        sums
    }

    fn series(&self, id: String, sum: &Sum, grid: &Grid) -> AllocationSeries {
        let hours = |sums: &BTreeMap<Instant, u128>| {
            u64::try_from(sums.values().sum::<u128>() * 1_000 / 3_600).unwrap_or(u64::MAX)
        };
        AllocationSeries {
            name: self.name(&id).to_owned(),
            granted_milli: grid.averages(&sum.granted),
            used_milli: grid.averages(&sum.used),
            granted_milli_chip_hours: hours(&sum.granted),
            used_milli_chip_hours: hours(&sum.used),
            cost: (sum.pools.len() <= 1).then_some(MicroCredits(sum.cost)),
            now: sum.now,
            id,
        }
    }

    fn name<'b>(&'b self, id: &'b str) -> &'b str {
        let setup = self.setup;
        let name = match self.query.group_by {
            GroupBy::Pool => setup.pools.iter().find(|pool| pool.id.as_str() == id).map(|pool| &pool.name),
            GroupBy::Team => setup.teams.iter().find(|team| team.id.as_str() == id).map(|team| &team.name),
            GroupBy::ChipType => setup
                .chip_types
                .iter()
                .find(|chip_type| chip_type.id.as_str() == id)
                .map(|chip_type| &chip_type.name),
        };
        name.map_or(id, String::as_str)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_smallest_are_joined_where_there_are_too_many() {
        let one = |nth: u64| AllocationSeries {
            id: nth.to_string(),
            name: nth.to_string(),
            granted_milli: vec![nth, 1],
            used_milli: vec![nth, 0],
            granted_milli_chip_hours: nth,
            used_milli_chip_hours: nth,
            cost: Some(MicroCredits(1)),
            now: Chips(nth),
        };
        let mut series: Vec<_> = [9, 5, 3, 2].map(one).into();
        assert_eq!(join_smallest(&mut series, 3), 0, "a single one stands by itself");
        assert_eq!(join_smallest(&mut series, 2), 2);
        let last = series.last().unwrap();
        assert_eq!(
            (series.len(), last.name.as_str(), last.now, last.cost),
            (3, "2 smaller ones", Chips(5), None)
        );
        assert_eq!((&last.granted_milli, &last.used_milli), (&vec![5, 2], &vec![5, 0]));
    }

    #[test]
    fn steps_are_even_and_the_last_may_be_short() {
        let at = |seconds| Instant(0).plus_seconds(seconds);
        let grid = Grid::new(at(90), at(250), 60);
        assert_eq!(grid.starts, [at(60), at(120), at(180), at(240)]);
        assert_eq!(grid.seconds, [30, 60, 60, 10]);
        let chip_seconds = [(at(60), 90), (at(240), 25)].into();
        assert_eq!(grid.averages(&chip_seconds), [3_000, 0, 0, 2_500]);
    }
}
