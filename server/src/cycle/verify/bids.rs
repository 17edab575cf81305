//! Bids as they were placed and changed, by hashes: the first version of each says what the request said whose hash its
//! identity keeps, and every version what its own hash says. That covers what no clearing depends on, such as names and
//! notes.

use common::instant::Instant;

use super::{Check, Difference};
use crate::error::AppError;
use crate::services::bids::is_as_requested;
use crate::store::Tx;
use crate::store::bids::{self, StoredVersion};

/// Versions read at once.
const BATCH: u32 = 1_000;

/// Checks all bids; the answer is how many versions there are, and the first difference.
pub(super) async fn check(tx: &mut Tx) -> Result<(u64, Option<Difference>), AppError> {
    let hashed_since = bids::hashed_since(tx).await?.unwrap_or(Instant(i64::MAX));
    let (mut checked, mut last) = (0, (0, 0));
    loop {
        let batch = bids::versions_after(tx, last, BATCH).await?;
        if batch.is_empty() {
            break;
        }
        for stored in batch {
            checked += 1;
            if let Some(detail) = fault(&stored, last, hashed_since)? {
                return Ok((checked, Some(difference(stored.cycle, detail))));
            }
            last = (stored.bid.number, stored.bid.version);
        }
    }
    Ok((
        checked,
        match bids::strays(tx).await? {
            (0, 0) => None,
            (bids, versions) => {
                let detail = format!(
                    "{bids} bids are stored without a version, and {versions} versions without a bid"
                );
                Some(difference(None, detail))
            }
        },
    ))
}

fn difference(cycle: Option<u64>, detail: String) -> Difference {
    Difference { check: Check::Bids, cycle, transfer: None, detail }
}

/// What is wrong with a version that follows on the one before it.
fn fault(
    stored: &StoredVersion,
    (last_number, last_version): (u64, u64),
    hashed_since: Instant,
) -> Result<Option<String>, AppError> {
    let StoredVersion { bid, request_sha256, written_at, sha256, .. } = stored;
    let (id, version) = (&bid.id, bid.version);
    let expected = if bid.number == last_number { last_version + 1 } else { 1 };
    if version != expected {
        return Ok(Some(format!("version {expected} of bid {id} is missing: {version} comes next")));
    }
    if version == 1 && !is_as_requested(bid, *request_sha256)? {
        return Ok(Some(format!("the first version of bid {id} is not what was placed")));
    }
    Ok(match sha256 {
        Some(sha256) if *sha256 == bid.sha256(*written_at)? => None,
        Some(_) => Some(format!("version {version} of bid {id} does not say what its hash says")),
        // Versions from before there were hashes have none.
        None if *written_at < hashed_since => None,
        None => Some(format!("version {version} of bid {id} has lost its hash")),
    })
}
