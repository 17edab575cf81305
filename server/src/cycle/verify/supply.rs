//! Supply times price, cycle by cycle: what teams use of a chip type and what is idle make its whole supply, in chips and at
//! the reference price, and no more is granted than there is.

use std::collections::BTreeMap;

use common::ids::{ChipTypeId, TeamId};

use super::ledger::micros;
use super::steps::Steps;
use super::{Check, Difference, Figure, Report};
use crate::error::AppError;
use crate::store::Tx;
use crate::store::history::seconds_between;
use crate::store::results::{self, ChipTypePrice, TeamQuota};

/// Cycles read at once.
const BATCH: u64 = 500;

/// Chip-hours are priced, chip-seconds counted.
const SECONDS_IN_HOUR: i128 = 3_600;

/// Quotas in force, with their sums by chip type.
#[derive(Default)]
struct InForce {
    quotas: BTreeMap<(TeamId, ChipTypeId), (u64, u64)>,
    sums: BTreeMap<ChipTypeId, (u64, u64)>,
}

impl InForce {
    fn take(&mut self, quota: TeamQuota) {
        let (granted, used) = (quota.quota.0, quota.used.0);
        let sum = self.sums.entry(quota.chip_type.clone()).or_default();
        let before = self.quotas.insert((quota.team, quota.chip_type), (granted, used)).unwrap_or_default();
        *sum = (sum.0 + granted - before.0, sum.1 + used - before.1);
    }

    /// Chips that a chip type's quotas grant, and those of them that are used.
    fn sums(&self, chip_type: &ChipTypeId) -> (u64, u64) {
        self.sums.get(chip_type).copied().unwrap_or_default()
    }
}

/// Checks the cycles `from` to `to` whose rows are all there.
pub(super) async fn check(
    tx: &mut Tx,
    from: u64,
    to: u64,
    report: &mut Report,
    steps: &mut Steps<'_>,
) -> Result<(), AppError> {
    let first = from.max(results::first_detailed_cycle(tx).await?.unwrap_or(from));
    steps.advance(first.min(to + 1) - from);
    let mut figure = Figure { check: Check::Supply, compared: 0, total: None, off: 0, difference: None };
    let (mut value, mut off, mut cycle) = (0_i128, 0_i128, first);
    let mut in_force = InForce::default();
    if first <= to {
        results::quotas_in(tx, first.saturating_sub(1))
            .await?
            .into_iter()
            .for_each(|quota| in_force.take(quota));
    }
    while cycle <= to {
        let last = (cycle + BATCH - 1).min(to);
        // One cycle more says how long the last one stayed in force.
        let count = u32::try_from(last - cycle + 2).unwrap_or(u32::MAX);
        let cycles = results::cycles_from(tx, cycle, count).await?;
        let mut rows = results::rows_between(tx, cycle, last).await?;
        for (place, now) in cycles.iter().enumerate().filter(|(_, now)| now.number <= last) {
            let seconds =
                cycles.get(place + 1).map_or(0, |next| seconds_between(now.starts_at, next.starts_at));
            let rows = rows.remove(&now.number).unwrap_or_default();
            rows.quotas.into_iter().for_each(|quota| in_force.take(quota));
            for price in &rows.prices {
                figure.compared += 1;
                let at_price = |chips: i128| {
                    chips * price.reference_price.map_or(0, |price| i128::from(price.0)) * i128::from(seconds)
                };
                value += at_price(i128::from(price.supply.0));
                let (granted, used) = in_force.sums(&price.chip_type);
                if let Some(detail) = difference(price, granted, used) {
                    figure.off += 1;
                    off += at_price((i128::from(used) - i128::from(price.paid.0)).abs());
                    if figure.off == 1 {
                        let (check, cycle) = (Check::Supply, Some(now.number));
                        report.differences.push(Difference { check, cycle, transfer: None, detail });
                    }
                }
            }
        }
        steps.advance(last + 1 - cycle);
        cycle = last + 1;
    }
    figure.total = Some(micros(value / SECONDS_IN_HOUR));
    figure.difference = Some(micros(off / SECONDS_IN_HOUR));
    report.figures.push(figure);
    Ok(())
}

/// What does not fit between the quotas of a cycle and its market, in words.
fn difference(price: &ChipTypePrice, granted: u64, used: u64) -> Option<String> {
    let (chip_type, supply) = (&price.chip_type, price.supply.0);
    if used != price.paid.0 {
        let idle = i128::from(supply) - i128::from(price.paid.0);
        return Some(format!(
            "teams use {used} {chip_type} and {idle} are idle or free, which do not make the supply of {supply}"
        ));
    }
    if granted != price.granted.0 {
        let stored = price.granted.0;
        return Some(format!("quotas grant {granted} {chip_type}, but {stored} are said to be granted"));
    }
    (granted > supply).then(|| format!("{granted} {chip_type} are granted of a supply of {supply}"))
}
