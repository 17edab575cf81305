//! What-ifs over many cycles: jobs, which a worker runs in the background and begins anew when it died with its process.

use std::sync::Arc;

use serde::{Deserialize, Serialize};

use super::apply::changed;
use super::keep;
use crate::cycle::{Again, run_engine};
use crate::error::AppError;
use crate::services::Services;
use crate::services::jobs::{self, Gauge};
use crate::services::organisation::newest_setup;
use crate::services::supply::effect::Tally;
use crate::store::jobs::{End, Job, Reached};
use crate::store::what_if::{self as stored, StoredWhatIf};

/// Cycles whose inputs are read at once.
const BATCH: u64 = 100;

/// What a job is asked beside its question: what may be another one by the time it is run.
#[derive(Clone, Copy, Debug, Deserialize, Serialize)]
pub(super) struct Asked {
    pub(super) first_cycle: u64,
    pub(super) last_cycle: u64,
    /// Balances follow a changed income.
    pub(super) rebases: bool,
}

impl Asked {
    /// Of a job as it is stored.
    pub(super) fn of(job: &Job) -> Result<Self, AppError> {
        jobs::read(&job.request)
    }

    /// Cycles that are cleared again.
    pub(super) const fn cycles(&self) -> u64 {
        self.last_cycle + 1 - self.first_cycle
    }
}

/// Answers the question that has the job's id.
pub(in crate::services) async fn run(services: &Services, job: &Job, gauge: &Gauge) -> Result<End, AppError> {
    let mut tx = services.store.read().await?;
    let found = stored::by_id(&mut tx, &job.id).await?;
    let setup = newest_setup(&mut tx).await?;
    drop(tx);
    let question = found.ok_or_else(|| AppError::not_found("what-if", &job.id))?;
    let tally = replay(services, &question, Asked::of(job)?, gauge).await?;
    let answer = Ok(tally.finish(&setup.teams));
    keep(&services.store, services.now(), question.number, &answer).await?;
    Ok(End::default())
}

/// Clears the cycles again, each without and with the changes. Between two cycles it lets others compute, and may be ended.
async fn replay(
    services: &Services,
    question: &StoredWhatIf,
    asked: Asked,
    gauge: &Gauge,
) -> Result<Tally, AppError> {
    let Asked { first_cycle, last_cycle, rebases } = asked;
    let changes = Arc::new(question.question.changes.clone());
    let store = &services.store;
    let mut work = (Again::from(&mut store.read().await?, first_cycle).await?, Tally::default());
    let mut at = first_cycle;
    while at <= last_cycle {
        let to = (at + BATCH - 1).min(last_cycle);
        work.0.read_to(&mut store.read().await?, to).await?;
        for cycle in at..=to {
            let permit = Arc::clone(&services.previews).acquire_owned().await.map_err(AppError::internal)?;
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
            let done_steps = cycle + 1 - first_cycle;
            gauge.set(Reached { done_steps, all_steps: asked.cycles(), ..Reached::default() });
        }
        at = to + 1;
    }
    Ok(work.1)
}
