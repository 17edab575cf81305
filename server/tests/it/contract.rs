//! One suite on both stores: the same life gives the same answers, byte for byte.

use std::sync::Arc;

use common::api::{AllocationsQuery, GroupBy, Role, Span};
use common::instant::Instant;
use common::money::MicroCredits;
use serde::Serialize;
use server::clock::SettableClock;
use server::cycle::{ClearedCycle, maintain, newest_cycle};
use server::error::ErrorKind;
use server::services::live::Live;
use server::services::read::MarketReader;
use server::services::{bids, ledger, organisation, supply};
use server::store::entities::Organisation;
use server::store::{Place, Store};

use crate::audit::viewer;
use crate::fixture::{self, START, TestStore, bid, create, credits};
use crate::play::Player;

/// Everything a reader can ask, as JSON; only the time that clearings took is left out.
async fn answers(test: &TestStore, now: Instant) -> Vec<String> {
    fn json(value: &impl Serialize) -> String {
        let mut value = serde_json::to_value(value).expect("JSON");
        blank_clear_micros(&mut value);
        value.to_string()
    }
    let ClearedCycle { clock, cleared, .. } =
        newest_cycle(&test.store).await.expect("reads").expect("a cycle");
    let (cycle, live) = (clock.cycle, Live::new(clock, Some(cleared)));
    let reader = MarketReader::new(test.store.clone(), Arc::new(SettableClock::new(now)), live.subscribe());
    let (a100, research) = ("A100".parse().expect("an id"), "research".parse().expect("an id"));
    let mut answers = vec![
        json(&reader.market(None).await.expect("the market")),
        json(&reader.market(Some(research)).await.expect("the market")),
        json(&reader.book(None).await.expect("the book")),
        json(&reader.book(Some(a100)).await.expect("the book")),
        json(&reader.cycles(None, 50).await.expect("cycles")),
    ];
    for span in Span::ALL {
        for pool in [None, Some("products".parse().expect("an id"))] {
            let chip_type = "A100".parse().expect("an id");
            answers.push(json(&reader.price_history(chip_type, pool, span).await.expect("prices")));
        }
        for group_by in GroupBy::ALL {
            let query = AllocationsQuery { span, group_by, ..AllocationsQuery::default() };
            answers.push(json(&reader.allocations(query).await.expect("allocations")));
        }
    }
    let auditor = viewer("ann", &[Role::Auditor]);
    for number in [1, 2, cycle / 2, cycle] {
        answers.push(json(&reader.cycle(Some(&auditor), number, None).await.expect("a cycle")));
    }
    answers
}

fn blank_clear_micros(value: &mut serde_json::Value) {
    match value {
        serde_json::Value::Object(fields) => {
            for (name, field) in fields {
                if name == "clear_micros" {
                    *field = serde_json::Value::Null;
                } else {
                    blank_clear_micros(field);
                }
            }
        }
        serde_json::Value::Array(items) => items.iter_mut().for_each(blank_clear_micros),
        _ => {}
    }
}

/// The rows of a statement, each as one text column; the same statement for both databases.
pub(crate) async fn texts(place: &Place, sql: &'static str) -> Vec<String> {
    match place {
        Place::Sqlite { path, .. } => {
            let pool = sqlx::SqlitePool::connect(&format!("sqlite:{}", path.display()))
                .await
                .expect("the file opens");
            sqlx::query_scalar(sql).fetch_all(&pool).await.expect("rows")
        }
        Place::Postgres { url, .. } => {
            let pool = sqlx::PgPool::connect(url).await.expect("the server answers");
            sqlx::query_scalar(sql).fetch_all(&pool).await.expect("rows")
        }
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn t164_both_stores_answer_alike_byte_for_byte() {
    let mut of_each = Vec::new();
    for test in fixture::both().await {
        create(&test.store).await;
        let end = Player::new(21).play(&test.store, START, 240).await;
        while maintain(&test.store, end, 24).await.expect("roll-ups") {}
        of_each.push((test.name, answers(&test, end.plus_seconds(10)).await));
    }
    let (_, first) = &of_each[0];
    assert!(first.iter().all(|answer| answer.len() > 100), "there is something to compare");
    for (name, other) in &of_each[1..] {
        for (one, other) in first.iter().zip(other) {
            assert_eq!(one, other, "sqlite and {name} differ");
        }
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn t163_money_sums_alike_on_both_stores() {
    const BALANCES: &str = "SELECT a.kind || ' ' || a.owner || ' ' || CAST(SUM(e.amount) AS TEXT) FROM ledger_entry e \
        JOIN ledger_account a ON a.number = e.account GROUP BY a.kind, a.owner ORDER BY a.kind, a.owner";
    let mut of_each = Vec::new();
    for test in fixture::both().await {
        create(&test.store).await;
        Player::new(22).play(&test.store, START, 60).await;
        of_each.push(texts(&test.place, BALANCES).await);
    }
    assert!(of_each[0].len() >= 9, "three accounts of each of two pools and three teams: {:?}", of_each[0]);
    assert!(of_each.iter().all(|balances| *balances == of_each[0]), "{of_each:?}");
}

/// Begins a transaction, runs the body in it, and commits.
async fn write<T>(store: &Store, body: impl AsyncFnOnce(&mut server::store::Tx) -> T) -> T {
    let mut tx = store.write().await.expect("a transaction");
    let result = body(&mut tx).await;
    tx.commit().await.expect("a commit");
    result
}

#[tokio::test]
async fn t025_the_same_request_again_changes_nothing_another_one_is_refused() {
    for test in fixture::both().await {
        create(&test.store).await;
        write(&test.store, async |tx| {
            let first = bids::place(tx, START, bid("a", "speech", "A100", 4)).await.unwrap();
            let again = bids::place(tx, START, bid("a", "speech", "A100", 4)).await.unwrap();
            assert_eq!(first, again);
            let other = bids::place(tx, START, bid("a", "speech", "A100", 5)).await.unwrap_err();
            assert_eq!(other.kind(), ErrorKind::Conflict);
            let twice = vec![bid("b", "ads", "A100", 1), bid("b", "ads", "A100", 1)];
            assert_eq!(bids::place_many(tx, START, twice).await.unwrap(), 1);
        })
        .await;
        let grant = ledger::Grant {
            team: "ads".parse().unwrap(),
            amount: credits(-7),
            reason: "spent elsewhere".to_owned(),
            key: "once".to_owned(),
        };
        write(&test.store, async |tx| ledger::correct(tx, START, &grant).await.unwrap()).await;
        let mut tx = test.store.write().await.unwrap();
        let again = ledger::correct(&mut tx, START, &grant).await.unwrap_err();
        assert_eq!(again.kind(), ErrorKind::Conflict, "{}: {again:?}", test.name);
        drop(tx);
        let booked =
            texts(&test.place, "SELECT unique_key FROM ledger_transfer WHERE kind = 'correction'").await;
        assert_eq!(booked, ["correction:once"]);
    }
}

#[tokio::test]
async fn what_is_wrong_with_a_request_is_named_by_its_field() {
    for test in fixture::both().await {
        create(&test.store).await;
        let mut tx = test.store.write().await.unwrap();
        let mut wrong = bid("a", "nobody", "B200", 0);
        wrong.terms.name = String::new();
        wrong.terms.not_before = Some(START);
        wrong.terms.not_after = Some(START);
        let error = bids::place(&mut tx, START, wrong).await.unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Invalid);
        let fields: Vec<&str> = error.fields().iter().map(|fault| fault.field.as_str()).collect();
        assert_eq!(
            fields,
            ["team", "name", "not_after", "alternatives[0].chip_type", "alternatives[0].chips"]
        );
        let settings = Organisation {
            cycle_seconds: 60,
            accounting_seconds: 90,
            time_zone: "Mars".to_owned(),
            ..Organisation::default()
        };
        let error = organisation::change_settings(&mut tx, START, &settings).await.unwrap_err();
        let fields: Vec<&str> = error.fields().iter().map(|fault| fault.field.as_str()).collect();
        assert_eq!(fields, ["accounting_seconds", "time_zone"]);
        let mut team = fixture::setup().teams.swap_remove(0);
        team.pool = "products".parse().unwrap();
        let error = organisation::put_team(&mut tx, START, &team).await.unwrap_err();
        assert_eq!(error.fields()[0].field, "pool");
        let unknown = "B200".parse().unwrap();
        let error = supply::set_shared(&mut tx, START, &unknown, common::chips::Chips(1)).await.unwrap_err();
        assert_eq!(error.kind(), ErrorKind::NotFound);
        let error = bids::cancel(&mut tx, START, &"nothing".parse().unwrap()).await.unwrap_err();
        assert_eq!(error.kind(), ErrorKind::NotFound);
    }
}

#[tokio::test]
async fn history_refuses_to_be_changed() {
    const CHANGES: [&str; 13] = [
        "UPDATE ledger_entry SET amount = 0",
        "DELETE FROM ledger_transfer",
        "UPDATE bid_version SET limit_price = 1",
        "UPDATE bid_version SET effective_cycle = 9 WHERE effective_cycle IS NOT NULL",
        "DELETE FROM team_version",
        "UPDATE cycle SET clear_micros = 0",
        "UPDATE audit_entry SET reason = 'another'",
        "DELETE FROM audit_entry",
        "UPDATE allowance_version SET amount = 1",
        "DELETE FROM allowance_version",
        "UPDATE allowance_alert SET percent = 50",
        "UPDATE pool_allowance_alert SET percent = 50",
        "DELETE FROM pool_allowance_alert",
    ];
    // Of the tables that this life leaves empty.
    const ROWS: [&str; 4] = [
        "INSERT INTO audit_entry (number, at, user_id, user_name, action, object_kind, object, reason) \
         VALUES (1, 0, 'ada', 'Ada', 'team.changed', 'team', 'speech', 'why')",
        "INSERT INTO allowance_version (team, version, amount, hard, written_at) VALUES ('speech', 1, 5, 0, 0)",
        "INSERT INTO allowance_alert (team, month_starts_at, amount, percent, spent, cycle, fired_at) \
         VALUES ('speech', 0, 5, 50, 3, 1, 0)",
        "INSERT INTO pool_allowance_alert (pool, period_starts_at, amount, percent, spent, cycle, fired_at) \
         VALUES ('research', 0, 5, 50, 3, 1, 0)",
    ];
    for test in fixture::both().await {
        create(&test.store).await;
        write(&test.store, async |tx| bids::place(tx, START, bid("a", "speech", "A100", 4)).await.unwrap())
            .await;
        Player::new(1).play(&test.store, START, 3).await;
        for sql in ROWS {
            run(&test.place, sql).await.unwrap();
        }
        for sql in CHANGES {
            let refused = run(&test.place, sql).await.unwrap_err();
            assert!(refused.contains("history is append-only"), "{}: {sql}: {refused}", test.name);
        }
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn t035_t037_many_writers_at_once_all_succeed() {
    for test in fixture::both().await {
        create(&test.store).await;
        let writers = (0..50).map(|writer| {
            let store = test.store.clone();
            tokio::spawn(async move {
                let bid = bid(&format!("w{writer}"), "speech", "A100", 1);
                write(&store, async |tx| bids::place(tx, START, bid).await.map(drop)).await
            })
        });
        for writer in writers.collect::<Vec<_>>() {
            writer.await.unwrap().unwrap();
        }
        let positions =
            texts(&test.place, "SELECT CAST(v.position AS TEXT) FROM bid_version v ORDER BY v.position")
                .await;
        let expected: Vec<String> = (1..=50).map(|nth: u64| (nth << 20).to_string()).collect();
        assert_eq!(positions, expected, "{}: each has its own place in the queue", test.name);
    }
}

#[tokio::test]
async fn a_supply_change_or_a_failed_cycle_touches_no_balance() {
    const TRANSFERS: &str = "SELECT unique_key FROM ledger_transfer ORDER BY number";
    for test in fixture::both().await {
        create(&test.store).await;
        let end = Player::new(3).play(&test.store, START, 12).await;
        let before = texts(&test.place, TRANSFERS).await;
        write(&test.store, async |tx| {
            supply::set_shared(tx, end, &"A100".parse().unwrap(), common::chips::Chips(0)).await.unwrap();
        })
        .await;
        // A clearing that is given up leaves nothing behind; the next one clears the same cycle.
        let mut clearing = server::cycle::Clearing::new();
        let mut tx = test.store.write().await.unwrap();
        let given_up = clearing.clear(&mut tx, end.plus_seconds(3_600)).await.unwrap();
        drop(tx);
        assert_eq!(texts(&test.place, TRANSFERS).await, before, "{}", test.name);
        let mut tx = test.store.write().await.unwrap();
        let cleared = clearing.clear(&mut tx, end.plus_seconds(3_600)).await.unwrap();
        tx.commit().await.unwrap();
        assert_eq!(given_up.cleared.outcome, cleared.cleared.outcome);
        let again = clearing.clear(&mut test.store.write().await.unwrap(), end.plus_seconds(3_600)).await;
        assert_eq!(again.unwrap_err().kind(), ErrorKind::Conflict);
        let report = server::cycle::verify::verify(&test.store, None, None, |_, _| {}).await.unwrap();
        assert!(report.is_clean(), "{}: {report}", test.name);
    }
}

#[tokio::test]
async fn t002_a_chip_at_0_05_for_three_hours_costs_0_15_in_one_minute_steps() {
    for test in fixture::both().await {
        // One team wants the one chip there is: the price is the reserve price, and local credits are global ones.
        let mut setup = fixture::setup();
        setup.organisation.accounting_seconds = 60;
        setup.chip_types.truncate(1);
        setup.chip_types[0].shared = common::chips::Chips(1);
        setup.chip_types[0].reserve_price = common::money::Price(50_000);
        setup.owned.clear();
        setup.pools.truncate(1);
        setup.teams.truncate(1);
        setup.pools[0].weight = setup.teams[0].income;
        let new = organisation::NewOrganisation { setup, grants: Vec::new() };
        write(&test.store, async |tx| {
            organisation::create(tx, START, &new).await.unwrap();
            bids::place(tx, START, bid("a", "speech", "A100", 1)).await.unwrap();
            let mut clearing = server::cycle::Clearing::new();
            for minute in 0..=180 {
                clearing.clear(tx, START.plus_seconds(60 * minute)).await.unwrap();
            }
        })
        .await;
        const CHARGED: &str = "SELECT CAST(SUM(-amount) AS TEXT) FROM ledger_entry WHERE chip_type IS NOT NULL GROUP BY chip_type";
        assert_eq!(texts(&test.place, CHARGED).await, [MicroCredits(150_000).0.to_string()], "{}", test.name);
    }
}

/// Runs a statement past the store.
async fn run(place: &Place, sql: &'static str) -> Result<(), String> {
    match place {
        Place::Sqlite { path, .. } => {
            let pool = sqlx::SqlitePool::connect(&format!("sqlite:{}", path.display()))
                .await
                .expect("the file opens");
            sqlx::query(sql).execute(&pool).await.map(drop)
        }
        Place::Postgres { url, .. } => {
            let pool = sqlx::PgPool::connect(url).await.expect("the database answers");
            sqlx::query(sql).execute(&pool).await.map(drop)
        }
    }
    .map_err(|error| error.to_string())
}
