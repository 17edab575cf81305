//! Reconciliations: whether the money adds up, asked for by whoever reads it and each night, run in the background and kept
//! with its time and who asked.

use common::api::{FigureView, JobView, ReconciliationView};
use common::ids::UserId;
use common::instant::Instant;
use serde::{Deserialize, Serialize};

use super::Services;
use super::exports::Range;
use super::jobs::{self, Gauge, RECONCILIATION};
use super::organisation::newest_setup;
use super::periods::{Calendar, PeriodKind};
use crate::cycle::verify::{self, Check, Difference, Figure, Report};
use crate::error::AppError;
use crate::policy::{Action, Object, Viewer};
use crate::store::jobs::{End, Job, Reached};
use crate::store::ledger::AccountKind;
use crate::store::{Store, budget, jobs as stored, results};

/// Reconciliations that a list shows.
const LISTED: u32 = 20;

/// Who asks each night, in the place of an account and its name.
const NIGHTLY: &str = "nightly";

/// The checks in the order in which they are shown.
const CHECKS: [Check; 6] =
    [Check::Sums, Check::Balances, Check::Chain, Check::Occupancy, Check::Supply, Check::RollUps];

/// What a reconciliation is asked.
#[derive(Serialize, Deserialize)]
struct Asked {
    /// The period, as it was written; everything without one.
    period: Option<String>,
    from_cycle: u64,
    to_cycle: u64,
}

/// A reconciliation and whose it is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Reconciliation {
    /// As it is shown.
    pub view: ReconciliationView,
    user: UserId,
}

impl Reconciliation {
    /// Whether a viewer asked for it.
    #[must_use]
    pub fn is_of(&self, viewer: &Viewer) -> bool {
        self.user == viewer.user
    }
}

impl Services {
    /// Asks for a reconciliation of a period of the organisation's calendar, or of everything. The ledger is always checked
    /// as a whole.
    ///
    /// # Errors
    /// `NotFound`: the viewer may not read all money. `Invalid`: the period is none, or no cycle began in it. `Conflict`: the
    /// viewer has as many open jobs as anybody may have.
    pub async fn begin_reconciliation(
        &self,
        viewer: &Viewer,
        period: Option<&str>,
    ) -> Result<JobView, AppError> {
        viewer.may(Action::ReadMoney, Object::Organisation)?;
        let mut tx = self.store.read().await?;
        let zone = newest_setup(&mut tx).await?.organisation.time_zone;
        let range = Range::read(&Calendar::new(&zone)?, period, None, None)?;
        let cycles = results::cycles_between(&mut tx, range.from, range.to).await?;
        let Some((from_cycle, to_cycle)) = cycles else {
            return Err(AppError::invalid("period", "has no cycle; choose one in which the market ran"));
        };
        drop(tx);
        let asked = Asked { period: period.map(str::to_owned), from_cycle, to_cycle };
        self.add_job(viewer, RECONCILIATION, asked.title(), &asked, 0).await
    }

    /// Asks for the reconciliation of each day of the organisation's calendar once it is over. `due` is what the last call
    /// answered, none for the first; the answer is when the next one is due. A night that passed while nothing ran is made
    /// up for, where there was one before.
    ///
    /// # Errors
    /// `NotFound`: there is no organisation yet. `Unavailable`: the database does not answer.
    pub async fn keep_nights(&self, due: Option<Instant>) -> Result<Instant, AppError> {
        match due {
            Some(due) if self.now() < due => Ok(due),
            Some(_) => self.ask_nightly().await,
            None => {
                let mut tx = self.store.read().await?;
                let calendar = Calendar::new(&newest_setup(&mut tx).await?.organisation.time_zone)?;
                let last = stored::of_user(&mut tx, &nobody()?, RECONCILIATION, 1).await?;
                let since = last.first().map_or(self.now(), |job| job.made_at);
                Ok(calendar.period(PeriodKind::Day, since)?.ends_at)
            }
        }
    }

    /// Asks for the reconciliation of yesterday, where cycles began on it and no other server asked; the answer is when
    /// today is over.
    async fn ask_nightly(&self) -> Result<Instant, AppError> {
        let setup = newest_setup(&mut self.store.read().await?).await?;
        let calendar = Calendar::new(&setup.organisation.time_zone)?;
        let today = calendar.period(PeriodKind::Day, self.now())?;
        let yesterday = calendar.previous(PeriodKind::Day, &today)?;
        let nobody = nobody()?;
        let mut tx = self.store.write().await?;
        let last = stored::of_user(&mut tx, &nobody, RECONCILIATION, 1).await?;
        let is_asked = last.first().is_some_and(|job| job.made_at >= today.starts_at);
        let cycles = results::cycles_between(&mut tx, yesterday.starts_at, yesterday.ends_at).await?;
        if let (false, Some((from_cycle, to_cycle))) = (is_asked, cycles) {
            let asked = Asked { period: Some(yesterday.first_day.to_string()), from_cycle, to_cycle };
            let (id, title) = (self.ids.new_id(self.now()), asked.title());
            self.write_job(&mut tx, (&nobody, NIGHTLY), (id, RECONCILIATION), (title, 0), &asked).await?;
            tx.commit().await?;
        }
        Ok(today.ends_at)
    }

    /// How many rows did not match in the newest reconciliation that found anything out; none where there was none.
    ///
    /// # Errors
    /// `Unavailable`: the database does not answer.
    pub async fn newest_reconciliation_off(&self) -> Result<Option<u64>, AppError> {
        let jobs = stored::of_kind(&mut self.store.look().await?, RECONCILIATION, LISTED).await?;
        let newest = jobs.iter().find_map(|job| job.result.as_deref());
        let figures: Option<Vec<FigureView>> = newest.map(jobs::read).transpose()?;
        Ok(figures.map(|figures| off(&figures)))
    }

    /// The newest reconciliations of everybody, newest first.
    ///
    /// # Errors
    /// `NotFound`: the viewer may not read all money.
    pub async fn reconciliations(&self, viewer: &Viewer) -> Result<Vec<Reconciliation>, AppError> {
        viewer.may(Action::ReadMoney, Object::Organisation)?;
        let mut tx = self.store.read().await?;
        let jobs = stored::of_kind(&mut tx, RECONCILIATION, LISTED).await?;
        jobs.iter().map(view).collect()
    }
}

impl Asked {
    fn title(&self) -> String {
        let what = self.period.as_deref().unwrap_or("everything");
        format!("Reconciliation of {what}: cycles {} to {}", self.from_cycle, self.to_cycle)
    }
}

fn nobody() -> Result<UserId, AppError> {
    UserId::new(NIGHTLY).map_err(AppError::internal)
}

/// Rows that do not match.
fn off(figures: &[FigureView]) -> u64 {
    figures.iter().map(|figure| figure.off).sum()
}

fn view(job: &Job) -> Result<Reconciliation, AppError> {
    let Asked { period, from_cycle, to_cycle } = jobs::read(&job.request)?;
    let figures = job.result.as_deref().map(jobs::read).transpose()?;
    let view = ReconciliationView { job: jobs::view(job), period, from_cycle, to_cycle, figures };
    Ok(Reconciliation { view, user: job.user.clone() })
}

/// Runs a reconciliation.
pub(super) async fn run(store: &Store, job: &Job, gauge: &Gauge) -> Result<End, AppError> {
    let Asked { from_cycle, to_cycle, .. } = jobs::read(&job.request)?;
    let told = gauge.clone();
    let report = verify::reconcile(store, Some(from_cycle), Some(to_cycle), move |done, all| {
        told.set(Reached { done_steps: done, all_steps: all, ..Reached::default() });
    });
    let mut figures = figures(&report.await?);
    let mut tx = store.read().await?;
    for figure in &mut figures {
        if let Some(transfer) = figure.offending_transfer {
            let entries = budget::transfer_entries(&mut tx, transfer).await?;
            let team = entries.iter().find(|entry| entry.account == AccountKind::Team.as_str());
            let owner = team.and_then(|entry| entry.owner.as_deref());
            figure.offending_team = owner.and_then(|owner| owner.parse().ok());
        }
    }
    let off = off(&figures);
    if off > 0 {
        tracing::error!(
            job = job.id,
            off,
            "a reconciliation found rows that do not match; /finance/reconciliation names them"
        );
    }
    let result = serde_json::to_string(&figures).map_err(AppError::internal)?;
    Ok(End { result: Some(result), ..End::default() })
}

/// The figures of a report, a check a row. Numbers of transfers without gaps are a matter of the chain.
fn figures(report: &Report) -> Vec<FigureView> {
    let row = |check: Check| {
        let figure = report.figures.iter().find(|figure| figure.check == check).copied();
        let Figure { compared, total, off, difference, .. } =
            figure.unwrap_or(Figure { check, compared: 0, total: None, off: 0, difference: None });
        let found = |difference: &&Difference| {
            difference.check == check || (check == Check::Chain && difference.check == Check::Ledger)
        };
        let first = report.differences.iter().find(found);
        FigureView {
            check: check.to_string(),
            compared,
            total,
            // A gap in the numbers is off as well, though no transfer that is there is.
            off: off.max(u64::from(first.is_some())),
            difference,
            offender: first.map(|difference| difference.detail.clone()),
            offending_transfer: first.and_then(|difference| difference.transfer),
            offending_team: None,
            offending_cycle: first.and_then(|difference| difference.cycle),
        }
    };
    CHECKS.map(row).into()
}
