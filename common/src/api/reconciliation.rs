//! Reconciliations: whether the money adds up.

use serde::{Deserialize, Serialize};

use super::JobView;
use crate::ids::TeamId;
use crate::money::MicroCredits;

/// A reconciliation: who asked for it and when, of what, and what it found.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct ReconciliationView {
    /// How far it is.
    pub job: JobView,
    /// The period that was asked for; absent where it was everything.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub period: Option<String>,
    /// The first cycle.
    pub from_cycle: u64,
    /// The last cycle.
    pub to_cycle: u64,
    /// A row per check, once it is done.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub figures: Option<Vec<FigureView>>,
}

/// What a check compared and found.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct FigureView {
    /// The check: `sums`, `balances`, `chain`, `occupancy`, `supply` or `roll-ups`.
    pub check: String,
    /// How many rows it compared.
    pub compared: u64,
    /// The sum over them in credits; absent where none is meant.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub total: Option<MicroCredits>,
    /// How many of them do not match: 0 where all is right.
    pub off: u64,
    /// By how many credits in all; absent where it is no amount.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub difference: Option<MicroCredits>,
    /// The first one that does not match, in words.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub offender: Option<String>,
    /// Its cycle, where it belongs to one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub offending_cycle: Option<u64>,
    /// Its transfer, where it is about one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub offending_transfer: Option<u64>,
    /// A team in that transfer.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub offending_team: Option<TeamId>,
}
