//! What a policy sees and what it answers: one round of demand, one allocation of whole chips.

use serde::{Deserialize, Serialize};

/// Most chips of one demand or supply: sums over a million agents stay exact in 64-bit integers and in floats.
pub const MAX_CHIPS: u64 = 1_000_000_000;

/// Most agents of a round.
pub const MAX_AGENTS: usize = 1_000_000;

/// Most chip types of a round.
pub const MAX_CHIP_TYPES: usize = 1_024;

/// An agent (team) in a round.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Agent {
    /// Its part of what is shared out, relative to the other agents'; above 0.
    #[serde(default = "one")]
    pub weight: f64,
    /// Chips it can use, per chip type.
    pub demand: Vec<u64>,
    /// What a chip-hour is worth to it, per chip type, in credits; at least 0. Left out: 1 each.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub value: Vec<f64>,
}

const fn one() -> f64 {
    1.0
}

/// A job that runs on all its chips at once or not at all.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Gang {
    /// Names the job from round to round.
    pub job: u64,
    /// Index of its agent.
    pub agent: usize,
    /// Index of its chip type.
    pub chip_type: usize,
    /// Chips it needs, at least 1.
    pub chips: u64,
    /// Rounds it still has to run, this one included; at least 1.
    pub rounds_left: u64,
    /// Value of a chip-hour to it, in credits.
    pub value: f64,
}

/// One round: supply, and what each agent could use.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Round {
    /// How long it lasts, in hours.
    #[serde(default = "one")]
    pub hours: f64,
    /// Chips there are, per chip type.
    pub supply: Vec<u64>,
    /// The agents; each keeps its place from round to round, and a new one comes last.
    pub agents: Vec<Agent>,
    /// The jobs behind the demand in order of submission, where they are known.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub gangs: Vec<Gang>,
}

/// Chips per agent and chip type.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Allocation {
    /// Whole chips by agent, then chip type.
    pub chips: Vec<Vec<u64>>,
    /// What a chip-hour cost, per chip type, in credits; empty where the policy has no prices.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub prices: Vec<f64>,
    /// The jobs that run, where the policy starts jobs itself; otherwise each agent decides.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub jobs: Vec<u64>,
}

/// Why a round can't be allocated.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{path} {reason}")]
pub struct RoundError {
    /// The field at fault, such as `agents[3].demand[0]`.
    pub path: String,
    /// What is wrong with it and what would be right.
    pub reason: String,
}

impl RoundError {
    pub(crate) fn new(path: impl Into<String>, reason: impl Into<String>) -> Self {
        Self { path: path.into(), reason: reason.into() }
    }
}

impl Agent {
    /// What a chip-hour of a type is worth to it, in credits.
    #[must_use]
    pub fn value_of(&self, chip_type: usize) -> f64 {
        self.value.get(chip_type).copied().unwrap_or(1.0)
    }
}

impl Round {
    /// Checks every number once, so that no policy has to.
    ///
    /// # Errors
    /// The first field outside its limits.
    pub fn check(&self) -> Result<(), RoundError> {
        if !(self.hours > 0.0 && self.hours <= 8_784.0) {
            return Err(RoundError::new("hours", format!("is {}; a round lasts up to a year", self.hours)));
        }
        if self.supply.is_empty() || self.supply.len() > MAX_CHIP_TYPES {
            let reason = format!("has {} chip types; it must be 1 to {MAX_CHIP_TYPES}", self.supply.len());
            return Err(RoundError::new("supply", reason));
        }
        if self.agents.len() > MAX_AGENTS {
            let reason = format!("has {} agents; the most is {MAX_AGENTS}", self.agents.len());
            return Err(RoundError::new("agents", reason));
        }
        check_chips("supply", &self.supply)?;
        self.agents.iter().enumerate().try_for_each(|(nth, agent)| self.check_agent(nth, agent))?;
        self.gangs.iter().enumerate().try_for_each(|(nth, gang)| self.check_gang(nth, gang))
    }

    fn check_agent(&self, nth: usize, agent: &Agent) -> Result<(), RoundError> {
        let path = |field: &str| format!("agents[{nth}].{field}");
        if !(agent.weight > 0.0 && agent.weight <= 1e9) {
            let reason = format!("is {}; a weight is above 0 and at most 1e9", agent.weight);
            return Err(RoundError::new(path("weight"), reason));
        }
        if agent.demand.len() != self.supply.len() {
            let (has, must) = (agent.demand.len(), self.supply.len());
            return Err(RoundError::new(path("demand"), format!("has {has} numbers; supply has {must}")));
        }
        check_chips(&path("demand"), &agent.demand)?;
        if !agent.value.is_empty() && agent.value.len() != self.supply.len() {
            let (has, must) = (agent.value.len(), self.supply.len());
            return Err(RoundError::new(path("value"), format!("has {has} numbers; supply has {must}")));
        }
        match agent.value.iter().position(|value| !(0.0..=1e6).contains(value)) {
            Some(at) => {
                let reason = format!("is {}; a value is 0 to 1e6", agent.value[at]);
                Err(RoundError::new(format!("{}[{at}]", path("value")), reason))
            }
            None => Ok(()),
        }
    }

    fn check_gang(&self, nth: usize, gang: &Gang) -> Result<(), RoundError> {
        let fault =
            |field: &str, reason: String| Err(RoundError::new(format!("gangs[{nth}].{field}"), reason));
        if gang.agent >= self.agents.len() {
            return fault("agent", format!("is {}; there are {} agents", gang.agent, self.agents.len()));
        }
        if gang.chip_type >= self.supply.len() {
            return fault(
                "chip_type",
                format!("is {}; there are {} types", gang.chip_type, self.supply.len()),
            );
        }
        if gang.chips == 0 || gang.chips > MAX_CHIPS {
            return fault("chips", format!("is {}; it must be 1 to {MAX_CHIPS}", gang.chips));
        }
        if gang.rounds_left == 0 {
            return fault("rounds_left", "is 0; a job that is done is left out".to_owned());
        }
        if !(0.0..=1e6).contains(&gang.value) {
            return fault("value", format!("is {}; a value is 0 to 1e6", gang.value));
        }
        Ok(())
    }

    /// The demand for a chip type, by agent.
    #[must_use]
    pub fn demand_for(&self, chip_type: usize) -> Vec<u64> {
        self.agents.iter().map(|agent| agent.demand[chip_type]).collect()
    }

    /// The agents' weights.
    #[must_use]
    pub fn weights(&self) -> Vec<f64> {
        self.agents.iter().map(|agent| agent.weight).collect()
    }

    /// An allocation chip type by chip type: `of` says what each agent gets of one.
    pub(crate) fn by_type(&self, mut of: impl FnMut(usize) -> Vec<u64>) -> Allocation {
        let mut chips = vec![vec![0; self.supply.len()]; self.agents.len()];
        for chip_type in 0..self.supply.len() {
            for (row, got) in chips.iter_mut().zip(of(chip_type)) {
                row[chip_type] = got;
            }
        }
        Allocation { chips, ..Allocation::default() }
    }
}

fn check_chips(path: &str, chips: &[u64]) -> Result<(), RoundError> {
    match chips.iter().position(|chips| *chips > MAX_CHIPS) {
        Some(at) => Err(RoundError::new(
            format!("{path}[{at}]"),
            format!("is {}; the most is {MAX_CHIPS}", chips[at]),
        )),
        None => Ok(()),
    }
}
