//! What-ifs over many cycles, in the background: how far each is, and the way to end it.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use common::api::WhatIfChange;
use tokio::sync::Semaphore;
use tokio_util::sync::CancellationToken;

use super::apply::changed;
use crate::cycle::{Again, run_engine};
use crate::error::AppError;
use crate::services::supply::effect::Tally;
use crate::store::Store;

/// How many are computed at once.
const AT_ONCE: usize = 2;

/// Cycles whose inputs are read at once.
const BATCH: u64 = 100;

/// Those that are computed now, by their ids. Cheap to clone.
#[derive(Clone, Debug, Default)]
pub(in crate::services) struct Runs(Arc<Mutex<BTreeMap<String, Arc<Run>>>>);

/// One of them.
#[derive(Debug, Default)]
pub(super) struct Run {
    done: AtomicU64,
    total: u64,
    stop: CancellationToken,
}

impl Runs {
    fn with<T>(&self, act: impl FnOnce(&mut BTreeMap<String, Arc<Run>>) -> T) -> T {
        act(&mut self.0.lock().unwrap_or_else(PoisonError::into_inner))
    }

    /// Begins one of so many cycles.
    ///
    /// # Errors
    /// `Conflict`: too many are computed already.
    pub(super) fn begin(&self, id: &str, total: u64) -> Result<Arc<Run>, AppError> {
        self.with(|runs| {
            if runs.len() >= AT_ONCE {
                return Err(AppError::conflict(format!(
                    "{AT_ONCE} what-ifs over a day are computed already; wait for one, or cancel it"
                )));
            }
            let run = Arc::new(Run { total, ..Run::default() });
            runs.insert(id.to_owned(), Arc::clone(&run));
            Ok(run)
        })
    }

    /// Forgets one that is over.
    pub(super) fn end(&self, id: &str) {
        self.with(|runs| runs.remove(id));
    }

    /// Cycles done and to do of one that is computed now.
    pub(super) fn progress(&self, id: &str) -> Option<(u64, u64)> {
        self.with(|runs| runs.get(id).map(|run| (run.done.load(Ordering::Relaxed), run.total)))
    }

    /// Tells one to end; false where it is not computed now.
    pub(super) fn cancel(&self, id: &str) -> bool {
        self.with(|runs| {
            runs.get(id).is_some_and(|run| {
                run.stop.cancel();
                true
            })
        })
    }
}

/// What one needs.
pub(super) struct Job {
    pub(super) store: Store,
    pub(super) previews: Arc<Semaphore>,
    pub(super) changes: Vec<WhatIfChange>,
    pub(super) rebases: bool,
    /// First and last cycle.
    pub(super) cycles: (u64, u64),
}

/// Clears the cycles again, each without and with the changes. Between two cycles it lets others compute, and may be told
/// to end.
pub(super) async fn replay(job: Job, run: &Run) -> Result<Tally, AppError> {
    let Job { store, previews, changes, rebases, cycles: (first, last) } = job;
    let changes = Arc::new(changes);
    let mut work = (Again::from(&mut store.read().await?, first).await?, Tally::default());
    let mut at = first;
    while at <= last {
        let to = (at + BATCH - 1).min(last);
        work.0.read_to(&mut store.read().await?, to).await?;
        for _ in at..=to {
            if run.stop.is_cancelled() {
                return Err(Run::cancelled());
            }
            let permit = Arc::clone(&previews).acquire_owned().await.map_err(AppError::internal)?;
            let changes = Arc::clone(&changes);
            let step = move || {
                let (mut again, mut tally) = work;
                let cleared = again.clear_next()?;
                let cleared =
                    cleared.ok_or_else(|| AppError::internal("a cycle that was read is missing"))?;
                let changed = changed(&cleared.snapshot, &changes, rebases)?;
                let after = run_engine(&changed)?;
                tally.add((&cleared.snapshot, &cleared.outcome), (&changed, &after));
                drop(permit);
                Ok::<_, AppError>((again, tally))
            };
            work = tokio::task::spawn_blocking(step).await.map_err(AppError::internal)??;
            run.done.fetch_add(1, Ordering::Relaxed);
        }
        at = to + 1;
    }
    Ok(work.1)
}
