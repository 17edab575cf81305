//! Exports: what is in the files, who gets which rows, and the jobs that make them in the background.
#![expect(clippy::unwrap_used, reason = "what fails here fails the test")]

mod focus;
mod jobs;

use std::collections::BTreeSet;

use axum::body::Body;
use axum::http::Request;
use server::cycle::{Clearing, maintain};
use server::services::bids;
use server::services::organisation;
use server::store::entities::Team;

use crate::app::{Answer, TestApp};
use crate::client::Client;
use crate::fixture::{self, START, TestStore, bid, create, setup};

/// A table as it was read from a CSV file.
pub(crate) struct Csv {
    header: csv::StringRecord,
    rows: Vec<csv::StringRecord>,
}

impl Csv {
    pub(crate) fn read(answer: &Answer) -> Self {
        assert_eq!(answer.status, 200, "{}", answer.body);
        let mut reader = csv::Reader::from_reader(answer.body.as_bytes());
        let header = reader.headers().unwrap().clone();
        Self { header, rows: reader.records().map(Result::unwrap).collect() }
    }

    pub(crate) fn names(&self) -> Vec<&str> {
        self.header.iter().collect()
    }

    /// The cells of a column.
    pub(crate) fn column(&self, name: &str) -> Vec<&str> {
        let place = self.header.iter().position(|known| known == name).expect(name);
        self.rows.iter().map(|row| &row[place]).collect()
    }

    pub(crate) fn len(&self) -> usize {
        self.rows.len()
    }

    /// The sum of a column of amounts, in millionths.
    pub(crate) fn sum(&self, name: &str) -> i64 {
        self.column(name).iter().map(|cell| cell.parse::<common::money::MicroCredits>().unwrap().0).sum()
    }
}

/// A market with bids on both stores, some cycles cleared and an accounting step booked.
async fn markets(cycles: u32) -> Vec<TestApp> {
    let mut apps = Vec::new();
    for store in fixture::both().await {
        let mut app = TestApp::with_bids_on(store).await;
        app.clear_many(cycles).await;
        apps.push(app);
    }
    apps
}

async fn export(client: &Client, path: &str) -> Csv {
    Csv::read(&client.get(&format!("/api/v1/exports/{path}")).await)
}

pub(crate) async fn one_number(store: &TestStore, sql: &'static str) -> i64 {
    match &store.place {
        server::store::Place::Sqlite { path, .. } => {
            let pool = sqlx::SqlitePool::connect(&format!("sqlite:{}", path.display())).await.unwrap();
            sqlx::query_scalar(sql).fetch_one(&pool).await.unwrap()
        }
        server::store::Place::Postgres { url, .. } => {
            let pool = sqlx::PgPool::connect(url).await.unwrap();
            sqlx::query_scalar(sql).fetch_one(&pool).await.unwrap()
        }
    }
}

pub(crate) async fn execute(store: &TestStore, sql: &'static str) {
    match &store.place {
        server::store::Place::Sqlite { path, .. } => {
            let pool = sqlx::SqlitePool::connect(&format!("sqlite:{}", path.display())).await.unwrap();
            sqlx::query(sql).execute(&pool).await.unwrap();
        }
        server::store::Place::Postgres { url, .. } => {
            let pool = sqlx::PgPool::connect(url).await.unwrap();
            sqlx::query(sql).execute(&pool).await.unwrap();
        }
    }
}

#[tokio::test]
async fn t163_t164_the_ledger_is_exported_whole_and_alike_from_both_stores() {
    let mut bodies = BTreeSet::new();
    for app in markets(12).await {
        let answer = app.admin().get("/api/v1/exports/ledger?period=2026-11").await;
        let table = Csv::read(&answer);
        let stored = one_number(&app.store, "SELECT COUNT(*) FROM ledger_entry").await;
        assert_eq!(table.len() as i64, stored, "{}", app.store.name);
        assert_eq!(table.sum("amount_credits"), 0, "the entries of all accounts sum to zero");
        assert_eq!(answer.headers["x-expected-rows"].to_str().unwrap(), stored.to_string());
        let charged = -one_number(
            &app.store,
            "SELECT CAST(SUM(amount) AS BIGINT) FROM ledger_entry WHERE chip_type IS NOT NULL",
        )
        .await;
        let kinds = table.column("kind");
        let amounts = table.column("amount_credits");
        let owners = table.column("account");
        let of_teams: i64 = (0..table.len())
            .filter(|row| kinds[*row] == "charge" && owners[*row] == "team")
            .map(|row| amounts[row].parse::<common::money::MicroCredits>().unwrap().0)
            .sum();
        assert!(charged > 0 && of_teams == -charged);
        bodies.insert(answer.body);
    }
    assert_eq!(bodies.len(), 1, "both stores give the same file");
}

#[tokio::test]
async fn t125_every_time_is_utc_and_the_zone_is_named() {
    for mut app in markets(6).await {
        let mut tx = app.store.store.write().await.unwrap();
        let settings = server::store::entities::Organisation {
            time_zone: "Europe/Berlin".to_owned(),
            ..setup().organisation
        };
        organisation::change_settings(&mut tx, app.services().now(), &settings).await.unwrap();
        tx.commit().await.unwrap();
        app.clear_many(60).await;
        for name in ["ledger", "allocations", "prices"] {
            let answer = app.admin().get(&format!("/api/v1/exports/{name}?period=2026-11-30")).await;
            assert_eq!(answer.headers["x-organisation-time-zone"], "Europe/Berlin");
            let disposition = answer.header(axum::http::header::CONTENT_DISPOSITION).to_owned();
            assert_eq!(disposition, format!("attachment; filename=\"{name}-2026-11-30-Europe_Berlin.csv\""));
            let table = Csv::read(&answer);
            assert!(table.len() > 0, "{name}");
            assert!(table.column("time_zone").iter().all(|zone| *zone == "Europe/Berlin"));
            for column in table.names().into_iter().filter(|name| name.ends_with("_at")) {
                assert!(table.column(column).iter().all(|cell| cell.ends_with('Z')), "{name}.{column}");
            }
            for column in table.names().into_iter().filter(|name| name.ends_with("_local")) {
                assert!(table.column(column).iter().all(|cell| cell.ends_with("+01:00")), "{name}.{column}");
            }
        }
        // 23:30 of the 29th in UTC is the 30th in Berlin, and the market began at 00:00Z of the 30th.
        let eve = export(app.admin(), "ledger?period=2026-11-29").await;
        assert_eq!(eve.len(), 0);
    }
}

#[tokio::test]
async fn t124_an_export_and_the_budget_count_the_same_month() {
    for mut app in markets(1).await {
        app.clock.set("2026-11-30T23:56:00Z".parse().unwrap());
        app.clear_many(10).await;
        let november = export(app.admin(), "ledger?period=2026-11").await;
        let december = export(app.admin(), "ledger?period=2026-12").await;
        let all = export(app.admin(), "ledger").await;
        assert_eq!(november.len() + december.len(), all.len());
        assert!(december.len() > 0 && november.column("month").iter().all(|month| *month == "2026-11"));
        // The step at the first instant of December covers November, and counts in it.
        let at_midnight = november.column("booked_at");
        assert!(at_midnight.contains(&"2026-12-01T00:00:00Z"), "{at_midnight:?}");
        let charges = |table: &Csv| -> i64 {
            let (kinds, owners, amounts) =
                (table.column("kind"), table.column("owner"), table.column("amount_credits"));
            (0..table.len())
                .filter(|row| kinds[*row] == "charge" && owners[*row] == "speech")
                .map(|row| -amounts[row].parse::<common::money::MicroCredits>().unwrap().0)
                .sum()
        };
        let budget = app.admin().get("/api/v1/teams/speech/budget").await.json();
        let spent: common::money::MicroCredits = budget["month"]["spent"].as_str().unwrap().parse().unwrap();
        assert_eq!(budget["month"]["starts_at"], "2026-12-01T00:00:00Z", "{budget}");
        assert_eq!(spent.0, charges(&december), "{}", app.store.name);
    }
}

#[tokio::test]
async fn t119_a_leap_year_of_hourly_prices_has_8784_rows() {
    for test in fixture::both().await {
        create(&test.store).await;
        let mut tx = test.store.write().await.unwrap();
        bids::place_many(&mut tx, START, vec![bid("a", "speech", "A100", 90)]).await.unwrap();
        let mut clearing = Clearing::new();
        // One cycle before the year and one after it: its quotas and prices stay in force for all of it.
        for at in ["2027-12-31T23:30:00Z", "2029-01-01T00:00:00Z"] {
            clearing.clear(&mut tx, at.parse().unwrap()).await.unwrap();
        }
        tx.commit().await.unwrap();
        let app = TestApp::on(test).await;
        app.clock.set("2029-01-01T00:30:00Z".parse().unwrap());
        // A session of 2026 is over by then.
        let table = export(&app.client("admin").await, "prices?period=2028").await;
        let hours = |id: &str| table.column("chip_type").iter().filter(|cell| **cell == id).count();
        assert_eq!((hours("A100"), hours("H100")), (8_784, 8_784), "{}", app.store.name);
        let starts: BTreeSet<&str> = table.column("starts_at").into_iter().collect();
        assert_eq!(starts.len(), 8_784);
        assert!(starts.contains("2028-02-29T23:00:00Z"));
        assert!(table.column("covered_seconds").iter().all(|seconds| *seconds == "3600"));
    }
}

#[tokio::test]
async fn an_hour_without_a_price_is_a_row_with_empty_cells() {
    for mut app in markets(1).await {
        app.clear_many(130).await;
        let table = export(app.admin(), "prices?period=2026-11-30").await;
        // 00:00 to 02:11 are three hours of two chip types; nobody asks for H100.
        assert_eq!(table.len(), 6, "{}", app.store.name);
        let prices = table.column("reference_price_credits_per_chip_hour");
        let ids = table.column("chip_type");
        assert!(ids.iter().zip(&prices).all(|(id, price)| (*id == "H100") == price.is_empty()), "{prices:?}");
        assert!(table.column("covered_seconds").iter().all(|seconds| !seconds.is_empty()));
    }
}

#[tokio::test]
async fn t146_t149_t151_granted_and_used_stand_beside_each_other_and_idle_is_never_below_zero() {
    for mut app in markets(1).await {
        app.clear_many(120).await;
        while maintain(&app.store.store, app.services().now(), 24).await.unwrap() {}
        let table = export(app.admin(), "allocations?period=2026-11").await;
        assert!(table.len() > 3);
        assert!(table.column("cost_basis").iter().all(|basis| *basis == "used"));
        let of = |name: &str| -> Vec<i64> {
            table.column(name).iter().map(|cell| cell.parse().unwrap()).collect()
        };
        let (granted, used) = (of("granted_chip_seconds"), of("used_chip_seconds"));
        let (idle, over) = (of("idle_chip_seconds"), of("over_use_chip_seconds"));
        let adds_up = |row: usize| {
            idle[row] >= 0 && over[row] >= 0 && granted[row] - used[row] == idle[row] - over[row]
        };
        assert!((0..table.len()).all(adds_up), "{}", app.store.name);
        let hour =
            one_number(&app.store, "SELECT CAST(SUM(granted_chip_seconds) AS BIGINT) FROM usage_hour").await;
        let (starts, rolled_up) =
            (table.column("starts_at"), ["2026-11-30T00:00:00Z", "2026-11-30T01:00:00Z"]);
        let exported: i64 =
            (0..table.len()).filter(|row| rolled_up.contains(&starts[*row])).map(|row| granted[row]).sum();
        assert_eq!(exported, hour, "{}", app.store.name);
    }
}

#[tokio::test]
async fn t134_everybody_gets_the_rows_that_the_pages_show_and_no_others() {
    for mut app in markets(12).await {
        app.clear_many(60).await;
        let teams = |table: &Csv, column: &str| -> BTreeSet<String> {
            table.column(column).into_iter().map(str::to_owned).collect()
        };
        let named = |names: &[&str]| names.iter().map(|name| (*name).to_owned()).collect::<BTreeSet<_>>();
        let engineer = app.engineer().await;
        let lead_and_member = named(&["speech", "vision"]);
        let ledger = export(&engineer, "ledger?period=2026-11").await;
        assert_eq!(teams(&ledger, "owner"), lead_and_member, "{}", app.store.name);
        assert_eq!(teams(&ledger, "account"), named(&["team"]), "no account of a pool");
        assert_eq!(teams(&export(&app.outsider().await, "ledger").await, "owner"), named(&["ads"]));
        for user in ["finance", "auditor", "admin"] {
            let table = export(&app.client(user).await, "ledger").await;
            assert_eq!(
                teams(&table, "account"),
                named(&["issuance", "revenue", "team", "treasury"]),
                "{user}"
            );
        }
        // What was granted and used is public, what it cost is not.
        let own = export(&engineer, "allocations?period=2026-11").await;
        let others = export(&app.outsider().await, "allocations?period=2026-11").await;
        for table in [&own, &others] {
            assert_eq!(teams(table, "team"), lead_and_member);
        }
        assert_eq!(own.column("used_chip_seconds"), others.column("used_chip_seconds"));
        assert!(own.column("cost_credits").iter().all(|cost| !cost.is_empty()));
        assert!(others.column("cost_credits").iter().all(|cost| cost.is_empty()));
        for (user, status) in
            [("engineer", 404), ("outsider", 404), ("finance", 200), ("auditor", 200), ("admin", 200)]
        {
            let client = app.client(user).await;
            assert_eq!(client.get("/api/v1/exports/audit").await.status, status, "{user}");
            let listed = client.get("/api/v1/exports").await.json();
            let has_audit = listed.as_array().unwrap().iter().any(|export| export["name"] == "audit");
            assert_eq!(has_audit, status == 200, "{user}");
            assert_eq!(client.get("/api/v1/exports/prices").await.status, 200, "{user}");
        }
        assert_eq!(app.anonymous().get("/api/v1/exports/ledger").await.status, 401);
    }
}

#[tokio::test]
async fn a_short_batch_goes_on_where_the_one_before_ended() {
    // More entries than are read at once, for all accounts and for those of one team.
    for mut app in markets(1).await {
        app.clear_many(5 * 700).await;
        let stored = one_number(&app.store, "SELECT COUNT(*) FROM ledger_entry").await;
        assert!(stored > 5_000, "{stored}");
        let all = export(app.admin(), "ledger").await;
        assert_eq!(all.len() as i64, stored, "{}", app.store.name);
        let places: BTreeSet<_> = all.column("transfer").into_iter().zip(all.column("entry")).collect();
        assert_eq!(places.len(), all.len(), "no entry twice");
        let own = export(&app.outsider().await, "ledger").await;
        let of_ads = one_number(
            &app.store,
            "SELECT COUNT(*) FROM ledger_entry e JOIN ledger_account a ON a.number = e.account WHERE a.owner = 'ads'",
        )
        .await;
        assert_eq!(own.len() as i64, of_ads);
    }
}

#[tokio::test]
async fn t152_a_stretch_without_rows_is_a_header() {
    for app in markets(6).await {
        for name in ["ledger", "allocations", "prices", "audit"] {
            let answer = app.admin().get(&format!("/api/v1/exports/{name}?period=2020-01")).await;
            let table = Csv::read(&answer);
            assert_eq!((answer.status.as_u16(), table.len()), (200, 0), "{name}");
            assert!(table.names().len() > 10, "{name}");
            let path = format!("/api/v1/exports/{name}?period=2020-01&format=parquet");
            assert_eq!(parquet(&app, &path).await.len(), 0, "{name}");
        }
    }
    let empty = TestApp::new().await;
    for name in ["ledger", "allocations", "prices", "audit"] {
        Csv::read(&empty.get(&format!("/api/v1/exports/{name}")).await);
    }
}

#[tokio::test]
async fn t161_a_team_named_like_a_formula_is_neutralised_and_amounts_stay_numbers() {
    for mut app in markets(6).await {
        let mut tx = app.store.store.write().await.unwrap();
        let team = setup().teams.into_iter().find(|team| team.id.as_str() == "speech").unwrap();
        let team = Team { name: "=HYPERLINK(\"x\")".to_owned(), ..team };
        organisation::put_team(&mut tx, app.services().now(), &team).await.unwrap();
        tx.commit().await.unwrap();
        app.clear_many(6).await;
        let table = export(app.admin(), "allocations").await;
        assert!(table.column("team_name").contains(&"'=HYPERLINK(\"x\")"));
        let ledger = export(app.admin(), "ledger").await;
        assert!(ledger.column("amount_credits").iter().any(|amount| amount.starts_with('-')));
        // Parquet has no formulas: the name is as it is.
        let rows = parquet(&app, "/api/v1/exports/allocations?format=parquet").await;
        assert!(rows.iter().any(|row| row.contains("=HYPERLINK") && !row.contains("'=HYPERLINK")));
    }
}

/// The rows of a Parquet file, each as text.
async fn parquet(app: &TestApp, path: &str) -> Vec<String> {
    let (metadata, rows) = read_parquet(app, path).await;
    assert_eq!(metadata["time_zone"], "UTC");
    rows
}

async fn read_parquet(
    app: &TestApp,
    path: &str,
) -> (std::collections::BTreeMap<String, String>, Vec<String>) {
    use parquet::file::reader::{FileReader as _, SerializedFileReader};
    use tower::ServiceExt as _;

    let request = app.admin().prepared(Request::get(path).body(Body::empty()).unwrap());
    let response = app.router.clone().oneshot(request).await.unwrap();
    assert_eq!(response.status(), 200, "{path}");
    assert_eq!(response.headers()["content-type"], "application/vnd.apache.parquet");
    let bytes = axum::body::to_bytes(response.into_body(), usize::MAX).await.unwrap();
    let reader = SerializedFileReader::new(bytes).unwrap();
    let pairs = reader.metadata().file_metadata().key_value_metadata().cloned().unwrap_or_default();
    let metadata = pairs.into_iter().map(|pair| (pair.key, pair.value.unwrap_or_default())).collect();
    let rows = reader.get_row_iter(None).unwrap();
    (metadata, rows.map(|row| row.unwrap().to_string()).collect())
}

#[tokio::test]
async fn parquet_has_the_same_rows_with_exact_types() {
    for app in markets(12).await {
        let csv = export(app.admin(), "ledger?period=2026-11").await;
        let (metadata, rows) =
            read_parquet(&app, "/api/v1/exports/ledger?period=2026-11&format=parquet").await;
        assert_eq!(rows.len(), csv.len(), "{}", app.store.name);
        assert_eq!((metadata["export"].as_str(), metadata["period"].as_str()), ("ledger", "2026-11"));
        let (amounts, transfers) = (csv.column("amount_credits"), csv.column("transfer"));
        for (row, text) in rows.iter().enumerate() {
            let amount: common::money::MicroCredits = amounts[row].parse().unwrap();
            let sign = if amount.0 < 0 { "-" } else { "" };
            let parts = amount.0.unsigned_abs();
            // A DECIMAL of six decimals, an integer, an instant.
            let decimal = format!("amount_credits: {sign}{}.{:06}", parts / 1_000_000, parts % 1_000_000);
            assert!(text.contains(&decimal), "{decimal} in {text}");
            assert!(text.contains(&format!("transfer: {},", transfers[row])), "{text}");
            assert!(text.contains("booked_at: 2026-11-30 00:"), "{text}");
        }
    }
}

#[tokio::test]
async fn what_is_asked_wrongly_is_refused_by_its_field() {
    let mut app = TestApp::with_bids().await;
    app.clear().await;
    for (path, status, field) in [
        ("ledger?period=2026-13", 422, "period"),
        ("ledger?period=2026-11&from=2026-11-01T00:00:00Z", 422, "period"),
        ("ledger?from=2026-11-02T00:00:00Z&to=2026-11-01T00:00:00Z", 422, "to"),
        ("ledger?from=2026-11-02", 422, "from"),
        ("ledger?format=xlsx", 422, "format"),
        ("ledger?columns=x_TimeZone", 422, "columns"),
        ("ledger?action=team.changed", 422, "action"),
        ("ledger?months=3", 422, "months"),
        ("everything", 404, ""),
    ] {
        let answer = app.get(&format!("/api/v1/exports/{path}")).await;
        assert_eq!(answer.status, status, "{path}: {}", answer.body);
        if status == 422 {
            assert_eq!(answer.json()["errors"][0]["field"], field, "{path}");
        }
    }
}

#[tokio::test]
async fn the_audit_log_is_exported_whole_with_the_filters_of_its_page() {
    for store in fixture::both().await {
        create(&store.store).await;
        let app = TestApp::on(store).await;
        let admin = app.admin();
        for income in ["31.00", "32.00", "33.00"] {
            let fields = [("income", income), ("reason", "=1+1"), ("confirmed", "yes")];
            admin.post("/organisation/teams/speech/change", &fields).await;
        }
        let all = export(admin, "audit").await;
        let page = app.get("/api/v1/audit?limit=500").await.json();
        let listed = page["items"].as_array().unwrap().len();
        assert_eq!(all.len(), listed, "{}", app.store.name);
        let filtered = export(admin, "audit?action=nothing.done").await;
        assert_eq!(filtered.len(), 0);
        assert!(all.column("reason").iter().all(|reason| !reason.starts_with('=')));
        let numbers: Vec<u64> = all.column("number").iter().map(|number| number.parse().unwrap()).collect();
        assert!(numbers.is_sorted());
    }
}
