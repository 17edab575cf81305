//! One sign-in under way: what this server remembers between sending a browser to the provider and seeing it again.
//!
//! It travels in a cookie that only this server can make, so beginning a sign-in writes nothing and anybody may begin
//! as many as they like. The cookie binds the answer to the browser that began; [`Flow::accept`] binds it to this very
//! sign-in, and whoever finishes one spends its state for good.

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use common::ids::UserId;
use common::instant::{Instant, MICROS_PER_SECOND};
use jsonwebtoken::{Algorithm, DecodingKey, EncodingKey, Header, Validation};
use rand::Rng;
use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};

use super::Registration;
use super::fault::Fault;
use crate::error::AppError;

/// How long a sign-in may take, in seconds.
pub const FLOW_SECONDS: i64 = 600;

/// A sign-in that was begun.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Flow {
    /// Comes back with the browser.
    pub state: String,
    /// Comes back inside the id token.
    pub nonce: String,
    /// Proves to the provider that whoever redeems the code began the sign-in (PKCE).
    pub verifier: String,
    /// Where to go afterwards: a path of this site.
    pub next: String,
    /// The account that its signed-in owner is linking; none for a sign-in.
    pub link: Option<UserId>,
    /// When it ends, in seconds since 1970.
    ends_at_seconds: i64,
}

/// The key of the cookies; whoever has it can make a sign-in under way.
pub struct FlowKey {
    seal: EncodingKey,
    open: DecodingKey,
}

impl FlowKey {
    /// A key from the server's secret, of no use for anything else that is made from it.
    ///
    /// # Errors
    /// `Internal`: the secret is too short for a key.
    pub fn derive(secret: &[u8]) -> Result<Self, AppError> {
        let key = Sha256::new().chain_update(b"single sign-on under way").chain_update(secret).finalize();
        Ok(Self {
            seal: EncodingKey::from_secret(&key).map_err(AppError::internal)?,
            open: DecodingKey::from_secret(&key).map_err(AppError::internal)?,
        })
    }
}

impl Flow {
    /// Begins a sign-in, or the linking of an account.
    #[must_use]
    pub fn begin(next: String, link: Option<UserId>, now: Instant) -> Self {
        Self {
            state: random_text(),
            nonce: random_text(),
            verifier: random_text(),
            next,
            link,
            ends_at_seconds: seconds(now) + FLOW_SECONDS,
        }
    }

    /// When it ends.
    #[must_use]
    pub fn ends_at(&self) -> Instant {
        Instant(self.ends_at_seconds.saturating_mul(MICROS_PER_SECOND))
    }

    /// The address that the browser is sent to.
    #[must_use]
    pub fn authorization_url(&self, endpoint: &str, registration: &Registration) -> String {
        let challenge = challenge(&self.verifier);
        with_query(
            endpoint,
            &[
                ("response_type", "code"),
                ("client_id", &registration.client_id),
                ("redirect_uri", &registration.redirect_url),
                ("scope", &registration.scopes),
                ("state", &self.state),
                ("nonce", &self.nonce),
                ("code_challenge", &challenge),
                ("code_challenge_method", "S256"),
            ],
        )
    }

    /// The sign-in as a cookie's value.
    ///
    /// # Errors
    /// `Internal`: it can't be signed.
    pub fn seal(&self, key: &FlowKey) -> Result<String, AppError> {
        jsonwebtoken::encode(&Header::new(Algorithm::HS256), self, &key.seal).map_err(AppError::internal)
    }

    /// The sign-in of a cookie, if this server made it and it is not over.
    ///
    /// # Errors
    /// `NotBegun`: somebody else made the cookie. `TooLate`: it is over.
    pub fn open(cookie: &str, key: &FlowKey, now: Instant) -> Result<Self, Fault> {
        let mut validation = Validation::new(Algorithm::HS256);
        // The end is compared by the server's own clock, below.
        validation.set_required_spec_claims::<&str>(&[]);
        validation.validate_exp = false;
        let flow: Self =
            jsonwebtoken::decode(cookie, &key.open, &validation).map_err(|_| Fault::NotBegun)?.claims;
        if seconds(now) >= flow.ends_at_seconds {
            return Err(Fault::TooLate);
        }
        Ok(flow)
    }

    /// The code of the provider's answer, if the answer belongs to this sign-in.
    ///
    /// # Errors
    /// `WrongState`, `WrongIssuer`; `Denied` or `Refused` where the provider says so; `Malformed` without a code.
    pub fn accept(&self, answer: &Answer, issuer: &str, names_issuer: bool) -> Result<String, Fault> {
        if answer.state.as_deref() != Some(self.state.as_str()) {
            return Err(Fault::WrongState);
        }
        // A provider that names itself in each answer must do so: an answer of another one is not mixed up with its.
        let is_named = answer.iss.as_deref().map_or(!names_issuer, |named| named == issuer);
        if !is_named {
            return Err(Fault::WrongIssuer(format!("the answer names the issuer {:?}", answer.iss)));
        }
        match (&answer.error, &answer.code) {
            (Some(error), _) => {
                let cause =
                    format!("{error:?}: {:?}", answer.error_description.as_deref().unwrap_or_default());
                let is_no = ["access_denied", "consent_required", "interaction_required", "login_required"];
                Err(if is_no.contains(&error.as_str()) {
                    Fault::Denied(cause)
                } else {
                    Fault::Refused(cause)
                })
            }
            (None, Some(code)) if !code.is_empty() => Ok(code.clone()),
            (None, _) => Err(Fault::Malformed("the answer has neither a code nor an error".to_owned())),
        }
    }

    /// Finds the form that is kept until this sign-in is finished. Of its verifier, which leaves this server only once the
    /// form is taken.
    #[must_use]
    pub fn form_mark(&self) -> [u8; 32] {
        Sha256::new().chain_update(b"kept form").chain_update(self.verifier.as_bytes()).finalize().into()
    }

    /// What is kept of a sign-in that was finished, so that it is not finished again.
    #[must_use]
    pub fn spent_mark(&self) -> [u8; 32] {
        Sha256::digest(self.state.as_bytes()).into()
    }
}

/// What the provider sends back with the browser.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize)]
pub struct Answer {
    /// The state that the sign-in was begun with.
    pub state: Option<String>,
    /// Redeemed for tokens.
    pub code: Option<String>,
    /// The issuer, where the provider names itself (RFC 9207).
    pub iss: Option<String>,
    /// A code for what went wrong.
    pub error: Option<String>,
    /// More about it.
    pub error_description: Option<String>,
}

impl Registration {
    /// The address at which a browser signs out at the provider, and from which it comes back here.
    #[must_use]
    pub fn sign_out_url(&self, endpoint: &str, id_token: &str) -> String {
        with_query(
            endpoint,
            &[
                ("id_token_hint", id_token),
                ("client_id", &self.client_id),
                ("post_logout_redirect_uri", &self.signed_out_url),
            ],
        )
    }
}

/// An address with these names and values added to its query.
fn with_query(endpoint: &str, pairs: &[(&str, &str)]) -> String {
    let query = form_urlencoded::Serializer::new(String::new()).extend_pairs(pairs).finish();
    let separator = if endpoint.contains('?') { '&' } else { '?' };
    format!("{endpoint}{separator}{query}")
}

/// The challenge of a verifier (RFC 7636, S256).
fn challenge(verifier: &str) -> String {
    URL_SAFE_NO_PAD.encode(Sha256::digest(verifier.as_bytes()))
}

/// 256 random bits as text.
fn random_text() -> String {
    let mut bytes = [0; 32];
    rand::rng().fill_bytes(&mut bytes);
    URL_SAFE_NO_PAD.encode(bytes)
}

/// Whole seconds since 1970.
pub(super) fn seconds(at: Instant) -> i64 {
    at.0.div_euclid(MICROS_PER_SECOND)
}

#[cfg(test)]
mod tests {
    use super::super::tests::registration;
    use super::*;

    const NOW: Instant = Instant(1_796_000_000 * MICROS_PER_SECOND);

    fn key(secret: &str) -> FlowKey {
        FlowKey::derive(secret.as_bytes()).expect("a key")
    }

    fn answer_to(flow: &Flow) -> Answer {
        Answer { state: Some(flow.state.clone()), code: Some("c".to_owned()), ..Answer::default() }
    }

    #[test]
    fn the_challenge_is_that_of_rfc_7636() {
        assert_eq!(
            challenge("dBjftJeZ4CVP-mB92K27uhbUJU1p1r_wW1gFWFOEjXk"),
            "E9Melhoa2OwvFrEMTJguCHaoeK1t8URWbuGJSstw-cM",
        );
    }

    #[test]
    fn each_sign_in_has_its_own_unguessable_texts() {
        let (one, two) = (Flow::begin("/".into(), None, NOW), Flow::begin("/".into(), None, NOW));
        let texts = [&one.state, &one.nonce, &one.verifier, &two.state, &two.nonce, &two.verifier];
        assert_eq!(texts.iter().collect::<std::collections::BTreeSet<_>>().len(), 6);
        assert!(texts.iter().all(|text| text.len() == 43));
    }

    #[test]
    fn the_browser_is_sent_off_with_a_challenge_and_never_with_the_verifier() {
        let flow = Flow::begin("/bids".into(), None, NOW);
        let url = flow.authorization_url("https://id.example/auth?tenant=1", &registration());
        let (endpoint, query) = url.split_once("&response_type").expect("a query");
        assert_eq!(endpoint, "https://id.example/auth?tenant=1");
        assert!(query.contains(&format!("code_challenge={}", challenge(&flow.verifier))), "{query}");
        assert!(query.contains("code_challenge_method=S256") && query.contains("scope=openid+profile"));
        assert!(!query.contains(&flow.verifier));
    }

    #[test]
    fn a_cookie_opens_with_its_key_until_it_is_over() {
        let flow = Flow::begin("/bids".into(), None, NOW);
        let cookie = flow.seal(&key("one")).expect("a cookie");
        assert_eq!(Flow::open(&cookie, &key("one"), NOW), Ok(flow));
        assert_eq!(Flow::open(&cookie, &key("two"), NOW), Err(Fault::NotBegun));
        let other = Flow::begin("/admin".into(), None, NOW).seal(&key("one")).expect("a cookie");
        let (other, _) = other.rsplit_once('.').expect("a signature");
        let (_, signature) = cookie.rsplit_once('.').expect("a signature");
        assert_eq!(Flow::open(&format!("{other}.{signature}"), &key("one"), NOW), Err(Fault::NotBegun));
        assert_eq!(Flow::open(&cookie, &key("one"), NOW.plus_seconds(FLOW_SECONDS)), Err(Fault::TooLate));
        assert!(Flow::open(&cookie, &key("one"), NOW.plus_seconds(FLOW_SECONDS - 1)).is_ok());
    }

    #[test]
    fn an_answer_must_belong_to_the_sign_in_and_to_the_issuer() {
        let flow = Flow::begin("/".into(), None, NOW);
        let accept = |answer: Answer, names_issuer| flow.accept(&answer, "https://id.example", names_issuer);
        let good = answer_to(&flow);
        let named = |iss: &str| Answer { iss: Some(iss.to_owned()), ..good.clone() };
        assert_eq!(accept(good.clone(), false), Ok("c".to_owned()));
        assert_eq!(accept(named("https://id.example"), true), Ok("c".to_owned()));
        for other in [None, Some(String::new()), Some("x".to_owned()), Some(flow.nonce.clone())] {
            let answer = Answer { state: other, ..good.clone() };
            assert_eq!(accept(answer, false), Err(Fault::WrongState));
        }
        assert!(matches!(accept(good.clone(), true), Err(Fault::WrongIssuer(_))), "it must name itself");
        assert!(matches!(accept(named("https://evil.example"), false), Err(Fault::WrongIssuer(_))));
        assert!(matches!(accept(named("https://id.example/"), true), Err(Fault::WrongIssuer(_))));
    }

    #[test]
    fn an_error_of_the_provider_counts_before_a_code() {
        let flow = Flow::begin("/".into(), None, NOW);
        let with = |error: &str| Answer { error: Some(error.to_owned()), ..answer_to(&flow) };
        assert!(matches!(flow.accept(&with("access_denied"), "i", false), Err(Fault::Denied(_))));
        assert!(matches!(flow.accept(&with("server_error"), "i", false), Err(Fault::Refused(_))));
        let empty = Answer { code: None, ..answer_to(&flow) };
        assert!(matches!(flow.accept(&empty, "i", false), Err(Fault::Malformed(_))));
        let unrelated = Answer { state: None, ..with("access_denied") };
        assert_eq!(
            flow.accept(&unrelated, "i", false),
            Err(Fault::WrongState),
            "an error needs the state too"
        );
    }
}
