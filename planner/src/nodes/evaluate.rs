//! All allocators on fresh seeds, with intervals.

use candle_core::Result;
use serde::{Deserialize, Serialize};

use super::baselines::{EarliestDeadline, FirstCome, Lara, Oracle, Uniform};
use super::greedy::{Foreseeing, Greedy};
use super::laira::Laira;
use super::mara::{Mara, Trained};
use super::simulation::Setting;
use super::{Allocator, completion};

/// An allocator of the table.
#[derive(Clone, Copy, Debug, Deserialize, Eq, PartialEq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Rule {
    /// First come, first served.
    FirstCome,
    /// All the same.
    Uniform,
    /// Earliest deadline first.
    EarliestDeadline,
    /// LARA.
    Lara,
    /// LaiRA.
    Laira,
    /// Moore and Hodgson's rule with the network's predictions.
    Foreseeing,
    /// The marginal-probability greedy.
    Greedy,
    /// The greedy that weighs doubt and haste.
    Teacher,
    /// MARA's policy.
    Mara,
    /// Moore and Hodgson's rule with what is really needed.
    Oracle,
}

impl Rule {
    /// All of them, in the order of the table.
    pub const ALL: [Self; 10] = [
        Self::FirstCome,
        Self::Uniform,
        Self::EarliestDeadline,
        Self::Lara,
        Self::Laira,
        Self::Foreseeing,
        Self::Greedy,
        Self::Teacher,
        Self::Mara,
        Self::Oracle,
    ];

    /// Its name in tables.
    #[must_use]
    pub fn title(self) -> &'static str {
        match self {
            Self::FirstCome => "first come, first served",
            Self::Uniform => "uniform",
            Self::EarliestDeadline => "earliest deadline first",
            Self::Lara => "LARA",
            Self::Laira => "LaiRA",
            Self::Foreseeing => "Moore–Hodgson with the network's predictions",
            Self::Greedy => "marginal-probability greedy",
            Self::Teacher => "greedy with doubt and haste (MARA's teacher)",
            Self::Mara => "MARA policy",
            Self::Oracle => "Moore–Hodgson with the true needs (oracle)",
        }
    }

    fn allocator(self, trained: &Trained) -> Box<dyn Allocator + '_> {
        match self {
            Self::FirstCome => Box::new(FirstCome),
            Self::Uniform => Box::new(Uniform),
            Self::EarliestDeadline => Box::new(EarliestDeadline),
            Self::Lara => Box::new(Lara::default()),
            Self::Laira => Box::new(Laira::default()),
            Self::Foreseeing => Box::new(Foreseeing::new(&trained.predictor)),
            Self::Greedy => Box::new(Greedy::new(&trained.predictor)),
            Self::Teacher => Box::new(Greedy::teacher(&trained.predictor)),
            Self::Mara => Box::new(Mara::new(&trained.policy, &trained.predictor)),
            Self::Oracle => Box::new(Oracle),
        }
    }
}

/// Jobs that an allocator ends in time, in percent: the mean over seeds, and half of its 95 % interval.
#[derive(Clone, Debug, Deserialize, PartialEq, Serialize)]
pub struct Row {
    /// The allocator.
    pub rule: Rule,
    /// The load.
    pub load: f64,
    /// Mean.
    pub mean: f64,
    /// Half of the interval.
    pub half: f64,
    /// Mean of the differences to LARA on the same seeds, and half of its interval; 0 where LARA was not measured.
    pub ahead: [f64; 2],
    /// The same for MARA's policy to this rule.
    pub behind: [f64; 2],
}

/// Seeds of an evaluation begin here, far from any that a training draws with a likelihood that matters.
const FIRST_SEED: u64 = 9_000_000_000;

/// Measures rules at loads on `seeds` seeds of so many simulations each; tells how many simulations are done, of how many.
///
/// # Errors
/// A network refuses its input, a fault of this program.
pub fn evaluate(
    trained: &Trained,
    rules: &[Rule],
    loads: &[f64],
    [seeds, simulations]: [usize; 2],
    progress: &mut dyn FnMut(usize, usize),
) -> Result<Vec<Row>> {
    let all = rules.len() * loads.len() * seeds * simulations;
    let (mut rows, mut done) = (Vec::new(), 0);
    for load in loads {
        let setting = Setting { load: *load, ..Setting::default() };
        let mut measured: Vec<(Rule, Vec<f64>)> = Vec::new();
        for rule in rules {
            let mut means = vec![0.0; seeds];
            for (nth, mean) in means.iter_mut().enumerate() {
                for simulation in 0..simulations {
                    let seed = FIRST_SEED + (nth * simulations + simulation) as u64;
                    *mean += 100.0 * completion(setting, seed, &mut *rule.allocator(trained))?;
                    done += 1;
                    progress(done, all);
                }
                *mean /= simulations as f64;
            }
            measured.push((*rule, means));
        }
        let mara = measured.iter().find(|(rule, _)| *rule == Rule::Mara).map(|(_, means)| means.clone());
        let lara = measured.iter().find(|(rule, _)| *rule == Rule::Lara).map(|(_, means)| means.clone());
        for (rule, means) in measured {
            let [mean, half] = interval(&means);
            let against = |a: Option<&Vec<f64>>, b: Option<&Vec<f64>>| match (a, b) {
                (Some(a), Some(b)) => interval(&a.iter().zip(b).map(|(a, b)| a - b).collect::<Vec<f64>>()),
                _ => [0.0; 2],
            };
            let ahead = against(Some(&means), lara.as_ref());
            let behind = against(mara.as_ref(), Some(&means));
            rows.push(Row { rule, load: *load, mean, half, ahead, behind });
        }
    }
    Ok(rows)
}

/// Quantiles of Student's distribution for a two-sided 95 % interval of 2, 3, … numbers.
const STUDENT: [f64; 9] = [12.706, 4.303, 3.182, 2.776, 2.571, 2.447, 2.365, 2.306, 2.262];

/// Mean and half of its 95 % interval.
fn interval(values: &[f64]) -> [f64; 2] {
    let count = values.len() as f64;
    let mean = values.iter().sum::<f64>() / count;
    if values.len() < 2 {
        return [mean, f64::INFINITY];
    }
    let square = values.iter().map(|value| (value - mean).powi(2)).sum::<f64>() / (count - 1.0);
    let quantile = STUDENT.get(values.len() - 2).copied().unwrap_or(1.96);
    [mean, quantile * (square / count).sqrt()]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_interval_is_students() {
        let [mean, half] = interval(&[1.0, 2.0, 3.0]);
        assert!((mean - 2.0).abs() < 1e-12 && (half - 4.303 / 3f64.sqrt()).abs() < 1e-9, "{mean} {half}");
        assert_eq!(interval(&[5.0; 10]), [5.0, 0.0]);
    }
}
