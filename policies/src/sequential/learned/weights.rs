//! Trained networks as a file: safetensors, with where they come from in its metadata, and the ones that are shipped.

use std::collections::HashMap;
use std::sync::OnceLock;

use safetensors::tensor::{Dtype, SafeTensors, TensorView};
use serde::{Deserialize, Serialize};

use super::network::{Network, PARAMETERS};

/// The version of the file's form: of the network's layout and features.
const FORMAT: u32 = 1;

/// The metadata's one key: a map of several has no order of its own, and the same training must give the same bytes.
const KEY: &str = "provenance";

const TOLD: &str = "told";
const ELASTIC: &str = "elastic";

/// Where networks come from.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Provenance {
    /// The version of the file's form.
    pub format: u32,
    /// The command that makes the file again.
    pub command: String,
    /// Its seed.
    pub seed: u64,
    /// The commit that it was run at.
    pub commit: String,
    /// The weights of envy that a network each was trained for, in order.
    pub fixed: Vec<f64>,
    /// The seed of the held-out instances.
    pub held_out_seed: u64,
    /// How many there are.
    pub held_out: usize,
    /// How rules do on them.
    pub figures: Vec<Figure>,
}

/// What kind of rule a figure is of.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Kind {
    /// A rule without learning.
    Baseline,
    /// The network that is told λ, strict.
    Told,
    /// A network trained for one λ, strict.
    Fixed,
    /// The network that is told λ and may give ahead of arrivals.
    Elastic,
}

/// How a rule does on the held-out instances: means, in shares of a resource.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Figure {
    /// What kind of rule.
    pub kind: Kind,
    /// The rule's name for people.
    pub title: String,
    /// The weight of envy, where it has one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub envy_weight: Option<f64>,
    /// As [`Score::utility`](super::super::Score::utility).
    pub utility: f64,
    /// As [`Score::envy`](super::super::Score::envy).
    pub envy: f64,
    /// As [`Score::sharing_loss`](super::super::Score::sharing_loss).
    pub sharing_loss: f64,
}

/// The networks of one training.
#[derive(Clone, Debug, PartialEq)]
pub struct Trained {
    /// Is told λ; strict.
    pub told: Network,
    /// Is told λ, and may give ahead of arrivals.
    pub elastic: Network,
    /// One for each λ of the sweep; strict.
    pub fixed: Vec<(f64, Network)>,
}

/// Why a file of weights can't be used.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum WeightsError {
    /// It is no such file, or it is cut off or damaged.
    #[error("the file is no safetensors file, or it is damaged: {0}")]
    Unreadable(String),
    /// It does not say where it comes from.
    #[error("the file does not say where its weights come from: {0}")]
    NoProvenance(String),
    /// It was made for another version.
    #[error(
        "the file has form {found}, and this version reads form {FORMAT}; train again with `lab train allocator`"
    )]
    OtherVersion {
        /// The file's.
        found: u32,
    },
    /// A network is missing or of another size, or a number is not finite.
    #[error("the network {name:?} {reason}")]
    Network {
        /// The network's name in the file.
        name: String,
        /// What is wrong with it.
        reason: String,
    },
}

fn fixed_name(envy_weight: f64) -> String {
    format!("fixed-{envy_weight}")
}

impl Trained {
    /// The file. The same networks and provenance give the same bytes.
    ///
    /// # Errors
    /// `Unreadable`: the library refuses to write, which it does for no sound network.
    pub fn to_bytes(&self, provenance: &Provenance) -> Result<Vec<u8>, WeightsError> {
        let unreadable = |error: String| WeightsError::Unreadable(error);
        let named = [(TOLD.to_owned(), &self.told), (ELASTIC.to_owned(), &self.elastic)];
        let fixed = self.fixed.iter().map(|(envy_weight, network)| (fixed_name(*envy_weight), network));
        let stored: Vec<(String, Vec<u8>)> = named
            .into_iter()
            .chain(fixed)
            .map(|(name, network)| {
                (name, network.parameters().iter().flat_map(|one| (*one as f32).to_le_bytes()).collect())
            })
            .collect();
        let views = stored
            .iter()
            .map(|(name, bytes)| Ok((name, TensorView::new(Dtype::F32, vec![PARAMETERS], bytes)?)))
            .collect::<Result<Vec<_>, safetensors::SafeTensorError>>()
            .map_err(|error| unreadable(error.to_string()))?;
        let json = serde_json::to_string(provenance).map_err(|error| unreadable(error.to_string()))?;
        safetensors::serialize(views, Some(HashMap::from([(KEY.to_owned(), json)])))
            .map_err(|error| unreadable(error.to_string()))
    }

    /// Reads a file.
    ///
    /// # Errors
    /// It is damaged, of another version, or lacks something.
    pub fn from_bytes(bytes: &[u8]) -> Result<(Self, Provenance), WeightsError> {
        let unreadable = |error: safetensors::SafeTensorError| WeightsError::Unreadable(error.to_string());
        let (_, metadata) = SafeTensors::read_metadata(bytes).map_err(unreadable)?;
        let json = metadata.metadata().as_ref().and_then(|map| map.get(KEY));
        let json = json.ok_or_else(|| WeightsError::NoProvenance(format!("it has no {KEY:?}")))?;
        #[derive(Deserialize)]
        struct Form {
            format: u32,
        }
        let broken = |error: serde_json::Error| WeightsError::NoProvenance(error.to_string());
        let Form { format } = serde_json::from_str(json).map_err(broken)?;
        if format != FORMAT {
            return Err(WeightsError::OtherVersion { found: format });
        }
        let provenance: Provenance = serde_json::from_str(json).map_err(broken)?;
        let tensors = SafeTensors::deserialize(bytes).map_err(unreadable)?;
        let fixed = provenance
            .fixed
            .iter()
            .map(|envy_weight| Ok((*envy_weight, network(&tensors, &fixed_name(*envy_weight))?)))
            .collect::<Result<Vec<_>, WeightsError>>()?;
        let trained = Self { told: network(&tensors, TOLD)?, elastic: network(&tensors, ELASTIC)?, fixed };
        Ok((trained, provenance))
    }
}

fn network(tensors: &SafeTensors<'_>, name: &str) -> Result<Network, WeightsError> {
    let fault = |reason: String| WeightsError::Network { name: name.to_owned(), reason };
    let tensor = tensors.tensor(name).map_err(|_| fault("is missing".to_owned()))?;
    if tensor.dtype() != Dtype::F32 || tensor.shape() != [PARAMETERS] {
        let (dtype, shape) = (tensor.dtype(), tensor.shape());
        return Err(fault(format!("has {dtype:?} numbers in {shape:?}; it must have {PARAMETERS} in F32")));
    }
    let numbers = tensor.data().as_chunks::<4>().0.iter().map(|bytes| f64::from(f32::from_le_bytes(*bytes)));
    Network::from_parameters(numbers.collect())
        .ok_or_else(|| fault("has a number that is not finite".to_owned()))
}

impl Provenance {
    /// Of a training that was just done; figures come later.
    #[must_use]
    pub fn new(command: String, seed: u64, commit: String, trained: &Trained) -> Self {
        Self {
            format: FORMAT,
            command,
            seed,
            commit,
            fixed: trained.fixed.iter().map(|(envy_weight, _)| *envy_weight).collect(),
            held_out_seed: super::HELD_OUT_SEED,
            held_out: super::HELD_OUT,
            figures: Vec::new(),
        }
    }
}

/// The files that are shipped, by the seeds 1, 2 and 3. Whatever runs a policy uses the first.
pub const SHIPPED: [&[u8]; 3] = [
    include_bytes!("../../../weights/allocator-1.safetensors"),
    include_bytes!("../../../weights/allocator-2.safetensors"),
    include_bytes!("../../../weights/allocator-3.safetensors"),
];

/// The networks that policies use, read once.
///
/// # Errors
/// The program was built with a file that does not fit it.
pub fn shipped() -> Result<&'static (Trained, Provenance), &'static WeightsError> {
    static READ: OnceLock<Result<(Trained, Provenance), WeightsError>> = OnceLock::new();
    READ.get_or_init(|| Trained::from_bytes(SHIPPED[0])).as_ref()
}
