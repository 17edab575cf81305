//! `verify` passes what was computed, and finds what was altered behind the program's back.

use server::cycle::maintain;
use server::cycle::verify::{Check, Report, verify};
use server::store::{Place, Store};

use crate::fixture::{self, START, TestStore, create};
use crate::play::Player;

async fn verified(store: &Store) -> Report {
    verify(store, None, None, |_, _| {}).await.expect("verification runs")
}

/// A store with some hours of history.
async fn with_history(test: TestStore, seed: u64, cycles: u32) -> TestStore {
    create(&test.store).await;
    let end = Player::new(seed).play(&test.store, START, cycles).await;
    while maintain(&test.store, end, 24).await.expect("roll-ups") {}
    test
}

/// Runs statements on the file as somebody with a database tool would.
async fn tamper(test: &TestStore, statements: &[&'static str]) {
    let Place::Sqlite { path, .. } = &test.place else { panic!("only a file can be tampered with here") };
    let options = sqlx::sqlite::SqliteConnectOptions::new().filename(path).foreign_keys(false);
    let pool = sqlx::SqlitePool::connect_with(options).await.expect("the file opens");
    for statement in statements {
        sqlx::query(*statement).execute(&pool).await.expect("the statement runs");
    }
    pool.close().await;
}

#[tokio::test]
async fn history_with_gaps_changes_and_restarts_verifies() {
    for seed in 1..=3 {
        for test in fixture::both().await {
            let test = with_history(test, seed, 150).await;
            let report = verified(&test.store).await;
            assert!(report.is_clean(), "{} seed {seed}: {report}", test.name);
            assert_eq!(report.cycles, Some((1, 150)));
            assert_eq!(report.cycles_with_rows, 150);
            assert!(report.transfers > 100 && report.charges > 50, "{report}");
            assert!(report.bid_versions > 100 && report.bid_costs > 20, "{report}");
            let part = verify(&test.store, Some(70), Some(90), |_, _| {}).await.expect("verification runs");
            assert!(part.is_clean(), "{} seed {seed}: {part}", test.name);
        }
    }
}

#[tokio::test]
async fn a_row_altered_behind_the_programs_back_is_found() {
    let faults: [(Check, &[&'static str]); 19] = [
        (
            Check::Sums,
            &[
                "DROP TRIGGER ledger_entry_keeps_values",
                "UPDATE ledger_entry SET amount = amount + 1 WHERE transfer = 20 AND place = 1",
            ],
        ),
        (
            Check::Chain,
            &[
                "DROP TRIGGER ledger_transfer_keeps_values",
                "UPDATE ledger_transfer SET reason = 'as agreed' WHERE number = 12",
            ],
        ),
        (
            Check::Ledger,
            &[
                "DROP TRIGGER ledger_transfer_stays",
                "DELETE FROM ledger_transfer WHERE number = (SELECT MAX(number) FROM ledger_transfer WHERE kind = 'charge')",
            ],
        ),
        (
            Check::Snapshot,
            &[
                "DROP TRIGGER bid_version_keeps_values",
                "UPDATE bid_version SET limit_price = 1 WHERE rowid = (SELECT MIN(rowid) FROM bid_version WHERE limit_price > 1)",
            ],
        ),
        (
            Check::Snapshot,
            &[
                "DROP TRIGGER bid_version_keeps_values",
                "UPDATE bid_version SET position = position + 9 WHERE bid = 4",
            ],
        ),
        (
            Check::Rows,
            &[
                "DROP TRIGGER bid_version_keeps_values",
                "UPDATE bid_version SET work_chip_seconds = work_chip_seconds + 1 WHERE state = 'served'",
            ],
        ),
        (
            Check::Bids,
            &[
                "DROP TRIGGER bid_version_keeps_values",
                "UPDATE bid_version SET name = 'another job' WHERE bid = 7 AND version = 1",
            ],
        ),
        (
            Check::Bids,
            &[
                "DROP TRIGGER bid_keeps_values",
                "UPDATE bid SET request_sha256 = zeroblob(32) WHERE number = 3",
            ],
        ),
        (
            Check::Bids,
            &[
                "DROP TRIGGER bid_version_keeps_values",
                "UPDATE bid_version SET note = 'never said' WHERE rowid = (SELECT MAX(rowid) FROM bid_version WHERE version > 1)",
            ],
        ),
        (
            Check::Bids,
            &[
                "DROP TRIGGER bid_version_keeps_values",
                "UPDATE bid_version SET name = 'another job' WHERE state = 'cancelled'",
            ],
        ),
        (
            Check::Bids,
            &[
                "DROP TRIGGER bid_version_keeps_sha256",
                "UPDATE bid_version SET sha256 = NULL WHERE rowid = (SELECT MAX(rowid) FROM bid_version)",
            ],
        ),
        (
            Check::Bids,
            &[
                "DROP TRIGGER bid_version_stays",
                "DELETE FROM bid_version WHERE version = 1 AND bid = (SELECT MIN(bid) FROM bid_version WHERE version = 2)",
            ],
        ),
        (
            Check::Costs,
            &["UPDATE bid_cost SET carry = (carry + 1) % 3600 WHERE bid = (SELECT MIN(bid) FROM bid_cost)"],
        ),
        (
            Check::Costs,
            &["DELETE FROM bid_cost WHERE bid = (SELECT MAX(bid) FROM bid_cost WHERE amount > 0)"],
        ),
        (
            Check::Snapshot,
            &[
                "DROP TRIGGER chip_type_version_keeps_values",
                "UPDATE chip_type_version SET shared = 39 WHERE version = 1",
            ],
        ),
        (
            Check::Outcome,
            &[
                "DROP TRIGGER cycle_keeps_values",
                "UPDATE cycle SET outcome_sha256 = zeroblob(32) WHERE number = 60",
            ],
        ),
        (Check::Rows, &["UPDATE price SET paid = paid + 1 WHERE cycle = 44 AND chip_type = 'A100'"]),
        (
            Check::Rows,
            &[
                "UPDATE team_quota SET used = used + 1 WHERE (team, cycle) = (SELECT team, cycle FROM team_quota WHERE cycle > 50 LIMIT 1)",
            ],
        ),
        (
            Check::Accounting,
            &[
                "UPDATE usage SET cost = cost + 1 WHERE (starts_at, team, chip_type) = (SELECT starts_at, team, chip_type FROM usage WHERE cost > 0 LIMIT 1)",
            ],
        ),
    ];
    let whole = with_history(fixture::sqlite().await, 5, 90).await;
    assert!(verified(&whole.store).await.is_clean());
    for (check, statements) in faults {
        let test = fixture::copy_of(&whole).await;
        tamper(&test, statements).await;
        let report = verified(&test.store).await;
        assert!(
            report.differences.iter().any(|difference| difference.check == check),
            "{statements:?} must be found by {check}: {report}"
        );
    }
}

#[tokio::test]
async fn charges_are_compared_with_chips_used_times_price() {
    // The price rows say other local prices than were charged.
    let test = with_history(fixture::sqlite().await, 5, 90).await;
    tamper(
        &test,
        &["UPDATE pool_price SET local_price = local_price + 1000 WHERE local_price > 0 AND cycle > 30"],
    )
    .await;
    let report = verified(&test.store).await;
    let checks: Vec<Check> = report.differences.iter().map(|difference| difference.check).collect();
    assert_eq!(checks, [Check::Rows, Check::Occupancy, Check::RollUps], "{report}");
}

#[tokio::test]
async fn an_hour_or_a_day_that_is_not_the_sum_of_its_parts_is_found() {
    for test in fixture::both().await {
        let whole = with_history(test, 3, 500).await;
        let report = verified(&whole.store).await;
        assert!(report.is_clean() && report.rolled_up > 200, "{}: {report}", whole.name);
        // What begins in the middle of an hour or a day leaves its first one out.
        let part = verify(&whole.store, Some(17), Some(480), |_, _| {}).await.expect("verification runs");
        assert!(part.is_clean() && part.rolled_up > 100 && part.rolled_up < report.rolled_up, "{part}");
        if whole.name == "sqlite" {
            find_each_fault(&whole).await;
        }
    }
}

async fn find_each_fault(whole: &TestStore) {
    const FAULTS: [&str; 9] = [
        "UPDATE usage_hour SET used_chip_seconds = used_chip_seconds + 1 WHERE starts_at = (SELECT MIN(starts_at) FROM usage_hour)",
        "DELETE FROM usage_hour WHERE (starts_at, team) = (SELECT starts_at, team FROM usage_hour WHERE cost > 0 LIMIT 1)",
        "UPDATE price_hour SET low = low + 1 WHERE starts_at = (SELECT MIN(starts_at) FROM price_hour WHERE low > 0)",
        "UPDATE price_hour SET reference_price = reference_price + 1 WHERE starts_at = (SELECT MAX(starts_at) FROM price_hour WHERE reference_price > 0)",
        "DELETE FROM price_hour WHERE starts_at = (SELECT MAX(starts_at) FROM price_hour)",
        "UPDATE pool_price_hour SET local_price = local_price - 1 WHERE starts_at = (SELECT MIN(starts_at) FROM pool_price_hour WHERE local_price > 0)",
        "UPDATE usage_day SET cost = cost + 1",
        "DELETE FROM usage_day WHERE (starts_at, team) = (SELECT starts_at, team FROM usage_day LIMIT 1)",
        "UPDATE price_day SET paid_chip_seconds = paid_chip_seconds + 1 WHERE chip_type = 'A100'",
    ];
    for fault in FAULTS {
        let test = fixture::copy_of(whole).await;
        tamper(&test, &[fault]).await;
        let report = verified(&test.store).await;
        let checks: Vec<Check> = report.differences.iter().map(|difference| difference.check).collect();
        assert_eq!(checks, [Check::RollUps], "{fault}: {report}");
    }
}

#[tokio::test]
async fn history_older_than_the_retention_verifies_by_its_hashes() {
    for test in fixture::both().await {
        create(&test.store).await;
        let end = Player::new(9).play(&test.store, START, 400).await;
        while maintain(&test.store, end, 24).await.expect("roll-ups") {}
        let before = verified(&test.store).await;
        while maintain(&test.store, end.plus_seconds(90 * 86_400 - 3 * 3_600), 24).await.expect("retention") {
        }
        let after = verified(&test.store).await;
        assert!(before.is_clean() && after.is_clean(), "{}: {before}\n{after}", test.name);
        assert_eq!(before.cycles, after.cycles);
        assert!(after.cycles_with_rows < before.cycles_with_rows / 2, "{}: {after}", test.name);
        // The loop goes on from what is left.
        Player::new(10).play(&test.store, end, 20).await;
        assert!(verified(&test.store).await.is_clean());
    }
}
