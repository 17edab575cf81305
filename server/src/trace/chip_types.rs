//! Chip types, from counts of a real heterogeneous cluster, and which of them a job can use.
//!
//! The Philly trace says how many GPUs a job held, not of which model. The mix here is that of Alibaba's
//! cluster-trace-gpu-v2023: GPUs per model over its nodes, and how many of its pods insist on models. Which model a job
//! prefers is drawn, in proportion to the mix, so that no type is hopelessly short by invention. `G2` and `G3` are that
//! trace's own cover names. Credit and licence: `data/README.md`.

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

/// Pods with GPUs, and those of them that name the models they can use.
const PODS: u64 = 7_064;
const PODS_THAT_NAME_MODELS: u64 = 2_388;

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

/// Which models a job can use, in order of preference, from two uniform draws: its first choice, and unless it insists
/// on that a second one, both drawn by the number of GPUs. As many jobs insist as pods name models.
#[must_use]
pub fn acceptable(insistence: u64, choice: u64) -> Vec<usize> {
    let first = by_count(choice % GPUS, None);
    if insistence % PODS < PODS_THAT_NAME_MODELS {
        return vec![first];
    }
    // The quotient is independent of the remainder that chose the first.
    let second = by_count(choice / GPUS % (GPUS - MODELS[first].gpus), Some(first));
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
        assert_eq!(MODELS.iter().map(|model| model.gpus).sum::<u64>(), GPUS);
        for (index, model) in MODELS.iter().enumerate() {
            assert_eq!(id(index).as_str(), model.id);
        }
        assert_eq!(split(100), [71, 14, 6, 5, 4]);
    }

    #[test]
    fn choices_follow_the_mix() {
        let (mut first, mut alone) = ([0_u64; MODELS.len()], 0);
        let draws = PODS * 10;
        for draw in 0..draws {
            let models = acceptable(draw, draw.wrapping_mul(0x9E37_79B9_7F4A_7C15));
            first[models[0]] += 1;
            alone += u64::from(models.len() == 1);
            assert!(models.len() == 1 || models[0] != models[1], "{models:?}");
        }
        assert_eq!(alone, PODS_THAT_NAME_MODELS * 10);
        for (model, count) in MODELS.iter().zip(first) {
            // Within one percent of all draws.
            assert!(
                (count * GPUS).abs_diff(draws * model.gpus) * 100 < draws * GPUS,
                "{}: {count}",
                model.id
            );
        }
    }
}
