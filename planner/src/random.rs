//! Random numbers that the standard distributions of `rand` do not have.

use rand::RngExt;
use rand_chacha::ChaCha8Rng;

/// A standard normal number (Box and Muller).
pub(crate) fn normal(random: &mut ChaCha8Rng) -> f64 {
    let (radius, angle): (f64, f64) = (1.0 - random.random::<f64>(), random.random());
    (-2.0 * radius.ln()).sqrt() * (std::f64::consts::TAU * angle).cos()
}

/// Uniform in the logarithm between two numbers above 0.
pub(crate) fn log_uniform(random: &mut ChaCha8Rng, low: f64, high: f64) -> f64 {
    random.random_range(low.ln()..high.ln()).exp()
}
