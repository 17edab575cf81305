//! What teams were granted and used over time: from quotas for the last minutes, pieces, hours and days.

use std::collections::BTreeMap;

use common::ids::{ChipTypeId, TeamId};
use common::instant::Instant;
use common::money::MicroCredits;

use super::db::{Row, Tx, values};
use super::history::{cycle_starts, seconds_between, step_start};
use super::results::{self, TeamQuota};
use super::rollup;
use crate::error::AppError;

/// What one team was granted and used of one chip type in one step.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Usage {
    /// Start of the step.
    pub starts_at: Instant,
    /// The team.
    pub team: TeamId,
    /// The chip type.
    pub chip_type: ChipTypeId,
    /// Chip-seconds in its quota.
    pub granted_chip_seconds: u64,
    /// Chip-seconds of the quota that its bids used.
    pub used_chip_seconds: u64,
    /// Chip-seconds used for free.
    pub opportunistic_chip_seconds: u64,
    /// What the use cost in local credits, as booked; what is not booked yet is not in it.
    pub cost: MicroCredits,
}

/// The columns that [`from_row`] reads.
macro_rules! usage_columns {
    () => {
        "starts_at, team, chip_type, granted_chip_seconds, used_chip_seconds, opportunistic_chip_seconds, cost"
    };
}
pub(super) use usage_columns;

pub(super) fn from_row(mut row: Row) -> Result<Usage, AppError> {
    Ok(Usage {
        starts_at: Instant(row.int()?),
        team: row.id()?,
        chip_type: row.id()?,
        granted_chip_seconds: row.unsigned()?,
        used_chip_seconds: row.unsigned()?,
        opportunistic_chip_seconds: row.unsigned()?,
        cost: MicroCredits(row.int()?),
    })
}

/// Sums over steps, by start of the step, team and chip type.
#[derive(Default)]
struct Steps(BTreeMap<(Instant, TeamId, ChipTypeId), Usage>);

impl Steps {
    fn add(&mut self, usage: Usage, step_seconds: i64) {
        let starts_at = step_start(usage.starts_at, step_seconds);
        let key = (starts_at, usage.team.clone(), usage.chip_type.clone());
        match self.0.get_mut(&key) {
            None => {
                self.0.insert(key, Usage { starts_at, ..usage });
            }
            Some(sum) => {
                sum.granted_chip_seconds += usage.granted_chip_seconds;
                sum.used_chip_seconds += usage.used_chip_seconds;
                sum.opportunistic_chip_seconds += usage.opportunistic_chip_seconds;
                sum.cost = MicroCredits(sum.cost.0.saturating_add(usage.cost.0));
            }
        }
    }
}

/// What teams were granted and used from `from` to `to`, by steps of at least one second that begin at multiples of
/// their length, in order of step, team and chip type. Where nothing was granted there is no row.
///
/// # Errors
/// The database can't be read.
pub async fn usage(
    tx: &mut Tx,
    from: Instant,
    to: Instant,
    step_seconds: u32,
) -> Result<Vec<Usage>, AppError> {
    let step = i64::from(step_seconds.max(1));
    let mut steps = Steps::default();
    let mut pieces_from = from;
    if step >= 3_600 {
        pieces_from = rollup::rolled_up_to(tx).await?.unwrap_or(from).max(from);
        for usage in rollup::usage(tx, from, to.min(pieces_from), step).await? {
            steps.add(usage, step);
        }
    }
    let mut quotas_from = pieces_from;
    if step >= 300 {
        quotas_from = accounted_to(tx, to).await?.unwrap_or(pieces_from).max(pieces_from);
        for usage in pieces(tx, pieces_from, to.min(quotas_from)).await? {
            steps.add(usage, step);
        }
    }
    if quotas_from < to {
        for usage in from_quotas(tx, quotas_from, to, step).await? {
            steps.add(usage, step);
        }
    }
    Ok(steps.0.into_values().collect())
}

/// The start of the last cycle before `to` that booked an accounting step: up to it there are pieces.
async fn accounted_to(tx: &mut Tx, to: Instant) -> Result<Option<Instant>, AppError> {
    const SQL: &str =
        "SELECT MAX(starts_at) FROM cycle WHERE step = (SELECT MAX(step) FROM cycle WHERE starts_at <= $1)";
    Ok(tx.row(SQL, values![to.0]).await?.map_or(Ok(None), |mut row| row.optional_int())?.map(Instant))
}

/// The pieces that begin between two instants.
pub(crate) async fn pieces(tx: &mut Tx, from: Instant, to: Instant) -> Result<Vec<Usage>, AppError> {
    const SQL: &str = concat!(
        "SELECT ",
        usage_columns!(),
        " FROM usage WHERE starts_at >= $1 AND starts_at < $2",
        " ORDER BY starts_at, team, chip_type"
    );
    tx.rows(SQL, values![from.0, to.0]).await?.into_iter().map(from_row).collect()
}

/// Integrates the quotas in force over each cycle, cut at multiples of the step; without cost.
async fn from_quotas(tx: &mut Tx, from: Instant, to: Instant, step: i64) -> Result<Vec<Usage>, AppError> {
    let starts = cycle_starts(tx, from, to).await?;
    let (Some((first, _)), Some((last, _))) = (starts.first(), starts.last()) else { return Ok(Vec::new()) };
    let key = |quota: &TeamQuota| (quota.team.clone(), quota.chip_type.clone());
    let in_first = results::quotas_in(tx, *first).await?;
    let mut in_force: BTreeMap<_, TeamQuota> =
        in_first.into_iter().map(|quota| (key(&quota), quota)).collect();
    let mut changes = results::quota_changes(tx, *first, *last).await?.into_iter().peekable();
    let mut pieces = Vec::new();
    for (index, (cycle, starts_at)) in starts.iter().enumerate() {
        let ends_at = starts.get(index + 1).map_or(to, |next| next.1).min(to);
        while let Some(change) = changes.next_if(|change| change.cycle <= *cycle) {
            in_force.insert(key(&change), change);
        }
        let mut at = (*starts_at).max(from);
        while at < ends_at {
            let end = step_start(at, step).plus_seconds(step).min(ends_at);
            let seconds = seconds_between(at, end).unsigned_abs();
            let busy = in_force.values().filter(|quota| quota.quota.0 + quota.opportunistic.0 > 0);
            pieces.extend(busy.map(|quota| Usage {
                starts_at: at,
                team: quota.team.clone(),
                chip_type: quota.chip_type.clone(),
                granted_chip_seconds: quota.quota.0 * seconds,
                used_chip_seconds: quota.used.0 * seconds,
                opportunistic_chip_seconds: quota.opportunistic.0 * seconds,
                cost: MicroCredits::ZERO,
            }));
            at = end;
        }
    }
    Ok(pieces)
}

/// Writes pieces.
pub(crate) async fn insert(tx: &mut Tx, pieces: &[Usage]) -> Result<(), AppError> {
    tx.insert(concat!("INSERT INTO usage (", usage_columns!(), ")"), pieces.iter().map(row_values).collect())
        .await
}

pub(super) fn row_values(usage: &Usage) -> [super::db::Value; 7] {
    values![
        usage.starts_at.0,
        usage.team.as_str(),
        usage.chip_type.as_str(),
        usage.granted_chip_seconds,
        usage.used_chip_seconds,
        usage.opportunistic_chip_seconds,
        usage.cost.0,
    ]
}
