//! Computes the runs that people started, one at a time, in the background.
//!
//! The database is the queue: a run survives a restart, and of several processes on one database one takes it. While it is
//! computed its row says every second how far it is; a row that nobody speaks of any more is taken up again.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::Duration;

use common::api::{LabRun, LabState};
use tokio_util::sync::CancellationToken;

use super::compare::{Progress, compare};
use crate::error::{AppError, ErrorKind};
use crate::services::Services;
use crate::services::lab::trace_of;
use crate::store::lab;

/// How often a run says how far it is, and hears whether it is cancelled.
const BEAT: Duration = Duration::from_secs(1);

/// Seconds without a word after which a run is taken up by another process.
const SILENCE_SECONDS: i64 = 30;

/// How often the queue is looked at when nobody in this process adds to it.
const LOOK: Duration = Duration::from_secs(10);

/// What a computation and its watcher share.
#[derive(Debug, Default)]
struct Beat {
    done: AtomicU64,
    all: AtomicU64,
    stop: AtomicBool,
}

impl Progress for Arc<Beat> {
    fn step(&mut self, done: u64, all: u64, _policy: &str) -> bool {
        self.done.store(done, Ordering::Relaxed);
        self.all.store(all, Ordering::Relaxed);
        !self.stop.load(Ordering::Relaxed)
    }
}

/// Works until the shutdown. Trouble with the database is logged and tried again.
pub async fn work(services: Arc<Services>, stop: CancellationToken) {
    while !stop.is_cancelled() {
        match next(&services).await {
            Ok(Some(run)) => {
                let id = run.id.clone();
                if let Err(error) = compute(&services, &run, &stop).await {
                    tracing::error!(run = id, cause = %error.private_context(), "a run of the lab: {error}");
                }
                continue;
            }
            Ok(None) => {}
            Err(error) => tracing::warn!("the lab's queue can't be read: {error}"),
        }
        tokio::select! {
            () = services.lab_wanted.notified() => {}
            () = tokio::time::sleep(LOOK) => {}
            () = stop.cancelled() => {}
        }
    }
}

/// Takes up the oldest run that waits. Looks first without the writer, which others need.
async fn next(services: &Services) -> Result<Option<LabRun>, AppError> {
    let silent_since = services.now().plus_seconds(-SILENCE_SECONDS);
    if !lab::is_wanted(&mut services.store.read().await?, silent_since).await? {
        return Ok(None);
    }
    let mut tx = services.store.write().await?;
    let run = lab::claim(&mut tx, services.now(), silent_since).await?;
    tx.commit().await?;
    Ok(run)
}

/// Writes down how far a run is. Answers whether somebody wants it to end.
async fn say(services: &Services, id: &str, beat: &Beat) -> Result<bool, AppError> {
    let (done, all) = (beat.done.load(Ordering::Relaxed), beat.all.load(Ordering::Relaxed));
    let mut tx = services.store.write().await?;
    let cancelled = lab::note_progress(&mut tx, id, done, all, services.now()).await?;
    tx.commit().await?;
    Ok(cancelled)
}

/// Computes a run and stores how it ended.
async fn compute(services: &Services, run: &LabRun, stop: &CancellationToken) -> Result<(), AppError> {
    let beat = Arc::new(Beat::default());
    let ended = {
        let work = comparison(services, run, Arc::clone(&beat));
        tokio::pin!(work);
        loop {
            tokio::select! {
                ended = &mut work => break ended,
                () = tokio::time::sleep(BEAT) => match say(services, &run.id, &beat).await {
                    Ok(cancelled) => {
                        beat.stop.fetch_or(cancelled, Ordering::Relaxed);
                    }
                    // The computation goes on; it says so again in a second.
                    Err(error) => tracing::warn!(run = run.id, "a run of the lab can't say how far it is: {error}"),
                },
                () = stop.cancelled(), if !beat.stop.load(Ordering::Relaxed) => {
                    beat.stop.store(true, Ordering::Relaxed);
                }
            }
        }
    };
    let mut tx = services.store.write().await?;
    let now = services.now();
    match ended {
        Ok(Some(result)) => {
            let all = beat.all.load(Ordering::Relaxed);
            lab::note_progress(&mut tx, &run.id, all, all, now).await?;
            lab::finish(&mut tx, &run.id, LabState::Done, None, Some(result), now).await?;
        }
        // The process ends: the run begins again in the next one.
        Ok(None) if stop.is_cancelled() => lab::let_wait(&mut tx, &run.id).await?,
        Ok(None) => lab::finish(&mut tx, &run.id, LabState::Cancelled, None, None, now).await?,
        Err(error) => {
            if error.kind() == ErrorKind::Internal {
                tracing::error!(run = run.id, cause = %error.private_context(), "a run of the lab failed: {error}");
            }
            let said = error.to_string();
            lab::finish(&mut tx, &run.id, LabState::Failed, Some(&said), None, now).await?;
        }
    }
    tx.commit().await
}

/// The figures in JSON, compressed; none where it was stopped.
async fn comparison(
    services: &Services,
    run: &LabRun,
    mut beat: Arc<Beat>,
) -> Result<Option<Vec<u8>>, AppError> {
    let trace = trace_of(&services.store, &run.request).await?;
    let request = run.request.clone();
    let compute = move || {
        let Some(result) = compare(&trace, &request, &mut beat)? else { return Ok(None) };
        let json = serde_json::to_vec(&result).map_err(AppError::internal)?;
        zstd::encode_all(json.as_slice(), 9).map(Some).map_err(AppError::internal)
    };
    tokio::task::spawn_blocking(compute).await.map_err(AppError::internal)?
}
