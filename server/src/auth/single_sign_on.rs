//! Signing in by the organisation's identity provider: sending a browser there, and taking it back.

use std::sync::Arc;

use common::ids::{SessionId, UserId};

use super::{Auth, Client, Issued};
use crate::clock::Clock;
use crate::error::{AppError, ErrorKind};
use crate::oidc::Registration;
use crate::oidc::fault::Fault;
use crate::oidc::fetch::Network;
use crate::oidc::flow::{Answer, Flow, FlowKey};
use crate::oidc::provider::{Provider, SignedIn};
use crate::policy::{Via, Viewer};
use crate::services::audit::Origin;
use crate::services::single_sign_on::{self as service, Arrived, Outcome};
use crate::store::single_sign_on as stored;

/// Longest id token that is kept until the sign-out: it becomes part of an address.
const MAX_KEPT_TOKEN: usize = 4_000;

/// Longest form, in bytes of its JSON, that is kept while its owner is away at the provider.
const MAX_KEPT_FORM: usize = 64 * 1024;

/// The provider, and the key of sign-ins under way.
pub(super) struct SingleSignOn {
    provider: Provider,
    key: FlowKey,
}

impl SingleSignOn {
    /// What a configuration says; `secret` is the server's.
    pub(super) fn new(
        registration: Registration,
        secret: &[u8],
        clock: Arc<dyn Clock>,
    ) -> Result<Self, AppError> {
        let provider = Provider::new(registration, Arc::new(Network::new()), clock);
        Ok(Self { provider, key: FlowKey::derive(secret)? })
    }
}

/// A browser that is sent to the provider.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Departure {
    /// Where to.
    pub url: String,
    /// What it carries until it is back; good for [`crate::oidc::flow::FLOW_SECONDS`].
    pub cookie: String,
}

/// A browser that is back.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Arrival {
    /// The session that began; none where an account was linked.
    pub issued: Option<Issued>,
    /// Where it wanted to go: a path of this site.
    pub next: String,
    /// The form that was kept meanwhile, as [`Auth::keep_form`] got it.
    pub kept_form: Option<String>,
}

/// A browser that came back from the provider, with all that it brings.
#[derive(Clone, Copy, Debug)]
pub struct Return<'a> {
    /// What the provider says.
    pub answer: &'a Answer,
    /// What the browser carried.
    pub cookie: Option<&'a str>,
    /// Who is signed in already.
    pub viewer: Option<&'a Viewer>,
    /// Where the request comes from.
    pub client: &'a Client,
    /// The same, for the audit log.
    pub origin: &'a Origin,
}

impl Auth {
    /// What the provider is called; none without single sign-on.
    #[must_use]
    pub fn provider_name(&self) -> Option<&str> {
        self.single_sign_on.as_ref().map(|found| found.provider.registration().name.as_str())
    }

    fn single_sign_on(&self) -> Result<&SingleSignOn, AppError> {
        self.single_sign_on.as_ref().ok_or_else(AppError::no_such_page)
    }

    /// Begins a sign-in, or the linking of the account `link` by its owner. Afterwards the browser goes to `next`.
    ///
    /// # Errors
    /// `NotFound` without single sign-on. `TooManyRequests`: too many attempts. `Unavailable`: the provider is away, or
    /// can't be used.
    pub async fn depart(
        &self,
        next: String,
        link: Option<UserId>,
        client: &Client,
    ) -> Result<Departure, AppError> {
        let SingleSignOn { provider, key } = self.single_sign_on()?;
        self.limits.address(client.address)?;
        let registration = provider.registration();
        let metadata = provider.metadata().await.map_err(|fault| fault.into_error(&registration.name))?;
        let flow = Flow::begin(next, link, self.now());
        let url = flow.authorization_url(&metadata.authorization_endpoint, registration);
        Ok(Departure { url, cookie: flow.seal(key)? })
    }

    /// Keeps a form until the browser of this departure is back. It is kept as it is, so it must hold no secret.
    ///
    /// # Errors
    /// `TooLarge`: it is larger than what is kept. `Unavailable`: the database does not take it.
    pub async fn keep_form(&self, departure: &Departure, form: &str) -> Result<(), AppError> {
        if form.len() > MAX_KEPT_FORM {
            return Err(AppError::new(
                ErrorKind::TooLarge,
                "what you typed is too long to be kept on the way to the identity provider; sign in in another tab and \
                 send it from here again",
            ));
        }
        let (now, SingleSignOn { provider, key }) = (self.now(), self.single_sign_on()?);
        let flow = Flow::open(&departure.cookie, key, now)
            .map_err(|fault| fault.into_error(&provider.registration().name))?;
        let mut tx = self.services.store.write().await?;
        stored::keep_form(&mut tx, flow.form_mark(), flow.ends_at(), now, form).await?;
        tx.commit().await
    }

    /// Takes the link between an account and the person at the provider away; its owner is signed out everywhere else, since
    /// a session there may be that person's.
    ///
    /// # Errors
    /// `Forbidden`: a token asks. `Conflict`: it is not linked, or nobody could sign in to it any more.
    pub async fn unlink_provider(&self, owner: &Viewer, origin: &Origin) -> Result<(), AppError> {
        let session = owner.at_browser()?;
        if !self.takes_passwords() {
            return Err(AppError::conflict(
                "people sign in by the identity provider only, so nobody could sign in to this account without the link",
            ));
        }
        let mut tx = self.services.store.write().await?;
        service::unlink(&mut tx, &self.services, owner, origin).await?;
        tx.commit().await?;
        self.end_other_sessions(&owner.user, Some(session)).await
    }

    /// Ends a sign-in that was begun by [`Auth::depart`], once.
    ///
    /// # Errors
    /// In words for the person, as [`Fault`] has them.
    pub async fn arrive(&self, back: &Return<'_>) -> Result<Arrival, AppError> {
        let SingleSignOn { provider, key } = self.single_sign_on()?;
        self.limits.address(back.client.address)?;
        let registration = provider.registration();
        let words = |fault: Fault| fault.into_error(&registration.name);
        let now = self.now();
        let cookie = back.cookie.ok_or(Fault::NotBegun).map_err(words)?;
        let flow = Flow::open(cookie, key, now).map_err(words)?;
        let metadata = provider.metadata().await.map_err(words)?;
        let names_issuer = metadata.authorization_response_iss_parameter_supported;
        let code = flow.accept(back.answer, &registration.issuer, names_issuer).map_err(words)?;
        let mut tx = self.services.store.write().await?;
        let is_first = stored::spend(&mut tx, flow.spent_mark(), flow.ends_at(), now).await?;
        let kept_form = stored::take_form(&mut tx, flow.form_mark()).await?;
        tx.commit().await?;
        if !is_first {
            return Err(words(Fault::UsedBefore));
        }
        let signed_in = provider.redeem(code, &flow).await.map_err(words)?;
        let issued = match &flow.link {
            None => Some(self.admit(registration, &signed_in, back).await?),
            Some(user) => {
                self.link_to_provider(registration, &signed_in, back, user).await?;
                None
            }
        };
        Ok(Arrival { issued, next: flow.next, kept_form })
    }

    async fn admit(
        &self,
        registration: &Registration,
        signed_in: &SignedIn,
        back: &Return<'_>,
    ) -> Result<Issued, AppError> {
        let arrived = Arrived { registration, person: &signed_in.person, origin: back.origin };
        let mut tx = self.services.store.write().await?;
        match service::admit(&mut tx, &self.services, &arrived).await? {
            Outcome::Admitted(user) => {
                let issued = self.begin_session_in(&mut tx, &user, back.client).await?;
                if signed_in.id_token.len() <= MAX_KEPT_TOKEN {
                    stored::keep_id_token(&mut tx, &issued.session, &signed_in.id_token).await?;
                }
                tx.commit().await?;
                Ok(issued)
            }
            Outcome::Refused(fault, ended) => {
                tx.commit().await?;
                ended.iter().for_each(|id| self.streams.end(id));
                let subject = &signed_in.person.subject;
                tracing::info!(subject, ?fault, "a sign-in by the identity provider was refused");
                Err(fault.into_error(&registration.name))
            }
        }
    }

    async fn link_to_provider(
        &self,
        registration: &Registration,
        signed_in: &SignedIn,
        back: &Return<'_>,
        user: &UserId,
    ) -> Result<(), AppError> {
        let is_owner = |viewer: &&Viewer| viewer.user == *user && matches!(viewer.via, Via::Session(_));
        let owner = back.viewer.filter(is_owner);
        let owner = owner.ok_or_else(|| Fault::NotOwner.into_error(&registration.name))?;
        let arrived = Arrived { registration, person: &signed_in.person, origin: back.origin };
        let mut tx = self.services.store.write().await?;
        service::link(&mut tx, &self.services, &arrived, owner).await?;
        tx.commit().await
    }

    /// The provider's name, and where a browser signs out there as well; none where its session began by a password, or where the
    /// provider does not offer it or is away.
    ///
    /// # Errors
    /// `Unavailable`: the database does not answer.
    pub async fn provider_sign_out(&self, session: &SessionId) -> Result<Option<(String, String)>, AppError> {
        let Some(SingleSignOn { provider, .. }) = &self.single_sign_on else { return Ok(None) };
        let Some(id_token) = stored::id_token(&mut self.services.store.read().await?, session).await? else {
            return Ok(None);
        };
        let Ok(metadata) = provider.metadata().await else { return Ok(None) };
        let registration = provider.registration();
        let endpoint = metadata.end_session_endpoint.as_deref();
        Ok(endpoint
            .map(|endpoint| (registration.name.clone(), registration.sign_out_url(endpoint, &id_token))))
    }
}
