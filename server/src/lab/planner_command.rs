//! `lab train predictor` and `lab evaluate predictor`: the planner's learned parts, trained and measured.

use std::path::{Path, PathBuf};

use clap::Args;
use planner::forecast::ForecastError;
use planner::predict::evaluate::{self, Figure};
use planner::predict::{FlowPredictor, Plan, Provenance};

use super::learning::{bar, commit};
use crate::cli::print;
use crate::error::{AppError, ErrorKind};

/// How the predictor is trained.
#[derive(Clone, Debug, Args)]
pub(super) struct PredictorTraining {
    /// The same seed gives the same weights on the same machine
    #[arg(long, default_value_t = Plan::SHIPPED.seed)]
    seed: u64,
    /// Steps of the optimiser
    #[arg(long, default_value_t = Plan::SHIPPED.steps)]
    steps: usize,
    /// Curves per step
    #[arg(long, default_value_t = Plan::SHIPPED.batch)]
    batch: usize,
    /// Where the weights are written
    #[arg(long, value_name = "FILE", default_value = "predictor.safetensors")]
    out: PathBuf,
}

/// What the predictor is measured on.
#[derive(Clone, Debug, Args)]
pub(super) struct PredictorEvaluation {
    /// Weights to measure [default: those that are built in]
    #[arg(long, value_name = "FILE")]
    weights: Option<PathBuf>,
    /// First seed; none of them is a seed of the training
    #[arg(long, default_value_t = 2_001)]
    first_seed: u64,
    /// Seeds, each with fresh curves
    #[arg(long, default_value_t = 10, value_parser = clap::value_parser!(u64).range(2..=100))]
    seeds: u64,
    /// Curves of each family and seed
    #[arg(long, default_value_t = 200, value_parser = clap::value_parser!(u64).range(10..=100_000))]
    tasks: u64,
}

fn refused(error: ForecastError) -> AppError {
    match error {
        ForecastError::Weights(why) => AppError::malformed(format!("the weights cannot be used: {why}")),
        other => AppError::internal(other),
    }
}

fn write(path: &Path, bytes: &[u8]) -> Result<(), AppError> {
    std::fs::write(path, bytes).map_err(|error| {
        AppError::new(ErrorKind::Io, format!("{} can't be written: {error}", path.display()))
    })
}

/// Trains.
///
/// # Errors
/// `Io`: the weights can't be written.
pub(super) fn train_predictor(args: &PredictorTraining) -> Result<(), AppError> {
    let plan = Plan { seed: args.seed, steps: args.steps, batch: args.batch, ..Plan::SHIPPED };
    let command = format!(
        "quota-marketplace lab train predictor --seed {} --steps {} --batch {}",
        args.seed, args.steps, args.batch
    );
    let bar = bar("training")?;
    bar.set_length(args.steps as u64);
    let mut mean = None;
    let trained = FlowPredictor::train(plan, Provenance::of(plan, command, commit()), &mut |step, loss| {
        // A running mean over about a hundred steps: one batch alone says little.
        let smooth = mean.map_or(loss, |mean: f64| 0.99 * mean + 0.01 * loss);
        mean = Some(smooth);
        bar.set_position(step as u64);
        bar.set_message(format!("training, error of the velocity {smooth:.4},"));
    });
    bar.finish_and_clear();
    let bytes = trained.and_then(|predictor| predictor.to_bytes()).map_err(refused)?;
    write(&args.out, &bytes)?;
    let smooth = mean.unwrap_or(f64::NAN);
    print(&format!("{} written; error of the velocity {smooth:.4}\n", args.out.display()))
}

/// Evaluates.
///
/// # Errors
/// `Io`: the weights can't be read. `MalformedInput`: they can't be used.
pub(super) fn evaluate_predictor(args: &PredictorEvaluation) -> Result<(), AppError> {
    let predictor = match &args.weights {
        None => FlowPredictor::built_in(),
        Some(path) => {
            let bytes = std::fs::read(path).map_err(|error| {
                AppError::new(ErrorKind::Io, format!("{} can't be read: {error}", path.display()))
            })?;
            FlowPredictor::from_bytes(&bytes)
        }
    };
    let predictor = predictor.map_err(refused)?;
    let bar = bar("evaluating")?;
    bar.set_length(args.seeds);
    let mut scores = Vec::new();
    for seed in args.first_seed..args.first_seed + args.seeds {
        scores.push(evaluate::one_seed(&predictor, args.tasks as usize, seed).map_err(refused)?);
        bar.inc(1);
    }
    bar.finish_and_clear();
    let provenance = predictor.provenance();
    let mut text = format!(
        "weights: {} at commit {}\n{} seeds from {}, {} curves of each family and seed; mean and 95 % interval of a mean\n\n",
        provenance.command, provenance.commit, args.seeds, args.first_seed, args.tasks
    );
    text.push_str("| curves | WLS error | offset power error | flow error | of WLS's | coverage 10–90 % | later than P90 | flagged | Brier |\n");
    text.push_str("| --- | --- | --- | --- | --- | --- | --- | --- | --- |\n");
    for row in evaluate::summary(&scores) {
        // The median of the offset power law's misses is infinite where it says "never" of most curves.
        let cell = |figure: &Figure| match figure.mean.is_finite() {
            true => format!("{:.3} ± {:.3}", figure.mean, figure.interval),
            false => "∞".to_owned(),
        };
        let cells: Vec<String> = row.figures().iter().map(cell).collect();
        text.push_str(&format!("| {} | {} |\n", row.name, cells.join(" | ")));
    }
    print(&text)
}
