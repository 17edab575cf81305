//! How long a month of a large organisation takes: 1,000 teams with 10 chip types each, in use on every day.

use std::time::{Duration, Instant as Stopwatch};

use common::api::{Role, SpendGroup};
use server::services::finance::SpendQuery;
use server::services::organisation::{self, NewOrganisation};
use server::store::Place;
use server::store::entities::{ChipType, Team};

use crate::app::TestApp;
use crate::audit::viewer;
use crate::fixture::{self, START};

/// What a page may take. Without optimisation everything is several times slower.
const LIMIT: Duration =
    if cfg!(debug_assertions) { Duration::from_millis(1_500) } else { Duration::from_millis(300) };

/// Days of roll-ups, past the program: ten rows for each of 1,000 teams on each day of October and November 2026.
const FILL: [&str; 5] = [
    "WITH RECURSIVE n(i) AS (SELECT 0 UNION ALL SELECT i + 1 FROM n WHERE i < 9999), \
     d(s) AS (SELECT 1790812800000000 UNION ALL SELECT s + 86400000000 FROM d WHERE s < 1795996800000000) \
     INSERT INTO spend_day SELECT s, printf('t%04d', i / 10), printf('c%d', i % 10), 7200 + i, 3600 + i, 60, 3600, 0, \
     3600 + i, 1000000 + i, 900000 + i FROM d, n",
    "INSERT INTO spend_month SELECT CASE WHEN starts_at < 1793491200000000 THEN 1790812800000000 ELSE 1793491200000000 END, \
     team, chip_type, SUM(granted_chip_seconds), SUM(used_chip_seconds), SUM(opportunistic_chip_seconds), \
     SUM(idle_chip_seconds), SUM(over_chip_seconds), SUM(charged_chip_seconds), SUM(cost), SUM(global_cost) \
     FROM spend_day GROUP BY 1, 2, 3",
    "INSERT INTO spend_pool_day SELECT starts_at, printf('p%d', CAST(substr(team, 2) AS INTEGER) % 8), chip_type, \
     SUM(granted_chip_seconds), SUM(used_chip_seconds), SUM(opportunistic_chip_seconds), SUM(idle_chip_seconds), \
     SUM(over_chip_seconds), SUM(charged_chip_seconds), SUM(cost), SUM(global_cost) FROM spend_day GROUP BY 1, 2, 3",
    "DELETE FROM spend_progress",
    "INSERT INTO spend_progress SELECT 1, MAX(number), MAX(starts_at), 'UTC' FROM cycle WHERE step IS NOT NULL",
];

#[tokio::test]
async fn a_month_of_1_000_teams_and_10_chip_types_is_answered_at_once() {
    let test = fixture::sqlite().await;
    let mut setup = fixture::setup();
    let chip_type = |n: u32| ChipType { id: format!("c{n}").parse().unwrap(), ..setup.chip_types[0].clone() };
    let chip_types: Vec<ChipType> = (0..10).map(chip_type).collect();
    let pools: Vec<_> = (0..8)
        .map(|n| server::store::entities::Pool {
            id: format!("p{n}").parse().unwrap(),
            ..setup.pools[0].clone()
        })
        .collect();
    let team = |n: usize| Team {
        id: format!("t{n:04}").parse().unwrap(),
        pool: pools[n % 8].id.clone(),
        ..setup.teams[0].clone()
    };
    let teams: Vec<Team> = (0..1_000).map(team).collect();
    (setup.chip_types, setup.pools, setup.teams) = (chip_types, pools, teams);
    setup.owned.clear();
    let mut tx = test.store.write().await.unwrap();
    organisation::create(&mut tx, START, &NewOrganisation { setup, grants: Vec::new() }).await.unwrap();
    tx.commit().await.unwrap();
    let Place::Sqlite { path, .. } = test.place.clone() else { unreachable!("it is SQLite") };
    fixture::add_people(&test.store).await;
    let store = test.store.clone();
    server::cycle::clear_due(&store, &mut server::cycle::Clearing::new(), START).await.unwrap();
    let file = sqlx::SqlitePool::connect(&format!("sqlite:{}", path.display())).await.unwrap();
    for sql in FILL {
        sqlx::query(sql).execute(&file).await.unwrap();
    }
    let mut app = TestApp::on(test).await;
    app.clear().await;
    let finance = viewer("fay", &[Role::Finance]);
    for (period, group) in [
        ("2026-11", SpendGroup::Pool),
        ("2026-11", SpendGroup::Team),
        ("2026-11", SpendGroup::ChipType),
        ("2026-11-01..2026-11-15", SpendGroup::Team),
        ("2026-Q4", SpendGroup::Team),
    ] {
        let query = SpendQuery { period: Some(period.to_owned()), group, ..SpendQuery::default() };
        let started = Stopwatch::now();
        let view = app.services.spend(&finance, &query).await.unwrap();
        let took = started.elapsed();
        println!("{period} by {}: {} ms, {} rows", group.as_str(), took.as_millis(), view.rows.len());
        assert!(view.total.global_cost.0 > 0 && !view.days.is_empty());
        assert!(took < LIMIT, "{period} by {}: {took:?}", group.as_str());
    }
    let started = Stopwatch::now();
    let budgets = app.services.budgets(&finance, Some("2026-11")).await.unwrap();
    println!("budgets: {} ms", started.elapsed().as_millis());
    assert!(budgets.rows.len() == 1_000 && started.elapsed() < LIMIT, "{:?}", started.elapsed());
    assert_eq!(budgets.tests.len(), 0, "no month is over since the first cycle");
}
