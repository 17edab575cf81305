//! The REST API: its answers as they are, its refusals, its forms.

use axum::body::Body;
use axum::http::{Method, Request, header};

use crate::app::TestApp;

#[tokio::test]
async fn the_openapi_document() {
    insta::assert_snapshot!("openapi", server::http::openapi_json());
}

#[tokio::test]
async fn answers() {
    let mut app = TestApp::with_bids().await;
    app.clear_many(2).await;
    app.set_shared("A100", 30).await;
    app.clear().await;
    for (name, path) in [
        ("market", "/api/v1/market?pool=research"),
        ("prices", "/api/v1/chip-types/A100/prices?span=1h&pool=research"),
        ("prices_24h", "/api/v1/chip-types/A100/prices?span=24h"),
        ("book", "/api/v1/chip-types/A100/book"),
        ("allocations", "/api/v1/allocations?span=1h&group_by=team&pool=research"),
        ("cycles", "/api/v1/cycles?limit=2"),
        ("cycle", "/api/v1/cycles/3"),
    ] {
        let answer = app.get(path).await;
        assert_eq!(answer.status, 200, "{path}: {}", answer.body);
        insta::assert_json_snapshot!(name, answer.json());
    }
}

#[tokio::test]
async fn t014_nobody_asks_so_there_is_no_price_never_zero() {
    let mut app = TestApp::with_bids().await;
    app.clear_many(2).await;
    let market = app.get("/api/v1/market").await.json();
    let row = &market["rows"][1];
    assert_eq!(row["chip_type"], "H100");
    assert!(row["reference_price"].is_null());
    for span in ["1h", "24h", "7d", "90d"] {
        let history = app.get(&format!("/api/v1/chip-types/H100/prices?span={span}")).await.json();
        let points = history["points"].as_array().unwrap();
        assert!(!points.is_empty());
        assert!(points.iter().all(|point| point["reference_price"].is_null()), "{span}");
    }
    let csv = app.get("/api/v1/market?format=csv").await.body;
    let row = csv.lines().find(|line| line.contains("H100")).unwrap();
    assert_eq!(row.split(',').nth(4), Some(""), "an empty cell: {row}");
}

#[tokio::test]
async fn t020_a_price_is_the_same_string_everywhere() {
    let mut app = TestApp::with_bids().await;
    app.clear_many(2).await;
    let market = app.get("/api/v1/market?pool=research").await.json();
    let (reference, local) = (&market["rows"][0]["reference_price"], &market["rows"][0]["local_price"]);
    let text = reference.as_str().unwrap();
    assert!(text.parse::<common::money::Price>().unwrap().0 > 0);
    let history = app.get("/api/v1/chip-types/A100/prices?span=1h&pool=research").await.json();
    let last = history["points"].as_array().unwrap().last().unwrap().clone();
    assert_eq!((&last["reference_price"], &last["local_price"]), (reference, local));
    let book = app.get("/api/v1/chip-types/A100/book").await.json();
    assert_eq!(&book["reference_price"], reference);
    let cycle = app.get("/api/v1/cycles/2").await.json();
    assert_eq!(&cycle["chip_types"][0]["reference_price"], reference);
    let bids = cycle["bids"].as_array().unwrap();
    let speech = bids.iter().find(|bid| bid["team"] == "speech").unwrap();
    assert_eq!(&speech["local_price"], local);
    let csv = app.get("/api/v1/market?pool=research&format=csv").await.body;
    let cells: Vec<&str> = csv.lines().nth(1).unwrap().split(',').collect();
    assert_eq!((cells[4], cells[6]), (text, local.as_str().unwrap()));
    let page = app.get("/?pool=research").await;
    assert!(page.body.contains(text) && page.body.contains(local.as_str().unwrap()), "on the page");
}

#[tokio::test]
async fn t109_a_chip_type_is_an_id_and_no_text_to_match() {
    let mut app = TestApp::with_bids().await;
    app.clear().await;
    for id in ["A10", "a100", "A100-80"] {
        let answer = app.get(&format!("/api/v1/chip-types/{id}/book")).await;
        assert_eq!(answer.status, 404);
        assert_eq!(answer.json()["detail"], format!("there is no chip type {id}"));
    }
}

#[tokio::test]
async fn t110_every_viewer_sees_the_same_price_in_a_cycle() {
    let mut app = TestApp::with_bids().await;
    app.clear_many(3).await;
    let first = app.get("/api/v1/market").await;
    let request = Request::get("/api/v1/market").body(Body::empty()).unwrap();
    let second = app.admin().send_to(&app.beside().await, request).await;
    assert_eq!(first.json()["rows"], second.json()["rows"]);
    for _ in 0..3 {
        assert_eq!(app.get("/api/v1/market").await.body, first.body);
    }
}

#[tokio::test]
async fn what_can_not_be_answered_names_the_field() {
    let mut app = TestApp::with_bids().await;
    app.clear().await;
    for (path, status, field) in [
        ("/api/v1/chip-types/A100/prices?span=2h", 422, Some("span")),
        ("/api/v1/chip-types/A100/prices?span=24h&span=7d", 422, Some("span")),
        ("/api/v1/allocations?group_by=week", 422, Some("group_by")),
        ("/api/v1/market?pool=a%7Cb", 422, Some("pool")),
        ("/api/v1/market?poool=research", 422, Some("poool")),
        ("/api/v1/market?format=xlsx", 422, Some("format")),
        ("/api/v1/cycles?limit=0", 422, Some("limit")),
        ("/api/v1/cycles?limit=501", 422, Some("limit")),
        ("/api/v1/cycles?limit=abc", 422, Some("limit")),
        ("/api/v1/cycles?cursor=zzz", 422, Some("cursor")),
        ("/api/v1/market?pool=nope", 404, None),
        ("/api/v1/allocations?team=nope", 404, None),
        ("/api/v1/chip-types/nope/prices", 404, None),
        ("/api/v1/chip-types/a%7Cb/book", 404, None),
        ("/api/v1/cycles/0", 404, None),
        ("/api/v1/cycles/2", 404, None),
        ("/api/v1/cycles/x", 404, None),
        ("/api/v1/cycles/1?team=nope", 404, None),
        ("/api/v2/market", 404, None),
    ] {
        let answer = app.get(path).await;
        assert_eq!(answer.status, status, "{path}: {}", answer.body);
        assert_eq!(answer.header(header::CONTENT_TYPE), "application/problem+json", "{path}");
        let problem = answer.json();
        assert_eq!(problem["status"], status, "{path}");
        assert_eq!(problem["errors"][0]["field"].as_str(), field, "{path}");
    }
}

#[tokio::test]
async fn reading_takes_no_other_method() {
    let app = TestApp::new().await;
    for method in [Method::POST, Method::PUT, Method::DELETE, Method::PATCH] {
        let request = Request::builder().method(&method).uri("/api/v1/market").body(Body::empty()).unwrap();
        let answer = app.send(request).await;
        assert_eq!(answer.status, 405);
        assert_eq!(answer.header(header::ALLOW), "GET,HEAD");
        assert_eq!(answer.json()["type"], "method_not_allowed");
    }
}

#[tokio::test]
async fn lists_page_by_cursor_without_a_gap_or_a_duplicate() {
    let mut app = TestApp::with_bids().await;
    app.clear_many(7).await;
    let mut path = "/api/v1/cycles?limit=3".to_owned();
    let mut numbers = Vec::new();
    loop {
        let page = app.get(&path).await.json();
        numbers.extend(page["items"].as_array().unwrap().iter().map(|row| row["cycle"].as_u64().unwrap()));
        // A new cycle between two pages does not move them.
        app.clear().await;
        let Some(cursor) = page["next_cursor"].as_str() else { break };
        path = format!("/api/v1/cycles?limit=3&cursor={cursor}");
    }
    assert_eq!(numbers, [7, 6, 5, 4, 3, 2, 1]);
}

#[tokio::test]
async fn t125_t152_exports_are_utc_and_have_a_header_even_when_empty() {
    let mut app = TestApp::with_bids().await;
    let empty = app.get("/api/v1/cycles?format=csv").await;
    assert_eq!(empty.status, 200);
    assert_eq!(empty.header(header::CONTENT_TYPE), "text/csv; charset=utf-8");
    assert_eq!(empty.header(header::CONTENT_DISPOSITION), "attachment; filename=\"cycles.csv\"");
    assert_eq!(
        empty.body,
        "cycle,starts_at,ends_at,clear_microseconds,bids,supply_chips,paid_chips,opportunistic_chips,idle_chips\r\n"
    );
    app.clear_many(2).await;
    for path in [
        "/api/v1/market",
        "/api/v1/chip-types/A100/prices",
        "/api/v1/chip-types/A100/book",
        "/api/v1/allocations",
        "/api/v1/cycles",
        "/api/v1/cycles/2",
    ] {
        let answer = app.get(&format!("{path}?format=csv")).await;
        let mut lines = answer.body.lines();
        let header: Vec<&str> = lines.next().unwrap().split(',').collect();
        let rows: Vec<&str> = lines.collect();
        assert!(!rows.is_empty(), "{path}");
        for (column, _) in header.iter().enumerate().filter(|(_, name)| name.ends_with("at")) {
            let cells = rows.iter().map(|row| row.split(',').nth(column).unwrap());
            for cell in cells.filter(|cell| !cell.is_empty()) {
                assert!(
                    cell.ends_with('Z') && cell.parse::<common::instant::Instant>().is_ok(),
                    "{path}: {cell}"
                );
            }
        }
    }
}

#[tokio::test]
async fn occupancy_always_sums_to_supply() {
    let mut app = TestApp::with_bids().await;
    app.clear_many(130).await;
    for span in ["1h", "24h", "7d", "90d"] {
        let history = app.get(&format!("/api/v1/chip-types/A100/prices?span={span}")).await.json();
        for point in history["points"].as_array().unwrap() {
            let chips = |name: &str| point["occupancy"][name].as_u64().unwrap();
            assert_eq!(
                chips("paid") + chips("opportunistic") + chips("idle"),
                chips("supply"),
                "{span} {point}"
            );
        }
    }
}

#[tokio::test]
async fn an_answer_that_is_known_already_is_not_sent_again() {
    let mut app = TestApp::with_bids().await;
    app.clear().await;
    let first = app.get("/api/v1/market").await;
    let tag = first.header(header::ETAG).to_owned();
    let again =
        || Request::get("/api/v1/market").header(header::IF_NONE_MATCH, &tag).body(Body::empty()).unwrap();
    let unchanged = app.send(again()).await;
    assert_eq!((unchanged.status.as_u16(), unchanged.body.as_str()), (304, ""));
    app.clear().await;
    assert_eq!(app.send(again()).await.status, 200, "a new cycle is a new answer");
    let head = Request::head("/api/v1/market").body(Body::empty()).unwrap();
    let head = app.send(head).await;
    assert_eq!((head.status.as_u16(), head.body.as_str()), (200, ""));
}

#[tokio::test]
async fn every_answer_carries_an_id_and_the_security_headers() {
    let mut app = TestApp::with_bids().await;
    app.clear().await;
    let named = Request::get("/api/v1/market").header("x-request-id", "abc-1").body(Body::empty()).unwrap();
    assert_eq!(app.send(named).await.headers["x-request-id"], "abc-1");
    for path in ["/", "/book", "/healthz", "/api/v1/market", "/api/docs/", "/api/none", "/nowhere"] {
        let answer = app.get(path).await;
        assert!(!answer.headers["x-request-id"].is_empty(), "{path}");
        assert_eq!(answer.header(header::X_CONTENT_TYPE_OPTIONS), "nosniff", "{path}");
        assert_eq!(answer.header(header::X_FRAME_OPTIONS), "DENY", "{path}");
        assert!(!answer.header(header::CACHE_CONTROL).is_empty(), "{path}");
        let policy = answer.header(header::CONTENT_SECURITY_POLICY);
        assert!(policy.contains("default-src") && !policy.contains("'unsafe-eval'"), "{path}: {policy}");
    }
    let policy = app.get("/").await.header(header::CONTENT_SECURITY_POLICY).to_owned();
    assert!(policy.contains("'wasm-unsafe-eval'") && policy.contains("'nonce-"), "{policy}");
}

#[tokio::test]
async fn the_api_page_needs_nothing_from_elsewhere() {
    let app = TestApp::new().await;
    let page = app.get("/api/docs/").await;
    assert_eq!(page.status, 200);
    assert!(!page.body.contains("http://") && !page.body.contains("https://"), "{}", page.body);
    let script = app.get("/api/docs/swagger-ui-bundle.js").await;
    assert!(script.body.len() > 100_000);
    let document = app.get("/api/v1/openapi.json").await;
    let parsed = |text: &str| serde_json::from_str::<serde_json::Value>(text).unwrap();
    assert!(
        parsed(&document.body) == parsed(&server::http::openapi_json()),
        "the page shows another document"
    );
}

#[tokio::test]
async fn metrics_have_base_units() {
    let mut app = TestApp::with_bids().await;
    app.clear_many(7).await;
    app.clock.advance_seconds(30);
    app.get("/api/v1/market").await;
    let text = app.get("/metrics").await.body;
    for line in [
        "quota_marketplace_cycle_number 7",
        "quota_marketplace_cycle_age_seconds 30",
        "quota_marketplace_stale 0",
        "# TYPE http_requests_total counter",
        "# TYPE http_request_duration_seconds histogram",
        "route=\"/api/v1/market\",status=\"200\"",
    ] {
        assert!(text.contains(line), "{line} is not in\n{text}");
    }
}

#[tokio::test]
async fn pages_are_whole_and_say_what_is_not_there() {
    let mut app = TestApp::with_bids().await;
    app.clear_many(2).await;
    for path in ["/", "/book", "/allocations", "/cycles", "/cycles/2"] {
        let page = app.get(path).await;
        assert_eq!(page.status, 200, "{path}");
        // After the document come the scripts that carry its data; the last one says that nothing is missing.
        assert!(
            page.body.contains("</html>") && page.body.ends_with("__INCOMPLETE_CHUNKS=[];</script>"),
            "{path}"
        );
    }
    for path in ["/nowhere", "/cycles/99"] {
        let page = app.get(path).await;
        assert_eq!(page.status, 404, "{path}");
        assert!(page.header(header::CONTENT_TYPE).starts_with("text/html"), "{path}");
    }
}
