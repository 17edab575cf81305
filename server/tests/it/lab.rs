//! The lab: runs in the background on both databases, their figures, who may see them, and what is refused.
#![expect(clippy::unwrap_used, reason = "what fails here fails the test")]

use std::io::Write;
use std::process::Stdio;
use std::sync::Arc;
use std::time::Duration;

use axum::body::Body;
use axum::http::{Request, header};
use common::api::{LabRequest, LabResult, LabState};
use serde_json::{Value, json};
use server::lab::{shadow, worker};
use tokio_util::sync::CancellationToken;

use crate::app::TestApp;
use crate::commands::{assert_says, program, run};
use crate::fixture;

/// Starts a run as the admin and answers its id.
async fn start(app: &TestApp, request: Value) -> String {
    let answer = app.client("admin").await.json("POST", "/api/v1/lab/runs", &request).await;
    assert_eq!(answer.status, 202, "{}", answer.body);
    answer.json()["id"].as_str().unwrap().to_owned()
}

/// Works in the background until a run has ended; answers the run with its figures.
async fn ended(app: &TestApp, id: &str) -> Value {
    let stop = CancellationToken::new();
    let working = tokio::spawn(worker::work(Arc::clone(&app.services), stop.clone()));
    let admin = app.client("admin").await;
    let end = async {
        loop {
            let view = admin.get(&format!("/api/v1/lab/runs/{id}")).await.json();
            if !["queued", "running"].contains(&view["run"]["state"].as_str().unwrap()) {
                return view;
            }
            tokio::time::sleep(Duration::from_millis(20)).await;
        }
    };
    let view = tokio::time::timeout(Duration::from_secs(120), end).await.unwrap();
    stop.cancel();
    working.await.unwrap();
    view
}

#[tokio::test]
async fn a_run_is_computed_in_the_background_and_read_in_every_form() {
    for test in fixture::both().await {
        let app = TestApp::on(test).await;
        let request = json!({"trace": "synthetic", "policies": ["max-min", "market", "fifo", "learned@2.5"], "seed": 3, "rounds": 24, "regret_rounds": 4});
        let id = start(&app, request.clone()).await;
        let admin = app.client("admin").await;
        let csv = format!("/api/v1/lab/runs/{id}?format=csv");
        assert_eq!(admin.get(&csv).await.status, 409, "there are no figures yet");
        let view = ended(&app, &id).await;
        assert_eq!(view["run"]["state"], "done", "{view}");
        assert_eq!((view["run"]["done"].clone(), view["run"]["all"].clone()), (json!(96), json!(96)));
        let policies = view["result"]["policies"].as_array().unwrap();
        assert_eq!(policies.len(), 4);
        for policy in [&policies[0], &policies[1], &policies[3]] {
            let welfare = policy["measures"]["welfare_share"].as_f64().unwrap();
            assert!(welfare > 0.3 && welfare <= 1.0, "{policy}");
            assert!(policy["measures"]["regret"].as_f64().unwrap() >= 0.0);
            assert_eq!(policy["teams"].as_array().unwrap().len(), 10);
        }
        assert!(policies[1]["measures"]["guarantee"].as_f64().unwrap() <= 1.0);
        assert_eq!(policies[3]["title"], "Learned fair allocator, λ = 2.5");
        assert!(policies[2]["refusal"].as_str().unwrap().contains("this trace tells no jobs"));
        let again = ended(&app, &start(&app, request).await).await;
        let without_time = |view: &Value| {
            let mut result = view["result"].clone();
            for policy in result["policies"].as_array_mut().unwrap() {
                policy["measures"].as_object_mut().unwrap().remove("microseconds_per_round");
            }
            result
        };
        assert_eq!(without_time(&view), without_time(&again), "the same seed gives the same figures");
        let csv = admin.get(&csv).await;
        assert_eq!((csv.status.as_u16(), csv.header(header::CONTENT_TYPE)), (200, "text/csv; charset=utf-8"));
        assert_eq!(csv.body.lines().count(), 1 + 4 + 3 * 10, "{}", csv.body);
        let page = admin.open(&format!("/lab/runs/{id}?team=2")).await;
        for part in
            ["Policies side by side", "★", "team-3 under each policy", "<circle", "fifo does not apply"]
        {
            assert!(page.body.contains(part), "{part}");
        }
        let both =
            admin.open(&format!("/lab/compare?run={id}&run={}", again["run"]["id"].as_str().unwrap())).await;
        assert!(both.body.contains("run 2: Market"), "{}", both.body);
    }
}

#[tokio::test]
async fn a_run_is_cancelled_and_one_whose_process_ends_begins_again_in_the_next() {
    let app = TestApp::new().await;
    let waiting = start(&app, json!({"trace": "synthetic"})).await;
    let admin = app.client("admin").await;
    assert_eq!(
        admin.json("POST", &format!("/api/v1/lab/runs/{waiting}/cancel"), &json!({})).await.status,
        204
    );
    let long = start(&app, json!({"trace": "chronus"})).await;
    let stop = CancellationToken::new();
    let working = tokio::spawn(worker::work(Arc::clone(&app.services), stop.clone()));
    let state = async |id: &str| {
        admin.get(&format!("/api/v1/lab/runs/{id}")).await.json()["run"]["state"].as_str().unwrap().to_owned()
    };
    let until = async |id: &str, wanted: &str| {
        let wait = async {
            while state(id).await != wanted {
                tokio::time::sleep(Duration::from_millis(10)).await;
            }
        };
        tokio::time::timeout(Duration::from_secs(60), wait).await.unwrap();
    };
    until(&waiting, "cancelled").await;
    until(&long, "running").await;
    stop.cancel();
    working.await.unwrap();
    assert_eq!(state(&long).await, "queued", "it begins again after a restart");
    let stop = CancellationToken::new();
    let working = tokio::spawn(worker::work(Arc::clone(&app.services), stop.clone()));
    until(&long, "running").await;
    let cancel = admin.post(&format!("/lab/runs/{long}/cancel"), &[]).await;
    assert_eq!(cancel.status, 303);
    until(&long, "cancelled").await;
    stop.cancel();
    working.await.unwrap();
    let again = admin.json("POST", &format!("/api/v1/lab/runs/{long}/cancel"), &json!({})).await;
    assert_eq!(again.status, 409, "{}", again.body);
}

#[tokio::test]
async fn an_uploaded_trace_and_the_markets_own_history_are_compared_on() {
    for test in fixture::both().await {
        let mut app = TestApp::with_bids_on(test).await;
        app.clear_many(5).await;
        let admin = app.client("admin").await;
        let upload = |text: &'static str, query: &'static str| {
            let path = format!("/api/v1/lab/traces?{query}");
            let request = Request::post(path).header(header::CONTENT_TYPE, "text/csv");
            admin.send(request.body(Body::from(text)).unwrap())
        };
        let refused = upload("round,team,chips\n0,a,-1\n", "name=ours").await;
        assert_eq!(refused.status, 422, "{}", refused.body);
        assert!(refused.body.contains("line 2: chips is") && refused.json()["errors"][0]["field"] == "csv");
        assert_eq!(upload("round,team,chips\n0,a,1\n", "name=philly").await.status, 409, "the name is taken");
        let taken =
            upload("round,team,chips,value\n0,a,8,1\n0,b,8,2\n1,a,8,1\n", "name=ours&supply=10").await;
        assert_eq!(taken.status, 201, "{}", taken.body);
        let view =
            ended(&app, &start(&app, json!({"trace": "ours", "policies": ["highest-value"]})).await).await;
        assert_eq!(view["result"]["welfare_bound"], 26.0, "8 at 2, 2 at 1, then 8 at 1");
        assert_eq!(view["result"]["policies"][0]["measures"]["welfare_share"], 1.0);
        let view =
            ended(&app, &start(&app, json!({"trace": "history", "policies": ["karma", "max-min"]})).await)
                .await;
        assert_eq!(
            (view["run"]["state"].as_str(), view["result"]["rounds"].as_u64()),
            (Some("done"), Some(5))
        );
        let asked: f64 = view["result"]["policies"][0]["teams"]
            .as_array()
            .unwrap()
            .iter()
            .map(|team| team["asked"].as_f64().unwrap())
            .sum();
        assert!(asked > 0.0, "{view}");
    }
}

#[tokio::test]
async fn who_may_and_what_is_refused() {
    let app = TestApp::new().await;
    for (user, status) in [("engineer", 404), ("finance", 404), ("auditor", 200), ("admin", 200)] {
        let client = app.client(user).await;
        for path in ["/api/v1/lab/runs", "/api/v1/lab/traces", "/lab"] {
            assert_eq!(client.open(path).await.status, status, "{user} {path}");
        }
    }
    let admin = app.client("admin").await;
    for (request, part) in [
        (json!({"trace": "nowhere"}), "is no trace; there are history, philly"),
        (json!({"trace": "philly", "policies": ["communism"]}), "is no policy; there are static"),
        (json!({"trace": "philly", "regret_rounds": 2000}), "the most is 1000"),
        (json!({"trace": "philly", "supply": 0}), "it must be 1 to 1000000000"),
    ] {
        let answer = admin.json("POST", "/api/v1/lab/runs", &request).await;
        assert!(answer.status == 422 && answer.body.contains(part), "{request}: {}", answer.body);
    }
    let form = [
        ("trace", "philly"),
        ("seed", "x"),
        ("rounds", "0"),
        ("policies", "karma"),
        ("values", "heavy-tailed"),
    ];
    let page = admin.post("/lab", &form).await;
    assert_eq!(page.status, 422);
    for part in ["Seed is ", "value=\"x\"", "Rounds is ", "it must be a whole number"] {
        assert!(page.body.contains(part), "{part}: {}", page.body);
    }
    for _ in 0..20 {
        start(&app, json!({"trace": "synthetic"})).await;
    }
    let answer = admin.json("POST", "/api/v1/lab/runs", &json!({"trace": "synthetic"})).await;
    assert_eq!(answer.status, 409, "{}", answer.body);
}

#[tokio::test]
async fn policies_in_shadow_are_stored_per_step_and_shown_per_team() {
    for test in fixture::both().await {
        let mut app = TestApp::with_bids_on(test).await;
        let admin = app.client("admin").await;
        let choose =
            async |names: Value| admin.json("PUT", "/api/v1/lab/shadow", &json!({"policies": names})).await;
        for (names, part) in
            [(json!(["fifo"]), "can't run in shadow"), (json!(["learned@21"]), "is no policy")]
        {
            let refused = choose(names).await;
            assert!(refused.status == 422 && refused.body.contains(part), "{}", refused.body);
        }
        assert_eq!(choose(json!(["learned@2.50", "max-min"])).await.status, 204);
        let stop = CancellationToken::new();
        let live = app.live.subscribe();
        let following = tokio::spawn(shadow::follow(Arc::clone(&app.services), live, stop.clone()));
        let until = async |app: &TestApp, steps: u64| {
            let wait = async {
                loop {
                    let view = app.client("admin").await.get("/api/v1/lab/shadow").await.json();
                    let policies = view["policies"].as_array().unwrap();
                    if policies.len() == 2 && policies.iter().all(|policy| policy["steps"] == steps) {
                        return view;
                    }
                    tokio::time::sleep(Duration::from_millis(20)).await;
                }
            };
            tokio::time::timeout(Duration::from_secs(30), wait).await.unwrap()
        };
        app.clear_many(5).await;
        until(&app, 1).await;
        app.clear_many(5).await;
        let view = until(&app, 2).await;
        assert_eq!(view["running"], json!(["learned@2.5", "max-min"]));
        for policy in view["policies"].as_array().unwrap() {
            assert_eq!(policy["last_cycle"], 10, "{policy}");
            let sum = |field: &str| -> u64 {
                policy["teams"].as_array().unwrap().iter().map(|team| team[field].as_u64().unwrap()).sum()
            };
            assert!(sum("given_milli") > 0 && sum("given_milli") <= sum("asked_milli"), "{policy}");
            assert!(sum("granted_milli") > 0, "{policy}");
        }
        stop.cancel();
        following.await.unwrap();
        let page = admin.open("/lab").await;
        assert!(page.body.contains("Max-min: means of 2 steps up to cycle 10"), "{}", page.body);
        assert!(page.body.contains("Learned fair allocator, λ = 2.5: means of 2 steps"), "{}", page.body);
        let sent = [("shadow", "static"), ("shadow", "learned-elastic"), ("envy_weight", "7")];
        assert_eq!(admin.post("/lab/shadow", &sent).await.status, 303);
        let running = admin.get("/api/v1/lab/shadow").await.json()["running"].clone();
        assert_eq!(running, json!(["learned-elastic@7", "static"]));
        let sent = [("shadow", "learned"), ("envy_weight", "lots")];
        let refused = admin.post("/lab/shadow", &sent).await;
        assert!(refused.status == 422 && refused.body.contains("it must be 0 to 20"), "{}", refused.body);
    }
}

#[tokio::test]
async fn the_page_shows_what_envy_costs_and_marks_the_chosen_weight() {
    let app = TestApp::new().await;
    let admin = app.client("admin").await;
    let shown = |page: &str| -> Vec<String> {
        let parts = page.split("<div data-slider-at=\"").skip(1);
        parts
            .filter_map(|part| part.split_once('"'))
            .filter(|(_, rest)| !rest.starts_with(" hidden"))
            .map(|(at, _)| at.to_owned())
            .collect()
    };
    let page = admin.open("/lab").await;
    assert_eq!(shown(&page.body), ["4"], "the usual weight");
    for part in [
        "What envy costs",
        "Strict, λ = 4: ",
        "% of dynamic DRF",
        "Outside the picture: Greedy",
        "lab train allocator --seed 1",
    ] {
        assert!(page.body.contains(part), "{part}: {}", page.body);
    }
    assert_eq!(page.body.matches("type=\"range\"").count(), 3, "of the frontier, a run and the shadow");
    assert_eq!(shown(&admin.open("/lab?envy_weight=2.5").await.body), ["2.5"]);
    assert_eq!(shown(&admin.open("/lab?envy_weight=lots").await.body), ["4"]);
    let run = [
        ("trace", "synthetic"),
        ("seed", "1"),
        ("policies", "learned"),
        ("policies", "static"),
        ("envy_weight", "0.5"),
    ];
    assert_eq!(admin.post("/lab", &run).await.status, 303);
    let runs = admin.get("/api/v1/lab/runs").await.json();
    assert_eq!(runs[0]["request"]["policies"], json!(["learned@0.5", "static"]));
}

#[test]
fn the_command_compares_and_writes_json_and_csv() {
    let folder = tempfile::tempdir().unwrap();
    let arguments = "lab run --trace philly-normalised --rounds 48 --policies static,max-min,karma --json a.json --csv a.csv";
    let (code, out, err) = run(folder.path(), &arguments.split(' ').collect::<Vec<_>>());
    assert_eq!(code, 0, "{err}");
    assert_says(
        &out,
        &["Jeon et al., USENIX ATC 2019", "every chip-hour is worth 1 credit", "48 rounds of 1 h", "karma"],
    );
    let result: LabResult =
        serde_json::from_slice(&std::fs::read(folder.path().join("a.json")).unwrap()).unwrap();
    assert_eq!((result.rounds, result.policies.len(), result.teams.len()), (48, 3, 11));
    let request: LabRequest = result.request;
    assert_eq!((request.trace.as_str(), request.seed), ("philly-normalised", 1));
    assert!(
        std::fs::read_to_string(folder.path().join("a.csv")).unwrap().starts_with("trace,seed,policy,team")
    );
    for (arguments, code, part) in [
        ("lab run --trace nowhere", 66, "there is no trace \"nowhere\""),
        ("lab run --trace philly --policies communism", 65, "is no policy; there are static"),
        ("lab allocate --policy communism", 65, "is no policy"),
    ] {
        let (ended, _, err) = run(folder.path(), &arguments.split(' ').collect::<Vec<_>>());
        assert_eq!(ended, code, "{arguments}: {err}");
        assert_says(&err, &[part]);
    }
}

#[test]
fn a_policy_allocates_rounds_from_lines_to_lines() {
    let folder = tempfile::tempdir().unwrap();
    let allocate = |policy: &str, lines: &str| {
        let mut child = program(folder.path())
            .args(["lab", "allocate", "--policy", policy, "--karma-credits", "6"])
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        child.stdin.take().unwrap().write_all(lines.as_bytes()).unwrap();
        let output = child.wait_with_output().unwrap();
        let text = |bytes: Vec<u8>| String::from_utf8(bytes).unwrap();
        (output.status.code(), text(output.stdout), text(output.stderr))
    };
    let lines: String = [[6, 6, 0], [12, 0, 0], [0, 12, 0], [6, 6, 18], [6, 6, 12]]
        .iter()
        .map(|demand| {
            let agents: Vec<Value> = demand.iter().map(|chips| json!({"demand": [chips]})).collect();
            format!("{}\n", json!({"supply": [18], "agents": agents}))
        })
        .collect();
    let (code, out, err) = allocate("karma", &lines);
    assert_eq!(code, Some(0), "{err}");
    let mut totals = [0; 3];
    for line in out.lines() {
        let allocation: Value = serde_json::from_str(line).unwrap();
        for (total, row) in totals.iter_mut().zip(allocation["chips"].as_array().unwrap()) {
            *total += row[0].as_u64().unwrap();
        }
    }
    assert_eq!(totals, [24, 24, 24]);
    let (code, out, _) = allocate("market-foresight", &lines);
    assert_eq!((code, out.lines().count()), (Some(0), 5), "it answers when it has read everything");
    let (code, _, err) = allocate("max-min", "{\"supply\": [1], \"agents\": [{\"demand\": [1, 2]}]}\n");
    assert_eq!(code, Some(65));
    assert_says(&err, &["line 1: agents[0].demand has 2 numbers; supply has 1"]);
    let (code, _, err) = allocate("max-min", "\n{\"supply\": [1]}\n");
    assert_eq!(code, Some(65));
    assert_says(&err, &["line 2 is no round", "agents"]);
    let (code, _, err) = allocate("fifo", &lines);
    assert_eq!(code, Some(65));
    assert_says(&err, &["line 1: fifo does not apply"]);
}

#[test]
fn states_are_named_as_they_are_stored() {
    let names: Vec<Value> =
        [LabState::Queued, LabState::Running, LabState::Done, LabState::Cancelled, LabState::Failed]
            .iter()
            .map(|state| serde_json::to_value(state).unwrap())
            .collect();
    assert_eq!(names, ["queued", "running", "done", "cancelled", "failed"]);
}
