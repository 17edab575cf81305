//! The command line: what can be asked of the program, and the exit code it ends with.

use std::path::PathBuf;
use std::process::ExitCode;

use clap::{Args, Parser, Subcommand};

use crate::clear;
use crate::commands;
use crate::config::{self, Config, Sources};
use crate::demo::DemoArgs;
use crate::error::AppError;
use crate::lab::command::LabArgs;
use crate::replay::ReplayArgs;
use crate::trace::library::ImportArgs;
use crate::{http, lab, logging, serve};

/// A quota marketplace for ML training chips.
///
/// Each minute every chip goes to whoever bids most for it, within budgets that the organisation sets. One program:
/// it keeps the history in a SQLite file or in PostgreSQL, clears the market in cycles, and shows it in a browser.
#[derive(Debug, Parser)]
#[command(name = "quota-marketplace", version, after_help = EXAMPLES)]
pub struct Cli {
    #[command(flatten)]
    settings: Settings,
    #[command(subcommand)]
    command: Command,
}

const EXAMPLES: &str = "\
Examples:
  quota-marketplace demo --database demo.sqlite
      a market made from a real cluster's history, at http://127.0.0.1:7878
  quota-marketplace serve
      the market of ./quota-marketplace.sqlite; it prints a link for the first admin
  quota-marketplace clear market.json
      one clearing by hand, from a file
  quota-marketplace config > quota-marketplace.toml
      a file of all settings, to change

Exit codes:
   0  done
   1  verify found a difference
   2  wrong use of the command line
  65  input can't be read or is refused
  66  no such file, trace or cycle
  69  the port or the database can't be had
  70  a fault of this program
  74  a file or stream can't be read or written
  76  the database is of another version
  78  a setting can't be used";

/// Settings that every command takes.
#[derive(Debug, Args)]
struct Settings {
    /// Configuration file [default: ./quota-marketplace.toml where it exists]
    #[arg(
        long,
        global = true,
        value_name = "FILE",
        env = "QUOTA_MARKETPLACE_CONFIG",
        help_heading = "Settings"
    )]
    config: Option<PathBuf>,
    /// Database: a file's path or postgres://USER:PASSWORD@HOST/DATABASE [default: quota-marketplace.sqlite]
    #[arg(long, global = true, value_name = "URL", help_heading = "Settings")]
    database: Option<String>,
    /// Form of the log: text or json
    #[arg(long, global = true, value_name = "FORMAT", help_heading = "Settings")]
    log_format: Option<String>,
    /// Which events are logged: error, warn, info, debug, trace, or levels per module
    #[arg(long, global = true, value_name = "FILTER", help_heading = "Settings")]
    log: Option<String>,
    /// Any other setting; `quota-marketplace config` lists them
    #[arg(long = "set", global = true, value_name = "SECTION.KEY=VALUE", help_heading = "Settings")]
    set: Vec<String>,
}

#[derive(Debug, Subcommand)]
enum Command {
    /// Set up a market from a real cluster's history, and play it on in a browser
    Demo {
        #[command(flatten)]
        listen: ListenArgs,
        #[command(flatten)]
        demo: DemoArgs,
    },
    /// Run the market of the database and show it in a browser
    Serve(ListenArgs),
    /// Clear all stored cycles again and check the ledger; says what differs
    Verify(commands::VerifyArgs),
    /// Run months of a trace through the market in memory, beside static pools of the same supply
    Replay(ReplayArgs),
    /// Compare allocation policies on a trace, or let one share out rounds
    Lab(LabArgs),
    /// Import an organisation's own job history
    Import(ImportArgs),
    /// Bring the database's tables up to this version, and do nothing else
    Migrate,
    /// Print a link that makes an admin's account, once and within a day
    AdminLink,
    /// Clear one market from a JSON file and print the outcome
    Clear(clear::ClearArgs),
    /// Print the OpenAPI document of the REST API
    Openapi,
    /// Print the default configuration file with every key explained
    Config,
}

#[derive(Debug, Args)]
struct ListenArgs {
    /// Address and port [default: 127.0.0.1:7878]
    #[arg(long, value_name = "ADDRESS:PORT")]
    listen: Option<String>,
}

impl Settings {
    /// All sources of settings, with the flags of the command last.
    fn load(&self, listen: Option<&String>) -> Result<Config, AppError> {
        let mut flags = Vec::new();
        for (flag, name, value) in [
            ("--database", "database.url", self.database.as_ref()),
            ("--log-format", "log.format", self.log_format.as_ref()),
            ("--log", "log.filter", self.log.as_ref()),
            ("--listen", "server.listen", listen),
        ] {
            if let Some(value) = value {
                flags.push((flag, name.to_owned(), value.clone()));
            }
        }
        for setting in &self.set {
            let (name, value) = setting.split_once('=').ok_or_else(|| {
                AppError::config(format!(
                    "--set {setting:?} has no \"=\"; write it like --set server.max_streams=10"
                ))
            })?;
            flags.push(("--set", name.to_owned(), value.to_owned()));
        }
        let environment = std::env::vars_os()
            .filter_map(|(name, value)| {
                Some((name.into_string().ok()?, value.to_string_lossy().into_owned()))
            })
            .collect();
        Config::load(&Sources { file: self.config.as_deref(), environment, flags })
    }
}

/// Reads the command line, does what it says, and reports a fault on standard error.
#[must_use]
pub fn main() -> ExitCode {
    let cli = Cli::parse();
    match run(cli) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("error: {error}");
            let context = error.private_context();
            if !context.is_empty() {
                eprintln!("cause: {context}");
            }
            ExitCode::from(error.exit_code())
        }
    }
}

fn run(cli: Cli) -> Result<(), AppError> {
    let Cli { settings, command } = cli;
    match command {
        Command::Config => print(&config::default_file()),
        Command::Openapi => print(&http::openapi_json()),
        Command::Clear(args) => clear::run(&args),
        Command::Demo { listen, demo } => with_config(&settings, listen.listen.as_ref(), async |config| {
            serve::run_demo(config, &demo).await
        }),
        Command::Serve(args) => {
            with_config(&settings, args.listen.as_ref(), async |config| serve::run(config).await)
        }
        Command::AdminLink => with_config(&settings, None, async |config| commands::admin_link(config).await),
        Command::Migrate => with_config(&settings, None, async |config| commands::migrate(config).await),
        Command::Verify(args) => {
            with_config(&settings, None, async |config| commands::verify(config, &args).await)
        }
        Command::Import(args) => {
            with_config(&settings, None, async |config| commands::import(config, &args).await)
        }
        Command::Lab(args) => {
            with_config(&settings, None, async |config| lab::command::run(config, &args).await)
        }
        Command::Replay(args) => {
            with_config(&settings, None, async |config| commands::replay(config, &args).await)
        }
    }
}

/// Loads the settings, starts the log and runs a command.
fn with_config(
    settings: &Settings,
    listen: Option<&String>,
    command: impl AsyncFnOnce(&Config) -> Result<(), AppError>,
) -> Result<(), AppError> {
    let config = settings.load(listen)?;
    logging::start(&config.log)?;
    block_on(command(&config))
}

/// Writes a command's result; a reader that went away (`| head`) is no fault.
pub(crate) fn print(text: &str) -> Result<(), AppError> {
    use std::io::Write;
    match std::io::stdout().lock().write_all(text.as_bytes()) {
        Err(error) if error.kind() != std::io::ErrorKind::BrokenPipe => {
            Err(AppError::new(crate::error::ErrorKind::Io, format!("the result can't be written: {error}")))
        }
        _ => Ok(()),
    }
}

/// Runs a command on a runtime. Pages are rendered on its workers, and a page that waits for data must not keep the
/// services from answering: so at least four of them.
fn block_on<F: Future<Output = Result<(), AppError>>>(command: F) -> Result<(), AppError> {
    let cores = std::thread::available_parallelism().map_or(4, std::num::NonZero::get);
    tokio::runtime::Builder::new_multi_thread()
        .worker_threads(cores.max(4))
        .enable_all()
        .build()
        .map_err(AppError::internal)?
        .block_on(command)
}
