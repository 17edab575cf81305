//! The prices of capacity: dual mirror descent, and the max-min regulariser that lets a price go below zero.

use serde::{Deserialize, Serialize};

/// How prices follow what was used.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Update {
    /// `μ ← max(0, μ − η g)`, with `g` the capacity of a batch less what it used, over the batch's size.
    Additive,
    /// The same with `g` over the capacity of a batch, so that scarce facilities move as fast as ample ones.
    Scaled,
    /// `μ ← μ exp(−η g)`.
    Multiplicative,
}

/// Prices of the facilities.
#[derive(Clone, Debug, PartialEq)]
pub struct Duals {
    /// Now.
    pub prices: Vec<f64>,
    update: Update,
    step: f64,
    /// Capacity per agent of a batch, per facility.
    rates: Vec<f64>,
    /// Weight of the max-min regulariser; 0 keeps prices at or above 0.
    subsidy: f64,
}

/// Where a multiplicative price begins: from 0 it would never move.
const FIRST_PRICE: f64 = 1e-2;

impl Duals {
    /// Prices before the first batch. `step` is `η`; `rates` is `ρ`; `subsidy` is `λ`.
    #[must_use]
    pub fn new(update: Update, step: f64, rates: Vec<f64>, subsidy: f64) -> Self {
        let first = if update == Update::Multiplicative { FIRST_PRICE } else { 0.0 };
        Self { prices: vec![first; rates.len()], update, step, rates, subsidy }
    }

    /// Moves the prices after a batch that used `uses` per agent of each facility.
    pub fn learn(&mut self, uses: &[f64]) {
        for (at, price) in self.prices.iter_mut().enumerate() {
            let gradient = self.rates[at] - uses[at];
            match self.update {
                Update::Additive => *price -= self.step * gradient,
                Update::Scaled => *price -= self.step * gradient / self.rates[at].max(1e-9),
                Update::Multiplicative => *price *= (-self.step * gradient).exp(),
            }
        }
        self.prices = project(&self.prices, &self.rates, self.subsidy);
    }
}

/// The nearest prices with `Σ ρ_j μ_j^- ≤ λ`: positive ones stay, negative ones are moved towards 0 by one threshold
/// times `ρ_j`. With `λ = 0` negative prices become 0.
#[must_use]
pub fn project(prices: &[f64], rates: &[f64], subsidy: f64) -> Vec<f64> {
    let depth = |threshold: f64| -> f64 {
        prices.iter().zip(rates).map(|(price, rate)| rate * (-price - threshold * rate).max(0.0)).sum()
    };
    if depth(0.0) <= subsidy {
        return prices.to_vec();
    }
    // The depth is piecewise linear in the threshold with kinks where a price reaches 0.
    let mut kinks: Vec<f64> = prices
        .iter()
        .zip(rates)
        .filter(|(price, rate)| **price < 0.0 && **rate > 0.0)
        .map(|(price, rate)| -price / rate)
        .collect();
    kinks.sort_by(f64::total_cmp);
    let mut low = 0.0;
    for kink in kinks {
        if depth(kink) <= subsidy {
            let (from, to) = (depth(low), depth(kink));
            let part = if from > to { (from - subsidy) / (from - to) } else { 0.0 };
            low += part * (kink - low);
            break;
        }
        low = kink;
    }
    let moved =
        |(price, rate): (&f64, &f64)| if *price < 0.0 { (price + low * rate).min(0.0) } else { *price };
    prices.iter().zip(rates).map(moved).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_projection_keeps_positive_prices_and_spends_the_subsidy() {
        let (prices, rates) = ([0.7, -1.0, -0.2, -3.0], [0.5, 0.5, 1.0, 0.25]);
        assert_eq!(project(&prices, &rates, 0.0), [0.7, 0.0, 0.0, 0.0]);
        assert_eq!(project(&prices, &rates, 9.0), prices);
        let some = project(&prices, &rates, 0.6);
        let spent: f64 = some.iter().zip(&rates).map(|(price, rate)| rate * (-price).max(0.0)).sum();
        assert!((spent - 0.6).abs() < 1e-12, "{spent}");
        assert_eq!(some[0], 0.7);
        // Nearest: no other point of the set on the line towards any corner is nearer.
        let far = |point: &[f64]| point.iter().zip(&prices).map(|(a, b)| (a - b) * (a - b)).sum::<f64>();
        for corner in 0..4 {
            let mut other = some.clone();
            for part in [0.01, 0.1, 0.5] {
                let target: Vec<f64> =
                    (0..4).map(|at| if at == corner && at > 0 { -0.6 / rates[at] } else { 0.0 }).collect();
                for at in 1..4 {
                    other[at] = some[at] * (1.0 - part) + target[at] * part;
                }
                assert!(far(&other) >= far(&some) - 1e-12, "{other:?} is nearer than {some:?}");
            }
        }
    }

    #[test]
    fn prices_rise_where_more_is_used_than_there_is() {
        for update in [Update::Additive, Update::Scaled, Update::Multiplicative] {
            let mut duals = Duals::new(update, 1.0, vec![0.2, 0.2], 0.0);
            duals.learn(&[0.5, 0.0]);
            assert!(duals.prices[0] > duals.prices[1], "{update:?} {:?}", duals.prices);
            assert!(duals.prices[1] >= 0.0);
        }
    }
}
