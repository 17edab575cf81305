//! Makes the folder of the browser part exist, so that the server compiles before `cargo xtask site` has run, and
//! compiles again when that folder changes.
//!
//! With `QUOTA_DEPENDENCIES_ONLY` it stops here: `./run` has what the server is made of compiled while the browser part is
//! still linked, which takes one core for minutes.

use std::path::PathBuf;

fn main() {
    let site = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../target/site");
    if let Err(error) = std::fs::create_dir_all(&site) {
        println!("cargo::error=the folder {} can't be made: {error}", site.display());
    }
    println!("cargo::rerun-if-changed=../target/site");
    println!("cargo::rerun-if-env-changed=QUOTA_DEPENDENCIES_ONLY");
    if std::env::var_os("QUOTA_DEPENDENCIES_ONLY").is_some() {
        println!("cargo::error=only what the server is made of was asked for");
    }
}
