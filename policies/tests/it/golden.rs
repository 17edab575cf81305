//! Answers computed by an independent program.

use std::collections::BTreeMap;

use policies::karma::{Quantum, quantum};
use policies::water;
use serde::Deserialize;

#[derive(Deserialize)]
struct KarmaCase {
    id: u64,
    fair_share: u64,
    guaranteed: u64,
    credits_before: BTreeMap<String, i64>,
    demand: BTreeMap<String, u64>,
    total_alloc: u64,
    credits_after_sorted: Vec<i64>,
    unique: bool,
    alloc: Option<BTreeMap<String, u64>>,
    credits_after: Option<BTreeMap<String, i64>>,
}

#[derive(Deserialize)]
struct MaxMinCase {
    id: u64,
    capacity: u64,
    demand: BTreeMap<String, u64>,
    alloc_sorted: Vec<u64>,
    total: u64,
}

fn cases<T: for<'de> Deserialize<'de>>(file: &str) -> Vec<T> {
    let path = format!("{}/tests/data/{file}.jsonl.zst", env!("CARGO_MANIFEST_DIR"));
    let text = zstd::decode_all(std::fs::File::open(path).unwrap()).unwrap();
    text.split(|byte| *byte == b'\n')
        .filter(|line| !line.is_empty())
        .map(|line| serde_json::from_slice(line).unwrap())
        .collect()
}

#[test]
fn karma_gives_the_right_answer_in_every_state() {
    let cases: Vec<KarmaCase> = cases("karma_single_quantum");
    assert_eq!(cases.len(), 1_000);
    assert_eq!(cases.iter().filter(|case| case.unique).count(), 662);
    for case in cases {
        let users: Vec<&String> = case.demand.keys().collect();
        let mut credits: Vec<i64> = users.iter().map(|user| case.credits_before[*user]).collect();
        let demand: Vec<u64> = case.demand.values().copied().collect();
        let of = Quantum { fair_share: case.fair_share, guaranteed: case.guaranteed, remainder: 0 };
        let chips = quantum(&mut credits, &demand, of);
        assert_eq!(chips.iter().sum::<u64>(), case.total_alloc, "state {}", case.id);
        if case.unique {
            assert_eq!(chips, case.alloc.unwrap().values().copied().collect::<Vec<_>>(), "state {}", case.id);
            assert_eq!(
                credits,
                case.credits_after.unwrap().values().copied().collect::<Vec<_>>(),
                "state {}",
                case.id
            );
        }
        credits.sort_unstable();
        assert_eq!(credits, case.credits_after_sorted, "state {}", case.id);
    }
}

#[test]
fn max_min_gives_the_right_answer_in_every_case() {
    let cases: Vec<MaxMinCase> = cases("maxmin");
    assert_eq!(cases.len(), 500);
    for case in cases {
        let demand: Vec<u64> = case.demand.values().copied().collect();
        let mut chips = water::whole(case.capacity, &vec![1.0; demand.len()], &demand, 0);
        assert!(chips.iter().zip(&demand).all(|(chips, demand)| chips <= demand), "case {}", case.id);
        assert_eq!(chips.iter().sum::<u64>(), case.total, "case {}", case.id);
        chips.sort_unstable();
        assert_eq!(chips, case.alloc_sorted, "case {}", case.id);
    }
}
