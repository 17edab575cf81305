//! Reconciliations: whether the money adds up, asked for by whoever reads it, run in the background and kept with its time
//! and who asked.

use common::api::{FigureView, JobView, ReconciliationView};
use common::ids::UserId;
use serde::{Deserialize, Serialize};

use super::Services;
use super::exports::Range;
use super::jobs::{self, Gauge, RECONCILIATION};
use super::organisation::newest_setup;
use super::periods::Calendar;
use crate::cycle::verify::{self, Check, Difference, Figure, Report};
use crate::error::AppError;
use crate::policy::{Action, Object, Viewer};
use crate::store::jobs::{End, Job, Reached};
use crate::store::ledger::AccountKind;
use crate::store::{Store, budget, jobs as stored, results};

/// Reconciliations that a list shows.
const LISTED: u32 = 20;

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
        let what = period.unwrap_or("everything");
        let title = format!("Reconciliation of {what}: cycles {from_cycle} to {to_cycle}");
        let asked = Asked { period: period.map(str::to_owned), from_cycle, to_cycle };
        self.add_job(viewer, RECONCILIATION, title, &asked, 0).await
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
