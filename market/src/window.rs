//! Demand of several teams within a bracket of prices. A window opens narrow around the price that is expected; it
//! widens when the search leaves it. While the search narrows the bracket, teams whose quantity is the same at both
//! ends are summed up and never looked at again, and each other team's steps shrink to those inside.

use std::ops::Range;

use crate::curve::{Divisor, Step, steps_at};
use crate::demand::Demand;
use crate::pool::Added;
use crate::search::{Excess, Look, lowest_tick_between};

/// Two prices, and demand at both.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Bracket {
    pub(crate) lo: u64,
    pub(crate) hi: u64,
    pub(crate) at_lo: u64,
    pub(crate) at_hi: u64,
}

/// The demand of some teams at prices above `lo` and up to `hi`.
#[derive(Clone, Debug, Default)]
pub(crate) struct Window {
    rows: Vec<Range<usize>>,
    pub(crate) bracket: Bracket,
    /// Demand of teams that ask for the same everywhere in the bracket.
    constant: u64,
    active: Vec<Active>,
    /// What each row asks for everywhere in the bracket, counted from the first row; of no account for active ones.
    /// Empty in a copy.
    settled: Vec<u64>,
    /// The price last asked about, and demand at it.
    last: (u64, u64),
}

/// A team whose quantity differs between the ends: its quantities at the ends and at the price last asked about, and
/// for each the end of its steps with a limit at or above. One cache line.
#[derive(Clone, Debug)]
struct Active {
    rate: u64,
    at_lo: u64,
    at_hi: u64,
    at: u64,
    row: u32,
    first_step: u32,
    steps_at_lo: u32,
    steps_at_hi: u32,
    steps_at: u32,
}

impl Window {
    /// The demand of these rows at prices near `price`.
    pub(crate) fn around(demand: &Demand, rows: Vec<Range<usize>>, price: u64) -> Self {
        let margin = (price >> 5).max(1);
        Self::between(demand, rows, price.saturating_sub(margin), price.saturating_add(margin))
    }

    /// The demand of these rows at prices above `lo` and up to `hi`.
    pub(crate) fn between(demand: &Demand, rows: Vec<Range<usize>>, lo: u64, hi: u64) -> Self {
        let mut window = Self { rows, bracket: Bracket { lo, hi, at_lo: 0, at_hi: 0 }, ..Self::default() };
        window.fill(demand);
        window
    }

    /// The same rows' demand at prices above `lo` and up to `hi`.
    pub(crate) fn at(self, demand: &Demand, lo: u64, hi: u64) -> Self {
        Self::between(demand, self.rows, lo, hi)
    }

    /// Makes this window a copy of another, in place, for a search that does not tell each row's quantity.
    pub(crate) fn copy_from(&mut self, other: &Self) {
        self.rows.clone_from(&other.rows);
        self.bracket = other.bracket;
        self.constant = other.constant;
        self.active.clone_from(&other.active);
    }

    /// Sums the rows up anew.
    fn fill(&mut self, demand: &Demand) {
        let (lo, hi) = (self.bracket.lo, self.bracket.hi);
        let (by_lo, by_hi) = (Divisor::new(lo.max(1)), Divisor::new(hi));
        self.constant = 0;
        self.active.clear();
        let first_row = self.first_row();
        self.settled.resize(self.rows.last().map_or(0, |last| last.end - first_row), 0);
        let (mut sum_lo, mut sum_hi) = (0, 0);
        for row in self.rows.iter().cloned().flatten() {
            let (range, rate) = (demand.asked.step_range(row), demand.rates[row]);
            let steps = &demand.asked.steps[range.start as usize..range.end as usize];
            let (count_lo, count_hi) = (steps_at(steps, lo), steps_at(steps, hi));
            let affordable = if lo == 0 { u64::MAX } else { by_lo.divide(rate) };
            let (at_lo, at_hi) = (
                cumulative(steps, count_lo).min(affordable),
                cumulative(steps, count_hi).min(by_hi.divide(rate)),
            );
            sum_lo += at_lo;
            sum_hi += at_hi;
            if at_lo == at_hi {
                self.constant += at_lo;
                self.settled[row - first_row] = at_lo;
            } else {
                self.active.push(Active {
                    rate,
                    at_lo,
                    at_hi,
                    at: 0,
                    row: index(row),
                    first_step: range.start,
                    steps_at_lo: range.start + index(count_lo),
                    steps_at_hi: range.start + index(count_hi),
                    steps_at: 0,
                });
            }
        }
        (self.bracket.at_lo, self.bracket.at_hi) = (sum_lo, sum_hi);
    }

    /// Widens the bracket to one with the price well inside, where it is not.
    pub(crate) fn reach(&mut self, demand: &Demand, price: u64) {
        let margin = (price >> 3).max(1);
        if price <= self.bracket.lo {
            self.bracket.lo = price.saturating_sub(margin);
        } else if price > self.bracket.hi {
            self.bracket.hi = price.saturating_add(margin);
        } else {
            return;
        }
        self.fill(demand);
    }

    /// Demand at a price of at least 1 within the bracket.
    pub(crate) fn demand(&mut self, demand: &Demand, price: u64) -> u64 {
        let steps = demand.asked.steps.as_slice();
        let by_price = Divisor::new(price);
        let mut sum = self.constant;
        for team in &mut self.active {
            let inside = &steps[team.steps_at_hi as usize..team.steps_at_lo as usize];
            team.steps_at = team.steps_at_hi + index(steps_at(inside, price));
            let mine = &steps[team.first_step as usize..team.steps_at as usize];
            team.at = cumulative(mine, mine.len()).min(by_price.divide(team.rate));
            sum += team.at;
        }
        self.last = (price, sum);
        sum
    }

    /// Makes the price last asked about the lower end (`true`) or the upper one.
    pub(crate) fn narrow(&mut self, above: bool) {
        let (price, sum) = self.last;
        if above {
            (self.bracket.lo, self.bracket.at_lo) = (price, sum);
        } else {
            (self.bracket.hi, self.bracket.at_hi) = (price, sum);
        }
        let mut constant = self.constant;
        let (first_row, settled) = (self.first_row(), &mut self.settled);
        self.active.retain_mut(|team| {
            if above {
                (team.at_lo, team.steps_at_lo) = (team.at, team.steps_at);
            } else {
                (team.at_hi, team.steps_at_hi) = (team.at, team.steps_at);
            }
            let same = team.at_lo == team.at_hi;
            if same {
                constant += team.at;
                if let Some(settled) = settled.get_mut(team.row as usize - first_row) {
                    *settled = team.at;
                }
            }
            !same
        });
        self.constant = constant;
    }

    /// What each row asks for at the upper end, of this range of its rows.
    pub(crate) fn quantities(&self, rows: &Range<usize>) -> Vec<u64> {
        let first_row = self.first_row();
        let mut quantities = self.settled[rows.start - first_row..rows.end - first_row].to_vec();
        for team in self.active_in(rows) {
            quantities[team.row as usize - rows.start] = team.at_hi;
        }
        quantities
    }

    /// Rows of a range that ask for more at the lower end than at the upper one, in their order, and by how many chips.
    pub(crate) fn marginal(&self, rows: &Range<usize>) -> impl Iterator<Item = (usize, u64)> {
        self.active_in(rows).iter().map(|team| (team.row as usize, team.at_lo - team.at_hi))
    }

    fn active_in(&self, rows: &Range<usize>) -> &[Active] {
        let before = |row: usize| self.active.partition_point(|team| (team.row as usize) < row);
        &self.active[before(rows.start)..before(rows.end)]
    }

    fn first_row(&self) -> usize {
        self.rows.first().map_or(0, |first| first.start)
    }

    /// Widens the bracket until there is excess at its lower end and none at its upper one. There is some at price 0,
    /// and none at a price that nobody can pay.
    pub(crate) fn bracket_tick(
        &mut self,
        demand: &Demand,
        added: Option<&Added<'_>>,
        excess: impl Fn(u64, u64) -> i128,
    ) {
        loop {
            let (bracket, width) = (self.with(added), (self.bracket.hi - self.bracket.lo).saturating_mul(4));
            if excess(bracket.lo, bracket.at_lo) <= 0 {
                self.bracket.lo = bracket.lo.saturating_sub(width);
            } else if excess(bracket.hi, bracket.at_hi) > 0 {
                self.bracket.hi = bracket.hi.saturating_add(width);
            } else {
                return;
            }
            self.fill(demand);
        }
    }

    /// Narrows the bracket to the lowest tick without excess, from one that holds it.
    pub(crate) fn find_tick(
        &mut self,
        demand: &Demand,
        added: Option<&Added<'_>>,
        excess: impl Fn(u64, u64) -> i128,
    ) -> Bracket {
        let ends = self.with(added);
        let look = |price, chips| Look { price, excess: excess(price, chips) };
        let (lo, hi) = (look(ends.lo, ends.at_lo), look(ends.hi, ends.at_hi));
        lowest_tick_between(lo, hi, &mut Inside { window: self, demand, added, excess });
        self.with(added)
    }

    /// The lowest tick without excess, as a bracket of that one tick.
    pub(crate) fn tick(
        &mut self,
        demand: &Demand,
        added: Option<&Added<'_>>,
        excess: impl Fn(u64, u64) -> i128,
    ) -> Bracket {
        self.bracket_tick(demand, added, &excess);
        self.find_tick(demand, added, excess)
    }

    /// The bracket with what a bid adds.
    fn with(&self, added: Option<&Added<'_>>) -> Bracket {
        let more = |price| added.map_or(0, |added| added.at(price));
        let Bracket { lo, hi, at_lo, at_hi } = self.bracket;
        Bracket { lo, hi, at_lo: at_lo + more(lo), at_hi: at_hi + more(hi) }
    }
}

/// Chips of the first `count` steps.
fn cumulative(steps: &[Step], count: usize) -> u64 {
    if count == 0 { 0 } else { steps[count - 1].cumulative }
}

/// A market has fewer rows and steps than 2^32.
fn index(number: usize) -> u32 {
    u32::try_from(number).unwrap_or(u32::MAX)
}

/// A search within a window.
struct Inside<'s, 'a, F> {
    window: &'s mut Window,
    demand: &'s Demand,
    added: Option<&'s Added<'a>>,
    excess: F,
}

impl<F: Fn(u64, u64) -> i128> Excess for Inside<'_, '_, F> {
    fn at(&mut self, price: u64) -> i128 {
        let added = self.added.map_or(0, |added| added.at(price));
        (self.excess)(price, self.window.demand(self.demand, price) + added)
    }

    fn narrow(&mut self, above: bool) {
        self.window.narrow(above);
    }
}
