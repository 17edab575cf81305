//! Closed months: what is in them stays, what comes later does not get in, and a statement says the same for ever.
#![expect(clippy::unwrap_used, reason = "what fails here fails the test")]

use common::api::{BookingKind, Role};
use server::clock::Clock as _;
use server::error::{AppError, ErrorKind};
use server::services::audit::{Doer, Origin};
use server::services::finance::close::check_closed;
use server::services::organisation;

use super::{
    amount, approve_above, book, by_kind, entries, into_december, is_proved, new, past_the_program,
    to_next_step,
};
use crate::app::TestApp;
use crate::audit::viewer;
use crate::fixture;

async fn close(app: &TestApp, period: &str, reason: &str) -> Result<(), AppError> {
    let finance = viewer("fay", &[Role::Finance]);
    let origin = Origin::default();
    app.services.close_month(Doer { viewer: &finance, origin: &origin, reason }, period).await
}

fn refusal(result: Result<(), AppError>) -> (ErrorKind, String) {
    let error = result.unwrap_err();
    (error.kind(), error.message().to_owned())
}

#[tokio::test]
async fn a_month_is_closed_in_order_once_it_is_settled_and_for_good() {
    for test in fixture::both().await {
        let mut app = TestApp::with_bids_on(test).await;
        to_next_step(&mut app).await;
        let (kind, why) = refusal(close(&app, "2026-11", "month end").await);
        assert_eq!(kind, ErrorKind::Conflict);
        assert!(
            why.contains("not settled: the first accounting step at its end or later does that"),
            "{why}"
        );
        into_december(&mut app).await;
        assert_eq!(refusal(close(&app, "2026-11", " ").await).0, ErrorKind::Invalid, "a reason is asked for");
        let (_, why) = refusal(close(&app, "2026-12", "too early").await);
        assert!(why.contains("November 2026 is the next"), "{why}");
        let (_, why) = refusal(close(&app, "2026-10", "before all").await);
        assert!(why.contains("nothing is booked before November 2026"), "{why}");
        let refused = close(&app, "2026-Q4", "no month").await.unwrap_err();
        assert_eq!(refused.fields()[0].field, "period");
        close(&app, "2026-11", "month end").await.unwrap();
        let (_, why) = refusal(close(&app, "2026-11", "again").await);
        assert!(why.contains("closed already, for good"), "{why}");

        let finance = app.finance().await;
        let month = finance.get("/api/v1/finance/months/2026-11").await.json();
        assert_eq!((&month["period"]["closed"], &month["close"]["holds"]), (&true.into(), &true.into()));
        let mut booked = std::collections::BTreeMap::new();
        for team in ["speech", "vision", "ads"] {
            let entries = entries(&finance, team, "&to=2026-12-01T00:00:00Z").await;
            for (kind, sum) in by_kind(&entries) {
                *booked.entry(kind).or_insert(0) += sum;
            }
        }
        let mut totals = std::collections::BTreeMap::new();
        for total in month["totals"].as_array().unwrap() {
            *totals.entry(total["kind"].as_str().unwrap().to_owned()).or_insert(0) +=
                amount(&total["amount"]);
        }
        assert_eq!(totals, booked, "{}: the totals are the ledger's", app.store.name);
        is_proved(&app).await;
    }
}

#[tokio::test]
async fn nothing_is_booked_into_a_closed_month_whatever_tries() {
    for test in fixture::both().await {
        let mut app = TestApp::with_bids_on(test).await;
        into_december(&mut app).await;
        close(&app, "2026-11", "month end").await.unwrap();
        let before = app.finance().await.get("/api/v1/finance/months/2026-11").await.body;
        // A clock that was set back, and a row written past the program.
        let late = "INSERT INTO ledger_transfer (number, kind, cycle, step, pool, reason, unique_key, written_at, sha256) \
            SELECT number + 1, 'correction', cycle, NULL, 'research', 'late', 'late', 1796083199999999, sha256 \
            FROM ledger_transfer ORDER BY number DESC LIMIT 1";
        let refused = past_the_program(&app.store.place, late).await.unwrap_err().to_string();
        assert!(refused.contains("the period is closed"), "{}: {refused}", app.store.name);
        for sql in [
            "UPDATE period_close SET reason = 'other'",
            "DELETE FROM statement",
            "DELETE FROM period_close_total",
        ] {
            let refused = past_the_program(&app.store.place, sql).await.unwrap_err().to_string();
            assert!(refused.contains("append-only"), "{}: {sql}: {refused}", app.store.name);
        }
        // What is found later is booked in the open month, linked to what it corrects.
        approve_above(&app, 1_000).await;
        let finance = app.finance().await;
        let charge = entries(&finance, "speech", "&kind=charge&to=2026-12-01T00:00:00Z").await.pop().unwrap();
        let corrects = charge["transfer"].as_u64();
        let correction = server::services::finance::NewBooking {
            corrects,
            ..new("late", BookingKind::Correction, "speech", 5)
        };
        let booked =
            book(&app, &viewer("fay", &[Role::Finance]), "meter was wrong", &correction).await.unwrap();
        to_next_step(&mut app).await;
        let old = finance.get(&format!("/api/v1/teams/speech/ledger/{}", corrects.unwrap())).await.json();
        assert_eq!(old["corrected_by"], serde_json::json!(booked.transfers));
        let fresh = finance.get(&format!("/api/v1/teams/speech/ledger/{}", booked.transfers[0])).await.json();
        assert_eq!(fresh["corrects"].as_u64(), corrects);
        assert!(fresh["at"].as_str().unwrap().starts_with("2026-12-01"));
        assert_eq!(
            finance.get("/api/v1/finance/months/2026-11").await.body,
            before,
            "November is what it was"
        );
        is_proved(&app).await;
    }
}

#[tokio::test]
async fn a_gap_over_the_end_of_a_month_counts_in_the_month_in_which_it_is_booked() {
    for test in fixture::both().await {
        let mut app = TestApp::with_bids_on(test).await;
        to_next_step(&mut app).await;
        // The program is down from the evening of 30 November until ten past one on 1 December.
        app.clock.advance_seconds(25 * 3_600);
        app.clear().await;
        let finance = app.finance().await;
        let november = finance.get("/api/v1/finance/spend?period=2026-11&group=team").await.json();
        close(&app, "2026-11", "the step after the gap is booked").await.unwrap();
        let december = finance.get("/api/v1/finance/spend?period=2026-12&group=team").await.json();
        assert!(amount(&december["total"]["global_cost"]) > amount(&november["total"]["global_cost"]));
        assert_eq!(
            finance.get("/api/v1/finance/spend?period=2026-11&group=team").await.json()["total"],
            november["total"]
        );
        // Loops that wake late go on in December.
        to_next_step(&mut app).await;
        let mut tx = app.store.store.read().await.unwrap();
        let checked = check_closed(&mut tx).await.unwrap();
        assert!(checked.len() == 1 && checked[0].holds, "{checked:?}");
        is_proved(&app).await;
    }
}

#[tokio::test]
async fn a_row_changed_behind_the_programs_back_is_found_in_its_closed_month() {
    let mut app = TestApp::with_bids().await;
    into_december(&mut app).await;
    close(&app, "2026-11", "month end").await.unwrap();
    past_the_program(&app.store.place, "DROP TRIGGER ledger_entry_keeps_values").await.unwrap();
    let fault = "UPDATE ledger_entry SET amount = amount - 1 WHERE chip_type IS NOT NULL AND transfer = \
        (SELECT MIN(transfer) FROM ledger_entry WHERE chip_type IS NOT NULL)";
    past_the_program(&app.store.place, fault).await.unwrap();
    let mut tx = app.store.store.read().await.unwrap();
    let checked = check_closed(&mut tx).await.unwrap();
    assert!(!checked[0].holds, "the totals are not what they were");
    let month = app.finance().await.get("/api/v1/finance/months/2026-11").await.json();
    assert_eq!(month["close"]["holds"], false);
}

#[tokio::test]
async fn t124_the_zone_stays_once_a_month_is_closed_in_it() {
    let mut app = TestApp::with_bids().await;
    into_december(&mut app).await;
    let mut settings = fixture::setup().organisation;
    settings.time_zone = "Asia/Tokyo".to_owned();
    let change = async |app: &TestApp| {
        let mut tx = app.store.store.write().await.unwrap();
        organisation::change_settings(&mut tx, app.clock.now(), &settings).await
    };
    change(&app).await.unwrap();
    close(&app, "2026-11", "month end").await.unwrap();
    let refused = change(&app).await.unwrap_err();
    assert_eq!(refused.fields()[0].field, "time_zone");
    assert!(refused.message().contains("keeps its bounds"), "{refused}");
    let page = app.admin().open("/organisation/settings/change").await.body;
    assert!(page.contains("Once finance has closed a month the zone stays"), "it is said before");
}

#[tokio::test]
async fn t007_t008_statements_are_numbered_add_up_and_say_the_same_again() {
    for test in fixture::both().await {
        let mut app = TestApp::with_bids_on(test).await;
        into_december(&mut app).await;
        let finance = app.finance().await;
        let path = "/api/v1/teams/speech/statement?period=2026-11";
        let draft = finance.get(path).await.json();
        assert_eq!((&draft["number"], &draft["holds"]), (&serde_json::Value::Null, &serde_json::Value::Null));
        close(&app, "2026-11", "month end").await.unwrap();
        to_next_step(&mut app).await;
        let statement = finance.get(path).await.json();
        assert_eq!((&statement["holds"], &statement["sha256"]), (&true.into(), &draft["sha256"]));
        let list = finance.get("/api/v1/finance/statements?period=2026-11").await.json();
        let mut numbers: Vec<u64> = list["statements"]
            .as_array()
            .unwrap()
            .iter()
            .map(|row| row["number"].as_u64().unwrap())
            .collect();
        numbers.sort_unstable();
        assert_eq!(numbers, [1, 2, 3], "numbered without gaps");

        let of_ledger = entries(&finance, "speech", "&to=2026-12-01T00:00:00Z").await;
        let lines = statement["lines"].as_array().unwrap();
        let sum: i64 = lines.iter().map(|line| amount(&line["amount"])).sum();
        assert_eq!(sum, of_ledger.iter().map(|entry| amount(&entry["amount"])).sum::<i64>());
        assert_eq!(sum, amount(&statement["change"]));
        assert_eq!(amount(&statement["opening"]) + sum, amount(&statement["closing"]));
        assert_eq!(of_ledger.last().unwrap()["balance_after"], statement["closing"]);
        let rounded: i64 = lines.iter().map(|line| amount(&line["rounded"])).sum();
        assert_eq!(
            rounded,
            (sum + 5_000).div_euclid(10_000) * 10_000,
            "rounded lines sum to the rounded total"
        );
        let counted: u64 = lines.iter().map(|line| line["entries"].as_u64().unwrap()).sum();
        assert_eq!(counted as usize, of_ledger.len());
        // The next month begins where this one ended.
        let next = finance.get("/api/v1/teams/speech/statement?period=2026-12").await.json();
        assert_eq!(next["opening"], statement["closing"]);
        let csv = finance.get(&format!("{path}&format=csv")).await.body;
        assert!(
            csv.contains("closing balance") && csv.contains(statement["closing"].as_str().unwrap()),
            "{csv}"
        );
        // A member reads the own ones only.
        let outsider = app.outsider().await;
        assert_eq!(outsider.get(path).await.status, 404);
        let own = outsider.get("/api/v1/finance/statements?period=2026-11").await.json();
        assert_eq!(own["statements"].as_array().unwrap().len(), 1);
    }
}
