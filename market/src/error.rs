//! What is wrong with a snapshot: the field, what it holds, what is allowed.

use std::fmt::Display;

/// A snapshot that cannot be cleared. Its text names the field by its path, what was given and the limit.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{path} {problem}")]
pub struct SnapshotError {
    /// Where, for example `bids[3].alternatives[0].chips`; indices count from 0 in the order given.
    pub path: String,
    /// What was given and what is allowed, for example "is 0; the least is 1".
    pub problem: String,
}

impl SnapshotError {
    pub(crate) fn new(path: impl Into<String>, problem: impl Into<String>) -> Self {
        Self { path: path.into(), problem: problem.into() }
    }

    /// A number above its limit.
    pub(crate) fn above(path: impl Into<String>, given: impl Display, most: impl Display) -> Self {
        Self::new(path, format!("is {given}; the most is {most}"))
    }

    /// A number below its limit.
    pub(crate) fn below(path: impl Into<String>, given: impl Display, least: impl Display) -> Self {
        Self::new(path, format!("is {given}; the least is {least}"))
    }

    /// An id that names nothing in the snapshot.
    pub(crate) fn unknown(path: impl Into<String>, id: impl Display, kind: &str) -> Self {
        Self::new(path, format!("is {id:?}, but no {kind} of the snapshot has this id", id = id.to_string()))
    }

    /// An id given twice.
    pub(crate) fn twice(path: impl Into<String>, id: impl Display) -> Self {
        Self::new(path, format!("is {id:?}, which is given twice", id = id.to_string()))
    }
}
