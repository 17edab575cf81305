//! What teams ask for, per chip type: the rows and curves that clearing works on.

use crate::asks::Asks;
use crate::curve::{NO_LIMIT, Step, TeamCurve};
use crate::market::Market;
use crate::pool::PoolDemand;

/// What teams ask for.
#[derive(Debug, Default)]
pub(crate) struct Demand {
    /// The alternative each bid chose, or [`NO_ALTERNATIVE`](crate::market::NO_ALTERNATIVE).
    pub(crate) choices: Vec<u8>,
    /// By team, then chip type.
    pub(crate) rows: Vec<DemandRow>,
    /// For each team the end of its rows; they begin where the team's before end.
    row_ends: Vec<usize>,
    /// The steps of all rows, one after the other.
    steps: Vec<Step>,
}

/// One team's demand for one chip type.
#[derive(Clone, Copy, Debug)]
pub(crate) struct DemandRow {
    pub(crate) team: u32,
    pub(crate) chip_type: u32,
    /// `b_i` in global ticks per hour.
    pub(crate) rate: u64,
    /// The end of its steps; they begin where the row's before end.
    steps_end: usize,
}

impl Demand {
    /// With space for this many bids.
    pub(crate) fn with_capacity(bids: usize) -> Self {
        Self { choices: Vec::with_capacity(bids), steps: Vec::with_capacity(bids), ..Self::default() }
    }

    /// Adds the rows of the next team from what it asks for, and empties that; `rate` is told each row's chip type.
    pub(crate) fn push_team(&mut self, team: u32, asks: &mut Asks, mut rate: impl FnMut(u32) -> u64) {
        asks.chip_types.sort_unstable();
        asks.limited.sort_unstable();
        let mut limited = asks.limited.as_slice();
        for &chip_type in &asks.chip_types {
            let place = chip_type as usize;
            let mut cumulative = std::mem::take(&mut asks.unlimited[place]);
            if cumulative > 0 {
                self.steps.push(Step { limit: NO_LIMIT, cumulative });
            }
            let count = limited.iter().take_while(|ask| ask.chip_type() == chip_type).count();
            let (mine, others) = limited.split_at(count);
            limited = others;
            for equal in mine.chunk_by(|a, b| a.limit() == b.limit()) {
                cumulative += equal.iter().map(|ask| ask.chips()).sum::<u64>();
                self.steps.push(Step { limit: equal[0].limit(), cumulative });
            }
            asks.chips[place] = 0;
            let (rate, steps_end) = (rate(chip_type), self.steps.len());
            self.rows.push(DemandRow { team, chip_type, rate, steps_end });
        }
        asks.chip_types.clear();
        asks.limited.clear();
        self.row_ends.push(self.rows.len());
    }

    /// Puts the teams of another demand behind this one's.
    pub(crate) fn append(&mut self, other: Self) {
        let (rows, steps) = (self.rows.len(), self.steps.len());
        self.choices.extend(other.choices);
        self.rows.extend(other.rows.iter().map(|row| DemandRow { steps_end: steps + row.steps_end, ..*row }));
        self.row_ends.extend(other.row_ends.iter().map(|end| rows + end));
        self.steps.extend(other.steps);
    }

    /// The rows of a team.
    pub(crate) fn rows_of(&self, team: usize) -> std::ops::Range<usize> {
        let first = if team == 0 { 0 } else { self.row_ends[team - 1] };
        first..self.row_ends[team]
    }

    pub(crate) fn curve(&self, row: usize) -> TeamCurve<'_> {
        let first = if row == 0 { 0 } else { self.rows[row - 1].steps_end };
        let row = &self.rows[row];
        TeamCurve { team: row.team, rate: row.rate, steps: &self.steps[first..row.steps_end] }
    }

    /// For each chip type its rows, ordered by pool and team.
    pub(crate) fn rows_by_type(&self, market: &Market) -> Vec<Vec<u32>> {
        let pools = market.pools.len();
        let place =
            |row: &DemandRow| row.chip_type as usize * pools + market.teams[row.team as usize].pool as usize;
        // Where each type's rows of each pool begin: rows come in the order of teams, so counting sorts them.
        let mut next = vec![0_u32; market.chip_types.len() * pools];
        for row in &self.rows {
            next[place(row)] += 1;
        }
        let mut by_type = Vec::with_capacity(market.chip_types.len());
        for counts in next.chunks_mut(pools.max(1)) {
            let mut count = 0;
            for of_pool in counts {
                count += std::mem::replace(of_pool, count);
            }
            by_type.push(vec![0; count as usize]);
        }
        for (nth, row) in (0..).zip(&self.rows) {
            let place = &mut next[place(row)];
            by_type[row.chip_type as usize][*place as usize] = nth;
            *place += 1;
        }
        by_type.resize(market.chip_types.len(), Vec::new());
        by_type
    }
}

/// The pools that own chips of the type or ask for some, in order of their ids; curves are ordered by pool.
pub(crate) fn pools_of<'a>(
    market: &Market,
    chip_type: usize,
    curves: &'a [TeamCurve<'a>],
) -> Vec<PoolDemand<'a>> {
    let mut rest = curves;
    let mut pools = Vec::new();
    for (pool, row) in (0..).zip(&market.pools) {
        let count = rest.partition_point(|curve| market.teams[curve.team as usize].pool == pool);
        let (mine, others) = rest.split_at(count);
        rest = others;
        let owned = market.owned(pool as usize, chip_type);
        if owned > 0 || !mine.is_empty() {
            let last_price = market.last_price(pool as usize, chip_type);
            pools.push(PoolDemand::new(pool, owned, row.may_lend, last_price, mine));
        }
    }
    pools
}
