//! Members signed in as browsers are, so that pages can be loaded as they load them.

use std::io::Write as _;
use std::net::SocketAddr;
use std::path::Path;

use crate::seed::{PASSWORD, login_of};
use crate::{Fault, Member, client};

/// Signs in the first of the members, one after the other, and writes each one's team and cookie.
pub(crate) fn run(server: SocketAddr, members: &[Member], count: usize, cookies: &Path) -> Result<(), Fault> {
    let mut file = std::fs::File::create(cookies)?;
    for (nth, member) in members.iter().take(count).enumerate() {
        let cookie = client::sign_in(server, &login_of(nth), PASSWORD)?;
        writeln!(file, "{} {cookie}", member.team)?;
    }
    println!("{} members signed in", members.len().min(count));
    Ok(())
}
