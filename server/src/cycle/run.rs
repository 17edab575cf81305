//! The loop of `serve`: clears each cycle when it is due, waits out trouble, rolls history up.

use std::time::Duration;

use common::api::Stale;
use common::instant::Instant;
use tokio_util::sync::CancellationToken;

use super::{ClearedCycle, Clearing, clear_due, market_clock, rebuild};
use crate::clock::Clock;
use crate::error::{AppError, ErrorKind};
use crate::services::live::{Cleared, Live};
use crate::store::entities::{self, Organisation};
use crate::store::finance::spend;
use crate::store::history::step_start;
use crate::store::{Store, results, rollup};
use crate::telemetry::{CYCLE_SECONDS, CYCLES, RECLAIMED};

/// Longest sleep: the clock is looked at again after it, so that a clock that is set or a machine that slept is noticed.
const LONGEST_SLEEP: Duration = Duration::from_secs(1);

/// The first wait after a failure; each failure in a row doubles it up to [`LONGEST_WAIT`].
const SHORTEST_WAIT: Duration = Duration::from_millis(250);

/// The longest wait between two tries.
const LONGEST_WAIT: Duration = Duration::from_secs(15);

/// Hours rolled up at most after one cycle, so that a long history does not hold up the next clearing.
const HOURS_AT_ONCE: u32 = 24;

/// Roll-ups of spend at most after one cycle, each of the accounting steps of about a day.
const SPENDS_AT_ONCE: u32 = 4;

/// Clears cycles until it is told to stop; a cycle under way is finished first.
///
/// A failure leaves the quotas in force and is told to `live`; the loop tries again, waiting longer each time, and clears
/// the newest cycle as soon as it can.
pub async fn run(store: Store, live: &Live, clock: &dyn Clock, stop: CancellationToken) {
    let mut clearing = Clearing::new();
    let mut failures = 0;
    let mut maintained_hour = Instant(i64::MIN);
    while !stop.is_cancelled() {
        let known = live.subscribe().borrow().clock.clone();
        let now = clock.now();
        if now < known.next_at && known.stale.is_none() && known.cycle > 0 {
            let wait = Duration::from_micros((known.next_at.0 - now.0).unsigned_abs());
            sleep(wait.min(LONGEST_SLEEP), &stop).await;
            continue;
        }
        match clear_or_follow(&store, &mut clearing, known.cycle, now).await {
            Ok(cycle) => {
                if failures > 0 {
                    tracing::info!(failures, "clearing again after trouble");
                }
                failures = 0;
                publish(live, cycle);
            }
            Err(error) => {
                failures += 1;
                report(live, &error, known.next_at.max(known.cleared_at), failures);
                sleep(wait_after(failures), &stop).await;
                continue;
            }
        }
        if let Err(error) = roll_up_spend(&store, SPENDS_AT_ONCE).await {
            tracing::warn!(error = %error, context = error.private_context(), "roll-up of spend failed");
        }
        let hour = step_start(now, 3_600);
        if hour != maintained_hour {
            match maintain(&store, now, HOURS_AT_ONCE).await {
                Ok(more) if !more => maintained_hour = hour,
                Ok(_) => {}
                Err(error) => {
                    tracing::warn!(error = %error, context = error.private_context(), "roll-up failed")
                }
            }
        }
    }
}

/// Clears what is due, or takes over what another process cleared.
async fn clear_or_follow(
    store: &Store,
    clearing: &mut Clearing,
    known_cycle: u64,
    now: Instant,
) -> Result<ClearedCycle, AppError> {
    let started = std::time::Instant::now();
    if let Some(cycle) = clear_due(store, clearing, now).await? {
        metrics::histogram!(CYCLE_SECONDS).record(started.elapsed().as_secs_f64());
        metrics::counter!(CYCLES, "result" => "cleared").increment(1);
        metrics::counter!(RECLAIMED).increment(cycle.reclaimed);
        tracing::info!(
            cycle = cycle.clock.cycle,
            bids = cycle.cleared.snapshot.bids.len(),
            starts_at = %cycle.clock.cleared_at,
            "cycle cleared"
        );
        return Ok(cycle);
    }
    let newest = newest_cycle(store).await?.ok_or_else(|| {
        AppError::new(ErrorKind::Internal, "no cycle is due and none is stored; the clock may be set wrong")
    })?;
    if newest.clock.cycle > known_cycle {
        tracing::info!(cycle = newest.clock.cycle, "cycle cleared by another process");
    }
    Ok(newest)
}

/// The last stored cycle, computed again; none before the first. Its clock has the newest settings: as in [`clear_due`] a
/// change of the cycle's length counts at once, so that a market that goes on at another pace does so without a pause.
///
/// # Errors
/// The database can't be read, or the cycle can't be computed again.
pub async fn newest_cycle(store: &Store) -> Result<Option<ClearedCycle>, AppError> {
    let mut tx = store.read().await?;
    let Some(last) = results::last_cycle(&mut tx).await? else { return Ok(None) };
    let rebuilt = rebuild(&mut tx, last.number).await?;
    let organisation: Option<Organisation> = entities::newest(&mut tx).await?.pop();
    Ok(Some(ClearedCycle {
        clock: market_clock(&organisation.unwrap_or_default(), last.number, last.starts_at),
        cleared: rebuilt.cleared,
        reclaimed: 0,
    }))
}

fn publish(live: &Live, cycle: ClearedCycle) {
    let ClearedCycle { clock, cleared: Cleared { snapshot, outcome }, .. } = cycle;
    live.cleared(clock, Cleared { snapshot, outcome });
}

/// Says once in the log, and for as long as it lasts on every page, that quotas are stale.
fn report(live: &Live, error: &AppError, since: Instant, failures: u32) {
    metrics::counter!(CYCLES, "result" => "failed").increment(1);
    let context = error.private_context();
    match error.kind() {
        // An empty database waits for its organisation: no fault, and nothing to say again and again.
        ErrorKind::NotFound if failures > 1 => {}
        ErrorKind::NotFound => tracing::warn!("no cycle cleared: {error}"),
        _ => tracing::error!(failures, context, "no cycle cleared: {error}; the last quotas stay in force"),
    }
    live.in_trouble(Stale { since, reason: error.message().to_owned() });
}

/// How long to wait after so many failures in a row.
pub(crate) fn wait_after(failures: u32) -> Duration {
    SHORTEST_WAIT.saturating_mul(1 << failures.saturating_sub(1).min(16)).min(LONGEST_WAIT)
}

async fn sleep(duration: Duration, stop: &CancellationToken) {
    tokio::select! {
        () = tokio::time::sleep(duration) => {}
        () = stop.cancelled() => {}
    }
}

/// Rolls spend up by days and months, in at most so many transactions; the answer is whether more is due.
async fn roll_up_spend(store: &Store, times: u32) -> Result<bool, AppError> {
    for _ in 0..times {
        let mut tx = store.read().await?;
        let Some(last) = results::last_cycle(&mut tx).await? else { return Ok(false) };
        let organisation: Option<Organisation> = entities::in_cycle(&mut tx, last.number).await?.pop();
        let zone = organisation.unwrap_or_default().time_zone;
        if !spend::is_due(&mut tx, &zone).await? {
            return Ok(false);
        }
        drop(tx);
        let mut tx = store.write().await?;
        spend::roll_up(&mut tx, &zone).await?;
        tx.commit().await?;
    }
    Ok(true)
}

/// Rolls up at most `hours` hours that are over, each in its own transaction, and removes raw rows that are older than
/// the retention; the answer is whether more is due.
///
/// # Errors
/// The database can't be read or written.
pub async fn maintain(store: &Store, now: Instant, hours: u32) -> Result<bool, AppError> {
    // Before raw rows go: spend is made of them.
    if roll_up_spend(store, hours).await? {
        return Ok(true);
    }
    for _ in 0..hours {
        let mut tx = store.write().await?;
        if !rollup::roll_up_next_hour(&mut tx).await? {
            let organisation: Option<Organisation> = entities::newest(&mut tx).await?.pop();
            let days = organisation.unwrap_or_default().raw_retention_days;
            let removed =
                rollup::remove_old_rows(&mut tx, now.plus_seconds(-86_400 * i64::from(days))).await?;
            tx.commit().await?;
            if removed > 0 {
                tracing::info!(removed, "raw rows older than the retention are gone; their roll-ups stay");
            }
            return Ok(false);
        }
        tx.commit().await?;
    }
    Ok(true)
}
