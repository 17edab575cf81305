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
}

impl ServerConfig {
    pub(super) const fn unset() -> Self {
        Self {
            listen: SocketAddr::new(std::net::IpAddr::V4(std::net::Ipv4Addr::LOCALHOST), 0),
            request_timeout: Duration::ZERO,
            shutdown_timeout: Duration::ZERO,
            max_body_bytes: 0,
            max_streams: 0,
        }
    }
}

pub(super) const KEYS: &[Key] = &[
    Key {
        name: "server.listen",
        default: "127.0.0.1:7878",
        allowed: "an address and a port, such as 127.0.0.1:7878 or [::1]:7878; port 0 takes a free one",
        meaning: "Where the server listens. There is no sign-in yet: keep it on the loopback address, or behind a \
                  proxy that decides who may come in.",
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
];
