//! Corrections, grants and transfers: with a reason, once, by two people where they are large, and never beyond what is
//! there.

use common::api::{BookingKind, BookingState, Role};
use common::money::MicroCredits;
use serde_json::json;
use server::error::ErrorKind;
use server::policy::Viewer;
use server::services::audit::{Doer, Origin};
use server::services::finance::NewBooking;
use server::store::allowances::Allowance;

use super::{amount, approve_above, book, entries, is_proved, new, post, to_next_step};
use crate::app::TestApp;
use crate::audit::viewer;
use crate::fixture::{self, credits};

fn finance() -> Viewer {
    viewer("fay", &[Role::Finance])
}

async fn balance(app: &TestApp, team: &str) -> i64 {
    let client = app.finance().await;
    entries(&client, team, "").await.last().map_or(0, |entry| amount(&entry["balance_after"]))
}

#[tokio::test]
async fn t025_t029_the_same_key_books_once_and_another_body_is_refused() {
    for test in fixture::both().await {
        let mut app = TestApp::with_bids_on(test).await;
        to_next_step(&mut app).await;
        approve_above(&app, 1_000).await;
        let client = app.finance().await;
        let body = json!({"kind": "grant", "team": "speech", "amount": "25.00", "reason": "won a prize"});
        let (one, two) = tokio::join!(post(&client, "k-1", &body), post(&client, "k-1", &body));
        let again = post(&client, "k-1", &body).await;
        for answer in [&one, &two, &again] {
            assert_eq!((answer.status.as_u16(), &answer.json()), (201, &one.json()), "{}", answer.body);
        }
        let mut other = body.clone();
        other["amount"] = "26.00".into();
        let refused = post(&client, "k-1", &other).await;
        assert_eq!(
            (refused.status.as_u16(), &refused.json()["errors"][0]["field"]),
            (422, &"Idempotency-Key".into())
        );
        assert_eq!(post(&client, "", &body).await.status, 422, "a key is asked for");
        to_next_step(&mut app).await;
        let grants = entries(&client, "speech", "&kind=mint").await;
        let won: Vec<_> = grants.iter().filter(|entry| entry["reason"] == "won a prize").collect();
        assert_eq!(won.len(), 1, "{}: booked once", app.store.name);
        is_proved(&app).await;
    }
}

#[tokio::test]
async fn t061_t131_what_is_no_amount_or_has_no_reason_is_refused_and_the_ledger_stays() {
    let mut app = TestApp::with_bids().await;
    to_next_step(&mut app).await;
    let client = app.finance().await;
    let before = entries(&client, "speech", "").await.len();
    for (kind, wrong) in [
        ("grant", "-5"),
        ("grant", "0"),
        ("grant", "NaN"),
        ("grant", "1e309"),
        ("grant", "1,000"),
        ("correction", "0"),
        ("transfer", "-1"),
        ("correction", "99999999999"),
    ] {
        let body = json!({"kind": kind, "team": "speech", "to_team": null, "amount": wrong, "reason": "x"});
        let answer = post(&client, &format!("{kind}-{wrong}"), &body).await;
        assert_eq!(answer.status, 422, "{kind} {wrong}: {}", answer.body);
        let errors = answer.json()["errors"].clone();
        assert!(
            errors.as_array().unwrap().iter().any(|error| error["field"] == "amount"),
            "{kind} {wrong}: {errors}"
        );
    }
    let body = json!({"kind": "correction", "team": "speech", "amount": "1.00", "reason": " "});
    let refused = post(&client, "no-reason", &body).await;
    assert_eq!((refused.status.as_u16(), &refused.json()["errors"][0]["field"]), (422, &"reason".into()));
    let others =
        json!({"kind": "correction", "team": "speech", "amount": "1.00", "corrects": 999_999, "reason": "x"});
    let refused = post(&client, "no-transfer", &others).await;
    assert_eq!(refused.json()["errors"][0]["field"], "corrects");
    let engineer = app.engineer().await;
    let body = json!({"kind": "grant", "team": "speech", "amount": "1.00", "reason": "mine"});
    assert_eq!(post(&engineer, "mine", &body).await.status, 403);
    assert_eq!(entries(&client, "speech", "").await.len(), before, "nothing was booked");
}

#[tokio::test]
async fn t074_a_large_correction_needs_a_second_person_and_stands_in_ledger_log_and_export() {
    for test in fixture::both().await {
        let mut app = TestApp::with_bids_on(test).await;
        to_next_step(&mut app).await;
        approve_above(&app, 10).await;
        let origin = Origin::default();
        let (fay, ada) = (finance(), viewer("ada", &[Role::Admin]));
        let doer = |who| Doer { viewer: who, origin: &origin, reason: "checked the meter" };
        let asked =
            book(&app, &fay, "the meter was wrong", &new("c", BookingKind::Correction, "speech", -40))
                .await
                .unwrap();
        assert_eq!((asked.state, asked.transfers.len()), (BookingState::Pending, 0));
        let own = app.services.approve_booking(doer(&fay), asked.number).await.unwrap_err();
        assert_eq!(own.kind(), ErrorKind::Forbidden, "the maker does not approve");
        let member = viewer("eve", &[]);
        let refused = app.services.approve_booking(doer(&member), asked.number).await.unwrap_err();
        assert_eq!(refused.kind(), ErrorKind::Forbidden);
        let booked = app.services.approve_booking(doer(&ada), asked.number).await.unwrap();
        assert_eq!((booked.state, booked.transfers.len()), (BookingState::Booked, 1));
        let twice = app.services.approve_booking(doer(&ada), asked.number).await.unwrap_err();
        assert_eq!(twice.kind(), ErrorKind::Conflict);
        app.clear().await;
        let client = app.finance().await;
        let corrections = entries(&client, "speech", "&kind=correction").await;
        assert_eq!((corrections.len(), amount(&corrections[0]["amount"])), (1, -credits(40).0));
        let log = client.get("/api/v1/audit?object_kind=booking").await.json();
        let actions: Vec<_> =
            log["items"].as_array().unwrap().iter().map(|entry| entry["action"].clone()).collect();
        assert_eq!(actions, ["booking.approved", "booking.asked"]);
        let csv = client.get("/api/v1/teams/speech/ledger?kind=correction&format=csv").await.body;
        assert!(csv.contains(",correction,") && csv.contains("the meter was wrong"), "{csv}");
        let small =
            book(&app, &fay, "rounding", &new("s", BookingKind::Correction, "speech", 1)).await.unwrap();
        assert_eq!(small.state, BookingState::Booked, "small ones are booked at once");
        is_proved(&app).await;
    }
}

#[tokio::test]
async fn a_booking_expires_and_can_be_refused() {
    let mut app = TestApp::with_bids().await;
    to_next_step(&mut app).await;
    let origin = Origin::default();
    let (fay, ada) = (finance(), viewer("ada", &[Role::Admin]));
    let doer = |who| Doer { viewer: who, origin: &origin, reason: "no" };
    let first = book(&app, &fay, "first", &new("1", BookingKind::Grant, "speech", 5)).await.unwrap();
    let second = book(&app, &fay, "second", &new("2", BookingKind::Grant, "speech", 6)).await.unwrap();
    assert_eq!(
        app.services.bookings(&fay, true).await.unwrap().bookings.len(),
        2,
        "without a limit each one waits"
    );
    let refused = app.services.refuse_booking(doer(&ada), first.number).await.unwrap();
    assert_eq!(
        (refused.state, refused.decision.unwrap().by.as_str()),
        (BookingState::Refused, "ada of the test")
    );
    app.clock.advance_seconds(7 * 86_400);
    let late = app.services.approve_booking(doer(&ada), second.number).await.unwrap_err();
    assert!(late.kind() == ErrorKind::Conflict && late.message().contains("expired"), "{late}");
    let all = app.services.bookings(&fay, false).await.unwrap().bookings;
    let states: Vec<_> = all.iter().map(|booking| booking.state).collect();
    assert_eq!(states, [BookingState::Expired, BookingState::Refused]);
    assert!(app.services.bookings(&fay, true).await.unwrap().bookings.is_empty());
}

#[tokio::test]
async fn t064_what_would_push_a_hard_allowance_below_use_is_refused_with_its_parts() {
    for test in fixture::both().await {
        let mut app = TestApp::with_bids_on(test).await;
        to_next_step(&mut app).await;
        approve_above(&app, 100_000).await;
        let admin = viewer("ada", &[Role::Admin]);
        let origin = Origin::default();
        let doer = Doer { viewer: &admin, origin: &origin, reason: "budget" };
        let allowance = Allowance::monthly("speech".parse().unwrap(), Some(credits(60)), true);
        app.services.set_allowance(doer, &allowance, None).await.unwrap();
        app.clear().await;
        let small = new("ok", BookingKind::Correction, "speech", -20);
        assert_eq!(book(&app, &finance(), "fine", &small).await.unwrap().state, BookingState::Booked);
        let error = book(&app, &finance(), "more", &new("no", BookingKind::Correction, "speech", -40))
            .await
            .unwrap_err();
        let detail = &error.fields()[0].detail;
        for part in [
            "of the hard allowance 60.00 of November 2026 are used",
            "held for chips in use",
            "taken by corrections and transfers 20.00",
            "can be taken",
        ] {
            assert!(detail.contains(part), "{detail}");
        }
    }
}

#[tokio::test]
async fn t065_a_team_that_a_correction_drives_below_zero_leaves_its_siblings_alone() {
    let mut app = TestApp::with_bids().await;
    to_next_step(&mut app).await;
    approve_above(&app, 100_000).await;
    let before = balance(&app, "vision").await;
    let owed = balance(&app, "speech").await + credits(50).0;
    let correction =
        NewBooking { amount: MicroCredits(-owed), ..new("c", BookingKind::Correction, "speech", 0) };
    book(&app, &finance(), "charged too little", &correction).await.unwrap();
    to_next_step(&mut app).await;
    assert!(balance(&app, "speech").await < 0);
    assert!(balance(&app, "vision").await != 0 && before != 0);
    let vision = app.finance().await.get("/api/v1/teams/vision/budget").await.json();
    assert!(amount(&vision["cap"]["cap"]) > 0, "the sibling still bids");
}

#[tokio::test]
async fn a_transfer_takes_no_more_than_there_is_and_keeps_its_worth_between_pools() {
    for test in fixture::both().await {
        let mut app = TestApp::with_bids_on(test).await;
        to_next_step(&mut app).await;
        approve_above(&app, 100_000).await;
        let to = |id: &str, team: &str, amount: i64| NewBooking {
            to_team: Some(team.parse().unwrap()),
            ..new(id, BookingKind::Transfer, "speech", amount)
        };
        let error = book(&app, &finance(), "all of it", &to("1", "vision", 100_000)).await.unwrap_err();
        assert!(
            error.message().contains("the balance is") && error.message().contains("can be taken"),
            "{error}"
        );
        let same = book(&app, &finance(), "to itself", &to("2", "speech", 1)).await.unwrap_err();
        assert_eq!(same.fields()[0].field, "to_team");
        let inside = book(&app, &finance(), "shared work", &to("3", "vision", 10)).await.unwrap();
        let across = book(&app, &finance(), "shared work", &to("4", "ads", 10)).await.unwrap();
        assert_eq!((inside.transfers.len(), across.transfers.len()), (1, 2));
        app.clear().await;
        let client = app.finance().await;
        let of = async |team: &str, transfer: u64| {
            let entries = entries(&client, team, "&kind=correction").await;
            let found = entries.iter().find(|entry| entry["transfer"].as_u64() == Some(transfer));
            amount(&found.unwrap_or_else(|| panic!("{entries:?}"))["amount"])
        };
        assert_eq!(of("speech", inside.transfers[0]).await, -credits(10).0);
        assert_eq!(of("vision", inside.transfers[0]).await, credits(10).0);
        assert_eq!(of("speech", across.transfers[0]).await, -credits(10).0);
        // 10 credits of research are worth 10 · 60 / 61; ads has a pool of 40 over 80.
        assert_eq!(of("ads", across.transfers[1]).await, 19_672_132);
        is_proved(&app).await;
    }
}
