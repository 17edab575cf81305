//! Chip types and who insists on which, from counts of a real heterogeneous cluster.
//!
//! The Philly trace says how many GPUs a job held, not of which model. The shares here are those of Alibaba's
//! cluster-trace-gpu-v2023: GPUs per model over its nodes, and over its pods with GPUs how often a pod names the models
//! it can use. `G2` and `G3` are that trace's own cover names. Credit and licence: `data/README.md`.

use common::ids::ChipTypeId;

/// A chip type and how many of it the real cluster has.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Model {
    /// Its id, also its name.
    pub id: &'static str,
    /// What it is, in words.
    pub name: &'static str,
    /// GPUs of the model in the cluster.
    pub gpus: u64,
}

/// The models with at least one GPU in a hundred, most first (both memory sizes of V100 in one; two A10 left out).
pub const MODELS: [Model; 5] = [
    Model { id: "G2", name: "G2 training GPU", gpus: 4_392 },
    Model { id: "T4", name: "NVIDIA T4", gpus: 842 },
    Model { id: "V100", name: "NVIDIA V100", gpus: 399 },
    Model { id: "G3", name: "G3 training GPU", gpus: 312 },
    Model { id: "P100", name: "NVIDIA P100", gpus: 265 },
];

/// Indices into [`MODELS`], for the table below.
const G2: u8 = 0;
const T4: u8 = 1;
const V100: u8 = 2;
const G3: u8 = 3;
const P100: u8 = 4;

/// Pods with GPUs by the models they name (memory sizes of V100 joined, A10 dropped); none named is any.
const NAMED: [(&[u8], u64); 11] = [
    (&[], 4_676),
    (&[T4], 1_297),
    (&[G2], 331),
    (&[P100], 279),
    (&[V100], 186),
    (&[P100, V100], 107),
    (&[G3], 86),
    (&[G2, P100, T4, V100], 42),
    (&[P100, T4, V100], 33),
    (&[G2, T4, V100], 24),
    (&[T4, V100], 3),
];

/// Pods with GPUs.
const PODS: u64 = 7_064;

/// GPUs of all [`MODELS`].
const GPUS: u64 = 6_210;

/// Most GPUs that a pod of that trace asks for: about larger jobs it says nothing.
pub const LARGEST_POD: u32 = 8;

/// The id of a model.
///
/// # Panics
/// Never: each name in [`MODELS`] is an id, which a test shows.
#[must_use]
pub fn id(model: usize) -> ChipTypeId {
    ChipTypeId::new(MODELS[model].id).expect("the name of a model is an id")
}

/// Which models a job can use, in order of preference, from two uniform draws.
///
/// A job that names none takes two: its first choice and a second, both drawn by the number of GPUs.
#[must_use]
pub fn acceptable(constraint: u64, choice: u64) -> Vec<usize> {
    let mut place = constraint % PODS;
    for (named, pods) in NAMED {
        if place < pods {
            return if named.is_empty() {
                two_of_any(choice)
            } else {
                named.iter().map(|m| usize::from(*m)).collect()
            };
        }
        place -= pods;
    }
    unreachable!("the counts of NAMED add up to PODS")
}

fn two_of_any(choice: u64) -> Vec<usize> {
    let first = by_count(choice % GPUS, None);
    let rest = GPUS - MODELS[first].gpus;
    // The quotient is independent of the remainder that chose the first.
    let second = by_count(choice / GPUS % rest, Some(first));
    vec![first, second]
}

/// The model on which the `place`-th GPU falls, counting all models but `without`.
fn by_count(mut place: u64, without: Option<usize>) -> usize {
    for (model, Model { gpus, .. }) in MODELS.iter().enumerate() {
        if Some(model) == without {
            continue;
        }
        if place < *gpus {
            return model;
        }
        place -= gpus;
    }
    unreachable!("place is below the number of GPUs")
}

/// `total` chips split over the models in proportion to their GPUs, by largest remainder.
#[must_use]
pub fn split(total: u64) -> Vec<u64> {
    super::organisation::largest_remainder(total, &MODELS.map(|model| model.gpus))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn counts_add_up_and_names_are_ids() {
        assert_eq!(NAMED.iter().map(|(_, pods)| pods).sum::<u64>(), PODS);
        assert_eq!(MODELS.iter().map(|model| model.gpus).sum::<u64>(), GPUS);
        for (index, model) in MODELS.iter().enumerate() {
            assert_eq!(id(index).as_str(), model.id);
        }
        assert_eq!(split(100), [71, 14, 6, 5, 4]);
    }

    #[test]
    fn every_draw_gives_different_models_and_all_shares_appear() {
        let mut pinned_to_t4 = 0;
        for draw in 0..PODS {
            let models = acceptable(draw, draw.wrapping_mul(0x9E37_79B9_7F4A_7C15));
            let mut seen = models.clone();
            seen.sort_unstable();
            seen.dedup();
            assert_eq!(seen.len(), models.len(), "{models:?}");
            pinned_to_t4 += u64::from(models == [usize::from(T4)]);
        }
        assert_eq!(pinned_to_t4, 1_297);
    }
}
