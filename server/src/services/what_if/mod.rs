//! What-ifs: the cycle in force, or all cycles of a past day, cleared without and with changes. Question and answer are
//! kept, so that a link shows the same to everybody who may see it.

mod apply;
mod run;

use common::api::{Comparison, JobState, WhatIfChange, WhatIfQuestion, WhatIfState, WhatIfView};
use common::chips::MAX_CHIPS;
use common::instant::Instant;
use common::money::MicroCredits;
use jiff::civil::Date;

use self::run::Asked;
pub(super) use self::run::run;
use super::checks::Checks;
use super::organisation::newest_setup;
use super::periods::Calendar;
use super::supply::effect::{Tally, nothing_cleared};
use super::{Services, jobs};
use crate::cycle::run_engine;
use crate::error::AppError;
use crate::policy::{Action, Object, Viewer};
use crate::store::entities::{Organisation, Setup};
use crate::store::jobs::{self as stored_jobs, Job as StoredJob};
use crate::store::results::cycle_at;
use crate::store::what_if::{self as stored, Answer, StoredWhatIf};
use crate::store::{Store, Tx};

/// Changes of a question at most.
const MOST_CHANGES: usize = 20;

/// Questions in the list.
const LISTED: u32 = 50;

impl Services {
    /// Asks a what-if. On the cycle in force the answer is there at once; over a day it is computed in the background.
    ///
    /// # Errors
    /// `Forbidden`: the viewer is no admin. `Invalid`: a change is out of its range or names what does not exist, or no
    /// cycle of that day is stored. `Conflict`: nothing has cleared yet, or too many jobs of the viewer wait already.
    pub async fn ask_what_if(
        &self,
        viewer: &Viewer,
        question: WhatIfQuestion,
    ) -> Result<WhatIfView, AppError> {
        viewer.may(Action::SetSupply, Object::Organisation)?;
        let mut tx = self.store.read().await?;
        let setup = newest_setup(&mut tx).await?;
        check(&question, &setup)?;
        let cycles = match &question.day {
            Some(day) => Some(cycles_of(&mut tx, day, &setup.organisation).await?),
            None => None,
        };
        drop(tx);
        let id = self.ids.new_id(self.now());
        match cycles {
            None => {
                let answer = Ok(self.answer_now(&question, &setup).await?);
                let mut tx = self.store.write().await?;
                let number = self.insert_question(&mut tx, viewer, &id, &question).await?;
                stored::answer(&mut tx, self.now(), number, &answer).await?;
                tx.commit().await?;
            }
            Some((first_cycle, last_cycle)) => {
                let asked = Asked { first_cycle, last_cycle, rebases: setup.organisation.rebase_balances };
                self.answer_later(viewer, &id, &question, asked).await?;
            }
        }
        self.what_if(viewer, &id).await
    }

    async fn answer_now(&self, question: &WhatIfQuestion, setup: &Setup) -> Result<Comparison, AppError> {
        let latest = self.market().latest().await?;
        let cleared = latest.cleared.clone().ok_or_else(nothing_cleared)?;
        let (changes, rebases) = (question.changes.clone(), setup.organisation.rebase_balances);
        let tally = self
            .compute(move || {
                let changed = apply::changed(&cleared.snapshot, &changes, rebases)?;
                let after = run_engine(&changed)?;
                let mut tally = Tally::default();
                tally.add((&cleared.snapshot, &cleared.outcome), (&changed, &after));
                Ok(tally)
            })
            .await?;
        let mut comparison = tally.finish(&setup.teams);
        // A link shows it to whoever may see the supply, and single bids are sealed.
        comparison.losing = Vec::new();
        Ok(comparison)
    }

    /// Leaves the question to a worker.
    async fn answer_later(
        &self,
        viewer: &Viewer,
        id: &str,
        question: &WhatIfQuestion,
        asked: Asked,
    ) -> Result<(), AppError> {
        let title = format!("What if: {}", question.title);
        let mut tx = self.store.write().await?;
        self.insert_question(&mut tx, viewer, id, question).await?;
        let by = (&viewer.user, viewer.name.as_str());
        self.write_job(&mut tx, by, (id.to_owned(), jobs::WHAT_IF), (title, 0), &asked).await?;
        tx.commit().await
    }

    async fn insert_question(
        &self,
        tx: &mut Tx,
        viewer: &Viewer,
        id: &str,
        question: &WhatIfQuestion,
    ) -> Result<u64, AppError> {
        let by = (&viewer.user, viewer.name.as_str());
        stored::insert(tx, self.now(), id, question, by).await
    }

    /// A what-if, with its answer or how far it is.
    ///
    /// # Errors
    /// `NotFound`: there is none of this id, or not for the viewer.
    pub async fn what_if(&self, viewer: &Viewer, id: &str) -> Result<WhatIfView, AppError> {
        viewer.may(Action::ReadSupply, Object::Organisation)?;
        let mut tx = self.store.read().await?;
        let found = stored::by_id(&mut tx, id).await?.ok_or_else(|| AppError::not_found("what-if", id))?;
        view(&mut tx, found).await
    }

    /// The last what-ifs, newest first.
    ///
    /// # Errors
    /// `NotFound`: not for the viewer.
    pub async fn what_ifs(&self, viewer: &Viewer) -> Result<Vec<WhatIfView>, AppError> {
        viewer.may(Action::ReadSupply, Object::Organisation)?;
        let mut tx = self.store.read().await?;
        let last = stored::last(&mut tx, LISTED).await?;
        let mut views = Vec::with_capacity(last.len());
        for found in last {
            views.push(view(&mut tx, found).await?);
        }
        Ok(views)
    }

    /// Ends a what-if that waits or is computed; what is done of it is thrown away.
    ///
    /// # Errors
    /// `Forbidden`: the viewer is no admin. `NotFound`: there is none of this id. `Conflict`: it is over.
    pub async fn cancel_what_if(&self, viewer: &Viewer, id: &str) -> Result<(), AppError> {
        viewer.may(Action::SetSupply, Object::Organisation)?;
        self.what_if(viewer, id).await?;
        let (now, mut tx) = (self.now(), self.store.write().await?);
        if !stored_jobs::cancel(&mut tx, id, now).await? {
            return Err(AppError::conflict("this what-if is over; there is nothing to cancel"));
        }
        tx.commit().await
    }
}

/// A what-if as it is shown: one without an answer is as far as its job, which has its id.
async fn view(tx: &mut Tx, found: StoredWhatIf) -> Result<WhatIfView, AppError> {
    let StoredWhatIf { id, question, by, asked_at, answer, .. } = found;
    let progress = match answer {
        Some(Ok(comparison)) => WhatIfState::Done { comparison },
        Some(Err(note)) => WhatIfState::Ended { note },
        None => match stored_jobs::find(tx, &id).await? {
            Some(job) => progress(&job)?,
            None => ended("the server ended before it was done; ask again"),
        },
    };
    Ok(WhatIfView { id, question, by, asked_at, progress })
}

fn ended(note: &str) -> WhatIfState {
    WhatIfState::Ended { note: note.to_owned() }
}

/// How far a job is that has no answer yet.
fn progress(job: &StoredJob) -> Result<WhatIfState, AppError> {
    Ok(match job.state {
        JobState::Cancelled => ended("it was cancelled"),
        JobState::Failed => ended(job.error.as_deref().unwrap_or("it failed; ask again")),
        JobState::Waiting | JobState::Running | JobState::Done => {
            let total = Asked::of(job)?.cycles();
            WhatIfState::Running { done: job.reached.done_steps.min(total), total }
        }
    })
}

async fn keep(store: &Store, now: Instant, number: u64, answer: &Answer) -> Result<(), AppError> {
    let mut tx = store.write().await?;
    stored::answer(&mut tx, now, number, answer).await?;
    tx.commit().await
}

/// Refuses a question with each field at fault.
fn check(question: &WhatIfQuestion, setup: &Setup) -> Result<(), AppError> {
    let mut checks = Checks::default();
    checks.name("title", &question.title);
    let count = question.changes.len();
    if !(1..=MOST_CHANGES).contains(&count) {
        checks.refuse(
            "changes",
            format!("has {count} changes; name 1 to {MOST_CHANGES} things that are other"),
        );
    }
    for (nth, change) in question.changes.iter().enumerate() {
        check_change(&mut checks, &format!("changes[{nth}]."), change, setup);
    }
    checks.finish()
}

fn check_change(checks: &mut Checks, at: &str, change: &WhatIfChange, setup: &Setup) {
    let (mut chip_type_named, mut pool_named, mut team_named) = (None, None, None);
    match change {
        WhatIfChange::Chips { chip_type, pool, by } => {
            (chip_type_named, pool_named) = (Some(chip_type), pool.as_ref());
            if by.unsigned_abs() > MAX_CHIPS || *by == 0 {
                checks.refuse(
                    &format!("{at}by"),
                    format!("is {by}; it must be from 1 to {MAX_CHIPS}, or below zero"),
                );
            }
        }
        WhatIfChange::Reserve { chip_type, reserve_price } => {
            chip_type_named = Some(chip_type);
            checks.amount(&format!("{at}reserve_price"), MicroCredits(reserve_price.0.cast_signed()));
        }
        WhatIfChange::Weight { pool, weight } => {
            pool_named = Some(pool);
            checks.amount(&format!("{at}weight"), *weight);
        }
        WhatIfChange::Income { team, income } => {
            team_named = Some(team);
            checks.amount(&format!("{at}income"), *income);
        }
        WhatIfChange::WithoutTeam { team } => team_named = Some(team),
        WhatIfChange::NewTeam { pool, income, chip_type, chips, .. } => {
            (chip_type_named, pool_named) = (Some(chip_type), Some(pool));
            checks.amount(&format!("{at}income"), *income);
            checks.range(&format!("{at}chips"), chips.0, 1, MAX_CHIPS);
        }
    }
    if let Some(id) = chip_type_named.filter(|id| setup.chip_types.iter().all(|known| known.id != **id)) {
        checks.refuse(&format!("{at}chip_type"), format!("names {id}, and there is no such chip type"));
    }
    if let Some(id) = pool_named.filter(|id| setup.pools.iter().all(|known| known.id != **id)) {
        checks.refuse(&format!("{at}pool"), format!("names {id}, and there is no such pool"));
    }
    if let Some(id) = team_named.filter(|id| setup.teams.iter().all(|known| known.id != **id)) {
        checks.refuse(&format!("{at}team"), format!("names {id}, and there is no such team"));
    }
}

/// First and last of the cycles that began on a day of the organisation's zone.
async fn cycles_of(tx: &mut Tx, day: &str, organisation: &Organisation) -> Result<(u64, u64), AppError> {
    let refused = |detail: String| AppError::invalid("day", detail);
    let calendar = Calendar::new(&organisation.time_zone)?;
    let date: Option<Date> = day.parse().ok();
    let days = date.and_then(|date| Some((date, date.tomorrow().ok()?)));
    let (date, tomorrow) = days.ok_or_else(|| {
        refused(format!("is {day:?}; write it like 2026-11-29, a day of {}", organisation.time_zone))
    })?;
    let (starts_at, ends_at) = (calendar.start_of(date)?, calendar.start_of(tomorrow)?);
    let before = cycle_at(tx, Instant(starts_at.0 - 1)).await?;
    let last = cycle_at(tx, Instant(ends_at.0 - 1)).await?;
    let first = before.map_or(1, |cycle| cycle.number + 1);
    match last.filter(|last| last.number >= first) {
        Some(last) => Ok((first, last.number)),
        None => Err(refused(format!("is {day}, and no cycle began on that day"))),
    }
}
