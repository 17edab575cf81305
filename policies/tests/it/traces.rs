//! Philly's hours made from its jobs, and the figures on them that the literature's policies must reproduce.

use policies::catalogue::{Makings, find};
use policies::measure::{Measures, measure};
use policies::optimum::welfare_bound;
use policies::simulate::{MEMORY_LIMIT_BYTES, SimulateError, Unobserved, check_size, simulate};
use policies::trace::{Demand, Hold, Size, Trace, held_per_round, normalised, rounds_of};

/// The virtual clusters with work in the window.
const TEAMS: [&str; 11] = [
    "0e4a51", "103959", "11cb48", "2869ce", "6214e9", "6c71a0", "7f04ca", "b436b2", "e13805", "ed69ec",
    "ee9e8c",
];
const HOURS: usize = 1_440;

/// Seconds from 2017-10-01 to a time of the trace.
fn seconds_since(text: &str) -> i64 {
    let number = |range: std::ops::Range<usize>| text[range].parse::<i64>().unwrap();
    let days_before = [0, 30, 61, 91][usize::try_from(number(5..7) - 9).unwrap()] - 30;
    (days_before + number(8..10) - 1) * 86_400 + number(11..13) * 3_600 + number(14..16) * 60 + number(17..19)
}

fn hours() -> Vec<Vec<u64>> {
    let path = format!("{}/../data/philly/philly.csv.zst", env!("CARGO_MANIFEST_DIR"));
    let text = zstd::decode_all(std::fs::File::open(path).unwrap()).unwrap();
    let text = String::from_utf8(text).unwrap();
    let mut jobs = Vec::new();
    for line in text.lines().skip(1).filter(|line| !line.is_empty()) {
        let fields: Vec<&str> = line.split(',').collect();
        let team = fields.get(4).copied().unwrap_or_default();
        if let Some(agent) = TEAMS.iter().position(|name| *name == team) {
            jobs.push(Hold {
                agent,
                from: seconds_since(fields[0]),
                seconds: fields[1].parse::<f64>().unwrap().round() as u64,
                chips: fields[2].parse().unwrap(),
            });
        }
    }
    held_per_round(&jobs, TEAMS.len(), HOURS, 3_600)
}

fn trace(demand: &[Vec<u64>], supply: u64) -> Trace {
    Trace {
        name: "philly".to_owned(),
        source: "Philly".to_owned(),
        value_source: "Every chip-hour is worth 1".to_owned(),
        agents: TEAMS.map(str::to_owned).to_vec(),
        chip_types: vec!["gpu".to_owned()],
        demand: Demand::Fixed(rounds_of(demand, supply, 1.0, |_, _| 1.0)),
    }
}

fn figures(trace: &Trace, policy: &str) -> Measures {
    let makings = Makings { karma_credits: 144_000, income_per_chip_hour: 1.0 };
    let record = simulate(trace, find(policy).unwrap().make(&makings).as_mut(), &mut Unobserved).unwrap();
    measure(&record, welfare_bound(trace)).0
}

#[test]
fn the_hours_are_those_of_the_published_comparison() {
    let hours = hours();
    assert_eq!(hours[0], [12, 19, 7, 48, 43, 46, 176, 212, 10, 1, 142]);
    assert_eq!(hours[700], [55, 0, 5, 8, 33, 40, 75, 72, 2, 0, 260]);
    assert_eq!(hours.iter().flatten().sum::<u64>(), 733_195);
}

#[test]
fn normalised_philly_gives_the_reference_figures() {
    let trace = trace(&normalised(&hours(), 100), 1_100);
    for (policy, utilisation, fairness, least) in [
        ("static", 0.6508, 0.5064, 0.4086),
        ("max-min", 0.8662, 0.6629, 0.6412),
        ("karma-1", 0.8662, 0.6885, 0.6591),
        ("karma", 0.8662, 0.7140, 0.6816),
        ("karma-0", 0.8662, 0.7155, 0.6933),
    ] {
        let figures = figures(&trace, policy);
        assert!((figures.utilisation - utilisation).abs() <= 0.0005, "{policy} {figures:?}");
        assert!((figures.fairness - fairness).abs() <= 0.002, "{policy} {figures:?}");
        assert!((figures.least_welfare - least).abs() <= 0.002, "{policy} {figures:?}");
    }
}

#[test]
fn on_raw_demand_karma_evens_out_totals_whatever_the_need() {
    let trace = trace(&hours(), 330);
    let max_min = figures(&trace, "max-min").least_welfare;
    assert!((max_min - 0.437).abs() <= 0.002, "{max_min}");
    for policy in ["karma", "karma-0", "karma-1"] {
        let least = figures(&trace, policy).least_welfare;
        assert!((0.355..=0.377).contains(&least), "{policy} {least}");
    }
}

#[test]
fn what_would_not_fit_is_refused_with_its_estimate() {
    let size = Size { rounds: 1_000_000, agents: 10_000, chip_types: 4 };
    let error = check_size(size, MEMORY_LIMIT_BYTES).unwrap_err();
    assert!(
        matches!(error, SimulateError::TooLarge { needed_mb: 2_320_000, limit_mb: 2_000, .. }),
        "{error}"
    );
    assert!(check_size(Size { rounds: 1_440, agents: 11, chip_types: 1 }, MEMORY_LIMIT_BYTES).is_ok());
}

#[test]
fn the_cautious_program_has_a_solution_in_every_hour_of_philly() {
    let trace = trace(&hours()[..400], 330);
    let (cautious, even) = (figures(&trace, "cautious-lp"), figures(&trace, "max-min"));
    // With one chip type everybody's demand has the same direction: without envy means max-min.
    assert!((cautious.utilisation - even.utilisation).abs() < 1e-3, "{cautious:?} {even:?}");
    assert!((cautious.least_welfare - even.least_welfare).abs() < 2e-3, "{cautious:?} {even:?}");
}
