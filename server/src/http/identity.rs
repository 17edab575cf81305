//! `/api/v1/session`, `/sessions` and `/tokens`: who asks, where that person is signed in, and tokens for programs.

use axum::Json;
use axum::extract::State;
use axum::http::StatusCode;
use axum::response::{IntoResponse, Response};
use common::api::{IdentityView, MadeToken, MakeToken, SessionView, TokenView};
use common::ids::{SessionId, TokenId};
use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;

use super::AppState;
use super::api::Problems;
use super::extract::{Body, Segment};
use crate::auth::NewToken;
use crate::error::AppError;
use crate::policy::{Action, Object, Via, Viewer};
use crate::store::sessions::{Session, Token};

/// The routes, under `/api/v1`.
pub(super) fn routes() -> OpenApiRouter<AppState> {
    OpenApiRouter::new()
        .routes(routes!(who))
        .routes(routes!(sessions))
        .routes(routes!(end_session))
        .routes(routes!(tokens, make_token))
        .routes(routes!(revoke_token))
}

/// A session as it is shown to its owner; `current` is the one that asks.
pub(super) fn session_view(session: &Session, current: Option<&SessionId>) -> SessionView {
    SessionView {
        id: session.id.clone(),
        browser: session.user_agent.clone(),
        address: session.address.clone(),
        made_at: session.made_at,
        last_used_at: session.last_used_at,
        ends_at: session.ends_at,
        current: current == Some(&session.id),
    }
}

/// A token as it is shown to its owner.
pub(super) fn token_view(token: &Token) -> TokenView {
    TokenView {
        id: token.id.clone(),
        name: token.name.clone(),
        scopes: token.scopes.iter().map(|scope| scope.as_str().to_owned()).collect(),
        made_at: token.made_at,
        ends_at: token.ends_at,
        last_used_at: token.last_used_at,
    }
}

/// Who asks, and what that person is at this moment.
#[utoipa::path(
    get, path = "/session", tag = "identity",
    responses((status = 200, description = "Who asks", body = IdentityView), Problems)
)]
async fn who(State(state): State<AppState>, viewer: Viewer) -> Json<IdentityView> {
    let scopes = match &viewer.via {
        Via::Session(_) => None,
        Via::Token { scopes, .. } => Some(scopes.iter().map(|scope| scope.as_str().to_owned()).collect()),
    };
    Json(IdentityView { viewer: state.market().viewer(&viewer).await, scopes })
}

/// Where one is signed in, the session used last first.
#[utoipa::path(
    get, path = "/sessions", tag = "identity",
    responses((status = 200, description = "Sessions that hold", body = Vec<SessionView>), Problems)
)]
async fn sessions(State(state): State<AppState>, viewer: Viewer) -> Result<Json<Vec<SessionView>>, AppError> {
    viewer.may(Action::ReadMarket, Object::Organisation)?;
    let current = viewer.at_browser().ok();
    let sessions = state.auth().sessions(&viewer.user).await?;
    Ok(Json(sessions.iter().map(|session| session_view(session, current)).collect()))
}

/// Signs out there. A token can't do it.
#[utoipa::path(
    delete, path = "/sessions/{id}", tag = "identity",
    params(("id" = SessionId, Path, description = "The session")),
    responses((status = 204, description = "It is ended"), Problems)
)]
async fn end_session(
    State(state): State<AppState>,
    viewer: Viewer,
    Segment(id): Segment<SessionId>,
) -> Result<StatusCode, AppError> {
    viewer.at_browser()?;
    state.auth().end_session(&viewer.user, &id).await?;
    Ok(StatusCode::NO_CONTENT)
}

/// One's own tokens that hold, the newest first. Their secrets are not kept.
#[utoipa::path(
    get, path = "/tokens", tag = "identity",
    responses((status = 200, description = "Tokens that hold", body = Vec<TokenView>), Problems)
)]
async fn tokens(State(state): State<AppState>, viewer: Viewer) -> Result<Json<Vec<TokenView>>, AppError> {
    viewer.may(Action::ReadMarket, Object::Organisation)?;
    Ok(Json(state.auth().tokens(&viewer.user).await?.iter().map(token_view).collect()))
}

/// Makes a token. The answer holds its secret, this once. A token can't make another one.
#[utoipa::path(
    post, path = "/tokens", tag = "identity", request_body = MakeToken,
    responses((status = 201, description = "The token with its secret", body = MadeToken), Problems)
)]
async fn make_token(
    State(state): State<AppState>,
    viewer: Viewer,
    Body(new): Body<MakeToken>,
) -> Result<Response, AppError> {
    viewer.at_browser()?;
    let scopes: Result<_, String> = new.scopes.iter().map(|scope| scope.parse()).collect();
    let scopes = scopes.map_err(|error| AppError::invalid("scopes", error))?;
    let new = NewToken { name: new.name, scopes, days: new.days };
    let (token, secret) = state.auth().make_token(&viewer.user, new).await?;
    Ok((StatusCode::CREATED, Json(MadeToken { token: token_view(&token), secret })).into_response())
}

/// Revokes a token. A token can't do it.
#[utoipa::path(
    delete, path = "/tokens/{id}", tag = "identity",
    params(("id" = TokenId, Path, description = "The token")),
    responses((status = 204, description = "It is revoked"), Problems)
)]
async fn revoke_token(
    State(state): State<AppState>,
    viewer: Viewer,
    Segment(id): Segment<TokenId>,
) -> Result<StatusCode, AppError> {
    viewer.at_browser()?;
    state.auth().revoke_token(&viewer.user, &id).await?;
    Ok(StatusCode::NO_CONTENT)
}
