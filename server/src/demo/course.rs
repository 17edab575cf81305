//! The demo's course: which jobs of the trace a cycle places, worked out from the stored stretches alone.
//!
//! The demo plays the busiest eight weeks of a trace in a loop, because a market with idle chips has nothing to show.
//! Everything follows from the number of a cycle, so a demo that was killed goes on with the very jobs that come next.

use common::ids::BidId;
use common::instant::{Instant, MICROS_PER_SECOND};

use crate::error::AppError;
use crate::services::bids::NewBid;
use crate::store::bids::BidTerms;
use crate::store::demo::Stretch;
use crate::trace::organisation::{Organisation, busiest_stretch};
use crate::trace::{Job, Trace};

/// A trace as the demo plays it, and the organisation that bids with it.
#[derive(Clone, Debug)]
pub struct Course {
    trace: Trace,
    organisation: Organisation,
    /// Start and length in seconds of the part that is played again and again.
    begins_at: Instant,
    loop_seconds: u64,
}

impl Course {
    /// The course of a trace for an organisation of so many chips.
    #[must_use]
    pub fn new(trace: Trace, chips: u64) -> Self {
        let organisation = Organisation::of(&trace, chips);
        let (begins_at, ends_at) = busiest_stretch(&trace);
        let loop_seconds = (ends_at.0 - begins_at.0).unsigned_abs() / MICROS_PER_SECOND.unsigned_abs();
        Self { trace, organisation, begins_at, loop_seconds }
    }

    /// The organisation.
    #[must_use]
    pub fn organisation(&self) -> &Organisation {
        &self.organisation
    }

    /// Bids that a cycle places: the jobs submitted between the part of the trace that was played when the cycle before
    /// began, and the part played when it begins. The first cycle also places what ran already.
    ///
    /// # Errors
    /// `Internal`: `stretches` do not cover the cycle.
    pub fn bids_of(&self, stretches: &[Stretch], cycle: u64) -> Result<Vec<NewBid>, AppError> {
        let stretch = stretch_of(stretches, cycle)?;
        if cycle <= 1 {
            let running = self.running_after(stretch.played_seconds);
            return running.map(|(index, left)| self.bid(stretch, 0, index, left)).collect();
        }
        let (from, to) = (played(stretches, cycle - 1)?, played(stretches, cycle)?);
        let mut bids = Vec::new();
        let mut at = from;
        while at < to {
            let (lap, within) = (at / self.loop_seconds, at % self.loop_seconds);
            let until = (within + (to - at)).min(self.loop_seconds);
            for (index, job) in self.submitted(within, until) {
                bids.push(self.bid(stretch, lap, index, job.chip_seconds())?);
            }
            at += until - within;
        }
        Ok(bids)
    }

    /// Jobs submitted in seconds `from..to` of the loop, with their numbers.
    fn submitted(&self, from: u64, to: u64) -> impl Iterator<Item = (usize, &Job)> {
        let at = |seconds: u64| self.begins_at.plus_seconds(i64::try_from(seconds).unwrap_or(i64::MAX));
        let first = self.trace.jobs.partition_point(|job| job.submitted_at < at(from));
        self.trace
            .submitted_between(at(from), at(to))
            .iter()
            .enumerate()
            .map(move |(nth, job)| (first + nth, job))
    }

    /// Jobs that run when so much of the loop is played, if none ever waited, and the chip-seconds left of each.
    fn running_after(&self, played_seconds: u64) -> impl Iterator<Item = (usize, u64)> {
        let at = self.begins_at.plus_seconds(i64::try_from(played_seconds).unwrap_or(i64::MAX));
        let before = self.trace.jobs.partition_point(|job| job.submitted_at < at);
        self.trace.jobs[..before].iter().enumerate().filter_map(move |(index, job)| {
            let end = job.submitted_at.plus_seconds(i64::from(job.seconds));
            let left = (end.0 - at.0).max(0).unsigned_abs() / MICROS_PER_SECOND.unsigned_abs();
            (left > 0).then_some((index, left * u64::from(job.chips)))
        })
    }

    /// How much of the loop to skip for a market that begins at an instant, so that its week is the trace's week: Monday
    /// morning plays a Monday morning.
    #[must_use]
    pub fn skip_for(&self, begins_at: Instant) -> u64 {
        const WEEK: i64 = 7 * 86_400 * MICROS_PER_SECOND;
        let skip = (begins_at.0 - self.begins_at.0).rem_euclid(WEEK) / MICROS_PER_SECOND;
        skip.unsigned_abs() % self.loop_seconds
    }

    /// The bid of a job. Its id orders bids by lap and submission and never changes, so that none is placed twice.
    fn bid(&self, stretch: &Stretch, lap: u64, index: usize, chip_seconds: u64) -> Result<NewBid, AppError> {
        let job = &self.trace.jobs[index];
        let bid = self.organisation.bid(job);
        let work = scaled(chip_seconds, stretch.cycle_seconds, stretch.trace_seconds);
        let again = if lap == 0 { String::new() } else { format!(", lap {}", lap + 1) };
        Ok(NewBid {
            id: BidId::new(format!("{}-{lap:03}-{index:07}", self.trace.name)).map_err(AppError::internal)?,
            team: self.organisation.teams[bid.team].id.clone(),
            terms: BidTerms {
                name: format!("{}{again}", bid.name),
                note: format!("Submitted {}", job.submitted_at),
                position: 0,
                alternatives: bid.alternatives,
                limit: bid.limit,
                not_before: None,
                not_after: None,
                work_chip_seconds: Some(work),
            },
        })
    }
}

/// Work as it is played: a job's chip-seconds in time that passes `trace_seconds / cycle_seconds` as fast. At least 1.
#[must_use]
pub fn scaled(chip_seconds: u64, cycle_seconds: u32, trace_seconds: u32) -> u64 {
    let scaled =
        (u128::from(chip_seconds) * u128::from(cycle_seconds)).div_ceil(u128::from(trace_seconds.max(1)));
    u64::try_from(scaled).unwrap_or(u64::MAX).max(1)
}

/// The stretch that a cycle lies in.
///
/// # Errors
/// `Internal`: it lies before the first.
pub fn stretch_of(stretches: &[Stretch], cycle: u64) -> Result<&Stretch, AppError> {
    let before = stretches.partition_point(|stretch| stretch.first_cycle <= cycle);
    before
        .checked_sub(1)
        .map(|last| &stretches[last])
        .ok_or_else(|| AppError::internal(format!("no stretch of the demo covers cycle {cycle}")))
}

/// Seconds of the trace played when a cycle begins.
///
/// # Errors
/// `Internal`: no stretch covers the cycle.
pub fn played(stretches: &[Stretch], cycle: u64) -> Result<u64, AppError> {
    let stretch = stretch_of(stretches, cycle)?;
    Ok(stretch.played_seconds + (cycle - stretch.first_cycle) * u64::from(stretch.trace_seconds))
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeSet;

    fn stretch(
        first_cycle: u64,
        live: bool,
        cycle_seconds: u32,
        trace_seconds: u32,
        played_seconds: u64,
    ) -> Stretch {
        Stretch {
            first_cycle,
            trace: "philly".into(),
            chips: 640,
            live,
            cycle_seconds,
            trace_seconds,
            played_seconds,
        }
    }

    #[test]
    fn every_job_of_the_loop_is_placed_once_a_lap() {
        let course = Course::new(crate::trace::philly::load().0, 640);
        // An hour a cycle in history, then two hours; the loop of 56 days ends within cycle 1,200 and begins again.
        let stretches = [stretch(1, false, 3_600, 3_600, 0), stretch(1_001, true, 10, 7_200, 1_000 * 3_600)];
        let laps = course.loop_seconds;
        let mut seen = BTreeSet::new();
        for cycle in 1..=1_173 {
            for bid in course.bids_of(&stretches, cycle).unwrap() {
                assert!(seen.insert(bid.id), "a job twice in cycle {cycle}");
            }
        }
        assert_eq!(played(&stretches, 1_173).unwrap(), laps, "56 days are played");
        let ran_before = course.running_after(0).count();
        let submitted = course.submitted(0, laps).count();
        assert_eq!(seen.len(), ran_before + submitted);
        assert!(submitted > 40_000, "{submitted}");
        // The next lap brings the same jobs under other ids.
        let again = course.bids_of(&stretches, 1_174).unwrap();
        assert_eq!(again.len(), course.submitted(0, 7_200).count());
        assert!(again.iter().all(|bid| !seen.contains(&bid.id) && bid.terms.name.ends_with(", lap 2")));
    }

    #[test]
    fn a_cycle_always_places_the_same_bids() {
        let course = Course::new(crate::trace::philly::load().0, 640);
        let stretches = [stretch(1, true, 10, 60, 0)];
        assert_eq!(course.bids_of(&stretches, 1).unwrap(), course.bids_of(&stretches, 1).unwrap());
        assert!(!course.bids_of(&stretches, 1).unwrap().is_empty());
    }

    #[test]
    fn the_week_of_the_market_is_the_week_of_the_trace() {
        let course = Course::new(crate::trace::philly::load().0, 640);
        let week = 7 * 86_400;
        assert_eq!(course.begins_at.0.rem_euclid(86_400_000_000), 0, "a midnight");
        for text in ["2026-11-30T14:10:00Z", "2017-01-01T00:00:00Z"] {
            let at: Instant = text.parse().unwrap();
            let skip = course.skip_for(at);
            assert!(skip < week);
            let plays = course.begins_at.plus_seconds(i64::try_from(skip).unwrap());
            assert_eq!((at.0 - plays.0).rem_euclid(i64::try_from(week).unwrap() * 1_000_000), 0, "{text}");
        }
    }

    #[test]
    fn work_shrinks_as_time_runs_faster() {
        assert_eq!(scaled(3_600, 10, 60), 600);
        assert_eq!(scaled(1, 10, 60), 1);
        assert_eq!(scaled(7, 60, 60), 7);
        assert!(stretch_of(&[stretch(5, true, 10, 60, 0)], 4).is_err());
    }
}
