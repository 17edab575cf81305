//! Signing in and out. A form that was sent when the session was over is carried through the sign-in.

use app::plain::form::FormState;
use app::plain::provider::signed_out;
use app::plain::sign_in::{KeptForm, SignInPage, kept, sign_in as view};
use axum::Extension;
use axum::extract::{FromRequest, FromRequestParts, Request};
use axum::http::{StatusCode, header};
use axum::response::{IntoResponse, Response};
use serde::{Deserialize, Serialize};

use super::super::AppState;
use super::super::extract::Query;
use super::{Plain, Posted, local_path};
use crate::auth::Client;
use crate::error::AppError;
use crate::policy::{Via, Viewer};

const TITLE: &str = "Sign in";

#[derive(Deserialize)]
pub(in crate::http) struct SignInQuery {
    #[serde(default)]
    pub(super) next: String,
}

/// A form on its way through a sign-in.
#[derive(Debug, Serialize, Deserialize)]
pub(super) struct Carried {
    action: String,
    fields: Vec<(String, String)>,
}

impl Carried {
    /// The form in a text that [`Carried::to_text`] made; none where there is none.
    pub(super) fn parse(text: &str) -> Option<Self> {
        serde_json::from_str(text).ok()
    }

    /// The form as a text.
    pub(super) fn to_text(&self) -> Result<String, AppError> {
        serde_json::to_string(self).map_err(AppError::internal)
    }

    /// Whether it may lie on the server for a while: a password must not.
    pub(super) fn may_be_kept(&self) -> bool {
        !self.fields.iter().any(|(name, _)| name.contains("password"))
    }
}

/// The page; who is signed in already goes on.
pub(in crate::http) async fn page(
    plain: Plain,
    viewer: Option<Extension<Viewer>>,
    Query(query): Query<SignInQuery>,
) -> Response {
    let next = local_path(&query.next).to_owned();
    if viewer.is_some() {
        return plain.to(&next);
    }
    let why = (next != "/").then_some("Sign in to see the page that you asked for.");
    let page = SignInPage { why, ..empty(&plain, next) };
    plain.ok(TITLE, || view(page))
}

fn empty(plain: &Plain, next: String) -> SignInPage {
    let auth = plain.state().auth();
    let begins_at = |next: &str| {
        let next: String = form_urlencoded::byte_serialize(next.as_bytes()).collect();
        format!("/sign-in/oidc?next={next}")
    };
    let provider = auth.provider_name().map(|name| (name.to_owned(), begins_at(&next)));
    let demo_accounts = plain.state().demo_accounts().to_vec();
    SignInPage { next, passwords: auth.takes_passwords(), demo_accounts, provider, ..SignInPage::default() }
}

/// The page with a form that waits for the sign-in. Where it holds a password it does not wait at the server, so the way to
/// the provider leaves it behind.
fn with_form(page: SignInPage, kept_form: Option<String>) -> SignInPage {
    let waits = kept_form.as_deref().and_then(Carried::parse).is_some_and(|form| form.may_be_kept());
    SignInPage { form_waits: waits, kept_form, ..page }
}

/// Signs in.
pub(in crate::http) async fn sign_in(
    mut plain: Plain,
    Extension(client): Extension<Client>,
    posted: Posted,
) -> Response {
    let issued = plain.state().auth().sign_in(posted.get("login"), posted.get("password"), &client).await;
    let next = local_path(posted.get("next")).to_owned();
    let carried = posted.get("kept_form");
    match issued {
        Ok(issued) => {
            plain.cookies().signed_in(&issued);
            match Carried::parse(carried) {
                Some(carried) => send_again(plain, carried),
                None => plain.to(&next),
            }
        }
        Err(error) if error.kind().row().status >= 500 => plain.problem(&error),
        Err(error) => {
            let kept_form = (!carried.is_empty()).then(|| carried.to_owned());
            let page = with_form(empty(&plain, next), kept_form);
            let page = SignInPage { form: posted.refused(&error), ..page };
            plain.refused(&error, TITLE, || view(page))
        }
    }
}

/// Shows the form that was sent before the sign-in: one click sends it again.
pub(super) fn send_again(plain: Plain, carried: Carried) -> Response {
    let page = KeptForm { action: local_path(&carried.action).to_owned(), fields: carried.fields };
    plain.ok("You are signed in", || kept(page))
}

/// A form was sent and nobody is signed in: asks who it is, and keeps the form until then.
pub(in crate::http) async fn keep_form(state: AppState, request: Request) -> Response {
    let there = request.uri().path_and_query().map_or("/", |there| there.as_str()).to_owned();
    let is_form = request.headers().get(header::CONTENT_TYPE).is_some_and(|kind| {
        kind.to_str().is_ok_and(|kind| kind.starts_with("application/x-www-form-urlencoded"))
    });
    if !is_form {
        return AppError::unauthenticated().into_response();
    }
    let (mut parts, body) = request.into_parts();
    let Ok(plain) = Plain::from_request_parts(&mut parts, &state).await;
    // Signing out needs nobody who is signed in.
    if parts.uri.path() == "/sign-out" {
        return plain.to("/sign-in");
    }
    let posted = match Posted::from_request(Request::from_parts(parts, body), &state).await {
        Ok(posted) => posted,
        Err(error) => return plain.problem(&error),
    };
    let carried = Carried { action: local_path(&there).to_owned(), fields: posted.into_fields() };
    let page = SignInPage {
        form: FormState::default(),
        why: Some("Your session is over. Sign in again: what you typed is kept and can be sent afterwards."),
        ..with_form(empty(&plain, "/".to_owned()), carried.to_text().ok())
    };
    plain.with_status(StatusCode::UNAUTHORIZED, TITLE, || view(page))
}

/// Signs out here.
pub(in crate::http) async fn sign_out(mut plain: Plain, viewer: Viewer) -> Response {
    let mut elsewhere = None;
    if let Via::Session(session) = &viewer.via {
        elsewhere = plain.state().auth().provider_sign_out(session).await.unwrap_or_else(|error| {
            tracing::warn!(cause = %error.private_context(), "no sign-out at the identity provider: {error}");
            None
        });
        match plain.state().auth().end_session(&viewer.user, session).await {
            // One that ended a moment before is as good as ended now.
            Ok(()) => {}
            Err(error) if error.kind() == crate::error::ErrorKind::NotFound => {}
            Err(error) => return plain.problem(&error),
        }
    }
    plain.cookies().signed_out();
    if let Some((name, address)) = elsewhere {
        // The page stands for nobody any more.
        plain.shell = None;
        return plain.ok("Signed out", || signed_out(&name, address));
    }
    plain.done("/sign-in", "You are signed out on this device.")
}
