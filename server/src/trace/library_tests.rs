use super::*;

use clap::Parser;

use crate::store::Place;

#[derive(Parser)]
struct Command {
    #[command(flatten)]
    args: ImportArgs,
}

const HEADER: &str = "timestamp,duration,num_gpus,gpu_time,cluster\n";

/// A folder with a database in it.
async fn store() -> (tempfile::TempDir, Store) {
    let folder = tempfile::tempdir().unwrap();
    let place = Place::Sqlite { path: folder.path().join("db.sqlite"), durable: false };
    (folder, Store::open(&place).await.unwrap())
}

fn args(words: &[&str]) -> Result<ImportArgs, clap::Error> {
    Command::try_parse_from([&["import", "philly"], words].concat()).map(|command| command.args)
}

/// Writes a file and imports it under a name.
async fn import_text(
    folder: &tempfile::TempDir,
    store: &Store,
    text: &str,
    flags: &[&str],
) -> Result<String, AppError> {
    let file = folder.path().join("ours.csv");
    std::fs::write(&file, text).unwrap();
    let args = args(&[&[file.to_str().unwrap()], flags].concat()).unwrap();
    import(store, Instant(0), &args).await
}

#[tokio::test]
async fn a_file_is_imported_once_and_found_by_its_name() {
    let (folder, store) = store().await;
    let text = format!("{HEADER}2026-10-09 07:01:55,66.0,2,132.0,a\n2026-10-09 07:00:00,60,1,60,b\n");
    let said = import_text(&folder, &store, &text, &[]).await.unwrap();
    assert!(said.starts_with("ours: imported, 2 jobs of 2 clusters"), "{said}");
    assert!(said.contains("1 lines were submitted before the line above them"), "{said}");
    let said = import_text(&folder, &store, &text, &[]).await.unwrap();
    assert!(said.starts_with("ours: already there"), "{said}");

    let found = find(&store, "ours").await.unwrap();
    assert_eq!(found, parse::read("ours", text.as_bytes(), Incomplete::Refuse, |_| ()).unwrap().0);

    let other = format!("{HEADER}2026-10-09 07:01:55,67.0,2,134.0,a\n");
    let error = import_text(&folder, &store, &other, &[]).await.unwrap_err();
    assert!(error.to_string().contains("traces are never replaced"), "{error}");
    let said = import_text(&folder, &store, &other, &["--name", "ours-2"]).await.unwrap();
    assert!(said.starts_with("ours-2: imported, 1 jobs"), "{said}");
    let error = find(&store, "theirs").await.unwrap_err();
    assert!(error.to_string().contains("there is philly, ours, ours-2"), "{error}");
}

#[tokio::test]
async fn a_file_at_fault_leaves_nothing_behind() {
    let (folder, store) = store().await;
    let text = format!("{HEADER}2026-10-09 07:01:55,66.0,2,132.0,a\n2026-10-09 07:01:55,66.0,-2,132.0,a\n");
    let error = import_text(&folder, &store, &text, &[]).await.unwrap_err();
    assert_eq!(error.kind(), ErrorKind::MalformedInput);
    assert!(error.to_string().contains("ours.csv: line 3: num_gpus -2 is negative"), "{error}");
    assert_eq!(find(&store, "ours").await.unwrap_err().kind(), ErrorKind::NotFound);
    let missing = args(&[folder.path().join("no.csv").to_str().unwrap()]).unwrap();
    let error = import(&store, Instant(0), &missing).await.unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Io, "{error}");
}

#[tokio::test]
async fn lines_left_out_are_left_out_for_good() {
    let (folder, store) = store().await;
    let text = format!("{HEADER}2026-10-09 07:01:55,66.0,2,132.0,a\n2026-10-09 07:02:00,50.0,1,,\n");
    let error = import_text(&folder, &store, &text, &[]).await.unwrap_err();
    assert!(error.to_string().contains("--skip-incomplete"), "{error}");
    let said = import_text(&folder, &store, &text, &["--skip-incomplete"]).await.unwrap();
    assert!(said.contains("left out: line 3: cluster is missing"), "{said}");
    assert_eq!(find(&store, "ours").await.unwrap().jobs.len(), 1);
}

#[test]
fn names_are_checked() {
    assert!(args(&["f.csv", "--name", "our_trace.2026"]).is_ok());
    for name in ["", "a b", "philly", &"x".repeat(41)] {
        assert!(args(&["f.csv", "--name", name]).is_err(), "{name:?}");
    }
}
