//! What teams ask for: the demand curves that clearing works on, and the rates that bound them.
//!
//! Curves lie in the order in which clearing reads them: by chip type, then pool, then team. Their places in that order
//! are called rows.

use std::ops::Range;
use std::sync::Arc;

use crate::curve::{Step, TeamCurve};
use crate::market::Market;
use crate::pool::PoolDemand;
use crate::team_asks::TeamAsks;

/// What teams ask for, and what they may spend on it.
#[derive(Clone, Debug, Default)]
pub(crate) struct Demand {
    pub(crate) asked: Arc<Asked>,
    /// By row: `b_i` in global ticks per hour.
    pub(crate) rates: Vec<u64>,
}

/// What teams ask for.
#[derive(Debug, Default)]
pub(crate) struct Asked {
    /// The alternative each bid chose, or [`NO_ALTERNATIVE`](crate::market::NO_ALTERNATIVE).
    pub(crate) choices: Vec<u8>,
    /// By row.
    pub(crate) teams: Vec<u32>,
    /// By row: the first of its steps; they end where the next row's begin.
    first_steps: Vec<u32>,
    pub(crate) steps: Vec<Step>,
    /// The first row of each chip type and, within it, pool; they end where the next one's begin.
    first_rows: Vec<u32>,
    pools: usize,
    /// The first of its chip types; not 0 where it is an extract of a larger one.
    first_type: usize,
    /// By team, then chip type.
    rows: Vec<TeamRow>,
    /// For each team the end of its rows in that list; they begin where those of the team before end.
    row_ends: Vec<u32>,
}

/// A row of a team.
#[derive(Clone, Copy, Debug)]
pub(crate) struct TeamRow {
    pub(crate) row: u32,
    pub(crate) chip_type: u32,
}

impl Demand {
    pub(crate) fn curve(&self, row: usize) -> TeamCurve<'_> {
        let asked = &self.asked;
        TeamCurve { rate: self.rates[row], steps: asked.steps_of(row) }
    }

    pub(crate) fn curves(&self, rows: Range<usize>) -> impl Iterator<Item = TeamCurve<'_>> {
        let ends = &self.asked.first_steps[rows.start..=rows.end];
        self.rates[rows].iter().zip(ends.windows(2)).map(|(rate, ends)| TeamCurve {
            rate: *rate,
            steps: &self.asked.steps[ends[0] as usize..ends[1] as usize],
        })
    }

    /// The demand for one chip type of these pools, with one team's curve replaced by another or none.
    pub(crate) fn extract(
        &self,
        market: &Market,
        chip_type: usize,
        pools: Range<usize>,
        team: u32,
        curve: Option<TeamCurve<'_>>,
    ) -> Self {
        let pool_of = |team: u32| market.teams[team as usize].pool as usize;
        let mut extract = Asked { pools: market.pools.len(), first_type: chip_type, ..Asked::default() };
        let mut rates = Vec::new();
        let mut push = |team: u32, curve: TeamCurve<'_>| {
            extract.teams.push(team);
            extract.first_steps.push(index(extract.steps.len()));
            extract.steps.extend_from_slice(curve.steps);
            rates.push(curve.rate);
        };
        let mut curve = curve.filter(|curve| !curve.steps.is_empty());
        let place = (pool_of(team), team);
        for row in pools.flat_map(|pool| self.asked.rows_in(chip_type, pool)) {
            let other = self.asked.teams[row];
            if place < (pool_of(other), other)
                && let Some(curve) = curve.take()
            {
                push(team, curve);
            }
            if other != team {
                push(other, self.curve(row));
            }
        }
        if let Some(curve) = curve {
            push(team, curve);
        }
        extract.first_steps.push(index(extract.steps.len()));
        extract.first_rows = (0..=extract.pools)
            .map(|pool| index(extract.teams.partition_point(|team| pool_of(*team) < pool)))
            .collect();
        Self { asked: Arc::new(extract), rates }
    }

    /// One team's demand, a row for each chip type.
    pub(crate) fn of_team(asks: TeamAsks, rates: Vec<u64>) -> Self {
        let teams = asks.rows.iter().map(|row| row.team).collect();
        let ends = asks.rows.iter().map(|row| row.steps_end);
        let first_steps = std::iter::once(0).chain(ends).collect();
        let rows =
            (0..).zip(&asks.rows).map(|(row, ask)| TeamRow { row, chip_type: ask.chip_type }).collect();
        let TeamAsks { choices, steps, row_ends, .. } = asks;
        let asked = Asked { choices, teams, first_steps, steps, rows, row_ends, ..Asked::default() };
        Self { asked: Arc::new(asked), rates }
    }

    /// The row of a team in the demand for a chip type.
    pub(crate) fn row_of(&self, market: &Market, chip_type: usize, team: u32) -> Option<usize> {
        let rows = self.asked.rows_in(chip_type, market.teams[team as usize].pool as usize);
        let nth = self.asked.teams[rows.clone()].binary_search(&team).ok()?;
        Some(rows.start + nth)
    }

    /// One pool in the market of a chip type.
    pub(crate) fn pool_in(&self, market: &Market, chip_type: usize, pool: usize) -> PoolDemand {
        let (rows, owned) = (self.asked.rows_in(chip_type, pool), market.owned(pool, chip_type));
        let last_price = market.last_price(pool, chip_type);
        PoolDemand::new(self, pool, owned, market.pools[pool].may_lend, last_price, rows)
    }

    /// The pools that own chips of the type or ask for some, in order of their ids.
    pub(crate) fn pools_of(&self, market: &Market, chip_type: usize) -> Vec<PoolDemand> {
        let there = |pool: &usize| {
            market.owned(*pool, chip_type) > 0 || !self.asked.rows_in(chip_type, *pool).is_empty()
        };
        (0..market.pools.len()).filter(there).map(|pool| self.pool_in(market, chip_type, pool)).collect()
    }
}

impl Asked {
    /// Puts the asks of all teams, given in their order, in the order of rows.
    pub(crate) fn new(market: &Market, parts: Vec<TeamAsks>) -> Self {
        let pools = market.pools.len();
        let place = |team: u32, chip_type: u32| {
            chip_type as usize * pools + market.teams[team as usize].pool as usize
        };
        let each = || parts.iter().flat_map(|part| &part.rows);
        // Rows come in the order of teams, so counting sorts them.
        let mut first_rows = vec![0_u32; market.chip_types.len() * pools + 1];
        for row in each() {
            first_rows[place(row.team, row.chip_type) + 1] += 1;
        }
        let mut count = 0;
        for first in &mut first_rows {
            count += *first;
            *first = count;
        }
        let (mut next, mut teams) = (first_rows.clone(), vec![0; count as usize]);
        let mut source = vec![(0_u32, 0_u32, 0_u32); count as usize];
        let mut rows = Vec::with_capacity(count as usize);
        for (nth, part) in (0..).zip(&parts) {
            let mut first_step = 0;
            for row in &part.rows {
                let at = &mut next[place(row.team, row.chip_type)];
                teams[*at as usize] = row.team;
                source[*at as usize] = (nth, first_step, row.steps_end);
                rows.push(TeamRow { row: *at, chip_type: row.chip_type });
                *at += 1;
                first_step = row.steps_end;
            }
        }
        let mut steps = Vec::with_capacity(parts.iter().map(|part| part.steps.len()).sum());
        let mut first_steps = Vec::with_capacity(source.len() + 1);
        for (part, first, end) in source {
            first_steps.push(index(steps.len()));
            steps.extend_from_slice(&parts[part as usize].steps[first as usize..end as usize]);
        }
        first_steps.push(index(steps.len()));
        let (mut row_ends, mut before) = (Vec::with_capacity(market.teams.len()), 0);
        for part in &parts {
            row_ends.extend(part.row_ends.iter().map(|end| before + end));
            before += index(part.rows.len());
        }
        let mut parts = parts.into_iter();
        let mut choices = parts.next().map(|part| part.choices).unwrap_or_default();
        parts.for_each(|part| choices.extend(part.choices));
        Self { choices, teams, first_steps, steps, first_rows, pools, first_type: 0, rows, row_ends }
    }

    /// The rows of a chip type.
    pub(crate) fn rows_of_type(&self, chip_type: usize) -> Range<usize> {
        let first = |nth: usize| self.first_rows[nth * self.pools] as usize;
        first(chip_type - self.first_type)..first(chip_type - self.first_type + 1)
    }

    /// The rows of a pool in a chip type's market.
    pub(crate) fn rows_in(&self, chip_type: usize, pool: usize) -> Range<usize> {
        let place = (chip_type - self.first_type) * self.pools + pool;
        self.first_rows[place] as usize..self.first_rows[place + 1] as usize
    }

    /// Where the rows of a team are in the list by team.
    pub(crate) fn places_of(&self, team: usize) -> Range<usize> {
        let first = if team == 0 { 0 } else { self.row_ends[team - 1] };
        first as usize..self.row_ends[team] as usize
    }

    /// The rows of a team, in the order of its chip types.
    pub(crate) fn rows_of_team(&self, team: usize) -> &[TeamRow] {
        &self.rows[self.places_of(team)]
    }

    /// All teams' rows, one team after the other.
    pub(crate) fn rows_by_team(&self) -> &[TeamRow] {
        &self.rows
    }

    pub(crate) fn step_range(&self, row: usize) -> Range<u32> {
        self.first_steps[row]..self.first_steps[row + 1]
    }

    /// `d_i(0)` of a row.
    pub(crate) fn asked(&self, row: usize) -> u64 {
        self.steps_of(row).last().map_or(0, |step| step.cumulative)
    }

    fn steps_of(&self, row: usize) -> &[Step] {
        &self.steps[self.first_steps[row] as usize..self.first_steps[row + 1] as usize]
    }
}

/// A market has fewer rows and steps than 2^32.
fn index(length: usize) -> u32 {
    u32::try_from(length).unwrap_or(u32::MAX)
}
