//! What was done and what changed, in sentences that the server writes.

use common::api::{BidChange, BidLimit, BidStatus, BidTerms, BidView};

use super::reply::Changed;
use super::words::{asks, work};
use crate::format;

/// Said after bids were moved.
pub(crate) const MOVED: &str = "The new order takes effect in the next cycle.";

/// A new bid.
pub(crate) fn placed(bid: &BidView) -> String {
    format!("“{}” is placed. It takes effect in the next cycle.", bid.terms.name)
}

/// A changed bid.
pub(crate) fn amended(bid: &BidView) -> String {
    if bid.pending {
        format!("“{}” is saved. The change takes effect in the next cycle.", bid.terms.name)
    } else {
        format!("“{}” says this already: nothing changed.", bid.terms.name)
    }
}

/// Bids that were paused, resumed or ended.
pub(crate) fn changed(change: BidChange, bids: usize) -> String {
    let bids = if bids == 1 { "1 bid is".to_owned() } else { format!("{bids} bids are") };
    let done = match change {
        BidChange::Pause => "paused: out of the market from the next cycle on, until resumed.",
        BidChange::Resume => "resumed: back in the market from the next cycle on.",
        BidChange::Cancel => "ended for good. Chips go back to the market in the next cycle.",
    };
    format!("{bids} {done}")
}

/// Why a bid is over.
pub(crate) fn ended(bid: &BidView) -> &'static str {
    match bid.status {
        BidStatus::Cancelled => "Somebody of the team cancelled it.",
        BidStatus::Served => "Its work is done.",
        BidStatus::Expired => "Its window is over.",
        BidStatus::Live | BidStatus::Paused => "It is not in the queue.",
    }
}

/// What is other in `now` than in `before`.
pub(crate) fn changes(before: &BidTerms, now: &BidTerms) -> Vec<Changed> {
    type InWords = fn(&BidTerms) -> String;
    let terms: [(&str, InWords); 7] = [
        ("Name", |terms| terms.name.clone()),
        ("Chips", |terms| asks(terms)),
        ("Limit", |terms| match terms.limit {
            BidLimit::At(price) => price.to_string(),
            BidLimit::NoLimit => "no limit".to_owned(),
        }),
        ("Not before", |terms| terms.not_before.map_or_else(|| "at once".to_owned(), format::utc)),
        ("Not after", |terms| terms.not_after.map_or_else(|| "no end".to_owned(), format::utc)),
        ("Work", |terms| work(terms.work_chip_seconds)),
        ("Note", |terms| terms.note.clone()),
    ];
    terms
        .into_iter()
        .filter_map(|(label, in_words)| {
            let (before, now) = (in_words(before), in_words(now));
            (before != now).then(|| Changed { label: label.to_owned(), before, now })
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fields::Fields;
    use crate::pages::bids::terms::terms;

    #[test]
    fn changes_name_the_terms_that_differ() {
        let form = |body: &str| terms(&Fields::parse(body)).unwrap();
        let before = form("name=a&chip_type=H100&chips=8&min_chips=&limit=3.20");
        let now = form("name=a&chip_type=H100&chips=8&min_chips=4&limit_kind=none&work=24");
        let said: Vec<_> =
            changes(&before, &now).into_iter().map(|one| (one.label, one.before, one.now)).collect();
        let line = |label: &str, before: &str, now: &str| (label.into(), before.into(), now.into());
        assert_eq!(
            said,
            [
                line("Chips", "H100, all 8 or none", "H100, 4 to 8"),
                line("Limit", "3.20", "no limit"),
                line("Work", "until cancelled", "24 chip-hours"),
            ]
        );
        assert!(changes(&now, &now).is_empty());
    }
}
