//! What every policy can do, and why one may refuse.

use crate::market_policy::Spending;
use crate::round::{Allocation, Round, RoundError};

/// Why a policy gives no allocation.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum PolicyError {
    /// The round has a field outside its limits.
    #[error(transparent)]
    Round(#[from] RoundError),
    /// The policy can't be used on such a trace.
    #[error("{policy} does not apply: {reason}")]
    DoesNotApply {
        /// The policy's name.
        policy: &'static str,
        /// What it needs that the trace has not.
        reason: String,
    },
    /// A program that the policy solves has no solution, or the solver gave up: a fault of this crate.
    #[error("{policy} found no solution: {reason}")]
    Unsolved {
        /// The policy's name.
        policy: &'static str,
        /// What the solver said.
        reason: String,
    },
}

/// A way to share out chips, round after round.
pub trait Policy: Send {
    /// Shares out one round's chips. Rounds come in order; a policy with a memory carries it from one to the next.
    ///
    /// # Errors
    /// The policy does not apply to the round, or can't solve it.
    fn allocate(&mut self, round: &Round) -> Result<Allocation, PolicyError>;

    /// Lets a policy that knows the future look at all rounds before the first. Others ignore it.
    ///
    /// # Errors
    /// As [`Policy::allocate`].
    fn foresee(&mut self, _rounds: &[Round]) -> Result<(), PolicyError> {
        Ok(())
    }

    /// What agents earned and paid so far, where the policy has money.
    fn spending(&self) -> Option<&[Spending]> {
        None
    }
}
