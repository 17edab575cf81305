//! Signing in by the identity provider, and linking an account to it.

use app::plain::provider::{departing, failed};
use axum::Extension;
use axum::http::HeaderMap;
use axum::response::Response;

use super::super::cookies::{Cookies, DEPARTED};
use super::super::extract::Query;
use super::sign_in::SignInQuery;
use super::{Plain, local_path};
use crate::auth::{Arrival, Client, Return};
use crate::error::AppError;
use crate::oidc::flow::Answer;
use crate::policy::Viewer;
use crate::services::audit::Origin;

const TITLE: &str = "Sign in";

/// Sends the browser to the provider. Nothing is written for it: the browser carries what is needed.
pub(in crate::http) async fn depart(
    mut plain: Plain,
    viewer: Option<Extension<Viewer>>,
    Extension(client): Extension<Client>,
    Query(query): Query<SignInQuery>,
) -> Response {
    let next = local_path(&query.next).to_owned();
    if viewer.is_some() {
        return plain.to(&next);
    }
    let auth = plain.state().auth().clone();
    match auth.depart(next, None, &client).await {
        Ok(departure) => {
            plain.cookies().departed(&departure.cookie);
            plain.to(&departure.url)
        }
        Err(error) => not_signed_in(plain, &error),
    }
}

/// Sends the owner of an account to the provider, to link it.
pub(in crate::http) async fn link(
    mut plain: Plain,
    viewer: Viewer,
    Extension(client): Extension<Client>,
) -> Response {
    let auth = plain.state().auth().clone();
    match auth.depart("/account".to_owned(), Some(viewer.user), &client).await {
        Ok(departure) => {
            plain.cookies().departed(&departure.cookie);
            let name = auth.provider_name().unwrap_or_default();
            plain.ok("Link your account", || departing(name, departure.url))
        }
        Err(error) => plain.problem(&error),
    }
}

/// The browser is back from the provider.
pub(in crate::http) async fn arrive(
    mut plain: Plain,
    viewer: Option<Extension<Viewer>>,
    Extension(client): Extension<Client>,
    origin: Origin,
    headers: HeaderMap,
    Query(answer): Query<Answer>,
) -> Response {
    let cookie = Cookies::new(plain.state().config()).get(&headers, DEPARTED).map(str::to_owned);
    let auth = plain.state().auth().clone();
    let back = Return {
        answer: &answer,
        cookie: cookie.as_deref(),
        viewer: viewer.as_ref().map(|Extension(viewer)| viewer),
        client: &client,
        origin: &origin,
    };
    match auth.arrive(&back).await {
        Ok(Arrival { issued: Some(issued), next }) => {
            plain.cookies().arrived();
            plain.cookies().signed_in(&issued);
            plain.to(&next)
        }
        Ok(Arrival { issued: None, next }) => {
            plain.cookies().arrived();
            let name = auth.provider_name().unwrap_or_default();
            plain.done(&next, &format!("Your account is linked: you can sign in with {name} now."))
        }
        Err(error) => not_signed_in(plain, &error),
    }
}

/// Why nobody is signed in, in words; the cause goes to the log.
fn not_signed_in(plain: Plain, error: &AppError) -> Response {
    tracing::warn!(cause = %error.private_context(), "no sign-in by the identity provider: {error}");
    plain.refused(error, TITLE, || failed(error.message()))
}
