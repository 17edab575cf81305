//! What the flow is told of a log, and what it foresees of it: numbers without units.

use crate::predict::HORIZONS;
use crate::predict::past::{BINS, Past, REACH};

/// Numbers that describe a log.
pub(crate) const CONDITIONS: usize = BINS + 3;

/// A log as the network sees it, before it is standardised: the profile of the past, how far back it goes, its noise,
/// and how many points the level now is the mean of.
pub(crate) fn condition(past: &Past) -> [f64; CONDITIONS] {
    let profile = past.profile();
    let newest = past.bins.last().map_or(1.0, |bin| bin.points);
    std::array::from_fn(|nth| match nth {
        nth if nth < BINS => profile[nth],
        BINS => past.oldest / REACH.ln(),
        nth if nth == BINS + 1 => past.noise.ln(),
        _ => newest.ln(),
    })
}

/// Means and standard deviations by which numbers are standardised.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Standard {
    pub means: Vec<f64>,
    pub deviations: Vec<f64>,
}

/// A standardised number beyond this is cut: no curve of the training had it.
const CUT: f64 = 5.0;

impl Standard {
    /// Of rows of equal length, at least one.
    pub(crate) fn of(rows: &[impl AsRef<[f64]>]) -> Self {
        let (count, width) = (rows.len() as f64, rows[0].as_ref().len());
        let mean =
            |value: &dyn Fn(&[f64]) -> f64| rows.iter().map(|row| value(row.as_ref())).sum::<f64>() / count;
        let means: Vec<f64> = (0..width).map(|at| mean(&|row| row[at])).collect();
        // A number that never changes, as the level relative to itself, is divided by something.
        let deviation = |at: usize| mean(&|row| (row[at] - means[at]).powi(2)).sqrt().max(1e-3);
        Self { deviations: (0..width).map(deviation).collect(), means }
    }

    /// Standardised, and cut.
    pub(crate) fn apply(&self, row: &[f64]) -> impl Iterator<Item = f32> {
        let both = self.means.iter().zip(&self.deviations);
        row.iter().zip(both).map(|(value, (mean, by))| ((value - mean) / by).clamp(-CUT, CUT) as f32)
    }

    /// Back from standardised.
    pub(crate) fn undo(&self, row: &[f32]) -> [f64; HORIZONS] {
        std::array::from_fn(|at| f64::from(row[at]) * self.deviations[at] + self.means[at])
    }
}
