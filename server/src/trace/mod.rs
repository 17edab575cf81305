//! Traces of real clusters: what jobs were submitted, by whom, for how long and on how many chips.
//!
//! A trace is the demand that `replay` measures the market on and that `demo` plays into a live one. One reader
//! serves them all: the Philly trace inside the binary and every file that `import` takes go through
//! [`parse::read`], so nothing unchecked ever reaches a market.

pub mod chip_types;
pub mod library;
pub mod organisation;
pub mod parse;
pub mod philly;

use common::instant::{Instant, MICROS_PER_SECOND};

/// One job of a trace.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Job {
    /// Line of the file it stands on, from 1; names the job for good, whatever order the file is read in.
    pub line: u32,
    /// Index into [`Trace::clusters`].
    pub cluster: u16,
    /// Chips it holds, all at once (its gang).
    pub chips: u32,
    /// Seconds for which it holds them once it runs.
    pub seconds: u32,
    /// When it was submitted. A trace has no time zone: its times are read as UTC.
    pub submitted_at: Instant,
}

impl Job {
    /// Chip-seconds of work: what the job must be given before it ends.
    #[must_use]
    pub fn chip_seconds(&self) -> u64 {
        u64::from(self.chips) * u64::from(self.seconds)
    }
}

/// A checked trace.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Trace {
    /// What it is called; `philly` is built in. Part of every draw that a mapping makes, so that two traces differ.
    pub name: String,
    /// The clusters that submitted jobs, in order of their names.
    pub clusters: Vec<String>,
    /// The jobs in order of submission, equal times in order of their lines; at least one.
    pub jobs: Vec<Job>,
}

impl Trace {
    /// When the first job was submitted.
    #[must_use]
    pub fn begins_at(&self) -> Instant {
        self.jobs.first().map_or(Instant(0), |job| job.submitted_at)
    }

    /// One second after the last job was submitted.
    #[must_use]
    pub fn ends_at(&self) -> Instant {
        self.jobs.last().map_or(Instant(0), |job| job.submitted_at.plus_seconds(1))
    }

    /// The jobs submitted in `from..to`.
    #[must_use]
    pub fn submitted_between(&self, from: Instant, to: Instant) -> &[Job] {
        let start = self.jobs.partition_point(|job| job.submitted_at < from);
        let end = self.jobs.partition_point(|job| job.submitted_at < to);
        &self.jobs[start..end.max(start)]
    }
}

/// Chips that jobs ask for on average over `from..to`, in thousandths, if each ran from its submission on.
#[must_use]
pub fn mean_demand_milli(jobs: &[Job], from: Instant, to: Instant) -> u64 {
    let span = to.0.saturating_sub(from.0) / MICROS_PER_SECOND;
    if span <= 0 {
        return 0;
    }
    let chip_seconds: u128 = jobs.iter().map(|job| demand_within(job, from, to)).sum();
    u64::try_from(chip_seconds * 1_000 / u128::from(span.unsigned_abs())).unwrap_or(u64::MAX)
}

/// Chip-seconds that a job would hold within `from..to` if it ran from its submission on.
fn demand_within(job: &Job, from: Instant, to: Instant) -> u128 {
    let begin = job.submitted_at.max(from);
    let end = job.submitted_at.plus_seconds(i64::from(job.seconds)).min(to);
    let seconds = (end.0 - begin.0).max(0) / MICROS_PER_SECOND;
    u128::from(job.chips) * u128::from(seconds.unsigned_abs())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn job(line: u32, at: i64, seconds: u32, chips: u32) -> Job {
        Job { line, cluster: 0, chips, seconds, submitted_at: Instant(0).plus_seconds(at) }
    }

    #[test]
    fn demand_counts_only_what_lies_within() {
        let trace = Trace {
            name: "t".into(),
            clusters: vec!["a".into()],
            jobs: vec![job(1, 0, 100, 2), job(2, 50, 10, 4), job(3, 90, 1_000, 1)],
        };
        let at = |seconds| Instant(0).plus_seconds(seconds);
        // 2 chips for 50 s, 4 for 10 s and 1 for 10 s within seconds 50 to 100.
        assert_eq!(mean_demand_milli(&trace.jobs, at(50), at(100)), (100 + 40 + 10) * 1_000 / 50);
        assert_eq!(mean_demand_milli(&trace.jobs, at(100), at(100)), 0);
        assert_eq!(trace.submitted_between(at(50), at(90)), &trace.jobs[1..2]);
        assert_eq!(trace.submitted_between(at(200), at(100)), &[]);
    }
}
