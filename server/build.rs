//! Makes the folder of the browser part exist, so that the server compiles before `cargo xtask site` has run, and
//! compiles again when that folder changes.

use std::path::PathBuf;

fn main() {
    let site = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../target/site");
    if let Err(error) = std::fs::create_dir_all(&site) {
        println!("cargo::error=the folder {} can't be made: {error}", site.display());
    }
    println!("cargo::rerun-if-changed=../target/site");
}
