//! The cookies of a session. Scripts can't read them, other sites' forms don't send them, and they go over HTTPS only
//! unless the configuration says that browsers come over plain HTTP.

use axum::http::{HeaderMap, HeaderValue, header};
use axum::response::Response;

use crate::auth::{ACCESS_SECONDS, DEVICE_SECONDS, IDLE_SECONDS, Issued};
use crate::config::ServerConfig;
use crate::oidc::flow::FLOW_SECONDS;

/// The access token.
pub(super) const ACCESS: &str = "qm_access";
/// The refresh token.
pub(super) const REFRESH: &str = "qm_refresh";
/// The mark of a device that signed in.
pub(super) const DEVICE: &str = "qm_device";
/// A sign-in under way at the identity provider.
pub(super) const DEPARTED: &str = "qm_departed";
/// What was just done, shown by the next page.
pub(super) const NOTICE: &str = "qm_notice";

/// Seconds for which a notice waits for its page.
const NOTICE_SECONDS: i64 = 60;

/// Reads cookies and collects those to be set.
pub(super) struct Cookies {
    secure: bool,
    /// Over HTTPS a browser takes these names from this very host only, from no other of the same domain.
    prefix: &'static str,
    set: Vec<HeaderValue>,
}

impl Cookies {
    /// Cookies as the configuration wants them.
    pub(super) fn new(config: &ServerConfig) -> Self {
        let prefix = if config.public_url.starts_with("https://") { "__Host-" } else { "" };
        Self { secure: config.secure_cookies(), prefix, set: Vec::new() }
    }

    /// The value of a cookie of a request.
    pub(super) fn get<'a>(&self, headers: &'a HeaderMap, name: &str) -> Option<&'a str> {
        let lines = headers.get_all(header::COOKIE).iter().filter_map(|line| line.to_str().ok());
        lines.flat_map(|line| line.split(';')).find_map(|pair| {
            let (known, value) = pair.trim().split_once('=')?;
            (known.strip_prefix(self.prefix)? == name).then_some(value)
        })
    }

    /// Sets a cookie for so many seconds; 0 removes it. The value must be of characters that a cookie may have.
    fn put(&mut self, name: &str, value: &str, seconds: i64) {
        let secure = if self.secure { "; Secure" } else { "" };
        let prefix = self.prefix;
        let text =
            format!("{prefix}{name}={value}; Path=/; Max-Age={seconds}; HttpOnly; SameSite=Lax{secure}");
        if let Ok(text) = HeaderValue::try_from(text) {
            self.set.push(text);
        }
    }

    /// Sets what a sign-in or a renewal issued.
    pub(super) fn signed_in(&mut self, issued: &Issued) {
        self.put(ACCESS, &issued.access, ACCESS_SECONDS);
        if let Some(refresh) = &issued.refresh {
            self.put(REFRESH, refresh, IDLE_SECONDS);
        }
        if let Some(device) = &issued.device {
            self.put(DEVICE, device, DEVICE_SECONDS);
        }
    }

    /// Removes the session's cookies; the mark of the device stays.
    pub(super) fn signed_out(&mut self) {
        self.put(ACCESS, "", 0);
        self.put(REFRESH, "", 0);
    }

    /// Lets a browser carry its sign-in to the identity provider and back.
    pub(super) fn departed(&mut self, flow: &str) {
        self.put(DEPARTED, flow, FLOW_SECONDS);
    }

    /// Removes what [`Cookies::departed`] set.
    pub(super) fn arrived(&mut self) {
        self.put(DEPARTED, "", 0);
    }

    /// Leaves a notice for the next page.
    pub(super) fn notice(&mut self, text: &str) {
        let text: String = form_urlencoded::byte_serialize(text.as_bytes()).collect();
        self.put(NOTICE, &text, NOTICE_SECONDS);
    }

    /// Reads the notice of a request, to be shown once.
    pub(super) fn take_notice(&mut self, headers: &HeaderMap) -> Option<String> {
        let notice = self.get(headers, NOTICE)?;
        let (text, _) = form_urlencoded::parse(notice.as_bytes()).next()?;
        let text = text.into_owned();
        self.put(NOTICE, "", 0);
        Some(text)
    }

    /// Puts what was collected onto an answer.
    pub(super) fn set_on(self, response: &mut Response) {
        for cookie in self.set {
            response.headers_mut().append(header::SET_COOKIE, cookie);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::Config;

    #[test]
    fn a_cookie_is_for_this_host_and_for_no_script() {
        let mut config = Config::default().server;
        let mut cookies = Cookies::new(&config);
        cookies.notice("Saved; 100 % done.");
        let line = cookies.set[0].to_str().unwrap().to_owned();
        assert!(line.ends_with("; Path=/; Max-Age=60; HttpOnly; SameSite=Lax; Secure"), "{line}");
        let mut headers = HeaderMap::new();
        headers.insert(header::COOKIE, line.split(';').next().unwrap().parse().unwrap());
        assert_eq!(Cookies::new(&config).take_notice(&headers).as_deref(), Some("Saved; 100 % done."));
        config.public_url = "https://quota.example.com".to_owned();
        assert_eq!(
            Cookies::new(&config).take_notice(&headers),
            None,
            "another host of the domain may have set it"
        );
        config.public_url = "http://quota.intern".to_owned();
        let mut cookies = Cookies::new(&config);
        cookies.signed_out();
        assert!(!cookies.set[0].to_str().unwrap().contains("Secure"));
    }
}
