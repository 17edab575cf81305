//! The page behind a one-time link: choosing a password, or making the first admin's account.

use app::plain::form::FormState;
use app::plain::link::{LinkPage, link as view};
use axum::Extension;
use axum::extract::Path;
use axum::response::Response;

use super::{Plain, Posted};
use crate::auth::{Client, LinkFor};
use crate::error::{AppError, ErrorKind};
use crate::services::accounts::NewAdmin;

fn title(link: &LinkFor) -> &'static str {
    match link {
        LinkFor::NewAdmin => "Make an admin's account",
        LinkFor::Password(_) => "Choose a password",
    }
}

fn page_of(link: LinkFor, form: FormState) -> LinkPage {
    match link {
        LinkFor::NewAdmin => LinkPage { account: None, form },
        LinkFor::Password(account) => LinkPage { account: Some(account.name), form },
    }
}

/// The page. Looking at it does not use the link: mail programs look at every link.
pub(in crate::http) async fn page(plain: Plain, Path(secret): Path<String>) -> Response {
    match plain.state().auth().link(&secret).await {
        Ok(link) => plain.ok(title(&link), || view(page_of(link, FormState::default()))),
        Err(error) => plain.problem(&error),
    }
}

/// Uses the link and signs in.
pub(in crate::http) async fn used(
    mut plain: Plain,
    Extension(client): Extension<Client>,
    Path(secret): Path<String>,
    posted: Posted,
) -> Response {
    let admin = NewAdmin { login: posted.get("login").to_owned(), name: posted.get("name").to_owned() };
    let auth = plain.state().auth().clone();
    let result = async {
        let link = auth.link(&secret).await?;
        let used = if posted.get("password") == posted.get("again") {
            auth.use_link(&secret, &admin, posted.get("password"), &client).await
        } else {
            Err(AppError::invalid("again", "is not the same as the password above"))
        };
        Ok::<_, AppError>((link, used))
    };
    match result.await {
        Ok((_, Ok(issued))) => {
            plain.cookies().signed_in(&issued);
            plain.done("/", "Your password is set, and you are signed in.")
        }
        Ok((link, Err(error))) if [ErrorKind::Invalid, ErrorKind::Conflict].contains(&error.kind()) => {
            let form = posted.refused(&error);
            plain.refused(&error, title(&link), || view(page_of(link, form)))
        }
        Ok((_, Err(error))) | Err(error) => plain.problem(&error),
    }
}
