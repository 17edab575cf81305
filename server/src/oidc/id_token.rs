//! The id token: who the provider says the person is, believed only after its signature and every claim that ties it to
//! this sign-in are checked.

use common::instant::Instant;
use jsonwebtoken::jwk::{Jwk, JwkSet, PublicKeyUse};
use jsonwebtoken::{Algorithm, DecodingKey, Validation};
use serde_json::{Map, Value};

use super::fault::Fault;
use super::flow::seconds;

/// By how much the provider's clock may differ from this server's, in seconds.
pub const CLOCK_SKEW_SECONDS: i64 = 60;

/// Signatures by a key pair. Those by a shared secret (HS256…) are never taken: a public key would be such a secret.
const ALGORITHMS: [Algorithm; 9] = [
    Algorithm::RS256,
    Algorithm::RS384,
    Algorithm::RS512,
    Algorithm::PS256,
    Algorithm::PS384,
    Algorithm::PS512,
    Algorithm::ES256,
    Algorithm::ES384,
    Algorithm::EdDSA,
];

/// Longest subject, in characters, as the protocol has it.
const MAX_SUBJECT: usize = 255;

/// What an id token must say to belong to a sign-in.
#[derive(Clone, Copy, Debug)]
pub struct Expected<'a> {
    /// The provider.
    pub issuer: &'a str,
    /// This server.
    pub client_id: &'a str,
    /// The sign-in.
    pub nonce: &'a str,
    /// The present.
    pub now: Instant,
}

/// A person as the provider states it.
#[derive(Clone, Debug, PartialEq)]
pub struct Person {
    /// Names the person at the provider, for good.
    pub subject: String,
    /// All that was said.
    pub claims: Map<String, Value>,
}

/// Why there is no person: a fault, or a key that is not among those known.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Rejected {
    /// The token is signed by a key that is not in the set; a newer set may have it.
    UnknownKey(String),
    /// The token is refused.
    Fault(Fault),
}

impl From<Fault> for Rejected {
    fn from(fault: Fault) -> Self {
        Self::Fault(fault)
    }
}

/// Checks a token and reads it.
///
/// # Errors
/// `UnknownKey`: fetch the keys again, once. `Fault`: what is wrong with the token.
pub fn verify(token: &str, keys: &JwkSet, expected: &Expected<'_>) -> Result<Person, Rejected> {
    let header = jsonwebtoken::decode_header(token)
        .map_err(|error| Fault::WrongSignature(format!("the header of the id token: {error}")))?;
    if !ALGORITHMS.contains(&header.alg) {
        return Err(Fault::WrongSignature(format!("the id token is signed by {:?}", header.alg)).into());
    }
    let key = find_key(keys, header.kid.as_deref(), header.alg)?;
    let key = DecodingKey::from_jwk(key)
        .map_err(|error| Fault::WrongSignature(format!("the provider's key can't be used: {error}")))?;
    // Only the signature is checked here: the claims are compared below, by the server's own clock and each with its
    // own words.
    let mut validation = Validation::new(header.alg);
    validation.set_required_spec_claims::<&str>(&[]);
    validation.validate_exp = false;
    validation.validate_aud = false;
    let claims: Map<String, Value> = jsonwebtoken::decode(token, &key, &validation)
        .map_err(|error| Fault::WrongSignature(format!("the id token: {error}")))?
        .claims;
    check_claims(&claims, expected)?;
    Ok(Person { subject: subject(&claims)?, claims })
}

/// The key that a token names, or the only one that can have signed it.
fn find_key<'a>(keys: &'a JwkSet, kid: Option<&str>, algorithm: Algorithm) -> Result<&'a Jwk, Rejected> {
    let fits = |key: &&Jwk| {
        let for_signatures =
            !matches!(&key.common.public_key_use, Some(usage) if *usage != PublicKeyUse::Signature);
        let family = DecodingKey::from_jwk(key).map(|key| key.family());
        let named = key.common.key_algorithm.and_then(|named| named.to_string().parse().ok());
        for_signatures
            && family.is_ok_and(|family| family.algorithms().contains(&algorithm))
            && named.is_none_or(|named: Algorithm| named == algorithm)
    };
    let mut fitting =
        keys.keys.iter().filter(fits).filter(|key| kid.is_none() || key.common.key_id.as_deref() == kid);
    match (fitting.next(), fitting.next(), kid) {
        (Some(key), None, _) | (Some(key), _, Some(_)) => Ok(key),
        (Some(_), Some(_), None) => Err(Fault::WrongSignature(
            "the id token names no key, and several could have signed it".to_owned(),
        )
        .into()),
        (None, _, kid) => Err(Rejected::UnknownKey(format!("{kid:?} for {algorithm:?}"))),
    }
}

fn check_claims(claims: &Map<String, Value>, expected: &Expected<'_>) -> Result<(), Fault> {
    let text = |name: &str| claims.get(name).and_then(Value::as_str);
    if text("iss") != Some(expected.issuer) {
        return Err(Fault::WrongIssuer(format!("the id token's iss is {:?}", claims.get("iss"))));
    }
    check_audience(claims, expected.client_id)?;
    if text("nonce") != Some(expected.nonce) {
        return Err(Fault::WrongNonce);
    }
    let now = seconds(expected.now);
    let ends = instant(claims, "exp")?;
    if now >= ends.saturating_add(CLOCK_SKEW_SECONDS) {
        return Err(Fault::WrongTime(format!("the id token ended {} s ago", now - ends)));
    }
    let mut begins = vec![("iat", instant(claims, "iat")?)];
    if claims.contains_key("nbf") {
        begins.push(("nbf", instant(claims, "nbf")?));
    }
    for (name, begin) in begins {
        if begin > now.saturating_add(CLOCK_SKEW_SECONDS) {
            return Err(Fault::WrongTime(format!("the id token's {name} is {} s ahead", begin - now)));
        }
    }
    Ok(())
}

/// The token is for this client; where it is for others too, this client must be the one that asked for it.
fn check_audience(claims: &Map<String, Value>, client_id: &str) -> Result<(), Fault> {
    let audiences: Vec<&str> = match claims.get("aud") {
        Some(Value::String(one)) => vec![one],
        Some(Value::Array(many)) => many.iter().filter_map(Value::as_str).collect(),
        _ => Vec::new(),
    };
    let asked_by = claims.get("azp");
    let is_for_us = audiences.contains(&client_id);
    let asked_by_us = asked_by.map_or(audiences.len() == 1, |party| party.as_str() == Some(client_id));
    if is_for_us && asked_by_us {
        return Ok(());
    }
    Err(Fault::WrongAudience(format!(
        "the id token's aud is {:?} and its azp {asked_by:?}",
        claims.get("aud")
    )))
}

/// A claim that is a time, in seconds since 1970; a fraction is cut off.
fn instant(claims: &Map<String, Value>, name: &str) -> Result<i64, Fault> {
    let number = claims.get(name).and_then(Value::as_number).map(ToString::to_string).unwrap_or_default();
    let whole = number.split_once('.').map_or(number.as_str(), |(whole, _)| whole);
    whole.parse().map_err(|_| Fault::Malformed(format!("the id token's {name} is {:?}", claims.get(name))))
}

fn subject(claims: &Map<String, Value>) -> Result<String, Fault> {
    match claims.get("sub") {
        Some(Value::String(text))
            if (1..=MAX_SUBJECT).contains(&text.chars().count()) && !text.chars().any(char::is_control) =>
        {
            Ok(text.clone())
        }
        other => Err(Fault::Malformed(format!("the id token's sub is {other:?}"))),
    }
}

#[cfg(test)]
mod tests {
    use base64::Engine as _;
    use base64::engine::general_purpose::URL_SAFE_NO_PAD;
    use common::instant::MICROS_PER_SECOND;
    use jsonwebtoken::{EncodingKey, Header};
    use serde_json::json;

    use super::super::tests::{ISSUER, key_pair, public_key};
    use super::*;

    const NOW: i64 = 1_796_000_000;

    fn claims() -> Value {
        json!({"iss": ISSUER, "sub": "u-1", "aud": "quota", "nonce": "n", "iat": NOW - 1, "exp": NOW + 300})
    }

    fn with(name: &str, value: Value) -> Value {
        let mut claims = claims();
        claims[name] = value;
        claims
    }

    fn without(name: &str) -> Value {
        let mut claims = claims();
        claims.as_object_mut().expect("an object").remove(name);
        claims
    }

    fn signed(claims: &Value, seed: u8, kid: Option<&str>) -> String {
        let header = Header { kid: kid.map(str::to_owned), ..Header::new(Algorithm::EdDSA) };
        jsonwebtoken::encode(&header, claims, &key_pair(seed)).expect("a token")
    }

    fn keys() -> JwkSet {
        JwkSet { keys: vec![public_key(1, "one"), public_key(2, "two")] }
    }

    fn check(token: &str) -> Result<Person, Rejected> {
        let now = Instant(NOW * MICROS_PER_SECOND);
        verify(token, &keys(), &Expected { issuer: ISSUER, client_id: "quota", nonce: "n", now })
    }

    fn fault(claims: &Value) -> Fault {
        match check(&signed(claims, 1, Some("one"))) {
            Err(Rejected::Fault(fault)) => fault,
            other => panic!("{claims}: {other:?}"),
        }
    }

    #[test]
    fn a_token_that_says_all_it_must_is_believed() {
        for (seed, kid) in [(1, "one"), (2, "two")] {
            let person = check(&signed(&claims(), seed, Some(kid))).expect("a person");
            assert_eq!(person.subject, "u-1");
        }
        for good in [
            with("aud", json!(["quota"])),
            with("azp", json!("quota")),
            with("exp", json!(NOW as f64 + 0.5)),
            with("exp", json!(NOW - CLOCK_SKEW_SECONDS + 1)),
            with("iat", json!(NOW + CLOCK_SKEW_SECONDS)),
        ] {
            assert!(check(&signed(&good, 1, Some("one"))).is_ok(), "{good}");
        }
    }

    #[test]
    fn each_claim_that_ties_it_to_the_sign_in_is_checked() {
        for bad in [without("iss"), with("iss", json!("https://id.example/")), with("iss", json!([ISSUER]))] {
            assert!(matches!(fault(&bad), Fault::WrongIssuer(_)), "{bad}");
        }
        let mut both = with("aud", json!(["quota", "other"]));
        for bad in [
            without("aud"),
            with("aud", json!("other")),
            with("aud", json!("quota ")),
            with("aud", json!([])),
            with("azp", json!("other")),
            both.clone(),
        ] {
            assert!(matches!(fault(&bad), Fault::WrongAudience(_)), "{bad}");
        }
        both["azp"] = json!("quota");
        assert!(check(&signed(&both, 1, Some("one"))).is_ok(), "asked for by this client");
        for bad in [without("nonce"), with("nonce", json!("m")), with("nonce", json!(["n"]))] {
            assert_eq!(fault(&bad), Fault::WrongNonce, "{bad}");
        }
        for bad in [
            with("exp", json!(NOW - CLOCK_SKEW_SECONDS)),
            with("iat", json!(NOW + CLOCK_SKEW_SECONDS + 1)),
            with("nbf", json!(NOW + CLOCK_SKEW_SECONDS + 1)),
        ] {
            assert!(matches!(fault(&bad), Fault::WrongTime(_)), "{bad}");
        }
        for bad in [
            without("exp"),
            without("iat"),
            with("exp", json!("soon")),
            without("sub"),
            with("sub", json!("")),
            with("sub", json!(7)),
            with("sub", json!("a\u{0}b")),
            with("sub", json!("x".repeat(256))),
        ] {
            assert!(matches!(fault(&bad), Fault::Malformed(_)), "{bad}");
        }
    }

    #[test]
    fn an_unsigned_token_is_refused() {
        let part = |value: &Value| URL_SAFE_NO_PAD.encode(value.to_string());
        for algorithm in ["none", "None", "NONE"] {
            let token = format!("{}.{}.", part(&json!({"alg": algorithm, "kid": "one"})), part(&claims()));
            assert!(matches!(check(&token), Err(Rejected::Fault(Fault::WrongSignature(_)))), "{algorithm}");
        }
    }

    #[test]
    fn a_public_key_is_no_shared_secret() {
        let header = Header { kid: Some("one".to_owned()), ..Header::new(Algorithm::HS256) };
        let public = serde_json::to_value(public_key(1, "one")).expect("a key");
        let raw = URL_SAFE_NO_PAD.decode(public["x"].as_str().expect("x")).expect("base64");
        for secret in [raw, public["x"].to_string().into_bytes(), public.to_string().into_bytes()] {
            let key = EncodingKey::from_secret(&secret).expect("a secret");
            let token = jsonwebtoken::encode(&header, &claims(), &key).expect("a token");
            assert!(matches!(check(&token), Err(Rejected::Fault(Fault::WrongSignature(_)))));
        }
    }

    #[test]
    fn a_shared_secret_among_the_published_keys_is_of_no_use() {
        let secret =
            json!({"keys": [{"kty": "oct", "kid": "one", "k": URL_SAFE_NO_PAD.encode("s".repeat(32))}]});
        let keys: JwkSet = serde_json::from_value(secret).expect("keys");
        let header = Header { kid: Some("one".to_owned()), ..Header::new(Algorithm::HS256) };
        let key = EncodingKey::from_secret("s".repeat(32).as_bytes()).expect("a secret");
        let token = jsonwebtoken::encode(&header, &claims(), &key).expect("a token");
        let now = Instant(NOW * MICROS_PER_SECOND);
        let expected = Expected { issuer: ISSUER, client_id: "quota", nonce: "n", now };
        assert!(matches!(verify(&token, &keys, &expected), Err(Rejected::Fault(Fault::WrongSignature(_)))));
    }

    #[test]
    fn the_key_must_be_the_one_that_signed() {
        let token = signed(&claims(), 2, Some("one"));
        assert!(matches!(check(&token), Err(Rejected::Fault(Fault::WrongSignature(_)))));
        let token = signed(&claims(), 3, Some("three"));
        assert!(matches!(check(&token), Err(Rejected::UnknownKey(_))), "fetch the keys again");
        let token = signed(&claims(), 1, None);
        assert!(matches!(check(&token), Err(Rejected::Fault(Fault::WrongSignature(_)))), "which of the two?");
        let good = signed(&claims(), 1, Some("one"));
        let (head, _) = good.rsplit_once('.').expect("a signature");
        let (header, _) = head.split_once('.').expect("a header");
        let other = URL_SAFE_NO_PAD.encode(with("sub", json!("admin")).to_string());
        let (_, signature) = good.rsplit_once('.').expect("a signature");
        let changed = format!("{header}.{other}.{signature}");
        assert!(matches!(check(&changed), Err(Rejected::Fault(Fault::WrongSignature(_)))));
        for garbage in ["", "a.b", "a.b.c", "....", "ä.ö.ü"] {
            assert!(check(garbage).is_err(), "{garbage}");
        }
    }
}
