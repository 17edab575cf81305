//! Sign-in by the organisation's identity provider: OpenID Connect, authorisation code with PKCE.
//!
//! What is here knows the protocol and neither accounts nor pages. A sign-in is begun ([`flow`]), redeemed at the
//! provider ([`provider`]), its id token checked ([`id_token`]), and what the provider says of the person turned into a
//! decision ([`admission`]). People are known by issuer and subject, never by an e-mail address, which another person
//! may have tomorrow.
//!
//! Signatures are checked by `jsonwebtoken`, which signs this server's own cookies too, and requests are sent by `ureq`:
//! a whole client library would bring a second copy of both and of the cryptography under them, for an exchange of
//! three requests.

pub mod admission;
pub mod fault;
pub mod fetch;
pub mod flow;
pub mod groups;
pub mod id_token;
pub mod provider;

use crate::config::Secret;

pub use admission::Admission;
pub use groups::{Grants, GroupMap};

/// What this server is to the provider.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Registration {
    /// What the provider is called on pages.
    pub name: String,
    /// Its issuer.
    pub issuer: String,
    /// This server's id there.
    pub client_id: String,
    /// This server's secret there.
    pub client_secret: Secret,
    /// What is asked for.
    pub scopes: String,
    /// Where browsers come back to.
    pub redirect_url: String,
    /// Where browsers come back to after signing out.
    pub signed_out_url: String,
    /// The claim that holds a person's name.
    pub name_claim: String,
    /// Who may sign in.
    pub admission: Admission,
}

/// Whether secrets may go to an address: it has TLS, or is on this machine.
#[must_use]
pub fn is_safe_address(address: &str) -> bool {
    let Ok(address) = address.parse::<axum::http::Uri>() else { return false };
    match (address.scheme_str(), address.host()) {
        (Some("https"), Some(host)) => !host.is_empty(),
        (Some("http"), Some(host)) => ["localhost", "127.0.0.1", "[::1]"].contains(&host),
        _ => false,
    }
}

#[cfg(test)]
mod tests;
