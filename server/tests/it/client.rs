//! Somebody who asks the server: a browser with its cookies, or a program with a token.
#![expect(clippy::unwrap_used, reason = "helpers of tests: what fails here fails the test")]

use std::collections::BTreeMap;
use std::net::{IpAddr, SocketAddr};
use std::sync::Mutex;

use axum::Router;
use axum::body::Body;
use axum::extract::ConnectInfo;
use axum::http::{HeaderMap, HeaderValue, Request, header};
use server::auth::{self, Auth};
use tower::ServiceExt as _;

use crate::app::{Answer, send};

/// Where clients of tests come from.
const HERE: SocketAddr = SocketAddr::new(IpAddr::V4(std::net::Ipv4Addr::LOCALHOST), 50_000);

/// One who asks. Cookies that the server sets are kept.
pub(crate) struct Client {
    router: Router,
    cookies: Mutex<BTreeMap<String, String>>,
    token: Option<String>,
    from: SocketAddr,
}

impl Client {
    /// A browser of nobody.
    pub(crate) fn anonymous(router: Router) -> Self {
        Self { router, cookies: Mutex::default(), token: None, from: HERE }
    }

    /// A program with a token.
    pub(crate) fn program(router: Router, token: &str) -> Self {
        Self { token: Some(token.to_owned()), ..Self::anonymous(router) }
    }

    /// A browser in which an account has a session.
    pub(crate) async fn signed_in(auth: &Auth, router: Router, user: &str) -> Self {
        let origin = auth::Client { address: HERE.ip(), user_agent: "test".to_owned(), device: None };
        let issued = auth.begin_session(&user.parse().unwrap(), &origin).await.unwrap();
        let cookies = [
            ("qm_access", Some(issued.access)),
            ("qm_refresh", issued.refresh),
            ("qm_device", issued.device),
        ];
        let cookies = cookies.into_iter().filter_map(|(name, value)| Some((name.to_owned(), value?)));
        Self { cookies: Mutex::new(cookies.collect()), ..Self::anonymous(router) }
    }

    /// The same browser, or a copy of it with the same cookies.
    pub(crate) fn copied(&self) -> Self {
        let cookies = Mutex::new(self.cookies.lock().unwrap().clone());
        Self { router: self.router.clone(), cookies, token: self.token.clone(), from: self.from }
    }

    /// The client at another address.
    pub(crate) fn from(self, address: [u8; 4]) -> Self {
        Self { from: SocketAddr::from((address, 50_000)), ..self }
    }

    /// The value of a cookie.
    pub(crate) fn cookie(&self, name: &str) -> Option<String> {
        self.cookies.lock().unwrap().get(name).cloned()
    }

    /// Changes a cookie, or removes it.
    pub(crate) fn set_cookie(&self, name: &str, value: Option<&str>) {
        let mut cookies = self.cookies.lock().unwrap();
        match value {
            Some(value) => cookies.insert(name.to_owned(), value.to_owned()),
            None => cookies.remove(name),
        };
    }

    /// A request with what the client is recognised by.
    pub(crate) fn prepared(&self, mut request: Request<Body>) -> Request<Body> {
        let cookies = self.cookies.lock().unwrap();
        let line: Vec<String> = cookies.iter().map(|(name, value)| format!("{name}={value}")).collect();
        if !line.is_empty() {
            request.headers_mut().insert(header::COOKIE, line.join("; ").parse().unwrap());
        }
        if let Some(token) = &self.token {
            request.headers_mut().insert(header::AUTHORIZATION, format!("Bearer {token}").parse().unwrap());
        }
        request.extensions_mut().insert(ConnectInfo(self.from));
        request
    }

    /// Sends a request to the client's server.
    pub(crate) async fn send(&self, request: Request<Body>) -> Answer {
        self.send_to(&self.router, request).await
    }

    /// Sends a request to another server on the same database.
    pub(crate) async fn send_to(&self, router: &Router, request: Request<Body>) -> Answer {
        let answer = send(router, self.prepared(request)).await;
        self.keep(&answer.headers);
        answer
    }

    fn keep(&self, headers: &HeaderMap) {
        for line in headers.get_all(header::SET_COOKIE) {
            let line = line.to_str().unwrap();
            let (name, value) = line.split(';').next().unwrap().split_once('=').unwrap();
            self.set_cookie(name, (!line.contains("Max-Age=0;")).then_some(value));
        }
    }

    /// The status of an answer whose body may never end.
    pub(crate) async fn status(&self, request: Request<Body>) -> u16 {
        let response = self.router.clone().oneshot(self.prepared(request)).await.unwrap();
        self.keep(response.headers());
        response.status().as_u16()
    }

    pub(crate) async fn get(&self, path: &str) -> Answer {
        self.send(Request::get(path).body(Body::empty()).unwrap()).await
    }

    /// Opens a page as a browser does.
    pub(crate) async fn open(&self, path: &str) -> Answer {
        self.send(Request::get(path).header(header::ACCEPT, "text/html").body(Body::empty()).unwrap()).await
    }

    /// Posts a form as a page of the site does.
    pub(crate) async fn post(&self, path: &str, fields: &[(&str, &str)]) -> Answer {
        self.send(form(path, fields)).await
    }

    /// Sends JSON with a method.
    pub(crate) async fn json(&self, method: &str, path: &str, body: &serde_json::Value) -> Answer {
        let request = Request::builder().method(method).uri(path);
        let request = request.header(header::CONTENT_TYPE, "application/json");
        self.send(request.body(Body::from(body.to_string())).unwrap()).await
    }
}

/// The request that a browser makes of a form.
pub(crate) fn form(path: &str, fields: &[(&str, &str)]) -> Request<Body> {
    let body = form_urlencoded::Serializer::new(String::new()).extend_pairs(fields).finish();
    let mut request = Request::post(path).body(Body::from(body)).unwrap();
    let headers = request.headers_mut();
    headers.insert(header::CONTENT_TYPE, HeaderValue::from_static("application/x-www-form-urlencoded"));
    headers.insert(header::ACCEPT, HeaderValue::from_static("text/html"));
    headers.insert("sec-fetch-site", HeaderValue::from_static("same-origin"));
    request
}
