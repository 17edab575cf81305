//! The clearing loop: one transaction per cycle, accounting within it, and the proof that all of it is right.
//!
//! A cycle is a pure function of the state before it and of what was written since (`advance`); this module gives it
//! its inputs from the store and stores what it decided, all in one transaction. A crash at any point leaves the last
//! whole cycle; the unique row of each cycle keeps two processes from clearing it twice.

mod account;
mod advance;
mod again;
mod allowances;
mod elapse;
mod load;
mod over_quota;
mod record;
mod run;
mod runway;
mod state;
mod stored;
#[cfg(test)]
mod tests;
pub mod verify;

use common::api::MarketClock;
use common::instant::Instant;

use crate::error::AppError;
use crate::services::live::Cleared;
use crate::services::organisation::no_organisation;
use crate::services::supply;
use crate::store::allowances::{self as stored_allowances, Allowance, PoolAllowance};
use crate::store::entities::{self, Organisation};
use crate::store::history::step_start;
use crate::store::results::{self, Cycle};
use crate::store::{Store, Tx, bids, usage, warnings};
use advance::Advance;
pub(crate) use advance::run_engine;
pub(crate) use again::Again;
pub(crate) use run::wait_after;
pub use run::{maintain, newest_cycle, run};
use state::{Changes, MarketState};

/// A cycle that cleared.
#[derive(Clone, Debug)]
pub struct ClearedCycle {
    /// The last and the next cycle.
    pub clock: MarketClock,
    /// Inputs and outcome.
    pub cleared: Cleared,
    /// Chips of jobs that a cut stopped in it.
    pub reclaimed: u64,
}

/// Clears cycles; keeps the state of the market from one to the next.
///
/// The state is only kept as a shortcut: before each use it is compared with the last stored cycle, and made again from
/// the store where another process cleared since or a transaction was given up.
#[derive(Debug, Default)]
pub struct Clearing {
    state: Option<MarketState>,
}

impl Clearing {
    /// A clearing that knows nothing yet.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Clears the next cycle, which begins at `at`, within a writing transaction. Many cycles may share one; none of
    /// them holds until it is committed.
    ///
    /// # Errors
    /// `Conflict`: the last cycle begins at `at` or later. `NotFound`: there is no organisation. Otherwise the inputs
    /// can't be cleared or stored; the transaction must be dropped then.
    pub async fn clear(&mut self, tx: &mut Tx, at: Instant) -> Result<ClearedCycle, AppError> {
        let last = results::last_cycle(tx).await?;
        if let Some(last) = &last
            && last.starts_at >= at
        {
            return Err(AppError::conflict(format!(
                "cycle {} began at {}; the next one can't begin at {at}",
                last.number, last.starts_at
            )));
        }
        let mut state = self.state_after(tx, last.as_ref()).await?;
        let started = std::time::Instant::now();
        let cycle = state.cycle + 1;
        supply::apply_due(tx, cycle, at).await?;
        let changes = put_into_effect(tx, cycle, at, &state.organisation).await?;
        if cycle == 1 && changes.organisation.is_empty() {
            return Err(no_organisation());
        }
        state.book.catch_up(tx, cycle).await?;
        let advance = state.advance(cycle, at, changes)?;
        write(tx, &mut state, &advance, at, started).await?;
        let clock = market_clock(&state.organisation, cycle, at);
        self.state = Some(state);
        let reclaimed = advance.rows.reclaims.iter().map(|row| row.chips.0).sum();
        let cleared = Cleared { snapshot: advance.snapshot, outcome: advance.outcome };
        Ok(ClearedCycle { clock, cleared, reclaimed })
    }

    /// The state after the last cycle: the kept one where it is that, else made from the store.
    async fn state_after(&mut self, tx: &mut Tx, last: Option<&Cycle>) -> Result<MarketState, AppError> {
        // Taken out, so that a clearing that fails half way leaves no half-way state behind.
        let kept = self.state.take();
        match (kept, last) {
            (None, None) => MarketState::before_first(tx).await,
            (Some(state), Some(last))
                if state.cycle == last.number && state.outcome_sha256 == last.outcome_sha256 =>
            {
                Ok(state)
            }
            (_, Some(last)) => MarketState::after(tx, last.number).await,
            (Some(_), None) => MarketState::before_first(tx).await,
        }
    }
}

/// Clears the cycle that is due at `now` in its own transaction; nothing when it is cleared already.
///
/// Cycles begin at multiples of `cycle_seconds`. After a gap only the newest is cleared: the one before it simply stayed
/// in force longer.
///
/// # Errors
/// `NotFound`: there is no organisation. `Unavailable`: the database can't be reached or written. Nothing of the cycle
/// is stored then.
pub async fn clear_due(
    store: &Store,
    clearing: &mut Clearing,
    now: Instant,
) -> Result<Option<ClearedCycle>, AppError> {
    let mut tx = store.write().await?;
    let organisation: Option<Organisation> = entities::newest(&mut tx).await?.pop();
    let organisation = organisation.ok_or_else(no_organisation)?;
    let at = step_start(now, i64::from(organisation.cycle_seconds));
    if results::last_cycle(&mut tx).await?.is_some_and(|last| last.starts_at >= at) {
        return Ok(None);
    }
    let cleared = clearing.clear(&mut tx, at).await?;
    tx.commit().await?;
    Ok(Some(cleared))
}

/// A past cycle, computed again from its stored inputs.
#[derive(Clone, Debug)]
pub struct Rebuilt {
    /// As it is stored.
    pub cycle: Cycle,
    /// Inputs and outcome as found now.
    pub cleared: Cleared,
    /// The inputs rebuilt from history have the stored hash.
    pub snapshot_matches: bool,
    /// Clearing them again gives the stored hash.
    pub outcome_matches: bool,
}

/// Computes a cycle again.
///
/// # Errors
/// `NotFound`: there is no such cycle, or the rows it needs are gone with the retention. `Inconsistent`: the ledger's
/// chain is broken before it.
pub async fn rebuild(tx: &mut Tx, number: u64) -> Result<Rebuilt, AppError> {
    let Some(cycle) = results::cycle(tx, number).await? else {
        return Err(AppError::not_found("cycle", number));
    };
    let mut state = MarketState::after(tx, number.saturating_sub(1)).await?;
    let next_transfer = state.book.next_transfer();
    let Some(stored) = stored::load(tx, number, number, next_transfer).await?.pop() else {
        return Err(AppError::not_found("cycle", number));
    };
    for transfer in stored.booked_by_people() {
        state.book.adopt(transfer)?;
    }
    let advance = state.advance(number, cycle.starts_at, stored.changes)?;
    Ok(Rebuilt {
        snapshot_matches: advance.snapshot_sha256 == cycle.snapshot_sha256,
        outcome_matches: advance.outcome_sha256 == cycle.outcome_sha256,
        cycle,
        cleared: Cleared { snapshot: advance.snapshot, outcome: advance.outcome },
    })
}

/// The market's clock in a cycle that began at `at`.
#[must_use]
pub fn market_clock(organisation: &Organisation, cycle: u64, at: Instant) -> MarketClock {
    let seconds = i64::from(organisation.cycle_seconds);
    MarketClock {
        cycle,
        cleared_at: at,
        next_at: step_start(at, seconds).plus_seconds(seconds),
        cycle_seconds: organisation.cycle_seconds,
        stale: None,
    }
}

/// Puts everything that waits into effect with `cycle`.
async fn put_into_effect(
    tx: &mut Tx,
    cycle: u64,
    at: Instant,
    present: &Organisation,
) -> Result<Changes, AppError> {
    let organisation: Vec<Organisation> = entities::put_into_effect(tx, cycle).await?;
    let changed: Vec<Allowance> = entities::put_into_effect(tx, cycle).await?;
    let of_pools: Vec<PoolAllowance> = entities::put_into_effect(tx, cycle).await?;
    let allowances = if changed.is_empty() && of_pools.is_empty() && organisation.is_empty() {
        None
    } else {
        let organisation = organisation.last().unwrap_or(present);
        Some(allowances::load(tx, organisation, cycle, cycle - 1, at).await?)
    };
    Ok(Changes {
        organisation,
        allowances,
        chip_types: entities::put_into_effect(tx, cycle).await?,
        pools: entities::put_into_effect(tx, cycle).await?,
        owned: entities::put_into_effect(tx, cycle).await?,
        teams: entities::put_into_effect(tx, cycle).await?,
        cut_policies: entities::put_into_effect(tx, cycle).await?,
        bids: bids::put_into_effect(tx, cycle).await?,
    })
}

/// Stores what a cycle decided.
async fn write(
    tx: &mut Tx,
    state: &mut MarketState,
    advance: &Advance,
    at: Instant,
    started: std::time::Instant,
) -> Result<(), AppError> {
    let cycle = Cycle {
        number: state.cycle,
        starts_at: at,
        step: advance.step.number,
        bids: advance.snapshot.bids.len() as u64,
        clear_micros: u64::try_from(started.elapsed().as_micros()).unwrap_or(u64::MAX),
        snapshot_sha256: advance.snapshot_sha256,
        outcome_sha256: advance.outcome_sha256,
    };
    results::insert_cycle(tx, &cycle).await?;
    results::insert_rows(tx, &advance.rows).await?;
    bids::end(tx, at, state.cycle, &advance.ended).await?;
    stored_allowances::insert_alerts(tx, &advance.alerts).await?;
    warnings::insert(tx, &advance.warnings).await?;
    state.book.flush(tx).await?;
    usage::insert(tx, &advance.step.pieces).await?;
    bids::add_costs(tx, &advance.step.costs).await
}
