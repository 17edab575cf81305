//! The story of a month, through the pages: finance reads spend, drills down, asks for a correction that an admin approves,
//! closes the month and opens the statement. All numbers are the same strings.
#![expect(clippy::unwrap_used, reason = "what fails here fails the test")]

use axum::http::header;

use super::{amount, entries, into_december, is_proved, roll_up, to_next_step};
use crate::app::{Answer, TestApp};
use crate::fixture;

/// An amount as a page writes it.
fn written(text: &str) -> String {
    let (sign, digits) = text.strip_prefix('-').map_or(("", text), |rest| ("\u{2212}", rest));
    let (whole, decimals) = digits.split_once('.').unwrap();
    let mut grouped = String::new();
    for (place, digit) in whole.chars().enumerate() {
        if place > 0 && (whole.len() - place) % 3 == 0 {
            grouped.push(',');
        }
        grouped.push(digit);
    }
    format!("{sign}{grouped}.{decimals}")
}

fn shows(answer: &Answer, text: &str) {
    assert!(
        answer.status == 200 && answer.body.contains(text),
        "{}: {text} is not in {}",
        answer.status,
        answer.body
    );
}

#[tokio::test]
async fn a_month_is_read_corrected_by_two_people_closed_and_stated() {
    for test in fixture::both().await {
        let mut app = TestApp::with_bids_on(test).await;
        into_december(&mut app).await;
        roll_up(&app).await;
        let (finance, admin) = (app.finance().await, app.client("admin").await);

        // Spend, one level after the other, down to the entries of the ledger and the cycles behind one.
        let spend = finance.get("/api/v1/finance/spend?period=2026-11&group=team").await.json();
        let row = spend["rows"].as_array().unwrap().iter().find(|row| row["id"] == "speech").unwrap();
        let cost = row["cost"].as_str().unwrap();
        shows(&finance.open("/finance?period=2026-11").await, "Spend and what changed");
        shows(&finance.open("/finance?period=2026-11&group=team&pool=research").await, &written(cost));
        let team = finance.open("/finance?period=2026-11&group=chip_type&team=speech").await;
        shows(&team, "/budget/ledger?team=speech&amp;kind=charge&amp;from=2026-11-30T00%3A00%3A00Z");
        let wrong = finance.open("/finance?period=soon&group=team").await;
        assert_eq!(wrong.status, 422, "{}", wrong.body);
        for words in
            ["value=\"soon\"", "aria-invalid=\"true\"", "name=\"group\" value=\"team\"", "write a month like"]
        {
            assert!(wrong.body.contains(words), "{words}: {}", wrong.body);
        }
        let charges = entries(&finance, "speech", "&kind=charge&to=2026-12-01T00:00:00Z").await;
        assert_eq!(charges.iter().map(|entry| -amount(&entry["amount"])).sum::<i64>(), amount(&row["cost"]));
        let charge = charges.last().unwrap()["transfer"].as_u64().unwrap();
        let transfer = finance.open(&format!("/budget/ledger/{charge}?team=speech")).await;
        shows(&transfer, "It covers the cycles");
        shows(&transfer, &format!("/finance/bookings/new?team=speech&amp;corrects={charge}"));

        // The correction waits for a second person, whoever asked can't be that.
        let corrects = charge.to_string();
        let form = |amount| {
            [
                ("id", "form-1"),
                ("kind", "correction"),
                ("team", "speech"),
                ("to_team", ""),
                ("amount", amount),
                ("corrects", corrects.as_str()),
                ("reason", "the meter ran twice"),
            ]
        };
        let refused = finance.post("/finance/bookings", &form("5,00")).await;
        assert_eq!(refused.status, 422);
        assert!(
            refused.body.contains("the meter ran twice") && refused.body.contains("5,00"),
            "what was typed is kept"
        );
        let asked = finance.post("/finance/bookings", &form("5.00")).await;
        assert_eq!((asked.status.as_u16(), asked.header(header::LOCATION)), (303, "/finance/bookings/1"));
        finance.post("/finance/bookings", &form("5.00")).await;
        let own =
            finance.post("/finance/bookings/1/decide", &[("verdict", "approve"), ("reason", "mine")]).await;
        assert_eq!(own.status, 403);
        shows(&admin.open("/finance/bookings?pending=true").await, "the meter ran twice");
        let empty = admin.post("/finance/bookings/1/decide", &[("verdict", "approve"), ("reason", "")]).await;
        assert!(empty.status == 422 && empty.body.contains("f-reason-error"));
        let done = admin
            .post("/finance/bookings/1/decide", &[("verdict", "approve"), ("reason", "seen the meter")])
            .await;
        assert_eq!(done.status, 303);
        shows(&finance.open("/finance/bookings/1").await, "seen the meter");
        to_next_step(&mut app).await;
        let corrections = entries(&finance, "speech", "&kind=correction").await;
        assert_eq!((corrections.len(), &corrections[0]["amount"]), (1, &"5.00".into()), "booked once");

        // The close asks for a reason, happens once, and the statement is the ledger's.
        let month = finance.open("/finance/months/2026-11").await;
        shows(&month, "Close the month for good");
        assert_eq!(finance.post("/finance/months/2026-11/close", &[("reason", " ")]).await.status, 422);
        let closed = finance.post("/finance/months/2026-11/close", &[("reason", "month end")]).await;
        assert_eq!(closed.status, 303);
        assert_eq!(finance.post("/finance/months/2026-11/close", &[("reason", "again")]).await.status, 409);
        shows(&finance.open("/finance/months/2026-11").await, "The ledger says the same now");
        shows(&finance.open("/finance/months").await, "closed by");
        let json = finance.get("/api/v1/teams/speech/statement?period=2026-11").await.json();
        let statement = finance.open("/finance/statements/of?team=speech&period=2026-11").await;
        shows(&statement, &format!("Statement {}", json["number"]));
        for value in [&json["opening"], &json["closing"], &json["change"], &json["lines"][0]["amount"]] {
            shows(&statement, &written(value.as_str().unwrap()));
        }
        let charged: i64 = json["lines"]
            .as_array()
            .unwrap()
            .iter()
            .filter(|line| line["kind"] == "charge")
            .map(|line| -amount(&line["amount"]))
            .sum();
        assert_eq!(charged, amount(&row["cost"]), "the statement and the page of spend agree");
        shows(&finance.open("/finance/budgets?period=2026-11").await, &written(cost));
        shows(&finance.open("/finance/statements?period=2026-11").await, "Statements of November 2026");

        // A member finds the own statement, and nothing of the rest.
        let member = app.engineer().await;
        shows(&member.open("/finance/statements/of?team=speech&period=2026-11").await, "Statement");
        shows(&member.open("/finance/statements?period=2026-11").await, "speech");
        for path in [
            "/finance",
            "/finance/budgets",
            "/finance/months",
            "/finance/bookings",
            "/finance/statements/of?team=ads",
        ] {
            assert_eq!(member.open(path).await.status, 404, "{path}");
        }
        assert_eq!(member.open("/finance/bookings/new").await.status, 403);
        is_proved(&app).await;
    }
}

#[tokio::test]
async fn an_admin_sets_the_limit_of_bookings_and_finance_does_not() {
    let mut app = TestApp::with_bids().await;
    to_next_step(&mut app).await;
    let (finance, admin) = (app.finance().await, app.client("admin").await);
    assert_eq!(finance.open("/finance/bookings/limit").await.status, 403);
    let fields = [("approval_above", "50.00"), ("reason", "small ones are seen in the log")];
    assert_eq!(finance.post("/finance/bookings/limit", &fields).await.status, 403);
    let wrong = admin.post("/finance/bookings/limit", &[("approval_above", "-1"), ("reason", "x")]).await;
    assert!(wrong.status == 422 && wrong.body.contains("f-approval_above-error"), "{}", wrong.body);
    assert_eq!(admin.post("/finance/bookings/limit", &fields).await.status, 303);
    shows(
        &finance.open("/finance/bookings").await,
        "worth more than 50.00 global credits needs a second person",
    );
    let log = finance.get("/api/v1/audit?action=finance.approval_set").await.json();
    assert_eq!(log["items"][0]["after"]["approval_above"], "50.00");
}
