//! The organisation's pages, as the people concerned use them: with forms, without scripts.
#![expect(clippy::unwrap_used, reason = "what fails here fails the test")]

use common::api::Role;

use crate::app::{Answer, TestApp};
use crate::audit::viewer;
use crate::client::Client;
use crate::fixture;

/// The version that a form on a page was made from.
fn version(page: &Answer) -> String {
    let rest = page.body.split_once("name=\"version\" value=\"").expect("a form").1;
    rest.split_once('"').unwrap().0.to_owned()
}

/// Opens a form and posts it with its version.
async fn fill(client: &Client, path: &str, fields: &[(&str, &str)]) -> Answer {
    let page = client.open(path).await;
    assert_eq!(page.status, 200, "{path}: {}", page.body);
    let version = version(&page);
    let mut fields = fields.to_vec();
    fields.push(("version", &version));
    client.post(path, &fields).await
}

async fn audited(app: &TestApp, action: &str) -> Vec<serde_json::Value> {
    let page = app.get(&format!("/api/v1/audit?action={action}")).await.json();
    page["items"].as_array().unwrap().clone()
}

#[tokio::test]
async fn an_admin_adds_a_pool_and_a_team_that_take_part_from_the_next_cycle_on() {
    for test in fixture::both().await {
        fixture::create(&test.store).await;
        let mut app = TestApp::on(test).await;
        app.clear().await;
        let pool = [
            ("id", "new"),
            ("name", "New"),
            ("weight", "10"),
            ("lending", "all"),
            ("reason", "a unit joins"),
        ];
        assert_eq!(fill(app.admin(), "/organisation/pools/new", &pool).await.status, 303);
        let team = [
            ("id", "first"),
            ("name", "First"),
            ("pool", "new"),
            ("income", "5.5"),
            ("leverage", "1.5"),
            ("reason", "its team"),
        ];
        assert_eq!(fill(app.admin(), "/organisation/teams/new", &team).await.status, 303);
        app.clear_many(6).await;
        let budget = app.get("/api/v1/teams/first/budget").await.json();
        assert_eq!(
            (&budget["income"], &budget["cap"]["leverage_thousandths"]),
            (&"5.50".into(), &1_500.into())
        );
        assert_ne!(budget["balance"], "0.00", "it earns");
        assert_eq!(audited(&app, "team.added").await[0]["after"]["income"], "5.50");
        let again = fill(app.admin(), "/organisation/pools/new", &pool).await;
        assert_eq!(again.status, 422);
        assert!(again.body.contains("is the id of a pool already"), "{}", again.body);
    }
}

#[tokio::test]
async fn another_income_is_shown_with_its_effect_before_it_is_set() {
    let mut app = TestApp::new().await;
    app.clear().await;
    let path = "/organisation/teams/speech/change";
    let fields = [("name", "speech"), ("income", "20"), ("reason", "less work")];
    let asked = fill(app.admin(), path, &fields).await;
    assert_eq!(asked.status, 200, "{}", asked.body);
    for text in ["each is multiplied by 51.00 ÷ 61.00", "a rebase", "Set the income", "less work"] {
        assert!(asked.body.contains(text), "{text}: {}", asked.body);
    }
    assert!(audited(&app, "team.changed").await.is_empty(), "nothing is set yet");
    let version = version(&asked);
    let mut confirmed = fields.to_vec();
    confirmed.extend([("confirmed", "yes"), ("version", version.as_str())]);
    assert_eq!(app.admin().post(path, &confirmed).await.status, 303);
    app.clear().await;
    let ledger = app.get("/api/v1/teams/vision/ledger?kind=rebase").await.json();
    assert_eq!(ledger["items"].as_array().unwrap().len(), 1);
    let entry = &audited(&app, "team.changed").await[0];
    assert_eq!((&entry["before"]["income"], &entry["after"]["income"]), (&"30.00".into(), &"20.00".into()));
}

#[tokio::test]
async fn two_admins_at_once_and_the_second_sees_what_is_in_force_and_keeps_what_was_typed() {
    let app = TestApp::new().await;
    let path = "/organisation/settings/change";
    let settings = |name: &'static str, version: String| {
        vec![
            ("name", name.to_owned()),
            ("time_zone", "Europe/Berlin".to_owned()),
            ("cycle_seconds", "60".to_owned()),
            ("accounting_seconds", "300".to_owned()),
            ("sustain_minutes", "120".to_owned()),
            ("rebase_balances", "yes".to_owned()),
            ("raw_retention_days", "90".to_owned()),
            ("balance_cap_hours", String::new()),
            ("reason", "a new name".to_owned()),
            ("version", version),
        ]
    };
    async fn post(client: &Client, path: &str, fields: &[(&'static str, String)]) -> Answer {
        let fields: Vec<(&str, &str)> = fields.iter().map(|(name, value)| (*name, value.as_str())).collect();
        client.post(path, &fields).await
    }
    let old = version(&app.admin().open(path).await);
    assert_eq!(post(app.admin(), path, &settings("One", old.clone())).await.status, 303);
    let second = post(app.admin(), path, &settings("Two", old)).await;
    assert_eq!(second.status, 412);
    for text in ["Somebody changed this since you opened it", "value=\"Two\"", ">One<"] {
        assert!(second.body.contains(text), "{text}: {}", second.body);
    }
    // Sent again from the new version, it is taken.
    assert_eq!(post(app.admin(), path, &settings("Two", version(&second))).await.status, 303);
    assert_eq!(audited(&app, "settings.changed").await.len(), 2);
}

#[tokio::test]
async fn t061_bad_input_is_refused_beside_its_field_and_nothing_typed_is_lost() {
    let app = TestApp::new().await;
    for income in ["-5", "NaN", "1e309", "1,000", "1000000000000000000"] {
        let fields = [("name", "=HYPERLINK(\"x\")"), ("income", income), ("reason", "why")];
        let refused = fill(app.admin(), "/organisation/teams/speech/change", &fields).await;
        assert_eq!(refused.status, 422, "{income}");
        assert!(refused.body.contains("id=\"f-income-error\""), "{income}: {}", refused.body);
        assert!(refused.body.contains(&format!("value=\"{income}\"")), "{income}: {}", refused.body);
        assert!(refused.body.contains("value=\"=HYPERLINK("), "{}", refused.body);
    }
    let long = "x".repeat(10_000);
    for name in ["", "a\u{7}b", &long] {
        let fields = [("name", name), ("income", "30.00"), ("reason", "why")];
        let refused = fill(app.admin(), "/organisation/teams/speech/change", &fields).await;
        assert_eq!((refused.status.as_u16(), refused.body.contains("id=\"f-name-error\"")), (422, true));
    }
    let fields = [("name", "שלום"), ("income", "30.00"), ("reason", "")];
    let refused = fill(app.admin(), "/organisation/teams/speech/change", &fields).await;
    assert!(refused.body.contains("Reason is empty"), "{}", refused.body);
    assert!(audited(&app, "team.changed").await.is_empty());
}

#[tokio::test]
async fn a_lead_sets_leverage_and_members_and_others_may_not() {
    for test in fixture::both().await {
        fixture::create(&test.store).await;
        let app = TestApp::on(test).await;
        let (lead, outsider) = (app.engineer().await, app.outsider().await);
        let leverage = [("leverage", "1.25"), ("reason", "careful")];
        let set = fill(&lead, "/organisation/teams/speech/leverage", &leverage).await;
        assert_eq!(set.status, 303, "{}", set.body);
        assert_eq!(audited(&app, "team.leverage_set").await[0]["after"]["leverage_thousandths"], 1_250);
        assert_eq!(lead.open("/organisation/teams/speech/change").await.status, 403);
        assert_eq!(lead.open("/organisation/teams/vision/leverage").await.status, 403);
        assert_eq!(outsider.post("/organisation/teams/speech/leverage", &leverage).await.status, 403);
        let member = [("login", "outsider"), ("place", "member"), ("reason", "helps out")];
        assert_eq!(outsider.get("/api/v1/teams/speech/budget").await.status, 404);
        assert_eq!(fill(&lead, "/organisation/teams/speech/members", &member).await.status, 303);
        assert_eq!(outsider.get("/api/v1/teams/speech/budget").await.status, 200);
        let nobody = [("login", "nobody"), ("place", "member"), ("reason", "helps out")];
        let refused = fill(&lead, "/organisation/teams/speech/members", &nobody).await;
        assert_eq!((refused.status.as_u16(), refused.body.contains("id=\"f-login-error\"")), (422, true));
        for (client, id) in [(&lead, "leads"), (&outsider, "members")] {
            let terms = serde_json::json!({
                "name": id, "alternatives": [{"chip_type": "A100", "chips": 1, "min_chips": 1}], "limit": "none",
            });
            let bid = serde_json::json!({"id": id, "terms": terms});
            assert_eq!(client.json("POST", "/api/v1/teams/speech/bids", &bid).await.status, 201);
        }
        let out = [("reason", "done")];
        let page = lead.open("/organisation/teams/speech/members/outsider").await.body;
        assert!(page.contains(">members<") && !page.contains(">leads<"), "{page}");
        assert_eq!(fill(&lead, "/organisation/teams/speech/members/outsider", &out).await.status, 303);
        assert_eq!(outsider.get("/api/v1/teams/speech/budget").await.status, 404);
        let state =
            async |bid: &str| lead.get(&format!("/api/v1/bids/{bid}")).await.json()["bid"]["status"].clone();
        assert_eq!((state("leads").await, state("members").await), ("live".into(), "cancelled".into()));
        assert_eq!(audited(&app, "team.member_removed").await[0]["after"]["ended_bids"][0], "members");
    }
}

#[tokio::test]
async fn a_pool_admin_sets_incomes_and_allowances_of_the_pool_only() {
    let app = TestApp::new().await;
    let admins = [("login", "outsider"), ("place", "add"), ("reason", "runs research")];
    assert_eq!(fill(app.admin(), "/organisation/pools/research/admins", &admins).await.status, 303);
    let pool_admin = app.outsider().await;
    let allowance = [("kind", "soft"), ("amount", "250"), ("reason", "a month's budget")];
    assert_eq!(fill(&pool_admin, "/organisation/teams/vision/allowance", &allowance).await.status, 303);
    assert_eq!(pool_admin.open("/organisation/teams/ads/allowance").await.status, 403);
    assert_eq!(pool_admin.open("/organisation/pools/research/change").await.status, 403);
    assert_eq!(audited(&app, "team.allowance_set").await[0]["after"]["amount"], "250.00");
    let page = pool_admin.open("/organisation/teams/vision").await;
    assert!(page.body.contains("250.00 credits per month, soft: alert only"), "{}", page.body);
}

#[tokio::test]
async fn an_admin_adds_a_person_gives_roles_and_locks_the_account() {
    for test in fixture::both().await {
        fixture::create(&test.store).await;
        let app = TestApp::on(test).await;
        let person = [("login", "Kim"), ("name", "Kim"), ("roles", "finance"), ("reason", "joins finance")];
        let made = fill(app.admin(), "/organisation/people/new", &person).await;
        assert_eq!(made.status, 200, "{}", made.body);
        let link = made.body.split_once("/link/").unwrap().1.split_once('<').unwrap().0.to_owned();
        assert_eq!(app.anonymous().open(&format!("/link/{link}")).await.status, 200, "the link works");
        assert!(!audited(&app, "user.added").await[0].to_string().contains(&link), "no secret in the log");
        let finance = app.finance().await;
        assert_eq!(finance.get("/api/v1/teams/ads/budget").await.status, 200);
        let none = [("reason", "moves on")];
        assert_eq!(fill(app.admin(), "/organisation/people/finance/roles", &none).await.status, 303);
        assert_eq!(finance.get("/api/v1/teams/ads/budget").await.status, 404, "at once, in the same session");
        let lock = [("lock", "yes"), ("reason", "left")];
        assert_eq!(fill(app.admin(), "/organisation/people/finance/lock", &lock).await.status, 303);
        assert_eq!(finance.get("/api/v1/market").await.status, 401);
        let refused = fill(app.admin(), "/organisation/people/admin/roles", &none).await;
        assert_eq!(refused.status, 422);
        assert!(refused.body.contains("nobody would be an admin any more"), "{}", refused.body);
        let again = fill(app.admin(), "/organisation/people/new", &person).await;
        assert!(again.body.contains("id=\"f-login-error\""), "{}", again.body);
    }
}

#[tokio::test]
async fn pages_that_are_not_for_somebody_are_not_there() {
    let mut app = TestApp::with_bids().await;
    app.clear_many(6).await;
    let engineer = app.engineer().await;
    for path in ["/organisation/people", "/organisation/audit", "/organisation/watch", "/budget?team=ads"] {
        let hidden = engineer.open(path).await;
        assert_eq!(hidden.status, 404, "{path}");
        let (detail, way) = ("<p>There is n", "an admin can say which");
        assert!(hidden.body.contains(detail) && hidden.body.contains(way), "{path}: {}", hidden.body);
        assert_eq!(
            app.auditor().await.open(path).await.status == 200,
            path != "/organisation/people",
            "{path}"
        );
    }
    for path in [
        "/organisation",
        "/organisation/settings",
        "/organisation/pools/research",
        "/organisation/teams/speech",
        "/organisation/teams/ads",
        "/budget",
        "/budget?team=speech&span=7d",
        "/budget/ledger?team=speech&kind=charge",
        "/budget/ledger/1?team=speech",
    ] {
        let page = engineer.open(path).await;
        assert_eq!(page.status, 200, "{path}: {}", page.body);
        assert!(page.body.contains("</html>"), "{path}");
    }
    let wrong = engineer.open("/budget/ledger?team=speech&from=yesterday").await;
    assert_eq!((wrong.status.as_u16(), wrong.body.contains("id=\"f-from-error\"")), (422, true));
    let nobody = app.client_of(&viewer("newcomer", &[])).await;
    assert!(nobody.open("/budget").await.body.contains("You are in no team"));
    let finance = app.client_of(&viewer("fay", &[Role::Finance])).await;
    assert!(finance.open("/budget?team=ads").await.body.contains("Budget of ads"));
}

#[tokio::test]
async fn t062_each_team_has_its_own_row_and_what_one_owes_takes_nothing_from_another() {
    let mut app = TestApp::new().await;
    app.clear().await;
    let before = app.get("/api/v1/teams/vision/budget").await.json();
    let mut tx = app.store.store.write().await.unwrap();
    let correction = server::services::ledger::Grant {
        team: "speech".parse().unwrap(),
        amount: fixture::credits(-150),
        reason: "booked wrongly".to_owned(),
        key: "t065".to_owned(),
    };
    server::services::ledger::correct(&mut tx, fixture::START, &correction).await.unwrap();
    tx.commit().await.unwrap();
    app.clear().await;
    let speech = app.get("/api/v1/teams/speech/budget").await.json();
    let vision = app.get("/api/v1/teams/vision/budget").await.json();
    assert_eq!((&speech["available"], &speech["owed"]), (&"0.00".into(), &"50.00".into()));
    assert_eq!(vision["available"], before["available"], "T065: the other team bids as before");
    assert_eq!(vision["cap"], before["cap"]);
    let page = app.admin().open("/budget?team=speech").await;
    assert!(page.body.contains("0.00 available / 50.00 owed"), "{}", page.body);
}
