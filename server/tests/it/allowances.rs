//! Allowances of teams and pools: periods, what is carried over, which of them binds, and that cycles can be computed again.
#![expect(clippy::unwrap_used, reason = "what fails here fails the test")]

use common::api::{AllowanceAlert, AllowanceLevel, AllowancePeriod, BudgetView, CapLimit, Carry, Role, Span};
use common::money::MicroCredits;
use server::clock::Clock as _;
use server::cycle::{Clearing, clear_due, rebuild};
use server::error::{AppError, ErrorKind};
use server::services::audit::{Doer, Origin};
use server::store::allowances::{ALERT_PERCENTS, Allowance, Owner, PoolAllowance, alerts_since};

use crate::app::TestApp;
use crate::audit::viewer;
use crate::finance::{into_december, is_proved, to_next_step};
use crate::fixture::{self, START, credits};

async fn allow(app: &TestApp, allowance: &Allowance) -> Result<(), AppError> {
    let admin = viewer("ada", &[Role::Admin]);
    let doer = Doer { viewer: &admin, origin: &Origin::default(), reason: "budget" };
    app.services.set_allowance(doer, allowance, None).await
}

async fn allow_pool(app: &TestApp, allowance: &PoolAllowance) -> Result<(), AppError> {
    let admin = viewer("ada", &[Role::Admin]);
    let doer = Doer { viewer: &admin, origin: &Origin::default(), reason: "budget" };
    app.services.set_pool_allowance(doer, allowance, None).await
}

fn of_team(team: &str, amount: i64, hard: bool) -> Allowance {
    Allowance::monthly(team.parse().unwrap(), Some(MicroCredits(amount)), hard)
}

fn of_research(amount: i64, hard: bool, overcommit: bool) -> PoolAllowance {
    PoolAllowance {
        pool: "research".parse().unwrap(),
        amount: Some(MicroCredits(amount)),
        hard,
        period: AllowancePeriod::Month,
        carry: Carry::None,
        overcommit,
    }
}

async fn budget(app: &TestApp, team: &str) -> BudgetView {
    let finance = viewer("fay", &[Role::Finance]);
    app.services.budget(&finance, &team.parse().unwrap(), Span::Day).await.unwrap()
}

#[tokio::test]
async fn t053_t067_children_fit_their_pool_unless_it_is_overcommitted() {
    for test in fixture::both().await {
        let mut app = TestApp::with_bids_on(test).await;
        to_next_step(&mut app).await;
        allow_pool(&app, &of_research(credits(100).0, false, false)).await.unwrap();
        allow(&app, &of_team("speech", credits(80).0, false)).await.unwrap();
        let refused = allow(&app, &of_team("vision", credits(80).0, false)).await.unwrap_err();
        assert_eq!(
            refused.fields()[0].detail,
            "is 80.00; the allowance of pool research is 100.00 per month, its other teams have 80.00 of it: at most 20.00 is \
             left. An admin can let the pool be overcommitted"
        );
        allow(&app, &of_team("vision", credits(20).0, false)).await.unwrap();
        let lower = allow_pool(&app, &of_research(credits(99).0, false, false)).await.unwrap_err();
        assert!(lower.message().contains("sum to 100.00"), "{lower}");
        allow_pool(&app, &of_research(credits(100).0, false, true)).await.unwrap();
        allow(&app, &of_team("vision", credits(80).0, false)).await.unwrap();
        let member = viewer("eve", &[]);
        let doer = Doer { viewer: &member, origin: &Origin::default(), reason: "mine" };
        let refused = app.services.set_pool_allowance(doer, &of_research(1, false, false), None).await;
        assert_eq!(refused.unwrap_err().kind(), ErrorKind::Forbidden);
    }
}

#[tokio::test]
async fn t062_t067_t097_the_least_of_both_is_usable_and_a_pool_that_is_used_up_stops_all_its_teams() {
    for test in fixture::both().await {
        let mut app = TestApp::with_bids_on(test).await;
        to_next_step(&mut app).await;
        let spent = budget(&app, "speech").await.month.spent.0 + budget(&app, "vision").await.month.spent.0;
        assert!(spent > 0);
        // The next steps cost about as much each: the pool's 100 % lie in the second of them.
        allow_pool(&app, &of_research(spent * 5 / 2, true, true)).await.unwrap();
        allow(&app, &of_team("speech", spent * 50, true)).await.unwrap();
        app.clear().await;
        let month = budget(&app, "speech").await.month;
        let (own, above) = (month.allowance.unwrap(), month.pool_allowance.unwrap());
        assert_eq!((month.usable, month.binds), (Some(above.left), Some(AllowanceLevel::Pool)));
        assert!(own.left > above.left && above.spent.0 >= spent);
        for _ in 0..3 {
            to_next_step(&mut app).await;
        }
        for team in ["speech", "vision"] {
            let view = budget(&app, team).await;
            assert_eq!((view.cap.binds, view.burn), (CapLimit::PoolAllowance, MicroCredits::ZERO), "{team}");
        }
        assert!(budget(&app, "ads").await.cap.cap.0 > 0, "another pool goes on");
        is_proved(&app).await;
    }
}

#[tokio::test]
async fn t073_a_pools_allowance_fires_each_share_once_also_when_another_process_goes_on() {
    for test in fixture::both().await {
        let mut app = TestApp::with_bids_on(test).await;
        to_next_step(&mut app).await;
        let spent = budget(&app, "speech").await.month.spent.0 + budget(&app, "vision").await.month.spent.0;
        // The next step costs about as much again: from 40 % to 80 % of this.
        allow_pool(&app, &of_research(spent * 5 / 2, false, true)).await.unwrap();
        app.clear().await;
        assert!(budget(&app, "speech").await.month.pool_alerts.is_empty());
        to_next_step(&mut app).await;
        let month = budget(&app, "speech").await.month;
        let above = month.pool_allowance.unwrap();
        let percents: Vec<u32> = month.pool_alerts.iter().map(|alert| alert.percent).collect();
        let reached = |percent: &u32| u64::from(*percent) <= above.used_percent;
        let expected: Vec<u32> = ALERT_PERCENTS.into_iter().filter(reached).collect();
        assert!(expected.len() >= 2, "{above:?}");
        assert_eq!(percents, expected, "{above:?}");
        let first = month.pool_alerts[0];
        let told_at = |alert: &AllowanceAlert| (alert.spent, alert.amount, alert.cycle);
        assert!(
            month.pool_alerts.iter().all(|alert| told_at(alert) == (above.spent, above.limit, first.cycle))
        );
        assert!(month.alerts.is_empty(), "the team has no allowance of its own");
        assert_eq!(budget(&app, "vision").await.month.pool_alerts, month.pool_alerts);
        assert!(budget(&app, "ads").await.month.pool_alerts.is_empty(), "another pool");
        // A new process knows nothing of what was told, and goes on beyond 100 %.
        for _ in 0..2 {
            app.clock.advance_seconds(600);
            clear_due(&app.store.store, &mut Clearing::new(), app.clock.now()).await.unwrap().unwrap();
        }
        let mut tx = app.store.store.read().await.unwrap();
        let owner = Owner::Pool("research".parse().unwrap());
        let stored = alerts_since(&mut tx, &owner, START.plus_seconds(-40 * 86_400)).await.unwrap();
        let percents: Vec<u32> = stored.iter().map(|alert| alert.percent).collect();
        assert_eq!(percents, ALERT_PERCENTS, "{}: each once", app.store.name);
        drop(tx);
        let page = app.admin().open("/organisation/pools/research").await.body;
        assert!(page.contains("Alerts of the allowance in this period") && page.contains("100 %"), "{page}");
        is_proved(&app).await;
    }
}

#[tokio::test]
async fn t070_what_is_left_is_carried_into_the_next_month_as_the_rule_says_and_cycles_prove_it() {
    for (carry, most) in [(Carry::None, 0), (Carry::Capped(credits(3)), 3), (Carry::Full, i64::MAX)] {
        for test in fixture::both().await {
            let mut app = TestApp::with_bids_on(test).await;
            to_next_step(&mut app).await;
            let allowance = Allowance { carry, ..of_team("speech", credits(5_000).0, true) };
            allow(&app, &allowance).await.unwrap();
            app.clear().await;
            let november = budget(&app, "speech").await.month.allowance.unwrap();
            assert_eq!((november.carried, november.limit), (MicroCredits::ZERO, credits(5_000)));
            into_december(&mut app).await;
            let spent = app
                .services
                .budgets(&viewer("fay", &[Role::Finance]), Some("2026-11"))
                .await
                .unwrap()
                .rows
                .iter()
                .find(|row| row.team.as_str() == "speech")
                .unwrap()
                .spent;
            let view = budget(&app, "speech").await;
            let december = view.month.allowance.unwrap();
            let left = credits(5_000).0 - spent.0;
            let expected = match most {
                0 => 0,
                i64::MAX => left,
                most => credits(most).0,
            };
            assert_eq!(december.carried.0, expected, "{carry:?}");
            assert_eq!(december.limit.0, credits(5_000).0 + expected);
            assert_eq!(december.left.0, december.limit.0 - december.spent.0);
            let mut tx = app.store.store.read().await.unwrap();
            let rebuilt = rebuild(&mut tx, view.clock.cycle).await.unwrap();
            assert!(rebuilt.snapshot_matches && rebuilt.outcome_matches);
            is_proved(&app).await;
        }
    }
}

#[tokio::test]
async fn a_quarterly_allowance_counts_the_quarter_and_is_told_in_words() {
    let mut app = TestApp::with_bids().await;
    to_next_step(&mut app).await;
    let allowance = Allowance {
        period: AllowancePeriod::Quarter,
        carry: Carry::Capped(credits(25)),
        ..of_team("speech", credits(900).0, false)
    };
    allow(&app, &allowance).await.unwrap();
    into_december(&mut app).await;
    let view = budget(&app, "speech").await;
    assert_eq!(view.month.name, "quarter 4 of 2026");
    assert_eq!(
        (view.month.starts_at.to_string().as_str(), view.month.ends_at.to_string().as_str()),
        ("2026-10-01T00:00:00Z", "2027-01-01T00:00:00Z")
    );
    let spent = view.month.allowance.unwrap().spent;
    assert_eq!(spent, view.month.spent);
    let finance = app.finance().await;
    let quarter = finance.get("/api/v1/finance/budgets?period=2026-Q4").await.json();
    let row = quarter["rows"].as_array().unwrap().iter().find(|row| row["team"] == "speech").unwrap();
    assert_eq!((&row["allowance"], &row["spent"]), (&"900.00".into(), &spent.to_string().into()));
    let month = finance.get("/api/v1/finance/budgets?period=2026-12").await.json();
    let row = month["rows"].as_array().unwrap().iter().find(|row| row["team"] == "speech").unwrap();
    assert!(row["allowance"].is_null(), "it is no allowance of a month");
    let page = finance.open("/budget?team=speech").await.body;
    assert!(
        page.contains("credits per quarter") && page.contains("At most 25.00 credits of what is left"),
        "{page}"
    );
}

#[tokio::test]
async fn programs_set_allowances_with_a_reason_and_the_right_to_do_so() {
    let mut app = TestApp::with_bids().await;
    to_next_step(&mut app).await;
    let (admin, engineer) = (app.client("admin").await, app.engineer().await);
    let body = |reason: &str| {
        let carry = serde_json::json!({"capped": "25.00"});
        serde_json::json!({"amount": "900.00", "hard": false, "period": "quarter", "carry": carry, "reason": reason})
    };
    for path in ["/api/v1/teams/speech/allowance", "/api/v1/pools/research/allowance"] {
        let refused = admin.json("PUT", path, &body(" ")).await;
        assert_eq!(
            (refused.status.as_u16(), &refused.json()["errors"][0]["field"]),
            (422, &"reason".into()),
            "{path}"
        );
        assert_eq!(engineer.json("PUT", path, &body("mine")).await.status, 403, "{path}");
        assert_eq!(admin.json("PUT", path, &body("the plan of the year")).await.status, 204, "{path}");
    }
    app.clear().await;
    let month = app.finance().await.get("/api/v1/teams/speech/budget").await.json()["month"].clone();
    assert_eq!(month["allowance"]["carry"], serde_json::json!({"capped": "25.00"}));
    assert_eq!((&month["pool_allowance"]["limit"], &month["binds"]), (&"900.00".into(), &"pool".into()));
}

#[tokio::test]
async fn t068_an_allowance_that_is_taken_away_stays_in_the_reports_of_its_months() {
    let mut app = TestApp::with_bids().await;
    to_next_step(&mut app).await;
    allow(&app, &of_team("speech", credits(700).0, false)).await.unwrap();
    into_december(&mut app).await;
    allow(&app, &Allowance::monthly("speech".parse().unwrap(), None, false)).await.unwrap();
    app.clear().await;
    assert!(budget(&app, "speech").await.month.allowance.is_none());
    let finance = viewer("fay", &[Role::Finance]);
    let of = async |period: &str| {
        let view = app.services.budgets(&finance, Some(period)).await.unwrap();
        view.rows.iter().find(|row| row.team.as_str() == "speech").and_then(|row| row.allowance)
    };
    assert_eq!((of("2026-11").await, of("2026-12").await), (Some(credits(700)), None));
}

#[tokio::test]
async fn the_forms_of_allowances_keep_what_was_typed_and_say_what_they_do() {
    let mut app = TestApp::with_bids().await;
    to_next_step(&mut app).await;
    let admin = app.client("admin").await;
    let form = |amount| {
        [
            ("kind", "soft"),
            ("amount", amount),
            ("period", "quarter"),
            ("carry", "capped"),
            ("carry_cap", "25.00"),
            ("overcommit", "no"),
            ("reason", "the plan of the year"),
        ]
    };
    for path in ["/organisation/teams/speech/allowance", "/organisation/pools/research/allowance"] {
        let refused = admin.post(path, &form("1,000")).await;
        assert!(
            refused.status == 422 && refused.body.contains("1,000") && refused.body.contains("25.00"),
            "{path}"
        );
        assert_eq!(admin.post(path, &form("1000.00")).await.status, 303, "{path}");
        let page = admin.open(path).await.body;
        let words =
            "1000.00 credits per quarter, soft: alert only; at most 25.00 of what is left is carried over";
        assert!(page.contains(words), "{page}");
        assert!(page.contains("the least of its own allowance and its pool"), "{page}");
    }
    assert_eq!(app.engineer().await.open("/organisation/pools/research/allowance").await.status, 403);
}
