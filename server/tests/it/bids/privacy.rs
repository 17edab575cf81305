//! Other teams' bids are sealed: nothing tells of them but aggregate depth, and whoever may look is noted.

use axum::http::Method;
use common::money::Price;
use serde_json::json;
use server::error::ErrorKind;

use super::*;

/// Bids of two teams in two cleared cycles.
async fn two_teams(app: &mut TestApp) {
    let services = std::sync::Arc::clone(app.services());
    place(&services, &sam(), "speech", "mine", wire_terms("A100", 30, "none")).await;
    place(&services, &ada(), "ads", "theirs", wire_terms("A100", 40, "2.00")).await;
    app.clear_many(2).await;
}

#[tokio::test]
async fn t143_t145_another_teams_bids_are_as_if_they_were_not() {
    for mut app in apps().await {
        two_teams(&mut app).await;
        let amended = json!({ "version": 1, "terms": terms("A100", 1, "none") }).to_string();
        for (method, path, body) in [
            (Method::GET, "/api/v1/teams/ads/bids", String::new()),
            (Method::GET, "/api/v1/teams/ads/bids?format=csv", String::new()),
            (Method::GET, "/api/v1/teams/ads/bids?show=ended", String::new()),
            (Method::GET, "/api/v1/bids/theirs", String::new()),
            (Method::PUT, "/api/v1/bids/theirs", amended),
            (
                Method::POST,
                "/api/v1/teams/ads/bids",
                json!({ "id": "x", "terms": terms("A100", 1, "none") }).to_string(),
            ),
            (
                Method::POST,
                "/api/v1/teams/ads/bids/preview",
                json!({ "terms": terms("A100", 1, "none") }).to_string(),
            ),
            (Method::POST, "/api/v1/teams/ads/bids/moves", json!({ "bids": ["theirs"] }).to_string()),
            (
                Method::POST,
                "/api/v1/teams/ads/bids/changes",
                json!({ "bids": ["theirs"], "change": "cancel" }).to_string(),
            ),
            (Method::GET, "/api/v1/cycles/2?team=ads", String::new()),
        ] {
            let answer = app.send_as(&sam(), method.clone(), path, &[], body).await;
            assert_eq!(answer.status, 404, "{method} {path}: {}", answer.body);
            // The answer for a bid that exists is the one for a bid that does not.
            let detail = answer.json()["detail"].as_str().unwrap().to_owned();
            assert!(detail.starts_with("there is no "), "{method} {path}: {detail}");
        }
        assert_eq!(queue_of(app.services(), &ada(), "ads").await, ["theirs"]);
    }
}

#[tokio::test]
async fn limits_on_the_pages_of_the_market_are_those_of_ones_own_live_bids() {
    for mut app in apps().await {
        two_teams(&mut app).await;
        let services = app.services();
        for (bid, chip_type, limit) in [("a", "A100", "3.00"), ("b", "A100", "4.00"), ("c", "H100", "5.00")] {
            place(services, &sam(), "speech", bid, wire_terms(chip_type, 2, limit)).await;
        }
        let pause = json!({ "bids": ["b"], "change": "pause" });
        assert_eq!(post(&app, &sam(), "speech", "/changes", pause).await.status, 200);
        let limits = async |viewer: &Viewer, chip_type: &str| {
            services.limits(viewer, &team("speech"), &chip_type.parse().unwrap()).await
        };
        assert_eq!(limits(&sam(), "A100").await.unwrap(), [("2 A100".to_owned(), Price(3_000_000))]);
        assert_eq!(limits(&sam(), "H100").await.unwrap(), [("2 H100".to_owned(), Price(5_000_000))]);
        for other in [ada(), admin()] {
            assert_eq!(limits(&other, "A100").await.unwrap_err().kind(), ErrorKind::NotFound);
        }
    }
}

#[tokio::test]
async fn t134_t145_a_cycle_shows_each_viewer_what_is_theirs_and_so_does_its_export() {
    let mut app = TestApp::new().await;
    two_teams(&mut app).await;
    let bids_of = async |viewer: &Viewer| {
        let view = app.get_as(viewer, "/api/v1/cycles/2").await.json();
        assert_eq!(view["bids_left_out"], 0);
        let names = |list: &str, field: &str| {
            let rows = view[list].as_array().unwrap().iter();
            rows.map(|row| row[field].as_str().unwrap().to_owned()).collect::<Vec<_>>()
        };
        (names("bids", "bid"), names("teams", "team"))
    };
    assert_eq!(bids_of(&sam()).await, (vec!["mine".to_owned()], vec!["speech".to_owned()]));
    let (all, teams) = bids_of(&admin()).await;
    assert_eq!((all, teams.len()), (vec!["theirs".to_owned(), "mine".to_owned()], 3));
    let finance = bids_of(&viewer("fay", &[Role::Finance])).await;
    assert_eq!((finance.0.len(), finance.1.len()), (0, 3), "money, but no bids");
    assert_eq!(bids_of(&viewer("eve", &[])).await, (Vec::new(), Vec::new()));
    let csv = app.get_as(&sam(), "/api/v1/cycles/2?format=csv").await.body;
    assert!(csv.contains(",mine,") && !csv.contains("theirs"), "{csv}");
    let page = app.get_as(&sam(), "/cycles/2").await.body;
    assert!(page.contains("30 A100") && !page.contains("40 A100"));
}

#[tokio::test]
async fn t145_an_admin_reads_sealed_bids_and_each_look_is_noted() {
    for mut app in apps().await {
        two_teams(&mut app).await;
        let looks = async |path: &str| {
            assert_eq!(app.get_as(&admin(), path).await.status, 200, "{path}");
        };
        looks("/api/v1/teams/ads/bids").await;
        looks("/api/v1/bids/theirs").await;
        looks("/api/v1/cycles/2").await;
        app.get_as(&ada(), "/api/v1/bids/theirs").await;
        let log = app.get_as(&admin(), "/api/v1/audit").await.json();
        let entries: Vec<(&str, &str, &str)> = log["items"]
            .as_array()
            .unwrap()
            .iter()
            .map(|entry| {
                let text = |name: &str| entry[name].as_str().unwrap();
                (text("user"), text("action"), text("object"))
            })
            .collect();
        assert_eq!(
            entries,
            [("root", "bids.read", "2"), ("root", "bid.read", "theirs"), ("root", "bids.read", "ads")]
        );
        let refused =
            post(&app, &admin(), "ads", "", json!({ "id": "x", "terms": terms("A100", 1, "none") })).await;
        assert_eq!(refused.status, 403, "reading is not bidding");
    }
}

#[tokio::test]
async fn a_page_that_stays_open_is_one_look_an_hour() {
    let mut app = TestApp::new().await;
    two_teams(&mut app).await;
    let noted = async |app: &TestApp| {
        let log = app.get_as(&admin(), "/api/v1/audit?action=bids.read&object=ads").await.json();
        log["items"].as_array().unwrap().len()
    };
    let (one, other) = (app.client_of(&admin()).await, app.client_of(&admin()).await);
    for _ in 0..3 {
        assert_eq!(one.get("/api/v1/teams/ads/bids").await.status, 200);
    }
    assert_eq!(noted(&app).await, 1);
    other.get("/api/v1/teams/ads/bids").await;
    assert_eq!(noted(&app).await, 2, "another session is another look");
    app.clear_many(60).await;
    one.get("/api/v1/teams/ads/bids").await;
    assert_eq!(noted(&app).await, 3, "an hour later it is another look");
}

#[tokio::test]
async fn nobody_is_nobody() {
    let mut app = TestApp::new().await;
    two_teams(&mut app).await;
    for path in ["/api/v1/teams/speech/bids", "/api/v1/bids/mine", "/api/v1/cycles/2"] {
        assert_eq!(app.anonymous().get(path).await.status, 401, "{path}");
    }
    let refused = app.services().bids(&viewer("eve", &[]), &Origin::default(), BidsQuery::default()).await;
    assert!(refused.unwrap_err().message().starts_with("you are in no team"));
}
