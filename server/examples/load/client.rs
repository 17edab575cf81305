//! The ways to a server on this machine: signing in, and streams by the thousand. Anything but this machine is refused: a load
//! test of somebody else's machine is an attack.

use std::net::SocketAddr;

use tokio::io::{AsyncBufReadExt as _, AsyncWriteExt as _, BufReader, Lines};
use tokio::net::TcpStream;
use ureq::Agent;

use crate::Fault;

/// Signs a member in as a browser's form does; the answer is the session's cookie, `name=value`.
pub(crate) fn sign_in(server: SocketAddr, login: &str, password: &str) -> Result<String, Fault> {
    check(server)?;
    let config = Agent::config_builder().http_status_as_error(false).max_redirects(0).build();
    let form = [("login", login), ("password", password), ("next", "/")];
    let answer = Agent::from(config).post(format!("http://{server}/sign-in")).send_form(form)?;
    let cookies = answer.headers().get_all("set-cookie").iter().filter_map(|line| line.to_str().ok());
    let access = cookies.filter_map(|line| line.split(';').next()).find(|pair| pair.contains("qm_access="));
    match access {
        Some(pair) => Ok(pair.to_owned()),
        None => Err(format!("{login} can't sign in: status {}", answer.status()).into()),
    }
}

/// The lines of an event stream as they come. A frame of the transfer is a line of its own among them.
pub(crate) async fn events(server: SocketAddr, token: &str) -> Result<Lines<BufReader<TcpStream>>, Fault> {
    check(server)?;
    let mut stream = TcpStream::connect(server).await?;
    let head =
        format!("GET /api/v1/events HTTP/1.1\r\nhost: {server}\r\nauthorization: Bearer {token}\r\n\r\n");
    stream.write_all(head.as_bytes()).await?;
    let mut lines = BufReader::with_capacity(1_024, stream).lines();
    match lines.next_line().await? {
        Some(status) if status.starts_with("HTTP/1.1 200") => Ok(lines),
        other => Err(format!("no stream: {}", other.unwrap_or_default()).into()),
    }
}

fn check(server: SocketAddr) -> Result<(), Fault> {
    if server.ip().is_loopback() { Ok(()) } else { Err(format!("{server} is not on this machine").into()) }
}
