//! The network: what an agent looks like in, how fast it grows out; and how far ahead of the arrivals resources are used.
//!
//! \[recon\] One small network is shared by all agents. Plain loops over fixed arrays: at this size a tensor library spends
//! more on its bookkeeping than on the arithmetic.

use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;

use super::features::INPUTS;

/// Units of each of the two hidden layers.
pub(super) const HIDDEN: usize = 16;

/// What the elastic head sees: 1, the part that has come, the weight of envy, mean use, use of the fullest resource.
pub(super) const HEAD: usize = 5;

const FIRST: usize = 0;
const FIRST_BIAS: usize = FIRST + INPUTS * HIDDEN;
const SECOND: usize = FIRST_BIAS + HIDDEN;
const SECOND_BIAS: usize = SECOND + HIDDEN * HIDDEN;
const LAST: usize = SECOND_BIAS + HIDDEN;
const LAST_BIAS: usize = LAST + HIDDEN;
const ELASTIC: usize = LAST_BIAS + 1;

/// Numbers that are trained.
pub const PARAMETERS: usize = ELASTIC + HEAD;

/// The parameters, in one row.
#[derive(Clone, Debug, PartialEq)]
pub struct Network(Vec<f64>);

/// What the hidden layers said of one agent.
#[derive(Clone, Copy, Debug)]
pub(super) struct Hidden {
    first: [f64; HIDDEN],
    second: [f64; HIDDEN],
}

/// `s / (1 + |s|)`: as bounded and smooth as tanh, without an exponential.
fn squash(sum: f64) -> f64 {
    sum / (1.0 + sum.abs())
}

/// The slope of [`squash`] where it has the value `said`.
fn slope(said: f64) -> f64 {
    let rest = 1.0 - said.abs();
    rest * rest
}

pub(super) fn sigmoid(x: f64) -> f64 {
    1.0 / (1.0 + (-x).exp())
}

impl Network {
    /// Small random weights by the seed. The elastic head begins near "nothing ahead of the arrivals".
    #[must_use]
    pub fn random(seed: u64) -> Self {
        let mut random = ChaCha8Rng::seed_from_u64(seed);
        let mut all = vec![0.0; PARAMETERS];
        for (from, to, inputs) in
            [(FIRST, FIRST_BIAS, INPUTS), (SECOND, SECOND_BIAS, HIDDEN), (LAST, LAST_BIAS, HIDDEN)]
        {
            let width = (3.0 / inputs as f64).sqrt();
            all[from..to].fill_with(|| random.random_range(-width..width));
        }
        all[ELASTIC] = -3.0;
        Self(all)
    }

    /// From stored parameters; none where their number is another or one is not finite.
    #[must_use]
    pub fn from_parameters(all: Vec<f64>) -> Option<Self> {
        (all.len() == PARAMETERS && all.iter().all(|one| one.is_finite())).then_some(Self(all))
    }

    /// All parameters.
    #[must_use]
    pub fn parameters(&self) -> &[f64] {
        &self.0
    }

    /// The network that is left when every parameter is stored in 32 bits.
    pub(super) fn rounded(self) -> Self {
        Self(self.0.into_iter().map(|one| f64::from(one as f32)).collect())
    }

    pub(super) fn parameters_mut(&mut self) -> &mut [f64] {
        &mut self.0
    }

    /// What the last layer says of an agent, before it is made positive.
    pub(super) fn score(&self, inputs: &[f64; INPUTS]) -> (f64, Hidden) {
        let first = layer(&self.0[FIRST..FIRST_BIAS], &self.0[FIRST_BIAS..SECOND], inputs);
        let second = layer(&self.0[SECOND..SECOND_BIAS], &self.0[SECOND_BIAS..LAST], &first);
        let last = self.0[LAST..LAST_BIAS].iter().zip(&second);
        (self.0[LAST_BIAS] + last.map(|(weight, x)| weight * x).sum::<f64>(), Hidden { first, second })
    }

    /// Adds to `gradient` what `by`, the derivative at the score, means for the parameters; answers what it means for the
    /// inputs.
    pub(super) fn score_back(
        &self,
        inputs: &[f64; INPUTS],
        hidden: &Hidden,
        by: f64,
        gradient: &mut [f64],
    ) -> [f64; INPUTS] {
        let mut second = [0.0; HIDDEN];
        for at in 0..HIDDEN {
            gradient[LAST + at] += by * hidden.second[at];
            second[at] = by * self.0[LAST + at] * slope(hidden.second[at]);
            gradient[SECOND_BIAS + at] += second[at];
        }
        gradient[LAST_BIAS] += by;
        let mut first = layer_back(
            &self.0[SECOND..SECOND_BIAS],
            &hidden.first,
            &second,
            &mut gradient[SECOND..SECOND_BIAS],
        );
        for at in 0..HIDDEN {
            first[at] *= slope(hidden.first[at]);
            gradient[FIRST_BIAS + at] += first[at];
        }
        layer_back(&self.0[FIRST..FIRST_BIAS], inputs, &first, &mut gradient[FIRST..FIRST_BIAS])
    }

    /// The part of what is kept for those to come that is given already, 0 to 1.
    pub(super) fn ahead(&self, sees: &[f64; HEAD]) -> f64 {
        sigmoid(self.0[ELASTIC..].iter().zip(sees).map(|(weight, x)| weight * x).sum())
    }

    /// As [`Network::score_back`], for [`Network::ahead`], which said `said`.
    pub(super) fn ahead_back(
        &self,
        sees: &[f64; HEAD],
        said: f64,
        by: f64,
        gradient: &mut [f64],
    ) -> [f64; HEAD] {
        let by = by * said * (1.0 - said);
        std::array::from_fn(|at| {
            gradient[ELASTIC + at] += by * sees[at];
            by * self.0[ELASTIC + at]
        })
    }
}

fn layer<const N: usize>(weights: &[f64], bias: &[f64], inputs: &[f64; N]) -> [f64; HIDDEN] {
    let mut sums = [0.0; HIDDEN];
    sums.copy_from_slice(bias);
    for (row, input) in weights.as_chunks::<HIDDEN>().0.iter().zip(inputs) {
        for (sum, weight) in sums.iter_mut().zip(row) {
            *sum += weight * input;
        }
    }
    sums.map(squash)
}

fn layer_back<const N: usize>(
    weights: &[f64],
    inputs: &[f64; N],
    by: &[f64; HIDDEN],
    gradient: &mut [f64],
) -> [f64; N] {
    let rows = weights.as_chunks::<HIDDEN>().0;
    let slopes = gradient.as_chunks_mut::<HIDDEN>().0;
    std::array::from_fn(|at| {
        let mut sum = 0.0;
        for ((weight, slope), by) in rows[at].iter().zip(&mut slopes[at]).zip(by) {
            sum += weight * by;
            *slope += inputs[at] * by;
        }
        sum
    })
}
