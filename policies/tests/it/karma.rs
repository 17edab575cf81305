//! Karma against its definition, one slice at a time.

use policies::karma::{Karma, Quantum, quantum};
use policies::policy::Policy;
use policies::round::{Agent, Round};
use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;

use crate::literal::literal;

#[test]
fn the_batched_form_is_the_literal_one_on_random_states() {
    let mut random = ChaCha8Rng::seed_from_u64(20_230_710);
    for state in 0..4_000 {
        let users = random.random_range(1..12);
        let fair_share = random.random_range(0..9);
        let guaranteed = random.random_range(0..=fair_share);
        let of = Quantum { fair_share, guaranteed, remainder: random.random_range(0..3) };
        let mut credits: Vec<i64> = (0..users).map(|_| random.random_range(0..30)).collect();
        let mut same = credits.clone();
        for _ in 0..3 {
            let demand: Vec<u64> = (0..users).map(|_| random.random_range(0..25)).collect();
            let chips = quantum(&mut credits, &demand, of);
            assert_eq!(chips, literal(&mut same, &demand, of), "seed 20230710, state {state}");
            assert_eq!(credits, same, "seed 20230710, state {state}");
        }
    }
}

#[test]
fn very_rich_donors_and_empty_pools_are_no_special_case() {
    let of = Quantum { fair_share: 4, guaranteed: 4, remainder: 0 };
    let mut credits = vec![i64::MAX / 4, 3, 0];
    let mut same = credits.clone();
    let demand = [0, 9, 4];
    assert_eq!(quantum(&mut credits, &demand, of), literal(&mut same, &demand, of));
    assert_eq!(credits, same);
    assert_eq!(quantum(&mut [], &[], of), Vec::<u64>::new());
}

fn round(supply: u64, demand: &[u64]) -> Round {
    let agents = demand.iter().map(|chips| Agent { weight: 1.0, demand: vec![*chips], value: Vec::new() });
    Round { hours: 1.0, supply: vec![supply], agents: agents.collect(), gangs: Vec::new() }
}

#[test]
fn a_joining_user_starts_with_the_mean_of_credits() {
    let mut karma = Karma::new(1_000, 10);
    karma.allocate(&round(12, &[6, 0])).unwrap();
    assert_eq!(karma.credits(), [[10, 10]], "nobody wants the other's");
    karma.allocate(&round(12, &[10, 0])).unwrap();
    assert_eq!(karma.credits(), [[6, 14]]);
    karma.allocate(&round(18, &[6, 6, 6])).unwrap();
    assert_eq!(karma.credits(), [[6, 14, 10]]);
    karma.allocate(&round(12, &[6, 6])).unwrap();
    assert_eq!(karma.credits(), [[6, 14]], "who leaves takes its credits along");
}

#[test]
fn what_does_not_divide_by_users_is_lent_as_well() {
    let mut karma = Karma::new(500, 10);
    let allocation = karma.allocate(&round(10, &[9, 9, 9])).unwrap();
    assert_eq!(allocation.chips.iter().map(|row| row[0]).sum::<u64>(), 10);
}
