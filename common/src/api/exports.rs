//! Exports: which there are, what their columns mean, and the jobs that make long ones.

use serde::{Deserialize, Serialize};

use crate::instant::Instant;
use crate::money::MicroCredits;

/// An export that can be asked for.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct ExportView {
    /// Its name in addresses.
    pub name: String,
    /// What it is, in a few words.
    pub title: String,
    /// What a row of it is, and whose rows a reader gets.
    pub meaning: String,
    /// Its columns, in their order.
    pub columns: Vec<ExportColumn>,
    /// Columns that can be added after them.
    pub extra_columns: Vec<ExportColumn>,
}

/// A column of an export.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct ExportColumn {
    /// Its name; a unit stands last in it.
    pub name: String,
    /// What its cells hold, in words.
    pub kind: String,
    /// What it means.
    pub meaning: String,
}

/// What a credit is worth in an ISO currency.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct CreditValueView {
    /// ISO 4217 code of the currency.
    pub currency: String,
    /// What a credit is worth in it.
    pub value: MicroCredits,
    /// The start of the first month that it holds in; it holds for earlier ones as well where none was set before.
    pub holds_from: Instant,
}

/// A new value of a credit, and why.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(deny_unknown_fields)]
pub struct NewCreditValue {
    /// ISO 4217 code of the currency.
    pub currency: String,
    /// What a credit is worth in it, above 0.
    pub value: MicroCredits,
    /// Why; the audit log keeps it.
    pub reason: String,
}

/// How far long work is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(rename_all = "snake_case")]
pub enum JobState {
    /// It waits for its turn.
    Waiting,
    /// It is under way.
    Running,
    /// It is finished.
    Done,
    /// Somebody gave it up.
    Cancelled,
    /// It could not be finished; `error` says why.
    Failed,
}

impl JobState {
    /// All states.
    pub const ALL: [Self; 5] = [Self::Waiting, Self::Running, Self::Done, Self::Cancelled, Self::Failed];

    /// The state as it is stored and shown.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Waiting => "waiting",
            Self::Running => "running",
            Self::Done => "done",
            Self::Cancelled => "cancelled",
            Self::Failed => "failed",
        }
    }

    /// Whether it goes on.
    #[must_use]
    pub const fn is_open(self) -> bool {
        matches!(self, Self::Waiting | Self::Running)
    }
}

/// Long work in the background.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct JobView {
    /// The job.
    pub id: String,
    /// What it does: `export` or `reconciliation`.
    pub kind: String,
    /// What it makes, in words.
    pub title: String,
    /// Display name of whoever asked for it.
    pub user_name: String,
    /// How far it is.
    pub state: JobState,
    /// How much of it is done, in whole percents.
    pub percent: u64,
    /// Rows so far.
    pub rows: u64,
    /// About how many rows there will be; of what is done, how many there are.
    pub expected_rows: u64,
    /// Bytes of its file so far.
    pub bytes: u64,
    /// When it was asked for.
    pub made_at: Instant,
    /// When it ended.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ended_at: Option<Instant>,
    /// Why it failed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub error: Option<String>,
    /// Address of its file, while there is one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub file: Option<String>,
}
