//! Importing an inventory: compared first, then applied whole or not at all.

use axum::body::Body;
use axum::http::Method;
use common::api::Role;
use serde_json::{Value, json};

use crate::app::TestApp;
use crate::audit::viewer;
use crate::supply::{hand, market, markets, post, verifies};

fn inventory(csv: &str) -> Value {
    json!({"inventory": {"csv": csv}, "reason": "the new count"})
}

#[tokio::test]
async fn a_file_is_compared_then_imported_whole_and_a_second_time_changes_nothing() {
    for mut app in markets().await {
        app.clear().await;
        let file = "chip_type,pool,chips\nA100,,50\nA100,research,16\nH100,products,4\n";
        let said = post(&app, "/api/v1/supply/import/preview", &[], &json!({"csv": file})).await.json();
        assert_eq!(
            (&said["form"], &said["unchanged"], &said["faults"]),
            (&json!("chips"), &json!(1), &json!([]))
        );
        assert_eq!(said["changes"][0], json!({"chip_type": "A100", "before": 40, "after": 50}));
        let version = format!("\"{}\"", said["version"].as_str().unwrap());
        let imported = post(&app, "/api/v1/supply/import", &[("if-match", &version)], &inventory(file)).await;
        assert_eq!(imported.status, 200, "{}", imported.body);
        let stale = post(&app, "/api/v1/supply/import", &[("if-match", &version)], &inventory(file)).await;
        assert_eq!(stale.status, 412, "what it changes is other than it was");
        let again = post(&app, "/api/v1/supply/import", &[], &inventory(file)).await;
        assert_eq!((again.status.as_u16(), &again.json()["changes"]), (200, &json!([])));
        app.clear().await;
        assert_eq!(market(&app).await.0, 66, "{}", app.store.name);
        assert_eq!(hand(&app, "H100", Some("products")).await, (4, 0, 4));
        let audited = app.get("/api/v1/audit?action=supply.imported").await.json();
        assert_eq!(
            audited["items"].as_array().unwrap().len(),
            1,
            "only what changed something is in the log"
        );
        verifies(&app).await;
    }
}

#[tokio::test]
async fn a_file_with_faults_is_refused_with_their_lines_and_nothing_of_it_is_applied() {
    let mut app = TestApp::with_bids().await;
    app.clear().await;
    let file = "chip_type,pool,chips\nA100,,41\nB200,,1\nA100,nobody,1\nA100,,2\nH100,,-1\nH100,,2.5\n";
    let refused = post(&app, "/api/v1/supply/import", &[], &inventory(file)).await;
    assert_eq!(refused.status, 422);
    let faults: Vec<String> = refused.json()["errors"]
        .as_array()
        .unwrap()
        .iter()
        .map(|fault| fault["detail"].as_str().unwrap().split(':').next().unwrap().to_owned())
        .collect();
    assert_eq!(faults, ["line 3", "line 4", "line 5", "line 6", "line 7"]);
    assert_eq!(hand(&app, "A100", None).await, (40, 0, 40));

    // The page says the same, keeps the file, and takes the mended one.
    let admin = app.admin();
    let page = admin.post("/supply/import", &[("csv", file), ("pool", ""), ("do", "read")]).await;
    assert_eq!(page.status, 422);
    for text in ["Line 3 ", "Line 7 ", "A100,,41"] {
        assert!(page.body.contains(text), "{text}: {}", page.body);
    }
    assert!(!page.body.contains("Import it"));
    let mended = "chip_type,pool,chips\nA100,,41\n";
    let page = admin.post("/supply/import", &[("csv", mended), ("pool", ""), ("do", "read")]).await;
    assert_eq!(page.status, 200);
    assert!(page.body.contains("Import it") && page.body.contains("cleared without and with the change"));
    let no_reason = admin
        .post("/supply/import", &[("csv", mended), ("pool", ""), ("do", "import"), ("reason", "")])
        .await;
    assert!(no_reason.status == 422 && no_reason.body.contains("f-reason-error"), "{}", no_reason.body);
    let done = admin
        .post("/supply/import", &[("csv", mended), ("pool", ""), ("do", "import"), ("reason", "count")])
        .await;
    assert_eq!(done.status, 303, "{}", done.body);
    assert_eq!(hand(&app, "A100", None).await, (41, 0, 41));
}

#[tokio::test]
async fn a_list_of_nodes_is_summed_by_a_mapping_that_the_admin_sees() {
    let mut app = TestApp::with_bids().await;
    app.clear().await;
    let nodes = "sn,cpu_milli,memory_mib,gpu,model\nn0,32000,262144,0,\nn1,1,1,8,A100M40\nn2,1,1,8,A100M80\nn3,1,1,4,H100\nn4,1,1,1,P100\n";
    let said = post(&app, "/api/v1/supply/import/preview", &[], &json!({"csv": nodes})).await.json();
    let models: Vec<Value> = said["models"]
        .as_array()
        .unwrap()
        .iter()
        .map(|model| json!([model["model"], model["chips"], model["chip_type"]]))
        .collect();
    assert_eq!(
        models,
        [
            json!(["A100M40", 8, "A100"]),
            json!(["A100M80", 8, "A100"]),
            json!(["H100", 4, "H100"]),
            json!(["P100", 1, null])
        ]
    );
    assert_eq!(said["faults"].as_array().unwrap().len(), 1, "P100 is unknown: {said}");
    let meanings = json!([{"model": "P100"}, {"model": "A100M80", "chip_type": "H100"}]);
    let asked =
        json!({"inventory": {"csv": nodes, "pool": "products", "models": meanings}, "reason": "count"});
    let imported = post(&app, "/api/v1/supply/import", &[], &asked).await;
    assert_eq!(imported.status, 200, "{}", imported.body);
    assert_eq!(hand(&app, "A100", Some("products")).await, (8, 0, 8));
    assert_eq!(hand(&app, "H100", Some("products")).await, (12, 0, 12));

    // A browser sends a chosen file in parts.
    let body = format!(
        "--x\r\ncontent-disposition: form-data; name=\"file\"; filename=\"nodes.csv\"\r\n\r\n{nodes}\r\n--x\r\n\
        content-disposition: form-data; name=\"model-P100\"\r\n\r\n-\r\n--x--\r\n"
    );
    let headers = [("content-type", "multipart/form-data; boundary=x"), ("sec-fetch-site", "same-origin")];
    let admin = viewer("ada", &[Role::Admin]);
    let page = app.send_as(&admin, Method::POST, "/supply/import", &headers, Body::from(body)).await;
    assert_eq!(page.status, 200, "{}", page.body);
    assert!(page.body.contains("A100M80") && page.body.contains("Import it"));
}
