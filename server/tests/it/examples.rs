//! The examples of docs/API-DESIGN.md: each is sent as it stands there, and answers what the text says.
#![expect(clippy::unwrap_used, reason = "what fails here fails the test")]

use axum::body::Body;
use axum::http::Request;
use server::auth::NewToken;
use server::policy::Scope;

use crate::app::TestApp;
use crate::client::Client;

/// A request of the page, and the status that the text before it names.
struct Example {
    request: Request<Body>,
    expected: u16,
    text: String,
}

/// The requests between ```` ```http ```` and ```` ``` ````. The last status in backquotes before one is what it answers.
fn examples() -> Vec<Example> {
    let page =
        std::fs::read_to_string(concat!(env!("CARGO_MANIFEST_DIR"), "/../docs/API-DESIGN.md")).unwrap();
    let (mut examples, mut expected) = (Vec::new(), 0);
    let mut rest = page.as_str();
    while let Some((before, after)) = rest.split_once("```http\n") {
        let (block, next) = after.split_once("```").unwrap();
        let mut statuses = before.split('`').filter_map(|text| text.parse::<u16>().ok());
        expected = statuses.rfind(|status| (200..600).contains(status)).unwrap_or(expected);
        examples.push(Example { request: request(block), expected, text: block.to_owned() });
        rest = next;
    }
    examples
}

fn request(block: &str) -> Request<Body> {
    let (head, body) = block.split_once("\n\n").unwrap_or((block.trim_end(), ""));
    let mut lines = head.lines();
    let (method, address) = lines.next().unwrap().split_once(' ').unwrap();
    let mut request = Request::builder().method(method).uri(address);
    for (name, value) in lines.filter_map(|line| line.split_once(": ")) {
        request = request.header(name, value);
    }
    request.body(Body::from(body.to_owned())).unwrap()
}

#[tokio::test]
async fn the_examples_of_the_api_do_what_the_text_says() {
    let mut app = TestApp::with_bids().await;
    app.clear().await;
    let new = NewToken { name: "script".to_owned(), scopes: [Scope::Read, Scope::Bids].into(), days: 1 };
    let (_, secret) = app.auth.make_token(&"engineer".parse().unwrap(), new).await.unwrap();
    let script = Client::program(app.router.clone(), &secret);
    let examples = examples();
    assert!(examples.len() >= 8, "the page has its examples");
    for Example { request, expected, text } in examples {
        let answer = script.send(request).await;
        assert_eq!(answer.status.as_u16(), expected, "{text}\nanswered {}", answer.body);
    }
    let ended = script.get("/api/v1/teams/speech/bids?show=ended").await.json();
    assert_eq!(ended["bids"][0]["terms"]["limit"], "2.80", "placed, changed, ended");
}
