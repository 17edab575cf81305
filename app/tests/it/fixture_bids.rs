//! The bids of the market that never changes: one in each state that a queue can show.

use common::api::*;
use common::chips::Chips;
use common::ids::{BidId, TeamId};
use common::money::{MicroCredits, Price};
use common::problem::{FieldProblem, Problem};

use crate::fixture::{CYCLE, Fixture, at, chip, problem, teams};

fn terms(name: &str, chips: u64, least: u64, limit: Option<u64>) -> BidTerms {
    BidTerms {
        name: name.to_owned(),
        note: String::new(),
        alternatives: vec![BidAlternative {
            chip_type: chip("H100"),
            chips: Chips(chips),
            min_chips: Chips(least),
        }],
        limit: limit.map(Price).into(),
        not_before: None,
        not_after: None,
        work_chip_seconds: None,
    }
}

fn now(chips: u64, free: u64, reason: Reason, explanation: &str) -> BidNow {
    BidNow {
        chip_type: Some(chip("H100")),
        chips: Chips(chips),
        opportunistic_chips: Chips(free),
        local_price: Some(Price(2_394_001)),
        reason,
        explanation: explanation.to_owned(),
    }
}

fn bid(place: u64, terms: BidTerms, now: Option<BidNow>) -> BidView {
    BidView {
        id: BidId::new(format!("0193-{place}")).unwrap(),
        version: 3,
        pending: false,
        effective_cycle: CYCLE - 20,
        place: Some(place),
        terms,
        status: BidStatus::Live,
        now,
        cost: MicroCredits(286_410_000),
        done_chip_seconds: 36_000,
        left_seconds: None,
        placed_at: at("2026-11-29T09:12:00Z"),
        placed_by: Some("Mira".to_owned()),
        ended_at: None,
        retired: Vec::new(),
    }
}

/// The queue.
pub(crate) fn queue() -> Vec<BidView> {
    let filled = bid(
        1,
        BidTerms { work_chip_seconds: Some(720_000), ..terms("vit-22b run 4", 32, 32, None) },
        Some(now(32, 0, Reason::Filled, "It has all 32 chips it asked for.")),
    );
    let partly = bid(
        2,
        terms("ablation <sweep>", 48, 8, Some(1_950_000)),
        Some(now(16, 8, Reason::PartlyFilled, "16 of 48 chips: the team's cap buys no more.")),
    );
    let outbid = bid(
        3,
        terms("scaling-law grid", 64, 64, Some(1_500_000)),
        Some(now(0, 0, Reason::PriceAboveLimit, "Price 2.394001 is above your limit 1.50.")),
    );
    let paused =
        BidView { status: BidStatus::Paused, ..bid(4, terms("eval nightly", 16, 16, Some(3_000_000)), None) };
    let window = BidTerms {
        not_before: Some(at("2026-11-30T22:00:00Z")),
        not_after: Some(at("2026-12-01T06:00:00Z")),
        note: "only at night".to_owned(),
        ..terms("tokeniser study", 4, 2, Some(200_000))
    };
    let fresh = BidView { pending: true, cost: MicroCredits::ZERO, ..bid(5, window, None) };
    vec![BidView { left_seconds: Some(18_600), ..filled }, partly, outbid, paused, fresh]
}

fn ended() -> Vec<BidView> {
    [BidStatus::Served, BidStatus::Cancelled, BidStatus::Expired]
        .into_iter()
        .zip(11..)
        .map(|(status, number)| BidView {
            status,
            place: None,
            ended_at: Some(at("2026-11-30T08:00:00Z")),
            ..bid(number, terms("an old run", 8, 8, Some(2_000_000)), None)
        })
        .collect()
}

/// A team's bids.
pub(crate) fn view(market: Fixture, clock: MarketClock, query: BidsQuery) -> Result<BidsView, Problem> {
    let known = |team: &TeamId| teams().into_iter().find(|one| one.id == *team);
    let team = match query.team {
        None => teams().remove(0),
        Some(team) => known(&team).ok_or_else(|| problem(404, "Not found", "There is no such team."))?,
    };
    let bids = match (market, query.show) {
        (Fixture::Empty, _) => Vec::new(),
        (_, BidFilter::Open) => queue(),
        (_, BidFilter::Ended) => ended(),
    };
    let chip_type = |id: &str, price: Option<u64>| BidChipType {
        chip_type: chip(id),
        name: id.replace('-', " "),
        local_price: price.map(Price),
        list_price: Some(Price(1_500_000)),
        supply: Chips(4_096),
        idle: Chips(123),
        most_chips: Chips(3_200),
        retired: false,
    };
    Ok(BidsView {
        clock,
        may_bid: team.id.as_str() != "vit",
        team,
        funds: funds(),
        chip_types: vec![
            chip_type("A100-80", Some(731_004)),
            chip_type("B200", None),
            chip_type("H100", Some(2_394_001)),
        ],
        bids,
        counts: BidCounts { open: 5, ended: 3 },
        next_cursor: (query.show == BidFilter::Ended && query.cursor.is_none()).then(|| "older".to_owned()),
    })
}

fn funds() -> TeamFunds {
    TeamFunds {
        balance: MicroCredits(1_284_500_000),
        income_per_hour: MicroCredits(96_000_000),
        cap_per_hour: MicroCredits(192_000_000),
        burn_per_hour: MicroCredits(131_200_000),
        lasts_seconds: Some(131_400),
    }
}

/// One bid with its history.
pub(crate) fn detail(clock: MarketClock, id: &BidId) -> Result<BidDetail, Problem> {
    let bid = queue()
        .into_iter()
        .chain(ended())
        .find(|bid| bid.id == *id)
        .ok_or_else(|| problem(404, "Not found", &format!("There is no bid {id}.")))?;
    let stretch = |first_cycle: u64, chips: u64, reason, ends: Option<&str>| BidStretch {
        first_cycle,
        starts_at: at("2026-11-30T13:00:00Z"),
        ends_at: ends.map(at),
        chip_type: Some(chip("H100")),
        chips: Chips(chips),
        opportunistic_chips: Chips(0),
        local_price: Some(Price(2_394_001)),
        reason,
    };
    Ok(BidDetail {
        clock,
        team: teams().remove(0),
        may_bid: true,
        price_to_win: bid.place.map(|_| PriceToWinView::Limit { limit: Price(2_394_002) }),
        bid,
        rank: Some(BidRank { rank: 4, of: 31 }),
        history: vec![
            stretch(CYCLE - 3, 0, Reason::PriceAboveLimit, None),
            stretch(CYCLE - 63, 64, Reason::Filled, Some("2026-11-30T14:00:00Z")),
        ],
        next_cursor: Some("older".to_owned()),
    })
}

/// What a bid would do.
pub(crate) fn preview(bid: &PreviewBid) -> BidPreview {
    let chips = bid.terms.alternatives[0].chips;
    BidPreview {
        cycle: CYCLE,
        now: now(chips.0, 0, Reason::Filled, "It has all chips it asks for."),
        cost_per_hour: MicroCredits(57_456_024),
        cost_of_work: bid.terms.work_chip_seconds.map(|_| MicroCredits(172_368_072)),
        list_price: Some(Price(1_500_000)),
        funds: TeamFunds { lasts_seconds: Some(58_140), ..funds() },
        losers: vec![PreviewLoser {
            bid: BidId::new("0193-2").unwrap(),
            name: "ablation <sweep>".to_owned(),
            before: Chips(16),
            after: Chips(0),
        }],
        price_to_win: PriceToWinView::Filled,
    }
}

/// Refuses what the services refuse.
pub(crate) fn checked(terms: &BidTerms) -> Result<(), Problem> {
    let mut refused = problem(422, "A field is wrong", "Look at the fields.");
    if terms.name.chars().count() > 100 {
        let detail = "has more than 100 characters".to_owned();
        refused.errors.push(FieldProblem { field: "terms.name".to_owned(), detail });
    }
    for (row, alternative) in terms.alternatives.iter().enumerate() {
        if alternative.chips.0 > 3_200 {
            let detail = format!("must be at most 3200, not {}", alternative.chips);
            refused.errors.push(FieldProblem { field: format!("terms.alternatives[{row}].chips"), detail });
        }
    }
    if refused.errors.is_empty() { Ok(()) } else { Err(refused) }
}
