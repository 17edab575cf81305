//! Max-min, DRF and the optimum against their definitions, on random rounds.

use policies::drf;
use policies::optimum::{HighestValue, welfare_bound};
use policies::policy::Policy;
use policies::simulate::{Unobserved, simulate};
use policies::synthetic;
use policies::water;
use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;

const SEED: u64 = 19_870_101;

#[test]
fn nobody_has_more_under_max_min_without_somebody_poorer_having_less() {
    let mut random = ChaCha8Rng::seed_from_u64(SEED);
    for case in 0..2_000 {
        let agents = random.random_range(1..9);
        let weights: Vec<f64> = (0..agents).map(|_| f64::from(random.random_range(1..5_u32))).collect();
        let caps: Vec<u64> = (0..agents).map(|_| random.random_range(0..40)).collect();
        let total = random.random_range(0..100);
        let chips = water::whole(total, &weights, &caps, case);
        let name = format!("seed {SEED}, case {case}: {total} {weights:?} {caps:?} -> {chips:?}");
        assert_eq!(chips.iter().sum::<u64>(), total.min(caps.iter().sum()), "{name}");
        for poor in (0..agents).filter(|agent| chips[*agent] < caps[*agent]) {
            for rich in (0..agents).filter(|agent| chips[*agent] > 0) {
                // One chip moved from rich to poor must not leave poor at or below where rich was, by more than the whole
                // chip that rounding may cost either.
                let (of_poor, of_rich) = (chips[poor] as f64 + 1.0, chips[rich] as f64 - 1.0);
                assert!(of_poor / weights[poor] >= of_rich / weights[rich] - 1e-9, "{name}");
            }
        }
    }
}

#[test]
fn drf_levels_dominant_shares_until_a_resource_is_gone() {
    let mut random = ChaCha8Rng::seed_from_u64(SEED + 1);
    for case in 0..500 {
        let (agents, types) = (random.random_range(1..7), random.random_range(1..4));
        let capacity: Vec<u64> = (0..types).map(|_| random.random_range(1..60)).collect();
        let bundles: Vec<Vec<u64>> =
            (0..agents).map(|_| (0..types).map(|_| random.random_range(0..50)).collect()).collect();
        let weights: Vec<f64> = (0..agents).map(|_| f64::from(random.random_range(1..4_u32))).collect();
        let parts = drf::parts(&capacity, &bundles, &weights);
        let name = format!("seed {}, case {case}: {capacity:?} {bundles:?} {parts:?}", SEED + 1);
        let used =
            |at: usize| -> f64 { bundles.iter().zip(&parts).map(|(b, part)| b[at] as f64 * part).sum() };
        let share = |agent: usize| {
            let most = bundles[agent].iter().zip(&capacity).map(|(need, all)| *need as f64 / *all as f64);
            most.fold(0.0, f64::max) * parts[agent] / weights[agent]
        };
        for (at, chips) in capacity.iter().enumerate() {
            assert!(used(at) <= *chips as f64 * (1.0 + 1e-9), "{name}");
        }
        for agent in (0..agents).filter(|agent| parts[*agent] < 1.0 - 1e-9) {
            if bundles[agent].iter().all(|need| *need == 0) {
                continue;
            }
            // Who is not served in full is stopped by a resource that is gone, and nobody who uses it has a larger
            // dominant share.
            let stopped = (0..types).any(|at| {
                let gone = used(at) >= capacity[at] as f64 * (1.0 - 1e-6) && bundles[agent][at] > 0;
                let users = (0..agents).filter(|other| bundles[*other][at] > 0);
                gone && users.into_iter().all(|other| share(other) <= share(agent) + 1e-6)
            });
            assert!(stopped, "{name}: agent {agent}");
        }
    }
}

#[test]
fn the_highest_values_first_are_the_bound() {
    let plan = synthetic::Plan { agents: 6, chip_types: 2, rounds: 30, seed: 3 };
    let trace = synthetic::trace(plan);
    let mut policy = HighestValue;
    let record = simulate(&trace, &mut policy as &mut dyn Policy, &mut Unobserved).unwrap();
    let (measures, _) = policies::measure::measure(&record, welfare_bound(&trace));
    assert!((measures.welfare_share - 1.0).abs() < 1e-5, "{}", measures.welfare_share);
    assert_eq!(synthetic::trace(plan), trace, "the same seed gives the same trace");
}

#[test]
fn lying_pays_where_demand_is_taken_at_its_word_and_not_in_a_static_share() {
    let trace = synthetic::trace(synthetic::Plan { agents: 4, chip_types: 1, rounds: 40, seed: 8 });
    let policies::trace::Demand::Fixed(rounds) = &trace.demand else {
        unreachable!("a synthetic trace is fixed")
    };
    let makings = policies::catalogue::Makings { karma_credits: 1_000, income_per_chip_hour: 1.0 };
    let most = |name: &str| {
        let entry = policies::catalogue::find(name).unwrap();
        let gains =
            policies::regret::regret(rounds, &|| entry.make(&makings), 1, &mut || true).unwrap().unwrap();
        gains.into_iter().fold(0.0, f64::max)
    };
    assert_eq!(most("static"), 0.0);
    // Within a round max-min is strategy-proof but for the chips that rounding leaves over.
    assert!(most("max-min") < 0.01, "{}", most("max-min"));
    assert!(most("proportional") > 0.1, "{}", most("proportional"));
    let entry = policies::catalogue::find("static").unwrap();
    assert_eq!(policies::regret::regret(rounds, &|| entry.make(&makings), 1, &mut || false).unwrap(), None);
}
