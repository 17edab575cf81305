//! Charges in the form of FOCUS 1.2: the rules of its columns, and that the sums are the ledger's.

use std::collections::BTreeMap;

use common::chips::Chips;
use common::money::MicroCredits;
use server::services::ledger::{self, Grant};

use super::*;

/// Columns that every FOCUS 1.2 file has; those of them that may be empty.
const MANDATORY: [&str; 21] = [
    "BilledCost",
    "BillingAccountId",
    "BillingAccountName",
    "BillingCurrency",
    "BillingPeriodEnd",
    "BillingPeriodStart",
    "ChargeCategory",
    "ChargeClass",
    "ChargeDescription",
    "ChargePeriodEnd",
    "ChargePeriodStart",
    "ContractedCost",
    "EffectiveCost",
    "InvoiceIssuerName",
    "ListCost",
    "PricingQuantity",
    "PricingUnit",
    "ProviderName",
    "PublisherName",
    "ServiceCategory",
    "ServiceName",
];

/// Columns of which a cell may be empty: what a correction or a usual charge does not have.
const MAY_BE_EMPTY: [&str; 11] = [
    "CapacityReservationId",
    "CapacityReservationStatus",
    "ChargeClass",
    "ConsumedQuantity",
    "ConsumedUnit",
    "PricingCategory",
    "PricingQuantity",
    "PricingUnit",
    "ResourceId",
    "ResourceName",
    "ResourceType",
];

/// Sets the value of a credit as finance does.
async fn set_value(app: &TestApp, currency: &str, value: &str) {
    let body = serde_json::json!({"currency": currency, "value": value, "reason": "the plan of the year"});
    let answer = app.finance().await.json("PUT", "/api/v1/credit-value", &body).await;
    assert_eq!(answer.status, 200, "{}", answer.body);
}

/// Corrects a team's balance as finance does.
async fn correct(app: &TestApp, team: &str, amount: &str) {
    let mut tx = app.store.store.write().await.unwrap();
    let correction = Grant {
        team: team.parse().unwrap(),
        amount: amount.parse().unwrap(),
        reason: "=cmd charged twice".to_owned(),
        key: format!("{team}-{amount}"),
    };
    ledger::correct(&mut tx, app.services().now(), &correction).await.unwrap();
    tx.commit().await.unwrap();
}

/// A market with charges, idle quota and corrections, on both stores.
async fn charged() -> Vec<TestApp> {
    let mut apps = markets(61).await;
    for app in &mut apps {
        // Two gangs that do not fit side by side: the quota of one is too small to be used.
        let gang = |id, team| {
            let mut gang = bid(id, team, "H100", 5);
            gang.terms.alternatives[0].min_chips = Chips(5);
            gang
        };
        let mut tx = app.store.store.write().await.unwrap();
        let now = app.services().now();
        bids::place_many(&mut tx, now, vec![gang("g", "speech"), gang("h", "vision")]).await.unwrap();
        tx.commit().await.unwrap();
        set_value(app, "EUR", "2.50").await;
        correct(app, "speech", "1.25").await;
        correct(app, "ads", "-3.00").await;
        app.clear_many(60).await;
    }
    apps
}

/// Credits times the value of a credit, in 10^-12 parts.
fn picos(text: &str) -> i128 {
    let (sign, digits) = text.strip_prefix('-').map_or((1, text), |digits| (-1, digits));
    let (whole, fraction) = digits.split_once('.').unwrap();
    assert!((2..=12).contains(&fraction.len()), "{text}");
    sign * format!("{whole}{fraction:0<12}").parse::<i128>().unwrap()
}

/// Each rule of the specification about single rows.
fn check_row(cell: impl Fn(&str) -> String) {
    let is_empty = |name: &str| cell(name).is_empty();
    let is_correction = cell("ChargeClass") == "Correction";
    assert!(is_correction || is_empty("ChargeClass"));
    assert_eq!(cell("ChargeCategory"), if is_correction { "Adjustment" } else { "Usage" });
    for name in ["PricingQuantity", "PricingUnit", "PricingCategory", "ConsumedQuantity", "ConsumedUnit"] {
        assert_eq!(is_empty(name), is_correction, "{name}");
    }
    assert_eq!(is_empty("CapacityReservationId"), is_empty("CapacityReservationStatus"));
    assert_eq!(is_empty("ResourceId"), is_empty("ResourceName"));
    let status = cell("CapacityReservationStatus");
    assert!(is_correction || ["Used", "Unused"].contains(&status.as_str()), "{status:?}");
    let cost = cell("BilledCost");
    for name in ["ContractedCost", "EffectiveCost", "ListCost"] {
        assert_eq!(cell(name), cost, "{name}");
    }
    let credits: MicroCredits = cell("PricingCurrencyEffectiveCost").parse().unwrap();
    assert_eq!(picos(&cost), i128::from(credits.0) * 2_500_000, "2.50 for a credit, exactly");
    if status == "Unused" {
        assert_eq!((credits.0, cell("ConsumedQuantity").as_str()), (0, "0.00"));
        assert_ne!(cell("PricingQuantity"), "0.00");
    }
    let (start, end) = (cell("ChargePeriodStart"), cell("ChargePeriodEnd"));
    assert!(start < end && cell("BillingPeriodStart") <= start && end <= cell("BillingPeriodEnd"));
    for name in ["ChargePeriodStart", "ChargePeriodEnd", "BillingPeriodStart", "BillingPeriodEnd"] {
        let text = cell(name);
        assert!(text.len() == 20 && text.ends_with('Z'), "{name}: {text}");
    }
    assert_eq!(cell("BillingCurrency"), "EUR");
    assert_eq!(cell("PricingCurrency"), format!("{} credits", cell("BillingAccountId")));
    assert!(["Usage-Based", "One-Time"].contains(&cell("ChargeFrequency").as_str()));
    assert_eq!(cell("ServiceCategory"), "AI and Machine Learning");
}

#[tokio::test]
async fn a_focus_file_follows_the_rules_of_its_columns() {
    let mut bodies = BTreeSet::new();
    for app in charged().await {
        let answer = app.admin().get("/api/v1/exports/focus?period=2026-11").await;
        let table = Csv::read(&answer);
        let names = table.names();
        assert!(names.is_sorted(), "the order of the specification is that of the alphabet");
        for name in MANDATORY {
            assert!(names.contains(&name), "{name}");
        }
        for name in &names {
            let letters = name.bytes().all(|byte| byte.is_ascii_alphabetic());
            assert!(letters && name.starts_with(|letter: char| letter.is_ascii_uppercase()), "{name}");
            let empty = table.column(name).iter().any(|cell| cell.is_empty());
            assert!(!empty || MAY_BE_EMPTY.contains(name), "{name} may not be empty");
        }
        for row in 0..table.len() {
            check_row(|name| table.column(name)[row].to_owned());
        }
        let statuses: BTreeSet<&str> = table.column("CapacityReservationStatus").into_iter().collect();
        assert_eq!(statuses, ["", "Used", "Unused"].into(), "{}", app.store.name);
        bodies.insert(answer.body);
    }
    assert_eq!(bodies.len(), 1, "both stores give the same file");
}

#[tokio::test]
async fn the_sums_of_a_focus_file_are_those_of_the_ledger() {
    for app in charged().await {
        let focus = export(app.admin(), "focus?period=2026-11&columns=x_ChipSeconds").await;
        let ledger = export(app.admin(), "ledger?period=2026-11").await;
        let mut by_team: BTreeMap<&str, i64> = BTreeMap::new();
        for (team, cost) in
            focus.column("SubAccountId").into_iter().zip(focus.column("PricingCurrencyEffectiveCost"))
        {
            *by_team.entry(team).or_default() += cost.parse::<MicroCredits>().unwrap().0;
        }
        let mut booked: BTreeMap<&str, i64> = BTreeMap::new();
        let (kinds, accounts) = (ledger.column("kind"), ledger.column("account"));
        let (owners, amounts) = (ledger.column("owner"), ledger.column("amount_credits"));
        for (row, owner) in owners.iter().enumerate() {
            if accounts[row] == "team" && ["charge", "correction"].contains(&kinds[row]) {
                *booked.entry(*owner).or_default() -= amounts[row].parse::<MicroCredits>().unwrap().0;
            }
        }
        assert_eq!(by_team, booked, "{}", app.store.name);
        assert_eq!(by_team["ads"], 3_000_000, "what is taken from a team is a cost");
        let statuses = focus.column("CapacityReservationStatus");
        let seconds = focus.column("x_ChipSeconds");
        let sum = |status: &str| -> i64 {
            (0..focus.len())
                .filter(|row| statuses[*row] == status)
                .map(|row| seconds[row].parse::<i64>().unwrap())
                .sum()
        };
        let used: i64 =
            ledger.column("used_chip_seconds").iter().filter_map(|cell| cell.parse::<i64>().ok()).sum();
        assert_eq!(sum("Used"), used);
        let allocations = export(app.admin(), "allocations?period=2026-11").await;
        let idle: i64 =
            allocations.column("idle_chip_seconds").iter().map(|cell| cell.parse::<i64>().unwrap()).sum();
        assert_eq!(sum("Unused"), idle);
        assert!(idle > 0 && used > 0);
    }
}

#[tokio::test]
async fn t154_columns_of_our_own_can_be_chosen_and_those_of_focus_stay() {
    for app in charged().await {
        let plain = export(app.admin(), "focus").await;
        let chosen = export(app.admin(), "focus?columns=x_Reason,x_TimeZone,x_LedgerTransfer").await;
        let (names, more) = (plain.names(), chosen.names());
        assert_eq!(more[..names.len()], names[..]);
        assert_eq!(more[names.len()..], ["x_LedgerTransfer", "x_Reason", "x_TimeZone"]);
        assert!(chosen.column("x_TimeZone").iter().all(|zone| *zone == "UTC"));
        let reasons = chosen.column("x_Reason");
        assert_eq!(
            reasons.iter().filter(|reason| **reason == "'=cmd charged twice").count(),
            2,
            "{reasons:?}"
        );
        let refused = app.admin().get("/api/v1/exports/focus?columns=x_Nothing").await;
        assert_eq!(
            (refused.status.as_u16(), &refused.json()["errors"][0]["field"]),
            (422, &"columns".into())
        );
    }
}

#[tokio::test]
async fn t155_a_row_without_chips_costs_nothing() {
    for app in charged().await {
        let table = export(app.admin(), "focus?columns=x_ChipSeconds").await;
        let (seconds, costs) = (table.column("x_ChipSeconds"), table.column("BilledCost"));
        for (seconds, cost) in seconds.iter().zip(&costs) {
            assert!(*seconds != "0" || *cost == "0.00", "{cost}");
        }
        // Idle chips were granted and not used: nobody pays for them.
        let statuses = table.column("CapacityReservationStatus");
        assert!((0..table.len()).filter(|row| statuses[*row] == "Unused").all(|row| costs[row] == "0.00"));
    }
}

#[tokio::test]
async fn a_month_keeps_the_value_that_a_credit_had_in_it() {
    for mut app in markets(6).await {
        let missing = app.admin().get("/api/v1/exports/focus?period=2026-11").await;
        assert_eq!(missing.status, 409);
        assert!(missing.body.contains("/finance/exports/credit-value"), "{}", missing.body);
        set_value(&app, "EUR", "2.00").await;
        let november = export(app.admin(), "focus?period=2026-11").await;
        app.clock.set("2026-12-02T00:00:00Z".parse().unwrap());
        app.clear_many(6).await;
        set_value(&app, "USD", "3.00").await;
        let client = app.client("admin").await;
        let again = export(&client, "focus?from=2026-11-30T00:00:00Z&to=2026-11-30T00:06:00Z").await;
        assert_eq!(november.column("BilledCost")[..again.len()], again.column("BilledCost")[..]);
        let december = export(&client, "focus?period=2026-12").await;
        assert!(december.column("BillingCurrency").iter().all(|currency| *currency == "USD"));
        assert!(november.len() > 0 && december.len() > 0, "{}", app.store.name);
        let value = client.get("/api/v1/credit-value").await.json();
        assert_eq!(
            (&value["currency"], &value["holds_from"]),
            (&"USD".into(), &"2026-12-01T00:00:00Z".into())
        );
    }
}

#[tokio::test]
async fn only_finance_sets_what_a_credit_is_worth_and_says_why() {
    let mut app = TestApp::with_bids().await;
    app.clear().await;
    let good = serde_json::json!({"currency": "EUR", "value": "2.50", "reason": "plan"});
    for user in ["engineer", "admin", "auditor"] {
        let client = app.client(user).await;
        assert_eq!(client.json("PUT", "/api/v1/credit-value", &good).await.status, 403, "{user}");
        assert_eq!(client.open("/finance/exports/credit-value").await.status, 403, "{user}");
    }
    let finance = app.finance().await;
    assert_eq!(finance.get("/api/v1/credit-value").await.body, "null");
    for (body, field) in [
        (serde_json::json!({"currency": "XXX", "value": "2.50", "reason": "plan"}), "currency"),
        (serde_json::json!({"currency": "EUR", "value": "0.00", "reason": "plan"}), "value"),
        (serde_json::json!({"currency": "EUR", "value": "-1.00", "reason": "plan"}), "value"),
        (serde_json::json!({"currency": "EUR", "value": "2.50", "reason": " "}), "reason"),
    ] {
        let refused = finance.json("PUT", "/api/v1/credit-value", &body).await;
        assert_eq!((refused.status.as_u16(), &refused.json()["errors"][0]["field"]), (422, &field.into()));
    }
    let page = finance.open("/finance/exports?name=focus&period=2026-11").await;
    assert!(page.status == 200 && page.body.contains("this export needs it"), "{}", page.status);
    let typed = [("currency", "eur"), ("value", "1,5"), ("reason", "plan")];
    let refused = finance.post("/finance/exports/credit-value", &typed).await;
    assert!(refused.status == 422 && refused.body.contains("value=\"1,5\""));
    let typed = [("currency", "eur"), ("value", "1.5"), ("reason", "plan")];
    assert_eq!(finance.post("/finance/exports/credit-value", &typed).await.status, 303);
    let page = finance.open("/finance/exports?name=focus&period=2026-11&columns=x_TimeZone").await;
    assert!(page.body.contains("A credit is worth 1.50 EUR this month."));
    assert!(page.body.contains("columns=x_TimeZone\""), "the chosen columns are in the address of the file");
    let logged = app.admin().get("/api/v1/audit?action=credit_value.set").await.json();
    assert_eq!(logged["items"][0]["after"]["value"], "1.50");
}
