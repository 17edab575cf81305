//! Figures that the market and static pools are both measured by.

use common::instant::Instant;
use jiff::Timestamp;
use jiff::tz::TimeZone;
use serde::Serialize;

use super::demand::Grid;

/// The calendar months (UTC) that a grid touches.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Months {
    /// Their names, such as `2017-10`.
    pub names: Vec<String>,
    /// Per month, the first cycle after it.
    ends: Vec<u32>,
}

impl Months {
    /// The months of a grid, by the start of each cycle.
    #[must_use]
    pub fn of(grid: Grid) -> Self {
        let (mut names, mut ends) = (Vec::new(), Vec::new());
        let mut cycle = 0;
        while cycle < grid.cycles {
            let (name, next) = month(grid.starts_at(cycle));
            let end = Grid::new(grid.from, next, grid.cycle_seconds).cycles.clamp(cycle + 1, grid.cycles);
            names.push(name);
            ends.push(end);
            cycle = end;
        }
        Self { names, ends }
    }

    /// Cycles in each month.
    #[must_use]
    pub fn cycles(&self) -> Vec<u64> {
        let starts = std::iter::once(0).chain(self.ends.iter().copied());
        self.ends.iter().zip(starts).map(|(end, start)| u64::from(end - start)).collect()
    }

    /// The index of the month in which a cycle begins.
    #[must_use]
    pub fn index(&self, cycle: u32) -> usize {
        self.ends.partition_point(|end| *end <= cycle)
    }
}

/// A month's name, and the instant at which the next one begins.
fn month(at: Instant) -> (String, Instant) {
    let at = Timestamp::from_microsecond(at.0).unwrap_or(Timestamp::MAX);
    let date = TimeZone::UTC.to_datetime(at).date();
    let next = date.last_of_month().tomorrow().unwrap_or(jiff::civil::Date::MAX);
    let next = TimeZone::UTC.to_timestamp(next.at(0, 0, 0, 0)).unwrap_or(Timestamp::MAX);
    (format!("{:04}-{:02}", date.year(), date.month()), Instant(next.as_microsecond()))
}

/// A number of chips added up over cycles, per month.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
#[serde(transparent)]
pub struct ChipCycles {
    /// Chips × cycles in each of [`Months::names`].
    pub by_month: Vec<u64>,
}

impl ChipCycles {
    /// Adds `chips` for each of the cycles `from..to`.
    pub fn add(&mut self, months: &Months, from: u32, to: u32, chips: u64) {
        self.by_month.resize(months.ends.len(), 0);
        let mut cycle = from;
        while cycle < to {
            let month = months.index(cycle);
            let Some(end) = months.ends.get(month) else { return };
            let end = to.min(*end);
            self.by_month[month] += chips * u64::from(end - cycle);
            cycle = end;
        }
    }

    /// Over all months.
    #[must_use]
    pub fn total(&self) -> u64 {
        self.by_month.iter().sum()
    }
}

/// What became of the jobs.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Service {
    /// Jobs submitted.
    pub submitted: u64,
    /// Jobs served in full.
    pub completed: u64,
    /// Jobs running when the replay ended.
    pub still_running: u64,
    /// Jobs that had no chips when the replay ended.
    pub still_waiting: u64,
    /// Seconds from submission to the first chips, of the jobs that got any.
    pub wait_seconds: Spread,
    /// Seconds from submission to the end, of the jobs served in full.
    pub completion_seconds: Spread,
}

impl Service {
    /// A job got its first chips so long after its submission.
    pub fn started(&mut self, seconds: u64) {
        self.wait_seconds.values.push(u32::try_from(seconds).unwrap_or(u32::MAX));
    }

    /// A job was served in full so long after its submission.
    pub fn completed(&mut self, seconds: u64) {
        self.completed += 1;
        self.completion_seconds.values.push(u32::try_from(seconds).unwrap_or(u32::MAX));
    }

    /// Works out the spreads; call it once at the end.
    pub fn finish(&mut self) {
        self.wait_seconds.finish();
        self.completion_seconds.finish();
    }
}

/// How values spread.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Spread {
    #[serde(skip)]
    values: Vec<u32>,
    /// Average, rounded down.
    pub mean: u64,
    /// Half of the values are at most this.
    pub p50: u32,
    /// Nine in ten are at most this.
    pub p90: u32,
    /// Ninety-nine in a hundred are at most this.
    pub p99: u32,
}

impl Spread {
    fn finish(&mut self) {
        let mut values = std::mem::take(&mut self.values);
        values.sort_unstable();
        let at = |percent: usize| {
            let rank = (values.len() * percent).div_ceil(100).max(1);
            values.get(rank - 1).copied().unwrap_or(0)
        };
        (self.p50, self.p90, self.p99) = (at(50), at(90), at(99));
        let sum: u64 = values.iter().map(|value| u64::from(*value)).sum();
        self.mean = sum.checked_div(values.len() as u64).unwrap_or(0);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn months_split_chip_cycles() {
        let grid = Grid::new(
            "2017-10-31T22:00:00Z".parse().unwrap(),
            "2017-12-01T01:00:00Z".parse().unwrap(),
            3_600,
        );
        let months = Months::of(grid);
        assert_eq!(months.names, ["2017-10", "2017-11", "2017-12"]);
        assert_eq!(months.cycles(), [2, 720, 1]);
        let mut chips = ChipCycles::default();
        chips.add(&months, 1, 723, 5);
        assert_eq!(chips.by_month, [5, 3_600, 5]);
        assert_eq!(chips.total(), 3_610);
    }

    #[test]
    fn spread_takes_the_nearest_rank() {
        let mut service = Service::default();
        for seconds in (1..=10).rev() {
            service.completed(seconds);
        }
        service.finish();
        let spread = &service.completion_seconds;
        assert_eq!((spread.mean, spread.p50, spread.p90, spread.p99), (5, 5, 9, 10));
        assert_eq!(service.wait_seconds, Spread::default());
    }
}
