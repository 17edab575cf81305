//! Plans of training jobs on both databases: made from a log, followed as losses are reported, turned into bids; who may see
//! and do what, and what is refused.
#![expect(clippy::unwrap_used, reason = "what fails here fails the test")]

use axum::http::{Method, header};
use common::instant::Instant;
use common::money::MicroCredits;
use serde_json::{Value, json};
use server::auth::NewToken;
use server::policy::Scope;

use crate::app::{Answer, TestApp};
use crate::client::Client;
use crate::exports::one_number;
use crate::fixture;

const PLANS: &str = "/api/v1/teams/speech/plans";

/// Servers on both stores with bids on A100 and some cleared cycles.
async fn apps() -> Vec<TestApp> {
    let mut apps = Vec::new();
    for test in fixture::both().await {
        let mut app = TestApp::with_bids_on(test).await;
        app.clear_many(3).await;
        apps.push(app);
    }
    apps
}

/// A curve that goes down to 1 as a power law: each step takes a twentieth of a chip-hour.
fn loss(step: u64) -> f64 {
    1.0 + 4.0 * (step as f64 / 20.0).powf(-0.5)
}

fn log(steps: impl Iterator<Item = u64>) -> String {
    let line = |step: u64| format!("{step},{},{}\n", loss(step), step as f64 / 20.0);
    format!("step,loss,chip_hours\n{}", steps.map(line).collect::<String>())
}

/// A plan that needs some 400 chip-hours.
fn plan(app: &TestApp, id: &str) -> Value {
    json!({
        "id": id,
        "terms": {
            "name": "Speech model", "chip_type": "A100", "most_chips": 32, "least_chips": 8, "target_loss": 1.2,
            "deadline": deadline(app, 48).to_string(),
        },
        "log": log((1..=60).map(|nth| nth * 20)),
    })
}

fn deadline(app: &TestApp, hours: i64) -> Instant {
    use server::clock::Clock as _;
    app.clock.now().plus_seconds(hours * 3_600)
}

async fn make(app: &TestApp, id: &str) -> Value {
    let answer = app.engineer().await.json("POST", PLANS, &plan(app, id)).await;
    assert_eq!(answer.status, 201, "{}", answer.body);
    answer.json()
}

fn number(value: &Value) -> f64 {
    value.as_f64().unwrap_or_else(|| panic!("{value} is no number"))
}

fn faults(answer: &Answer) -> Vec<(String, String)> {
    let errors = answer.json()["errors"].as_array().cloned().unwrap_or_default();
    let text = |value: &Value| value.as_str().unwrap().to_owned();
    errors.iter().map(|fault| (text(&fault["field"]), text(&fault["detail"]))).collect()
}

#[tokio::test]
async fn a_plan_foresees_what_a_job_needs_and_its_cheapest_hours() {
    for app in apps().await {
        let engineer = app.engineer().await;
        let made = engineer.json("POST", PLANS, &plan(&app, "p")).await;
        assert_eq!(
            (made.status.as_u16(), made.header(header::LOCATION)),
            (201, "/api/v1/teams/speech/plans/p")
        );
        let view = made.json();
        let forecast = &view["forecast"];
        // The curve reaches 1.2 after 400 chip-hours, and 60 were used.
        let (p10, p90) = (number(&forecast["remaining"]["p10"]), number(&forecast["remaining"]["p90"]));
        assert!(p10 < 340.0 * 1.5 && p90 > 340.0 / 1.5 && p10 <= p90, "{p10} to {p90}");
        assert_eq!(forecast["verdict"], "can_finish", "{}", forecast["verdict_words"]);
        assert!(number(&forecast["chance_with_bids"]) >= 0.79);
        let covered = number(&forecast["covered_chip_hours"]);
        assert!(covered >= number(&forecast["remaining"]["p80"]) - 1e-6);
        let chances = forecast["chances"].as_array().unwrap();
        assert_eq!(chances.last().unwrap()["chips"], 32);
        assert!(forecast["why"].as_str().unwrap().contains("spoke"));
        assert!(forecast["prices"]["words"].as_str().unwrap().contains("too few to test"));
        let again = engineer.json("POST", PLANS, &plan(&app, "p")).await;
        assert_eq!((again.status.as_u16(), again.json()), (201, view), "the same request answers the same");
        let mut other = plan(&app, "p");
        other["terms"]["target_loss"] = json!(1.3);
        assert_eq!(engineer.json("POST", PLANS, &other).await.status, 409);
        let listed = engineer.get(PLANS).await.json();
        assert_eq!((listed["plans"].as_array().unwrap().len(), &listed["plans"][0]["id"]), (1, &json!("p")));
        let csv = engineer.get(&format!("{PLANS}/p/losses?format=csv")).await.body;
        assert_eq!((csv.lines().count(), csv.lines().nth(1).unwrap()), (61, "20,5,1"));
    }
}

#[tokio::test]
async fn one_act_places_the_bids_of_a_plan_and_the_same_act_again_does_not() {
    for mut app in apps().await {
        let engineer = app.engineer().await;
        let view = make(&app, "p").await;
        let request = json!({"id": "first", "version": 1});
        let path = format!("{PLANS}/p/bids");
        let done = engineer.json("POST", &path, &request).await;
        assert_eq!(done.status, 200, "{}", done.body);
        let windows = view["forecast"]["windows"].as_array().unwrap().len();
        assert_eq!(done.json()["placed"].as_array().unwrap().len(), windows);
        assert_eq!(engineer.json("POST", &path, &request).await.body, done.body);
        let bid = engineer.get("/api/v1/bids/first-0").await.json()["bid"].clone();
        assert_eq!(bid["terms"]["alternatives"][0]["min_chips"], 8);
        assert_eq!((&bid["placed_by"], &bid["status"]), (&json!("engineer"), &json!("live")));
        app.clear().await;
        let view = engineer.get(&format!("{PLANS}/p")).await.json();
        assert_eq!(view["fit"]["fits"], true, "{}", view["fit"]);
        assert_eq!(view["bids"].as_array().unwrap().len(), windows);
        let audit = app.get("/api/v1/audit?action=plan.bids_placed").await.json();
        assert_eq!(audit["items"][0]["object"], "p");
        let stale = engineer.json("POST", &path, &json!({"id": "second", "version": 9})).await;
        assert_eq!(stale.status, 412, "{}", stale.body);
    }
}

#[tokio::test]
async fn what_became_dearer_since_it_was_read_is_not_placed_before_it_was_seen() {
    for app in apps().await {
        let engineer = app.engineer().await;
        let view = make(&app, "p").await;
        let windows = view["forecast"]["windows"].as_array().unwrap();
        let cost: MicroCredits = windows
            .iter()
            .map(|one| one["spend"].as_str().unwrap().parse::<MicroCredits>().unwrap())
            .fold(MicroCredits::ZERO, |sum, spend| sum.checked_add(spend).unwrap());
        let path = format!("{PLANS}/p/bids");
        let seen = |id: &str, bids: usize, cost: MicroCredits| json!({"id": id, "version": 1, "seen": {"bids": bids, "cost": cost}});
        for (bids, cost) in [(windows.len() - 1, cost), (windows.len(), MicroCredits(cost.0 * 98 / 100))] {
            let dearer = engineer.json("POST", &path, &seen("b", bids, cost)).await;
            assert_eq!(dearer.status, 412, "{}", dearer.body);
            assert!(dearer.body.contains("has become dearer since you read it"), "{}", dearer.body);
        }
        let page = |seen_cost: String| {
            let engineer = &engineer;
            let bids = windows.len().to_string();
            async move {
                let form = [("id", "b"), ("version", "1"), ("seen_bids", &bids), ("seen_cost", &seen_cost)];
                engineer.post("/planner/speech/p/bids", &form).await
            }
        };
        let shown = page("0.01".to_owned()).await;
        let fresh = format!("name=\"seen_cost\" value=\"{cost}\"");
        assert!(shown.status == 412 && shown.body.contains(&fresh), "{}", shown.body);
        assert!(shown.body.contains("so nothing is placed"), "{}", shown.body);
        assert_eq!(page("-".to_owned()).await.status, 422);
        assert!(engineer.get(&format!("{PLANS}/p")).await.json()["bids"].as_array().unwrap().is_empty());
        // Seen as it is, or a little cheaper by then, it is placed under the id that was refused before.
        let placed = engineer.json("POST", &path, &seen("b", windows.len(), cost)).await;
        assert_eq!(placed.status, 200, "{}", placed.body);
        assert_eq!(placed.json()["placed"].as_array().unwrap().len(), windows.len());
    }
}

#[tokio::test]
async fn a_job_reports_with_a_token_of_its_own_and_the_plan_and_its_bids_follow() {
    for app in apps().await {
        let engineer = app.engineer().await;
        make(&app, "p").await;
        engineer.json("POST", &format!("{PLANS}/p/bids"), &json!({"id": "b", "version": 1})).await;
        let new = NewToken { name: "job".to_owned(), scopes: [Scope::Losses].into(), days: 1 };
        let (_, secret) = app.auth.make_token(&"engineer".parse().unwrap(), new).await.unwrap();
        let job = Client::program(app.router.clone(), &secret);
        let path = format!("{PLANS}/p/losses");
        // The loss has stopped falling: much more is needed than was foreseen.
        let point =
            |nth: u64| json!({"step": 1_200 + nth * 20, "loss": 1.5, "chip_hours": 60.0 + nth as f64});
        let report = json!({"id": "r1", "losses": (1..=40).map(point).collect::<Vec<_>>()});
        let reported = job.json("POST", &path, &report).await;
        assert_eq!(reported.status, 200, "{}", reported.body);
        let reported = reported.json();
        assert_eq!(
            (&reported["new"], &reported["losses"], &reported["version"]),
            (&json!(40), &json!(100), &json!(2))
        );
        let again = job.json("POST", &path, &report).await.json();
        assert_eq!((&again["new"], &again["version"]), (&json!(0), &json!(2)));
        let other = json!({"id": "r1", "losses": [point(41)]});
        assert_eq!(job.json("POST", &path, &other).await.status, 409);
        let overlapping = json!({"id": "r2", "losses": [point(40), point(41)]});
        assert_eq!(job.json("POST", &path, &overlapping).await.json()["new"], 1);
        let back = json!({"id": "r3", "losses": [{"step": 5, "loss": 1.5, "chip_hours": 99.0}]});
        let refused = job.json("POST", &path, &back).await;
        assert_eq!(faults(&refused)[0].0, "log");
        assert!(faults(&refused)[0].1.contains("item 1: step 5 comes after step 2020"), "{}", refused.body);
        // It can do nothing else.
        for path in [PLANS, "/api/v1/market", "/api/v1/teams/speech/bids"] {
            assert_eq!(job.get(path).await.status, 403, "{path}");
        }
        assert_eq!(
            job.json("POST", &format!("{PLANS}/p/bids"), &json!({"id": "x", "version": 3})).await.status,
            403
        );
        let view = engineer.get(&format!("{PLANS}/p")).await.json();
        assert_eq!(view["fit"]["fits"], false, "{}", view["forecast"]["verdict_words"]);
        assert!(view["steps"].as_array().unwrap().len() == 3);
        let changed = engineer
            .json("POST", &format!("{PLANS}/p/bids"), &json!({"id": "c", "version": view["version"]}))
            .await;
        assert_eq!(changed.status, 200, "{}", changed.body);
        let view = engineer.get(&format!("{PLANS}/p")).await.json();
        let open = view["bids"].as_array().unwrap().iter().filter(|bid| bid["status"] == "live").count();
        assert_eq!(open, view["forecast"]["windows"].as_array().unwrap().len());
        assert!(open == 0 || view["fit"]["fits"] == true, "{}", view["fit"]);
    }
}

#[tokio::test]
async fn many_reports_keep_one_whole_forecast_and_a_few_figures_each() {
    for app in apps().await {
        make(&app, "p").await;
        let engineer = app.engineer().await;
        let report = async |nth: u64| {
            let new = json!({"id": format!("r{nth}"), "log": log(std::iter::once(1_200 + nth * 20))});
            let answer = engineer.json("POST", &format!("{PLANS}/p/losses"), &new).await;
            assert_eq!(answer.status, 200, "{}", answer.body);
        };
        for nth in 1..=6 {
            report(nth).await;
        }
        let wholes = "SELECT COUNT(*) FROM plan_forecast";
        let longest = "SELECT CAST(MAX(LENGTH(forecast)) AS BIGINT) FROM plan_version";
        assert_eq!(one_number(&app.store, wholes).await, 1, "{}", app.store.name);
        assert_eq!(one_number(&app.store, "SELECT COUNT(*) FROM plan_version").await, 7);
        let figures = one_number(&app.store, longest).await;
        assert!(figures < 300, "{}: a version keeps {figures} bytes of its forecast", app.store.name);
        let view = engineer.get(&format!("{PLANS}/p")).await.json();
        let steps = view["steps"].as_array().unwrap();
        let losses: Vec<u64> = steps.iter().map(|step| step["losses"].as_u64().unwrap()).collect();
        assert_eq!(losses, [66, 65, 64, 63, 62, 61, 60]);
        assert!(
            steps.iter().all(|step| number(&step["remaining_p50"]) > 0.0 && step["verdict"] == "can_finish")
        );
        // A list shows what the newest one says, and a closed plan says it in full.
        let listed = engineer.get(PLANS).await.json()["plans"][0].clone();
        assert_eq!((&listed["losses"], &listed["remaining_p50"]), (&json!(66), &steps[0]["remaining_p50"]));
        let change = json!({"version": 7, "terms": view["terms"], "closed": true});
        let closed = engineer.json("PUT", &format!("{PLANS}/p"), &change).await.json();
        assert_eq!(closed["forecast"]["losses"], 66);
        assert!(!closed["forecast"]["fan"].as_array().unwrap().is_empty(), "{closed}");
    }
}

#[tokio::test]
async fn what_is_wrong_with_a_plan_is_said_at_its_field() {
    let mut app = TestApp::with_bids().await;
    app.clear_many(2).await;
    let engineer = app.engineer().await;
    let refused = async |change: &dyn Fn(&mut Value)| {
        let mut body = plan(&app, "p");
        change(&mut body);
        let answer = engineer.json("POST", PLANS, &body).await;
        assert_eq!(answer.status, 422, "{}", answer.body);
        faults(&answer)
    };
    let cases: [(&str, Value, &str, &str); 10] = [
        ("/terms/name", json!(" "), "terms.name", "is empty"),
        ("/terms/chip_type", json!("B200"), "terms.chip_type", "there is no such chip type"),
        ("/terms/most_chips", json!(1_000), "terms.most_chips", "your pool can hold 56 at most"),
        ("/terms/least_chips", json!(33), "terms.least_chips", "it must be from 1 to 32"),
        ("/terms/target_loss", json!(0), "terms.target_loss", "it must be a number above 0"),
        ("/terms/target_loss", json!(2.0), "terms.target_loss", "nothing is left to do; give a lower target"),
        ("/terms/deadline", json!("2026-11-29T00:00:00Z"), "terms.deadline", "which is past"),
        ("/terms/deadline", json!("2027-11-29T00:00:00Z"), "terms.deadline", "the most is 60 days ahead"),
        ("/log", json!("step,loss,chip_hours\n1,NaN,2"), "log", "line 2: the loss is NaN"),
        ("/log", json!(""), "log", "is empty"),
    ];
    for (pointer, value, field, words) in cases {
        let found = refused(&|body| *body.pointer_mut(pointer).unwrap() = value.clone()).await;
        let fits = |(at, said): &(String, String)| at == field && said.contains(words);
        assert!(found.iter().any(fits), "{pointer} {value}: {found:?} has not {words:?}");
    }
    let never = refused(&|body| body["terms"]["chip_hours_per_step"] = json!(-1)).await;
    assert_eq!(never[0].0, "terms.chip_hours_per_step");
    // A target that no curve reaches is a plan, which says so.
    let mut body = plan(&app, "never");
    body["terms"]["target_loss"] = json!(0.001);
    let view = engineer.json("POST", PLANS, &body).await.json();
    assert_eq!(view["forecast"]["verdict"], "cannot_finish");
    assert!(
        view["forecast"]["verdict_words"].as_str().unwrap().contains("The lowest loss foreseen"),
        "{view}"
    );
    let nothing =
        engineer.json("POST", &format!("{PLANS}/never/bids"), &json!({"id": "n", "version": 1})).await;
    assert_eq!(nothing.status, 409);
    assert!(nothing.body.contains("nothing to bid for"), "{}", nothing.body);
}

#[tokio::test]
async fn a_plan_is_changed_closed_and_counts_in_the_sums_while_it_is_open() {
    for app in apps().await {
        let engineer = app.engineer().await;
        let view = make(&app, "p").await;
        let (finance, admin) = (app.finance().await, app.client("admin").await);
        let spend = finance.get("/api/v1/planner/spend").await.json();
        let rows = spend["rows"].as_array().unwrap();
        assert!(!rows.is_empty() && rows.iter().all(|row| row["team"] == "speech"), "{spend}");
        let demand = admin.get("/api/v1/planner/demand").await.json();
        let used: f64 =
            demand["rows"].as_array().unwrap().iter().map(|row| number(&row["chip_seconds"])).sum();
        assert!((used / 3_600.0 - number(&view["forecast"]["covered_chip_hours"])).abs() < 1e-6, "{demand}");
        assert_eq!(
            (&demand["rows"][0]["supply"], &demand["rows"][0]["peak_chips"]),
            (&json!(56), &json!(32))
        );
        let mut terms = view["terms"].clone();
        terms["deadline"] = json!(deadline(&app, 1).to_string());
        let change =
            |version: u64, closed: bool| json!({"version": version, "terms": terms, "closed": closed});
        let path = format!("{PLANS}/p");
        let changed = engineer.json("PUT", &path, &change(1, false)).await;
        assert_eq!((changed.status.as_u16(), changed.header(header::ETAG)), (200, "\"2\""));
        assert_eq!(changed.json()["forecast"]["verdict"], "cannot_finish");
        assert_eq!(engineer.json("PUT", &path, &change(1, true)).await.status, 412);
        assert_eq!(engineer.json("PUT", &path, &change(2, true)).await.json()["closed"], true);
        let report = json!({"id": "r", "losses": [{"step": 9_000, "loss": 1.1, "chip_hours": 450.0}]});
        assert_eq!(engineer.json("POST", &format!("{path}/losses"), &report).await.status, 409);
        assert_eq!(finance.get("/api/v1/planner/spend").await.json()["rows"], json!([]));
    }
}

#[tokio::test]
async fn a_plan_is_its_teams_own() {
    let mut app = TestApp::with_bids().await;
    app.clear().await;
    make(&app, "p").await;
    let outsider = app.outsider().await;
    for path in [PLANS, &format!("{PLANS}/p"), &format!("{PLANS}/p/losses"), "/api/v1/teams/ads/plans/p"] {
        assert_eq!(outsider.get(path).await.status, 404, "{path}");
    }
    assert_eq!(outsider.get("/planner/speech/p").await.status, 404);
    assert_eq!(outsider.get("/planner?team=speech").await.status, 404);
    let report = json!({"id": "r", "losses": []});
    assert_eq!(outsider.json("POST", &format!("{PLANS}/p/losses"), &report).await.status, 404);
    assert_eq!(app.finance().await.get(&format!("{PLANS}/p")).await.status, 404);
    let admin = app.client("admin").await;
    assert_eq!(admin.get(&format!("{PLANS}/p")).await.status, 200);
    let audit = admin.get("/api/v1/audit?action=plan.read").await.json();
    assert_eq!(audit["items"][0]["object"], "p", "an admin's look is noted");
    for (rest, body) in [("losses", report), ("bids", json!({"id": "x", "version": 1}))] {
        assert_eq!(admin.json("POST", &format!("{PLANS}/p/{rest}"), &body).await.status, 403, "{rest}");
    }
}

#[tokio::test]
async fn the_pages_make_place_feed_and_close_a_plan_without_scripts() {
    let mut app = TestApp::with_bids().await;
    app.clear_many(2).await;
    let engineer = app.engineer().await;
    let until = deadline(&app, 48).to_string();
    let text = log((1..=60).map(|nth| nth * 20));
    let fields = |log: &'static str| {
        [
            ("id", "p"),
            ("team", "speech"),
            ("terms.name", "Speech <model>"),
            ("terms.chip_type", "A100"),
            ("log", log),
        ]
    };
    let bad = engineer.post("/planner", &fields("10,4,1\n20,NaN,2")).await;
    assert_eq!(bad.status, 422);
    for part in
        ["Line 2: the loss is NaN", "10,4,1\n20,NaN,2", "Speech &lt;model&gt;", "Target loss is empty"]
    {
        assert!(
            bad.body.contains(part) || bad.body.contains(&part.replace("&quot;", "\"")),
            "{part}: {}",
            bad.body
        );
    }
    let mut good: Vec<(&str, &str)> = fields("").into();
    good[4] = ("log", &text);
    good.extend([("terms.target_loss", "1.2"), ("terms.most_chips", "32"), ("terms.deadline", &until[..16])]);
    let made = engineer.post("/planner", &good).await;
    assert_eq!(
        (made.status.as_u16(), made.header(header::LOCATION)),
        (303, "/planner/speech/p"),
        "{}",
        made.body
    );
    let page = engineer.open("/planner/speech/p").await;
    for part in
        ["can finish", "<polygon", "Chance of finishing", "Hours to bid for", "Place the bids", "spoke"]
    {
        assert!(page.body.contains(part), "{part}: {}", page.body);
    }
    let placed = engineer.post("/planner/speech/p/bids", &[("id", "b"), ("version", "1")]).await;
    assert_eq!(placed.status, 303, "{}", placed.body);
    assert!(engineer.open("/planner/speech/p").await.body.contains("/bids/b-0"));
    let bad = engineer.post("/planner/speech/p/losses", &[("id", "r"), ("log", "step,loss\n2000,1")]).await;
    assert!(bad.status == 422 && bad.body.contains("Line 2: no chip-hours"), "{}", bad.body);
    let more = "step,loss,chip_hours\n1300,1.19,65";
    assert_eq!(engineer.post("/planner/speech/p/losses", &[("id", "r"), ("log", more)]).await.status, 303);
    let page = engineer.open("/planner/speech/p").await;
    for part in ["target met", "The bids no longer fit the plan", "Change the bids to the plan"] {
        assert!(page.body.contains(part), "{part}: {}", page.body);
    }
    assert_eq!(engineer.post("/planner/speech/p/bids", &[("id", "c"), ("version", "2")]).await.status, 303);
    assert!(!engineer.open("/planner/speech/p").await.body.contains("no longer fit"));
    let close = engineer.post("/planner/speech/p/change", &[("version", "2"), ("closed", "yes")]).await;
    assert_eq!(close.status, 303, "{}", close.body);
    assert!(engineer.open("/planner?team=speech").await.body.contains("closed"));
    let stale = app
        .send_as(&crate::audit::viewer("engineer", &[]), Method::GET, "/planner/speech/nothing", &[], "")
        .await;
    assert_eq!(stale.status, 404);
}
