//! What an allocator keeps of each active job: a predictor that takes the points of its log one by one.

use std::collections::BTreeMap;

use super::job::Job;
use crate::log::LossPoint;

/// Predictors by job, each with the points that it has taken.
pub(super) struct Followed<T>(BTreeMap<usize, (T, usize)>);

impl<T> Default for Followed<T> {
    fn default() -> Self {
        Self(BTreeMap::new())
    }
}

impl<T> Followed<T> {
    /// Gives each predictor the points that are new, and forgets the jobs that are no longer active.
    pub(super) fn follow(
        &mut self,
        active: &[Job],
        new: impl Fn() -> T,
        observe: impl Fn(&mut T, LossPoint),
    ) {
        let mut before = std::mem::take(&mut self.0);
        for job in active {
            let (mut predictor, taken) = before.remove(&job.number).unwrap_or_else(|| (new(), 0));
            job.log[taken..].iter().for_each(|point| observe(&mut predictor, *point));
            self.0.insert(job.number, (predictor, job.log.len()));
        }
    }

    /// The predictor of a job that was active.
    pub(super) fn of(&self, job: &Job) -> &T {
        &self.0[&job.number].0
    }
}
