//! What is said before a bid is sent is what happens; and what a losing bid is told is true.

use common::api::{AmendBid, BidChange, BidPreview, ChangeBids, PreviewBid, PriceToWinView, Reason};
use common::money::{MicroCredits, Price};

use serde_json::json;

use super::*;

async fn preview(
    app: &TestApp,
    viewer: &Viewer,
    of: &str,
    replaces: Option<&str>,
    terms: BidTerms,
) -> BidPreview {
    let bid = PreviewBid { team: team(of), replaces: replaces.map(id), terms };
    app.services().preview_bid(viewer, bid).await.unwrap()
}

/// A market in which A100 has a price: 56 chips, and more asked for.
async fn contested(app: &mut TestApp) {
    let services = std::sync::Arc::clone(app.services());
    place(&services, &sam(), "speech", "long", wire_terms("A100", 20, "none")).await;
    place(&services, &ada(), "ads", "rival", wire_terms("A100", 50, "none")).await;
    app.clear_many(2).await;
}

#[tokio::test]
async fn a_preview_says_what_then_happens() {
    for mut app in apps().await {
        contested(&mut app).await;
        let terms = wire_terms("A100", 10, "none");
        let said = preview(&app, &sam(), "speech", None, terms.clone()).await;
        assert_eq!(said.cycle, 2);
        place(&std::sync::Arc::clone(app.services()), &sam(), "speech", "new", terms).await;
        // The clearing goes on from the prices of the cycle before, so that it settles over some cycles.
        app.clear_many(20).await;
        let after = open_bid(app.services(), &sam(), "new").await.bid.now.unwrap();
        let again = preview(&app, &sam(), "speech", Some("new"), wire_terms("A100", 10, "none")).await;
        assert_eq!(
            (again.now.chips, again.now.local_price, again.now.reason),
            (after.chips, after.local_price, after.reason)
        );
        assert_eq!((said.now.chips, said.now.reason), (after.chips, after.reason), "{}", app.store.name);
        let price = again.now.local_price.unwrap();
        assert_eq!(again.cost_per_hour.0.unsigned_abs(), price.0 * after.chips.0);
    }
}

#[tokio::test]
async fn a_preview_counts_what_the_team_changed_a_moment_ago() {
    let mut app = TestApp::new().await;
    contested(&mut app).await;
    let services = std::sync::Arc::clone(app.services());
    let before = preview(&app, &sam(), "speech", None, wire_terms("A100", 10, "none")).await;
    let cancel = |change| ChangeBids { team: team("speech"), bids: vec![id("long")], change };
    services.change_bids(&sam(), cancel(BidChange::Pause)).await.unwrap();
    let alone = preview(&app, &sam(), "speech", None, wire_terms("A100", 10, "none")).await;
    assert!(alone.now.chips >= before.now.chips);
    assert!(alone.losers.is_empty(), "a paused bid loses nothing");
    services.change_bids(&sam(), cancel(BidChange::Resume)).await.unwrap();
    let again = preview(&app, &sam(), "speech", None, wire_terms("A100", 10, "none")).await;
    assert_eq!((again.now, again.losers), (before.now, before.losers), "paused and resumed is as before");
    // A bid that is ahead of another one takes from it.
    services
        .amend_bid(&sam(), &id("long"), AmendBid { version: 3, terms: wire_terms("A100", 1, "none") })
        .await
        .unwrap();
    place(&services, &sam(), "speech", "last", wire_terms("A100", 25, "none")).await;
    let grown = preview(&app, &sam(), "speech", Some("long"), wire_terms("A100", 20, "none")).await;
    let names: Vec<&str> = grown.losers.iter().map(|loser| loser.name.as_str()).collect();
    assert_eq!(names, ["25 A100"]);
    assert!(grown.losers[0].after < grown.losers[0].before);
}

#[tokio::test]
async fn t098_a_losing_bid_is_told_its_rank_its_price_and_what_would_win() {
    for mut app in apps().await {
        contested(&mut app).await;
        let services = std::sync::Arc::clone(app.services());
        place(&services, &sam(), "speech", "first", wire_terms("A100", 2, "0.10")).await;
        app.clear_many(10).await;
        let detail = open_bid(&services, &sam(), "first").await;
        let now = detail.bid.now.clone().unwrap();
        assert_eq!(now.reason, Reason::PriceAboveLimit);
        let price = now.local_price.unwrap();
        assert_eq!(now.explanation, format!("price {price} is above your limit 0.10"));
        let rank = detail.rank.unwrap();
        assert_eq!((rank.rank, rank.of), (3, 3), "behind two bids without a limit");
        let wins = async |limit: &str| {
            preview(&app, &sam(), "speech", Some("first"), wire_terms("A100", 2, limit)).await
        };
        match detail.price_to_win.unwrap() {
            PriceToWinView::Limit { limit } => {
                assert!(limit > "0.10".parse().unwrap());
                assert_eq!(wins(&limit.to_string()).await.now.reason, Reason::Filled);
            }
            PriceToWinView::Credits { extra_per_hour } => {
                assert!(extra_per_hour > MicroCredits::ZERO);
                assert_ne!(wins("none").await.now.reason, Reason::Filled);
            }
            other => panic!("{other:?}"),
        }
    }
}

#[tokio::test]
async fn t107_a_price_above_the_list_price_has_it_beside() {
    for mut app in apps().await {
        contested(&mut app).await;
        let look =
            async |app: &TestApp| preview(app, &sam(), "speech", None, wire_terms("A100", 2, "none")).await;
        assert_eq!(look(&app).await.list_price, None, "nobody said what chips cost elsewhere");
        let set = json!({"edit": {"set": "list_price", "chip_type": "A100", "list_price": "0.01"}, "reason": "offer"});
        let set = crate::supply::post(&app, "/api/v1/supply/changes", &[], &set).await;
        assert_eq!(set.status, 201, "{}", set.body);
        app.clear().await;
        let said = look(&app).await;
        // The pool's 61 credits of income an hour are worth 60.
        assert_eq!(said.list_price, Some(Price(10_167)));
        let view = list(app.services(), &sam(), "speech", common::api::BidFilter::Open).await;
        let row = view.chip_types.iter().find(|row| row.chip_type.as_str() == "A100").unwrap();
        assert_eq!(row.list_price, said.list_price);
        assert!(row.local_price > row.list_price && said.now.local_price > said.list_price);
        let row = app.get("/api/v1/supply").await.json()["chip_types"][0].clone();
        assert_eq!((&row["chip_type"], &row["list_price"]), (&json!("A100"), &json!("0.01")));
    }
}

#[tokio::test]
async fn t059_the_balance_lasts_as_long_as_it_is_said_to() {
    let mut app = TestApp::new().await;
    contested(&mut app).await;
    let funds = list(app.services(), &sam(), "speech", common::api::BidFilter::Open).await.funds;
    assert_eq!(funds.income_per_hour, crate::fixture::credits(30));
    // Twice the income; the balance of 100 would sustain 30 + 50.
    assert_eq!(funds.cap_per_hour, crate::fixture::credits(60));
    let spent = funds.burn_per_hour.0 - funds.income_per_hour.0;
    match funds.lasts_seconds {
        None => assert!(spent <= 0),
        Some(seconds) => {
            let seconds = i128::from(seconds);
            let used = |seconds: i128| seconds * i128::from(spent) / 3_600;
            assert!(used(seconds) <= i128::from(funds.balance.0));
            assert!(used(seconds + 2) >= i128::from(funds.balance.0));
        }
    }
}

#[tokio::test]
async fn a_preview_before_the_first_cycle_says_so() {
    let app = TestApp::new().await;
    let bid = PreviewBid { team: team("speech"), replaces: None, terms: wire_terms("A100", 1, "none") };
    let refused = app.services().preview_bid(&sam(), bid).await.unwrap_err();
    assert_eq!(refused.kind(), server::error::ErrorKind::Conflict);
}
