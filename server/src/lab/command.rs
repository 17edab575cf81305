//! `lab`: comparisons and single policies from the command line; training and evaluation are next door.

use std::io::{BufRead, Write};
use std::path::PathBuf;

use clap::{Args, Subcommand, ValueEnum};
use common::api::{LabRequest, LabResult, LabValues};
use indicatif::{ProgressBar, ProgressStyle};
use policies::catalogue::{Makings, POLICIES, find};
use policies::columns::COLUMNS;
use policies::round::Round;

use super::compare::{Progress, check, compare, no_policy};
use super::figures::{best, comparison_csv};
use super::learning::{self, Evaluate, Train};
use super::{history, traces};
use crate::cli::print;
use crate::config::Config;
use crate::error::{AppError, ErrorKind};
use crate::serve::open;

/// What `lab` is asked.
#[derive(Clone, Debug, Args)]
pub struct LabArgs {
    #[command(subcommand)]
    command: LabCommand,
}

#[derive(Clone, Debug, Subcommand)]
enum LabCommand {
    /// Compare policies on a trace
    Run(RunArgs),
    /// Let one policy share out rounds: JSON lines in, JSON lines out
    ///
    /// Each line of standard input is a round, {"supply": [8], "agents": [{"weight": 1, "demand": [5], "value": [1.0]}]},
    /// and each line of the answer {"chips": [[5]]}: chips by agent, then chip type. docs/POLICIES.md has all fields.
    Allocate(AllocateArgs),
    /// List the policies, with what each does and where it comes from
    Policies,
    /// Train networks by a seed
    Train {
        #[command(subcommand)]
        what: Train,
    },
    /// Measure what was trained, on seeds that training never saw
    Evaluate {
        #[command(subcommand)]
        what: Evaluate,
    },
}

#[derive(Clone, Debug, Args)]
struct RunArgs {
    /// philly, philly-normalised, philly-jobs, chronus, synthetic, or history of the database
    #[arg(long, value_name = "NAME")]
    trace: String,
    /// Policies, separated by commas; `learned@2.5` has a weight of envy [default: all]
    #[arg(long, value_name = "NAMES", value_delimiter = ',')]
    policies: Vec<String>,
    /// The same seed gives the same values, demand and misreports
    #[arg(long, default_value_t = 1)]
    seed: u64,
    /// What a chip-hour is worth where the trace does not tell
    #[arg(long, value_enum, default_value_t = ValuesArg::Uniform)]
    values: ValuesArg,
    /// Chips of each type [default: as the trace has it]
    #[arg(long, value_name = "CHIPS")]
    supply: Option<u64>,
    /// At most so many rounds [default: all]
    #[arg(long, value_name = "ROUNDS", default_value_t = 0, hide_default_value = true)]
    rounds: u32,
    /// Rounds on which misreporting is tried; 0 leaves it out
    #[arg(long, value_name = "ROUNDS", default_value_t = 0)]
    regret_rounds: u32,
    /// Write everything as JSON to a file
    #[arg(long, value_name = "FILE")]
    json: Option<PathBuf>,
    /// Write the figures as CSV to a file
    #[arg(long, value_name = "FILE")]
    csv: Option<PathBuf>,
}

#[derive(Clone, Copy, Debug, ValueEnum)]
enum ValuesArg {
    /// 1 credit for everybody
    Uniform,
    /// Drawn by the seed, with a heavy tail and mean 1
    HeavyTailed,
}

#[derive(Clone, Debug, Args)]
struct AllocateArgs {
    /// The policy's name
    #[arg(long, value_name = "NAME")]
    policy: String,
    /// Credits with which each user of Karma starts
    #[arg(long, value_name = "CREDITS", default_value_t = 1_000_000)]
    karma_credits: u64,
    /// Income of all teams in the market, in credits per chip and hour of supply
    #[arg(long, value_name = "CREDITS", default_value_t = 1.0)]
    income: f64,
}

/// Runs a subcommand.
///
/// # Errors
/// `NotFound`: no such trace. `Invalid`: a policy or number is refused. `MalformedInput`: a line of the input can't be
/// read. `Io`: a file can't be written.
pub async fn run(config: &Config, args: &LabArgs) -> Result<(), AppError> {
    match &args.command {
        LabCommand::Run(args) => compare_on_terminal(config, args).await,
        LabCommand::Allocate(args) => allocate(args),
        LabCommand::Policies => print(&list()),
        LabCommand::Train { what } => tokio::task::block_in_place(|| learning::train(what)),
        LabCommand::Evaluate { what } => tokio::task::block_in_place(|| learning::run_evaluation(what)),
    }
}

fn list() -> String {
    let entry = |entry: &policies::catalogue::Entry| {
        format!("{} ({})\n    {}\n    {}\n", entry.name, entry.title, entry.explanation, entry.source)
    };
    POLICIES.iter().map(entry).collect()
}

struct Bar(ProgressBar);

impl Progress for Bar {
    fn step(&mut self, done: u64, all: u64, policy: &str) -> bool {
        self.0.set_length(all);
        self.0.set_position(done);
        if self.0.message() != policy {
            self.0.set_message(policy.to_owned());
        }
        true
    }
}

async fn compare_on_terminal(config: &Config, args: &RunArgs) -> Result<(), AppError> {
    let request = LabRequest {
        trace: args.trace.clone(),
        policies: args.policies.clone(),
        seed: args.seed,
        values: match args.values {
            ValuesArg::Uniform => LabValues::Uniform,
            ValuesArg::HeavyTailed => LabValues::HeavyTailed,
        },
        supply: args.supply,
        regret_rounds: args.regret_rounds,
        rounds: args.rounds,
    };
    check(&request)?;
    let trace = if request.trace == traces::HISTORY {
        let store = open(&config.database).await?;
        let trace = history::trace(&store, &request).await;
        store.close().await;
        trace?
    } else {
        traces::built_in(&request)?
    };
    let style = ProgressStyle::with_template("{bar:40} {percent} % {msg}, {eta} left");
    let mut bar = Bar(ProgressBar::new(0).with_style(style.map_err(AppError::internal)?));
    let result = tokio::task::block_in_place(|| compare(&trace, &request, &mut bar))?;
    bar.0.finish_and_clear();
    let Some(result) = result else { return Ok(()) };
    let write = |path: &Option<PathBuf>, text: &dyn Fn() -> Result<String, AppError>| {
        let Some(path) = path else { return Ok(()) };
        std::fs::write(path, text()?).map_err(|error| {
            AppError::new(ErrorKind::Io, format!("{} can't be written: {error}", path.display()))
        })
    };
    write(&args.json, &|| serde_json::to_string_pretty(&result).map_err(AppError::internal))?;
    write(&args.csv, &|| comparison_csv(&result).map_err(AppError::internal))?;
    print(&table(&result))
}

/// The comparison as text: a line per policy, the best value of each column with a star.
fn table(result: &LabResult) -> String {
    let columns: Vec<_> = COLUMNS
        .iter()
        .filter(|column| result.policies.iter().any(|policy| policy.measures.contains_key(column.key)))
        .collect();
    let mut text = format!(
        "{}\nValues: {}\n{} rounds of {} h, chips {:?}\n\n{:<20}",
        result.source, result.value_source, result.rounds, result.round_hours, result.supply, "policy"
    );
    for column in &columns {
        text.push_str(&format!("{:>14}", column.title));
    }
    for policy in &result.policies {
        text.push_str(&format!("\n{:<20}", policy.policy));
        if let Some(refusal) = &policy.refusal {
            text.push_str(&format!("  {refusal}"));
            continue;
        }
        for column in &columns {
            let cell = match policy.measures.get(column.key) {
                None => "–".to_owned(),
                Some(value) if column.unit.is_empty() => {
                    format!("{value:.4}{}", if best(result, column, *value) { "*" } else { " " })
                }
                Some(value) => format!("{value:.1} "),
            };
            text.push_str(&format!("{cell:>14}"));
        }
    }
    text.push('\n');
    text
}

fn allocate(args: &AllocateArgs) -> Result<(), AppError> {
    let Some(choice) = find(&args.policy) else {
        return Err(AppError::invalid("policy", no_policy(&args.policy)));
    };
    let makings = Makings { karma_credits: args.karma_credits, income_per_chip_hour: args.income };
    let mut policy = choice.make(&makings);
    let mut rounds: Vec<Round> = Vec::new();
    let mut out = std::io::stdout().lock();
    let knows_all = choice.entry.needs == policies::catalogue::Needs::Future;
    let mut answer = |policy: &mut dyn policies::policy::Policy, line: usize, round: &Round| {
        let allocation =
            policy.allocate(round).map_err(|error| AppError::malformed(format!("line {line}: {error}")))?;
        let json = serde_json::to_string(&allocation).map_err(AppError::internal)?;
        writeln!(out, "{json}")
            .map_err(|error| AppError::new(ErrorKind::Io, format!("the result can't be written: {error}")))
    };
    for (nth, text) in std::io::stdin().lock().lines().enumerate() {
        let line = nth + 1;
        let text = text.map_err(|error| {
            AppError::new(ErrorKind::Io, format!("standard input can't be read: {error}"))
        })?;
        if text.trim().is_empty() {
            continue;
        }
        let round: Round = crate::json::parse(text.as_bytes())
            .map_err(|fault| AppError::malformed(format!("line {line} is no round: {fault}")))?;
        round.check().map_err(|error| AppError::malformed(format!("line {line}: {error}")))?;
        if knows_all {
            rounds.push(round);
        } else {
            answer(policy.as_mut(), line, &round)?;
        }
    }
    // A policy that knows the future answers when it has read all of it.
    policy.foresee(&rounds).map_err(|error| AppError::malformed(error.to_string()))?;
    rounds.iter().enumerate().try_for_each(|(nth, round)| answer(policy.as_mut(), nth + 1, round))
}
