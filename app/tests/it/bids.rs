//! The pages of bids: each state in words, and their forms without scripts.

use axum::http::{StatusCode, header};

use crate::fixture::Fixture::{Broken, Empty, Full};
use crate::render::{post, render};

#[tokio::test(flavor = "multi_thread")]
async fn the_queue_shows_each_bid_with_its_state_and_reason() {
    let page = render(Full, "/bids").await;
    assert_eq!(page.status, StatusCode::OK);
    insta::assert_snapshot!("bids", page.main());
}

#[tokio::test(flavor = "multi_thread")]
async fn bids_that_are_over_page_by_cursor() {
    let page = render(Full, "/bids?team=rl&show=ended").await;
    let text = page.text();
    assert!(text.contains("done") && text.contains("cancelled") && text.contains("expired"), "{text}");
    assert!(page.html.contains("/bids?team=rl&amp;show=ended&amp;cursor=older"));
    let last = render(Full, "/bids?team=rl&show=ended&cursor=older").await;
    assert!(last.text().contains("First page") && !last.text().contains("Next page"), "{}", last.text());
}

#[tokio::test(flavor = "multi_thread")]
async fn an_empty_queue_says_what_to_do() {
    let text = render(Empty, "/bids").await.text();
    assert!(text.contains("The queue is empty.") && text.contains("Place the first bid"), "{text}");
    let text = render(Empty, "/bids?show=ended").await.text();
    assert!(text.contains("No bid of this team has ended yet."), "{text}");
}

#[tokio::test(flavor = "multi_thread")]
async fn who_may_only_read_gets_no_buttons() {
    let page = render(Full, "/bids?team=vit").await;
    assert!(page.text().contains("scaling-law grid"));
    assert!(!page.html.contains("name=\"cancel\"") && !page.html.contains("data-move "));
    let form = render(Full, "/bids/new?team=vit").await.text();
    assert!(form.contains("You are not a member of this team."), "{form}");
}

#[tokio::test(flavor = "multi_thread")]
async fn what_is_not_there_answers_404_and_a_broken_service_503() {
    for address in ["/bids?team=nobody", "/bids/0193-99", "/bids/new?from=0193-99"] {
        assert_eq!(render(Full, address).await.status, StatusCode::NOT_FOUND, "{address}");
    }
    assert_eq!(render(Broken, "/bids").await.status, StatusCode::SERVICE_UNAVAILABLE);
}

#[tokio::test(flavor = "multi_thread")]
async fn t098_an_opened_bid_says_what_it_takes_to_win() {
    let page = render(Full, "/bids/0193-3").await;
    let text = page.text();
    assert!(text.contains("Price 2.394001 is above your limit 1.50."), "{text}");
    assert!(text.contains("It would have won 64 chips at a limit of 2.394002 or more."), "{text}");
    insta::assert_snapshot!("bid", page.main());
}

#[tokio::test(flavor = "multi_thread")]
async fn a_new_bid_chooses_nothing_for_the_person() {
    let page = render(Full, "/bids/new?team=rl").await;
    insta::assert_snapshot!("new_bid", page.main());
    assert!(!page.html.contains("checked"), "no limit is chosen silently");
    assert!(page.html.contains(r#"name="id" value="0193-new""#));
}

#[tokio::test(flavor = "multi_thread")]
async fn a_bid_can_be_duplicated_and_edited() {
    for address in ["/bids/new?team=rl&from=0193-5", "/bids/0193-5?edit=yes"] {
        let html = render(Full, address).await.html;
        for field in
            [r#"value="tokeniser study""#, r#"value="2026-11-30T22:00""#, r#"value="0.20""#, "only at night"]
        {
            assert!(html.contains(field), "{address}: {field}");
        }
    }
}

const GOOD: &str = "do=place&id=0193-9&name=rl+run&note=&chip_type=H100&chips=8&min_chips=&limit_kind=at&limit=3.20\
                    &zone=UTC&not_before=&not_after=&work=3&work_unit=each";

#[tokio::test(flavor = "multi_thread")]
async fn a_bid_is_placed_without_scripts() {
    let page = post(Full, "/bids/new?team=rl", GOOD).await;
    assert_eq!(page.status, StatusCode::SEE_OTHER);
    assert_eq!(page.headers[header::LOCATION], "/bids?team=rl#bid-0193-9");
}

#[tokio::test(flavor = "multi_thread")]
async fn t106_what_is_wrong_stands_beside_its_field_and_nothing_typed_is_lost() {
    let bad = GOOD
        .replace("limit=3.20", "limit=1%2C000")
        .replace("chips=8", "chips=5000")
        .replace("work=3", "work=");
    let page = post(Full, "/bids/new?team=rl", &bad).await;
    assert_eq!(page.status, StatusCode::UNPROCESSABLE_ENTITY);
    assert!(page.text().contains("Limit is not a decimal number"), "{}", page.text());
    assert!(page.html.contains(r#"value="1,000""#) && page.html.contains(r#"value="rl run""#));
    // What the services refuse lands beside the field as well.
    let page = post(Full, "/bids/new?team=rl", &GOOD.replace("chips=8", "chips=5000")).await;
    assert_eq!(page.status, StatusCode::UNPROCESSABLE_ENTITY);
    assert!(page.text().contains("Chips must be at most 3200, not 5000."), "{}", page.text());
    let page = post(Full, "/bids/new?team=rl", &GOOD.replace("limit_kind=at&limit=3.20", "limit=")).await;
    assert!(page.text().contains("Limit is missing; write the most it may pay"), "{}", page.text());
}

#[tokio::test(flavor = "multi_thread")]
async fn what_was_typed_is_text_never_markup() {
    let bad = "%3C%2Ftextarea%3E%3Cscript%3E";
    let body =
        GOOD.replace("note=", &format!("note={bad}")).replace("name=rl+run", &format!("name=%22%3E{bad}"));
    let html = post(Full, "/bids/new?team=rl", &body.replace("do=place", "do=add")).await.html;
    assert!(html.contains("\n&lt;/textarea&gt;&lt;script&gt;</textarea>"), "the note");
    assert!(!html.contains("</textarea><script>") && !html.contains("\"><script>"), "the name");
}

#[tokio::test(flavor = "multi_thread")]
async fn buttons_of_the_form_work_without_scripts() {
    let page = post(Full, "/bids/new?team=rl", &GOOD.replace("do=place", "do=add")).await;
    assert_eq!(page.status, StatusCode::OK);
    assert!(page.html.contains(r#"id="field-chips.1""#), "a second choice");
    let page = post(Full, "/bids/new?team=rl", &GOOD.replace("do=place", "do=look")).await;
    let text = page.text();
    assert!(text.contains("57.456024") && text.contains("24 chip-hours"), "{text}");
    assert!(text.contains("ablation &lt;sweep&gt; −16") && text.contains("16 h 9 min"), "{text}");
}

#[tokio::test(flavor = "multi_thread")]
async fn t107_the_form_says_where_the_market_is_dearer_than_the_list_price() {
    let page = post(Full, "/bids/new?team=rl", &GOOD.replace("do=place", "do=look")).await;
    let text = page.text();
    assert!(text.contains("H100 · 2.394001 · above its list price 1.50 · 123 idle"), "{text}");
    assert!(text.contains("A100 80 · 0.731004 · 123 idle"), "cheaper than its list price: {text}");
    assert!(text.contains("List price 1.50") && text.contains("less than the price here"), "{text}");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_conflict_shows_what_changed_and_keeps_what_was_typed() {
    let original = "name=grid&chip_type=H100&chips=64&min_chips=&limit_kind=at&limit=1.20";
    let fields = GOOD.replace(
        "do=place&id=0193-9",
        &format!("do=save&version=2&original={}", original.replace('&', "%26").replace('=', "%3D")),
    );
    let page = post(Full, "/bids/0193-3?edit=yes", &fields).await;
    assert_eq!(page.status, StatusCode::PRECONDITION_FAILED);
    let text = page.text();
    assert!(text.contains("Somebody changed this bid while you typed"), "{text}");
    assert!(text.contains("1.20") && text.contains("1.50"), "{text}");
    // What was typed, over the version that was just shown.
    assert!(page.html.contains(r#"value="rl run""#) && page.html.contains(r#"name="version" value="3""#));
    let saved = post(Full, "/bids/0193-3?edit=yes", &fields.replace("version=2", "version=3")).await;
    assert_eq!(saved.headers[header::LOCATION], "/bids/0193-3");
}

#[tokio::test(flavor = "multi_thread")]
async fn ending_a_bid_asks_once() {
    let asked = post(Full, "/bids?team=rl", "bid=0193-2&bid=0193-3&cancel=chosen").await;
    assert_eq!(asked.status, StatusCode::OK);
    let text = asked.text();
    assert!(text.contains("End these 2 bids for good?") && text.contains("“scaling-law grid”"), "{text}");
    let done = post(Full, "/bids?team=rl", "end=0193-2&end=0193-3&sure=yes").await;
    assert_eq!(done.headers[header::LOCATION], "/bids?team=rl");
    let paused = post(Full, "/bids?team=rl", "pause=0193-2").await;
    assert_eq!(paused.status, StatusCode::SEE_OTHER);
    let nothing = post(Full, "/bids?team=rl", "pause=chosen").await;
    assert_eq!(nothing.status, StatusCode::UNPROCESSABLE_ENTITY);
    assert!(nothing.text().contains("Choose bids first."), "{}", nothing.text());
}
