//! Signing in and out, sessions that are renewed, stolen and ended, one-time links.
#![expect(clippy::unwrap_used, reason = "what fails here fails the test")]

use axum::body::Body;
use axum::http::{Request, header};
use server::auth::{ACCESS_SECONDS, IDLE_SECONDS, make_admin_link};
use server::clock::Clock;
use server::store::accounts;

use crate::app::{Answer, TestApp};
use crate::client::{Client, form};
use crate::fixture;

const PASSWORD: &str = "a password of some words";

/// A server whose engineer has a password.
async fn app() -> TestApp {
    let app = TestApp::new().await;
    let hash = app.auth.passwords().hash(PASSWORD).await.unwrap();
    let mut tx = app.store.store.write().await.unwrap();
    accounts::set_password(&mut tx, &"engineer".parse().unwrap(), &hash).await.unwrap();
    tx.commit().await.unwrap();
    app
}

async fn sign_in(client: &Client, login: &str, password: &str) -> Answer {
    client.post("/sign-in", &[("login", login), ("password", password), ("next", "/book")]).await
}

fn location(answer: &Answer) -> &str {
    answer.header(header::LOCATION)
}

#[tokio::test]
async fn a_person_signs_in_sees_the_pages_and_signs_out() {
    let app = app().await;
    let browser = app.anonymous();
    let sent = browser.open("/book?chip=A100").await;
    assert_eq!((sent.status.as_u16(), location(&sent)), (303, "/sign-in?next=%2Fbook%3Fchip%3DA100"));
    let page = browser.open(location(&sent)).await;
    assert_eq!(page.status, 200);
    assert!(page.body.contains("name=\"next\" value=\"/book?chip=A100\""), "{}", page.body);
    assert!(!page.body.contains("wasm"), "it needs no WebAssembly");

    let answer = sign_in(&browser, " Engineer ", PASSWORD).await;
    assert_eq!((answer.status.as_u16(), location(&answer)), (303, "/book"));
    for cookie in answer.headers.get_all(header::SET_COOKIE) {
        let cookie = cookie.to_str().unwrap();
        assert!(cookie.contains("; HttpOnly; SameSite=Lax; Secure"), "{cookie}");
    }
    assert_eq!(browser.get("/api/v1/market").await.status, 200);
    assert_eq!(
        location(&browser.open("/sign-in?next=/cycles").await),
        "/cycles",
        "there is no need to sign in twice"
    );

    let before = browser.copied();
    let answer = browser.post("/sign-out", &[]).await;
    assert_eq!((answer.status.as_u16(), location(&answer)), (303, "/sign-in"));
    assert!(browser.open("/sign-in").await.body.contains("You are signed out on this device."));
    assert!(!browser.open("/sign-in").await.body.contains("You are signed out"), "it says so once");
    for client in [&browser, &before] {
        assert_eq!(
            client.get("/api/v1/market").await.status,
            401,
            "the session is over, whatever a cookie says"
        );
    }
    assert_eq!(location(&browser.post("/sign-out", &[]).await), "/sign-in", "twice does no harm");
}

#[tokio::test]
async fn a_wrong_password_and_an_unknown_account_are_told_alike() {
    let app = app().await;
    let mut texts = Vec::new();
    for (login, password) in [("engineer", "wrong password"), ("nobody", PASSWORD), ("finance", ""), ("", "")]
    {
        let answer = sign_in(&app.anonymous(), login, password).await;
        assert_eq!(answer.status, 422, "{login}");
        assert!(answer.headers.get(header::SET_COOKIE).is_none());
        assert!(!answer.body.contains(PASSWORD), "a password is never sent back");
        let start = answer.body.find("role=\"alert\"").unwrap();
        texts.push(answer.body[start..start + 120].to_owned());
    }
    assert!(texts.windows(2).all(|pair| pair[0] == pair[1]), "{texts:?}");
    let answer = sign_in(&app.anonymous(), "\"><script>x", "wrong password").await;
    assert!(!answer.body.contains("<script>x"));
}

#[tokio::test]
async fn attempts_are_limited_and_the_owner_is_not_locked_out() {
    let app = app().await;
    let known = app.anonymous();
    assert_eq!(sign_in(&known, "engineer", PASSWORD).await.status, 303);
    known.post("/sign-out", &[]).await;
    let stranger = app.anonymous();
    let mut refused = 0;
    for _ in 0..12 {
        refused += u32::from(sign_in(&stranger, "engineer", "wrong password").await.status == 429);
    }
    assert_eq!(refused, 3, "ten attempts from one address, the sign-in before among them, then a wait");
    let waits = sign_in(&stranger, "engineer", PASSWORD).await;
    assert_eq!(waits.status, 429, "the right password has to wait as well");
    assert!(waits.body.contains("seconds"), "it says for how long");
    assert_eq!(
        sign_in(&known, "engineer", PASSWORD).await.status,
        303,
        "a known browser at the same address gets in"
    );
    assert_eq!(sign_in(&app.anonymous().from([10, 0, 0, 9]), "engineer", PASSWORD).await.status, 303);
    app.clock.advance_seconds(31);
    assert_eq!(sign_in(&stranger, "engineer", PASSWORD).await.status, 303);
}

#[tokio::test]
async fn nobody_is_led_to_another_site() {
    let app = app().await;
    for next in ["//evil.example", "https://evil.example/", "/\\evil.example", "javascript:alert(1)"] {
        let fields = [("login", "engineer"), ("password", PASSWORD), ("next", next)];
        assert_eq!(location(&app.anonymous().post("/sign-in", &fields).await), "/", "{next}");
    }
}

#[tokio::test]
async fn a_session_is_renewed_and_a_stolen_token_ends_it() {
    let app = app().await;
    let browser = app.engineer().await;
    let stolen = browser.copied();
    let first = browser.cookie("qm_refresh").unwrap();
    app.clock.advance_seconds(ACCESS_SECONDS);
    assert_eq!(browser.get("/api/v1/market").await.status, 200);
    assert_ne!(browser.cookie("qm_refresh").unwrap(), first, "a refresh token is used once");
    // A second tab sent the old one before it knew of the new one.
    let tab = stolen.copied();
    assert_eq!(tab.get("/api/v1/market").await.status, 200);
    assert_eq!(
        tab.cookie("qm_refresh").unwrap(),
        first,
        "it gets no other one; the first tab's holds for both"
    );
    assert_eq!(browser.get("/api/v1/market").await.status, 200);
    // Half a minute later no tab explains it.
    app.clock.advance_seconds(31);
    let answer = stolen.get("/api/v1/market").await;
    assert_eq!(answer.status, 401);
    assert_eq!(stolen.cookie("qm_refresh"), None, "the cookies go");
    assert_eq!(browser.get("/api/v1/market").await.status, 401, "and the session is over for both");
}

#[tokio::test]
async fn a_session_that_is_not_used_ends() {
    let app = app().await;
    let browser = app.engineer().await;
    app.clock.advance_seconds(IDLE_SECONDS);
    assert_eq!(browser.get("/api/v1/market").await.status, 401);
}

#[tokio::test]
async fn a_form_sent_after_the_session_ended_is_kept_and_sent_after_the_sign_in() {
    let app = app().await;
    let browser = app.anonymous();
    let fields = [("reason", "a \"long\" & <reason>"), ("box", "1"), ("box", "2")];
    let answer = browser.post("/account/anything?x=1", &fields).await;
    assert_eq!(answer.status, 401);
    assert!(answer.body.contains("what you typed is kept"));
    let kept = answer.body.split("name=\"kept_form\" value=\"").nth(1).unwrap().split('"').next().unwrap();
    let kept = kept.replace("&quot;", "\"").replace("&lt;", "<").replace("&gt;", ">").replace("&amp;", "&");
    let wrong = [("login", "engineer"), ("password", "wrong password"), ("kept_form", &kept)];
    let answer = browser.post("/sign-in", &wrong).await;
    assert!(
        answer.status == 422 && answer.body.contains("name=\"kept_form\""),
        "a typing error loses nothing"
    );
    let answer = browser
        .post("/sign-in", &[("login", "engineer"), ("password", PASSWORD), ("kept_form", &kept)])
        .await;
    assert_eq!(answer.status, 200);
    assert!(answer.body.contains("action=\"/account/anything?x=1\""), "{}", answer.body);
    assert!(answer.body.contains("name=\"reason\" value=\"a &quot;long&quot; &amp; &lt;reason&gt;\""));
    assert_eq!(answer.body.matches("name=\"box\"").count(), 2);
    let elsewhere = kept.replace("/account/anything?x=1", "https://evil.example/");
    let fields = [("login", "engineer"), ("password", PASSWORD), ("kept_form", &elsewhere)];
    let answer = app.anonymous().post("/sign-in", &fields).await;
    assert!(answer.body.contains("action=\"/\"") && !answer.body.contains("evil"));
}

#[tokio::test]
async fn t130_what_comes_from_another_site_is_refused() {
    let app = app().await;
    let browser = app.engineer().await;
    for (name, value) in [
        ("sec-fetch-site", "cross-site"),
        ("sec-fetch-site", "same-site"),
        ("origin", "https://evil.example"),
        ("origin", "null"),
    ] {
        let mut request = form("/sign-out", &[]);
        request.headers_mut().remove("sec-fetch-site");
        request.headers_mut().insert(header::HOST, "quota.example.com".parse().unwrap());
        request.headers_mut().insert(name, value.parse().unwrap());
        assert_eq!(browser.send(request).await.status, 403, "{name}: {value}");
    }
    assert_eq!(browser.get("/api/v1/market").await.status, 200, "nobody was signed out");
    let mut request = form("/sign-out", &[]);
    request.headers_mut().remove("sec-fetch-site");
    request.headers_mut().insert(header::HOST, "quota.example.com".parse().unwrap());
    request.headers_mut().insert(header::ORIGIN, "https://quota.example.com".parse().unwrap());
    assert_eq!(browser.send(request).await.status, 303);
}

#[tokio::test]
async fn event_streams_end_with_their_session() {
    let mut app = app().await;
    app.clear().await;
    let (one, other) = (app.engineer().await, app.engineer().await);
    let (mut ends, mut stays) = (app.events_of(&one, None).await, app.events_of(&other, None).await);
    assert_eq!((ends.cycles(1).await, stays.cycles(1).await), (vec![1], vec![1]));
    one.post("/sign-out", &[]).await;
    assert_eq!(ends.next().await, None);
    app.clear().await;
    assert_eq!(stays.cycles(1).await, [2]);
}

#[tokio::test]
async fn the_first_admin_comes_by_a_link_that_works_once() {
    for test in fixture::both().await {
        let app = TestApp::on(test).await;
        let link = make_admin_link(&app.store.store, app.clock.now()).await.unwrap();
        let (path, browser) = (format!("/link/{link}"), app.anonymous());
        for _ in 0..2 {
            assert_eq!(browser.open(&path).await.status, 200, "looking does not use it");
        }
        let fields = |login, again| {
            [("login", login), ("name", "Ada"), ("password", "first of all words"), ("again", again)]
        };
        let same = "first of all words";
        assert_eq!(browser.post(&path, &fields("ada", "other words here")).await.status, 422);
        let answer = browser.post(&path, &fields("a b", same)).await;
        assert!(answer.status == 422 && answer.body.contains("value=\"a b\""), "what was typed stays");
        assert_eq!(browser.post(&path, &fields("admin", same)).await.status, 409, "the name is taken");
        assert_eq!(browser.post(&path, &fields("ada@example.com", same)).await.status, 303);
        assert_eq!(browser.get("/api/v1/audit").await.status, 200, "an admin, and signed in");
        assert_eq!(app.anonymous().post(&path, &fields("eve", same)).await.status, 404);
        assert_eq!(app.anonymous().open(&path).await.status, 404);
        assert_eq!(sign_in(&app.anonymous(), "Ada@Example.com", same).await.status, 303);
    }
}

#[tokio::test]
async fn a_reset_link_works_once_for_a_day_and_ends_all_sessions() {
    let app = app().await;
    let user = "engineer".parse().unwrap();
    let (old, link) = (app.engineer().await, app.auth.make_link(Some(&user)).await.unwrap());
    let (path, fields) =
        (format!("/link/{link}"), [("password", "new words to use"), ("again", "new words to use")]);
    let second = app.auth.make_link(Some(&user)).await.unwrap();
    let browser = app.anonymous();
    assert_eq!(browser.post(&path, &[("password", "short"), ("again", "short")]).await.status, 422);
    assert_eq!(browser.post(&path, &fields).await.status, 303);
    assert_eq!(browser.get("/api/v1/market").await.status, 200);
    assert_eq!(old.get("/api/v1/market").await.status, 401, "whoever had the old password is out");
    assert_eq!(sign_in(&app.anonymous(), "engineer", PASSWORD).await.status, 422);
    for used in [path, format!("/link/{second}")] {
        assert_eq!(
            app.anonymous().post(&used, &fields).await.status,
            404,
            "once, and all of the account's at once"
        );
    }
    let late = app.auth.make_link(Some(&user)).await.unwrap();
    app.clock.advance_seconds(86_400);
    assert_eq!(app.anonymous().post(&format!("/link/{late}"), &fields).await.status, 404);
    assert_eq!(app.anonymous().open("/link/abc").await.status, 404);
}

#[tokio::test]
async fn metrics_are_for_this_machine() {
    let app = app().await;
    assert_eq!(app.anonymous().get("/metrics").await.status, 200);
    assert_eq!(app.anonymous().from([192, 0, 2, 1]).get("/metrics").await.status, 403);
    let head = Request::head("/healthz").body(Body::empty()).unwrap();
    assert_eq!(app.anonymous().send(head).await.status, 200);
}

#[tokio::test]
async fn what_somebody_is_decides_what_is_there() {
    let app = app().await;
    for (client, status) in [
        (app.finance().await, 200),
        (app.auditor().await, 200),
        (app.engineer().await, 404),
        (app.outsider().await, 404),
        (app.anonymous(), 401),
    ] {
        assert_eq!(client.get("/api/v1/audit").await.status, status);
        let changed = client.json("POST", "/api/v1/audit", &serde_json::json!({})).await;
        assert_eq!(changed.status, if status == 401 { 401 } else { 405 });
    }
}
