//! The provider's side in a test: keys, a registration, and a provider that answers from memory.

use std::collections::VecDeque;
use std::sync::{Arc, Mutex, PoisonError};

use async_trait::async_trait;
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use common::instant::{Instant, MICROS_PER_SECOND};
use jsonwebtoken::jwk::Jwk;
use jsonwebtoken::{Algorithm, EncodingKey, Header};
use serde_json::{Value, json};

use super::fault::Fault;
use super::fetch::{Ask, Fetch, Told};
use super::flow::Flow;
use super::provider::{Provider, SignedIn};
use super::{Admission, Registration};
use crate::clock::SettableClock;
use crate::config::Secret;

pub(super) const ISSUER: &str = "https://id.example";
const NOW: i64 = 1_796_000_000;

/// What this server is to the provider of the tests.
pub(super) fn registration() -> Registration {
    Registration {
        name: "Example ID".to_owned(),
        issuer: ISSUER.to_owned(),
        client_id: "quota".to_owned(),
        client_secret: Secret::new("s:cret".to_owned()),
        scopes: "openid profile".to_owned(),
        redirect_url: "https://quota.example/sign-in/oidc/callback".to_owned(),
        signed_out_url: "https://quota.example/sign-in".to_owned(),
        name_claim: "name".to_owned(),
        admission: Admission::Mapped {
            claim: "groups".to_owned(),
            map: "ml -> team:vision".parse().expect("rules"),
        },
    }
}

/// An Ed25519 key made of one byte, as PKCS #8.
pub(super) fn key_pair(seed: u8) -> EncodingKey {
    const PREFIX: [u8; 16] =
        [0x30, 0x2e, 0x02, 0x01, 0x00, 0x30, 0x05, 0x06, 0x03, 0x2b, 0x65, 0x70, 0x04, 0x22, 0x04, 0x20];
    EncodingKey::from_ed_der(&[PREFIX.as_slice(), &[seed; 32]].concat())
}

/// The public half of a key, under a name.
pub(super) fn public_key(seed: u8, kid: &str) -> Jwk {
    let mut key = Jwk::from_encoding_key(&key_pair(seed), Algorithm::EdDSA).expect("a key");
    key.common.key_id = Some(kid.to_owned());
    key
}

/// A provider that answers what it was told to, in order, and keeps what it was asked.
#[derive(Default)]
struct Scripted {
    answers: Mutex<VecDeque<Result<Told, String>>>,
    asked: Mutex<Vec<Ask>>,
}

impl Scripted {
    fn will_say(&self, body: &Value) {
        self.will_answer(Ok(Told { status: 200, body: body.to_string() }));
    }

    fn will_answer(&self, answer: Result<Told, String>) {
        self.answers.lock().unwrap_or_else(PoisonError::into_inner).push_back(answer);
    }

    /// The addresses asked since the last call.
    fn asked(&self) -> Vec<String> {
        let asked = std::mem::take(&mut *self.asked.lock().unwrap_or_else(PoisonError::into_inner));
        asked
            .into_iter()
            .map(|ask| match ask {
                Ask::Get { url, .. } | Ask::Post { url, .. } => url,
            })
            .collect()
    }
}

#[async_trait]
impl Fetch for Scripted {
    async fn fetch(&self, ask: Ask) -> Result<Told, String> {
        self.asked.lock().unwrap_or_else(PoisonError::into_inner).push(ask);
        let next = self.answers.lock().unwrap_or_else(PoisonError::into_inner).pop_front();
        next.unwrap_or_else(|| Err("nothing was scripted".to_owned()))
    }
}

struct Bench {
    script: Arc<Scripted>,
    clock: SettableClock,
    provider: Provider,
    flow: Flow,
}

fn bench() -> Bench {
    let (script, clock) =
        (Arc::new(Scripted::default()), SettableClock::new(Instant(NOW * MICROS_PER_SECOND)));
    let provider = Provider::new(registration(), Arc::clone(&script) as _, Arc::new(clock.clone()));
    let flow = Flow::begin("/".to_owned(), None, Instant(NOW * MICROS_PER_SECOND));
    Bench { script, clock, provider, flow }
}

fn description() -> Value {
    json!({
        "issuer": ISSUER,
        "authorization_endpoint": "https://id.example/auth",
        "token_endpoint": "https://id.example/token",
        "jwks_uri": "https://id.example/keys",
        "userinfo_endpoint": "https://id.example/me",
    })
}

fn keys(seed: u8, kid: &str) -> Value {
    json!({"keys": [public_key(seed, kid)]})
}

impl Bench {
    fn tokens(&self, seed: u8, kid: &str, more: &Value) -> Value {
        let mut claims = json!({"iss": ISSUER, "sub": "u-1", "aud": "quota", "nonce": self.flow.nonce,
                                "iat": NOW, "exp": NOW + 36_000});
        let object = claims.as_object_mut().expect("an object");
        object.extend(more.as_object().cloned().expect("an object"));
        let header = Header { kid: Some(kid.to_owned()), ..Header::new(Algorithm::EdDSA) };
        let token = jsonwebtoken::encode(&header, &claims, &key_pair(seed)).expect("a token");
        json!({"id_token": token, "access_token": "access", "token_type": "Bearer"})
    }

    /// Redeems a code at a provider that answers with this token.
    async fn redeem(&self, tokens: &Value) -> Result<SignedIn, Fault> {
        self.script.will_say(tokens);
        self.provider.redeem("code".to_owned(), &self.flow).await
    }
}

fn complete() -> Value {
    json!({"name": "Ada", "groups": ["ml"]})
}

#[tokio::test]
async fn the_second_sign_in_asks_for_the_tokens_alone() {
    let bench = bench();
    bench.script.will_say(&description());
    bench.provider.metadata().await.expect("a description");
    bench.script.will_say(&bench.tokens(1, "one", &complete()));
    bench.script.will_say(&keys(1, "one"));
    bench.provider.redeem("code".to_owned(), &bench.flow).await.expect("a person");
    assert_eq!(bench.script.asked().len(), 3);
    bench.redeem(&bench.tokens(1, "one", &complete())).await.expect("a person");
    assert_eq!(bench.script.asked(), ["https://id.example/token"]);
}

#[tokio::test]
async fn a_rotated_key_is_fetched_once_and_not_again_and_again() {
    let bench = bench();
    bench.script.will_say(&description());
    bench.script.will_say(&bench.tokens(1, "one", &complete()));
    bench.script.will_say(&keys(1, "one"));
    bench.provider.redeem("code".to_owned(), &bench.flow).await.expect("a person");

    bench.script.will_say(&bench.tokens(2, "two", &complete()));
    bench.script.will_say(&keys(2, "two"));
    bench.provider.redeem("code".to_owned(), &bench.flow).await.expect("the new key is found");
    bench.script.asked();

    for _ in 0..3 {
        let refused = bench.redeem(&bench.tokens(3, "three", &complete())).await;
        assert!(matches!(refused, Err(Fault::WrongSignature(_))), "{refused:?}");
    }
    assert_eq!(bench.script.asked(), ["https://id.example/token"; 3], "the keys were read a moment ago");

    bench.clock.advance_seconds(30);
    bench.script.will_say(&bench.tokens(3, "three", &complete()));
    bench.script.will_say(&keys(3, "three"));
    bench
        .provider
        .redeem("code".to_owned(), &bench.flow)
        .await
        .expect("half a minute later they are read again");
}

#[tokio::test]
async fn what_the_token_lacks_is_read_from_userinfo_of_the_same_person() {
    let bench = bench();
    bench.script.will_say(&description());
    bench.script.will_say(&bench.tokens(1, "one", &json!({"name": "Ada"})));
    bench.script.will_say(&keys(1, "one"));
    bench.script.will_say(&json!({"sub": "u-1", "name": "Eve", "groups": ["ml"]}));
    let person = bench.provider.redeem("code".to_owned(), &bench.flow).await.expect("a person").person;
    assert_eq!(person.claims["groups"], json!(["ml"]));
    assert_eq!(person.claims["name"], "Ada", "what is signed counts first");

    bench.script.will_say(&bench.tokens(1, "one", &json!({})));
    bench.script.will_say(&json!({"sub": "u-2", "groups": ["ml"]}));
    let other = bench.provider.redeem("code".to_owned(), &bench.flow).await;
    assert!(matches!(other, Err(Fault::Malformed(_))), "{other:?}");
}

#[tokio::test]
async fn a_description_that_can_not_be_trusted_is_refused() {
    for (name, value) in [
        ("issuer", json!("https://id.example/")),
        ("issuer", json!("https://evil.example")),
        ("token_endpoint", json!("http://id.example/token")),
        ("jwks_uri", json!("file:///etc/passwd")),
        ("userinfo_endpoint", json!("http://id.example/me")),
        ("end_session_endpoint", json!("javascript:alert(1)")),
        ("code_challenge_methods_supported", json!(["plain"])),
    ] {
        let bench = bench();
        let mut description = description();
        description[name] = value.clone();
        bench.script.will_say(&description);
        let refused = bench.provider.metadata().await;
        assert!(matches!(refused, Err(Fault::Misconfigured(_))), "{name} {value}: {refused:?}");
    }
}

#[tokio::test]
async fn a_provider_that_is_away_is_told_from_one_that_refuses() {
    let bench = bench();
    bench.script.will_answer(Err("connection refused".to_owned()));
    for _ in 0..3 {
        assert!(matches!(bench.provider.metadata().await, Err(Fault::ProviderDown(_))));
    }
    assert_eq!(bench.script.asked().len(), 1, "those who come at once wait for one try");
    bench.clock.advance_seconds(5);
    bench.script.will_answer(Ok(Told { status: 502, body: "<html>".to_owned() }));
    assert!(matches!(bench.provider.metadata().await, Err(Fault::ProviderDown(_))));
    bench.clock.advance_seconds(5);
    bench.script.will_answer(Ok(Told { status: 404, body: String::new() }));
    assert!(matches!(bench.provider.metadata().await, Err(Fault::Misconfigured(_))));
    bench.script.will_say(&json!([]));
    assert!(matches!(bench.provider.metadata().await, Err(Fault::Malformed(_))));

    bench.script.will_say(&description());
    bench.provider.metadata().await.expect("a description");
    bench.clock.advance_seconds(3_600);
    bench.script.will_answer(Err("connection refused".to_owned()));
    bench.provider.metadata().await.expect("the old description is better than none");

    bench.clock.advance_seconds(5);
    bench.script.will_say(&description());
    for (status, body, is_ours) in [
        (400, json!({"error": "invalid_grant"}), false),
        (401, json!({"error": "invalid_client"}), true),
        (400, json!("?"), true),
    ] {
        bench.script.will_answer(Ok(Told { status, body: body.to_string() }));
        match bench.provider.redeem("code".to_owned(), &bench.flow).await {
            Err(Fault::Refused(_)) => assert!(!is_ours, "{body}"),
            Err(Fault::Misconfigured(_)) => assert!(is_ours, "{body}"),
            other => panic!("{body}: {other:?}"),
        }
    }
}

#[tokio::test]
async fn the_secret_goes_as_the_provider_takes_it_and_the_verifier_always() {
    for (methods, in_header) in [
        (Value::Null, true),
        (json!(["client_secret_post", "client_secret_basic"]), true),
        (json!(["client_secret_post"]), false),
    ] {
        let bench = bench();
        let mut description = description();
        description["token_endpoint_auth_methods_supported"] = methods.clone();
        bench.script.will_say(&description);
        bench.script.will_answer(Err("enough".to_owned()));
        bench.provider.redeem("code".to_owned(), &bench.flow).await.expect_err("it is away");
        let asked = bench.script.asked.lock().unwrap_or_else(PoisonError::into_inner).pop();
        let Some(Ask::Post { authorization, form, .. }) = asked else { panic!("{asked:?}") };
        let login = format!("Basic {}", STANDARD.encode("quota:s%3Acret"));
        assert_eq!(authorization, in_header.then_some(login), "{methods}");
        assert_eq!(form.contains(&("client_secret", "s:cret".to_owned())), !in_header, "{methods}");
        assert!(form.contains(&("code_verifier", bench.flow.verifier.clone())));
    }
}
