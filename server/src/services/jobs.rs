//! Long work in the background: who asks may leave and find it again, see how far it is, and give it up.
//!
//! A job is a row. A [`Worker`] of any process takes the oldest one that waits, runs it, and says every second how far it
//! is. One that was not heard of for a while has died with its process and is begun anew, so that a restart costs time and
//! nothing else.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use common::api::{JobState, JobView};
use common::ids::UserId;
use tokio::io::AsyncWriteExt as _;
use tokio_util::sync::CancellationToken;

use super::Services;
use super::exports::{ExportRequest, Progress, Scope};
use super::{reconcile, what_if};
use crate::error::{AppError, ErrorKind};
use crate::policy::{Action, Object, Viewer};
use crate::store::Tx;
use crate::store::jobs::{self, End, Job, Reached};

/// The kinds of jobs, as they are stored.
pub(super) const EXPORT: &str = "export";
pub(super) const RECONCILIATION: &str = "reconciliation";
pub(super) const WHAT_IF: &str = "what_if";

/// Jobs of one person that wait or run at most.
const MOST_OPEN: u64 = 5;

/// Jobs that a list shows.
const LISTED: u32 = 50;

/// How often a job says how far it is.
const REPORT_EVERY: Duration = Duration::from_secs(1);

/// How often a worker looks for work.
const LOOK_EVERY: Duration = Duration::from_millis(500);

/// Seconds after which a job that says nothing is begun anew.
const SILENT_SECONDS: i64 = 30;

/// Seconds for which the file of a job is kept.
pub const FILE_SECONDS: i64 = 7 * 86_400;

/// What an export job stores of what is asked for.
#[derive(serde::Serialize, serde::Deserialize)]
struct ExportJob {
    request: ExportRequest,
    /// Whose rows its reader may see, at the time it was asked for.
    scope: Scope,
    file_name: String,
}

/// A finished file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct JobFile {
    /// Where it is.
    pub path: PathBuf,
    /// What it is called.
    pub name: String,
    /// Its media type.
    pub media_type: &'static str,
}

impl Services {
    /// Asks for an export in the background.
    ///
    /// # Errors
    /// As [`Services::export`]. `Conflict`: the viewer has as many open jobs as anybody may have.
    pub async fn begin_export_job(
        &self,
        viewer: &Viewer,
        request: &ExportRequest,
    ) -> Result<JobView, AppError> {
        let scope = self.export_scope(viewer, request).await?;
        let export = self.begin_export(request, scope.clone(), self.now()).await?;
        let file_name = export.file_name();
        let title = format!("{}: {file_name}", request.name.title());
        let stored = ExportJob { request: request.clone(), scope, file_name };
        self.add_job(viewer, EXPORT, title, &stored, export.expected_rows()).await
    }

    /// Adds a job that waits for its turn.
    pub(super) async fn add_job(
        &self,
        viewer: &Viewer,
        kind: &str,
        title: String,
        request: &impl serde::Serialize,
        expected_rows: u64,
    ) -> Result<JobView, AppError> {
        let id = self.ids.new_id(self.now());
        let mut tx = self.store.write().await?;
        let by = (&viewer.user, viewer.name.as_str());
        let job = self.write_job(&mut tx, by, (id, kind), (title, expected_rows), request).await?;
        tx.commit().await?;
        Ok(view(&job))
    }

    /// Writes a job that waits for its turn.
    pub(super) async fn write_job(
        &self,
        tx: &mut Tx,
        (user, user_name): (&UserId, &str),
        (id, kind): (String, &str),
        (title, expected_rows): (String, u64),
        request: &impl serde::Serialize,
    ) -> Result<Job, AppError> {
        let now = self.now();
        let job = Job {
            id,
            kind: kind.to_owned(),
            user: user.clone(),
            user_name: user_name.to_owned(),
            title,
            request: serde_json::to_string(request).map_err(AppError::internal)?,
            state: JobState::Waiting,
            reached: Reached { expected_rows, ..Reached::default() },
            made_at: now,
            seen_at: None,
            ended_at: None,
            file: None,
            result: None,
            error: None,
        };
        if jobs::open_of(tx, user).await? >= MOST_OPEN {
            return Err(AppError::conflict(format!(
                "{MOST_OPEN} of your jobs wait or run already; wait for one to end, or cancel one"
            )));
        }
        jobs::insert(tx, &job).await?;
        Ok(job)
    }

    /// The viewer's newest jobs that make files, newest first.
    ///
    /// # Errors
    /// `Forbidden`: a token without the scope to read.
    pub async fn export_jobs(&self, viewer: &Viewer) -> Result<Vec<JobView>, AppError> {
        viewer.may(Action::ReadMarket, Object::Organisation)?;
        let mut tx = self.store.read().await?;
        let jobs = jobs::of_user(&mut tx, &viewer.user, EXPORT, LISTED).await?;
        Ok(jobs.iter().map(view).collect())
    }

    /// One of the viewer's jobs.
    ///
    /// # Errors
    /// `NotFound`: there is none of that id, or it is somebody else's.
    pub async fn job(&self, viewer: &Viewer, id: &str) -> Result<JobView, AppError> {
        Ok(view(&self.own_job(viewer, id).await?))
    }

    async fn own_job(&self, viewer: &Viewer, id: &str) -> Result<Job, AppError> {
        viewer.may(Action::ReadMarket, Object::Organisation)?;
        let job = jobs::find(&mut self.store.read().await?, id).await?;
        job.filter(|job| job.user == viewer.user).ok_or_else(|| AppError::not_found("job", id))
    }

    /// Gives up one of the viewer's jobs. One that has ended already stays as it is.
    ///
    /// # Errors
    /// `NotFound`: there is none of that id, or it is somebody else's.
    pub async fn cancel_job(&self, viewer: &Viewer, id: &str) -> Result<JobView, AppError> {
        self.own_job(viewer, id).await?;
        let (now, mut tx) = (self.now(), self.store.write().await?);
        jobs::cancel(&mut tx, id, now).await?;
        tx.commit().await?;
        self.job(viewer, id).await
    }

    /// The file of one of the viewer's export jobs.
    ///
    /// # Errors
    /// `NotFound`: there is no such job or no file of it (any more), or it has rows that the viewer may no longer see.
    pub async fn job_file(&self, viewer: &Viewer, id: &str) -> Result<JobFile, AppError> {
        let job = self.own_job(viewer, id).await?;
        let missing =
            || AppError::new(ErrorKind::NotFound, format!("job {id} has no file; ask for it again"));
        let path = PathBuf::from(job.file.ok_or_else(missing)?);
        let ExportJob { request, scope, file_name } = read(&job.request)?;
        if !self.export_scope(viewer, &request).await?.covers(&scope) {
            return Err(AppError::new(
                ErrorKind::NotFound,
                format!("the file of job {id} has rows that you may no longer see; ask for it again"),
            ));
        }
        if !path.is_file() {
            return Err(missing());
        }
        Ok(JobFile { path, name: file_name, media_type: request.format.media_type() })
    }
}

/// A job as it is shown.
pub(super) fn view(job: &Job) -> JobView {
    let Reached { done_steps, all_steps, rows, expected_rows, bytes } = job.reached;
    let is_done = job.state == JobState::Done;
    let has_file = is_done && job.file.is_some();
    JobView {
        id: job.id.clone(),
        kind: job.kind.clone(),
        title: job.title.clone(),
        user_name: job.user_name.clone(),
        state: job.state,
        percent: if is_done { 100 } else { Progress { done: done_steps, all: all_steps }.percent() },
        rows,
        expected_rows: if is_done { rows } else { expected_rows.max(rows) },
        bytes,
        made_at: job.made_at,
        ended_at: job.ended_at,
        error: job.error.clone(),
        file: has_file.then(|| format!("/api/v1/jobs/{}/file", job.id)),
    }
}

pub(super) fn read<T: serde::de::DeserializeOwned>(json: &str) -> Result<T, AppError> {
    serde_json::from_str(json).map_err(AppError::internal)
}

/// How far work is, told by whoever does it and read by whoever watches it.
#[derive(Clone, Debug, Default)]
pub(super) struct Gauge(Arc<[AtomicU64; 5]>);

impl Gauge {
    pub(super) fn set(&self, reached: Reached) {
        let Reached { done_steps, all_steps, rows, expected_rows, bytes } = reached;
        for (cell, value) in self.0.iter().zip([done_steps, all_steps, rows, expected_rows, bytes]) {
            cell.store(value, Ordering::Relaxed);
        }
    }

    fn get(&self) -> Reached {
        let [done_steps, all_steps, rows, expected_rows, bytes] =
            std::array::from_fn(|place| self.0[place].load(Ordering::Relaxed));
        Reached { done_steps, all_steps, rows, expected_rows, bytes }
    }
}

/// Runs jobs, one after the other.
pub struct Worker {
    services: Arc<Services>,
    /// Where files are written.
    folder: PathBuf,
}

/// Why a job's run ended before the job did.
enum GivenUp {
    /// Somebody cancelled the job, or another worker took it.
    Job,
    /// This program ends.
    Program,
}

impl Worker {
    /// A worker that writes files into a folder, which is made when it is needed.
    #[must_use]
    pub fn new(services: Arc<Services>, folder: PathBuf) -> Self {
        Self { services, folder }
    }

    /// Runs jobs until it is told to stop; the one under way is put back then.
    pub async fn run(&self, stop: &CancellationToken) {
        let mut night = None;
        while !stop.is_cancelled() {
            match self.services.keep_nights(night).await {
                Ok(next) => night = Some(next),
                // There may be no organisation yet.
                Err(error) => tracing::debug!(context = error.private_context(), "the night waits: {error}"),
            }
            match self.run_next(stop).await {
                Ok(true) => continue,
                Ok(false) => {}
                Err(error) => {
                    tracing::warn!(context = error.private_context(), "jobs wait: {error}");
                }
            }
            tokio::select! {
                () = tokio::time::sleep(LOOK_EVERY) => {}
                () = stop.cancelled() => {}
            }
        }
    }

    /// Runs the next job to its end; the answer is whether there was one.
    ///
    /// # Errors
    /// `Unavailable`: the database does not answer. What a job fails with stands in its row.
    pub async fn run_next(&self, stop: &CancellationToken) -> Result<bool, AppError> {
        self.remove_old_files().await?;
        let Some(asked) = self.take().await? else { return Ok(false) };
        let mut job = asked.clone();
        let gauge = Gauge::default();
        gauge.set(job.reached);
        let path = self.file_of(&job);
        let outcome = {
            let work = self.work(&asked, &path, &gauge);
            tokio::pin!(work);
            loop {
                tokio::select! {
                    outcome = &mut work => break Ok(outcome),
                    () = stop.cancelled() => break Err(GivenUp::Program),
                    () = tokio::time::sleep(REPORT_EVERY) => {
                        if !self.report(&mut job, gauge.get()).await? {
                            break Err(GivenUp::Job);
                        }
                    }
                }
            }
        };
        let kept = match outcome {
            Ok(outcome) => self.report(&mut job, gauge.get()).await? && self.end(&job, outcome).await?,
            Err(GivenUp::Job) => false,
            Err(GivenUp::Program) => {
                let mut tx = self.services.store.write().await?;
                jobs::put_back(&mut tx, &job.id, job.seen_at.unwrap_or_default()).await?;
                tx.commit().await?;
                false
            }
        };
        if !kept {
            remove(&path).await;
        }
        Ok(true)
    }

    async fn take(&self) -> Result<Option<Job>, AppError> {
        let now = self.services.now();
        let silent_since = now.plus_seconds(-SILENT_SECONDS);
        if jobs::next(&mut self.services.store.read().await?, silent_since).await?.is_none() {
            return Ok(None);
        }
        let mut tx = self.services.store.write().await?;
        let Some(job) = jobs::next(&mut tx, silent_since).await? else { return Ok(None) };
        jobs::take(&mut tx, &job.id, now).await?;
        tx.commit().await?;
        Ok(Some(Job { seen_at: Some(now), ..job }))
    }

    /// The path of a job's file: of this run of it, so that a run that was thought dead does not write into it.
    fn file_of(&self, job: &Job) -> PathBuf {
        self.folder.join(format!("{}-{}", job.id, job.seen_at.unwrap_or_default().0))
    }

    /// Does what a job asks for.
    async fn work(&self, job: &Job, path: &Path, gauge: &Gauge) -> Result<End, AppError> {
        match job.kind.as_str() {
            EXPORT => self.write_export(job, path, gauge).await,
            RECONCILIATION => reconcile::run(&self.services.store, job, gauge).await,
            WHAT_IF => what_if::run(&self.services, job, gauge).await,
            kind => Err(AppError::internal(format!("a job of the unknown kind {kind:?}"))),
        }
    }

    async fn write_export(&self, job: &Job, path: &Path, gauge: &Gauge) -> Result<End, AppError> {
        let ExportJob { request, scope, .. } = read(&job.request)?;
        // The rows are those of the moment when it was asked for, also when it is begun anew.
        let mut export = self.services.begin_export(&request, scope, job.made_at).await?;
        let folder = tokio::fs::create_dir_all(&self.folder).await;
        folder.map_err(|error| cannot_write(&self.folder, &error))?;
        let mut file = tokio::fs::File::create(path).await.map_err(|error| cannot_write(path, &error))?;
        let mut bytes = 0;
        while let Some(piece) = export.next_piece().await? {
            file.write_all(&piece).await.map_err(|error| cannot_write(path, &error))?;
            bytes += piece.len() as u64;
            let Progress { done, all } = export.progress();
            gauge.set(Reached {
                done_steps: done,
                all_steps: all,
                rows: export.rows(),
                expected_rows: export.expected_rows(),
                bytes,
            });
        }
        file.sync_all().await.map_err(|error| cannot_write(path, &error))?;
        Ok(End { file: Some(path.display().to_string()), ..End::default() })
    }

    /// Says how far a job is; false where it was given up.
    async fn report(&self, job: &mut Job, reached: Reached) -> Result<bool, AppError> {
        let (now, mut tx) = (self.services.now(), self.services.store.write().await?);
        let seen_at = job.seen_at.replace(now).unwrap_or_default();
        let goes_on = jobs::report(&mut tx, &job.id, seen_at, now, reached).await?;
        tx.commit().await?;
        Ok(goes_on)
    }

    /// Ends a job; whether its file is kept.
    async fn end(&self, job: &Job, outcome: Result<End, AppError>) -> Result<bool, AppError> {
        let (state, end) = match outcome {
            Ok(end) => (JobState::Done, end),
            Err(error) => {
                tracing::error!(job = job.id, context = error.private_context(), "a job failed: {error}");
                (JobState::Failed, End { error: Some(error.message().to_owned()), ..End::default() })
            }
        };
        let (now, mut tx) = (self.services.now(), self.services.store.write().await?);
        let seen_at = job.seen_at.unwrap_or_default();
        let ended = jobs::end(&mut tx, &job.id, seen_at, now, state, &end).await?;
        tx.commit().await?;
        Ok(ended && end.file.is_some())
    }

    /// Removes files that were kept for long enough.
    async fn remove_old_files(&self) -> Result<(), AppError> {
        let before = self.services.now().plus_seconds(-FILE_SECONDS);
        let old = jobs::old_files(&mut self.services.store.read().await?, before).await?;
        for (id, path) in old {
            remove(Path::new(&path)).await;
            let mut tx = self.services.store.write().await?;
            jobs::forget_file(&mut tx, &id).await?;
            tx.commit().await?;
        }
        Ok(())
    }
}

async fn remove(path: &Path) {
    match tokio::fs::remove_file(path).await {
        Err(error) if error.kind() != std::io::ErrorKind::NotFound => {
            tracing::warn!(path = %path.display(), "a file that is not needed any more can't be removed: {error}");
        }
        _ => {}
    }
}

fn cannot_write(path: &Path, error: &std::io::Error) -> AppError {
    let message = "the folder of exports can't be written; free some space, or set database.export_folder";
    AppError::new(ErrorKind::Io, message).with_context(format!("{}: {error}", path.display()))
}
