//! The lab as pages: what can be compared, the runs, and their figures.

mod frontier;
mod plot;
mod result;
mod shadow;
mod start;

pub use frontier::{Frontier, FrontierPoint};
pub use plot::{Line, Point};
pub use result::{Comparison, Drill, Head, LabRunPage, Row, compare, run};
pub use shadow::ShadowPanel;
pub use start::{LabPage, PolicyWords, lab};

use common::api::{LabRun, LabState, LabValues};
use common::words::counted;

/// How far a run is, in words.
fn state_words(run: &LabRun) -> String {
    match run.state {
        LabState::Queued => "waits".to_owned(),
        LabState::Running if run.all == 0 => "reads its trace".to_owned(),
        LabState::Running => format!("{} %", run.done * 100 / run.all),
        LabState::Done => "done".to_owned(),
        LabState::Cancelled => "cancelled".to_owned(),
        LabState::Failed => "failed".to_owned(),
    }
}

/// What a run was made of, in words.
fn request_words(run: &LabRun) -> String {
    let request = &run.request;
    let mut words = vec![format!("seed {}", request.seed)];
    if request.values == LabValues::HeavyTailed {
        words.push("heavy-tailed values".to_owned());
    }
    if let Some(chips) = request.supply {
        words.push(counted(chips, "chip"));
    }
    if request.rounds > 0 {
        words.push(counted(request.rounds.into(), "round"));
    }
    if request.regret_rounds > 0 {
        words.push(format!("misreports on {}", counted(request.regret_rounds.into(), "round")));
    }
    words.join(", ")
}

/// Whether it may still change.
fn is_unfinished(run: &LabRun) -> bool {
    matches!(run.state, LabState::Queued | LabState::Running)
}
