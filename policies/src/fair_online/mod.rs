//! Fair online allocation: batches of agents, facilities of limited capacity, and like outcomes for like agents.
//!
//! After *Fair Online Resource Allocation* (arXiv 2606.18679). \[paper\]: agents arrive in batches and are assigned to
//! facilities; similar agents of a batch get similar expected outcomes (Lipschitz); dual mirror descent with fairness
//! enforced within batches. \[recon\]: the program, step sizes, rounding and regulariser below; the paper's direction of its
//! fairness parameter is not known to us, so ours is called L: smaller is stricter.

mod duals;
mod program;
mod rounding;
mod setting;
mod teams;

pub use duals::{Duals, Update, project};
pub use program::{Batch, Certificate, Member, TightPair, certificate, fractions};
pub use rounding::round_dependently;
pub use setting::{Course, Outcome, Setting, bound, greedy, run};
pub use teams::FairTeams;
