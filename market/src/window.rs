//! Demand of several teams within a bracket of prices. While a search narrows the bracket, teams whose quantity is the
//! same at both ends are summed up and never looked at again, and each other team's steps shrink to those inside.

use crate::curve::TeamCurve;

/// The demand of some teams at prices above `lo` and up to `hi`.
#[derive(Clone, Debug, Default)]
pub(crate) struct Window<'a> {
    /// Demand of teams that ask for the same everywhere in the bracket.
    constant: u64,
    active: Vec<Active<'a>>,
}

/// A team whose quantity differs between the ends.
#[derive(Clone, Debug)]
struct Active<'a> {
    curve: TeamCurve<'a>,
    at_lo: Place,
    at_hi: Place,
    /// At the price last asked about.
    at: Place,
}

/// A team's quantity at a price, and how many of its steps have a limit at or above it.
#[derive(Clone, Copy, Debug, Default)]
struct Place {
    quantity: u64,
    steps: usize,
}

impl<'a> Window<'a> {
    /// The window from price 0 to a price at which nobody asks.
    pub(crate) fn new(curves: impl Iterator<Item = &'a TeamCurve<'a>>) -> Self {
        let active = curves
            .filter(|curve| curve.asked() > 0)
            .map(|curve| Active {
                curve: *curve,
                at_lo: Place { quantity: curve.asked(), steps: curve.steps.len() },
                at_hi: Place::default(),
                at: Place::default(),
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
            let (from, to) = (team.at_hi.steps, team.at_lo.steps);
            let steps = from + team.curve.steps[from..to].partition_point(|step| step.limit >= price);
            let wanted = if steps == 0 { 0 } else { team.curve.steps[steps - 1].cumulative };
            team.at = Place { quantity: wanted.min(team.curve.rate / price), steps };
            sum += team.at.quantity;
        }
        sum
    }

    /// Makes the price last asked about the lower end (`true`) or the upper one.
    pub(crate) fn narrow(&mut self, above: bool) {
        let mut constant = self.constant;
        self.active.retain_mut(|team| {
            if above {
                team.at_lo = team.at;
            } else {
                team.at_hi = team.at;
            }
            let same = team.at_lo.quantity == team.at_hi.quantity;
            if same {
                constant += team.at.quantity;
            }
            !same
        });
        self.constant = constant;
    }
}
