//! The reader of uploaded traces: strict, because a wrong line would silently become wrong demand.
//!
//! CSV under the header `round,team,chips` with optional columns `chip_type`, `value` and `weight`, in any order: in
//! `round` (from 0 on, in ascending order) `team` could use so many `chips` of `chip_type`, each chip-hour worth `value`
//! credits to it. A combination that is not there asks for nothing. Without `value` every chip-hour is worth 1.

use std::collections::BTreeMap;

use policies::round::{Agent, MAX_CHIPS, Round};
use policies::simulate::{MEMORY_LIMIT_BYTES, check_size};
use policies::trace::{Demand, Size, Trace};

use crate::trace::parse::{FAULTS_SHOWN, Fault};

/// Largest file, in bytes.
pub const MAX_BYTES: usize = 16 << 20;

/// Most rounds, teams and chip types.
const MAX_ROUNDS: u64 = 100_000;
const MAX_TEAMS: usize = 1_000;
const MAX_TYPES: usize = 50;

/// What a file is read for.
#[derive(Clone, Debug, PartialEq)]
pub struct Form {
    /// What the trace is called.
    pub name: String,
    /// Chips of each type in every round; where absent a tenth above the mean demand of each type.
    pub supply: Option<u64>,
    /// Length of a round in hours.
    pub hours: f64,
}

#[derive(Clone, Debug, PartialEq)]
struct Ask {
    round: usize,
    team: usize,
    chip_type: usize,
    chips: u64,
    value: f64,
}

#[derive(Default)]
struct Reading {
    columns: BTreeMap<String, usize>,
    teams: BTreeMap<String, (usize, f64)>,
    types: BTreeMap<String, usize>,
    seen: std::collections::BTreeSet<(usize, usize, usize)>,
    asks: Vec<Ask>,
    faults: Vec<Fault>,
    fault_count: usize,
}

/// Reads a trace.
///
/// # Errors
/// What is wrong: the header, or the first lines at fault with field and reason, or that it would not fit in memory.
pub fn read(form: &Form, text: &str) -> Result<Trace, String> {
    if text.len() > MAX_BYTES {
        return Err(format!("has {} bytes; the most is {MAX_BYTES}", text.len()));
    }
    let mut reader =
        csv::ReaderBuilder::new().flexible(true).trim(csv::Trim::All).from_reader(text.as_bytes());
    let mut reading = Reading::default();
    reading.header(reader.headers().map_err(|error| error.to_string())?)?;
    for record in reader.records() {
        match record {
            Ok(record) => {
                let line = record.position().map_or(0, csv::Position::line);
                if let Err(reason) = reading.line(&record) {
                    reading.fault(line, reason);
                }
            }
            Err(error) => {
                let line = error.position().map_or(0, csv::Position::line);
                reading.fault(line, "is not CSV".to_owned());
            }
        }
    }
    reading.finish(form)
}

impl Reading {
    fn header(&mut self, header: &csv::StringRecord) -> Result<(), String> {
        const KNOWN: [&str; 6] = ["round", "team", "chips", "chip_type", "value", "weight"];
        for (at, name) in header.iter().enumerate() {
            if !KNOWN.contains(&name) {
                let known = KNOWN.join(", ");
                return Err(format!("line 1: {name:?} is no column of a trace; there are {known}"));
            }
            if self.columns.insert(name.to_owned(), at).is_some() {
                return Err(format!("line 1: the column {name} is there twice"));
            }
        }
        match ["round", "team", "chips"].iter().find(|name| !self.columns.contains_key(**name)) {
            Some(missing) => {
                Err(format!("line 1: the column {missing} is missing; begin with round,team,chips"))
            }
            None => Ok(()),
        }
    }

    fn line(&mut self, record: &csv::StringRecord) -> Result<(), String> {
        if record.len() != self.columns.len() {
            return Err(format!("has {} fields; the header has {}", record.len(), self.columns.len()));
        }
        let cell = |name: &str| self.columns.get(name).map(|at| record.get(*at).unwrap_or_default());
        let round = whole("round", cell("round").unwrap_or_default(), MAX_ROUNDS - 1)? as usize;
        if let Some(before) = self.asks.last().filter(|before| before.round > round) {
            return Err(format!("round is {round} after {}; rounds stand in ascending order", before.round));
        }
        let chips = whole("chips", cell("chips").unwrap_or_default(), MAX_CHIPS)?;
        let value = real("value", cell("value"), 0.0, 1e6)?;
        let weight = real("weight", cell("weight"), 1e-6, 1e9)?;
        let team_name = name("team", cell("team").unwrap_or_default())?.to_owned();
        let type_name = name("chip_type", cell("chip_type").unwrap_or("chip"))?.to_owned();
        let next = self.teams.len();
        let (team, known) = *self.teams.entry(team_name).or_insert((next, weight));
        if known != weight {
            return Err(format!("weight is {weight} after {known}; a team has one weight"));
        }
        let next = self.types.len();
        let chip_type = *self.types.entry(type_name).or_insert(next);
        if self.teams.len() > MAX_TEAMS || self.types.len() > MAX_TYPES {
            return Err(format!(
                "is one team or chip type too many; the most are {MAX_TEAMS} and {MAX_TYPES}"
            ));
        }
        if !self.seen.insert((round, team, chip_type)) {
            return Err("says again what a line before says: the same round, team and chip type".to_owned());
        }
        self.asks.push(Ask { round, team, chip_type, chips, value });
        Ok(())
    }

    fn fault(&mut self, line: u64, reason: String) {
        self.fault_count += 1;
        if self.faults.len() < FAULTS_SHOWN {
            self.faults.push(Fault { line: u32::try_from(line).unwrap_or(u32::MAX), reason });
        }
    }

    fn finish(self, form: &Form) -> Result<Trace, String> {
        if self.fault_count > 0 {
            let mut said: Vec<String> = self.faults.iter().map(ToString::to_string).collect();
            if self.fault_count > said.len() {
                said.push(format!("and {} more lines at fault", self.fault_count - said.len()));
            }
            return Err(said.join("; "));
        }
        let rounds = self.asks.last().map_or(0, |last| last.round + 1);
        if rounds == 0 {
            return Err("has a header and nothing under it".to_owned());
        }
        let (teams, types) = (self.teams.len(), self.types.len());
        check_size(Size { rounds, agents: teams, chip_types: types }, MEMORY_LIMIT_BYTES)
            .map_err(|error| error.to_string())?;
        let has_values = self.columns.contains_key("value");
        let supply = self.supply(form, rounds);
        let mut weights = vec![1.0; teams];
        for (team, weight) in self.teams.values() {
            weights[*team] = *weight;
        }
        let empty = |weight: &f64| Agent { weight: *weight, demand: vec![0; types], value: vec![1.0; types] };
        let agents: Vec<Agent> = weights.iter().map(empty).collect();
        let round = Round { hours: form.hours, supply, agents, gangs: Vec::new() };
        let mut all = vec![round; rounds];
        for ask in &self.asks {
            let agent = &mut all[ask.round].agents[ask.team];
            agent.demand[ask.chip_type] = ask.chips;
            agent.value[ask.chip_type] = ask.value;
        }
        let value_source = if has_values {
            "The uploaded trace".to_owned()
        } else {
            "None in the trace: every chip-hour is worth 1 credit".to_owned()
        };
        Ok(Trace {
            name: form.name.clone(),
            source: format!("Uploaded as {}", form.name),
            value_source,
            agents: in_order(self.teams.into_iter().map(|(name, (at, _))| (name, at))),
            chip_types: in_order(self.types.into_iter()),
            demand: Demand::Fixed(all),
        })
    }

    fn supply(&self, form: &Form, rounds: usize) -> Vec<u64> {
        let mut sums = vec![0_u64; self.types.len()];
        for ask in &self.asks {
            sums[ask.chip_type] += ask.chips;
        }
        let fitting = |sum: u64| (sum * 11).div_ceil(10 * rounds as u64).max(1);
        sums.into_iter().map(|sum| form.supply.unwrap_or_else(|| fitting(sum))).collect()
    }
}

fn in_order(names: impl Iterator<Item = (String, usize)>) -> Vec<String> {
    let mut names: Vec<(String, usize)> = names.collect();
    names.sort_by_key(|(_, at)| *at);
    names.into_iter().map(|(name, _)| name).collect()
}

fn whole(field: &str, text: &str, most: u64) -> Result<u64, String> {
    match text.parse::<u64>() {
        Ok(number) if number <= most => Ok(number),
        _ => Err(format!("{field} is {text:?}; it must be a whole number from 0 to {most}")),
    }
}

fn real(field: &str, text: Option<&str>, least: f64, most: f64) -> Result<f64, String> {
    let Some(text) = text else { return Ok(1.0) };
    match text.parse::<f64>() {
        Ok(number) if (least..=most).contains(&number) => Ok(number),
        _ => Err(format!("{field} is {text:?}; it must be a number from {least} to {most}")),
    }
}

fn name<'a>(field: &str, text: &'a str) -> Result<&'a str, String> {
    let plain = !text.is_empty() && text.chars().count() <= 64 && !text.chars().any(char::is_control);
    if plain { Ok(text) } else { Err(format!("{field} is {text:?}; it must have 1 to 64 characters")) }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn form() -> Form {
        Form { name: "ours".to_owned(), supply: None, hours: 1.0 }
    }

    #[test]
    fn a_trace_is_read_with_what_it_leaves_out() {
        let text = "round,team,chips,value\n0,a,10,2.5\n0,b,5,1\n2,a,7,0\n";
        let trace = read(&form(), text).unwrap();
        assert_eq!(
            (trace.agents.as_slice(), trace.chip_types.as_slice()),
            (["a", "b"].map(str::to_owned).as_slice(), ["chip".to_owned()].as_slice())
        );
        let Demand::Fixed(rounds) = &trace.demand else { unreachable!("an upload is fixed") };
        assert_eq!(rounds.len(), 3);
        assert_eq!(rounds[1].agents[0].demand, [0]);
        assert_eq!(rounds[0].agents[0].value, [2.5]);
        assert_eq!(rounds[0].supply, [9], "a tenth above the mean of 22 over 3 rounds");
        assert_eq!(trace.value_source, "The uploaded trace");
        let plain =
            read(&Form { supply: Some(4), ..form() }, "team,round,chips,chip_type\na,0,1,x\na,0,1,y\n")
                .unwrap();
        assert_eq!(plain.chip_types, ["x", "y"]);
        assert!(plain.value_source.contains("worth 1 credit"));
    }

    #[test]
    fn each_wrong_line_is_named_with_field_and_reason() {
        let refused = |text: &str| read(&form(), text).unwrap_err();
        let text =
            "round,team,chips,value\n0,a,-3,1\n1,a,,1\n1,b,4,1\n0,a,4,1\n1,,4,1\n1,b,5,1\n2,b,4,inf\n2,b\n";
        let said = refused(text);
        for part in [
            "line 2: chips is \"-3\"; it must be a whole number from 0 to 1000000000",
            "line 3: chips is \"\"",
            "line 5: round is 0 after 1; rounds stand in ascending order",
            "line 6: team is \"\"; it must have 1 to 64 characters",
            "line 7: says again",
            "line 8: value is \"inf\"; it must be a number from 0 to 1000000",
            "line 9: has 2 fields; the header has 4",
        ] {
            assert!(said.contains(part), "{part} in {said}");
        }
        assert_eq!(
            refused("round,team\n"),
            "line 1: the column chips is missing; begin with round,team,chips"
        );
        assert!(refused("round,team,chips,colour\n").contains("\"colour\" is no column"));
        assert_eq!(refused("round,team,chips\n"), "has a header and nothing under it");
        assert!(refused("round,team,chips\n0,a,x\n".repeat(30).as_str()).contains("more lines at fault"));
    }

    #[test]
    fn what_would_not_fit_is_refused_with_its_estimate() {
        let mut text = String::from("round,team,chips\n");
        for team in 0..1_000 {
            text.push_str(&format!("0,team-{team},1\n"));
        }
        text.push_str("99999,team-0,1\n");
        let said = read(&form(), &text).unwrap_err();
        assert!(said.contains("need about 14800 MB; 2000 MB are allowed"), "{said}");
    }
}
