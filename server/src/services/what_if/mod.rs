//! What-ifs: the cycle in force, or all cycles of a past day, cleared without and with changes. Question and answer are
//! kept, so that a link shows the same to everybody who may see it.

mod apply;
mod run;

use common::api::{Comparison, WhatIfChange, WhatIfQuestion, WhatIfState, WhatIfView};
use common::chips::MAX_CHIPS;
use common::instant::Instant;
use common::money::MicroCredits;
use jiff::civil::Date;

pub(super) use self::run::Runs;
use self::run::{Job, Run, replay};
use super::Services;
use super::checks::Checks;
use super::organisation::newest_setup;
use super::periods::Calendar;
use super::supply::effect::{Tally, nothing_cleared};
use crate::cycle::run_engine;
use crate::error::{AppError, ErrorKind};
use crate::policy::{Action, Object, Viewer};
use crate::store::entities::{Organisation, Setup};
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
    /// cycle of that day is stored. `Conflict`: nothing has cleared yet, or too many are computed already.
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
                let answer = self.answer_now(&question, &setup).await?;
                let number = self.keep_question(viewer, &id, &question).await?;
                self.keep_answer(number, &Ok(answer)).await?;
            }
            Some(cycles) => self.answer_later(viewer, &id, &question, (cycles, setup)).await?,
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

    async fn answer_later(
        &self,
        viewer: &Viewer,
        id: &str,
        question: &WhatIfQuestion,
        ((first, last), setup): ((u64, u64), Setup),
    ) -> Result<(), AppError> {
        let run = self.what_ifs.begin(id, last + 1 - first)?;
        let kept = self.keep_question(viewer, id, question).await;
        let number = match kept {
            Ok(number) => number,
            Err(error) => {
                self.what_ifs.end(id);
                return Err(error);
            }
        };
        let job = Job {
            store: self.store.clone(),
            previews: std::sync::Arc::clone(&self.previews),
            changes: question.changes.clone(),
            rebases: setup.organisation.rebase_balances,
            cycles: (first, last),
        };
        let (store, runs, id, clock) =
            (self.store.clone(), self.what_ifs.clone(), id.to_owned(), std::sync::Arc::clone(&self.clock));
        tokio::spawn(async move {
            let answer = match replay(job, &run).await {
                Ok(tally) => Ok(tally.finish(&setup.teams)),
                Err(error) => Err(error.message().to_owned()),
            };
            if let Err(error) = keep(&store, clock.now(), number, &answer).await {
                tracing::error!(cause = %error.private_context(), "a what-if is lost: {error}");
            }
            runs.end(&id);
        });
        Ok(())
    }

    async fn keep_question(
        &self,
        viewer: &Viewer,
        id: &str,
        question: &WhatIfQuestion,
    ) -> Result<u64, AppError> {
        let mut tx = self.store.write().await?;
        let by = (&viewer.user, viewer.name.as_str());
        let number = stored::insert(&mut tx, self.now(), id, question, by).await?;
        tx.commit().await?;
        Ok(number)
    }

    async fn keep_answer(&self, number: u64, answer: &Answer) -> Result<(), AppError> {
        keep(&self.store, self.now(), number, answer).await
    }

    /// A what-if, with its answer or how far it is.
    ///
    /// # Errors
    /// `NotFound`: there is none of this id, or not for the viewer.
    pub async fn what_if(&self, viewer: &Viewer, id: &str) -> Result<WhatIfView, AppError> {
        viewer.may(Action::ReadSupply, Object::Organisation)?;
        let mut tx = self.store.read().await?;
        let found = stored::by_id(&mut tx, id).await?.ok_or_else(|| AppError::not_found("what-if", id))?;
        drop(tx);
        self.view(found).await
    }

    /// The last what-ifs, newest first.
    ///
    /// # Errors
    /// `NotFound`: not for the viewer.
    pub async fn what_ifs(&self, viewer: &Viewer) -> Result<Vec<WhatIfView>, AppError> {
        viewer.may(Action::ReadSupply, Object::Organisation)?;
        let last = stored::last(&mut self.store.read().await?, LISTED).await?;
        let mut views = Vec::with_capacity(last.len());
        for found in last {
            views.push(self.view(found).await?);
        }
        Ok(views)
    }

    /// Ends a what-if that is computed; what is done of it is thrown away.
    ///
    /// # Errors
    /// `Forbidden`: the viewer is no admin. `NotFound`: there is none of this id. `Conflict`: it is over.
    pub async fn cancel_what_if(&self, viewer: &Viewer, id: &str) -> Result<(), AppError> {
        viewer.may(Action::SetSupply, Object::Organisation)?;
        self.what_if(viewer, id).await?;
        if self.what_ifs.cancel(id) {
            return Ok(());
        }
        Err(AppError::conflict("this what-if is over; there is nothing to cancel"))
    }

    async fn view(&self, mut found: StoredWhatIf) -> Result<WhatIfView, AppError> {
        let running = self.what_ifs.progress(&found.id);
        if found.answer.is_none() && running.is_none() {
            // An answer is stored before its run ends: one that came since it was read is there now. Without one, the server
            // ended before it.
            let again = stored::by_id(&mut self.store.read().await?, &found.id).await?;
            found.answer = again.and_then(|again| again.answer);
        }
        let StoredWhatIf { id, question, by, asked_at, answer, .. } = found;
        let progress = match (answer, running) {
            (Some(Ok(comparison)), _) => WhatIfState::Done { comparison },
            (Some(Err(note)), _) => WhatIfState::Ended { note },
            (None, Some((done, total))) => WhatIfState::Running { done, total },
            (None, None) => {
                WhatIfState::Ended { note: "the server ended before it was done; ask again".to_owned() }
            }
        };
        Ok(WhatIfView { id, question, by, asked_at, progress })
    }
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

impl Run {
    /// Why there is no answer.
    fn cancelled() -> AppError {
        AppError::new(ErrorKind::Conflict, "it was cancelled")
    }
}
