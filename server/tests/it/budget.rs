//! Budgets and allowances: the figures, the alerts, what a hard allowance does, and that the past can be computed again.
#![expect(clippy::unwrap_used, reason = "what fails here fails the test")]

use std::collections::BTreeMap;

use common::api::{BudgetView, CapLimit, Role, Runway, Span};
use common::ids::TeamId;
use common::money::MicroCredits;
use server::clock::Clock as _;
use server::cycle::{Clearing, clear_due, verify};
use server::error::{AppError, ErrorKind};
use server::policy::{Membership, Viewer};
use server::services::audit::{Doer, Origin};
use server::services::version::version_of;
use server::services::{ledger, ledger::Grant};
use server::store::allowances::{Allowance, Owner, alerts_since};

use crate::app::{Answer, TestApp};
use crate::audit::viewer;
use crate::fixture::{self, START, credits};

fn team(id: &str) -> TeamId {
    id.parse().unwrap()
}

/// A member of one team, without any role.
fn member(name: &str, of: &str, pool: &str) -> Viewer {
    let membership = Membership { pool: pool.parse().unwrap(), leads: false };
    Viewer { teams: BTreeMap::from([(team(of), membership)]), ..viewer(name, &[]) }
}

async fn get(app: &TestApp, viewer: &Viewer, path: &str) -> Answer {
    app.client_of(viewer).await.get(path).await
}

async fn budget(app: &TestApp, of: &str) -> BudgetView {
    app.services.budget(&viewer("fay", &[Role::Finance]), &team(of), Span::Day).await.unwrap()
}

async fn allow(app: &TestApp, of: &str, amount: Option<i64>, hard: bool) -> Result<(), AppError> {
    let admin = viewer("ada", &[Role::Admin]);
    let doer = Doer { viewer: &admin, origin: &Origin::default(), reason: "budget of the month" };
    let allowance = Allowance::monthly(team(of), amount.map(MicroCredits), hard);
    app.services.set_allowance(doer, &allowance, None).await
}

/// Waits for the next cycle that books an accounting step, every five minutes.
async fn to_next_step(app: &mut TestApp) {
    app.clear_many(5).await;
}

#[tokio::test]
async fn the_figures_of_a_budget_are_those_of_its_ledger() {
    for test in fixture::both().await {
        let mut app = TestApp::with_bids_on(test).await;
        to_next_step(&mut app).await;
        to_next_step(&mut app).await;
        let view = budget(&app, "speech").await;
        let finance = viewer("fay", &[Role::Finance]);
        let page = get(&app, &finance, "/api/v1/teams/speech/ledger?limit=500").await.json();
        let entries = page["items"].as_array().unwrap();
        let amount = |entry: &serde_json::Value| -> i64 {
            entry["amount"].as_str().unwrap().parse::<MicroCredits>().unwrap().0
        };
        assert_eq!(
            entries.iter().map(amount).sum::<i64>(),
            view.balance.0,
            "a balance is the sum of its entries"
        );
        assert_eq!(entries[0]["balance_after"], view.balance.to_string());
        let of_kind =
            |kind: &str| entries.iter().filter(|entry| entry["kind"] == kind).map(amount).sum::<i64>();
        assert!(view.month.spent.0 > 0);
        assert_eq!(-of_kind("charge"), view.month.spent.0);
        let history = &view.history.points;
        assert_eq!(history.iter().map(|point| point.spent.0).sum::<i64>(), view.month.spent.0);
        assert_eq!(history.iter().map(|point| point.income.0).sum::<i64>(), of_kind("income"));
        assert_eq!(history.last().unwrap().balance, view.balance);
        assert_eq!(view.income, credits(30));
        assert_eq!(view.burn.0, view.burns.iter().map(|burn| burn.cost.0).sum::<i64>());
        assert!(view.burn.0 > 0);
        assert_eq!((view.available, view.owed), (view.balance, MicroCredits::ZERO));
        assert_eq!(view.cap.binds, CapLimit::Leverage);
        assert_eq!(view.cap.cap, credits(60));
    }
}

#[tokio::test]
async fn the_ledger_is_filtered_paged_and_each_transfer_opens() {
    for test in fixture::both().await {
        let mut app = TestApp::with_bids_on(test).await;
        to_next_step(&mut app).await;
        to_next_step(&mut app).await;
        let engineer = member("eve", "speech", "research");
        let mut seen = Vec::new();
        let mut next = Some(String::new());
        while let Some(cursor) = next {
            let page =
                get(&app, &engineer, &format!("/api/v1/teams/speech/ledger?limit=2{cursor}")).await.json();
            seen.extend(page["items"].as_array().unwrap().clone());
            next = page["next_cursor"].as_str().map(|cursor| format!("&cursor={cursor}"));
        }
        let whole = get(&app, &engineer, "/api/v1/teams/speech/ledger").await.json();
        assert_eq!(&seen, whole["items"].as_array().unwrap());
        let count = |query: &str| {
            let path = format!("/api/v1/teams/speech/ledger?{query}");
            let (app, engineer) = (&app, &engineer);
            async move { get(app, engineer, &path).await.json()["items"].as_array().unwrap().len() }
        };
        assert_eq!(count("kind=mint").await, 1, "the starting balance");
        assert!(count("kind=charge&chip_type=A100").await > 0);
        assert_eq!(count("chip_type=H100").await, 0);
        // The step of 00:05 covers the time before it: it does not count in what begins then.
        let first_step = count("to=2026-11-30T00:05:00Z&kind=charge").await;
        let rest = count("from=2026-11-30T00:05:00Z&kind=charge").await;
        assert_eq!((first_step, first_step + rest), (1, count("kind=charge").await));
        let charge = seen.iter().find(|entry| entry["kind"] == "charge").unwrap();
        let path = format!("/api/v1/teams/speech/ledger/{}", charge["transfer"]);
        let transfer = get(&app, &engineer, &path).await.json();
        let entries = transfer["entries"].as_array().unwrap();
        let sum: i64 = entries
            .iter()
            .map(|entry| entry["amount"].as_str().unwrap().parse::<MicroCredits>().unwrap().0)
            .sum();
        assert_eq!(sum, 0);
        assert!(
            entries.iter().all(|entry| entry["owner"] != "vision"),
            "others' entries are one sum: {transfer}"
        );
        assert!(entries.iter().any(|entry| entry["account"] == "other_teams"));
        assert_eq!(transfer["first_cycle"], 5);
        let all = get(&app, &viewer("fay", &[Role::Finance]), &path).await.json();
        assert!(all["entries"].as_array().unwrap().iter().any(|entry| entry["owner"] == "vision"));
        let csv = get(&app, &engineer, "/api/v1/teams/speech/ledger?format=csv&kind=mint").await.body;
        assert!(
            csv.starts_with("transfer,booked_at,kind,cycle,amount_credits,balance_after_credits,"),
            "{csv}"
        );
        assert!(csv.contains(",mint,1,100.00,100.00,,,starting balance"), "{csv}");
    }
}

#[tokio::test]
async fn other_teams_money_is_hidden_from_members_and_open_to_those_who_watch_it() {
    let mut app = TestApp::with_bids().await;
    app.clear().await;
    let eve = member("eve", "speech", "research");
    for path in ["budget", "ledger", "ledger/1"] {
        assert_eq!(get(&app, &eve, &format!("/api/v1/teams/ads/{path}")).await.status, 404, "{path}");
        assert_eq!(app.anonymous().get(&format!("/api/v1/teams/ads/{path}")).await.status, 401, "{path}");
        for role in Role::ALL {
            let reader = viewer("ada", &[role]);
            let path = if path == "ledger/1" { "ledger/3" } else { path };
            assert_eq!(get(&app, &reader, &format!("/api/v1/teams/ads/{path}")).await.status, 200, "{path}");
        }
    }
    // A transfer of another team is not found through one's own.
    assert_eq!(get(&app, &eve, "/api/v1/teams/speech/ledger/3").await.status, 404);
    assert_eq!(get(&app, &eve, "/api/v1/teams/nobody/budget").await.status, 404);
    let wrong = get(&app, &eve, "/api/v1/teams/speech/ledger?kind=gift").await;
    assert_eq!((wrong.status.as_u16(), &wrong.json()["errors"][0]["field"]), (422, &"kind".into()));
}

#[tokio::test]
async fn t058_a_team_that_owes_has_nothing_available_and_the_amount_it_owes() {
    let mut app = TestApp::new().await;
    app.clear().await;
    let mut tx = app.store.store.write().await.unwrap();
    let correction = Grant {
        team: team("speech"),
        amount: credits(-112),
        reason: "paid twice".to_owned(),
        key: "k".to_owned(),
    };
    ledger::correct(&mut tx, app.clock.now(), &correction).await.unwrap();
    tx.commit().await.unwrap();
    app.clear().await;
    let view = budget(&app, "speech").await;
    assert_eq!((view.balance, view.available, view.owed), (credits(-12), MicroCredits::ZERO, credits(12)));
    assert_eq!((view.cap.binds, view.runway), (CapLimit::Balance, Runway::NotSpending));
}

#[tokio::test]
async fn t073_one_charge_over_several_shares_fires_each_once_and_none_again_after_a_restart() {
    for test in fixture::both().await {
        let mut app = TestApp::with_bids_on(test).await;
        to_next_step(&mut app).await;
        let spent = budget(&app, "speech").await.month.spent.0;
        // The next step costs about as much again: from 40 % to 80 % of this.
        let amount = spent * 5 / 2;
        allow(&app, "speech", Some(amount), false).await.unwrap();
        app.clear().await;
        assert!(budget(&app, "speech").await.month.alerts.is_empty());
        to_next_step(&mut app).await;
        let month = budget(&app, "speech").await.month;
        let percents: Vec<u32> = month.alerts.iter().map(|alert| alert.percent).collect();
        let used = month.allowance.unwrap().used_percent;
        let expected: Vec<u32> =
            [50, 75, 90, 100].into_iter().filter(|percent| u64::from(*percent) <= used).collect();
        assert!(percents.len() >= 2, "{used} %");
        assert_eq!(percents, expected, "{used} %");
        assert!(
            month
                .alerts
                .iter()
                .all(|alert| alert.spent == month.spent && alert.cycle == month.alerts[0].cycle)
        );
        // A new process knows nothing of what was told.
        app.clock.advance_seconds(60);
        clear_due(&app.store.store, &mut Clearing::new(), app.clock.now()).await.unwrap().unwrap();
        let mut tx = app.store.store.read().await.unwrap();
        let stored = alerts_since(&mut tx, &Owner::Team(team("speech")), START.plus_seconds(-40 * 86_400))
            .await
            .unwrap();
        assert_eq!(stored.len(), expected.len(), "none is fired again");
    }
}

#[tokio::test]
async fn t071_a_hard_allowance_that_is_used_up_stops_the_teams_bids_until_the_month_is_over() {
    for test in fixture::both().await {
        let mut app = TestApp::with_bids_on(test).await;
        to_next_step(&mut app).await;
        let spent = budget(&app, "speech").await.month.spent.0;
        allow(&app, "speech", Some(spent * 5 / 2), true).await.unwrap();
        allow(&app, "vision", Some(1), false).await.unwrap();
        // Two steps are beyond it.
        for _ in 0..3 {
            to_next_step(&mut app).await;
        }
        let view = budget(&app, "speech").await;
        let allowance = view.month.allowance.unwrap();
        assert!(allowance.hard && allowance.used_percent >= 100);
        assert_eq!((view.cap.binds, view.cap.cap), (CapLimit::Allowance, MicroCredits::ZERO));
        assert_eq!(view.burn, MicroCredits::ZERO, "its bids get only what is free");
        let soft = budget(&app, "vision").await;
        assert!(
            soft.month.allowance.unwrap().used_percent > 100 && !soft.burns.is_empty(),
            "a soft one only alerts"
        );
        // The last minute of November, and December.
        app.clock.advance_seconds(86_400 - 60 * 22);
        app.clear().await;
        assert_eq!(budget(&app, "speech").await.burn, MicroCredits::ZERO);
        app.clear_many(2).await;
        let view = budget(&app, "speech").await;
        assert_eq!(view.month.name, "December 2026");
        assert_eq!((view.month.spent, view.cap.binds), (MicroCredits::ZERO, CapLimit::Leverage));
        assert!(view.burn.0 > 0, "the new month opens it again");
        let report = verify::verify(&app.store.store, None, None, |_, _| {}).await.unwrap();
        assert!(report.differences.is_empty(), "{:?}", report.differences);
    }
}

#[tokio::test]
async fn t064_t131_an_allowance_needs_a_reason_a_right_version_and_enough_for_what_is_used() {
    let mut app = TestApp::with_bids().await;
    to_next_step(&mut app).await;
    let refused = allow(&app, "speech", Some(1), true).await.unwrap_err();
    assert_eq!(refused.kind(), ErrorKind::Invalid);
    assert!(refused.fields()[0].detail.contains("the least is"), "{refused}");
    allow(&app, "speech", Some(1), false).await.unwrap();
    let admin = viewer("ada", &[Role::Admin]);
    let origin = Origin::default();
    let set = |viewer, reason, known| {
        let allowance = Allowance::monthly(team("speech"), Some(credits(5)), false);
        let services = &app.services;
        let origin = &origin;
        async move {
            let doer = Doer { viewer, origin, reason };
            services.set_allowance(doer, &allowance, known).await.map_err(|error| error.kind())
        }
    };
    assert_eq!(set(&admin, "", None).await, Err(ErrorKind::Invalid));
    let old = version_of(&Allowance::monthly(team("speech"), None, false)).unwrap();
    assert_eq!(set(&admin, "x", Some(old.as_str())).await, Err(ErrorKind::PreconditionFailed));
    let member = member("eve", "speech", "research");
    assert_eq!(set(&member, "x", None).await, Err(ErrorKind::Forbidden));
    let mut pool_admin = viewer("pat", &[]);
    pool_admin.pools.insert("research".parse().unwrap());
    assert_eq!(set(&pool_admin, "x", None).await, Ok(()));
    let log = get(&app, &admin, "/api/v1/audit?action=team.allowance_set").await.json();
    assert_eq!(log["items"].as_array().unwrap().len(), 2);
    assert_eq!(log["items"][0]["after"]["amount"], "5.00");
}

#[tokio::test]
async fn t058_a_balance_that_runs_out_is_told_a_day_and_an_hour_ahead_once_each() {
    for test in fixture::both().await {
        let mut app = TestApp::with_bids_on(test).await;
        to_next_step(&mut app).await;
        to_next_step(&mut app).await;
        let hours = |view: &BudgetView| view.warnings.iter().map(|told| told.hours).collect::<Vec<_>>();
        let view = budget(&app, "speech").await;
        assert_eq!(hours(&view), [24], "{:?} of {}", view.runway, view.balance);
        assert_eq!((view.warnings[0].burn, view.warnings[0].income), (view.burn, view.income));

        // Nearer the end, and allowed to go on.
        let mut tx = app.store.store.write().await.unwrap();
        let all_but_ten = Grant {
            team: team("speech"),
            amount: MicroCredits(credits(10).0 - view.balance.0),
            reason: "booked wrongly".to_owned(),
            key: "t058".to_owned(),
        };
        ledger::correct(&mut tx, app.clock.now(), &all_but_ten).await.unwrap();
        let settings =
            server::store::entities::Organisation { sustain_minutes: 10, ..fixture::setup().organisation };
        server::services::organisation::change_settings(&mut tx, app.clock.now(), &settings).await.unwrap();
        tx.commit().await.unwrap();
        to_next_step(&mut app).await;
        to_next_step(&mut app).await;
        let view = budget(&app, "speech").await;
        assert_eq!(hours(&view), [24, 1], "{:?} of {}", view.runway, view.balance);
        let page = get(&app, &viewer("fay", &[Role::Finance]), "/budget?team=speech").await.body;
        assert!(
            page.contains("Warnings of the last seven days") && page.contains("an hour at most"),
            "{page}"
        );

        // A process that comes up anew tells nothing twice on the same day.
        app.clock.advance_seconds(300);
        clear_due(&app.store.store, &mut Clearing::new(), app.clock.now()).await.unwrap().unwrap();
        assert_eq!(hours(&budget(&app, "speech").await), [24, 1], "{}", app.store.name);
        app.clock.advance_seconds(86_400);
        clear_due(&app.store.store, &mut Clearing::new(), app.clock.now()).await.unwrap().unwrap();
        let report = verify::verify(&app.store.store, None, None, |_, _| {}).await.unwrap();
        assert!(report.differences.is_empty(), "{:?}", report.differences);
    }
}

#[tokio::test]
async fn t094_shares_of_use_and_of_budget_over_7_30_and_90_days() {
    for test in fixture::both().await {
        let mut app = TestApp::with_bids_on(test).await;
        app.clear_many(30).await;
        let engineer = member("eve", "speech", "research");
        for days in [7, 30, 90] {
            let shares = get(&app, &engineer, &format!("/api/v1/shares?days={days}")).await.json();
            let of = |team: &str, field: &str| {
                let teams = shares["teams"].as_array().unwrap();
                teams.iter().find(|row| row["team"] == team).unwrap()[field].as_u64().unwrap()
            };
            // Research weighs 60 of 100; speech earns 30 of its 61.
            assert_eq!(of("ads", "budget_share_ppm"), 400_000, "{shares}");
            assert_eq!(of("speech", "budget_share_ppm"), 295_081, "{shares}");
            let used: u64 = ["ads", "speech", "vision"].map(|team| of(team, "used_share_ppm")).iter().sum();
            assert!((999_997..=1_000_000).contains(&used), "{shares}");
            assert_eq!(of("ads", "used_milli_chip_hours"), 0);
            // All 56 chips were used for 29 minutes.
            let hours = of("speech", "used_milli_chip_hours") + of("vision", "used_milli_chip_hours");
            assert!((27_064..=27_067).contains(&hours), "{hours}");
        }
        assert_eq!(get(&app, &engineer, "/api/v1/shares?days=8").await.status, 422);
        let page = get(&app, &engineer, "/organisation/shares?days=7").await.body;
        assert!(page.contains("The last 7 days") && page.contains("29.50"), "{page}");
    }
}
