//! The situations from the theory, with Karma and the market, and what Theorem 4 says.

use policies::catalogue::{Makings, find};
use policies::fixtures;
use policies::measure::{AgentFigures, Measures, measure};
use policies::optimum::welfare_bound;
use policies::simulate::{Record, Unobserved, simulate};
use policies::trace::Trace;
use policies::{pareto, synthetic};

fn run(trace: &Trace, policy: &str) -> (Record, Measures, Vec<AgentFigures>) {
    let makings = Makings { karma_credits: 100_000, income_per_chip_hour: trace.mean_value() };
    let mut policy = find(policy).unwrap().make(&makings);
    let record = simulate(trace, policy.as_mut(), &mut Unobserved).unwrap();
    let (measures, agents) = measure(&record, welfare_bound(trace));
    (record, measures, agents)
}

#[test]
fn with_heterogeneous_values_the_market_gives_each_its_unit_and_karma_a_quarter() {
    let trace = fixtures::heterogeneous(4, 0.01);
    let units = |agents: &[AgentFigures]| -> Vec<f64> {
        agents.iter().map(|agent| agent.got / fixtures::UNIT as f64).collect()
    };
    for agent in units(&run(&trace, "karma").2) {
        assert!((agent - 0.2575).abs() < 0.002, "{agent}");
    }
    let (record, measures, agents) = run(&trace, "market-foresight");
    for agent in units(&agents) {
        assert!(agent > 0.999, "{agent}");
    }
    assert!(measures.welfare_share > 0.999, "{measures:?}");
    assert_eq!(pareto::gap(&record).unwrap(), Some(0.0));
    let (record, ..) = run(&trace, "karma");
    let gap = pareto::gap(&record).unwrap().unwrap();
    assert!((gap - (4.0 / 1.03 - 1.0)).abs() < 0.01, "everybody could have its own round: {gap}");
}

#[test]
fn with_uniform_values_nobody_who_counts_chips_alone_can_know() {
    let n = 4;
    // Whom the first round serves least never returns: that is the adversary.
    let (first, ..) = run(&fixtures::uniform(n, 0), "karma");
    let gone = (0..n).min_by_key(|agent| first.useful[*agent]).unwrap();
    let (_, karma, _) = run(&fixtures::uniform(n, gone), "karma");
    assert!(karma.least_welfare <= 1.0 / n as f64 + 1e-9, "{karma:?}");
    // With hindsight the one who goes has the first unit, and all have one unit.
    let trace = fixtures::uniform(n, gone);
    assert!((welfare_bound(&trace) - (n as u64 * fixtures::UNIT) as f64).abs() < 1e-6);
}

#[test]
fn theorem_4_holds_where_all_budgets_are_spent() {
    let trace = synthetic::trace(synthetic::Plan { agents: 6, chip_types: 1, rounds: 120, seed: 4 });
    let (record, measures, agents) = run(&trace, "market-foresight");
    let (paid, chips) = record
        .spending
        .iter()
        .fold((0.0, 0.0), |sum, of| (sum.0 + of.paid as f64, sum.1 + of.chip_seconds as f64));
    for (agent, of) in agents.iter().zip(&record.spending) {
        // chips_i = (1/f_i) · (B_i / Σ B) · Σ chips, with what was spent as the budget.
        let promised = of.paid as f64 / paid * chips / agent.price_ratio.unwrap();
        assert!((promised / of.chip_seconds as f64 - 1.0).abs() < 1e-9);
    }
    let (guarantee, reached) = (measures.guarantee.unwrap(), measures.reached.unwrap());
    assert!(guarantee > 0.0 && guarantee <= 1.0, "{guarantee}");
    // Nearly all is spent, so what was reached is what was promised.
    let spent: f64 = record.spending.iter().map(|of| of.paid as f64 / of.earned as f64).fold(1.0, f64::min);
    assert!(reached >= guarantee * spent - 0.02, "{reached} {guarantee} {spent}");
}

#[test]
fn no_team_pays_more_than_it_has() {
    let trace = synthetic::trace(synthetic::Plan { agents: 5, chip_types: 2, rounds: 200, seed: 9 });
    let (record, measures, _) = run(&trace, "market");
    for of in &record.spending {
        assert!(of.paid <= of.earned + 1_000, "{of:?}");
    }
    assert!(measures.welfare_share > run(&trace, "max-min").1.welfare_share, "values count in a market");
}
