//! What each bid cost, against what it used and at which prices, added up anew from the first cycle on.

use std::collections::BTreeMap;

use super::{Check, Difference};
use crate::error::AppError;
use crate::store::Tx;
use crate::store::bids;

/// Compares the stored costs with those of all accounting steps; both are by a bid's number, in 1/3600 of a micro-credit.
/// The answer is how many are stored, and the first difference.
pub(super) async fn check(
    tx: &mut Tx,
    found: &BTreeMap<u64, u128>,
) -> Result<(u64, Option<Difference>), AppError> {
    let stored = bids::costs(tx).await?;
    let differs = |bid: &&u64| stored.get(*bid).unwrap_or(&0) != found.get(*bid).unwrap_or(&0);
    let difference = stored.keys().chain(found.keys()).filter(differs).min().map(|bid| {
        let parts = |costs: &BTreeMap<u64, u128>| costs.get(bid).copied().unwrap_or(0);
        let detail = format!(
            "bid number {bid} is stored to have cost {}/3600 micro-credits, but {}/3600 follow from its chips and prices",
            parts(&stored),
            parts(found)
        );
        Difference { check: Check::Costs, cycle: None, transfer: None, detail }
    });
    Ok((stored.len() as u64, difference))
}
