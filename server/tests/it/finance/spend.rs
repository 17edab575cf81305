//! Spend by pool, team and chip type: the same as the ledger, before and after it is rolled up, in any zone.
#![expect(clippy::unwrap_used, reason = "what fails here fails the test")]

use common::api::{SpendGroup, SpendView};
use common::money::MicroCredits;
use server::clock::Clock as _;
use server::services::finance::SpendQuery;
use server::services::organisation::{self, NewOrganisation};

use super::{amount, entries, roll_up, to_next_step};
use crate::app::TestApp;
use crate::audit::viewer;
use crate::fixture::{self, START, TestStore};

async fn spend(app: &TestApp, group: SpendGroup, period: &str) -> SpendView {
    let query = SpendQuery { period: Some(period.to_owned()), group, ..SpendQuery::default() };
    app.services.spend(&viewer("fay", &[common::api::Role::Finance]), &query).await.unwrap()
}

/// A market whose organisation counts its days in another zone, with bids.
async fn in_zone(test: TestStore, zone: &str) -> TestApp {
    let mut setup = fixture::setup();
    zone.clone_into(&mut setup.organisation.time_zone);
    let mut tx = test.store.write().await.unwrap();
    organisation::create(&mut tx, START, &NewOrganisation { setup, grants: Vec::new() }).await.unwrap();
    for (id, team) in [("a", "speech"), ("b", "vision"), ("c", "ads")] {
        server::services::bids::place(&mut tx, START, fixture::bid(id, team, "A100", 30)).await.unwrap();
    }
    tx.commit().await.unwrap();
    TestApp::on(test).await
}

#[tokio::test]
async fn spend_is_what_the_ledger_says_by_each_group_before_and_after_it_is_rolled_up() {
    for test in fixture::both().await {
        let mut app = in_zone(test, "UTC").await;
        for _ in 0..4 {
            to_next_step(&mut app).await;
        }
        let finance = app.finance().await;
        let mut charged = 0;
        for team in ["speech", "vision", "ads"] {
            let charges = entries(&finance, team, "&kind=charge").await;
            let of_team: i64 = charges.iter().map(|entry| -amount(&entry["amount"])).sum();
            charged += of_team;
            let view = spend(&app, SpendGroup::Team, "2026-11").await;
            let Some(row) = view.rows.iter().find(|row| row.id == team) else {
                assert_eq!(of_team, 0, "{team}: nothing granted, nothing charged, no row");
                continue;
            };
            assert_eq!(row.cost.unwrap().0, of_team, "{team}");
            let seconds: u64 = charges.iter().map(|entry| entry["chip_seconds"].as_u64().unwrap()).sum();
            assert_eq!(row.usage.charged_chip_seconds, seconds);
        }
        assert!(charged > 0);
        let mut before = Vec::new();
        for group in SpendGroup::ALL {
            let view = spend(&app, group, "2026-11").await;
            let sum: i64 = view.rows.iter().map(|row| row.global_cost.0).sum();
            assert_eq!(sum, view.total.global_cost.0, "each grouping has the same total");
            let marked = view.rows.iter().chain([&view.total]).any(|row| row.unusual);
            assert!(!marked, "there was no market before to compare with: {view:?}");
            assert_eq!((&view.period.earlier, &view.period.later), (&None, &None), "its only month");
            assert_eq!(view.days.iter().map(|day| day.global_cost.0).sum::<i64>(), sum);
            let series: i64 = view.series.iter().flat_map(|one| &one.global_cost).map(|one| one.0).sum();
            assert_eq!(series, sum);
            before.push(view);
        }
        assert!(before.windows(2).all(|pair| pair[0].total.global_cost == pair[1].total.global_cost));
        let pools = &before[0];
        let local: i64 = pools.rows.iter().map(|row| row.cost.unwrap().0).sum();
        // Credits of several pools have no sum.
        let one_pool = (pools.rows.len() == 1).then_some(MicroCredits(charged));
        assert_eq!((local, pools.total.cost), (charged, one_pool));
        roll_up(&app).await;
        for (group, before) in SpendGroup::ALL.into_iter().zip(&before) {
            assert_eq!(spend(&app, group, "2026-11").await, *before, "{}: rolled up", app.store.name);
        }
        // What is booked since is added to what is rolled up.
        to_next_step(&mut app).await;
        let after = spend(&app, SpendGroup::Team, "2026-11").await;
        assert!(after.total.global_cost > before[1].total.global_cost);
        roll_up(&app).await;
        assert_eq!(spend(&app, SpendGroup::Team, "2026-11").await, after);
    }
}

#[tokio::test]
async fn t124_days_and_months_are_the_zones_also_where_midnight_is_not_on_an_hour_of_utc() {
    for zone in ["Asia/Kolkata", "Asia/Kathmandu", "America/St_Johns"] {
        // 18:20 UTC on 30 November is ten minutes before December in Kolkata.
        let mut app = in_zone(fixture::sqlite().await, zone).await;
        app.clear().await;
        for _ in 0..28 {
            app.clock.advance_seconds(3_600 - 60);
            app.clear().await;
        }
        let finance = app.finance().await;
        for rolled_up in [false, true] {
            if rolled_up {
                roll_up(&app).await;
            }
            let (november, december) = (
                spend(&app, SpendGroup::Team, "2026-11").await,
                spend(&app, SpendGroup::Team, "2026-12").await,
            );
            assert!(november.total.global_cost.0 > 0 && december.total.global_cost.0 > 0, "{zone}");
            for view in [&november, &december] {
                for row in &view.rows {
                    let bounds =
                        format!("&kind=charge&from={}&to={}", view.period.starts_at, view.period.ends_at);
                    let charges = entries(&finance, &row.id, &bounds).await;
                    let sum: i64 = charges.iter().map(|entry| -amount(&entry["amount"])).sum();
                    assert_eq!(row.cost.unwrap().0, sum, "{zone} {} {}", view.period.period, row.id);
                }
                for day in view.days.iter().filter(|day| day.global_cost.0 > 0) {
                    let of_day = spend(&app, SpendGroup::Team, &day.day).await;
                    assert_eq!(of_day.total.global_cost, day.global_cost, "{zone} {}", day.day);
                }
            }
        }
        super::is_proved(&app).await;
    }
}

#[tokio::test]
async fn t124_the_budget_page_the_finance_page_and_the_statement_have_one_month() {
    let mut app = in_zone(fixture::sqlite().await, "Europe/Berlin").await;
    app.clear().await;
    app.clock.advance_seconds(22 * 3_600);
    app.clear_many(90).await;
    // 00:30 in Berlin on 1 December is still November in UTC.
    assert_eq!(app.clock.now().to_string(), "2026-11-30T23:31:00Z");
    let finance = app.finance().await;
    let budget = finance.get("/api/v1/teams/speech/budget").await.json();
    let spend = finance.get("/api/v1/finance/spend?group=team&team=speech").await.json();
    let statement = finance.get("/api/v1/teams/speech/statement").await.json();
    assert_eq!(budget["month"]["name"], "December 2026");
    assert_eq!(
        (&spend["period"]["period"], &statement["period"]["period"]),
        (&"2026-12".into(), &"2026-12".into())
    );
    let spent = &budget["month"]["spent"];
    assert!(amount(spent) > 0);
    assert_eq!((&spend["rows"][0]["cost"], &spend["total"]["cost"]), (spent, spent));
    let charges: i64 = statement["lines"]
        .as_array()
        .unwrap()
        .iter()
        .filter(|line| line["kind"] == "charge")
        .map(|line| -amount(&line["amount"]))
        .sum();
    assert_eq!(charges, amount(spent));
}

#[tokio::test]
async fn another_zone_counts_the_same_ledger_by_its_own_days() {
    for test in fixture::both().await {
        let mut app = in_zone(test, "UTC").await;
        app.clear().await;
        for _ in 0..26 {
            app.clock.advance_seconds(3_600 - 60);
            app.clear().await;
        }
        roll_up(&app).await;
        let before = spend(&app, SpendGroup::Pool, "2026-Q4").await;
        let mut tx = app.store.store.write().await.unwrap();
        let mut settings = fixture::setup().organisation;
        settings.time_zone = "America/New_York".to_owned();
        organisation::change_settings(&mut tx, app.clock.now(), &settings).await.unwrap();
        tx.commit().await.unwrap();
        app.clear().await;
        let other = spend(&app, SpendGroup::Pool, "2026-Q4").await;
        assert_eq!(other.total.global_cost, before.total.global_cost, "{}", app.store.name);
        assert_ne!(other.days.first().unwrap().starts_at, before.days.first().unwrap().starts_at);
        roll_up(&app).await;
        assert_eq!(spend(&app, SpendGroup::Pool, "2026-Q4").await, other);
    }
}

#[tokio::test]
async fn t146_t151_what_was_granted_and_not_used_is_idle_and_shown() {
    let mut app = TestApp::new().await;
    let mut tx = app.store.store.write().await.unwrap();
    let mut waits = fixture::bid("later", "speech", "A100", 8);
    waits.terms.not_before = Some(START.plus_seconds(86_400));
    server::services::bids::place(&mut tx, START, waits).await.unwrap();
    server::services::bids::place(&mut tx, START, fixture::bid("now", "vision", "A100", 8)).await.unwrap();
    tx.commit().await.unwrap();
    to_next_step(&mut app).await;
    to_next_step(&mut app).await;
    let view = spend(&app, SpendGroup::ChipType, "2026-11").await;
    let usage = view.total.usage;
    assert_eq!(
        usage.granted_chip_seconds,
        usage.used_chip_seconds + usage.idle_chip_seconds - usage.over_chip_seconds,
        "both bases add up: {usage:?}"
    );
    assert!(usage.used_chip_seconds > 0);
    let csv = app.finance().await.get("/api/v1/finance/spend?group=chip_type&format=csv").await.body;
    assert!(csv.contains("granted_chip_seconds,used_chip_seconds,"), "{csv}");
    assert!(csv.contains(&format!(",{},{},", usage.granted_chip_seconds, usage.used_chip_seconds)), "{csv}");
}

#[tokio::test]
async fn t149_use_beyond_what_was_granted_is_over_use_and_idle_is_never_less_than_nothing() {
    // Two pieces, as an import or a reclaim may leave them: one beyond its quota, one below it.
    const PIECES: &str = "INSERT INTO usage (starts_at, team, chip_type, granted_chip_seconds, used_chip_seconds, \
        opportunistic_chip_seconds, cost) VALUES (1795996861000000, 'ads', 'H100', 600, 900, 0, 0), \
        (1795996862000000, 'ads', 'H100', 600, 500, 0, 0)";
    for test in fixture::both().await {
        let mut app = TestApp::with_bids_on(test).await;
        to_next_step(&mut app).await;
        super::past_the_program(&app.store.place, PIECES).await.unwrap();
        for rolled_up in [false, true] {
            if rolled_up {
                roll_up(&app).await;
            }
            let view = spend(&app, SpendGroup::ChipType, "2026-11").await;
            let usage = view.rows.iter().find(|row| row.id == "H100").unwrap().usage;
            assert_eq!(
                (usage.over_chip_seconds, usage.idle_chip_seconds),
                (300, 100),
                "neither hides the other"
            );
            assert_eq!(usage.granted_chip_seconds + 300, usage.used_chip_seconds + 100);
        }
    }
}

#[tokio::test]
async fn t152_a_period_without_spend_is_a_header_and_a_200() {
    let mut app = TestApp::with_bids().await;
    app.clear().await;
    let finance = app.finance().await;
    for path in ["spend?period=2026-09&", "budgets?period=2026-09&", "bookings?"] {
        let answer = finance.get(&format!("/api/v1/finance/{path}format=csv")).await;
        assert_eq!(
            (answer.status.as_u16(), answer.body.lines().count()),
            (200, 1),
            "{path}: {}",
            answer.body
        );
    }
    for (path, field) in [("spend?period=november", "period"), ("budgets?period=2026-11-30", "period")] {
        let refused = finance.get(&format!("/api/v1/finance/{path}")).await;
        assert_eq!((refused.status.as_u16(), &refused.json()["errors"][0]["field"]), (422, &field.into()));
    }
    assert_eq!(finance.get("/api/v1/finance/spend?pool=nothing").await.status, 404);
}

#[tokio::test]
async fn a_change_is_told_by_price_and_by_quantity_and_budgets_have_a_tested_forecast() {
    let mut app = TestApp::with_bids().await;
    super::into_december(&mut app).await;
    let december = spend(&app, SpendGroup::Team, "2026-12").await;
    assert_eq!(december.compared.period, "2026-11-01..2026-11-01");
    let month = spend(&app, SpendGroup::Team, "2026-11").await;
    for row in december.rows.iter().chain(&month.rows) {
        assert_eq!(row.change.0, row.price_effect.0 + row.quantity_effect.0);
        assert_eq!(row.change.0, row.global_cost.0 - row.global_cost_before.0);
    }
    let finance = viewer("fay", &[common::api::Role::Finance]);
    let budgets = app.services.budgets(&finance, None).await.unwrap();
    assert_eq!(budgets.period.period, "2026-12");
    let page =
        app.services.budget(&finance, &"speech".parse().unwrap(), common::api::Span::Day).await.unwrap();
    let row = budgets.rows.iter().find(|row| row.team.as_str() == "speech").unwrap();
    assert_eq!((row.spent, row.forecast), (page.month.spent, page.month.forecast.amount));
    assert!(row.forecast.0 > row.spent.0 && row.allowance.is_none());
    // November began with its last day here: no forecast could be made in its middle.
    assert!(budgets.tests.is_empty());
    let past = app.services.budgets(&finance, Some("2026-11")).await.unwrap();
    assert!(past.period.over && past.rows.iter().all(|row| row.forecast == row.spent));
}
