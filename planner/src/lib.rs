//! How much a training job still needs until its loss reaches a target, and which job gets the next node.
//!
//! [`log`] is what a job has seen so far; a [`Predictor`](forecast::Predictor) in [`predict`] turns it into a
//! [`Forecast`](forecast::Forecast) of the data that is left; [`nodes`] shares out nodes among jobs with deadlines.
//! Pure functions: no I/O and no clock; what is random takes a seed. Nobody is billed by a number of this crate, so it
//! may use floating point.
//!
//! After *MARA: Flow-Matching-Guided Multi-Agent Resource Allocation for Computational Resource Efficient Learning*
//! (arXiv 2608.09130), LARA (ICML 2024) and LaiRA (AAAI-26); each module says what their texts state and what is
//! reconstructed here.

pub mod curves;
pub mod forecast;
pub mod log;
pub mod nodes;
pub mod predict;
mod random;
