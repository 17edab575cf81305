//! What a person asks for, checked before it is a bid.

use common::api::{BidAlternative, BidLimit, BidTerms};
use common::ids::PoolId;
use common::instant::Instant;
use common::money::Price;
use market::snapshot::Alternative;

use super::super::bids::TERMS;
use super::super::checks::Checks;
use super::super::read::latest::Latest;
use super::limits;
use crate::store::bids;

/// Longest name of a bid, in characters.
const MAX_NAME: usize = 100;

/// The terms as they are stored, behind the team's queue.
pub(super) fn stored(terms: BidTerms) -> bids::BidTerms {
    let alternative = |alternative: BidAlternative| Alternative {
        chip_type: alternative.chip_type,
        chips: alternative.chips,
        min_chips: alternative.min_chips,
    };
    bids::BidTerms {
        name: terms.name,
        note: terms.note,
        position: 0,
        alternatives: terms.alternatives.into_iter().map(alternative).collect(),
        limit: terms.limit.price(),
        not_before: terms.not_before,
        not_after: terms.not_after,
        work_chip_seconds: terms.work_chip_seconds,
    }
}

/// Stored terms as they are shown.
pub(super) fn shown(terms: bids::BidTerms) -> BidTerms {
    let alternative = |alternative: Alternative| BidAlternative {
        chip_type: alternative.chip_type,
        chips: alternative.chips,
        min_chips: alternative.min_chips,
    };
    BidTerms {
        name: terms.name,
        note: terms.note,
        alternatives: terms.alternatives.into_iter().map(alternative).collect(),
        limit: terms.limit.into(),
        not_before: terms.not_before,
        not_after: terms.not_after,
        work_chip_seconds: terms.work_chip_seconds,
    }
}

/// What is wrong with a person's terms beyond what holds for every bid: what could never win, and what is over.
pub(super) fn check(latest: &Latest, pool: &PoolId, now: Instant, terms: &BidTerms) -> Checks {
    let mut checks = Checks::default();
    checks.length(&format!("{TERMS}name"), &terms.name, MAX_NAME);
    if terms.limit == BidLimit::At(Price(0)) {
        checks.refuse(
            &format!("{TERMS}limit"),
            "is 0.00, which pays for nothing; give at least 0.000001, or none for no limit",
        );
    }
    if let Some(end) = terms.not_after.filter(|end| *end <= now) {
        checks.refuse(
            &format!("{TERMS}not_after"),
            format!("is {end}, which is over; it is {} now", now.whole_second()),
        );
    }
    limits::check_hours(&mut checks, &latest.setup.organisation, now, terms);
    for (index, alternative) in terms.alternatives.iter().enumerate() {
        let (id, asked) = (&alternative.chip_type, alternative.chips);
        let Some(reach) = latest.most_chips(pool, id).filter(|reach| asked > reach.most()) else { continue };
        checks.refuse(
            &format!("{TERMS}alternatives[{index}].chips"),
            format!(
                "is {asked} {id}; your pool can hold {} at most: {} of its own and up to {} shared or lent by others",
                reach.most(),
                reach.owned,
                reach.others
            ),
        );
    }
    checks
}
