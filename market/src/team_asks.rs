//! Teams' demand curves as walking their queues makes them, one team after the other.

use std::ops::Range;

use crate::asks::Asks;
use crate::curve::{NO_LIMIT, Step};
use crate::market::Market;
use crate::parallel;

/// What a range of teams asks for.
#[derive(Debug, Default)]
pub(crate) struct TeamAsks {
    /// The alternative each bid chose.
    pub(crate) choices: Vec<u8>,
    /// By team, then chip type.
    pub(crate) rows: Vec<AskRow>,
    /// For each team the end of its rows.
    pub(crate) row_ends: Vec<u32>,
    /// The steps of all rows, one after the other.
    pub(crate) steps: Vec<Step>,
}

/// One team's demand for one chip type.
#[derive(Clone, Copy, Debug)]
pub(crate) struct AskRow {
    pub(crate) team: u32,
    pub(crate) chip_type: u32,
    /// The end of its steps; they begin where the row's before end.
    pub(crate) steps_end: u32,
}

impl TeamAsks {
    /// With space for this many bids.
    pub(crate) fn with_capacity(bids: usize) -> Self {
        Self { choices: Vec::with_capacity(bids), steps: Vec::with_capacity(bids), ..Self::default() }
    }

    /// Adds the curves of the next team from what it asks for, and empties that.
    pub(crate) fn push_team(&mut self, team: u32, asks: &mut Asks) {
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
            self.push_row(team, chip_type, &[]);
        }
        asks.chip_types.clear();
        asks.limited.clear();
        self.row_ends.push(u32::try_from(self.rows.len()).unwrap_or(u32::MAX));
    }

    /// Ends a row, after adding these steps to it.
    pub(crate) fn push_row(&mut self, team: u32, chip_type: u32, steps: &[Step]) {
        self.steps.extend_from_slice(steps);
        let steps_end = u32::try_from(self.steps.len()).unwrap_or(u32::MAX);
        self.rows.push(AskRow { team, chip_type, steps_end });
    }
}

/// Makes something of ranges of teams with about as many bids each, on as many threads as pay.
pub(crate) fn over_teams<T: Send>(market: &Market, make: impl Fn(Range<usize>) -> T + Sync) -> Vec<T> {
    let threads = parallel::threads(market.bids.len());
    let parts = parallel::parts(market.teams.len(), threads, |team| market.bids_before(team));
    parallel::run(&parts, threads, |teams| make(teams.clone()))
}
