//! `lab train mara` and `lab evaluate nodes`: who gets the nodes, learned and measured.

use std::path::PathBuf;

use clap::Args;
use planner::nodes::evaluate::{Row, Rule, evaluate};
use planner::nodes::mara::{Plan, Provenance, Trained, shipped, train};

use super::learning::{bar, commit};
use crate::cli::print;
use crate::error::{AppError, ErrorKind};

/// Loads of the table; the policy is trained at 1 alone.
const LOADS: [f64; 3] = [0.7, 1.0, 1.4];

/// How the policy is trained.
#[derive(Clone, Debug, Args)]
pub(super) struct MaraTraining {
    /// The same seed gives the same weights on the same machine
    #[arg(long)]
    seed: u64,
    /// Where the weights go
    #[arg(long, value_name = "FILE", default_value = "nodes.safetensors")]
    out: PathBuf,
}

/// What is measured.
#[derive(Clone, Debug, Args)]
pub(super) struct NodesEvaluation {
    /// Weights to measure [default: those that are built in]
    #[arg(long, value_name = "FILE")]
    weights: Option<PathBuf>,
    /// Fresh seeds
    #[arg(long, default_value_t = 10, value_parser = clap::value_parser!(u64).range(2..=100))]
    seeds: u64,
    /// Simulations of each seed and load
    #[arg(long, default_value_t = 10, value_parser = clap::value_parser!(u64).range(1..=1_000))]
    simulations: u64,
}

/// Trains, measures on fresh seeds, and writes the weights with both.
///
/// # Errors
/// `Io`: the weights can't be written.
pub(super) fn train_mara(args: &MaraTraining) -> Result<(), AppError> {
    let progress = bar("training")?;
    let trained = train(args.seed, &Plan::default(), &mut |what, done, all| {
        progress.set_message(what);
        progress.set_length(all as u64);
        progress.set_position(done as u64);
    });
    progress.finish_and_clear();
    let trained = trained.map_err(AppError::internal)?;
    let command = format!("quota-marketplace lab train mara --seed {}", args.seed);
    let mut provenance = Provenance::new(command, args.seed, commit());
    provenance.figures = measured(&trained, [10, 2])?;
    let bytes = trained.to_bytes(&provenance).map_err(AppError::internal)?;
    std::fs::write(&args.out, bytes).map_err(|error| {
        AppError::new(ErrorKind::Io, format!("{} can't be written: {error}", args.out.display()))
    })?;
    print(&table(&provenance.figures))
}

/// Measures all allocators.
///
/// # Errors
/// `Io`: the weights can't be read. `MalformedInput`: they can't be used.
pub(super) fn evaluate_nodes(args: &NodesEvaluation) -> Result<(), AppError> {
    let loaded = match &args.weights {
        None => shipped(),
        Some(path) => {
            let bytes = std::fs::read(path).map_err(|error| {
                AppError::new(ErrorKind::Io, format!("{} can't be read: {error}", path.display()))
            })?;
            Trained::from_bytes(&bytes)
        }
    };
    let (trained, provenance) = loaded.map_err(|error| AppError::malformed(error.to_string()))?;
    let rows = measured(&trained, [args.seeds as usize, args.simulations as usize])?;
    print(&format!(
        "weights: {} at commit {}\n{} fresh seeds of {} simulations; jobs done in time in %, mean and 95 % interval\n\n{}",
        provenance.command,
        provenance.commit,
        args.seeds,
        args.simulations,
        table(&rows)
    ))
}

fn measured(trained: &Trained, amount: [usize; 2]) -> Result<Vec<Row>, AppError> {
    let progress = bar("evaluating")?;
    let rows = evaluate(trained, &Rule::ALL, &LOADS, amount, &mut |done, all| {
        progress.set_length(all as u64);
        progress.set_position(done as u64);
    });
    progress.finish_and_clear();
    rows.map_err(AppError::internal)
}

/// The evaluation as Markdown.
fn table(rows: &[Row]) -> String {
    let mut text =
        "| allocator | load | in time | over LARA | MARA over it |\n| --- | ---: | ---: | ---: | ---: |\n"
            .to_owned();
    for row in rows {
        text.push_str(&format!(
            "| {} | {} | {:.1} ± {:.1} | {:+.1} ± {:.1} | {:+.1} ± {:.1} |\n",
            row.rule.title(),
            row.load,
            row.mean,
            row.half,
            row.ahead[0],
            row.ahead[1],
            row.behind[0],
            row.behind[1],
        ));
    }
    text
}
