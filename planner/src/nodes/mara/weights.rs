//! The weights of policy and predictor as one safetensors file, with where they come from in its metadata.

use std::collections::HashMap;

use candle_core::{Device, Tensor};
use rand::SeedableRng;
use rand_chacha::ChaCha8Rng;
use safetensors::SafeTensors;
use serde::{Deserialize, Serialize};
use thiserror::Error;

use super::network::Network;
use crate::nodes::evaluate::Row;
use crate::nodes::need::NeedNet;

/// The form of the file that this version reads: grows whenever the networks or what they see change.
const FORMAT: u32 = 2;
/// Key of the metadata.
const KEY: &str = "provenance";
/// The weights that come with the program.
const SHIPPED: &[u8] = include_bytes!("../../../weights/nodes.safetensors");

/// A predictor, and a policy that was trained with it.
#[derive(Debug)]
pub struct Trained {
    /// The predictor.
    pub predictor: NeedNet,
    /// The policy.
    pub policy: Network,
}

/// Where weights come from.
#[derive(Clone, Debug, Deserialize, PartialEq, Serialize)]
pub struct Provenance {
    /// The form of the file.
    pub format: u32,
    /// The command that made them.
    pub command: String,
    /// Its seed.
    pub seed: u64,
    /// The commit of the program.
    pub commit: String,
    /// How many jobs they end in time, with the rules beside them.
    pub figures: Vec<Row>,
}

impl Provenance {
    /// Of this version, without figures yet.
    #[must_use]
    pub fn new(command: impl Into<String>, seed: u64, commit: impl Into<String>) -> Self {
        Self { format: FORMAT, command: command.into(), seed, commit: commit.into(), figures: Vec::new() }
    }
}

/// Why weights can't be used.
#[derive(Clone, Debug, Error, PartialEq)]
pub enum WeightsError {
    /// No such file, or a part of one.
    #[error("the weights are damaged: {0}")]
    Damaged(String),
    /// Another form.
    #[error("the weights are of format {found}, and this program reads format {FORMAT}: train them anew")]
    Format {
        /// The file's.
        found: u32,
    },
}

#[expect(clippy::needless_pass_by_value, reason = "it is handed to `map_err`")]
fn damaged(error: impl ToString) -> WeightsError {
    WeightsError::Damaged(error.to_string())
}

impl Trained {
    /// As a file.
    ///
    /// # Errors
    /// `Damaged`: the weights can't be written down, a fault of this program.
    pub fn to_bytes(&self, provenance: &Provenance) -> Result<Vec<u8>, WeightsError> {
        let mut all: Vec<(String, Tensor)> =
            self.predictor.weights.named().into_iter().chain(self.policy.weights.named()).collect();
        all.sort_by(|a, b| a.0.cmp(&b.0));
        let text = serde_json::to_string(provenance).map_err(damaged)?;
        safetensors::serialize(all, Some(HashMap::from([(KEY.to_owned(), text)]))).map_err(damaged)
    }

    /// From a file.
    ///
    /// # Errors
    /// The file is damaged, or of another form.
    pub fn from_bytes(bytes: &[u8]) -> Result<(Self, Provenance), WeightsError> {
        let (_, metadata) = SafeTensors::read_metadata(bytes).map_err(damaged)?;
        let text = metadata.metadata().as_ref().and_then(|all| all.get(KEY));
        let text = text.ok_or_else(|| damaged("it does not say where it comes from"))?;
        let provenance: Provenance = serde_json::from_str(text).map_err(damaged)?;
        if provenance.format != FORMAT {
            return Err(WeightsError::Format { found: provenance.format });
        }
        let tensors = candle_core::safetensors::load_buffer(bytes, &Device::Cpu).map_err(damaged)?;
        // What is drawn here is replaced.
        let mut random = ChaCha8Rng::seed_from_u64(0);
        let predictor = NeedNet::new(&mut random).map_err(damaged)?;
        let policy = Network::new(&mut random).map_err(damaged)?;
        predictor.weights.load(&tensors).map_err(damaged)?;
        policy.weights.load(&tensors).map_err(damaged)?;
        Ok((Self { predictor, policy }, provenance))
    }
}

/// The weights that come with the program.
///
/// # Errors
/// As [`Trained::from_bytes`].
pub fn shipped() -> Result<(Trained, Provenance), WeightsError> {
    Trained::from_bytes(SHIPPED)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::nodes::evaluate::{Rule, evaluate};

    #[test]
    fn damaged_weights_and_those_of_another_form_are_refused() {
        for bytes in [&b""[..], b"no weights", &SHIPPED[..SHIPPED.len() / 2]] {
            assert!(matches!(Trained::from_bytes(bytes), Err(WeightsError::Damaged(_))));
        }
        let (trained, provenance) = shipped().unwrap();
        let other = Provenance { format: FORMAT + 1, ..provenance };
        let error = Trained::from_bytes(&trained.to_bytes(&other).unwrap()).unwrap_err();
        assert_eq!(error, WeightsError::Format { found: FORMAT + 1 });
        assert!(error.to_string().contains("train them anew"));
    }

    /// A reduced version of the bars: four seeds of two simulations.
    #[test]
    fn the_shipped_policy_ends_as_many_jobs_as_the_documents_say() {
        let (trained, provenance) = shipped().unwrap();
        let rules = [Rule::Lara, Rule::Greedy, Rule::Mara];
        let rows = evaluate(&trained, &rules, &[0.7, 1.0, 1.4], [4, 2], &mut |_, _| {}).unwrap();
        let of = |rows: &[Row], rule: Rule, load: f64| {
            rows.iter().find(|row| row.rule == rule && row.load == load).unwrap().clone()
        };
        assert!(of(&rows, Rule::Mara, 1.0).mean >= 66.0);
        for (load, ahead) in [(0.7, 0.0), (1.0, 9.0), (1.4, 0.0)] {
            let mara = of(&rows, Rule::Mara, load);
            assert!(mara.mean > of(&rows, Rule::Lara, load).mean + ahead, "{load}: {mara:?}");
            assert!(mara.mean > of(&rows, Rule::Greedy, load).mean - 2.0, "{load}: {mara:?}");
            let told = of(&provenance.figures, Rule::Mara, load);
            assert!((told.mean - mara.mean).abs() < 5.0, "{told:?} {mara:?}");
        }
    }
}
