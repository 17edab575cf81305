//! MARA's policy: one node after the other chooses its job, seeing what the nodes before it chose.
//!
//! \[paper\] A cooperative multi-agent autoregressive policy over nodes, guided by foreseen losses, with a potential-based
//! progress reward that keeps the number of tasks in time as the goal. \[recon\] All else: tokens of jobs through one block of
//! attention (64 wide, one head); a decoder with causal attention over the choices so far and attention to the jobs;
//! pointer scores, to which is added what a further node brings a job that holds so many already; jobs that are hopeless
//! or full are masked. Warm start by imitating a greedy that weighs doubt and haste, then proximal policy optimisation.

mod decide;
mod imitate;
mod network;
mod ppo;
pub mod state;
mod train;
mod weights;

pub use decide::Mara;
pub use network::Network;
pub use train::{Plan, Progress, train};
pub use weights::{Provenance, Trained, WeightsError, shipped};
