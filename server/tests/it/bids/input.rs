//! What a bid may not say: each fault next to its field, in words, with what was asked and the limit.

use axum::http::Method;
use common::api::BidFilter;
use proptest::prelude::*;
use serde_json::json;

use super::*;

/// Places terms with one field replaced; the answer is the status, the field and the words of the first fault.
async fn refused(app: &TestApp, pointer: &str, value: Value) -> (u16, String, String) {
    let mut body = json!({ "id": "x", "terms": terms("A100", 8, "3.00") });
    let (parent, field) = pointer.rsplit_once('/').unwrap();
    body.pointer_mut(parent).unwrap().as_object_mut().unwrap().insert(field.to_owned(), value);
    refused_text(app, &body.to_string()).await
}

async fn refused_text(app: &TestApp, body: &str) -> (u16, String, String) {
    let path = "/api/v1/teams/speech/bids";
    let answer = app.send_as(&sam(), Method::POST, path, &[], body.to_owned()).await;
    let problem = answer.json();
    let fault = &problem["errors"][0];
    let text = |name: &str| fault[name].as_str().unwrap_or_default().to_owned();
    (answer.status.as_u16(), text("field"), text("detail"))
}

#[tokio::test]
async fn t016_t017_t061_a_limit_that_is_no_price_is_refused_in_words() {
    let mut app = TestApp::new().await;
    app.clear().await;
    for (limit, words) in [
        (json!("-5"), "is negative; the least is 0"),
        (json!("0"), "is 0.00, which pays for nothing"),
        (json!("NaN"), "is not a decimal number"),
        (json!("1e309"), "is not a decimal number"),
        (json!("1,000"), "is not a decimal number"),
        (json!("1000000000000000000"), "is too large; the most is 9007199254.740991 credits"),
        (json!("0.6500001"), "has more than 6 decimals; the smallest step is 0.000001 credits"),
        (json!(3.2), "invalid type: floating point"),
        (json!(null), "invalid type: null"),
    ] {
        let (status, field, detail) = refused(&app, "/terms/limit", limit.clone()).await;
        assert_eq!((status, field.as_str()), (422, "terms.limit"), "{limit}: {detail}");
        assert!(detail.contains(words), "{limit}: {detail}");
    }
    // What JSON itself can't carry.
    for number in ["NaN", "1e309", "-Infinity"] {
        let body = json!({ "id": "x", "terms": terms("A100", 8, "LIMIT") }).to_string();
        let (status, field, _) = refused_text(&app, &body.replace("\"LIMIT\"", number)).await;
        assert_eq!((status, field.as_str()), (422, "terms.limit"), "{number}");
    }
    // The tick is kept as it was typed: 0.65 × 45 is no new price.
    let body = json!({ "id": "x", "terms": terms("A100", 45, "0.650001") });
    assert_eq!(post(&app, &sam(), "speech", "", body).await.json()["terms"]["limit"], "0.650001");
}

#[tokio::test]
async fn t106_a_bid_says_its_limit_or_none() {
    let app = TestApp::new().await;
    let mut body = json!({ "id": "x", "terms": terms("A100", 8, "none") });
    body["terms"].as_object_mut().unwrap().remove("limit");
    let (status, field, detail) = refused_text(&app, &body.to_string()).await;
    assert_eq!((status, field.as_str(), detail.as_str()), (422, "terms.limit", "is missing"));
    let (status, _, detail) = refused(&app, "/terms/limit", json!("")).await;
    assert_eq!(status, 422);
    assert!(detail.ends_with("or write \"none\" for no limit"), "{detail}");
}

#[tokio::test]
async fn t053_t076_t103_more_chips_than_there_are_is_refused_with_the_numbers() {
    let mut app = TestApp::new().await;
    app.clear().await;
    let chips = |chips: Value| {
        refused(&app, "/terms/alternatives", json!([{ "chip_type": "A100", "chips": chips, "min_chips": 1 }]))
    };
    let (status, field, detail) = chips(json!(57)).await;
    assert_eq!((status, field.as_str()), (422, "terms.alternatives[0].chips"));
    assert_eq!(
        detail,
        "is 57 A100; your pool can hold 56 at most: 16 of its own and up to 40 shared or lent by others"
    );
    for (asked, words) in [
        (json!(0), "it must be from 1 to 4294967295"),
        (json!(9_223_372_036_854_775_808_u64), "your pool can hold 56 at most"),
        (json!(-1), "invalid value: integer `-1`"),
        (json!(1.5), "invalid type: floating point"),
        (json!("8"), "invalid type: string"),
    ] {
        let (status, field, detail) = chips(asked.clone()).await;
        assert_eq!((status, field.as_str()), (422, "terms.alternatives[0].chips"), "{asked}: {detail}");
        assert!(detail.contains(words), "{asked}: {detail}");
    }
    assert_eq!(
        post(&app, &sam(), "speech", "", json!({ "id": "most", "terms": terms("A100", 56, "none") }))
            .await
            .status,
        201
    );
    // What other pools own counts where they lend it.
    assert_eq!(
        post(&app, &ada(), "ads", "", json!({ "id": "lent", "terms": terms("A100", 56, "none") }))
            .await
            .status,
        201
    );
    assert_eq!(
        post(&app, &ada(), "ads", "", json!({ "id": "more", "terms": terms("A100", 57, "none") }))
            .await
            .status,
        422
    );
    let view = list(app.services(), &sam(), "speech", BidFilter::Open).await;
    assert_eq!(view.chip_types[0].most_chips.0, 56);
}

#[tokio::test]
async fn t109_an_unknown_chip_type_is_no_other_one() {
    let mut app = TestApp::new().await;
    app.clear().await;
    for chip_type in ["A100-80", "a100", "A10"] {
        let ways = json!([{ "chip_type": chip_type, "chips": 1, "min_chips": 1 }]);
        let (status, field, detail) = refused(&app, "/terms/alternatives", ways).await;
        assert_eq!((status, field.as_str()), (422, "terms.alternatives[0].chip_type"));
        assert_eq!(detail, format!("there is no chip type {chip_type}"));
    }
    let twice = json!([
        { "chip_type": "A100", "chips": 1, "min_chips": 1 },
        { "chip_type": "A100", "chips": 2, "min_chips": 3 },
    ]);
    let (_, field, detail) = refused(&app, "/terms/alternatives", twice).await;
    assert_eq!((field.as_str(), detail.as_str()), ("terms.alternatives[1].chip_type", "A100 is named twice"));
    let (_, field, _) = refused(&app, "/terms/alternatives", json!([])).await;
    assert_eq!(field, "terms.alternatives");
}

#[tokio::test]
async fn a_window_that_is_over_or_inverted_is_refused() {
    let app = TestApp::new().await;
    let (status, field, detail) = refused(&app, "/terms/not_after", json!("2026-11-29T23:59:59Z")).await;
    assert_eq!((status, field.as_str()), (422, "terms.not_after"));
    assert_eq!(detail, "is 2026-11-29T23:59:59Z, which is over; it is 2026-11-30T00:00:00Z now");
    let mut body = json!({ "id": "x", "terms": terms("A100", 8, "none") });
    body["terms"]["not_before"] = json!("2026-12-02T00:00:00Z");
    body["terms"]["not_after"] = json!("2026-12-01T00:00:00+00:00");
    let (status, field, detail) = refused_text(&app, &body.to_string()).await;
    assert_eq!((status, field.as_str()), (422, "terms.not_after"));
    assert_eq!(detail, "is 2026-12-01T00:00:00Z; it must be after not_before, 2026-12-02T00:00:00Z");
}

#[tokio::test]
async fn t118_t127_a_time_without_an_offset_is_refused() {
    let app = TestApp::new().await;
    let (status, field, detail) = refused(&app, "/terms/not_before", json!("2027-03-28T02:30:00")).await;
    assert_eq!((status, field.as_str()), (422, "terms.not_before"));
    assert!(detail.contains("is not a time with an offset; write it like 2026-11-30T14:03:00Z"), "{detail}");
}

#[tokio::test]
async fn names_are_text_and_have_an_end() {
    let mut app = TestApp::new().await;
    app.clear().await;
    for (name, words) in [
        ("x".repeat(10_000), "has 10000 characters; the most is 100"),
        ("x".repeat(101), "has 101 characters; the most is 100"),
        (" ".to_owned(), "is empty; give it a name"),
        ("bell\u{7}".to_owned(), "has a control character; use plain text"),
        ("nul\0".to_owned(), "has a control character; use plain text"),
    ] {
        let (status, field, detail) = refused(&app, "/terms/name", json!(name)).await;
        assert_eq!((status, field.as_str(), detail.as_str()), (422, "terms.name", words));
    }
    let (_, field, detail) = refused(&app, "/terms/note", json!("n".repeat(2_001))).await;
    assert_eq!((field.as_str(), detail.as_str()), ("terms.note", "has 2001 characters; the most is 2000"));
    for (nth, name) in
        ["=HYPERLINK(\"http://x\")", "שלום עולם", "ä".repeat(100).as_str()].into_iter().enumerate()
    {
        let mut body = json!({ "id": format!("n{nth}"), "terms": terms("A100", 1, "none") });
        body["terms"]["name"] = json!(name);
        let placed = post(&app, &sam(), "speech", "", body).await;
        assert_eq!((placed.status.as_u16(), placed.json()["terms"]["name"].as_str()), (201, Some(name)));
    }
    // T161: no spreadsheet takes a name for a formula.
    let csv = app.get_as(&sam(), "/api/v1/teams/speech/bids?format=csv").await.body;
    assert!(csv.contains("\"'=HYPERLINK(\"\"http://x\"\")\""), "{csv}");
}

#[tokio::test]
async fn a_body_that_is_none_is_told_from_a_wrong_field() {
    let app = TestApp::new().await;
    for body in ["", "{", "[]", "{\"id\":\"x\",\"terms\":{\"nam"] {
        let answer =
            app.send_as(&sam(), Method::POST, "/api/v1/teams/speech/bids", &[], body.to_owned()).await;
        assert!([400, 422].contains(&answer.status.as_u16()), "{body}: {}", answer.body);
    }
    let (status, field, _) = refused(&app, "/terms/limits", json!("1.00")).await;
    assert_eq!((status, field.as_str()), (422, "terms.limits"), "a misspelt field is not ignored");
    let all = json!({ "id": "x", "terms": { "name": "", "alternatives": [], "limit": "0.00" } }).to_string();
    let answer = app.send_as(&sam(), Method::POST, "/api/v1/teams/speech/bids", &[], all).await.json();
    let fields: Vec<&str> =
        answer["errors"].as_array().unwrap().iter().filter_map(|fault| fault["field"].as_str()).collect();
    assert_eq!(fields, ["terms.limit", "terms.name", "terms.alternatives"], "all faults at once");
}

#[test]
fn any_terms_are_taken_or_refused_never_a_fault_of_the_server() {
    let runtime = tokio::runtime::Runtime::new().unwrap();
    let (client, _app) = runtime.block_on(async {
        let mut app = TestApp::new().await;
        app.clear().await;
        (app.client_of(&sam()).await, app)
    });
    let mut runner = proptest::test_runner::TestRunner::new(ProptestConfig::with_cases(300));
    let any_chips = prop_oneof![0..100_u64, any::<u64>(), Just(1 << 32), Just(u64::MAX >> 1), Just(1 << 63)];
    let any_limit = prop_oneof!["none", "[0-9]{1,12}(\\.[0-9]{0,8})?", "\\PC{0,12}"];
    let any_at = prop_oneof![
        Just(json!(null)),
        Just(json!("9999-12-31T23:59:59Z")),
        Just(json!("0001-01-01T00:00:00Z")),
        "\\PC{0,20}".prop_map(Value::from),
    ];
    let any_terms =
        ("\\PC{0,120}", any_chips.clone(), any_chips.clone(), any_limit, any_at.clone(), any_at, any_chips);
    let result = runner.run(&any_terms, |(name, chips, min_chips, limit, not_before, not_after, work)| {
        let body = json!({ "id": "fuzz", "terms": {
            "name": name,
            "alternatives": [{ "chip_type": "A100", "chips": chips, "min_chips": min_chips }],
            "limit": limit,
            "not_before": not_before,
            "not_after": not_after,
            "work_chip_seconds": work,
        } });
        for rest in ["", "/preview"] {
            let mut body = body.clone();
            if rest == "/preview" {
                body.as_object_mut().unwrap().remove("id");
            }
            let path = format!("/api/v1/teams/speech/bids{rest}");
            let status = runtime.block_on(client.json("POST", &path, &body)).status.as_u16();
            prop_assert!([200, 201, 409, 422].contains(&status), "{}", status);
        }
        Ok(())
    });
    result.unwrap();
}
