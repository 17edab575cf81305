//! `[server]`: where and how the server listens.

use std::net::SocketAddr;
use std::time::Duration;

use super::Key;
use super::key::number;

/// Where and how the server listens.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ServerConfig {
    /// Address and port.
    pub listen: SocketAddr,
    /// Longest time for one request; streams have no such limit.
    pub request_timeout: Duration,
    /// Longest time for requests in flight to finish at shutdown.
    pub shutdown_timeout: Duration,
    /// Largest request body in bytes.
    pub max_body_bytes: usize,
    /// Most server-event streams open at once.
    pub max_streams: usize,
    /// Where browsers find the server: scheme, host and port, without a path. Empty where it is not said.
    pub public_url: String,
    /// Proxies in front of the server whose `X-Forwarded-For` is believed.
    pub trusted_proxies: usize,
    /// The metrics may be read from any address.
    pub open_metrics: bool,
}

impl ServerConfig {
    /// Whether cookies go over HTTPS only (and over HTTP to this machine itself): unless it is said that browsers come
    /// over plain HTTP.
    #[must_use]
    pub fn secure_cookies(&self) -> bool {
        !self.public_url.starts_with("http://")
    }

    /// Where a browser finds the server that listens on `address`, without a slash at the end.
    #[must_use]
    pub fn shown_url(&self, address: SocketAddr) -> String {
        if self.public_url.is_empty() { format!("http://{address}") } else { self.public_url.clone() }
    }
}

impl ServerConfig {
    pub(super) const fn unset() -> Self {
        Self {
            listen: SocketAddr::new(std::net::IpAddr::V4(std::net::Ipv4Addr::LOCALHOST), 0),
            request_timeout: Duration::ZERO,
            shutdown_timeout: Duration::ZERO,
            max_body_bytes: 0,
            max_streams: 0,
            public_url: String::new(),
            trusted_proxies: 0,
            open_metrics: false,
        }
    }
}

pub(super) const KEYS: &[Key] = &[
    Key {
        name: "server.listen",
        default: "127.0.0.1:7878",
        allowed: "an address and a port, such as 127.0.0.1:7878 or [::1]:7878; port 0 takes a free one",
        meaning: "Where the server listens. It speaks plain HTTP: for others than this machine put a proxy in front \
                  that speaks HTTPS, and say its address in public_url.",
        set: |config, text| text.parse().map(|value| config.server.listen = value).map_err(|_| ()),
    },
    Key {
        name: "server.request_timeout_seconds",
        default: "30",
        allowed: "a whole number from 1 to 600",
        meaning: "Longest time for one request. Server-event streams stay open beyond it.",
        set: |config, text| {
            number(text, 1, 600).map(|value| config.server.request_timeout = Duration::from_secs(value))
        },
    },
    Key {
        name: "server.shutdown_timeout_seconds",
        default: "20",
        allowed: "a whole number from 1 to 600",
        meaning: "Longest time that requests in flight and the cycle being cleared may take to finish after SIGTERM \
                  or SIGINT.",
        set: |config, text| {
            number(text, 1, 600).map(|value| config.server.shutdown_timeout = Duration::from_secs(value))
        },
    },
    Key {
        name: "server.max_body_bytes",
        default: "1048576",
        allowed: "a whole number from 1024 to 67108864",
        meaning: "Largest body of a request; a larger one is answered with 413.",
        set: |config, text| {
            let value = number(text, 1_024, 67_108_864)?;
            config.server.max_body_bytes = usize::try_from(value).map_err(|_| ())?;
            Ok(())
        },
    },
    Key {
        name: "server.max_streams",
        default: "2000",
        allowed: "a whole number from 1 to 100000",
        meaning: "Most server-event streams open at once; one more is answered with 503 and tries again by itself.",
        set: |config, text| {
            let value = number(text, 1, 100_000)?;
            config.server.max_streams = usize::try_from(value).map_err(|_| ())?;
            Ok(())
        },
    },
    Key {
        name: "server.public_url",
        default: "",
        allowed: "http:// or https:// with a host and perhaps a port, nothing after it; or nothing",
        meaning: "Where browsers find the server, such as https://quota.example.com: for links that are handed out, and \
                  believed as the origin of forms. Cookies are for HTTPS only (browsers make an exception for this \
                  machine itself), unless this begins with http://.",
        set: |config, text| {
            let host = text.strip_prefix("https://").or_else(|| text.strip_prefix("http://"));
            let is_host = |host: &str| !host.is_empty() && !host.contains(['/', '?', '#', '@', ' ']);
            if !text.is_empty() && !host.is_some_and(is_host) {
                return Err(());
            }
            config.server.public_url = text.to_lowercase();
            Ok(())
        },
    },
    Key {
        name: "server.trusted_proxies",
        default: "0",
        allowed: "a whole number from 0 to 10",
        meaning: "How many proxies stand in front of the server. The address of a person is that many entries from the \
                  right in X-Forwarded-For; with 0 the header is not read. Attempts to sign in are counted by it.",
        set: |config, text| {
            config.server.trusted_proxies = usize::try_from(number(text, 0, 10)?).map_err(|_| ())?;
            Ok(())
        },
    },
    Key {
        name: "server.open_metrics",
        default: "false",
        allowed: "true or false",
        meaning: "Whether /metrics may be read from any address without a sign-in; otherwise from this machine only.",
        set: |config, text| text.parse().map(|value| config.server.open_metrics = value).map_err(|_| ()),
    },
];
