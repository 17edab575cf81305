//! The two solvers against each other.

use policies::linear::Program;
use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;

#[test]
fn both_solvers_find_the_same_optimum_of_random_programs() {
    let mut random = ChaCha8Rng::seed_from_u64(77);
    for case in 0..150 {
        let (variables, rows) = (random.random_range(1..15), random.random_range(1..15));
        let mut program = Program::default();
        for _ in 0..variables {
            program.variable(random.random_range(-1.0..3.0), 0.0, random.random_range(0.5..4.0));
        }
        for _ in 0..rows {
            let terms = (0..variables).map(|at| (at, random.random_range(-0.5..2.0))).collect();
            program.at_most(terms, random.random_range(0.1..6.0));
        }
        let (simplex, interior) = (program.simplex().unwrap(), program.interior().unwrap());
        let scale = simplex.value.abs().max(1.0);
        let (a, b) = (simplex.value, interior.value);
        assert!((a - b).abs() <= 1e-6 * scale, "case {case}: {a} and {b}");
        assert!(program.violation(&simplex.x) <= 1e-7, "case {case}");
        assert!(program.violation(&interior.x) <= 1e-6, "case {case}");
    }
}

#[test]
fn a_dual_is_what_one_more_unit_is_worth() {
    let build = |most: f64| {
        let mut program = Program::default();
        let (x, y) = (program.variable(3.0, 0.0, f64::INFINITY), program.variable(2.0, 0.0, 1.0));
        program.at_most(vec![(x, 1.0), (y, 1.0)], most);
        program
    };
    let duals = build(4.0).interior().unwrap().duals;
    let gain = build(5.0).simplex().unwrap().value - build(4.0).simplex().unwrap().value;
    assert!((duals[0] - gain).abs() < 1e-6, "{duals:?} {gain}");
}

#[test]
fn a_program_without_a_solution_is_said_to_have_none() {
    let mut program = Program::default();
    let x = program.variable(1.0, 2.0, 3.0);
    program.at_most(vec![(x, 1.0)], 1.0);
    assert!(program.simplex().is_err() && program.interior().is_err());
}
