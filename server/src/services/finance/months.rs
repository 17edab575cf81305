//! The months of the ledger: open, waiting to be closed, closed.

use common::api::{CloseView, MonthView, MonthsView, PeriodTotal};
use common::ids::PoolId;
use common::money::MicroCredits;

use super::Count;
use super::close::{next_month, waits_for};
use super::range::Range;
use crate::error::AppError;
use crate::policy::{Action, Object, Viewer};
use crate::services::Services;
use crate::services::periods::PeriodKind;
use crate::store::finance::close::{self as stored, Close, Facts};

/// Months in the list at most: five years.
const MOST_MONTHS: usize = 60;

impl Services {
    /// The months since the first booking, newest first. Whether closed ones still hold is for [`Services::month`] to say.
    ///
    /// # Errors
    /// `NotFound`: the viewer may not read all money.
    pub async fn months(&self, viewer: &Viewer) -> Result<MonthsView, AppError> {
        viewer.may(Action::ReadMoney, Object::Organisation)?;
        let latest = self.market().latest().await?;
        let clock = self.market().clock();
        let mut tx = self.store.read().await?;
        let zone = &latest.setup.organisation.time_zone;
        let count = Count::load(&mut tx, zone, (clock.cycle, clock.cleared_at)).await?;
        let next = next_month(&mut tx, &count).await?;
        let begins_at = stored::begins_at(&mut tx).await?.unwrap_or(count.now);
        let closes = stored::all(&mut tx).await?;
        let mut months = Vec::new();
        let mut month = Range::around(&count.calendar, PeriodKind::Month, count.now)?;
        while months.len() < MOST_MONTHS && month.ends_at > begins_at {
            let close = closes.iter().find(|close| close.starts_at == month.starts_at);
            months.push(view(&count, &month, next.as_ref(), close, None)?);
            month = month.before(&count.calendar)?;
        }
        Ok(MonthsView { months })
    }

    /// One month, with what the ledger says of it now.
    ///
    /// # Errors
    /// `NotFound`: the viewer may not read all money. `Invalid`: the period is no month.
    pub async fn month(&self, viewer: &Viewer, period: &str) -> Result<MonthView, AppError> {
        viewer.may(Action::ReadMoney, Object::Organisation)?;
        let latest = self.market().latest().await?;
        let clock = self.market().clock();
        let mut tx = self.store.read().await?;
        let zone = &latest.setup.organisation.time_zone;
        let count = Count::load(&mut tx, zone, (clock.cycle, clock.cleared_at)).await?;
        let month = count.month(Some(period))?;
        let next = next_month(&mut tx, &count).await?;
        let closes = stored::all(&mut tx).await?;
        let close = closes.iter().find(|close| close.starts_at == month.starts_at);
        let facts = stored::facts(&mut tx, month.starts_at, month.ends_at).await?;
        view(&count, &month, next.as_ref(), close, Some(&facts))
    }
}

fn view(
    count: &Count,
    month: &Range,
    next: Option<&Range>,
    close: Option<&Close>,
    facts: Option<&Facts>,
) -> Result<MonthView, AppError> {
    let total = |(pool, kind, amount): &(PoolId, String, MicroCredits)| PeriodTotal {
        pool: pool.clone(),
        kind: kind.clone(),
        amount: *amount,
    };
    let totals = facts.or(close.map(|close| &close.facts)).map_or(&[][..], |facts| &facts.totals);
    Ok(MonthView {
        period: count.view(month)?,
        waits_for: if close.is_some() { None } else { waits_for(count, month, next) },
        totals: totals.iter().map(total).collect(),
        close: close.map(|close| CloseView {
            closed_at: close.closed_at,
            closed_by: close.closed_by_name.clone(),
            reason: close.reason.clone(),
            transfers: close.facts.transfers,
            entries: close.facts.entries,
            sha256: hex::encode(close.facts.sha256),
            holds: facts.map(|facts| *facts == close.facts),
        }),
    })
}
