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

    /// The pools that own chips of the type or ask for some, in order of their ids.
    pub(crate) fn pools_of(&self, market: &Market, chip_type: usize) -> Vec<PoolDemand> {
        let pools = (0..).zip(&market.pools).filter_map(|(pool, row)| {
            let rows = self.asked.rows_in(chip_type, pool);
            let owned = market.owned(pool, chip_type);
            let last_price = || market.last_price(pool, chip_type);
            (owned > 0 || !rows.is_empty())
                .then(|| PoolDemand::new(self, pool, owned, row.may_lend, last_price(), rows))
        });
        pools.collect()
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
        Self { choices, teams, first_steps, steps, first_rows, pools, rows, row_ends }
    }

    /// The rows of a chip type.
    pub(crate) fn rows_of_type(&self, chip_type: usize) -> Range<usize> {
        let first = |chip_type: usize| self.first_rows[chip_type * self.pools] as usize;
        first(chip_type)..first(chip_type + 1)
    }

    /// The rows of a pool in a chip type's market.
    pub(crate) fn rows_in(&self, chip_type: usize, pool: usize) -> Range<usize> {
        let place = chip_type * self.pools + pool;
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
