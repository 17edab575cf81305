//! Past cycles, one after the other, as they were cleared: for questions about a stretch of time.

use std::collections::VecDeque;

use super::state::MarketState;
use super::stored::{self, StoredCycle};
use crate::error::AppError;
use crate::services::live::Cleared;
use crate::store::Tx;

/// Clears past cycles again in their order.
#[derive(Debug)]
pub(crate) struct Again {
    state: MarketState,
    read: VecDeque<StoredCycle>,
}

impl Again {
    /// From a cycle on.
    ///
    /// # Errors
    /// `NotFound`: rows of the cycles needed are gone with the retention.
    pub(crate) async fn from(tx: &mut Tx, first: u64) -> Result<Self, AppError> {
        let state = MarketState::after(tx, first.saturating_sub(1)).await?;
        Ok(Self { state, read: VecDeque::new() })
    }

    /// Reads what the next cycles up to `last` were cleared from. The ones read before must have been cleared.
    pub(crate) async fn read_to(&mut self, tx: &mut Tx, last: u64) -> Result<(), AppError> {
        let next_transfer = self.state.book.next_transfer();
        self.read = stored::load(tx, self.state.cycle + 1, last, next_transfer).await?.into();
        Ok(())
    }

    /// Clears the next cycle that was read; none where there is no more.
    pub(crate) fn clear_next(&mut self) -> Result<Option<Cleared>, AppError> {
        let Some(stored) = self.read.pop_front() else { return Ok(None) };
        for transfer in stored.booked_by_people() {
            self.state.book.adopt(transfer)?;
        }
        let advance = self.state.advance(stored.cycle.number, stored.cycle.starts_at, stored.changes)?;
        // What its accounting step booked is stored already.
        drop(self.state.book.take_posted());
        Ok(Some(Cleared { snapshot: advance.snapshot, outcome: advance.outcome }))
    }
}
