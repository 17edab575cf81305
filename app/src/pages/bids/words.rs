//! Bids in words: what they ask for, where they stand, what it takes to win.

use common::api::{BidNow, BidStatus, BidTerms, BidView, PriceToWinView, TeamFunds};
use common::money::{MicroCredits, Price};
use common::words::counted;

use crate::format;

/// What a bid asks for: "H100, 4 to 8, or H200, all 8 or none".
pub(crate) fn asks(terms: &BidTerms) -> String {
    let alternatives: Vec<_> = terms
        .alternatives
        .iter()
        .map(|one| {
            let (chips, least) = (format::chips(one.chips), format::chips(one.min_chips));
            match (one.chips.0, one.min_chips.0) {
                (1, _) => format!("{}, 1 chip", one.chip_type),
                (most, least) if most == least => format!("{}, all {chips} or none", one.chip_type),
                _ => format!("{}, {least} to {chips}", one.chip_type),
            }
        })
        .collect();
    alternatives.join(" or ")
}

/// An amount of work: "24 chip-hours".
pub(crate) fn work(chip_seconds: Option<u64>) -> String {
    chip_seconds.map_or_else(|| "until cancelled".to_owned(), chip_hours)
}

/// Chip-seconds in chip-hours, to a thousandth and without zeros behind.
pub(crate) fn chip_hours(chip_seconds: u64) -> String {
    let text = format::milli(chip_seconds.saturating_mul(10) / 36);
    let text = text.trim_end_matches('0').trim_end_matches('.');
    let unit = if text == "1" { "chip-hour" } else { "chip-hours" };
    format!("{text} {unit}")
}

/// The list price where the market is dearer: the same chips cost less outside it.
pub(crate) fn dearer_than_list(market: Option<Price>, list: Option<Price>) -> Option<Price> {
    list.filter(|list| market.is_some_and(|market| market > *list))
}

/// How long a balance lasts: "2 h 30 min", "not spending", "income covers it".
pub(crate) fn lasts(funds: &TeamFunds) -> String {
    match funds.lasts_seconds {
        Some(seconds) => format::duration(i64::try_from(seconds).unwrap_or(i64::MAX)),
        None if funds.burn_per_hour == MicroCredits::ZERO => "not spending".to_owned(),
        None => "income covers it".to_owned(),
    }
}

/// How a bid's chips look at a glance: the class of its tag, and the text in it.
pub(crate) fn chips_tag(bid: &BidView) -> (&'static str, String) {
    match (&bid.now, bid.status) {
        (_, BidStatus::Served) => ("tag ok", "done".to_owned()),
        (_, BidStatus::Cancelled) => ("tag", "cancelled".to_owned()),
        (_, BidStatus::Expired) => ("tag", "expired".to_owned()),
        (None, BidStatus::Paused) => ("tag", "paused".to_owned()),
        (None, BidStatus::Live) => ("tag", "waits for its first cycle".to_owned()),
        (Some(now), BidStatus::Live | BidStatus::Paused) => chips_now(now, &bid.terms),
    }
}

/// "16 of 48 · H100", green when it is all, amber when it is a part.
pub(crate) fn chips_now(now: &BidNow, terms: &BidTerms) -> (&'static str, String) {
    let alternative = terms.alternatives.iter().find(|one| now.chip_type.as_ref() == Some(&one.chip_type));
    let asked = alternative.or_else(|| terms.alternatives.first()).map(|one| one.chips).unwrap_or_default();
    let class = if now.chips.0 == 0 {
        "tag"
    } else if now.chips >= asked {
        "tag ok"
    } else {
        "tag part"
    };
    let chip_type = now.chip_type.as_ref().map(|id| format!(" · {id}")).unwrap_or_default();
    (class, format!("{} of {}{chip_type}", format::chips(now.chips), format::chips(asked)))
}

/// Where a bid stands, in a sentence.
pub(crate) fn state(bid: &BidView) -> String {
    match (bid.status, &bid.now) {
        (BidStatus::Paused, _) => "Paused: it is kept out of the market until you resume it.".to_owned(),
        (BidStatus::Served, _) => "Its work is done.".to_owned(),
        (BidStatus::Cancelled, _) => "Cancelled by its team.".to_owned(),
        (BidStatus::Expired, _) => "Its window is over.".to_owned(),
        (BidStatus::Live, Some(now)) => sentence(&now.explanation),
        (BidStatus::Live, None) => "It takes part from the next cycle on.".to_owned(),
    }
}

/// What it means for an open bid that chip types it names are retired; none where none is.
pub(crate) fn retired(bid: &BidView) -> Option<String> {
    let names: Vec<_> = bid.retired.iter().map(ToString::to_string).collect();
    let are = if names.len() == 1 { "is" } else { "are" };
    let kept = match bid.status {
        BidStatus::Paused => "it can't be resumed with it",
        _ => "the bid keeps its place and chips until it ends",
    };
    (!names.is_empty()).then(|| format!("{} {are} retired: {kept}.", names.join(" and ")))
}

/// An explanation as a sentence of its own: they begin small.
pub(crate) fn sentence(explanation: &str) -> String {
    let mut characters = explanation.chars();
    characters.next().map_or_else(String::new, |first| first.to_uppercase().chain(characters).collect())
}

/// What it takes to fill a bid, in a sentence.
pub(crate) fn price_to_win(price: &PriceToWinView, terms: &BidTerms, chip_type: Option<&str>) -> String {
    let alternative = terms.alternatives.iter().find(|one| chip_type == Some(one.chip_type.as_str()));
    let chips = alternative.or_else(|| terms.alternatives.first()).map(|one| one.chips).unwrap_or_default();
    let chips = counted(chips.0, "chip");
    match price {
        PriceToWinView::Filled => "It has all the chips it asks for.".to_owned(),
        PriceToWinView::Limit { limit } => {
            format!("It would have won {chips} at a limit of {limit} or more.")
        }
        PriceToWinView::Credits { extra_per_hour } => format!(
            "No limit is enough: the team would need {} credits per hour more to spend to win {chips}. Bids \
             before it in the queue are paid for first.",
            format::amount(*extra_per_hour)
        ),
        PriceToWinView::Never => {
            format!("Nothing wins {chips} now: there are not so many for your pool.")
        }
    }
}

#[cfg(test)]
mod tests {
    use common::api::BidLimit;

    use super::*;

    fn terms() -> BidTerms {
        let alternative = |chip_type: &str, chips, least| common::api::BidAlternative {
            chip_type: common::ids::ChipTypeId::new(chip_type).unwrap(),
            chips: common::chips::Chips(chips),
            min_chips: common::chips::Chips(least),
        };
        BidTerms {
            name: "a".to_owned(),
            note: String::new(),
            alternatives: vec![alternative("H100", 8, 4), alternative("H200", 1_024, 1_024)],
            limit: BidLimit::NoLimit,
            not_before: None,
            not_after: None,
            work_chip_seconds: None,
        }
    }

    #[test]
    fn t107_the_list_price_is_named_only_where_the_market_is_dearer() {
        let (five, six) = (Some(Price(5_000_000)), Some(Price(6_000_000)));
        assert_eq!(dearer_than_list(six, five), five);
        for (market, list) in [(five, five), (five, six), (None, five), (six, None)] {
            assert_eq!(dearer_than_list(market, list), None, "{market:?} {list:?}");
        }
    }

    #[test]
    fn what_a_bid_asks_for() {
        assert_eq!(asks(&terms()), "H100, 4 to 8 or H200, all 1,024 or none");
        assert_eq!(work(None), "until cancelled");
        assert_eq!(work(Some(86_400)), "24 chip-hours");
        assert_eq!(work(Some(5_400)), "1.5 chip-hours");
        assert_eq!(work(Some(3_600_000)), "1,000 chip-hours");
    }

    #[test]
    fn t059_how_long_a_balance_lasts() {
        let funds = |burn, lasts_seconds| TeamFunds {
            burn_per_hour: MicroCredits(burn),
            lasts_seconds,
            ..TeamFunds::default()
        };
        // 25 credits at 10 per hour.
        assert_eq!(lasts(&funds(10_000_000, Some(9_000))).replace('\u{a0}', " "), "2 h 30 min");
        assert_eq!(lasts(&funds(0, None)), "not spending");
        assert_eq!(lasts(&funds(5, None)), "income covers it");
    }

    #[test]
    fn t098_a_losing_bid_hears_what_would_have_won() {
        let limit = PriceToWinView::Limit { limit: Price(3_200_000) };
        assert_eq!(
            price_to_win(&limit, &terms(), Some("H100")),
            "It would have won 8 chips at a limit of 3.20 or more."
        );
    }
}
