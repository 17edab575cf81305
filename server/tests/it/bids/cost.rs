//! What bids cost and what became of them.

use common::api::{BidChange, BidFilter, BidStatus, ChangeBids, Reason};
use server::store::Place;

use super::*;
use crate::contract::texts;

/// What all bids of the team `speech` were charged, and what its account was: in 1/3600 of a micro-credit.
async fn sums(place: &Place) -> (i128, i128) {
    const BIDS: &str = "SELECT CAST(SUM(k.amount) AS TEXT) || '|' || CAST(SUM(k.carry) AS TEXT) \
        FROM bid_cost k JOIN bid b ON b.number = k.bid WHERE b.team = 'speech'";
    // It used one chip type only, so that one remainder is carried.
    const CHARGED: &str = "SELECT CAST(SUM(-e.amount) AS TEXT) || '|' || CAST((SELECT l.carry FROM ledger_entry l \
        JOIN ledger_account m ON m.number = l.account WHERE m.owner = 'speech' AND l.chip_type IS NOT NULL \
        ORDER BY l.transfer DESC LIMIT 1) AS TEXT) FROM ledger_entry e JOIN ledger_account a ON a.number = e.account \
        WHERE a.owner = 'speech' AND e.chip_type IS NOT NULL";
    let sum = async |sql| {
        let text = texts(place, sql).await.remove(0);
        let (amount, carry) = text.split_once('|').unwrap();
        amount.parse::<i128>().unwrap() * 3_600 + carry.parse::<i128>().unwrap()
    };
    (sum(BIDS).await, sum(CHARGED).await)
}

#[tokio::test]
async fn the_costs_of_bids_add_up_to_what_their_team_was_charged() {
    for mut app in apps().await {
        let services = std::sync::Arc::clone(app.services());
        place(&services, &sam(), "speech", "a", wire_terms("A100", 7, "none")).await;
        place(&services, &sam(), "speech", "b", wire_terms("A100", 11, "none")).await;
        place(&services, &ada(), "ads", "rival", wire_terms("A100", 50, "none")).await;
        let mut short = wire_terms("A100", 3, "none");
        short.work_chip_seconds = Some(1_000);
        place(&services, &sam(), "speech", "short", short).await;
        for cycle in 0..33 {
            if cycle == 12 {
                app.set_shared("A100", 31).await;
            }
            app.clear().await;
        }
        let (bids, charged) = sums(&app.store.place).await;
        assert!(charged > 0);
        assert_eq!(bids, charged, "{}: to the last 1/3600 of a micro-credit", app.store.name);
        let open = list(&services, &sam(), "speech", BidFilter::Open).await;
        let ended = list(&services, &sam(), "speech", BidFilter::Ended).await;
        assert!(open.bids.iter().chain(&ended.bids).all(|bid| bid.cost.0 > 0));
        assert_eq!(ended.bids[0].done_chip_seconds, 1_000);
    }
}

#[tokio::test]
async fn a_bid_tells_how_long_its_work_still_takes() {
    for mut app in apps().await {
        let services = std::sync::Arc::clone(app.services());
        let mut job = wire_terms("H100", 4, "none");
        job.work_chip_seconds = Some(4 * 3_600);
        place(&services, &sam(), "speech", "job", job).await;
        app.clear_many(11).await;
        let bid = open_bid(&services, &sam(), "job").await.bid;
        assert_eq!((bid.done_chip_seconds, bid.left_seconds), (4 * 600, Some(3_000)), "{}", app.store.name);
    }
}

#[tokio::test]
async fn t104_each_end_and_each_loss_has_its_own_word() {
    let mut app = TestApp::new().await;
    let services = std::sync::Arc::clone(app.services());
    let mut window = wire_terms("H100", 1, "none");
    window.not_after = Some(crate::fixture::START.plus_seconds(150));
    place(&services, &sam(), "speech", "window", window).await;
    place(&services, &sam(), "speech", "gone", wire_terms("H100", 1, "none")).await;
    let mut job = wire_terms("H100", 1, "none");
    job.work_chip_seconds = Some(60);
    place(&services, &sam(), "speech", "job", job).await;
    let vic = member("vic", &[("vision", "research")]);
    place(&services, &vic, "vision", "rival", wire_terms("A100", 56, "none")).await;
    place(&services, &sam(), "speech", "outbid", wire_terms("A100", 2, "0.000001")).await;
    app.clear().await;
    let cancel = ChangeBids { team: team("speech"), bids: vec![id("gone")], change: BidChange::Cancel };
    services.change_bids(&sam(), cancel).await.unwrap();
    app.clear_many(3).await;
    let status = async |bid: &str| open_bid(&services, &sam(), bid).await.bid.status;
    assert_eq!(status("window").await, BidStatus::Expired);
    assert_eq!(status("gone").await, BidStatus::Cancelled);
    assert_eq!(status("job").await, BidStatus::Served);
    let reason = async |bid: &str| open_bid(&services, &sam(), bid).await.bid.now.unwrap().reason;
    place(&services, &sam(), "speech", "cut", wire_terms("H100", 8, "none")).await;
    place(&services, &sam(), "speech", "big", wire_terms("A100", 56, "none")).await;
    place(&services, &ada(), "ads", "front", wire_terms("A100", 56, "none")).await;
    let mut gang = wire_terms("A100", 50, "none");
    gang.alternatives[0].min_chips = gang.alternatives[0].chips;
    place(&services, &ada(), "ads", "gang", gang).await;
    app.clear_many(2).await;
    app.set_shared("H100", 0).await;
    app.clear_many(3).await;
    assert_eq!(reason("cut").await, Reason::NoSupply, "the supply was cut");
    let gang = open_bid(&services, &ada(), "gang").await.bid.now.unwrap();
    assert_eq!(gang.reason, Reason::TeamSpendingCap, "the budget buys no more: {}", gang.explanation);
    let outbid = open_bid(&services, &sam(), "outbid").await.bid.now.unwrap();
    assert_eq!(outbid.reason, Reason::PriceAboveLimit, "outbid: {}", outbid.explanation);
}

#[tokio::test]
async fn a_history_is_stretches_of_the_same_result_and_pages() {
    for mut app in apps().await {
        let services = std::sync::Arc::clone(app.services());
        place(&services, &sam(), "speech", "a", wire_terms("H100", 8, "none")).await;
        app.clear_many(3).await;
        for nth in 0..55 {
            app.set_shared("H100", if nth % 2 == 0 { 4 } else { 8 }).await;
            app.clear().await;
        }
        let first = open_bid(&services, &sam(), "a").await;
        assert_eq!(first.history.len(), 50);
        let second =
            services.bid(&sam(), &Origin::default(), &id("a"), first.next_cursor.as_deref()).await.unwrap();
        assert_eq!((second.history.len(), second.next_cursor.as_deref()), (6, None));
        let all: Vec<_> = first.history.iter().chain(&second.history).collect();
        assert_eq!(all[0].ends_at, None, "it goes on");
        assert!(all.windows(2).all(|pair| pair[1].ends_at == Some(pair[0].starts_at)), "{}", app.store.name);
        let oldest = all.last().unwrap();
        assert_eq!((oldest.first_cycle, oldest.chips.0, oldest.reason), (1, 8, Reason::Filled));
        assert_eq!(oldest.local_price, Some("0.00".parse().unwrap()), "nobody else asked");
    }
}
