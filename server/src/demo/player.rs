//! The player: places each cycle's jobs before it clears.

use std::time::Duration;

use tokio::sync::watch;
use tokio_util::sync::CancellationToken;

use super::course::Course;
use crate::clock::Clock;
use crate::error::AppError;
use crate::services::bids;
use crate::services::live::LiveState;
use crate::store::{Store, demo as stored};

/// Between two tries after a failure.
const WAIT_AFTER_FAILURE: Duration = Duration::from_secs(2);

/// Places the bids of the next cycle whenever one cleared, until `stop`.
pub(super) async fn play(
    course: &Course,
    store: &Store,
    clock: &dyn Clock,
    mut live: watch::Receiver<LiveState>,
    stop: &CancellationToken,
) {
    loop {
        let cycle = live.borrow_and_update().clock.cycle + 1;
        let wait = match place(course, store, clock, cycle).await {
            Ok(new) => {
                tracing::debug!(cycle, new, "demo bids placed");
                None
            }
            Err(error) => {
                tracing::warn!(
                    cycle,
                    context = error.private_context(),
                    "demo bids not placed: {error}; trying again"
                );
                Some(WAIT_AFTER_FAILURE)
            }
        };
        tokio::select! {
            () = stop.cancelled() => return,
            () = async { tokio::time::sleep(wait.unwrap_or(Duration::MAX)).await } => {}
            changed = live.changed() => if changed.is_err() { return },
        }
    }
}

/// Places the bids of a cycle in one transaction; the answer is how many are new. Placing them again changes nothing.
pub(super) async fn place(
    course: &Course,
    store: &Store,
    clock: &dyn Clock,
    cycle: u64,
) -> Result<usize, AppError> {
    let mut tx = store.write().await?;
    let stretches = stored::stretches(&mut tx).await?;
    let new = bids::place_many(&mut tx, clock.now(), course.bids_of(&stretches, cycle)?).await?;
    tx.commit().await?;
    Ok(new)
}
