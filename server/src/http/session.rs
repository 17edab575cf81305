//! Who asks: a layer around all routes that recognises the viewer, renews a session that needs it, and sends away who
//! is not signed in.
//!
//! It works with scripts off: the refresh token is a cookie like the other, and the layer itself puts new cookies onto
//! whatever answer follows.

use std::net::{IpAddr, SocketAddr};

use axum::body::Body;
use axum::extract::{ConnectInfo, Request, State};
use axum::http::{HeaderMap, HeaderValue, Method, header};
use axum::middleware::Next;
use axum::response::{IntoResponse, Redirect, Response};
use tower_http::csrf::ProtectionError;

use super::AppState;
use super::cookies::{self, Cookies};
use super::plain;
use crate::auth::Client;
use crate::error::AppError;
use crate::policy::{Via, Viewer};
use crate::services::audit::Origin;

/// Addresses that need no sign-in, whole or as the beginning of a path.
const OPEN: &[&str] = &["/sign-in", "/healthz", "/readyz", "/metrics", "/api/v1/openapi.json"];
const OPEN_BELOW: &[&str] = &[ASSETS, "/link/", "/sign-in/", "/api/docs"];
/// Where scripts, styles and fonts are.
const ASSETS: &str = "/pkg/";

fn is_open(path: &str) -> bool {
    OPEN.contains(&path) || OPEN_BELOW.iter().any(|start| path.starts_with(start))
}

/// Recognises who asks, by a token or by cookies, and lets nobody else through.
pub(super) async fn recognise(State(state): State<AppState>, mut request: Request, next: Next) -> Response {
    // They are the same for everybody, and a page needs them to say that the database is away.
    if request.uri().path().starts_with(ASSETS) {
        return next.run(request).await;
    }
    let client = client(&state, &request);
    if let Some(origin) = request.extensions_mut().get_mut::<Origin>() {
        origin.address = Some(client.address.to_string());
    }
    request.extensions_mut().insert(client);
    let (viewer, cookies) = match who(&state, request.headers()).await {
        Ok(found) => found,
        Err(error) => return error.into_response(),
    };
    if let Some(Via::Token { .. }) = viewer.as_ref().map(|viewer| &viewer.via)
        && !request.uri().path().starts_with("/api/")
        && !is_open(request.uri().path())
    {
        return AppError::forbidden("a token is for the API; pages are for browsers").into_response();
    }
    let mut response = match viewer {
        Some(viewer) => {
            request.extensions_mut().insert(viewer);
            next.run(request).await
        }
        None if is_open(request.uri().path()) => next.run(request).await,
        None => send_away(state, request).await,
    };
    // What the answer itself sets, such as at a sign-out, counts.
    if !response.headers().contains_key(header::SET_COOKIE) {
        cookies.set_on(&mut response);
    }
    response
}

/// The viewer, and the cookies that a renewed or ended session needs.
async fn who(state: &AppState, headers: &HeaderMap) -> Result<(Option<Viewer>, Cookies), AppError> {
    let mut cookies = Cookies::new(state.config());
    if let Some(token) = bearer(headers) {
        let viewer = state.auth().viewer_of_token(token).await?;
        return match viewer {
            Some(viewer) => Ok((Some(viewer), cookies)),
            None => Err(AppError::new(
                crate::error::ErrorKind::Unauthenticated,
                "this token is not known, has ended or was revoked; make another one on your account's page",
            )),
        };
    }
    if let Some(access) = cookies.get(headers, cookies::ACCESS)
        && let Some(viewer) = state.auth().viewer(access).await?
    {
        return Ok((Some(viewer), cookies));
    }
    let Some(refresh) = cookies.get(headers, cookies::REFRESH) else { return Ok((None, cookies)) };
    match state.auth().renew(refresh).await? {
        Some(issued) => {
            cookies.signed_in(&issued);
            let viewer = state.auth().viewer(&issued.access).await?;
            Ok((viewer, cookies))
        }
        None => {
            cookies.signed_out();
            Ok((None, cookies))
        }
    }
}

/// The token of `Authorization: Bearer …`.
fn bearer(headers: &HeaderMap) -> Option<&str> {
    let value = headers.get(header::AUTHORIZATION)?.to_str().ok()?;
    let (scheme, token) = value.split_once(' ')?;
    scheme.eq_ignore_ascii_case("bearer").then(|| token.trim())
}

/// A program gets a problem; a browser the page to sign in, which leads back to where it wanted to go.
async fn send_away(state: AppState, request: Request) -> Response {
    let path = request.uri().path();
    let wants_html = request.headers().get(header::ACCEPT).and_then(|value| value.to_str().ok());
    let wants_html = wants_html.is_some_and(|accept| accept.contains("text/html"));
    if path.starts_with("/api/") || (path.starts_with("/pages/") && !wants_html) {
        return AppError::unauthenticated().into_response();
    }
    if *request.method() == Method::GET || *request.method() == Method::HEAD {
        let there = request.uri().path_and_query().map_or("/", |there| there.as_str());
        let next: String = form_urlencoded::byte_serialize(there.as_bytes()).collect();
        return Redirect::to(&format!("/sign-in?next={next}")).into_response();
    }
    plain::sign_in::keep_form(state, request).await
}

/// Where a request comes from.
fn client(state: &AppState, request: &Request) -> Client {
    let headers = request.headers();
    let text = |name| headers.get(name).and_then(|value: &HeaderValue| value.to_str().ok());
    let peer = request.extensions().get::<ConnectInfo<SocketAddr>>().map(|ConnectInfo(peer)| peer.ip());
    let peer = peer.unwrap_or(IpAddr::V4(std::net::Ipv4Addr::UNSPECIFIED));
    let cookies = Cookies::new(state.config());
    Client {
        address: forwarded(headers, state.config().trusted_proxies).unwrap_or(peer),
        user_agent: text(header::USER_AGENT).unwrap_or_default().chars().take(400).collect(),
        device: cookies.get(headers, cookies::DEVICE).map(str::to_owned),
    }
}

/// The entry of `X-Forwarded-For` that the outermost of so many trusted proxies wrote: each adds the address that it
/// sees on the right, and what stands further to the left anybody may have made up.
fn forwarded(headers: &HeaderMap, proxies: usize) -> Option<IpAddr> {
    let at = proxies.checked_sub(1)?;
    let lines = headers.get_all("x-forwarded-for").iter().filter_map(|line| line.to_str().ok());
    let entries: Vec<&str> = lines.flat_map(|line| line.split(',')).map(str::trim).collect();
    let entry = entries.iter().rev().nth(at)?;
    entry.parse().ok().or_else(|| entry.parse::<SocketAddr>().map(|address| address.ip()).ok())
}

/// Takes cookies and what a browser says about itself off a request that carries a token: the token alone says who
/// asks, and no browser sends one by itself, so there is nothing to forge.
pub(super) async fn only_the_token(mut request: Request, next: Next) -> Response {
    if bearer(request.headers()).is_some() {
        for name in ["cookie", "origin", "sec-fetch-site"] {
            request.headers_mut().remove(name);
        }
    }
    next.run(request).await
}

/// The answer to a form or call that another site sent.
#[expect(clippy::needless_pass_by_value, reason = "the layer hands the refusal over")]
pub(super) fn cross_site(refusal: ProtectionError) -> Response<Body> {
    AppError::forbidden(
        "this request came from another site; nothing was changed. Open the page here and send it from there. Behind a \
         proxy, server.public_url must say the address that browsers use",
    )
    .with_context(refusal.to_string())
    .into_response()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn proxies_are_counted_from_the_right() {
        let mut headers = HeaderMap::new();
        headers.append("x-forwarded-for", HeaderValue::from_static("6.6.6.6, 1.2.3.4"));
        headers.append("x-forwarded-for", HeaderValue::from_static("10.0.0.2:5000"));
        assert_eq!(forwarded(&headers, 0), None);
        assert_eq!(forwarded(&headers, 1), Some([10, 0, 0, 2].into()));
        assert_eq!(forwarded(&headers, 2), Some([1, 2, 3, 4].into()));
        assert_eq!(forwarded(&headers, 4), None, "fewer entries than proxies");
    }

    #[test]
    fn only_what_is_named_is_open() {
        for path in
            ["/sign-in", "/link/abc", "/pkg/1/main.css", "/healthz", "/api/v1/openapi.json", "/api/docs/"]
        {
            assert!(is_open(path), "{path}");
        }
        for path in ["/", "/sign-inx", "/link", "/api/v1/market", "/pages/market", "/account"] {
            assert!(!is_open(path), "{path}");
        }
    }
}
