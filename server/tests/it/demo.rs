//! The demo of an imported trace is the same market on both databases.

use clap::Parser;
use common::instant::Instant;
use server::clock::SettableClock;
use server::cycle::verify;
use server::demo::{self, DemoArgs};
use server::store::results;
use server::trace::library::{self, ImportArgs};

use crate::fixture;

#[derive(Parser)]
struct Import {
    #[command(flatten)]
    args: ImportArgs,
}

/// Two clusters that ask for more than there is, for an hour.
fn trace_file(folder: &std::path::Path) -> std::path::PathBuf {
    let mut text = String::from("timestamp,duration,num_gpus,gpu_time,cluster\n");
    for minute in 0..60 {
        for (cluster, gpus, seconds) in [("a", 8, 1_200), ("b", 1, 600), ("b", 4, 300)] {
            text += &format!("2026-03-02 00:{minute:02}:05,{seconds},{gpus},{},{cluster}\n", seconds * gpus);
        }
    }
    let file = folder.join("ours.csv");
    std::fs::write(&file, text).expect("a file can be written");
    file
}

#[tokio::test]
async fn an_imported_trace_plays_alike_on_both_databases() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let file = trace_file(folder.path());
    let words = ["import", "philly", file.to_str().expect("a path of text")];
    let import = Import::try_parse_from(words).expect("the arguments are right").args;
    // A Monday like the trace's, an hour in.
    let clock = SettableClock::new("2026-11-30T01:00:00Z".parse().expect("an instant"));
    let args = DemoArgs { trace: "ours".into(), history: 3_600, chips: Some(60), ..DemoArgs::default() };

    let mut outcomes = Vec::new();
    for test in fixture::both().await {
        library::import(&test.store, Instant(0), &import).await.expect("the file is imported");
        demo::prepare(&test.store, &clock, &args).await.expect("the demo is set up");
        let report = verify::verify(&test.store, None, None, |_, _| ()).await.expect("it can be verified");
        assert!(report.is_clean(), "{}: {report}", test.name);
        let mut tx = test.store.read().await.expect("the store can be read");
        let last = results::last_cycle(&mut tx).await.expect("cycles can be read").expect("there is one");
        assert_eq!(last.number, 61, "the first, then one a minute");
        assert!(last.bids > 20, "jobs wait: {last:?}");
        outcomes.push((last.snapshot_sha256, last.outcome_sha256));
    }
    assert!(outcomes.windows(2).all(|pair| pair[0] == pair[1]), "{outcomes:?}");
}
