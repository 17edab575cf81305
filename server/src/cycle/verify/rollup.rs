//! The roll-ups against what they were made of: hours against their cycles and pieces of usage, where the retention has
//! left those, and days against their hours, which stay.

use common::instant::Instant;

use super::{Check, Difference, compare};
use crate::error::AppError;
use crate::store::Tx;
use crate::store::history::step_start;
use crate::store::results;
use crate::store::rollup::{self, RolledUp};

const HOUR: i64 = 3_600;
const DAY: i64 = 86_400;

/// Checks the hours and days that lie within cycles `from` to `to`; the answer is how many rows were compared, and the
/// first difference.
pub(super) async fn check(tx: &mut Tx, from: u64, to: u64) -> Result<(u64, Option<Difference>), AppError> {
    let mut compared = 0;
    let detail = match compare_all(tx, from, to, &mut compared).await? {
        Ok(()) => return Ok((compared, None)),
        Err(detail) => detail,
    };
    Ok((compared, Some(Difference { check: Check::RollUps, cycle: None, transfer: None, detail })))
}

async fn compare_all(
    tx: &mut Tx,
    from: u64,
    to: u64,
    compared: &mut u64,
) -> Result<Result<(), String>, AppError> {
    let (Some(first), Some(last)) = (results::cycle(tx, from).await?, results::cycle(tx, to).await?) else {
        return Ok(Ok(()));
    };
    let rolled_up_to = rollup::rolled_up_to(tx).await?;
    if let Some(stray) = rollup::first_beyond(tx, rolled_up_to).await? {
        return Ok(Err(format!(
            "usage or pool prices are stored for the hour from {stray} on, but no prices"
        )));
    }
    let Some(rolled_up_to) = rolled_up_to else { return Ok(Ok(())) };
    // Before the first cycle there is nothing: the hour and the day in which it lies are whole as well.
    let begin = |step| {
        let start = step_start(first.starts_at, step);
        if from == 1 || start == first.starts_at { start } else { start.plus_seconds(step) }
    };
    let end = |step| step_start(last.starts_at, step).min(step_start(rolled_up_to, step));
    let parts_from = first_with_parts(tx).await?;
    let mut day = step_start(begin(HOUR), DAY);
    while day < end(HOUR) {
        let next = day.plus_seconds(DAY);
        let (start, stop) = (day.max(begin(HOUR)).max(parts_from), next.min(end(HOUR)));
        if start < stop {
            let stored = rollup::stored_hours(tx, start, stop).await?;
            let found = rollup::hours_of_parts(tx, start, stop).await?;
            if let Err(detail) = compare_rows("rolled-up hour", &stored, &found, compared) {
                return Ok(Err(detail));
            }
        }
        if day >= begin(DAY) && next <= end(DAY) {
            let stored = rollup::stored_days(tx, day, next).await?;
            let found = rollup::day_of_hours(tx, day, next).await?;
            if let Err(detail) = compare_rows("rolled-up day", &stored, &found, compared) {
                return Ok(Err(detail));
            }
        }
        day = next;
    }
    Ok(Ok(()))
}

/// The start of the first hour all of whose parts are there.
async fn first_with_parts(tx: &mut Tx) -> Result<Instant, AppError> {
    let first = results::first_detailed_cycle(tx).await?.unwrap_or(1);
    let Some(cycle) = results::cycle(tx, first).await? else { return Ok(Instant(i64::MAX)) };
    let hour = step_start(cycle.starts_at, HOUR);
    Ok(if first == 1 || hour == cycle.starts_at { hour } else { hour.plus_seconds(HOUR) })
}

fn compare_rows(what: &str, stored: &RolledUp, found: &RolledUp, compared: &mut u64) -> Result<(), String> {
    compare(&format!("{what} of usage"), &stored.usage, &found.usage)?;
    compare(&format!("{what} of prices"), &stored.prices, &found.prices)?;
    compare(&format!("{what} of pool prices"), &stored.pool_prices, &found.pool_prices)?;
    *compared += (stored.usage.len() + stored.prices.len() + stored.pool_prices.len()) as u64;
    Ok(())
}
