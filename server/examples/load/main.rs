//! Around a load on a server of this machine: a market of 10,000 teams and 100,000 bids, event streams, and whether every
//! acknowledged bid is still there after a kill. The load itself is wrk's, by `pages.lua` and `writes.lua`; docs/PERFORMANCE.md
//! says how it is run.

mod client;
mod lasting;
mod seed;
mod sign_in;
mod streams;

use std::net::SocketAddr;
use std::path::{Path, PathBuf};

use clap::{Parser, Subcommand};

/// What stops a run.
type Fault = Box<dyn std::error::Error + Send + Sync>;

#[derive(Debug, Parser)]
struct Args {
    #[command(subcommand)]
    command: Command,
}

#[derive(Debug, Subcommand)]
enum Command {
    /// Fills an empty database
    Seed {
        /// SQLite file or PostgreSQL URL
        #[arg(long)]
        database: String,
        /// Teams, in 50 pools; the first thousand have a member with a token
        #[arg(long, default_value_t = 10_000)]
        teams: usize,
        /// Live bids
        #[arg(long, default_value_t = 100_000)]
        bids: usize,
        /// File to write the members' tokens to, a team and its token a line
        #[arg(long)]
        tokens: PathBuf,
    },
    /// Signs members in and writes their cookies to a file of the form of the tokens, to load pages with
    SignIn {
        /// The server; it must take cookies over plain HTTP
        #[arg(long, default_value = "127.0.0.1:7920")]
        server: SocketAddr,
        /// File that `seed` wrote
        #[arg(long)]
        tokens: PathBuf,
        /// Members; at most 60, which is what the server lets one address try at once
        #[arg(long, default_value_t = 50)]
        count: usize,
        /// File to write, a team and its member's cookie a line
        #[arg(long)]
        cookies: PathBuf,
    },
    /// Commits single rows to a SQLite file of its own, one after the other: what the disk allows
    Bare {
        /// File to write, in the folder of the market's
        #[arg(long)]
        file: PathBuf,
        /// Seconds to go on; at most 60
        #[arg(long, default_value_t = 5)]
        seconds: u64,
    },
    /// Opens event streams and says when the last of them heard of each cycle
    Streams {
        /// The server
        #[arg(long, default_value = "127.0.0.1:7920")]
        server: SocketAddr,
        /// File that `seed` wrote
        #[arg(long)]
        tokens: PathBuf,
        /// Streams; at most 10,000
        #[arg(long, default_value_t = 5_000)]
        count: usize,
        /// Cycles to wait for; at most 10
        #[arg(long, default_value_t = 3)]
        cycles: usize,
    },
    /// Looks whether every acknowledged bid is in the database
    Check {
        /// SQLite file or PostgreSQL URL
        #[arg(long)]
        database: String,
        /// File that `writes.lua` wrote
        #[arg(long)]
        acknowledged: PathBuf,
    },
}

#[tokio::main]
async fn main() -> Result<(), Fault> {
    match Args::parse().command {
        Command::Seed { database, teams, bids, tokens } => seed::fill(&database, teams, bids, &tokens).await,
        Command::SignIn { server, tokens, count, cookies } => {
            sign_in::run(server, &read_tokens(&tokens)?, count.min(60), &cookies)
        }
        Command::Bare { file, seconds } => lasting::bare(&file, seconds.min(60)).await,
        Command::Streams { server, tokens, count, cycles } => {
            streams::run(server, &read_tokens(&tokens)?, count.min(10_000), cycles.min(10)).await
        }
        Command::Check { database, acknowledged } => lasting::check(&database, &acknowledged).await,
    }
}

/// A member of a team.
#[derive(Clone, Debug)]
struct Member {
    team: String,
    token: String,
}

fn read_tokens(path: &Path) -> Result<Vec<Member>, Fault> {
    let text = std::fs::read_to_string(path)?;
    let member = |line: &str| {
        let (team, token) = line.split_once(' ')?;
        Some(Member { team: team.to_owned(), token: token.to_owned() })
    };
    let members: Vec<Member> = text.lines().filter_map(member).collect();
    if members.is_empty() { Err(format!("{} names no member", path.display()).into()) } else { Ok(members) }
}
