//! Bids as they were placed: the first version of each says what the request said whose hash its identity keeps. That
//! covers what no clearing depends on, such as names and notes.

use super::{Check, Difference};
use crate::error::AppError;
use crate::services::bids::is_as_requested;
use crate::store::Tx;
use crate::store::bids;

/// Bids read at once.
const BATCH: u32 = 1_000;

/// Checks all bids; the answer is how many there are, and the first difference.
pub(super) async fn check(tx: &mut Tx) -> Result<(u64, Option<Difference>), AppError> {
    let (mut checked, mut last) = (0, 0);
    loop {
        let batch = bids::first_versions(tx, last, BATCH).await?;
        let Some((newest, ..)) = batch.last() else { return Ok((checked, None)) };
        last = newest.number;
        for (placed, request, cycle) in batch {
            checked += 1;
            if !is_as_requested(&placed, request)? {
                let detail = format!("the first version of bid {} is not what was placed", placed.id);
                return Ok((checked, Some(Difference { check: Check::Bids, cycle, transfer: None, detail })));
            }
        }
    }
}
