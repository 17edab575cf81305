//! The lab: allocation policies compared on a trace. Its figures are statistics, so they are numbers and not decimal
//! strings; nobody is billed by them.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::ids::{TeamId, UserId};
use crate::instant::Instant;

/// What a comparison is made of.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(deny_unknown_fields)]
pub struct LabRequest {
    /// `philly`, `philly-normalised`, `philly-jobs`, `chronus`, `history`, `synthetic`, or the name of an uploaded trace.
    pub trace: String,
    /// The policies' names, as in `karma` or, with a weight of envy, `learned@2.5`; all that apply where the list is empty.
    #[serde(default)]
    pub policies: Vec<String>,
    /// The same seed gives the same values, demand and misreports.
    #[serde(default)]
    pub seed: u64,
    /// Where the trace tells no values.
    #[serde(default)]
    pub values: LabValues,
    /// Chips of each type; as the trace has it where absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub supply: Option<u64>,
    /// Rounds on which misreporting is tried, from the first on; 0 leaves it out.
    #[serde(default)]
    pub regret_rounds: u32,
    /// At most so many rounds; 0 is all.
    #[serde(default)]
    pub rounds: u32,
}

/// What a chip-hour is worth where a trace does not tell.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(rename_all = "kebab-case")]
pub enum LabValues {
    /// 1 credit for everybody, always.
    #[default]
    Uniform,
    /// Drawn by the seed for each team and round: Pareto-distributed with tail 2 and mean 1.
    HeavyTailed,
}

/// The figures of a comparison, with all that is needed to understand them.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct LabResult {
    /// What was asked for.
    pub request: LabRequest,
    /// Where demand comes from, with what must be credited.
    pub source: String,
    /// Where values come from.
    pub value_source: String,
    /// Rounds simulated.
    pub rounds: u64,
    /// Length of a round, in hours.
    pub round_hours: f64,
    /// Chips per chip type in the first round.
    pub supply: Vec<u64>,
    /// The chip types.
    pub chip_types: Vec<String>,
    /// The teams, in the order of every list of teams.
    pub teams: Vec<String>,
    /// The most welfare that the trace allows, in credits.
    pub welfare_bound: f64,
    /// Each policy.
    pub policies: Vec<LabPolicy>,
}

/// One policy's figures.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct LabPolicy {
    /// Its name.
    pub policy: String,
    /// Its name for people.
    pub title: String,
    /// What it does, in two sentences.
    pub explanation: String,
    /// Where it comes from.
    pub source: String,
    /// Why there are no figures: it does not apply to the trace.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub refusal: Option<String>,
    /// Figures by name; one that can't be told is absent.
    #[serde(default)]
    pub measures: BTreeMap<String, f64>,
    /// Each team's figures.
    #[serde(default)]
    pub teams: Vec<LabTeam>,
    /// Part of the chips used over time: means of equal stretches of the trace.
    #[serde(default)]
    pub utilisation: Vec<f64>,
    /// Chips used by each team over the same stretches, all chip types together.
    #[serde(default)]
    pub used: Vec<Vec<f64>>,
}

/// One team under one policy.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct LabTeam {
    /// Chip-hours asked for.
    pub asked: f64,
    /// Chip-hours used.
    pub used: f64,
    /// Value asked for, in credits.
    pub wanted: f64,
    /// Value got, in credits.
    pub got: f64,
    /// Value got over value asked for.
    pub welfare: f64,
    /// Value that a static share would have given, in credits; absent where demand waits.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub static_got: Option<f64>,
    /// The team whose chips it would rather have.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub envies: Option<String>,
    /// By how much of the value it asked for.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub envy: Option<f64>,
    /// The most it was found to gain by misreporting, over the value it asked for.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub regret: Option<f64>,
    /// Its mean price over the market's.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub price_ratio: Option<f64>,
    /// Credits paid.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub paid: Option<f64>,
    /// Credits earned.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub earned: Option<f64>,
}

/// How far a run is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(rename_all = "snake_case")]
pub enum LabState {
    /// It waits for the one before it.
    Queued,
    /// It is computed.
    Running,
    /// It has a result.
    Done,
    /// It was cancelled.
    Cancelled,
    /// It could not be computed; `problem` says why.
    Failed,
}

/// A run of the lab.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct LabRun {
    /// Its id.
    pub id: String,
    /// What was asked for.
    pub request: LabRequest,
    /// How far it is.
    pub state: LabState,
    /// Steps done.
    pub done: u64,
    /// Steps in all; 0 before it is known.
    pub all: u64,
    /// When it was started.
    pub created_at: Instant,
    /// Who started it.
    pub created_by: UserId,
    /// Display name of who started it.
    pub created_by_name: String,
    /// When it ended.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub finished_at: Option<Instant>,
    /// Why it failed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub problem: Option<String>,
}

/// A run with its figures.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct LabRunView {
    /// The run.
    pub run: LabRun,
    /// Its figures; absent until it is done.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub result: Option<LabResult>,
}

/// What the policies in shadow would have given over the last day, beside what the market granted.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct ShadowView {
    /// From when on.
    pub since: Instant,
    /// Those that run now.
    pub running: Vec<String>,
    /// Each policy with steps since then.
    pub policies: Vec<ShadowPolicy>,
}

/// One policy in shadow.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct ShadowPolicy {
    /// Its name.
    pub policy: String,
    /// Its name for people.
    pub title: String,
    /// Accounting steps that the means are of.
    pub steps: u64,
    /// Its last cycle.
    pub last_cycle: u64,
    /// Each team that asked for chips, in order of their ids.
    pub teams: Vec<ShadowTeamView>,
}

/// One team under one policy in shadow: means over the steps in thousandths of a chip, all chip types together.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct ShadowTeamView {
    /// The team.
    pub team: TeamId,
    /// Chips asked for at any price.
    pub asked_milli: u64,
    /// Chips that the market granted.
    pub granted_milli: u64,
    /// Chips that the policy would have given.
    pub given_milli: u64,
}

/// Which policies run in shadow.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(deny_unknown_fields)]
pub struct ShadowChoice {
    /// Their names, as in `karma` or, with a weight of envy, `learned@2.5`; none ends them all.
    pub policies: Vec<String>,
}
