//! The lab for those who ask: starts, lists, reads and cancels comparisons, and takes uploaded traces.

use common::api::{LabRequest, LabResult, LabRun, LabRunView, LabState};
use common::words::counted;
use policies::trace::Trace;

use super::Services;
use super::checks::Checks;
use crate::error::AppError;
use crate::lab::compare::check;
use crate::lab::csv_trace::{self, Form};
use crate::lab::{history, traces};
use crate::policy::{Action, Object, Viewer};
use crate::store::Store;
use crate::store::lab::{self, LabTrace};

/// Runs that may wait or be computed at a time.
const MOST_UNFINISHED: u64 = 20;

/// Runs that the list shows.
const LISTED: u32 = 100;

/// Seconds of a round of an uploaded trace: a second to a year.
const ROUND_SECONDS: std::ops::RangeInclusive<u32> = 1..=31_622_400;

/// A trace that can be chosen.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Choice {
    /// Its name.
    pub name: String,
    /// What it is, in a few words.
    pub about: String,
}

/// An uploaded trace.
#[derive(Clone, Copy, Debug)]
pub struct Upload<'a> {
    /// What it will be called.
    pub name: &'a str,
    /// Chips of each type; none: a tenth above the mean demand.
    pub supply: Option<u64>,
    /// Length of a round.
    pub round_seconds: u32,
    /// The file.
    pub csv: &'a str,
}

impl Services {
    /// The traces that a run can be made of.
    ///
    /// # Errors
    /// `NotFound`: the viewer may not see the lab. `Unavailable`: the database does not answer.
    pub async fn lab_traces(&self, viewer: &Viewer) -> Result<Vec<Choice>, AppError> {
        viewer.may(Action::ReadLab, Object::Organisation)?;
        let choice = |name: &str, about: &str| Choice { name: name.to_owned(), about: about.to_owned() };
        let mut choices =
            vec![choice(traces::HISTORY, "This market: what its teams asked for, cycle by cycle")];
        choices.extend(traces::BUILT_IN.iter().map(|(name, about)| choice(name, about)));
        for (name, rounds, teams) in lab::traces(&mut self.store.read().await?).await? {
            let about =
                format!("{name}, uploaded: {} of {}", counted(rounds, "round"), counted(teams, "team"));
            choices.push(Choice { name, about });
        }
        Ok(choices)
    }

    /// Starts a run: it is computed in the background, after those before it.
    ///
    /// # Errors
    /// `Forbidden` or `NotFound`: the viewer may not. `Invalid`: a field is refused. `Conflict`: too many runs wait.
    pub async fn start_lab_run(&self, viewer: &Viewer, request: LabRequest) -> Result<LabRun, AppError> {
        viewer.may(Action::RunLab, Object::Organisation)?;
        check(&request)?;
        let choices = self.lab_traces(viewer).await?;
        if !choices.iter().any(|choice| choice.name == request.trace) {
            let names: Vec<&str> = choices.iter().map(|choice| choice.name.as_str()).collect();
            let reason = format!("{:?} is no trace; there are {}", request.trace, names.join(", "));
            return Err(AppError::invalid("trace", reason));
        }
        let now = self.now();
        let run = LabRun {
            id: self.ids.new_id(now),
            request,
            state: LabState::Queued,
            done: 0,
            all: 0,
            created_at: now,
            created_by: viewer.user.clone(),
            created_by_name: viewer.name.clone(),
            finished_at: None,
            problem: None,
        };
        let mut tx = self.store.write().await?;
        if lab::unfinished(&mut tx).await? >= MOST_UNFINISHED {
            return Err(AppError::conflict(format!(
                "{MOST_UNFINISHED} runs wait already; cancel one, or wait until one has ended"
            )));
        }
        lab::insert_run(&mut tx, &run).await?;
        tx.commit().await?;
        self.lab_wanted.notify_one();
        Ok(run)
    }

    /// The newest runs, newest first.
    ///
    /// # Errors
    /// `NotFound`: the viewer may not see the lab.
    pub async fn lab_runs(&self, viewer: &Viewer) -> Result<Vec<LabRun>, AppError> {
        viewer.may(Action::ReadLab, Object::Organisation)?;
        lab::runs(&mut self.store.read().await?, LISTED).await
    }

    /// A run, with its figures where it is done.
    ///
    /// # Errors
    /// `NotFound`: there is none, or the viewer may not see the lab.
    pub async fn lab_run(&self, viewer: &Viewer, id: &str) -> Result<LabRunView, AppError> {
        viewer.may(Action::ReadLab, Object::Organisation)?;
        let found = lab::run(&mut self.store.read().await?, id).await?;
        let (run, result) = found.ok_or_else(|| AppError::not_found("run of the lab", id))?;
        let result = result.map(|bytes| -> Result<LabResult, AppError> {
            let json = zstd::decode_all(bytes.as_slice()).map_err(AppError::internal)?;
            serde_json::from_slice(&json).map_err(AppError::internal)
        });
        Ok(LabRunView { run, result: result.transpose()? })
    }

    /// Cancels a run that has not ended.
    ///
    /// # Errors
    /// `NotFound`: there is none. `Conflict`: it has ended.
    pub async fn cancel_lab_run(&self, viewer: &Viewer, id: &str) -> Result<(), AppError> {
        viewer.may(Action::RunLab, Object::Organisation)?;
        let mut tx = self.store.write().await?;
        if lab::run(&mut tx, id).await?.is_none() {
            return Err(AppError::not_found("run of the lab", id));
        }
        if !lab::want_cancelled(&mut tx, id).await? {
            return Err(AppError::conflict("the run has ended already; there is nothing to cancel"));
        }
        tx.commit().await?;
        self.lab_wanted.notify_one();
        Ok(())
    }

    /// Takes an uploaded trace, whole or not at all. Answers its rounds and teams.
    ///
    /// # Errors
    /// `Invalid`: the name, a number or lines of the file are refused. `Conflict`: another trace has the name.
    pub async fn upload_lab_trace(
        &self,
        viewer: &Viewer,
        upload: Upload<'_>,
    ) -> Result<(u64, u64), AppError> {
        viewer.may(Action::RunLab, Object::Organisation)?;
        let Upload { name, supply, round_seconds, csv } = upload;
        let mut checks = Checks::default();
        let letters = name.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"-_.".contains(&byte));
        if name.is_empty() || name.len() > 40 || !letters {
            checks.refuse("name", format!("is {name:?}; use up to 40 letters, digits and - _ ."));
        }
        if supply.is_some_and(|chips| !(1..=policies::round::MAX_CHIPS).contains(&chips)) {
            checks.refuse("supply", format!("must be 1 to {} chips", policies::round::MAX_CHIPS));
        }
        if !ROUND_SECONDS.contains(&round_seconds) {
            checks.refuse(
                "round_seconds",
                format!("is {round_seconds}; it must be 1 to {}", ROUND_SECONDS.end()),
            );
        }
        checks.finish()?;
        let taken = name == traces::HISTORY || traces::BUILT_IN.iter().any(|(known, _)| *known == name);
        let form = Form { name: name.to_owned(), supply, hours: f64::from(round_seconds) / 3_600.0 };
        let text = csv.to_owned();
        let read = tokio::task::spawn_blocking(move || csv_trace::read(&form, &text)).await;
        let trace = read.map_err(AppError::internal)?.map_err(|reason| AppError::invalid("csv", reason))?;
        let size = trace.size();
        let content = zstd::encode_all(csv.as_bytes(), 9).map_err(AppError::internal)?;
        let mut tx = self.store.write().await?;
        if taken || lab::find_trace(&mut tx, name).await?.is_some() {
            return Err(AppError::conflict(format!(
                "another trace is called {name:?}; traces are never replaced, choose another name"
            )));
        }
        let stored = LabTrace {
            name: name.to_owned(),
            supply,
            round_seconds,
            rounds: size.rounds as u64,
            teams: size.agents as u64,
            created_at: self.now(),
            created_by: viewer.user.to_string(),
            content,
        };
        lab::insert_trace(&mut tx, stored).await?;
        tx.commit().await?;
        Ok((size.rounds as u64, size.agents as u64))
    }
}

/// The trace that a request names: of the database, uploaded, or built in.
///
/// # Errors
/// `NotFound`: there is none of that name. `Unavailable`: the database does not answer.
pub async fn trace_of(store: &Store, request: &LabRequest) -> Result<Trace, AppError> {
    if request.trace == traces::HISTORY {
        return history::trace(store, request).await;
    }
    let uploaded = lab::find_trace(&mut store.read().await?, &request.trace).await?;
    let request = request.clone();
    let build = move || match uploaded {
        Some(stored) => {
            let text = zstd::decode_all(stored.content.as_slice()).map_err(AppError::internal)?;
            let text = String::from_utf8(text).map_err(AppError::internal)?;
            let hours = f64::from(stored.round_seconds) / 3_600.0;
            let form = Form { name: stored.name, supply: stored.supply, hours };
            let trace = csv_trace::read(&form, &text).map_err(AppError::internal)?;
            Ok(traces::shortened(trace, &request))
        }
        None => traces::built_in(&request),
    };
    tokio::task::spawn_blocking(build).await.map_err(AppError::internal)?
}
