//! One cycle as a function of the state before it and what was written since.

use std::panic::{AssertUnwindSafe, catch_unwind};

use common::instant::Instant;
use market::placement::opportunistic;
use market::{Outcome, Snapshot};
use sha2::{Digest, Sha256};

use super::account::Step;
use super::state::{Changes, MarketState};
use crate::error::{AppError, ErrorKind};
use crate::store::allowances::Alert;
use crate::store::bids::BidVersion;
use crate::store::results::Rows;
use crate::store::warnings::RunwayWarning;

/// Everything that one cycle decided; transfers wait in the state's book.
#[derive(Clone, Debug)]
pub(crate) struct Advance {
    pub(crate) snapshot: Snapshot,
    pub(crate) outcome: Outcome,
    pub(crate) snapshot_sha256: [u8; 32],
    pub(crate) outcome_sha256: [u8; 32],
    pub(crate) rows: Rows,
    /// Bids that are over with this cycle.
    pub(crate) ended: Vec<BidVersion>,
    pub(crate) step: Step,
    /// Shares of allowances that were reached.
    pub(crate) alerts: Vec<Alert>,
    /// Balances that are about to be used up.
    pub(crate) warnings: Vec<RunwayWarning>,
}

impl MarketState {
    /// Clears `cycle`, which begins at `at`: time passes, changes take effect, an accounting step is booked when due,
    /// and the engine runs.
    ///
    /// # Errors
    /// The engine refuses the inputs or breaks one of its invariants, or an amount leaves its range. The state must be
    /// dropped then; nothing of the cycle may be stored.
    pub(crate) fn advance(&mut self, cycle: u64, at: Instant, changes: Changes) -> Result<Advance, AppError> {
        self.elapse(at)?;
        self.apply(changes);
        let ended = self.end_bids(at);
        self.turn_to_periods_booked(at)?;
        let step = self.account(cycle, at)?;
        let alerts = self.close_allowances(cycle, at)?;
        let warnings = if step.number.is_some() { self.due_warnings(cycle, at)? } else { Vec::new() };
        let (snapshot, numbers) = self.snapshot(cycle, at);
        let outcome = run_engine(&snapshot)?;
        let free = opportunistic(&snapshot, &outcome);
        let rows = self.record(&outcome, &numbers, &free)?;
        let snapshot_sha256 = Sha256::digest(snapshot.canonical_json()).into();
        let outcome_sha256 = Sha256::digest(outcome.canonical_json()).into();
        self.cycle = cycle;
        self.starts_at = at;
        self.outcome_sha256 = outcome_sha256;
        Ok(Advance {
            snapshot,
            outcome,
            snapshot_sha256,
            outcome_sha256,
            rows,
            ended,
            step,
            alerts,
            warnings,
        })
    }
}

/// Runs the engine. Its invariants are assertions: one that fails stops this cycle, not the program.
pub(crate) fn run_engine(snapshot: &Snapshot) -> Result<Outcome, AppError> {
    let cycle = snapshot.cycle;
    match catch_unwind(AssertUnwindSafe(|| market::run_auction(snapshot))) {
        Ok(Ok(outcome)) => Ok(outcome),
        Ok(Err(error)) => Err(AppError::new(
            ErrorKind::Inconsistent,
            format!("the inputs of cycle {cycle} can't be cleared: {error}"),
        )),
        Err(panic) => {
            let text = panic.downcast_ref::<String>().cloned();
            let text = text.or_else(|| panic.downcast_ref::<&str>().map(|text| (*text).to_owned()));
            let text = text.unwrap_or_else(|| "no message".to_owned());
            Err(AppError::new(
                ErrorKind::Internal,
                format!("the pricing engine stopped in cycle {cycle}: {text}"),
            ))
        }
    }
}
