//! Signing in by the identity provider, and linking an account to it.

use app::plain::provider::{departing, failed};
use axum::Extension;
use axum::http::HeaderMap;
use axum::response::Response;

use super::super::cookies::{Cookies, DEPARTED};
use super::super::extract::Query;
use super::sign_in::{Carried, SignInQuery, send_again};
use super::{Plain, Posted, local_path};
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

/// Sends the browser to the provider with a form that was sent when nobody was signed in: it is kept until the browser is
/// back.
pub(in crate::http) async fn depart_with_form(
    mut plain: Plain,
    Extension(client): Extension<Client>,
    posted: Posted,
) -> Response {
    let auth = plain.state().auth().clone();
    let departed = async {
        let form = Carried::parse(posted.get("kept_form")).filter(Carried::may_be_kept);
        let departure = auth.depart(local_path(posted.get("next")).to_owned(), None, &client).await?;
        if let Some(form) = form {
            auth.keep_form(&departure, &form.to_text()?).await?;
        }
        Ok::<_, AppError>(departure)
    };
    match departed.await {
        Ok(departure) => {
            plain.cookies().departed(&departure.cookie);
            let name = auth.provider_name().unwrap_or_default();
            let words = "What you typed is kept for ten minutes and can be sent when you are back.";
            plain.ok(TITLE, || departing(&format!("Sign in with {name}"), words, name, departure.url))
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
            let heading = format!("Link this account to {name}");
            let words = "Sign in there as yourself: afterwards you can sign in here by it.";
            plain.ok("Link your account", || departing(&heading, words, name, departure.url))
        }
        Err(error) => plain.problem(&error),
    }
}

/// Takes the link between the account of whoever asks and the provider away.
pub(in crate::http) async fn unlink(plain: Plain, viewer: Viewer, origin: Origin) -> Response {
    let auth = plain.state().auth().clone();
    match auth.unlink_provider(&viewer, &origin).await {
        Ok(()) => {
            let name = auth.provider_name().unwrap_or("the identity provider");
            let notice = format!(
                "{name} does not sign you in to this account any more. Everywhere else you are signed out."
            );
            plain.done("/account", &notice)
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
        Ok(Arrival { issued: Some(issued), next, kept_form }) => {
            plain.cookies().arrived();
            plain.cookies().signed_in(&issued);
            match kept_form.as_deref().and_then(Carried::parse) {
                Some(form) => send_again(plain, form),
                None => plain.to(&next),
            }
        }
        Ok(Arrival { issued: None, next, .. }) => {
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
