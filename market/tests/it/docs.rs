//! The worked example of docs/CLEARING.md is what the engine does.

use market::{Outcome, Snapshot, run_auction};

#[test]
fn the_worked_example_of_the_docs_is_true() {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../docs/CLEARING.md");
    let page = std::fs::read_to_string(path).unwrap();
    let blocks: Vec<&str> =
        page.split("```json\n").skip(1).map(|rest| rest.split_once("```").unwrap().0).collect();
    let [snapshot, outcome] = blocks.as_slice() else {
        panic!("a snapshot and an outcome, not {}", blocks.len())
    };
    let snapshot: Snapshot = serde_json::from_str(snapshot).unwrap();
    let outcome: Outcome = serde_json::from_str(outcome).unwrap();
    assert_eq!(run_auction(&snapshot).unwrap(), outcome);
    for hash in [snapshot.sha256_hex(), outcome.sha256_hex()] {
        assert!(page.contains(&hash), "the page does not say {hash}");
    }
}
