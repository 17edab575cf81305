//! Worked examples.

use policies::catalogue::{Makings, all, find};
use policies::drf;
use policies::karma::Karma;
use policies::max_min::MaxMin;
use policies::policy::Policy;
use policies::round::{Agent, Round};
use policies::simulate::{Unobserved, simulate};
use policies::trace::{Demand, Trace};

const QUANTA: [[u64; 3]; 5] = [[6, 6, 0], [12, 0, 0], [0, 12, 0], [6, 6, 18], [6, 6, 12]];

fn totals(policy: &mut dyn Policy) -> Vec<u64> {
    let mut totals = vec![0; 3];
    for demand in QUANTA {
        let agents =
            demand.iter().map(|chips| Agent { weight: 1.0, demand: vec![*chips], value: Vec::new() });
        let round = Round { hours: 1.0, supply: vec![18], agents: agents.collect(), gangs: Vec::new() };
        let allocation = policy.allocate(&round).unwrap();
        totals.iter_mut().zip(allocation.chips).for_each(|(total, row)| *total += row[0]);
    }
    totals
}

#[test]
fn over_five_quanta_max_min_forgets_and_karma_does_not() {
    assert_eq!(totals(&mut MaxMin::default()), [30, 30, 12]);
    assert_eq!(totals(&mut Karma::new(500, 6)), [24, 24, 24]);
}

#[test]
fn drf_gives_three_and_two_tasks() {
    assert_eq!(drf::tasks(&[9, 18], &[vec![1, 4], vec![3, 1]], &[100, 100]), [3, 2]);
    assert_eq!(drf::tasks(&[9, 18], &[vec![1, 4], vec![3, 1]], &[1, 100]), [1, 2]);
    assert_eq!(drf::tasks(&[9], &[vec![0]], &[5]), [0], "a task that needs nothing is none");
}

fn all_ask(values: bool) -> Trace {
    let agent = |chips: u64, value: f64| Agent {
        weight: 1.0,
        demand: vec![chips, chips / 2],
        value: if values { vec![value, value] } else { Vec::new() },
    };
    let round = Round {
        hours: 1.0,
        supply: vec![20, 8],
        agents: vec![agent(30, 1.0), agent(8, 2.0), agent(0, 1.0), agent(12, 0.5)],
        gangs: Vec::new(),
    };
    Trace {
        name: "t".to_owned(),
        source: "made up".to_owned(),
        value_source: "made up".to_owned(),
        agents: (0..4).map(|nth| format!("a{nth}")).collect(),
        chip_types: vec!["x".to_owned(), "y".to_owned()],
        demand: Demand::Fixed(vec![round; 6]),
    }
}

#[test]
fn every_policy_of_the_catalogue_keeps_to_demand_and_supply() {
    let makings = Makings { karma_credits: 100, income_per_chip_hour: 1.0 };
    for choice in all() {
        let entry = choice.entry;
        for values in [false, true] {
            let trace = all_ask(values);
            match simulate(&trace, choice.make(&makings).as_mut(), &mut Unobserved) {
                Ok(record) => {
                    assert_eq!(record.rounds(), 6, "{}", entry.name);
                    let wasted = record.granted.iter().zip(&record.demand).filter(|(got, asked)| got > asked);
                    assert_eq!(wasted.count(), 0, "{} gives what nobody asks for", entry.name);
                    assert!(record.useful.iter().sum::<u32>() > 0, "{} gives nothing", entry.name);
                }
                Err(error) => {
                    assert!(["fifo", "priority"].contains(&entry.name), "{}: {error}", entry.name);
                    assert!(error.to_string().contains("does not apply"), "{error}");
                }
            }
        }
    }
    assert!(find("karma").is_some() && find("communism").is_none());
}

#[test]
fn a_weight_of_envy_follows_the_name_of_a_policy_that_has_one() {
    let name = |text: &str| find(text).map(|choice| choice.name());
    assert_eq!(name("learned").unwrap(), "learned@4");
    assert_eq!(name("learned@2.50").unwrap(), "learned@2.5");
    assert_eq!(name("learned-elastic@-0").unwrap(), "learned-elastic@0");
    assert_eq!(find("learned@20").unwrap().title(), "Learned fair allocator, λ = 20");
    for wrong in ["learned@", "learned@20.1", "learned@-1", "learned@NaN", "karma@1"] {
        assert_eq!(name(wrong), None, "{wrong}");
    }
}

#[test]
fn a_round_outside_its_limits_is_refused_by_the_field() {
    let round = |text: &str| serde_json::from_str::<Round>(text).unwrap().check().unwrap_err().to_string();
    let refused = round(r#"{"supply": [3], "agents": [{"demand": [1, 2]}]}"#);
    assert_eq!(refused, "agents[0].demand has 2 numbers; supply has 1");
    let refused = round(r#"{"supply": [3], "agents": [{"demand": [1], "weight": 0}]}"#);
    assert_eq!(refused, "agents[0].weight is 0; a weight is above 0 and at most 1e9");
    let refused = round(r#"{"supply": [3], "agents": [{"demand": [2000000000]}]}"#);
    assert_eq!(refused, "agents[0].demand[0] is 2000000000; the most is 1000000000");
    let refused = round(r#"{"supply": [], "agents": []}"#);
    assert_eq!(refused, "supply has 0 chip types; it must be 1 to 1024");
    let refused = round(r#"{"supply": [1], "agents": [{"demand": [1], "value": [-1]}]}"#);
    assert_eq!(refused, "agents[0].value[0] is -1; a value is 0 to 1e6");
}
