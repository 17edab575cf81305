//! A comparison as a table: which value of a column is best, and the CSV.

use common::api::LabResult;
use policies::columns::{Better, COLUMNS, Column};

/// Whether a policy's value of a column is the best of all, to the digits that are shown. Where all are alike none is.
#[must_use]
pub fn best(result: &LabResult, column: &Column, value: f64) -> bool {
    let shown = |value: f64| (value * 1e4).round();
    let all: Vec<f64> = result
        .policies
        .iter()
        .filter_map(|policy| policy.measures.get(column.key))
        .map(|value| shown(*value))
        .collect();
    let most = all.iter().copied().fold(f64::NEG_INFINITY, f64::max);
    let least = all.iter().copied().fold(f64::INFINITY, f64::min);
    most > least
        && match column.better {
            Better::More => shown(value) == most,
            Better::Less => shown(value) == least,
            Better::Neither => false,
        }
}

/// The comparison as CSV: a row per policy, then team by team; each figure with its full digits.
///
/// # Errors
/// Memory can't be written: never.
pub fn comparison_csv(result: &LabResult) -> Result<String, csv::Error> {
    let mut writer = csv::WriterBuilder::new().flexible(true).from_writer(Vec::new());
    let mut head = vec!["trace", "seed", "policy", "team", "refusal"];
    head.extend(COLUMNS.iter().map(|column| column.key));
    head.extend(["asked_chip_hours", "used_chip_hours", "wanted_credits", "got_credits", "welfare"]);
    writer.write_record(&head)?;
    let (trace, seed) = (&result.request.trace, result.request.seed.to_string());
    for policy in &result.policies {
        let refusal = policy.refusal.clone().unwrap_or_default();
        let mut row = vec![trace.clone(), seed.clone(), policy.policy.clone(), String::new(), refusal];
        row.extend(COLUMNS.iter().map(|column| number(policy.measures.get(column.key).copied())));
        row.resize(head.len(), String::new());
        writer.write_record(&row)?;
        for (name, team) in result.teams.iter().zip(&policy.teams) {
            let mut row =
                vec![trace.clone(), seed.clone(), policy.policy.clone(), name.clone(), String::new()];
            let of_team = |key: &str| match key {
                "envy" => team.envy,
                "regret" => team.regret,
                _ => None,
            };
            row.extend(COLUMNS.iter().map(|column| number(of_team(column.key))));
            row.extend(
                [team.asked, team.used, team.wanted, team.got, team.welfare].map(|value| number(Some(value))),
            );
            writer.write_record(&row)?;
        }
    }
    let bytes = writer.into_inner().map_err(|error| csv::Error::from(error.into_error()))?;
    Ok(String::from_utf8_lossy(&bytes).into_owned())
}

fn number(value: Option<f64>) -> String {
    value.map_or_else(String::new, |value| value.to_string())
}
