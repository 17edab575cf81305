//! Chips and credits that must not leak: what ends gives back what it held, once, also when something fails on the way.
#![expect(clippy::unwrap_used, reason = "what fails here fails the test")]

use common::api::Role;
use common::ids::TeamId;
use common::money::MicroCredits;
use serde_json::json;
use server::clock::Clock as _;
use server::cycle::verify::verify;
use server::cycle::{Clearing, clear_due};
use server::error::ErrorKind;
use server::services::bids;
use server::services::ledger::{Grant, correct, grant_all};
use server::store::bids::BidState;
use server::store::{Place, Store, results};

use crate::app::TestApp;
use crate::audit::viewer;
use crate::fixture::{self, START, TestStore, bid, create, credits};

/// Paid and free chips that a team uses in the last cycle.
async fn in_use(store: &Store, team: &str) -> u64 {
    let team: TeamId = team.parse().unwrap();
    let mut tx = store.read().await.unwrap();
    let cycle = results::last_cycle(&mut tx).await.unwrap().unwrap().number;
    let quotas = results::quotas_in(&mut tx, cycle).await.unwrap();
    quotas.iter().filter(|quota| quota.team == team).map(|quota| quota.used.0 + quota.opportunistic.0).sum()
}

async fn assert_verified(test: &TestStore) {
    let report = verify(&test.store, None, None, |_, _| {}).await.unwrap();
    assert!(report.is_clean(), "{}: {report}", test.name);
}

fn top_up(amount: i64, key: &str) -> Grant {
    let team = "speech".parse().unwrap();
    Grant { team, amount: credits(amount), reason: "top-up".to_owned(), key: key.to_owned() }
}

async fn balance(app: &TestApp) -> MicroCredits {
    let finance = viewer("fay", &[Role::Finance]);
    let team = "speech".parse().unwrap();
    app.services().budget(&finance, &team, common::api::Span::Hour).await.unwrap().balance
}

#[tokio::test(flavor = "multi_thread")]
async fn t029_two_confirmations_of_one_top_up_at_once_credit_it_once() {
    for test in fixture::both().await {
        create(&test.store).await;
        let confirm = async |store: Store| {
            let mut tx = store.write().await?;
            grant_all(&mut tx, START, &[top_up(40, "receipt-7")]).await?;
            tx.commit().await
        };
        let confirming: Vec<_> = (0..8).map(|_| tokio::spawn(confirm(test.store.clone()))).collect();
        let (mut credited, mut known) = (0, 0);
        for confirmed in confirming {
            match confirmed.await.unwrap() {
                Ok(()) => credited += 1,
                Err(error) => {
                    assert_eq!(error.kind(), ErrorKind::Conflict, "{}: {error}", test.name);
                    known += 1;
                }
            }
        }
        assert_eq!((credited, known), (1, 7), "{}", test.name);
        let mut app = TestApp::on(test).await;
        app.clear().await;
        assert_eq!(balance(&app).await, credits(140), "100 to begin with");
    }
}

#[tokio::test]
async fn t031_a_key_that_was_refunded_is_not_credited_again() {
    for test in fixture::both().await {
        create(&test.store).await;
        let mut tx = test.store.write().await.unwrap();
        grant_all(&mut tx, START, &[top_up(40, "k")]).await.unwrap();
        correct(&mut tx, START, &top_up(-40, "k")).await.unwrap();
        tx.commit().await.unwrap();
        let mut tx = test.store.write().await.unwrap();
        let again = grant_all(&mut tx, START, &[top_up(40, "k")]).await.unwrap_err();
        assert_eq!(again.kind(), ErrorKind::Conflict, "{}: {again}", test.name);
        drop(tx);
        let mut app = TestApp::on(test).await;
        app.clear().await;
        assert_eq!(balance(&app).await, credits(100));
    }
}

#[tokio::test]
async fn t040_a_bid_that_expires_and_is_cancelled_gives_its_chips_back_once() {
    for test in fixture::both().await {
        create(&test.store).await;
        let mut app = TestApp::on(test).await;
        let mut tx = app.store.store.write().await.unwrap();
        let mut both = bid("both", "speech", "H100", 8);
        both.terms.not_after = Some(START.plus_seconds(180));
        bids::place_many(&mut tx, START, vec![both, bid("rest", "speech", "A100", 4)]).await.unwrap();
        tx.commit().await.unwrap();
        app.clear_many(2).await;
        assert_eq!(in_use(&app.store.store, "speech").await, 12);
        // Cancelled in the very cycle in which it expires.
        let mut tx = app.store.store.write().await.unwrap();
        bids::cancel(&mut tx, START, &"both".parse().unwrap()).await.unwrap();
        tx.commit().await.unwrap();
        app.clear_many(2).await;
        assert_eq!(in_use(&app.store.store, "speech").await, 4);
        let mut tx = app.store.store.write().await.unwrap();
        bids::cancel(&mut tx, START, &"both".parse().unwrap()).await.unwrap();
        tx.commit().await.unwrap();
        app.clear().await;
        assert_eq!(in_use(&app.store.store, "speech").await, 4, "{}", app.store.name);
        assert_verified(&app.store).await;
    }
}

#[tokio::test]
async fn t043_t044_chips_come_back_from_who_is_gone_and_to_a_team_with_another_name() {
    for test in fixture::both().await {
        create(&test.store).await;
        let mut app = TestApp::on(test).await;
        app.clear().await;
        let engineer = app.engineer().await;
        for (id, chip_type) in [("mine", "H100"), ("other", "A100")] {
            let terms = json!({ "name": id, "limit": "none",
                "alternatives": [{ "chip_type": chip_type, "chips": 4, "min_chips": 4 }] });
            let body = json!({ "id": id, "terms": terms });
            assert_eq!(engineer.json("POST", "/api/v1/teams/vision/bids", &body).await.status, 201);
        }
        app.clear().await;
        assert_eq!(in_use(&app.store.store, "vision").await, 8);
        // T044: another name in the middle of it changes nothing but the name.
        let named = json!({ "name": "Seeing", "income": "31", "reason": "a better name" });
        let request = axum::http::Request::put("/api/v1/teams/vision").header("if-match", "*");
        let request = request.header("content-type", "application/json").body(named.to_string().into());
        assert_eq!(app.send(request.unwrap()).await.status, 200);
        app.clear().await;
        assert_eq!(in_use(&app.store.store, "vision").await, 8);
        let cancelled = json!({ "bids": ["other"], "change": "cancel" });
        let path = "/api/v1/teams/vision/bids/changes";
        assert_eq!(engineer.json("POST", path, &cancelled).await.status, 200);
        app.clear().await;
        assert_eq!(in_use(&app.store.store, "vision").await, 4);
        let out = json!({ "user": "engineer", "reason": "has left" });
        let path = "/api/v1/teams/vision/members/removals";
        assert_eq!(app.admin().json("POST", path, &out).await.status, 204);
        app.clear().await;
        assert_eq!(in_use(&app.store.store, "vision").await, 0, "{}", app.store.name);
        assert_verified(&app.store).await;
    }
}

/// Makes the database refuse the third bid that expires, until [`mend`].
async fn break_third(place: &Place) {
    match place {
        Place::Sqlite { path, .. } => {
            let pool = sqlx::SqlitePool::connect(&format!("sqlite:{}", path.display())).await.unwrap();
            const FAIL: &str = "CREATE TRIGGER fail_third BEFORE INSERT ON bid_version WHEN NEW.state = 'expired' \
                AND (SELECT COUNT(*) FROM bid_version WHERE state = 'expired') >= 2 \
                BEGIN SELECT RAISE(ABORT, 'injected'); END";
            sqlx::query(FAIL).execute(&pool).await.unwrap();
            pool.close().await;
        }
        Place::Postgres { url, .. } => {
            let pool = sqlx::PgPool::connect(url).await.unwrap();
            const FUNCTION: &str = "CREATE FUNCTION fail_third() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN \
                IF (SELECT COUNT(*) FROM bid_version WHERE state = 'expired') >= 3 THEN RAISE EXCEPTION 'injected'; \
                END IF; RETURN NULL; END $$";
            const FAIL: &str = "CREATE TRIGGER fail_third AFTER INSERT ON bid_version FOR EACH ROW \
                WHEN (NEW.state = 'expired') EXECUTE FUNCTION fail_third()";
            sqlx::query(FUNCTION).execute(&pool).await.unwrap();
            sqlx::query(FAIL).execute(&pool).await.unwrap();
            pool.close().await;
        }
    }
}

async fn mend(place: &Place) {
    match place {
        Place::Sqlite { path, .. } => {
            let pool = sqlx::SqlitePool::connect(&format!("sqlite:{}", path.display())).await.unwrap();
            sqlx::query("DROP TRIGGER fail_third").execute(&pool).await.unwrap();
            pool.close().await;
        }
        Place::Postgres { url, .. } => {
            let pool = sqlx::PgPool::connect(url).await.unwrap();
            sqlx::query("DROP TRIGGER fail_third ON bid_version").execute(&pool).await.unwrap();
            pool.close().await;
        }
    }
}

#[tokio::test]
async fn t047_t050_a_failure_among_ten_ends_loses_none_of_them_and_mends_within_a_cycle() {
    for test in fixture::both().await {
        create(&test.store).await;
        let mut app = TestApp::on(test).await;
        let ten = (0..10).map(|nth| {
            let mut bid = bid(&format!("b{nth}"), "speech", "A100", 2);
            bid.terms.not_after = Some(START.plus_seconds(180));
            bid
        });
        let mut tx = app.store.store.write().await.unwrap();
        bids::place_many(&mut tx, START, ten.collect()).await.unwrap();
        tx.commit().await.unwrap();
        app.clear_many(2).await;
        assert_eq!(in_use(&app.store.store, "speech").await, 20);

        break_third(&app.store.place).await;
        app.clock.advance_seconds(60);
        let failed = clear_due(&app.store.store, &mut Clearing::new(), app.clock.now()).await;
        assert!(failed.is_err(), "{}", app.store.name);
        assert_eq!(in_use(&app.store.store, "speech").await, 20, "the last quotas stay");
        mend(&app.store.place).await;

        // As after a restart: what the process knew is gone.
        let cleared =
            clear_due(&app.store.store, &mut Clearing::new(), app.clock.now()).await.unwrap().unwrap();
        assert_eq!((cleared.clock.cycle, cleared.cleared.snapshot.bids.len()), (3, 0), "{}", app.store.name);
        assert_eq!(in_use(&app.store.store, "speech").await, 0);
        let mut tx = app.store.store.read().await.unwrap();
        for nth in 0..10 {
            let id = format!("b{nth}").parse().unwrap();
            let newest = server::store::bids::newest(&mut tx, &id).await.unwrap().unwrap();
            assert_eq!(newest.state, BidState::Expired, "{id}");
        }
        drop(tx);
        assert_verified(&app.store).await;
    }
}
