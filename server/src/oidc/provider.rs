//! The provider as it describes itself, its keys, and the two requests that a sign-in makes to it.
//!
//! Description and keys are kept for an hour, so that a sign-in needs one request. A token of an unknown key has the
//! keys read again at once, as a provider that rotates its keys needs, but not more often than every half minute.

use std::sync::Arc;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use common::instant::Instant;
use jsonwebtoken::jwk::JwkSet;
use serde::Deserialize;
use serde::de::DeserializeOwned;
use serde_json::{Map, Value};
use tokio::sync::Mutex;

use super::fault::Fault;
use super::fetch::{Ask, Fetch, Told};
use super::flow::Flow;
use super::id_token::{Expected, Person, Rejected, verify};
use super::{Admission, Registration, admission, is_safe_address};
use crate::clock::Clock;

/// How long the provider's description and keys are kept, in seconds.
const KEPT_SECONDS: i64 = 3_600;

/// Least time between two readings of the keys for the sake of an unknown one, in seconds.
const REREAD_SECONDS: i64 = 30;

/// How long a provider that does not answer is taken to be away, in seconds: many who come at once wait for one try.
const AWAY_SECONDS: i64 = 5;

/// What the provider says of itself, as far as it is of use here.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
pub struct Metadata {
    issuer: String,
    /// Where browsers are sent to sign in.
    pub authorization_endpoint: String,
    token_endpoint: String,
    jwks_uri: String,
    userinfo_endpoint: Option<String>,
    /// Where browsers are sent to sign out, if the provider offers that.
    pub end_session_endpoint: Option<String>,
    token_endpoint_auth_methods_supported: Option<Vec<String>>,
    code_challenge_methods_supported: Option<Vec<String>>,
    /// It names itself in each answer.
    #[serde(default)]
    pub authorization_response_iss_parameter_supported: bool,
}

/// A person, and the token that tells the provider who is signing out.
#[derive(Clone, Debug, PartialEq)]
pub struct SignedIn {
    /// Who it is.
    pub person: Person,
    /// The id token itself.
    pub id_token: String,
}

#[derive(Default)]
struct Kept {
    metadata: Option<(Instant, Arc<Metadata>)>,
    /// Since when it is away, and why.
    away: Option<(Instant, String)>,
    keys: Option<(Instant, Arc<JwkSet>)>,
    reread_at: Option<Instant>,
}

/// The provider.
pub struct Provider {
    registration: Registration,
    fetch: Arc<dyn Fetch>,
    clock: Arc<dyn Clock>,
    kept: Mutex<Kept>,
}

#[derive(Deserialize)]
struct Tokens {
    id_token: Option<String>,
    access_token: Option<String>,
}

#[derive(Deserialize)]
struct TokenError {
    error: String,
    error_description: Option<String>,
}

impl Provider {
    /// A provider that nothing is known of yet.
    #[must_use]
    pub fn new(registration: Registration, fetch: Arc<dyn Fetch>, clock: Arc<dyn Clock>) -> Self {
        Self { registration, fetch, clock, kept: Mutex::default() }
    }

    /// What this server is to it.
    #[must_use]
    pub const fn registration(&self) -> &Registration {
        &self.registration
    }

    /// What the provider says of itself. An old description is better than none while it is away.
    ///
    /// # Errors
    /// `ProviderDown`; `Misconfigured` where it says what can't be used.
    pub async fn metadata(&self) -> Result<Arc<Metadata>, Fault> {
        let mut kept = self.kept.lock().await;
        let now = self.clock.now();
        let old = kept.metadata.clone();
        if let Some((read_at, metadata)) = &old
            && now < read_at.plus_seconds(KEPT_SECONDS)
        {
            return Ok(Arc::clone(metadata));
        }
        let read = match &kept.away {
            Some((since, cause)) if now < since.plus_seconds(AWAY_SECONDS) => {
                Err(Fault::ProviderDown(cause.clone()))
            }
            _ => self.read_metadata().await,
        };
        match (read, old) {
            (Ok(metadata), _) => {
                let metadata = Arc::new(metadata);
                (kept.metadata, kept.away) = (Some((now, Arc::clone(&metadata))), None);
                Ok(metadata)
            }
            (Err(Fault::ProviderDown(cause)), old) => {
                tracing::warn!(cause, "the identity provider does not describe itself");
                kept.away = Some((now, cause.clone()));
                old.map(|(_, metadata)| metadata).ok_or(Fault::ProviderDown(cause))
            }
            (Err(fault), _) => Err(fault),
        }
    }

    async fn read_metadata(&self) -> Result<Metadata, Fault> {
        let issuer = &self.registration.issuer;
        let url = format!("{}/.well-known/openid-configuration", issuer.trim_end_matches('/'));
        let metadata: Metadata = self.get(&url, None).await?;
        check_metadata(&metadata, issuer)?;
        Ok(metadata)
    }

    /// The keys; read again when they are old, or when one is `missing` from them.
    async fn keys(&self, metadata: &Metadata, missing: bool) -> Result<Option<Arc<JwkSet>>, Fault> {
        let mut kept = self.kept.lock().await;
        let now = self.clock.now();
        if missing {
            if kept.reread_at.is_some_and(|at| now < at.plus_seconds(REREAD_SECONDS)) {
                return Ok(None);
            }
            kept.reread_at = Some(now);
        } else if let Some((read_at, keys)) = &kept.keys
            && now < read_at.plus_seconds(KEPT_SECONDS)
        {
            return Ok(Some(Arc::clone(keys)));
        }
        let keys = Arc::new(self.get::<JwkSet>(&metadata.jwks_uri, None).await?);
        kept.keys = Some((now, Arc::clone(&keys)));
        Ok(Some(keys))
    }

    /// Redeems a code, checks the id token and completes it from userinfo where it lacks what is needed.
    ///
    /// # Errors
    /// What is wrong with the provider or with its answer.
    pub async fn redeem(&self, code: String, flow: &Flow) -> Result<SignedIn, Fault> {
        let metadata = self.metadata().await?;
        let tokens = self.tokens(&metadata, code, flow).await?;
        let id_token =
            tokens.id_token.ok_or_else(|| Fault::Malformed("the answer has no id token".to_owned()))?;
        let mut person = self.person(&metadata, &id_token, &flow.nonce).await?;
        let is_complete = self.needed_claims().all(|claim| admission::find(&person.claims, claim).is_some());
        if let (false, Some(url), Some(token)) =
            (is_complete, &metadata.userinfo_endpoint, tokens.access_token)
        {
            let userinfo: Map<String, Value> = self.get(url, Some(token)).await?;
            if userinfo.get("sub").and_then(Value::as_str) != Some(person.subject.as_str()) {
                return Err(Fault::Malformed("userinfo is of another subject than the id token".to_owned()));
            }
            for (name, value) in userinfo {
                // What is signed counts before what is not.
                person.claims.entry(name).or_insert(value);
            }
        }
        Ok(SignedIn { person, id_token })
    }

    fn needed_claims(&self) -> impl Iterator<Item = &str> {
        let groups = match &self.registration.admission {
            Admission::Mapped { claim, .. } => Some(claim.as_str()),
            Admission::Everyone | Admission::LinkedOnly => None,
        };
        std::iter::once(self.registration.name_claim.as_str()).chain(groups)
    }

    async fn person(&self, metadata: &Metadata, id_token: &str, nonce: &str) -> Result<Person, Fault> {
        let expected = Expected {
            issuer: &self.registration.issuer,
            client_id: &self.registration.client_id,
            nonce,
            now: self.clock.now(),
        };
        for missing in [false, true] {
            let Some(keys) = self.keys(metadata, missing).await? else { break };
            match verify(id_token, &keys, &expected) {
                Ok(person) => return Ok(person),
                Err(Rejected::Fault(fault)) => return Err(fault),
                Err(Rejected::UnknownKey(key)) => tracing::info!(key, "the identity provider has a new key"),
            }
        }
        Err(Fault::WrongSignature(
            "the id token is signed by a key that the provider does not publish".to_owned(),
        ))
    }

    async fn tokens(&self, metadata: &Metadata, code: String, flow: &Flow) -> Result<Tokens, Fault> {
        let Registration { client_id, client_secret, redirect_url, .. } = &self.registration;
        let mut form = vec![
            ("grant_type", "authorization_code".to_owned()),
            ("code", code),
            ("redirect_uri", redirect_url.clone()),
            ("code_verifier", flow.verifier.clone()),
        ];
        // Where the provider says nothing, it takes the secret as a login (RFC 8414).
        let methods = metadata.token_endpoint_auth_methods_supported.as_deref();
        let takes = |method: &str| methods.is_some_and(|methods| methods.iter().any(|known| known == method));
        let authorization = if takes("client_secret_basic") || !takes("client_secret_post") {
            Some(basic(client_id, client_secret.reveal()))
        } else {
            form.push(("client_id", client_id.clone()));
            form.push(("client_secret", client_secret.reveal().to_owned()));
            None
        };
        let told = self.ask(Ask::Post { url: metadata.token_endpoint.clone(), authorization, form }).await?;
        match told.status {
            200 => parse(&metadata.token_endpoint, &told.body),
            400..=499 => Err(token_fault(&told)),
            status => Err(Fault::ProviderDown(format!("{} answered {status}", metadata.token_endpoint))),
        }
    }

    async fn get<T: DeserializeOwned>(&self, url: &str, bearer: Option<String>) -> Result<T, Fault> {
        let told = self.ask(Ask::Get { url: url.to_owned(), bearer }).await?;
        match told.status {
            200 => parse(url, &told.body),
            status @ 500.. => Err(Fault::ProviderDown(format!("{url} answered {status}"))),
            status => Err(Fault::Misconfigured(format!("{url} answered {status}"))),
        }
    }

    async fn ask(&self, ask: Ask) -> Result<Told, Fault> {
        self.fetch.fetch(ask).await.map_err(Fault::ProviderDown)
    }
}

/// The description must be of this issuer, name only addresses that can be trusted, and take the PKCE that is used.
fn check_metadata(metadata: &Metadata, issuer: &str) -> Result<(), Fault> {
    if metadata.issuer != issuer {
        let named = &metadata.issuer;
        return Err(Fault::Misconfigured(format!(
            "oidc.issuer is {issuer:?}; the provider names itself {named:?}"
        )));
    }
    let addresses = [
        Some(&metadata.authorization_endpoint),
        Some(&metadata.token_endpoint),
        Some(&metadata.jwks_uri),
        metadata.userinfo_endpoint.as_ref(),
        metadata.end_session_endpoint.as_ref(),
    ];
    if let Some(unsafe_address) = addresses.into_iter().flatten().find(|address| !is_safe_address(address)) {
        return Err(Fault::Misconfigured(format!(
            "the provider names an address without TLS: {unsafe_address:?}"
        )));
    }
    match &metadata.code_challenge_methods_supported {
        Some(methods) if !methods.iter().any(|method| method == "S256") => {
            Err(Fault::Misconfigured(format!("the provider takes no PKCE with S256 but {methods:?}")))
        }
        _ => Ok(()),
    }
}

/// What a refused code means: the code's fault is the person's to repeat, the client's is the admin's.
fn token_fault(told: &Told) -> Fault {
    let Ok(error) = serde_json::from_str::<TokenError>(&told.body) else {
        return Fault::Misconfigured(format!("the token endpoint answered {} without a reason", told.status));
    };
    let cause = format!(
        "the token endpoint says {:?}: {:?}",
        error.error,
        error.error_description.unwrap_or_default()
    );
    if error.error == "invalid_grant" { Fault::Refused(cause) } else { Fault::Misconfigured(cause) }
}

/// Id and secret as a login; both are form-encoded first (RFC 6749, 2.3.1).
fn basic(client_id: &str, secret: &str) -> String {
    let encode = |text: &str| form_urlencoded::byte_serialize(text.as_bytes()).collect::<String>();
    format!("Basic {}", STANDARD.encode(format!("{}:{}", encode(client_id), encode(secret))))
}

fn parse<T: DeserializeOwned>(url: &str, body: &str) -> Result<T, Fault> {
    serde_json::from_str(body).map_err(|error| Fault::Malformed(format!("{url}: {error}")))
}
