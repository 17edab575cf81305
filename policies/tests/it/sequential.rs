//! The rules for agents that arrive one by one, against the reference: n = 10, m = 3, log-normal demand with deviation 1.2,
//! 400 instances.

use policies::sequential::{BASELINES, CautiousLp, DynamicDrf, EqualSplit, Greedy, Rule, Score};
use policies::sequential::{Instance, exchange, instances, roll_out, score};

#[test]
fn the_baselines_are_where_the_reference_has_them() {
    let held_out = instances(400, 10, 3, 1.2, 6_472);
    let of = |title: &str| -> Score {
        let baseline = BASELINES.iter().find(|baseline| baseline.title == title).unwrap();
        score(&held_out, &baseline.rule).unwrap()
    };
    let dynamic = of("Dynamic DRF");
    assert!((dynamic.utility - 0.803).abs() <= 0.01, "{dynamic:?}");
    assert!((dynamic.envy - 0.0437).abs() <= 0.01, "{dynamic:?}");
    assert!(dynamic.most_sharing_loss < 1e-9 && dynamic.pareto_loss < 1e-9, "{dynamic:?}");
    let cautious = of("Cautious LP");
    assert!((cautious.utility - 0.772).abs() <= 0.01, "{cautious:?}");
    assert!(cautious.envy < 1e-7 && cautious.most_sharing_loss < 1e-7, "{cautious:?}");
    let greedy = of("Greedy");
    // The reference has 1.021 and 0.38 for a greedy rule that it does not spell out; ours takes nothing back.
    assert!((greedy.utility - 0.990).abs() <= 0.01, "{greedy:?}");
    assert!((greedy.envy - 0.399).abs() <= 0.01, "{greedy:?}");
    let equal = of("Equal split");
    assert!((equal.utility - 0.55).abs() < 1e-9 && equal.most_sharing_loss == 0.0, "{equal:?}");
    let hindsight = of("Hindsight DRF");
    assert!(hindsight.most_sharing_loss < 1e-9 && hindsight.utility > equal.utility, "{hindsight:?}");
}

#[test]
fn nothing_is_taken_back_and_nothing_is_given_twice() {
    for instance in instances(20, 8, 2, 1.2, 5) {
        for rule in [&DynamicDrf as &dyn Rule, &CautiousLp, &Greedy, &EqualSplit] {
            let steps = roll_out(&instance, rule).unwrap();
            for pair in steps.windows(2) {
                assert!(pair[0].iter().zip(&pair[1]).all(|(before, after)| *after >= before - 1e-9));
            }
            let last = steps.last().unwrap();
            for at in 0..2 {
                let used: f64 = instance.demands.iter().zip(last).map(|(demand, x)| demand[at] * x).sum();
                assert!(used <= 1.0 + 1e-7, "{used}");
            }
        }
    }
}

#[test]
fn who_has_all_it_can_use_holds_nobody_back_from_what_they_need() {
    // One resource. The first takes more than the second can ever use; the third must have as much as the first.
    let instance = Instance { demands: vec![vec![1.0]; 3], caps: vec![0.6, 0.35, 0.9] };
    let steps = roll_out(&instance, &CautiousLp).unwrap();
    let near = |held: &[f64], expected: &[f64]| {
        assert!(held.iter().zip(expected).all(|(x, y)| (x - y).abs() < 1e-6), "{held:?} {expected:?}");
    };
    near(&steps[0], &[1.0 / 3.0]);
    near(&steps[2], &[1.0 / 3.0; 3]);
    let instance = Instance { demands: vec![vec![1.0]; 4], caps: vec![0.1, 0.9, 0.28, 0.9] };
    let steps = roll_out(&instance, &CautiousLp).unwrap();
    near(&steps[3], &[0.1, 0.31, 0.28, 0.31]);
}

#[test]
fn cautious_lp_has_a_solution_whatever_agents_can_use() {
    use rand::{RngExt, SeedableRng};
    let mut random = rand_chacha::ChaCha8Rng::seed_from_u64(5);
    for mut instance in instances(60, 9, 2, 1.2, 11) {
        for (demand, cap) in instance.demands.iter_mut().zip(&mut instance.caps) {
            *cap = random.random_range(0.01..0.9);
            if random.random_bool(0.3) {
                *demand = vec![1.0, 0.0];
            }
        }
        let steps = roll_out(&instance, &CautiousLp).unwrap();
        for held in &steps {
            for (i, (x, cap)) in held.iter().zip(&instance.caps).enumerate() {
                assert!(*x <= cap + 1e-7 && *x >= cap.min(1.0 / 9.0) - 1e-7, "{held:?}");
                for (j, other) in held.iter().enumerate().filter(|(j, _)| *j != i) {
                    let envy = exchange(&instance.demands[i], &instance.demands[j]) * other - x;
                    assert!(envy < 1e-6 || *x > cap - 1e-6, "{i} envies {j} by {envy}: {held:?}");
                }
            }
        }
    }
}
