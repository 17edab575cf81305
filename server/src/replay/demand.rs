//! The demand of a replay: the jobs of a trace as the bids they place, on a grid of cycles.

use common::ids::ChipTypeId;
use common::instant::{Instant, MICROS_PER_SECOND};
use common::money::Price;

use crate::trace::Trace;
use crate::trace::organisation::Organisation;

/// The grid of cycles that a replay covers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Grid {
    /// Start of the first cycle.
    pub from: Instant,
    /// Seconds from one cycle to the next, at least 1.
    pub cycle_seconds: u32,
    /// Number of cycles.
    pub cycles: u32,
}

impl Grid {
    /// The cycles that begin in `from..to`.
    #[must_use]
    pub fn new(from: Instant, to: Instant, cycle_seconds: u32) -> Self {
        let span = (to.0 - from.0).max(0);
        let cycles =
            span.unsigned_abs().div_ceil(u64::from(cycle_seconds) * MICROS_PER_SECOND.unsigned_abs());
        Self { from, cycle_seconds, cycles: u32::try_from(cycles).unwrap_or(u32::MAX) }
    }

    /// Start of a cycle, counted from 0.
    #[must_use]
    pub fn starts_at(&self, cycle: u32) -> Instant {
        self.from.plus_seconds(i64::from(cycle) * i64::from(self.cycle_seconds))
    }

    /// The first cycle that begins at or after an instant.
    fn first_at(&self, at: Instant) -> u32 {
        let since = (at.0 - self.from.0).max(0).unsigned_abs();
        let cycle = since.div_ceil(u64::from(self.cycle_seconds) * MICROS_PER_SECOND.unsigned_abs());
        u32::try_from(cycle).unwrap_or(u32::MAX)
    }
}

/// One chip type that a job can use.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Choice {
    /// Index of the chip type.
    pub chip_type: u16,
    /// Chips it wants.
    pub chips: u32,
    /// Fewest it can run on.
    pub min_chips: u32,
}

/// A job on the grid.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct GridJob {
    /// First cycle that it can run in.
    pub arrives: u32,
    /// Seconds from its submission to that cycle.
    pub lead_seconds: u32,
    /// Index of its team.
    pub team: u16,
    /// What it would take, in order of preference; at least one.
    pub choices: Vec<Choice>,
    /// Most it pays in local credits per chip-hour.
    pub limit: Option<Price>,
    /// Work until it ends.
    pub chip_seconds: u64,
}

/// The jobs submitted on a grid, in order of submission.
#[must_use]
pub fn on_grid(trace: &Trace, organisation: &Organisation, grid: Grid) -> Vec<GridJob> {
    let type_index =
        |id: &ChipTypeId| organisation.chip_types.iter().position(|plan| plan.id == *id).unwrap_or_default();
    let chips = |chips: u64| u32::try_from(chips).unwrap_or(u32::MAX);
    let jobs = trace.submitted_between(grid.from, grid.starts_at(grid.cycles)).iter().map(|job| {
        let bid = organisation.bid(job);
        let arrives = grid.first_at(job.submitted_at);
        let lead = (grid.starts_at(arrives).0 - job.submitted_at.0) / MICROS_PER_SECOND;
        let choices = bid.alternatives.iter().map(|alternative| Choice {
            chip_type: u16::try_from(type_index(&alternative.chip_type)).unwrap_or(u16::MAX),
            chips: chips(alternative.chips.0),
            min_chips: chips(alternative.min_chips.0),
        });
        GridJob {
            arrives,
            lead_seconds: u32::try_from(lead).unwrap_or(0),
            team: job.cluster,
            choices: choices.collect(),
            limit: bid.limit,
            chip_seconds: bid.chip_seconds,
        }
    });
    jobs.collect()
}
