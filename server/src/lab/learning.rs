//! `lab train` and `lab evaluate`: what learns, and how well it does.

use std::path::PathBuf;
use std::process::Command;

use clap::{Args, Subcommand};
use indicatif::{ProgressBar, ProgressStyle};
use policies::sequential::learned::{
    Kind, Provenance, Row, SHIPPED, Trained, WeightsError, evaluate, figures_of, train_all,
};

use super::nodes_command::{self, MaraTraining, NodesEvaluation};
use super::planner_command::{self, PredictorEvaluation, PredictorTraining};
use crate::cli::print;
use crate::error::{AppError, ErrorKind};

/// What is trained.
#[derive(Clone, Debug, Subcommand)]
pub(super) enum Train {
    /// The networks of the learned fair allocator
    Allocator(AllocatorTraining),
    /// The policy that shares out nodes among jobs with deadlines, and its predictor
    Mara(MaraTraining),
    /// The planner's predictor of loss curves: conditional flow matching and its calibration
    Predictor(PredictorTraining),
}

/// What is evaluated.
#[derive(Clone, Debug, Subcommand)]
pub(super) enum Evaluate {
    /// The learned fair allocator and the rules without learning, on ten fresh seeds of 400 instances
    Allocator(AllocatorEvaluation),
    /// All allocators of nodes, on fresh seeds at three loads
    Nodes(NodesEvaluation),
    /// The planner's predictor of loss curves, on curves that it never saw
    Predictor(PredictorEvaluation),
}

/// How the learned fair allocator is trained.
#[derive(Clone, Debug, Args)]
pub(super) struct AllocatorTraining {
    /// The same seed gives the same file, on any number of threads
    #[arg(long)]
    seed: u64,
    /// Where the weights go
    #[arg(long, value_name = "FILE")]
    out: PathBuf,
    /// Threads [default: one per core]
    #[arg(long, value_name = "COUNT")]
    threads: Option<std::num::NonZeroUsize>,
}

/// What of the learned fair allocator is evaluated.
#[derive(Clone, Debug, Args)]
pub(super) struct AllocatorEvaluation {
    /// Files of weights, separated by commas [default: the three that are shipped]
    #[arg(long, value_name = "FILES", value_delimiter = ',')]
    weights: Vec<PathBuf>,
}

/// Trains.
///
/// # Errors
/// `Io`: the file can't be written.
pub(super) fn train(what: &Train) -> Result<(), AppError> {
    match what {
        Train::Allocator(args) => train_allocator(args),
        Train::Mara(args) => nodes_command::train_mara(args),
        Train::Predictor(args) => planner_command::train_predictor(args),
    }
}

/// Evaluates.
///
/// # Errors
/// `Io`: a file can't be read. `MalformedInput`: it holds no weights for this version.
pub(super) fn run_evaluation(what: &Evaluate) -> Result<(), AppError> {
    match what {
        Evaluate::Allocator(args) => evaluate_allocator(args),
        Evaluate::Nodes(args) => nodes_command::evaluate_nodes(args),
        Evaluate::Predictor(args) => planner_command::evaluate_predictor(args),
    }
}

/// A bar on the terminal that says how long it still takes.
pub(super) fn bar(message: &'static str) -> Result<ProgressBar, AppError> {
    let style = ProgressStyle::with_template("{msg} {bar:40} {percent} %, {elapsed}, {eta} left");
    Ok(ProgressBar::new(0).with_style(style.map_err(AppError::internal)?).with_message(message))
}

/// The commit of the working directory, with `-dirty` where something is changed; `unknown` outside of a repository.
pub(super) fn commit() -> String {
    let output = Command::new("git").args(["describe", "--always", "--dirty", "--abbrev=12"]).output();
    let said = output.ok().filter(|output| output.status.success());
    let text = said.map(|output| String::from_utf8_lossy(&output.stdout).trim().to_owned());
    text.filter(|text| !text.is_empty()).unwrap_or_else(|| "unknown".to_owned())
}

fn train_allocator(args: &AllocatorTraining) -> Result<(), AppError> {
    let commit = commit();
    let threads = args.threads.or_else(|| std::thread::available_parallelism().ok());
    let bar = bar("training")?;
    let watch = |done: usize, all: usize| {
        if done.is_multiple_of(50) {
            bar.set_length(all as u64);
            bar.set_position(done as u64);
        }
        true
    };
    let trained = train_all(args.seed, threads.map_or(1, Into::into), &watch);
    let trained = trained.ok_or_else(|| AppError::internal("a thread of the training ended early"))?;
    bar.finish_and_clear();
    let command = format!("quota-marketplace lab train allocator --seed {}", args.seed);
    let mut provenance = Provenance::new(command, args.seed, commit, &trained);
    provenance.figures = figures_of(&trained).map_err(AppError::internal)?;
    let bytes = trained.to_bytes(&provenance).map_err(AppError::internal)?;
    std::fs::write(&args.out, bytes).map_err(|error| {
        AppError::new(ErrorKind::Io, format!("{} can't be written: {error}", args.out.display()))
    })?;
    let mut text = format!("{:<20}{:>6}{:>10}{:>10}{:>10}\n", "rule", "λ", "utility", "envy", "SI loss");
    for figure in provenance.figures.iter().filter(|figure| figure.envy_weight.is_none_or(is_whole)) {
        text.push_str(&format!(
            "{:<20}{:>6}{:>10.4}{:>10.4}{:>10.4}\n",
            figure.title,
            figure.envy_weight.map_or_else(|| "–".to_owned(), |by| by.to_string()),
            figure.utility,
            figure.envy,
            figure.sharing_loss
        ));
    }
    print(&text)
}

fn is_whole(number: f64) -> bool {
    number.fract() == 0.0
}

fn evaluate_allocator(args: &AllocatorEvaluation) -> Result<(), AppError> {
    let mut trainings = Vec::new();
    let broken = |name: &str, error: WeightsError| AppError::malformed(format!("{name}: {error}"));
    if args.weights.is_empty() {
        for bytes in SHIPPED {
            trainings.push(Trained::from_bytes(bytes).map_err(|error| broken("the shipped weights", error))?);
        }
    }
    for file in &args.weights {
        let name = file.display().to_string();
        let bytes = std::fs::read(file)
            .map_err(|error| AppError::new(ErrorKind::Io, format!("{name} can't be read: {error}")))?;
        trainings.push(Trained::from_bytes(&bytes).map_err(|error| broken(&name, error))?);
    }
    let (trained, provenances): (Vec<Trained>, Vec<Provenance>) = trainings.into_iter().unzip();
    let bar = bar("evaluating")?;
    let rows = evaluate(&trained, &mut |done, all| {
        bar.set_length(all as u64);
        bar.set_position(done as u64);
    });
    bar.finish_and_clear();
    print(&evaluation_table(&rows.map_err(AppError::internal)?, &provenances))
}

/// The evaluation as Markdown: means over ten seeds with half of their 95 % intervals.
fn evaluation_table(rows: &[Row], provenances: &[Provenance]) -> String {
    let mut text = "| rule | λ | training seed | utility | over dynamic DRF | worst envy | less dynamic DRF's | SI loss | most SI loss | regret |\n\
                    | --- | ---: | ---: | ---: | ---: | ---: | ---: | ---: | ---: | ---: |\n"
        .to_owned();
    for row in rows {
        let number = |text: Option<String>| text.unwrap_or_default();
        let strict = matches!(row.kind, Kind::Told | Kind::Fixed) && row.most_sharing_loss == 0.0;
        text.push_str(&format!(
            "| {} | {} | {} | {:.4} ± {:.4} | {:+.2} ± {:.2} % | {:.4} ± {:.4} | {:+.4} ± {:.4} | {} | {:.4} | {:.4} ± {:.4} |\n",
            row.title,
            number(row.envy_weight.map(|by| by.to_string())),
            number(row.training.map(|nth| provenances[nth].seed.to_string())),
            row.utility.mean,
            row.utility.half,
            100.0 * row.gain.mean,
            100.0 * row.gain.half,
            row.envy.mean,
            row.envy.half,
            row.envy_change.mean,
            row.envy_change.half,
            if strict { "0 exactly".to_owned() } else { format!("{:.4} ± {:.4}", row.sharing_loss.mean, row.sharing_loss.half) },
            row.most_sharing_loss,
            row.regret.mean,
            row.regret.half,
        ));
    }
    text
}
