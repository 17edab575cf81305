//! Karma as it is written down, slice by slice: what the batched form is tested and measured against.

use policies::karma::Quantum;

/// One quantum; equal credits go by index.
pub(crate) fn literal(credits: &mut [i64], demand: &[u64], of: Quantum) -> Vec<u64> {
    let users = credits.len();
    let mut shared = users as u64 * (of.fair_share - of.guaranteed) + of.remainder;
    let mut donated: Vec<u64> = demand.iter().map(|demand| of.guaranteed.saturating_sub(*demand)).collect();
    let mut chips: Vec<u64> = demand.iter().map(|demand| (*demand).min(of.guaranteed)).collect();
    for credit in credits.iter_mut() {
        *credit += i64::try_from(of.fair_share - of.guaranteed).unwrap();
    }
    loop {
        let borrowers = (0..users).filter(|user| chips[*user] < demand[*user] && credits[*user] > 0);
        let Some(borrower) = borrowers.max_by_key(|user| (credits[*user], std::cmp::Reverse(*user))) else {
            break;
        };
        let donors = (0..users).filter(|user| donated[*user] > 0);
        if let Some(donor) = donors.min_by_key(|user| (credits[*user], *user)) {
            donated[donor] -= 1;
            credits[donor] += 1;
        } else if shared > 0 {
            shared -= 1;
        } else {
            break;
        }
        chips[borrower] += 1;
        credits[borrower] -= 1;
    }
    chips
}
