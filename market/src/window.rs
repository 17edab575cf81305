//! Demand of several teams within a bracket of prices. While a search narrows the bracket, teams whose quantity is the
//! same at both ends are summed up and never looked at again, and each other team's steps shrink to those inside.

use crate::curve::{Step, TeamCurve};

/// The demand of some teams at prices above `lo` and up to `hi`.
#[derive(Clone, Debug, Default)]
pub(crate) struct Window<'a> {
    /// Demand of teams that ask for the same everywhere in the bracket.
    constant: u64,
    active: Vec<Active<'a>>,
}

/// A team whose quantity differs between the ends: its quantities at the ends and at the price last asked about, and
/// how many of its steps have a limit at or above each. One cache line.
#[derive(Clone, Debug)]
struct Active<'a> {
    rate: u64,
    steps: &'a [Step],
    at_lo: u64,
    at_hi: u64,
    at: u64,
    steps_at_lo: u32,
    steps_at_hi: u32,
    steps_at: u32,
}

impl<'a> Window<'a> {
    /// The window from price 0 to a price at which nobody asks.
    pub(crate) fn new(curves: impl Iterator<Item = &'a TeamCurve<'a>>) -> Self {
        let active = curves
            .filter(|curve| curve.asked() > 0)
            .map(|curve| Active {
                rate: curve.rate,
                steps: curve.steps,
                at_lo: curve.asked(),
                at_hi: 0,
                at: 0,
                // A market has fewer bids than 2^32.
                steps_at_lo: u32::try_from(curve.steps.len()).unwrap_or(u32::MAX),
                steps_at_hi: 0,
                steps_at: 0,
            })
            .collect();
        Self { constant: 0, active }
    }

    /// Makes this window a copy of another, in place.
    pub(crate) fn copy_from(&mut self, other: &Self) {
        self.constant = other.constant;
        self.active.clone_from(&other.active);
    }

    /// Demand at a price of at least 1 within the bracket.
    pub(crate) fn demand(&mut self, price: u64) -> u64 {
        let mut sum = self.constant;
        for team in &mut self.active {
            let (from, to) = (team.steps_at_hi as usize, team.steps_at_lo as usize);
            let inside = team.steps[from..to].partition_point(|step| step.limit >= price);
            let steps = from + inside;
            let wanted = if steps == 0 { 0 } else { team.steps[steps - 1].cumulative };
            team.steps_at = team.steps_at_hi + u32::try_from(inside).unwrap_or(u32::MAX);
            team.at = wanted.min(team.rate / price);
            sum += team.at;
        }
        sum
    }

    /// Makes the price last asked about the lower end (`true`) or the upper one.
    pub(crate) fn narrow(&mut self, above: bool) {
        let mut constant = self.constant;
        self.active.retain_mut(|team| {
            if above {
                (team.at_lo, team.steps_at_lo) = (team.at, team.steps_at);
            } else {
                (team.at_hi, team.steps_at_hi) = (team.at, team.steps_at);
            }
            let same = team.at_lo == team.at_hi;
            if same {
                constant += team.at;
            }
            !same
        });
        self.constant = constant;
    }
}
