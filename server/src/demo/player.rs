//! The player: places each cycle's jobs before it clears.

use std::collections::BTreeSet;
use std::time::Duration;

use tokio::sync::watch;
use tokio_util::sync::CancellationToken;

use super::course::Course;
use crate::clock::Clock;
use crate::error::AppError;
use crate::services::bids::{self, NewBid};
use crate::services::live::LiveState;
use crate::store::entities::Setup;
use crate::store::{Store, Tx, demo as stored};

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

/// An admin may have retired a chip type or archived a team: its jobs are not played.
async fn leave_out_closed(tx: &mut Tx, played: &mut Vec<NewBid>) -> Result<(), AppError> {
    let Some(setup) = Setup::newest(tx).await? else { return Ok(()) };
    let retired: BTreeSet<_> = setup.chip_types.iter().filter(|row| row.retired).map(|row| &row.id).collect();
    let archived: BTreeSet<_> =
        setup.teams.iter().filter(|team| team.archived).map(|team| &team.id).collect();
    played.retain(|bid| {
        let mut names = bid.terms.alternatives.iter().map(|one| &one.chip_type);
        !archived.contains(&bid.team) && !names.any(|id| retired.contains(id))
    });
    Ok(())
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
    let mut played = course.bids_of(&stretches, cycle)?;
    leave_out_closed(&mut tx, &mut played).await?;
    let new = bids::place_many(&mut tx, clock.now(), played).await?;
    tx.commit().await?;
    Ok(new)
}
