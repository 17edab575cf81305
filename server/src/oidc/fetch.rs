//! The few requests that go to the provider, and their bounds: TLS checked against the certificates that the machine
//! trusts (an organisation's own among them), no redirects, a short time, a small answer.

use std::io::Read;
use std::time::Duration;

use async_trait::async_trait;
use ureq::tls::{RootCerts, TlsConfig};

/// Longest time for one request.
const TIMEOUT: Duration = Duration::from_secs(10);

/// Largest answer, in bytes.
const MAX_BYTES: u64 = 1 << 20;

/// One request.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Ask {
    /// What anybody may read.
    Get {
        /// The address.
        url: String,
        /// A token that shows what may be read.
        bearer: Option<String>,
    },
    /// A form.
    Post {
        /// The address.
        url: String,
        /// The value of `Authorization`.
        authorization: Option<String>,
        /// Names and values.
        form: Vec<(&'static str, String)>,
    },
}

/// The answer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Told {
    /// HTTP status.
    pub status: u16,
    /// The body, as text.
    pub body: String,
}

/// Asks the provider; a test answers in its stead.
#[async_trait]
pub trait Fetch: Send + Sync {
    /// Sends a request.
    ///
    /// # Errors
    /// Why there is no answer, for the log.
    async fn fetch(&self, ask: Ask) -> Result<Told, String>;
}

/// Over the network. A sign-in is rare, so a blocking client on a thread of its own does.
pub struct Network(ureq::Agent);

impl Network {
    /// A client.
    #[must_use]
    pub fn new() -> Self {
        let tls = TlsConfig::builder().root_certs(RootCerts::PlatformVerifier).build();
        let agent = ureq::Agent::config_builder()
            .tls_config(tls)
            .timeout_global(Some(TIMEOUT))
            .max_redirects(0)
            .http_status_as_error(false)
            .user_agent("quota-marketplace")
            .build();
        Self(agent.into())
    }
}

impl Default for Network {
    fn default() -> Self {
        Self::new()
    }
}

#[async_trait]
impl Fetch for Network {
    async fn fetch(&self, ask: Ask) -> Result<Told, String> {
        let agent = self.0.clone();
        tokio::task::spawn_blocking(move || send(&agent, ask)).await.map_err(|error| error.to_string())?
    }
}

fn send(agent: &ureq::Agent, ask: Ask) -> Result<Told, String> {
    let (url, answer) = match ask {
        Ask::Get { url, bearer } => {
            let mut request = agent.get(&url).header("accept", "application/json");
            if let Some(token) = bearer {
                request = request.header("authorization", format!("Bearer {token}"));
            }
            let answer = request.call();
            (url, answer)
        }
        Ask::Post { url, authorization, form } => {
            let mut request = agent.post(&url).header("accept", "application/json");
            if let Some(authorization) = authorization {
                request = request.header("authorization", authorization);
            }
            let answer = request.send_form(form);
            (url, answer)
        }
    };
    let mut answer = answer.map_err(|error| format!("{url}: {error}"))?;
    let mut body = String::new();
    let read = answer.body_mut().as_reader().take(MAX_BYTES).read_to_string(&mut body);
    read.map_err(|error| format!("{url}: {error}"))?;
    Ok(Told { status: answer.status().as_u16(), body })
}
