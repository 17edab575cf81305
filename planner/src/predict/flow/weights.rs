//! The flow's weights as a file: safetensors, with where they come from in its metadata.

use std::collections::HashMap;

use safetensors::tensor::TensorView;
use safetensors::{Dtype, SafeTensors};
use serde::{Deserialize, Serialize};

use super::condition::{CONDITIONS, Standard};
use super::network::{LAYERS, Network};
use super::{Flow, FlowPredictor, Plan};
use crate::forecast::ForecastError;
use crate::predict::HORIZONS;
use crate::predict::calibrate::Calibration;

/// The form of file and network; weights of another one are refused.
pub const VERSION: u32 = 1;
/// Key of the metadata. There is one alone, so that the same training gives the same bytes.
const KEY: &str = "provenance";

/// Where weights come from.
#[derive(Clone, Debug, Deserialize, PartialEq, Serialize)]
pub struct Provenance {
    /// Form of file and network.
    pub version: u32,
    /// The command that made them.
    pub command: String,
    /// Commit of the sources that it was built from.
    pub commit: String,
    /// Seed of the training.
    pub seed: u64,
    /// Steps of the training.
    pub steps: usize,
    /// Curves per step.
    pub batch: usize,
    /// Finished curves of each plain family in the calibration.
    pub finished: usize,
}

impl Provenance {
    /// Of a training by a command, of sources at a commit.
    #[must_use]
    pub fn of(plan: Plan, command: String, commit: String) -> Self {
        Self {
            version: VERSION,
            command,
            commit,
            seed: plan.seed,
            steps: plan.steps,
            batch: plan.batch,
            finished: plan.finished,
        }
    }
}

fn unusable(why: impl std::fmt::Display) -> ForecastError {
    ForecastError::Weights(why.to_string())
}

/// Writes a predictor as a file's bytes.
///
/// # Errors
/// The tensor library's, as [`ForecastError::Weights`].
pub(super) fn to_bytes(predictor: &FlowPredictor) -> Result<Vec<u8>, ForecastError> {
    let mut arrays: Vec<(String, Vec<usize>, Vec<u8>)> = Vec::new();
    let bytes = |values: &[f32]| values.iter().flat_map(|value| value.to_le_bytes()).collect();
    let layers = predictor.flow.network.numbers().map_err(unusable)?;
    for (nth, ((weights, bias), (inputs, outputs))) in layers.iter().zip(LAYERS).enumerate() {
        arrays.push((format!("layer{nth}.weights"), vec![inputs, outputs], bytes(weights)));
        arrays.push((format!("layer{nth}.bias"), vec![outputs], bytes(bias)));
    }
    let numbers = [
        ("conditions.means", &predictor.flow.conditions.means),
        ("conditions.deviations", &predictor.flow.conditions.deviations),
        ("futures.means", &predictor.flow.futures.means),
        ("futures.deviations", &predictor.flow.futures.deviations),
        ("calibration", &predictor.calibration.numbers()),
    ];
    for (name, values) in numbers {
        let values: Vec<f32> = values.iter().map(|value| *value as f32).collect();
        arrays.push((name.to_owned(), vec![values.len()], bytes(&values)));
    }
    let views = arrays.iter().map(|(name, shape, bytes)| {
        Ok((name.as_str(), TensorView::new(Dtype::F32, shape.clone(), bytes).map_err(unusable)?))
    });
    let views = views.collect::<Result<Vec<_>, ForecastError>>()?;
    let provenance = serde_json::to_string(&predictor.provenance).map_err(unusable)?;
    safetensors::serialize(views, Some(HashMap::from([(KEY.to_owned(), provenance)]))).map_err(unusable)
}

/// Reads a predictor from a file's bytes.
///
/// # Errors
/// [`ForecastError::Weights`] when they are no weights, of another version, or incomplete.
pub(super) fn from_bytes(bytes: &[u8]) -> Result<FlowPredictor, ForecastError> {
    let file = SafeTensors::deserialize(bytes)
        .map_err(|error| unusable(format!("not a safetensors file: {error}")))?;
    let (_, metadata) = SafeTensors::read_metadata(bytes).map_err(unusable)?;
    let provenance = metadata.metadata().as_ref().and_then(|all| all.get(KEY));
    let provenance = provenance.ok_or_else(|| unusable("they do not say where they come from"))?;
    let version =
        serde_json::from_str::<serde_json::Value>(provenance).map_err(unusable)?["version"].as_u64();
    if version != Some(u64::from(VERSION)) {
        let theirs = version.map_or_else(|| "none".to_owned(), |version| version.to_string());
        return Err(unusable(format!("they are of version {theirs}, and {VERSION} is needed")));
    }
    let provenance = serde_json::from_str(provenance).map_err(unusable)?;
    let array = |name: &str, length: Option<usize>| {
        let tensor = file.tensor(name).map_err(|_| unusable(format!("{name} is missing")))?;
        let values: Vec<f32> =
            tensor.data().as_chunks::<4>().0.iter().map(|bytes| f32::from_le_bytes(*bytes)).collect();
        if tensor.dtype() != Dtype::F32 || length.is_some_and(|length| length != values.len()) {
            return Err(unusable(format!("{name} has {} numbers of type {}", values.len(), tensor.dtype())));
        }
        match values.iter().all(|value| value.is_finite()) {
            true => Ok(values),
            false => Err(unusable(format!("{name} has a number that is not finite"))),
        }
    };
    let wide = |name: &str, length| {
        Ok::<Vec<f64>, ForecastError>(array(name, length)?.into_iter().map(f64::from).collect())
    };
    let layers = LAYERS.iter().enumerate().map(|(nth, (inputs, outputs))| {
        let weights = array(&format!("layer{nth}.weights"), Some(inputs * outputs))?;
        Ok((weights, array(&format!("layer{nth}.bias"), Some(*outputs))?))
    });
    let standard = |name: &str, length| {
        let means = wide(&format!("{name}.means"), Some(length))?;
        Ok::<_, ForecastError>(Standard {
            means,
            deviations: wide(&format!("{name}.deviations"), Some(length))?,
        })
    };
    Ok(FlowPredictor {
        flow: Flow {
            network: Network::of(layers.collect::<Result<_, ForecastError>>()?).map_err(unusable)?,
            conditions: standard("conditions", CONDITIONS)?,
            futures: standard("futures", HORIZONS)?,
        },
        calibration: Calibration::of_numbers(&wide("calibration", None)?)
            .ok_or_else(|| unusable("the calibration is incomplete"))?,
        provenance,
    })
}
