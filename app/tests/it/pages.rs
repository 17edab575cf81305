//! What each page says, its status, and what it does without data.

use axum::http::{StatusCode, header};

use crate::fixture::Fixture::{Broken, Empty, Full, Stale};
use crate::render::render;

#[tokio::test(flavor = "multi_thread")]
async fn the_market_shows_a_row_per_chip_type() {
    let page = render(Full, "/").await;
    assert_eq!(page.status, StatusCode::OK);
    insta::assert_snapshot!("market", page.main());
}

#[tokio::test(flavor = "multi_thread")]
async fn a_chosen_pool_sees_its_own_prices() {
    let page = render(Full, "/?chip=H100&span=7d&change=24h&pool=vision").await;
    let text = page.text();
    // 1.842137 · 1.3, the pool's local price, beside the market's.
    assert!(text.contains("2.394778"), "{text}");
    assert!(text.contains("H100 · price"), "{text}");
    assert!(page.html.contains("/?chip=A100-80&amp;span=7d&amp;change=24h&amp;pool=vision"));
    assert!(page.html.contains(r#"<option value="vision" selected"#));
}

#[tokio::test(flavor = "multi_thread")]
async fn t014_no_trade_is_said_never_a_price_of_zero() {
    let page = render(Full, "/?chip=B200").await;
    let text = page.text();
    assert!(text.contains("no trade"), "{text}");
    assert!(text.contains("There is no price in this span yet."), "{text}");
    assert!(text.contains("Nobody asks for this chip type."), "{text}");
}

#[tokio::test(flavor = "multi_thread")]
async fn an_unknown_chip_type_is_named_while_the_prices_stay() {
    let page = render(Full, "/?chip=H900").await;
    let text = page.text();
    assert!(text.contains("There is no chip type H900."), "{text}");
    assert!(text.contains("1.842137"), "{text}");
}

#[tokio::test(flavor = "multi_thread")]
async fn the_book_shows_the_depth() {
    let page = render(Full, "/book?chip=H100").await;
    assert_eq!(page.status, StatusCode::OK);
    insta::assert_snapshot!("book", page.main());
}

#[tokio::test(flavor = "multi_thread")]
async fn allocations_by_team_join_the_small_ones() {
    let page = render(Full, "/allocations?by=team&show=granted").await;
    let text = page.text();
    assert!(text.contains("4 others"), "{text}");
    assert!(text.contains("64,801.250") && text.contains("123,456.789012"), "{text}");
    // The table behind the chart names them all.
    assert!(text.contains("Team 11"), "{text}");
}

#[tokio::test(flavor = "multi_thread")]
async fn allocations_by_pool() {
    let page = render(Full, "/allocations").await;
    assert_eq!(page.status, StatusCode::OK);
    insta::assert_snapshot!("allocations", page.main());
}

#[tokio::test(flavor = "multi_thread")]
async fn cycles_page_by_cursor() {
    let page = render(Full, "/cycles").await;
    insta::assert_snapshot!("cycles", page.main());
    assert!(page.html.contains("/cycles?cursor=48206"));
    let older = render(Full, "/cycles?cursor=48206").await;
    assert!(older.text().contains("48,206") && older.text().contains("Newest"), "{}", older.text());
    let refused = render(Full, "/cycles?cursor=x").await;
    assert_eq!(refused.status, StatusCode::UNPROCESSABLE_ENTITY);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_cycle_shows_its_proof_and_the_reason_of_each_bid() {
    let page = render(Full, "/cycles/48210?team=lm-pretrain").await;
    assert_eq!(page.status, StatusCode::OK);
    insta::assert_snapshot!("cycle", page.main());
}

#[tokio::test(flavor = "multi_thread")]
async fn a_cycle_that_does_not_match_says_what_to_run() {
    let text = render(Full, "/cycles/7").await.text();
    assert!(text.contains("outcome does not match"), "{text}");
    assert!(text.contains("quota-marketplace verify --from 7 --to 7"), "{text}");
}

#[tokio::test(flavor = "multi_thread")]
async fn what_does_not_exist_answers_404() {
    for address in ["/nowhere", "/cycles/48212", "/cycles/x", "/cycles/0", "/book/x"] {
        let page = render(Full, address).await;
        assert_eq!(page.status, StatusCode::NOT_FOUND, "{address}");
        assert!(page.text().contains("Go to the market"), "{address}: {}", page.text());
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_broken_service_is_said_in_words_with_a_way_out() {
    for address in ["/", "/book", "/allocations", "/cycles"] {
        let page = render(Broken, address).await;
        assert_eq!(page.status, StatusCode::SERVICE_UNAVAILABLE, "{address}");
        let text = page.text();
        assert!(
            text.contains("The database does not answer") && text.contains("Try again"),
            "{address}: {text}"
        );
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn an_empty_market_says_what_to_do() {
    for (address, words) in [
        ("/", "There are no chip types yet."),
        ("/allocations", "Nobody held chips in this span."),
        ("/cycles", "No cycle has cleared yet."),
    ] {
        let page = render(Empty, address).await;
        assert_eq!(page.status, StatusCode::OK, "{address}");
        assert!(page.text().contains(words), "{address}: {}", page.text());
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn stale_quotas_are_said_on_every_page() {
    for address in ["/", "/cycles"] {
        let html = render(Stale, address).await.html;
        assert!(html.contains("the database does not answer."), "{address}");
        assert!(html.contains("The last quotas and prices stay in force"), "{address}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn names_are_escaped() {
    let html = render(Full, "/cycles/48210").await.html;
    assert!(html.contains("RL &lt;fine-tuning&gt;"));
    // Scripts carry data too: there `<` is escaped as JSON does it.
    assert!(!html.contains("RL <fine-tuning>"));
}

#[tokio::test(flavor = "multi_thread")]
async fn every_page_is_whole_and_carries_its_policy() {
    for address in ["/", "/book", "/allocations", "/cycles", "/cycles/48211", "/nowhere"] {
        let page = render(Full, address).await;
        // The data for hydration follows the document.
        assert!(page.html.contains("</body>") && page.html.contains("</html>"), "{address}");
        let policy = page.headers[header::CONTENT_SECURITY_POLICY].to_str().unwrap();
        let nonce = policy.split("'nonce-").nth(1).and_then(|rest| rest.split('\'').next()).unwrap();
        for script in page.html.split("<script").skip(1) {
            let tag = script.split('>').next().unwrap();
            assert!(tag.contains(&format!("nonce=\"{nonce}\"")), "{address}: {tag}");
        }
        assert!(!page.html.contains(" style=\""), "{address}: the policy refuses style attributes");
        assert!(!page.html.contains(" onclick="), "{address}: the policy refuses inline handlers");
    }
}
