//! The page of one's own account.

use app::plain::account::{AccountPage, account as view};
use app::plain::form::FormState;
use axum::Extension;
use axum::extract::Path;
use axum::response::Response;

use super::super::identity::{session_view, token_view};
use super::{Plain, Posted};
use crate::auth::{Client, NewToken};
use crate::error::{AppError, ErrorKind};
use crate::policy::Viewer;

const TITLE: &str = "Account";

/// What is on the page besides what is there at the moment.
#[derive(Default)]
struct Forms {
    password: FormState,
    token: Option<FormState>,
    made: Option<String>,
}

async fn page_of(plain: &Plain, viewer: &Viewer, forms: Forms) -> Result<AccountPage, AppError> {
    let auth = plain.state().auth();
    let session = viewer.at_browser()?;
    let account = auth.account(&viewer.user).await?;
    Ok(AccountPage {
        viewer: plain.state().market().viewer(viewer).await,
        has_password: account.has_password,
        provider: auth.provider_name().map(|name| (name.to_owned(), account.provider.is_some())),
        sessions: auth
            .sessions(&viewer.user)
            .await?
            .iter()
            .map(|one| session_view(one, Some(session)))
            .collect(),
        tokens: auth.tokens(&viewer.user).await?.iter().map(token_view).collect(),
        password: forms.password,
        token: forms.token.unwrap_or_else(|| FormState::filled(&[("scopes", "read"), ("days", "90")])),
        made: forms.made,
    })
}

/// Answers with the page, or with why it can't be shown.
async fn shown(plain: Plain, viewer: &Viewer, forms: Forms, refused: Option<&AppError>) -> Response {
    match (page_of(&plain, viewer, forms).await, refused) {
        (Ok(page), None) => plain.ok(TITLE, || view(page)),
        (Ok(page), Some(error)) => plain.refused(error, TITLE, || view(page)),
        (Err(error), _) => plain.problem(&error),
    }
}

/// The page.
pub(in crate::http) async fn page(plain: Plain, viewer: Viewer) -> Response {
    shown(plain, &viewer, Forms::default(), None).await
}

/// Changes the password.
pub(in crate::http) async fn password(
    plain: Plain,
    viewer: Viewer,
    Extension(client): Extension<Client>,
    posted: Posted,
) -> Response {
    let changed = async {
        let session = viewer.at_browser()?;
        let (old, new) = (posted.get("old_password"), posted.get("password"));
        if new != posted.get("again") {
            return Err(AppError::invalid("again", "is not the same as the new password"));
        }
        plain.state().auth().change_password(&viewer.user, session, old, new, &client).await
    };
    match changed.await {
        Ok(()) => plain.done("/account", "Your password is changed. Everywhere else you are signed out."),
        Err(error) if error.kind().row().status < 500 => {
            let forms = Forms { password: posted.refused(&error), ..Forms::default() };
            shown(plain, &viewer, forms, Some(&error)).await
        }
        Err(error) => plain.problem(&error),
    }
}

/// Signs out on one other device.
pub(in crate::http) async fn end_session(plain: Plain, viewer: Viewer, Path(id): Path<String>) -> Response {
    let ended = async {
        viewer.at_browser()?;
        let id = id.parse().map_err(|_| AppError::not_found("session", &id))?;
        plain.state().auth().end_session(&viewer.user, &id).await
    };
    match ended.await {
        Ok(()) => plain.done("/account", "That browser is signed out."),
        Err(error) => plain.problem(&error),
    }
}

/// Signs out everywhere else.
pub(in crate::http) async fn end_others(plain: Plain, viewer: Viewer) -> Response {
    let ended = async {
        let session = viewer.at_browser()?;
        plain.state().auth().end_other_sessions(&viewer.user, Some(session)).await
    };
    match ended.await {
        Ok(()) => plain.done("/account", "You are signed out everywhere else."),
        Err(error) => plain.problem(&error),
    }
}

/// Makes a token, and shows it this once.
pub(in crate::http) async fn make_token(plain: Plain, viewer: Viewer, posted: Posted) -> Response {
    let made = async {
        viewer.at_browser()?;
        let scopes: Result<_, String> = posted.all("scopes").map(str::parse).collect();
        let new = NewToken {
            name: posted.get("name").to_owned(),
            scopes: scopes.map_err(|error| AppError::invalid("scopes", error))?,
            days: posted.get("days").parse().unwrap_or_default(),
        };
        plain.state().auth().make_token(&viewer.user, new).await
    };
    match made.await {
        Ok((_, secret)) => {
            let forms = Forms { made: Some(secret), ..Forms::default() };
            shown(plain, &viewer, forms, None).await
        }
        Err(error) if [ErrorKind::Invalid, ErrorKind::Conflict].contains(&error.kind()) => {
            let forms = Forms { token: Some(posted.refused(&error)), ..Forms::default() };
            shown(plain, &viewer, forms, Some(&error)).await
        }
        Err(error) => plain.problem(&error),
    }
}

/// Revokes a token.
pub(in crate::http) async fn revoke_token(plain: Plain, viewer: Viewer, Path(id): Path<String>) -> Response {
    let revoked = async {
        viewer.at_browser()?;
        let id = id.parse().map_err(|_| AppError::not_found("token", &id))?;
        plain.state().auth().revoke_token(&viewer.user, &id).await
    };
    match revoked.await {
        Ok(()) => {
            plain.done("/account", "The token is revoked; programs that use it are refused from now on.")
        }
        Err(error) => plain.problem(&error),
    }
}
