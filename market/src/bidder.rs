//! The bidder (market.md 3): turns each team's queue into a demand curve and a spending rate per chip type.

use crate::choice::Chooser;
use crate::curve::{Step, TeamCurve, push_steps};
use crate::market::{AlternativeRow, Market, NO_ALTERNATIVE};

/// What all teams ask for.
#[derive(Debug, Default)]
pub(crate) struct Demand {
    /// The alternative each bid chose, or [`NO_ALTERNATIVE`].
    pub(crate) choices: Vec<u16>,
    /// By team, then chip type.
    pub(crate) rows: Vec<DemandRow>,
    /// For each team the end of its rows; they begin where the team's before end.
    row_ends: Vec<usize>,
    /// The steps of all rows, one after the other.
    pub(crate) steps: Vec<Step>,
}

/// One team's demand for one chip type.
#[derive(Clone, Copy, Debug)]
pub(crate) struct DemandRow {
    pub(crate) team: u32,
    pub(crate) chip_type: u32,
    /// `b_i` in global ticks per hour.
    pub(crate) rate: u64,
    /// Its steps end where the next row's begin.
    first_step: usize,
    steps: usize,
}

impl Demand {
    /// The rows of a team.
    pub(crate) fn rows_of(&self, team: usize) -> std::ops::Range<usize> {
        let first = if team == 0 { 0 } else { self.row_ends[team - 1] };
        first..self.row_ends[team]
    }

    pub(crate) fn curve(&self, row: usize) -> TeamCurve<'_> {
        let row = &self.rows[row];
        let steps = &self.steps[row.first_step..row.first_step + row.steps];
        TeamCurve { team: row.team, rate: row.rate, steps }
    }
}

/// Runs the bidder for every team.
pub(crate) fn bid(market: &Market) -> Demand {
    let mut chooser = Chooser::new(market);
    let mut demand = Demand { choices: Vec::with_capacity(market.bids.len()), ..Demand::default() };
    let mut walk = Walk::new(market.chip_types.len());
    for team in 0..market.teams.len() {
        for bid in market.bids_of(team) {
            demand.choices.push(chooser.choose(team, bid));
        }
        walk.team(market, team, &mut demand);
        demand.row_ends.push(demand.rows.len());
    }
    demand
}

/// Scratch space for walking queues: what the team at hand has reserved, by chip type.
struct Walk {
    reserved: Vec<u64>,
    chips: Vec<u64>,
    /// Chip types its bids chose.
    chosen: Vec<u32>,
    asks: Vec<(u32, u64, u32)>,
}

impl Walk {
    fn new(chip_types: usize) -> Self {
        Self {
            reserved: vec![0; chip_types],
            chips: vec![0; chip_types],
            chosen: Vec::new(),
            asks: Vec::new(),
        }
    }

    /// Reserves the team's spending cap from the head of its queue (3.3), splits what is left (3.4) and adds its
    /// curves (3.5).
    fn team(&mut self, market: &Market, team: usize, demand: &mut Demand) {
        let row = &market.teams[team];
        let mut left = row.cap;
        self.asks.clear();
        self.chosen.clear();
        for bid in market.bids_of(team) {
            let Some(wanted) = chosen(market, bid, demand.choices[bid]) else { continue };
            let limit = market.bids[bid].limit;
            let chip_type = wanted.chip_type as usize;
            let price = market.last_price(row.pool as usize, chip_type).max(1).min(limit);
            let cost = u64::from(wanted.chips).saturating_mul(price).min(left);
            if self.chips[chip_type] == 0 {
                self.chosen.push(wanted.chip_type);
            }
            self.reserved[chip_type] += cost;
            self.chips[chip_type] += u64::from(wanted.chips);
            left -= cost;
            self.asks.push((wanted.chip_type, limit, wanted.chips));
        }
        self.chosen.sort_unstable();
        self.split(left);
        self.asks.sort_unstable_by(|a, b| (a.0, b.1).cmp(&(b.0, a.1)));
        let mut asks = self.asks.as_slice();
        for &chip_type in &self.chosen {
            let (mine, others) = asks.split_at(asks.partition_point(|ask| ask.0 == chip_type));
            asks = others;
            let first_step = demand.steps.len();
            push_steps(&mut demand.steps, mine.iter().map(|&(_, limit, chips)| (limit, u64::from(chips))));
            demand.rows.push(DemandRow {
                team: u32::try_from(team).unwrap_or(u32::MAX),
                chip_type,
                rate: std::mem::take(&mut self.reserved[chip_type as usize]),
                first_step,
                steps: demand.steps.len() - first_step,
            });
            self.chips[chip_type as usize] = 0;
        }
    }

    /// Splits what is left of the cap in proportion to the reserved cost, to chips where all cost is zero, by
    /// largest remainder; equal remainders go by chip type id.
    fn split(&mut self, left: u64) {
        let by_chips = self.chosen.iter().all(|r| self.reserved[*r as usize] == 0);
        let weights = if by_chips { &self.chips } else { &self.reserved };
        let total: u128 = self.chosen.iter().map(|r| u128::from(weights[*r as usize])).sum();
        if left == 0 || total == 0 {
            return;
        }
        let mut given = 0;
        let mut shares: Vec<(u128, u32, u64)> = Vec::with_capacity(self.chosen.len());
        for &chip_type in &self.chosen {
            let product = u128::from(left) * u128::from(weights[chip_type as usize]);
            // At most `left`, because a weight is at most the total.
            let share = u64::try_from(product / total).unwrap_or(left);
            given += share;
            shares.push((product % total, chip_type, share));
        }
        shares.sort_unstable_by(|a, b| (b.0, a.1).cmp(&(a.0, b.1)));
        for (nth, (_, chip_type, share)) in (0..).zip(shares) {
            self.reserved[chip_type as usize] += share + u64::from(nth < left - given);
        }
    }
}

/// The alternative a bid chose.
pub(crate) fn chosen(market: &Market, bid: usize, choice: u16) -> Option<AlternativeRow> {
    (choice != NO_ALTERNATIVE).then(|| market.alternatives_of(bid)[usize::from(choice)])
}
